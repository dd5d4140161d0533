//! Draws a picture, its superpixels, its truth and a prediction side by side.

use super::{LabelMap, Picture, Superpixels};

/// Colours of labels that colour-blind readers can distinguish (Okabe and Ito).
const COLOURS: [[u8; 3]; 8] = [
    [0, 114, 178],
    [230, 159, 0],
    [86, 180, 233],
    [0, 158, 115],
    [240, 228, 66],
    [213, 94, 0],
    [204, 121, 167],
    [240, 240, 240],
];
const GAP: usize = 6;

pub fn colour(label: usize) -> [u8; 3] {
    COLOURS[label % COLOURS.len()]
}

pub fn colour_name(label: usize) -> &'static str {
    ["blue", "orange", "light blue", "green", "yellow", "vermilion", "pink", "white"][label % COLOURS.len()]
}

/// Panels from left to right: picture, superpixel borders, truth and, if given, the prediction per superpixel.
/// Truth and prediction are tints of the picture; unknown pixels are black.
pub fn panels(picture: &Picture, superpixels: &Superpixels, truth: &LabelMap, predicted: Option<&[u16]>) -> Picture {
    let border = |at: usize| {
        let (x, y) = (at % picture.width, at / picture.width);
        let here = superpixels.of_pixel[at];
        x + 1 < picture.width && superpixels.of_pixel[at + 1] != here
            || y + 1 < picture.height && superpixels.of_pixel[at + picture.width] != here
    };
    let mut panels = vec![
        picture.clone(),
        paint(picture, |at| if border(at) { [255, 220, 0] } else { picture.rgb[at] }),
        paint(picture, |at| tint(picture.rgb[at], usize::try_from(truth.labels[at]).ok())),
    ];
    panels.extend(predicted.map(|labels| {
        paint(picture, |at| tint(picture.rgb[at], Some(usize::from(labels[superpixels.of_pixel[at] as usize]))))
    }));
    beside(&panels)
}

fn paint(picture: &Picture, colour: impl Fn(usize) -> [u8; 3]) -> Picture {
    Picture { rgb: (0..picture.rgb.len()).map(colour).collect(), ..*picture }
}

/// The label's colour, shaded by the brightness of the picture so that its shapes stay visible.
fn tint(pixel: [u8; 3], label: Option<usize>) -> [u8; 3] {
    let Some(label) = label else {
        return [0; 3];
    };
    let grey = pixel.iter().map(|&c| u32::from(c)).sum::<u32>() / 3;
    colour(label).map(|c| ((u32::from(c) * (3 * 255 + 2 * grey)) / (5 * 255)) as u8)
}

fn beside(panels: &[Picture]) -> Picture {
    let (width, height) = (panels[0].width, panels[0].height);
    let mut rgb = Vec::new();
    for y in 0..height {
        for (k, panel) in panels.iter().enumerate() {
            if k > 0 {
                rgb.extend([[255; 3]; GAP]);
            }
            rgb.extend_from_slice(&panel.rgb[y * width..(y + 1) * width]);
        }
    }
    Picture { width: panels.len() * (width + GAP) - GAP, height, rgb }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_stand_side_by_side_with_labels_in_their_colours() {
        let picture = Picture { width: 2, height: 1, rgb: vec![[255; 3]; 2] };
        let superpixels = Superpixels { width: 2, height: 1, count: 2, of_pixel: vec![0, 1] };
        let truth = LabelMap { width: 2, height: 1, labels: vec![-1, 1] };
        let three = panels(&picture, &superpixels, &truth, None);
        assert_eq!((three.width, three.height, three.rgb.len()), (3 * 2 + 2 * GAP, 1, 3 * 2 + 2 * GAP));
        let four = panels(&picture, &superpixels, &truth, Some(&[1, 0]));
        assert_eq!(four.rgb[2 + GAP], [255, 220, 0], "the border between the superpixels");
        assert_eq!(four.rgb[2 * (2 + GAP)..][..2], [[0; 3], colour(1)]);
        assert_eq!(four.rgb[3 * (2 + GAP)..][..2], [colour(1), colour(0)]);
    }
}
