//! Pictures to graph files: pinned bytes, any number of threads, archive or folder, damaged sets. The real sets: `official`.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use ssvm::data::GraphData;
use ssvm_bench::DataDir;
use ssvm_bench::dataset::image::{FEATURES, ImageGraph, LabelMap, Picture, SlicParams};
use ssvm_bench::dataset::images::ImageSet;
use ssvm_bench::dataset::npz::{self, RawGraph};
use ssvm_bench::dataset::prepare::{Meta, Recipe, prepare};
use ssvm_bench::store::files;

/// A picture of soft blobs with noise, from integer arithmetic only.
fn scene(width: usize, height: usize, seed: usize) -> Picture {
    let mut state = seed as u32 + 1;
    let mut noise = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 28) as usize
    };
    let pixel = |at: usize| {
        let (x, y) = (at % width, at / width);
        let inside = (2 * x).abs_diff(width).pow(2) * height * height + (2 * y).abs_diff(height).pow(2) * width * width
            < width * width * height * height / 3;
        let base = if inside { [150, 80, 30] } else { [60 + 100 * y / height, 140, 200 - 120 * y / height] };
        base.map(|c| (c + noise() + 20 * (x / 7 % 2)).min(255) as u8)
    };
    Picture { width, height, rgb: (0..width * height).map(pixel).collect() }
}

/// The content of a file decides what it is, not its name: these are PNG.
fn picture_file(path: &Path, picture: &Picture) {
    picture.save_png(path).unwrap();
}

/// The decoded bytes of colour and grey JPEG, of PNG with sixteen bits (rounded) and with alpha (left out).
#[test]
fn files_are_decoded_to_pinned_bytes() {
    for (name, expected) in [
        ("colour.jpg", "add3b58e681b89c11ebf5c961d30728756f15d9399e94e1d454043f6bb4e2aba"),
        ("grey.jpg", "c84f4da344be77de2495051932a2727fb1f497d5464fc9ac10b848cf1fc923a2"),
        ("deep.png", "431714c565c178a6204f9f986384366534aed4240f6741ffedf456314253e23f"),
        ("grey_alpha.png", "cf2f024a6b9dc47107b387752a19f916882e24424aca696f6e6bcfee25433c63"),
    ] {
        let bytes = fs::read(Path::new("tests/fixtures/pictures").join(name)).unwrap();
        let picture = Picture::decode(&bytes).unwrap();
        assert_eq!((picture.width, picture.height), (24, 16));
        assert_eq!(files::sha256_hex(&picture.rgb.concat()), expected, "{name}");
        assert!(Picture::decode(&bytes[..bytes.len() / 4]).is_err(), "{name}");
    }
}

/// Five small horses, pictures and masks of different sizes, 318 among them.
fn tiny_horses(root: &Path) {
    for (k, name) in ["horse001", "horse002", "horse003", "horse004", "horse318"].iter().enumerate() {
        picture_file(&root.join(format!("rgb/{name}.jpg")), &scene(90 + k, 70, k));
        let mask = scene(60, 46, k);
        let white = mask.rgb.iter().map(|c| if c[0] > c[2] { [255; 3] } else { [0; 3] }).collect();
        picture_file(&root.join(format!("figure_ground/{name}.jpg")), &Picture { rgb: white, ..mask });
    }
}

fn tar_gz(folder: &Path, inside: &str, to: &Path) {
    let gz = flate2::write::GzEncoder::new(fs::File::create(to).unwrap(), flate2::Compression::fast());
    let mut tar = tar::Builder::new(gz);
    tar.append_dir_all(inside, folder).unwrap();
    tar.into_inner().unwrap().finish().unwrap();
}

fn data_dir(path: &Path) -> DataDir {
    DataDir::resolve(Some(path))
}

/// Pixels of the label of their superpixel, and all pixels, given nodes × 2 counts of pixels by true label.
fn pixels_right(label_pixels: &[u32], labels: &[u16]) -> (u32, u32) {
    let rows = label_pixels.as_chunks::<2>().0.iter().zip(labels);
    rows.fold((0, 0), |(right, all), (row, label)| (right + row[usize::from(*label)], all + row[0] + row[1]))
}

fn quiet(_: usize, _: usize) {}

fn small() -> Recipe {
    Recipe { slic: SlicParams { superpixels: 30, ..SlicParams::default() }, half: false }
}

