//! Boykov–Kolmogorov max-flow (PAMI 2004) with the time stamps and distances of their version 3.
//!
//! Capacities are integers: residuals are exact and the cut does not depend on the order of augmentations.

use std::ops::Range;

use super::topology::{Arc, Topology};

const FREE: u32 = u32::MAX;
const TERMINAL: u32 = u32::MAX - 1;
const ORPHAN: u32 = u32::MAX - 2;
/// Further round trips settle little that the first two did not.
const ROUND_TRIPS: usize = 2;
const SOURCE: bool = false;
const SINK: bool = true;

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// Residual capacity from the source (positive) or to the sink (negative).
    terminal: i64,
    /// Arc to the parent, or one of the three marks.
    parent: u32,
    /// Next in the queue of active nodes, itself if last, `FREE` if not queued.
    next: u32,
    /// When `distance` to the terminal was last known to be right.
    stamp: u32,
    distance: u32,
    tree: bool,
}

/// Solver and its reusable memory.
#[derive(Clone, Debug, Default)]
pub struct MaxFlow {
    nodes: Vec<Node>,
    residual: Vec<i64>,
    queue: Option<(u32, u32)>,
    time: u32,
    /// Roots of the sink tree.
    sinks: u32,
    /// Orphans cut off by an augmentation, nearest to the terminals last.
    orphans: Vec<u32>,
    /// Orphans made by the adoption of one of them, in order.
    descendants: Vec<u32>,
    operations: u64,
}

impl MaxFlow {
    /// An empty workspace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Maximum flow. `terminal[l]` > 0 is capacity from the source, < 0 to the sink; `capacity` follows [`Topology::arcs`].
    pub fn solve(&mut self, topology: &Topology, terminal: &[i64], capacity: &[i64]) -> i64 {
        assert!(terminal.len() == topology.num_nodes() && capacity.len() == topology.arcs().len(), "one value each");
        self.clear(topology).copy_from_slice(capacity);
        self.run(topology, (0..).zip(terminal.iter().copied()), || ())
    }

    /// Whether `node` reaches the sink in the residual graph. These nodes are the smallest sink side of all minimum cuts.
    #[inline]
    pub fn reaches_sink(&self, node: u32) -> bool {
        let node = &self.nodes[node as usize];
        node.tree == SINK && node.parent != FREE
    }

    /// Arcs scanned and path arcs walked by the last [`MaxFlow::solve`].
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Forgets the last graph. Returns the capacities of this one, all zero, to be filled in.
    pub(super) fn clear(&mut self, topology: &Topology) -> &mut [i64] {
        self.residual.clear();
        self.residual.resize(topology.arcs().len(), 0);
        self.operations = 0;
        &mut self.residual
    }

    /// Moves the excess of each of `nodes` (ascending) to later nodes as far as the arcs allow, then back to earlier
    /// ones, and so on. The energy stays the same, but most opposite values have met, and few paths are left to find.
    pub(super) fn settle(
        &mut self,
        topology: &Topology,
        nodes: &[u32],
        excess: &mut [i64],
        mut meanwhile: impl FnMut(),
    ) {
        for _ in 0..ROUND_TRIPS {
            for &node in nodes {
                meanwhile();
                self.hand_on(topology.arcs(), topology.later(node), node, excess);
            }
            if one_sign(nodes, excess) {
                break;
            }
            for &node in nodes.iter().rev() {
                meanwhile();
                self.hand_on(topology.arcs(), topology.earlier(node), node, excess);
            }
            if one_sign(nodes, excess) {
                break;
            }
        }
    }

    #[inline(always)]
    fn hand_on(&mut self, arcs: &[Arc], range: Range<usize>, node: u32, excess: &mut [i64]) {
        self.operations += range.len() as u64;
        let mut value = excess[node as usize];
        for (a, arc) in range.clone().zip(&arcs[range]) {
            let (there, back) = (self.residual[a], self.residual[arc.sister as usize]);
            let amount = value.min(there).max(-back);
            value -= amount;
            excess[arc.head as usize] += amount;
            self.residual[a] = there - amount;
            self.residual[arc.sister as usize] = back + amount;
        }
        excess[node as usize] = value;
    }

