"""Image segmentation with two labels; the costly oracle is the min-cut of PyMaxflow (pip install PyMaxflow).

    ssvm-bench data prepare horses
    ssvm-bench solve --dataset 'oracle:python3 examples/segment_oracle.py GRAPHS.npz' --solver mp-bcfw --iterations 20

GRAPHS.npz is a graph file as `data prepare` writes it; `--dataset graph:GRAPHS.npz` is the same problem with the built-in cut.
"""

import sys

import maxflow
import numpy as np

from ssvm_bench import Oracle, Plane


class Segments(Oracle):
    """The score of a labelling y is sum_l <w_{y_l}, x_l> - weight * (edges whose ends differ); the loss is Hamming."""

    def __init__(self, path):
        data = np.load(path)
        if int(data["num_labels"]) != 2:
            raise ValueError(f"{path} has {int(data['num_labels'])} labels, a min-cut decides between 2")
        self.weight = float(data["pairwise_weight"]) if "pairwise_weight" in data else 1.0
        nodes, edges = data["node_offsets"], data["edge_offsets"]
        self.n = len(nodes) - 1
        self.p = data["features"].shape[1]
        self.d = 2 * self.p
        self.terms = []
        features, labels, ends = data["features"], data["labels"], data["edges"]
        for i in range(self.n):
            x = features[nodes[i] : nodes[i + 1]].astype(np.float64)
            y = labels[nodes[i] : nodes[i + 1]]
            e = ends[edges[i] : edges[i + 1]]
            # Unknown nodes leave with their edges.
            known = y >= 0
            number = np.cumsum(known) - 1
            e = number[e[known[e[:, 0]] & known[e[:, 1]]]]
            self.terms.append((x[known], y[known], e))

    def max_oracle(self, i, w):
        x, truth, edges = self.terms[i]
        nodes = len(truth)
        # Cost of label 1 over label 0, times the number of nodes: whole numbers at w = 0, so that ties are exact.
        cost = np.where(truth == 0, -1.0, 1.0) - nodes * (x @ (w[self.p :] - w[: self.p]))
        graph = maxflow.Graph[float](nodes, len(edges))
        ids = graph.add_nodes(nodes)
        # Label 1 is the side of the sink: who is cut off from the sink pays the second capacity.
        for node in range(nodes):
            graph.add_tedge(ids[node], max(cost[node], 0.0), max(-cost[node], 0.0))
        for a, b in edges:
            graph.add_edge(ids[a], ids[b], self.weight * nodes, self.weight * nodes)
        graph.maxflow()
        labels = np.fromiter((graph.get_segment(node) for node in ids), dtype=np.int64, count=nodes)
        change = x[labels != truth].copy()
        change[truth[labels != truth] == 1] *= -1.0
        towards_one = change.sum(axis=0) / self.n
        differ = lambda y: np.count_nonzero(y[edges[:, 0]] != y[edges[:, 1]])  # noqa: E731
        loss = np.count_nonzero(labels != truth) / nodes
        offset = (loss + self.weight * (differ(truth) - differ(labels))) / self.n
        key = np.packbits(labels.astype(np.uint8)).tobytes().hex()
        return Plane(np.concatenate([-towards_one, towards_one]), offset, key=key)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: segment_oracle.py GRAPHS.npz")
    Segments(sys.argv[1]).serve()