/// These bytes must be the same on every machine and in every release; a wanted change raises the version in `prepare`.
#[test]
fn the_graph_of_a_picture_has_pinned_bytes() {
    let picture = scene(160, 120, 3);
    let truth =
        LabelMap { width: 160, height: 120, labels: picture.rgb.iter().map(|c| i8::from(c[0] > c[2])).collect() };
    let graph = ImageGraph::new(&picture, &truth, 2, &SlicParams::default());
    let mut bytes: Vec<u8> = graph.features.iter().flat_map(|v| v.to_le_bytes()).collect();
    bytes.extend(graph.labels.iter().flat_map(|v| v.to_le_bytes()));
    bytes.extend(graph.edges.iter().flatten().flat_map(|v| v.to_le_bytes()));
    let (sha256, _) = files::sha256(&bytes[..]).unwrap();
    assert_eq!(sha256, "bb927f54abe0b0fc07bed5546b80ea5de95633e3617e7e4a3b075c6b3177e69c");
}

#[test]
fn archive_and_folder_at_any_number_of_threads_give_the_same_graphs() {
    let dir = tempfile::tempdir().unwrap();
    let unpacked = dir.path().join("folder/weizmann_horses/weizmann_horse_db");
    tiny_horses(&unpacked);
    let archive = dir.path().join("archive/weizmann_horses/weizmann_horse_db.tar.gz");
    fs::create_dir_all(archive.parent().unwrap()).unwrap();
    tar_gz(&unpacked, "weizmann_horse_db", &archive);

    let mut files_made = Vec::new();
    for (source, threads) in [("archive", 1), ("archive", 4), ("folder", 3)] {
        let out = dir.path().join(format!("{source}{threads}.npz"));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let made = pool
            .install(|| prepare(ImageSet::Horses, &data_dir(&dir.path().join(source)), &small(), Some(&out), &quiet));
        assert_eq!(made.unwrap(), (out.clone(), true));
        files_made.push(out);
    }
    let [one, four, folder] = &files_made[..] else { unreachable!() };
    assert_eq!(fs::read(one).unwrap(), fs::read(four).unwrap());
    let (mut a, mut b) = (RawGraph::read(one).unwrap(), RawGraph::read(folder).unwrap());
    // The meta names the checksum of the source, which differs.
    (a.meta, b.meta) = (None, None);
    assert_eq!(a, b);

    let meta = Meta::read(one).unwrap();
    assert_eq!(meta.names, ["horse001", "horse002", "horse003", "horse004"]);
    assert_eq!(meta.excluded, [("horse318".to_owned(), "the picture is black".to_owned())]);
    assert_eq!(meta.source_sha256, files::sha256_file(&archive).unwrap());
    assert_eq!((a.features_per_node, a.num_labels, a.len()), (FEATURES, 2, 4));
    let pixels = a.label_pixels.unwrap();
    assert_eq!(pixels.iter().sum::<u32>() as usize, 4 * 60 * 46, "every pixel of every mask is counted once");
    let data = npz::read_graph(one).unwrap();
    assert!(data.labels.contains(&0) && data.labels.contains(&1));
    // The truth of superpixels is nearly the truth of pixels.
    let (right, all) = pixels_right(&pixels, &data.labels);
    assert!(right * 100 > all * 90, "{right} of {all}");
}

/// What the checksum does not cover is not read either.
#[test]
fn pictures_outside_of_the_official_folder_are_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let unpacked = dir.path().join("folder");
    tiny_horses(&unpacked);
    let with = |others: &[&str], name: &str| {
        let mut tar = tar::Builder::new(Vec::new());
        tar.append_dir_all("weizmann_horse_db", &unpacked).unwrap();
        for other in others {
            tar.append_dir_all(other, &unpacked).unwrap();
        }
        let path = dir.path().join(name);
        fs::write(&path, tar.into_inner().unwrap()).unwrap();
        path
    };
    let set = ImageSet::Horses;
    fs::rename(unpacked.join("rgb/horse004.jpg"), unpacked.join("rgb/horse009.jpg")).unwrap();
    fs::rename(unpacked.join("figure_ground/horse004.jpg"), unpacked.join("figure_ground/horse009.jpg")).unwrap();
    let names = |path: &Path| set.pairs(path).map(|pairs| pairs.into_iter().map(|pair| pair.name).collect::<Vec<_>>());
    let expected = ["horse001", "horse002", "horse003", "horse009", "horse318"];
    assert_eq!(names(&with(&["more", "weizmann_horse_db/more"], "more.tar")).unwrap(), expected);
    // A folder without the top folder is the set, so these are the same files again.
    for twice in ["weizmann_horse_db", "deeper/weizmann_horse_db"] {
        let error = names(&with(&[twice], "twice.tar")).unwrap_err().to_string();
        assert!(error.contains("has two files") && error.contains("horse001.jpg"), "{twice}: {error}");
    }
    let archive = with(&["more"], "more.tar");
    assert_eq!(names(&unpacked).unwrap(), names(&archive).unwrap());
    let before = set.checksum(&unpacked).unwrap();
    fs::create_dir_all(unpacked.join("more/rgb")).unwrap();
    fs::copy(unpacked.join("rgb/horse001.jpg"), unpacked.join("more/rgb/horse999.jpg")).unwrap();
    assert_eq!((names(&unpacked).unwrap().len(), set.checksum(&unpacked).unwrap()), (5, before));
}

