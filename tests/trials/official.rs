//! The official data files, when `$SSVM_DATA` has them: trajectories of the authors' own C++ on USPS, known optima, known
//! content. Without them every test here is ignored and says what it needs.

use crate::common::reference;
use crate::common::trials::{Skipped, official};
use rayon::prelude::*;
use ssvm_bench::dataset::image::{ImageGraph, SlicParams};
use ssvm_bench::dataset::images::ImageSet;
use ssvm_bench::dataset::known::Checked;
use ssvm_bench::{Cadence, Catalog, Harness};

fn solvers() -> Vec<&'static str> {
    Harness::standard().solvers().iter().map(|info| info.name).collect()
}

fn usps_follows_the_authors_trajectories() -> Result<(), Skipped> {
    let problem = reference::open("usps", &official("usps")?);
    reference::follow(&*problem, "tests/fixtures/reference/usps");
    Ok(())
}

fn every_solver_brackets_the_optimum_of_usps() -> Result<(), Skipped> {
    const LOW: f64 = 0.016_587_734_792;
    const HIGH: f64 = 0.016_587_739_933;
    let problem = reference::open("usps", &official("usps")?);
    for solver in solvers() {
        for point in reference::points(&*problem, solver.into(), 10, Cadence::Log) {
            assert!(point.dual <= HIGH && point.dual_solution <= HIGH, "{solver}: dual {}", point.dual);
            assert!(point.primal >= LOW, "{solver}: primal {}", point.primal);
        }
    }
    let long = reference::points(&*problem, "mp-bcfw-avg".into(), 150, Cadence::At(vec![150]));
    let last = &long[long.len() - 1];
    assert!(last.dual <= HIGH && last.primal >= LOW);
    assert!(last.gap < 1.2e-3, "the long run leaves a gap of {}", last.gap);
    Ok(())
}

fn ocr_is_read_whole_and_solvers_agree() -> Result<(), Skipped> {
    let problem = reference::open("ocr", &official("ocr")?);
    assert_eq!((problem.terms(), problem.weights()), (6877, 4004));
    let (mut best_dual, mut best_primal) = (f64::NEG_INFINITY, f64::INFINITY);
    for solver in solvers() {
        for point in reference::points(&*problem, solver.into(), 6, Cadence::Every(2)) {
            best_dual = best_dual.max(point.dual);
            best_primal = best_primal.min(point.primal);
        }
    }
    assert!(best_dual <= best_primal);
    Ok(())
}

fn stanford_has_the_documented_pixels() -> Result<(), Skipped> {
    let dir = official("stanford")?;
    let set = ImageSet::Stanford;
    let pairs = set.pairs(&dir.require(set.known()).unwrap()).unwrap();
    assert_eq!(pairs.len(), 715);
    let count = |pair| {
        let mut counts = [0u64; 9];
        let (picture, truth) = set.decode(pair).unwrap();
        assert_eq!(picture.rgb.len(), truth.labels.len());
        truth.labels.iter().for_each(|l| counts[(l + 1) as usize] += 1);
        counts
    };
    let total = pairs.par_iter().map(count).reduce(|| [0; 9], |a, b| std::array::from_fn(|k| a[k] + b[k]));
    let expected = [277530, 7808618, 7562868, 12146873, 3692722, 2157237, 12193173, 722474, 7369065];
    assert_eq!(total, expected, "pixels of −1, 0, …, 7 as in the notes of the data");
    Ok(())
}

fn horses_have_327_pictures_and_superpixels_that_follow_them() -> Result<(), Skipped> {
    let dir = official("horses")?;
    let set = ImageSet::Horses;
    let pairs = set.pairs(&dir.require(set.known()).unwrap()).unwrap();
    assert_eq!(pairs.len(), 328);
    assert_eq!(pairs.iter().filter(|pair| set.excluded(&pair.name).is_none()).count(), 327);
    let graphs: Vec<ImageGraph> = pairs[..12]
        .par_iter()
        .map(|pair| {
            let (picture, truth) = set.decode(pair).unwrap();
            ImageGraph::new(&picture, &truth, 2, &SlicParams::default())
        })
        .collect();
    let (mut right, mut all) = (0, 0);
    for graph in graphs {
        assert!((110..=190).contains(&graph.labels.len()), "{} superpixels", graph.labels.len());
        for (pixels, label) in graph.label_pixels.as_chunks::<2>().0.iter().zip(&graph.labels) {
            right += pixels[*label as usize];
            all += pixels[0] + pixels[1];
        }
    }
    assert!(f64::from(right) > 0.95 * f64::from(all), "superpixels cut through horses: {right} of {all}");
    Ok(())
}

fn content_is_known(set: &str) -> Result<(), Skipped> {
    let data = official(set)?;
    let harness = Harness::standard();
    let known = harness.datasets().iter().find(|info| info.name == set).and_then(|info| info.known).unwrap();
    let checked = data.check(known).unwrap();
    assert!(checked.iter().all(|(_, c)| *c == Checked::Known), "{checked:?}");
    Ok(())
}

fn the_files_of_usps_have_their_known_content() -> Result<(), Skipped> {
    content_is_known("usps")
}

fn the_file_of_ocr_has_its_known_content() -> Result<(), Skipped> {
    content_is_known("ocr")
}

fn the_pictures_of_horses_have_their_known_content() -> Result<(), Skipped> {
    content_is_known("horses")
}

fn the_pictures_of_stanford_have_their_known_content() -> Result<(), Skipped> {
    content_is_known("stanford")
}

crate::trials![
    usps_follows_the_authors_trajectories,
    every_solver_brackets_the_optimum_of_usps,
    ocr_is_read_whole_and_solvers_agree,
    stanford_has_the_documented_pixels,
    horses_have_327_pictures_and_superpixels_that_follow_them,
    the_files_of_usps_have_their_known_content,
    the_file_of_ocr_has_its_known_content,
    the_pictures_of_horses_have_their_known_content,
    the_pictures_of_stanford_have_their_known_content,
];
