//! SLIC superpixels of a picture (Achanta et al., PAMI 2012) in Lab colour with enforced connectivity, and their
//! neighbours.

use super::{Picture, lab};

#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlicParams {
    pub superpixels: usize,
    pub compactness: f32,
    pub rounds: usize,
}

impl Default for SlicParams {
    fn default() -> Self {
        Self { superpixels: 150, compactness: 10.0, rounds: 10 }
    }
}

/// A partition of the pixels into connected pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct Superpixels {
    pub width: usize,
    pub height: usize,
    pub count: usize,
    /// Superpixel of each pixel, row-major.
    pub of_pixel: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Centre {
    lab: [f32; 3],
    x: f32,
    y: f32,
}

pub fn slic(picture: &Picture, params: &SlicParams) -> Superpixels {
    let (width, height) = (picture.width, picture.height);
    let lab: Vec<[f32; 3]> = picture.rgb.iter().map(|&c| lab::from_rgb(c)).collect();
    let target = params.superpixels.clamp(1, width * height);
    let spacing = ((width * height) as f32 / target as f32).sqrt();
    let mut centres = seeds(&lab, width, height, spacing);

    let mut of_pixel = vec![u32::MAX; lab.len()];
    let mut best = vec![f32::INFINITY; lab.len()];
    let weight = (params.compactness / spacing) * (params.compactness / spacing);
    for _ in 0..params.rounds.max(1) {
        best.fill(f32::INFINITY);
        for (k, centre) in centres.iter().enumerate() {
            let (x0, x1) = window(centre.x, spacing, width);
            let (y0, y1) = window(centre.y, spacing, height);
            for y in y0..y1 {
                let dy = y as f32 - centre.y;
                for at in y * width + x0..y * width + x1 {
                    let dx = (at - y * width) as f32 - centre.x;
                    let [dl, da, db] = std::array::from_fn(|c| lab[at][c] - centre.lab[c]);
                    let distance = dl * dl + da * da + db * db + weight * (dx * dx + dy * dy);
                    if distance < best[at] {
                        best[at] = distance;
                        of_pixel[at] = k as u32;
                    }
                }
            }
        }
        update(&mut centres, &of_pixel, &lab, width);
    }
    connect(&of_pixel, width, height, lab.len() / centres.len() / 4)
}

/// Centres on a regular grid, each moved to the pixel of lowest gradient among its 3 × 3 neighbours.
fn seeds(lab: &[[f32; 3]], width: usize, height: usize, spacing: f32) -> Vec<Centre> {
    let columns = ((width as f32 / spacing + 0.5) as usize).max(1);
    let rows = ((height as f32 / spacing + 0.5) as usize).max(1);
    let gradient = |x: usize, y: usize| -> f32 {
        let difference = |p: usize, q: usize| -> f32 {
            let [l, a, b] = std::array::from_fn(|c| lab[p][c] - lab[q][c]);
            l * l + a * a + b * b
        };
        let row = y * width;
        difference(row + (x + 1).min(width - 1), row + x.saturating_sub(1))
            + difference((y + 1).min(height - 1) * width + x, y.saturating_sub(1) * width + x)
    };
    let mut centres = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        for column in 0..columns {
            let (cx, cy) = ((2 * column + 1) * width / (2 * columns), (2 * row + 1) * height / (2 * rows));
            let (mut place, mut lowest) = ((cx, cy), f32::INFINITY);
            for y in cy.saturating_sub(1)..(cy + 2).min(height) {
                for x in cx.saturating_sub(1)..(cx + 2).min(width) {
                    if gradient(x, y) < lowest {
                        (place, lowest) = ((x, y), gradient(x, y));
                    }
                }
            }
            let (x, y) = place;
            centres.push(Centre { lab: lab[y * width + x], x: x as f32, y: y as f32 });
        }
    }
    centres
}

/// The pixels within one spacing of a centre along one axis.
fn window(centre: f32, spacing: f32, end: usize) -> (usize, usize) {
    ((centre - spacing).max(0.0) as usize, ((centre + spacing) as usize + 1).min(end))
}

fn update(centres: &mut [Centre], of_pixel: &[u32], lab: &[[f32; 3]], width: usize) {
    let mut sums = vec![[0f64; 6]; centres.len()];
    for (at, &k) in of_pixel.iter().enumerate() {
        if let Some(sum) = sums.get_mut(k as usize) {
            let [l, a, b] = lab[at].map(f64::from);
            for (total, value) in sum.iter_mut().zip([l, a, b, (at % width) as f64, (at / width) as f64, 1.0]) {
                *total += value;
            }
        }
    }
    for (centre, sum) in centres.iter_mut().zip(sums).filter(|(_, sum)| sum[5] > 0.0) {
        let [l, a, b, x, y] = std::array::from_fn(|c| (sum[c] / sum[5]) as f32);
        *centre = Centre { lab: [l, a, b], x, y };
    }
}