#[test]
fn a_second_call_does_nothing_and_other_parameters_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    tiny_horses(&dir.path().join("weizmann_horses"));
    let data = data_dir(dir.path());
    let out = dir.path().join("out.npz");
    assert!(prepare(ImageSet::Horses, &data, &small(), Some(&out), &quiet).unwrap().1);
    let written = fs::metadata(&out).unwrap().modified().unwrap();
    assert!(!prepare(ImageSet::Horses, &data, &small(), Some(&out), &|_, _| panic!("no work")).unwrap().1);
    assert_eq!(fs::metadata(&out).unwrap().modified().unwrap(), written);
    let other = prepare(ImageSet::Horses, &data, &Recipe::default(), Some(&out), &quiet).unwrap_err().to_string();
    assert!(other.contains("out.npz") && other.contains("other images or parameters"), "{other}");
    for wrong in [
        SlicParams { superpixels: 0, ..small().slic },
        SlicParams { compactness: f32::NAN, ..small().slic },
        SlicParams { rounds: 0, ..small().slic },
    ] {
        let wrong = Recipe { slic: wrong, half: false };
        assert!(prepare(ImageSet::Horses, &data, &wrong, None, &quiet).is_err(), "{wrong:?}");
    }
}

#[test]
fn half_precision_is_the_same_graph_in_half_the_bytes() {
    let dir = tempfile::tempdir().unwrap();
    tiny_horses(&dir.path().join("weizmann_horses"));
    let data = data_dir(dir.path());
    let (out, halved) = (dir.path().join("out.npz"), dir.path().join("half.npz"));
    let recipe = Recipe { half: true, ..small() };
    prepare(ImageSet::Horses, &data, &small(), Some(&out), &quiet).unwrap();
    prepare(ImageSet::Horses, &data, &recipe, Some(&halved), &quiet).unwrap();
    let (single, half) = (npz::read_graph(&out).unwrap(), npz::read_graph(&halved).unwrap());
    assert_eq!(half, GraphData { features: single.features.halved(), ..single });
    assert_eq!((Meta::read(&out).unwrap().half, Meta::read(&halved).unwrap().half), (false, true));
    assert!(!prepare(ImageSet::Horses, &data, &recipe, Some(&halved), &quiet).unwrap().1);
    let other = prepare(ImageSet::Horses, &data, &recipe, Some(&out), &quiet).unwrap_err().to_string();
    assert!(other.contains("other images or parameters"), "{other}");
}

#[test]
fn incomplete_and_damaged_sets_say_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("stanford_background/iccv09Data");
    let data = data_dir(dir.path());
    let message = |expected: &str| {
        let out = dir.path().join("never.npz");
        let text = prepare(ImageSet::Stanford, &data, &small(), Some(&out), &quiet).unwrap_err().to_string();
        assert!(text.contains(expected) && !out.exists(), "{expected}: {text}");
    };
    message("Get it with `ssvm-bench data fetch stanford`");
    message("http://dags.stanford.edu/data/iccv09Data.tar.gz");
    let picture = scene(24, 16, 0);
    picture_file(&root.join("images/0000001.jpg"), &picture);
    fs::create_dir_all(root.join("labels")).unwrap();
    message("has no labels/0000001.regions.txt");
    let truth = root.join("labels/0000001.regions.txt");
    let rows = |cell: &str, width: usize, height: usize| format!("{}\n", vec![cell; width].join(" ")).repeat(height);
    for (text, expected) in [
        (rows("0", 23, 16), "has 24 × 16 pixels, but its regions 23 × 16"),
        (rows("8", 24, 16), "\"8\" in row 1"),
        (rows("-2", 24, 16), "\"-2\" in row 1"),
        (rows("0", 24, 15) + "0 0\n", "2 values in row 16"),
        (String::new(), "is empty"),
    ] {
        fs::write(&truth, text).unwrap();
        message(expected);
    }
    fs::write(&truth, rows("0", 24, 16)).unwrap();
    fs::write(root.join("images/0000001.jpg"), "no picture").unwrap();
    message("picture 0000001 is neither JPEG nor PNG");
    fs::write(dir.path().join("stanford_background/iccv09Data.tar.gz"), b"\x1f\x8bbroken").unwrap();
    message("is not a complete tar archive");
    assert!(ImageSet::from_name("usps").unwrap_err().to_string().contains("not an image set"));
}