    /// Repeats growth, augmentation and adoption until the trees no longer meet. `terminals` are nodes with their
    /// terminal capacity; other nodes must have no residual arcs.
    pub(super) fn run(
        &mut self,
        topology: &Topology,
        terminals: impl Iterator<Item = (u32, i64)>,
        mut meanwhile: impl FnMut(),
    ) -> i64 {
        self.nodes.clear();
        self.nodes.resize(topology.num_nodes(), Node { parent: FREE, next: FREE, ..Node::default() });
        (self.queue, self.time, self.sinks) = (None, 0, 0);
        for (node, terminal) in terminals {
            if terminal != 0 {
                let (parent, tree) = (TERMINAL, terminal < 0);
                self.nodes[node as usize] = Node { terminal, parent, next: FREE, stamp: 0, distance: 1, tree };
                self.sinks += u32::from(tree == SINK);
                self.activate(node);
            }
        }
        let mut flow = 0;
        while let Some((front, last)) = self.queue {
            meanwhile();
            // Without a root, every node of the sink tree has been set free, and nothing reaches the sink any more.
            if self.sinks == 0 {
                break;
            }
            // The front stays queued, hence active, while it finds paths.
            if self.nodes[front as usize].parent != FREE {
                let met = if self.nodes[front as usize].tree == SINK {
                    self.grow::<SINK>(topology, front)
                } else {
                    self.grow::<SOURCE>(topology, front)
                };
                if let Some(arc) = met {
                    self.time += 1;
                    flow += self.augment(topology, arc);
                    self.adopt(topology);
                    continue;
                }
            }
            let next = std::mem::replace(&mut self.nodes[front as usize].next, FREE);
            let last = self.queue.map_or(last, |(_, last)| last);
            self.queue = (front != last).then_some((next, last));
        }
        flow
    }

    #[inline]
    fn activate(&mut self, node: u32) {
        if self.nodes[node as usize].next != FREE {
            return;
        }
        self.nodes[node as usize].next = node;
        self.queue = Some(match self.queue {
            None => (node, node),
            Some((front, last)) => {
                self.nodes[last as usize].next = node;
                (front, node)
            }
        });
    }

    /// Residual capacity along which a node of tree `T` hangs on the parent that `arc` leads to.
    #[inline]
    fn hold<const T: bool>(&self, topology: &Topology, arc: usize) -> i64 {
        self.residual[if T == SINK { arc } else { topology.arcs()[arc].sister as usize }]
    }

    /// Scans the arcs of `node`; an arc from the source tree into the sink tree ends the scan.
    fn grow<const T: bool>(&mut self, topology: &Topology, node: u32) -> Option<usize> {
        let Node { stamp, distance, .. } = self.nodes[node as usize];
        let range = topology.range(node);
        for (a, arc) in range.clone().zip(&topology.arcs()[range.clone()]) {
            let sister = arc.sister as usize;
            if self.residual[if T == SOURCE { a } else { sister }] <= 0 {
                continue;
            }
            let other = &mut self.nodes[arc.head as usize];
            if other.parent == FREE {
                (other.parent, other.stamp, other.distance, other.tree) = (arc.sister, stamp, distance + 1, T);
                self.activate(arc.head);
            } else if other.tree != T {
                self.operations += (a + 1 - range.start) as u64;
                return Some(if T == SOURCE { a } else { sister });
            } else if other.stamp <= stamp && other.distance > distance {
                (other.parent, other.stamp, other.distance) = (arc.sister, stamp, distance + 1);
            }
        }
        self.operations += range.len() as u64;
        None
    }

    /// Pushes the bottleneck along the path through `middle`; nodes without a hold become orphans.
    fn augment(&mut self, topology: &Topology, middle: usize) -> i64 {
        let arcs = topology.arcs();
        let tail = arcs[arcs[middle].sister as usize].head;
        let head = arcs[middle].head;
        let bottleneck = self.residual[middle]
            .min(self.bottleneck::<SOURCE>(topology, tail))
            .min(self.bottleneck::<SINK>(topology, head));
        self.residual[middle] -= bottleneck;
        self.residual[arcs[middle].sister as usize] += bottleneck;
        self.push::<SOURCE>(topology, tail, bottleneck);
        self.push::<SINK>(topology, head, bottleneck);
        bottleneck
    }

    fn bottleneck<const T: bool>(&self, topology: &Topology, mut node: u32) -> i64 {
        let mut least = i64::MAX;
        loop {
            let Node { parent, terminal, .. } = self.nodes[node as usize];
            if parent == TERMINAL {
                return least.min(terminal.abs());
            }
            least = least.min(self.hold::<T>(topology, parent as usize));
            node = topology.arcs()[parent as usize].head;
        }
    }

