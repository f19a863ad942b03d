//! Recordings from outside: what is read back, what is refused, and where two of them part.

use std::{
    fs,
    path::{Path, PathBuf},
};

use taut_recording::{
    About, Archivist, Array, FORMAT, RecordedRun, Recording, Scalar, VERSION, part,
};

const FRAMES: usize = 3;
const BODIES: usize = 2;

fn about() -> About {
    let run = RecordedRun { label: "a".to_owned(), frames: FRAMES, ..RecordedRun::default() };
    About {
        format: FORMAT.to_owned(),
        version: VERSION,
        dt_s: 0.5,
        every: 1,
        runs: vec![run],
        ..About::default()
    }
}

/// A recording of two bodies, one number of which can be changed.
fn record(path: &Path, about: &About, change: impl FnOnce(&mut [f64])) {
    let mut values: Vec<f64> = (1..=FRAMES * BODIES * 12).map(|i| 1.0 / i as f64).collect();
    change(&mut values);
    let mut archivist = Archivist::create(path).unwrap();
    let steps = Array { scalar: Scalar::U32, shape: vec![FRAMES], values: vec![0.0, 1.0, 2.0] };
    archivist.array("runs/0/steps.npy", &steps).unwrap();
    let bodies = Array { scalar: Scalar::F64, shape: vec![FRAMES, BODIES, 12], values };
    archivist.array("runs/0/bodies/00000.npy", &bodies).unwrap();
    archivist.text("of_a_later_program.txt", "unknown").unwrap();
    assert!(!path.exists(), "it has its name only when it is whole");
    archivist.finish(about).unwrap();
}

fn opened(path: &Path) -> Recording {
    Recording::open(path).unwrap_or_else(|error| panic!("{error}"))
}

fn two(change: impl FnOnce(&mut [f64])) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a.npz"), dir.path().join("b.npz"));
    record(&a, &about(), |_| ());
    record(&b, &about(), change);
    (dir, a, b)
}

#[test]
fn equal_runs_are_equal_files_and_do_not_part() {
    let (_dir, a, b) = two(|_| ());
    assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
    let parting = part([&mut opened(&a), &mut opened(&b)], [0, 0], 0.0).unwrap();
    assert_eq!((parting.frames, parting.split), (FRAMES, None));
}

#[test]
fn one_ulp_is_found_with_its_frame_body_and_component() {
    let at = (BODIES + 1) * 12 + 1;
    let (_dir, a, b) = two(|values| values[at] = values[at].next_up());
    let split = part([&mut opened(&a), &mut opened(&b)], [0, 0], 0.0).unwrap().split.unwrap();
    assert_eq!((split.frame, split.differing, split.item.ulp), (1, 1, 1));
    assert_eq!((split.item.kind, split.item.index), ("body", 1));
    assert_eq!(split.item.component, "position y");
    let within = part([&mut opened(&a), &mut opened(&b)], [0, 0], 1e-9).unwrap();
    assert_eq!(within.split, None, "closer than the tolerance");
}

#[test]
fn what_cannot_be_read_is_refused_with_the_reason() {
    let (dir, a, _b) = two(|_| ());
    let refused = |path: &Path, words: &str| {
        let text = Recording::open(path).err().expect("refused").to_string();
        assert!(text.contains(words), "expected `{words}` in `{text}`");
    };
    let short = dir.path().join("short.npz");
    let bytes = fs::read(&a).unwrap();
    fs::write(&short, &bytes[..bytes.len() / 2]).unwrap();
    refused(&short, "short.npz is truncated");
    let newer = dir.path().join("newer.npz");
    record(&newer, &About { version: VERSION + 1, ..about() }, |_| ());
    refused(&newer, "newer.npz is of version 2, but this program reads up to 1");
    refused(&dir.path().join("absent.npz"), "absent.npz");
}

#[test]
fn recordings_of_the_first_version_are_read() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/version-1.npz");
    let mut recording = opened(&file);
    assert_eq!((recording.about.version, recording.about.scene.as_str()), (1, "pendulum"));
    let frames = recording.about.runs[0].frames;
    let bodies = recording.array("runs/0/bodies/00000.npy").unwrap();
    assert_eq!((bodies.scalar, bodies.shape[0], bodies.shape[2]), (Scalar::F64, frames, 12));
    assert!(recording.scene_text().unwrap().contains("bodies"));
    let parting = part([&mut opened(&file), &mut recording], [0, 0], 0.0).unwrap();
    assert_eq!((parting.frames, parting.split), (frames, None));
}
