//! Films of pixels from outside: what `taut draw` writes with a graphics adapter, and says without one.

#![cfg(feature = "gpu")]

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn draw(out: &Path, arguments: &[&str], hidden: bool) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taut"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command.args(["draw", "rope", "-b", "null", "--out"]).arg(out).args(arguments);
    if hidden {
        command.env("VK_DRIVER_FILES", "/nowhere").env("VK_ICD_FILENAMES", "/nowhere");
    }
    command.output().unwrap()
}

/// Where the content of a chunk begins.
fn chunk(file: &[u8], name: &[u8; 4]) -> Option<usize> {
    file.windows(4).position(|bytes| bytes == name).map(|at| at + 4)
}

fn number(file: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(file[at..at + 4].try_into().unwrap())
}

/// The picture that is drawn, unless there is no adapter.
fn drawn(arguments: &[&str]) -> Option<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let output = draw(dir.path(), arguments, false);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    if text.contains("film.png: skipped") {
        assert!(std::env::var_os(taut_gpu::REQUIRE).is_none(), "{text}");
        return None;
    }
    assert!(dir.path().join("views.json").is_file());
    Some(fs::read(dir.path().join("film.png")).unwrap())
}

#[test]
fn a_loop_plays_forever_and_has_a_page_for_each_frame() {
    let Some(file) = drawn(&["--steps", "12", "--as", "apng", "--frames", "0,6,12"]) else {
        return;
    };
    let animation = chunk(&file, b"acTL").expect("an animation");
    assert_eq!((number(&file, animation), number(&file, animation + 4)), (3, 0));
    assert_eq!(number(&file, chunk(&file, b"IHDR").unwrap()), 800);
}

#[test]
fn a_still_has_the_size_that_was_asked_for_and_a_film_twice_its_own() {
    let size = |file: &[u8]| {
        let head = chunk(file, b"IHDR").unwrap();
        (number(file, head), number(file, head + 4))
    };
    let still = ["--steps", "2", "--frames", "1", "--size", "160x90", "--as", "png"];
    let Some(file) = drawn(&still) else { return };
    assert_eq!(size(&file), (160, 90));
    let file = drawn(&["--steps", "2", "--frames", "1,2", "--as", "png"]).unwrap();
    assert_eq!(size(&file).0, 1600);
    assert!(file.len() <= 200_000);
}

#[cfg(target_os = "linux")]
#[test]
fn without_an_adapter_a_picture_is_skipped_with_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let output = draw(dir.path(), &["--steps", "2", "--frames", "1", "--as", "png"], true);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("film.png: skipped: ") && text.contains("scripts/setup-gpu"), "{text}");
    assert!(!dir.path().join("film.png").exists());
}