/// Splits clusters into 4-connected pieces; a piece of fewer than `smallest` pixels joins an earlier piece beside it.
fn connect(of_pixel: &[u32], width: usize, height: usize, smallest: usize) -> Superpixels {
    const NONE: u32 = u32::MAX;
    let mut pieces = vec![NONE; of_pixel.len()];
    let mut count = 0u32;
    let mut queue = Vec::new();
    for start in 0..of_pixel.len() {
        if pieces[start] != NONE {
            continue;
        }
        // In raster order the pixel above or to the left already belongs to a piece.
        let beside = match (start % width, start / width) {
            (0, 0) => None,
            (0, _) => Some(pieces[start - width]),
            _ => Some(pieces[start - 1]),
        };
        queue.clear();
        queue.push(start);
        pieces[start] = count;
        let mut head = 0;
        while let Some(&at) = queue.get(head) {
            head += 1;
            for next in neighbours(at, width, height) {
                if pieces[next] == NONE && of_pixel[next] == of_pixel[start] {
                    pieces[next] = count;
                    queue.push(next);
                }
            }
        }
        match beside {
            Some(other) if queue.len() < smallest => queue.iter().for_each(|&at| pieces[at] = other),
            _ => count += 1,
        }
    }
    Superpixels { width, height, count: count as usize, of_pixel: pieces }
}

fn neighbours(at: usize, width: usize, height: usize) -> impl Iterator<Item = usize> {
    let (x, y) = (at % width, at / width);
    [
        (x > 0).then(|| at - 1),
        (x + 1 < width).then(|| at + 1),
        (y > 0).then(|| at - width),
        (y + 1 < height).then(|| at + width),
    ]
    .into_iter()
    .flatten()
}

impl Superpixels {
    /// Pairs of superpixels that share a border, smaller id first, sorted.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges = Vec::new();
        for at in 0..self.of_pixel.len() {
            let here = self.of_pixel[at];
            for next in neighbours(at, self.width, self.height).filter(|&next| next > at) {
                let there = self.of_pixel[next];
                if here != there {
                    edges.push([here.min(there), here.max(there)]);
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    pub fn areas(&self) -> Vec<usize> {
        let mut areas = vec![0; self.count];
        self.of_pixel.iter().for_each(|&k| areas[k as usize] += 1);
        areas
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(width: usize, height: usize) -> Picture {
        let mut state = 7u32;
        let mut next = || {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            (state >> 24) as u8
        };
        Picture { width, height, rgb: (0..width * height).map(|_| [next(), next(), next()]).collect() }
    }

    /// Number of 4-connected pieces of equal id.
    fn pieces(s: &Superpixels) -> usize {
        let mut seen = vec![false; s.of_pixel.len()];
        let mut count = 0;
        for start in 0..seen.len() {
            if !std::mem::replace(&mut seen[start], true) {
                count += 1;
                let mut stack = vec![start];
                while let Some(at) = stack.pop() {
                    for next in neighbours(at, s.width, s.height) {
                        if !seen[next] && s.of_pixel[next] == s.of_pixel[at] {
                            seen[next] = true;
                            stack.push(next);
                        }
                    }
                }
            }
        }
        count
    }

    #[test]
    fn superpixels_are_connected_and_numbered_without_holes() {
        for (width, height, k) in [(64, 48, 20), (1, 1, 150), (1, 40, 4), (37, 3, 9), (50, 50, 1), (20, 20, 400)] {
            let s = slic(&noise(width, height), &SlicParams { superpixels: k, ..SlicParams::default() });
            assert_eq!(s.of_pixel.len(), width * height);
            assert!(s.areas().iter().all(|a| *a > 0), "{width} × {height}");
            assert_eq!(pieces(&s), s.count, "{width} × {height}");
        }
    }

    #[test]
    fn an_even_picture_gives_a_grid_of_about_the_number_asked_for() {
        let s = slic(&Picture { width: 320, height: 240, rgb: vec![[90; 3]; 320 * 240] }, &SlicParams::default());
        assert!((140..=160).contains(&s.count), "{}", s.count);
        // A grid of r × c cells has r(c − 1) + c(r − 1) borders.
        assert_eq!(s.edges().len(), 2 * s.count - 14 - 11);
    }

    #[test]
    fn borders_follow_colour_edges() {
        let (width, height) = (60, 40);
        let colour = |at: usize| if at % width < 23 { [200, 30, 30] } else { [30, 60, 200] };
        let s = slic(
            &Picture { width, height, rgb: (0..width * height).map(colour).collect() },
            &SlicParams { superpixels: 24, ..SlicParams::default() },
        );
        let mut sides = vec![[0usize; 2]; s.count];
        s.of_pixel.iter().enumerate().for_each(|(at, &k)| sides[k as usize][usize::from(at % width < 23)] += 1);
        assert!(sides.iter().all(|s| s[0] == 0 || s[1] == 0), "a superpixel crosses the edge: {sides:?}");
    }
}