#[test]
fn unknown_pixels_make_unknown_superpixels_and_an_unknown_picture_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("iccv09Data");
    fs::create_dir_all(root.join("labels")).unwrap();
    for (name, cell) in [("0000001", "3"), ("0000002", "-1")] {
        picture_file(&root.join(format!("images/{name}.jpg")), &scene(60, 40, 1));
        // The left half of the first picture is unknown, the second picture altogether.
        let row = [["-1"; 30].join(" "), [cell; 30].join(" ")].join(" ") + "\n";
        fs::write(root.join(format!("labels/{name}.regions.txt")), row.repeat(40)).unwrap();
    }
    let out = dir.path().join("out.npz");
    prepare(ImageSet::Stanford, &data_dir(dir.path()), &small(), Some(&out), &quiet).unwrap();
    let raw = RawGraph::read(&out).unwrap();
    assert!(raw.labels.iter().all(|l| [-1, 3].contains(l)) && raw.labels.contains(&3));
    let (data, dropped) = raw.clone().into_known(&out).unwrap();
    assert_eq!((data.len(), &dropped.examples[..]), (1, &[1][..]));
    assert_eq!(data.labels.len() + dropped.nodes, raw.labels.len());
}

#[test]
fn the_program_lists_prepares_and_draws() {
    let dir = tempfile::tempdir().unwrap();
    tiny_horses(&dir.path().join("data/weizmann_horses"));
    let program = || {
        let mut command = Command::cargo_bin("ssvm-bench").unwrap();
        command.env("COLUMNS", "1000").env_remove("SSVM_DATA").env("XDG_CACHE_HOME", dir.path().join("cache"));
        command.current_dir(dir.path()).args(["--accept-data", "data"]);
        command
    };
    // Pictures that are not the official ones are refused unless they are accepted.
    for arguments in [&["prepare", "horses"][..], &["show", "horses", "0", "--output", "x.png"]] {
        let mut command = Command::cargo_bin("ssvm-bench").unwrap();
        command.current_dir(dir.path()).env_remove("SSVM_DATA").env("XDG_CACHE_HOME", dir.path().join("refused"));
        let output = command.arg("data").args(arguments).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(
            message.contains("is not the official file of horses") && message.contains("--accept-data"),
            "{message}"
        );
        assert!(!dir.path().join("refused").exists() && !dir.path().join("x.png").exists());
    }
    let stdout = |arguments: &[&str]| {
        let output = program().args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let prepared = || {
        let list = stdout(&["list", "--format", "json"]);
        let row = list.lines().map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap());
        row.into_iter().find(|row| row["name"] == "horses").unwrap()["prepared"].clone()
    };
    assert_eq!(prepared(), false);
    let solve = || {
        let mut command = Command::cargo_bin("ssvm-bench").unwrap();
        command.env("COLUMNS", "1000");
        command.current_dir(dir.path()).env_remove("SSVM_DATA").env("XDG_CACHE_HOME", dir.path().join("on demand"));
        let output =
            command.args(["solve", "--dataset", "horses~accepted", "--solver", "bcfw", "--iterations", "1"]).output();
        String::from_utf8(output.unwrap().stderr).unwrap()
    };
    let (first, second) = (solve(), solve());
    assert!(first.contains("horses: preparing 4 images\n"), "{first}");
    assert!(second.contains("n = 4") && !second.contains("preparing"), "{second}");
    let path = PathBuf::from(stdout(&["prepare", "horses"]).trim());
    assert!(path.starts_with(dir.path().join("cache/ssvm-bench")) && path.is_file());
    assert_eq!(prepared(), true);
    assert!(
        !dir.path()
            .join("data/weizmann_horses")
            .read_dir()
            .unwrap()
            .any(|e| { !["rgb", "figure_ground"].contains(&e.unwrap().file_name().to_str().unwrap()) })
    );

    stdout(&["show", "horses", "3", "--output", "three.png"]);
    let w: Vec<u8> = (0..FEATURES * 2).flat_map(|j| (j as f64 / 1e4).to_le_bytes()).collect();
    let mut npy = Vec::new();
    ssvm_bench::dataset::npy::write_header(&mut npy, "<f8", &[FEATURES * 2]).unwrap();
    npy.extend(w);
    fs::write(dir.path().join("w.npy"), &npy).unwrap();
    stdout(&["show", "horses", "3", "--output", "four.png", "--weights", "w.npy"]);
    let size = |name: &str| {
        let picture = Picture::decode(&fs::read(dir.path().join(name)).unwrap()).unwrap();
        (picture.width, picture.height)
    };
    assert_eq!((size("three.png"), size("four.png")), ((60 * 3 + 12, 46), (60 * 4 + 18, 46)));

    fs::write(dir.path().join("short.npy"), &npy[..npy.len() - 8]).unwrap();
    for (arguments, expected) in [
        (&["show", "horses", "4", "--output", "x.png"][..], "no example 4; its examples are 0 to 3"),
        (&["show", "stanford", "0", "--output", "x.png"], "data fetch stanford"),
        (&["show", "usps", "0", "--output", "x.png"], "not an image set"),
        (&["show", "horses", "0", "--output", "x.png", "--weights", "short.npy"], "ends after"),
        (&["show", "horses", "0", "--output", "x.png", "--weights", "none.npy"], "none.npy"),
        (&["prepare", "horse"], "not an image set"),
        (&["check", "hosres"], "did you mean 'horses'?"),
        (&["check", "ocr"], "letter.data.gz"),
        (&["prepare", "horses", "stanford", "--output", "x.npz"], "--output takes one data set"),
    ] {
        let output = program().args(arguments).assert().code(1).get_output().clone();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}

#[test]
fn planning_prepares_no_images_and_says_what_a_run_will() {
    let dir = tempfile::tempdir().unwrap();
    tiny_horses(&dir.path().join("data/weizmann_horses"));
    let config = "name = \"p\"\nrepeats = 2\nclock = \"virtual\"\n[budget]\niterations = 1\n[[dataset]]\nname = \"horses~accepted\"\n\
                  [[dataset]]\nname = \"usps-synth:n=5\"\n[[solver]]\nname = \"bcfw\"\n[[solver]]\nname = \"fw\"\n";
    fs::write(dir.path().join("p.toml"), config).unwrap();
    let cache = dir.path().join("cache");
    let program = |arguments: &[&str]| {
        let mut command = Command::cargo_bin("ssvm-bench").unwrap();
        command.env("COLUMNS", "1000");
        command.current_dir(dir.path()).env_remove("SSVM_DATA").env("XDG_CACHE_HOME", &cache);
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let outline = program(&["run", "--dry-run", "p.toml"]);
    assert!(!cache.exists(), "planning wrote into the cache");
    let expected = format!("`run` will prepare 4 images into {}", cache.join("ssvm-bench/horses-").display());
    assert!(outline.contains(&expected) && outline.contains("4 runs follow"), "{outline}");
    assert!(outline.contains("n = 4, d = 1298"), "{outline}");
    assert!(outline.contains("p: 8 runs, 0 done, 8 to do with "), "{outline}");
    let json = program(&["run", "--dry-run", "p.toml", "--format", "json"]);
    let lines: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).count();
    assert_eq!((kinds("run"), kinds("pending"), kinds("plan")), (4, 1, 1), "{json}");
    let total = lines.last().unwrap();
    assert_eq!((&total["planned"], &total["done"], &total["pending"]), (&8.into(), &0.into(), &8.into()), "{json}");
    assert!(!cache.exists(), "planning wrote into the cache");
    program(&["run", "p.toml", "--quiet"]);
    assert_eq!(fs::read_dir(cache.join("ssvm-bench")).unwrap().count(), 1);
    let plan = program(&["run", "--dry-run", "p.toml"]);
    assert!(plan.contains("8 runs, 8 done") && !plan.contains("prepare"), "{plan}");
    // Without the prepared images the runs have no identity yet: those in the folder are not called runs of another plan.
    fs::remove_dir_all(&cache).unwrap();
    let plan = program(&["run", "--dry-run", "p.toml"]);
    assert!(plan.contains("4 runs follow; 4 of this data set are in the folder"), "{plan}");
    assert!(!plan.contains("not in this plan"), "{plan}");
}