    fn push<const T: bool>(&mut self, topology: &Topology, mut node: u32, amount: i64) {
        loop {
            self.operations += 1;
            let parent = self.nodes[node as usize].parent;
            if parent == TERMINAL {
                let root = &mut self.nodes[node as usize];
                root.terminal += if T == SINK { amount } else { -amount };
                if root.terminal == 0 {
                    root.parent = ORPHAN;
                    self.orphans.push(node);
                    self.sinks -= u32::from(T == SINK);
                }
                return;
            }
            let arc = topology.arcs()[parent as usize];
            let (down, up) =
                if T == SINK { (parent as usize, arc.sister as usize) } else { (arc.sister as usize, parent as usize) };
            self.residual[up] += amount;
            self.residual[down] -= amount;
            if self.residual[down] == 0 {
                self.nodes[node as usize].parent = ORPHAN;
                self.orphans.push(node);
            }
            node = arc.head;
        }
    }

    fn adopt(&mut self, topology: &Topology) {
        while let Some(orphan) = self.orphans.pop() {
            self.descendants.clear();
            self.descendants.push(orphan);
            let mut at = 0;
            while let Some(&node) = self.descendants.get(at) {
                if self.nodes[node as usize].tree == SINK {
                    self.adopt_one::<SINK>(topology, node);
                } else {
                    self.adopt_one::<SOURCE>(topology, node);
                }
                at += 1;
            }
        }
    }

    /// Finds the new parent nearest to the terminal; without one, sets the orphan free and orphans its children.
    fn adopt_one<const T: bool>(&mut self, topology: &Topology, orphan: u32) {
        let arcs = topology.arcs();
        let range = topology.range(orphan);
        self.operations += range.len() as u64;
        let (mut best, mut best_distance) = (FREE, u32::MAX);
        for a in range.clone() {
            if self.hold::<T>(topology, a) <= 0 {
                continue;
            }
            let head = arcs[a].head;
            let candidate = &self.nodes[head as usize];
            if candidate.tree != T || candidate.parent == FREE {
                continue;
            }
            if let Some(distance) = self.distance_to_root(topology, head)
                && distance < best_distance
            {
                (best, best_distance) = (a as u32, distance);
            }
        }
        let node = &mut self.nodes[orphan as usize];
        node.parent = best;
        if best != FREE {
            (node.stamp, node.distance) = (self.time, best_distance + 1);
            return;
        }
        self.operations += range.len() as u64;
        for a in range {
            let head = arcs[a].head;
            let other = &self.nodes[head as usize];
            if other.tree != T || other.parent == FREE {
                continue;
            }
            let child = other.parent == arcs[a].sister;
            if self.hold::<T>(topology, a) > 0 {
                self.activate(head);
            }
            if child {
                self.nodes[head as usize].parent = ORPHAN;
                self.descendants.push(head);
            }
        }
    }

    /// Length of the path from `start` to its terminal, stamped on the way; `None` if it ends in an orphan.
    #[inline]
    fn distance_to_root(&mut self, topology: &Topology, start: u32) -> Option<u32> {
        let (mut node, mut steps) = (start, 0);
        let total = loop {
            let at = &mut self.nodes[node as usize];
            if at.stamp == self.time {
                break steps + at.distance;
            }
            match at.parent {
                TERMINAL => {
                    (at.stamp, at.distance) = (self.time, 1);
                    break steps + 1;
                }
                ORPHAN => {
                    self.operations += u64::from(steps);
                    return None;
                }
                parent => node = topology.arcs()[parent as usize].head,
            }
            steps += 1;
        };
        self.operations += u64::from(steps);
        let (mut node, mut distance) = (start, total);
        loop {
            let at = &mut self.nodes[node as usize];
            if at.stamp == self.time {
                return Some(total);
            }
            (at.stamp, at.distance) = (self.time, distance);
            distance -= 1;
            node = topology.arcs()[at.parent as usize].head;
        }
    }
}

fn one_sign(nodes: &[u32], excess: &[i64]) -> bool {
    let (mut surplus, mut deficit) = (false, false);
    for &node in nodes {
        surplus |= excess[node as usize] > 0;
        deficit |= excess[node as usize] < 0;
    }
    !(surplus && deficit)
}
