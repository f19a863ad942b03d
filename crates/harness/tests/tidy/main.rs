//! House rules that a program can check: who may know whom, how long things may be, what must exist.

mod names;
mod source;

use std::{
    collections::BTreeMap,
    fmt::Display,
    fs,
    path::{Path, PathBuf},
};

use names::SHARED;
use source::{ModulePath, circles, code, functions, modules};
use taut::backends;

const FILE_CAP: usize = 500;
const FUNCTION_CAP: usize = 70;
const ARCHITECTURE_CAP: usize = 200;

/// Functions that are longer, and why they may be.
const LONG: &[(&str, &str, &str)] =
    &[("crates/core/tests/all/scene_errors.rs", "bodies", "wrong inputs, one line each")];

/// The layer of the methods.
const METHODS: u32 = 6;

/// Words that have no place in the crates below the harness, since they make runs differ.
const UNREPEATABLE: &[&str] = &["HashMap", "HashSet", "std::time", "SystemTime", "rand::"];
/// What `core` must not know beside those.
const BEYOND_CORE: &[&str] = &["rayon", "std::thread", "wgpu", "std::process"];
/// Files that may use one of these words, and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("crates/collide/src/detect.rs", "std::time", "a stage clock, which no contact depends on"),
    (
        "crates/exec/src/checks.rs",
        "std::time",
        "clocks of other processes, which no state depends on",
    ),
    ("crates/core/src/load/expand.rs", "HashMap", "edges are looked up, never iterated over"),
    ("crates/core/src/load/expand.rs", "HashSet", "names are looked up, never iterated over"),
    ("crates/core/src/load/names.rs", "HashMap", "names are looked up, never iterated over"),
    ("crates/core/src/load/names.rs", "HashSet", "names are looked up, never iterated over"),
];

/// Words that only rooms for graphics adapters know.
const DEVICE_WORDS: &[&str] = &["wgpu", "taut_gpu", "taut_collide_gpu", "taut_model_gpu"];
/// Other files that know some, and why.
const BESIDE_DEVICES: &[(&str, &str)] = &[(
    "crates/jacobi/src/layout.rs",
    "structures that both of its solvers share, laid out as shaders read them",
)];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Path below the root, with forward slashes.
fn short(file: &Path) -> String {
    let file = file.strip_prefix(root()).unwrap_or(file);
    file.to_string_lossy().replace('\\', "/")
}

/// Names of the folders in `crates` that hold a package.
fn crates() -> Vec<String> {
    let folders = fs::read_dir(root().join("crates")).expect("a folder of crates");
    let mut names: Vec<String> = folders
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().join("Cargo.toml").exists())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Every Rust file below `folder`, sorted.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    files(folder, "rs")
}

/// Every file below `folder` with an extension, sorted.
fn files(folder: &Path, wanted: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("an entry").path();
            if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == wanted) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The files of a crate's library, each with the path of the module that it holds.
fn sources(name: &str) -> Vec<(ModulePath, String)> {
    let folder = root().join("crates").join(name).join("src");
    let module = |file: &PathBuf| {
        let inside = file.strip_prefix(&folder).expect("a file of the folder").with_extension("");
        inside.iter().map(|part| part.to_string_lossy().into_owned()).collect::<ModulePath>()
    };
    let files = rust_files(&folder).into_iter().map(|file| (module(&file), read(&file)));
    let library = files.filter(|(path, _)| path[..] != ["main"]);
    library.map(|(path, text)| (if path[..] == ["lib"] { vec![] } else { path }, text)).collect()
}

fn report(problems: &[impl Display]) {
    let lines: Vec<String> = problems.iter().map(|problem| format!("  {problem}")).collect();
    assert!(problems.is_empty(), "\n{}", lines.join("\n"));
}

/// `harness -> methods -> descent -> {model-gpu, collide-gpu} -> {model, collide, recording, draw} -> core -> math`, beside which stand
/// `gpu` below all that use a device, `ipc` beside the core and `fixtures` above what it makes for tests. Everything new is a method.
fn layer(name: &str) -> u32 {
    match name {
        "math" | "gpu" => 0,
        "core" | "ipc" => 1,
        "fixtures" => 2,
        "model" | "collide" | "recording" | "draw" => 3,
        "model-gpu" | "collide-gpu" => 4,
        "descent" => 5,
        "harness" => 7,
        _ => METHODS,
    }
}

/// Packages of the workspace among all dependencies in a manifest, by folder name.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut listed = false;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            listed = line.ends_with("dependencies]");
        }
        let key = line.split(['.', '=', ' ']).next().unwrap_or("");
        match (listed, key, key.strip_prefix("taut-")) {
            (true, "taut", _) => names.push("harness".to_owned()),
            (true, _, Some(name)) => names.push(name.to_owned()),
            _ => {}
        }
    }
    names
}

#[test]
fn dependencies_point_downwards() {
    let mut problems = Vec::new();
    for name in crates() {
        let manifest = read(&root().join("crates").join(&name).join("Cargo.toml"));
        for other in dependencies(&manifest) {
            if layer(&other) >= layer(&name) {
                problems.push(format!("{name} depends on {other}, which is not below it"));
            }
        }
        if !manifest.contains("[lints]\nworkspace = true") {
            problems.push(format!("{name} does not take the lints of the workspace"));
        }
    }
    report(&problems);
}

#[test]
fn manifests_are_understood() {
    let manifest = "[package]\nname = \"taut-x\"\n[dependencies]\ntaut-core.workspace = true\n\
                    serde = \"1\"\n[dev-dependencies]\ntaut-newton = { path = \"../newton\" }\n";
    assert_eq!(dependencies(manifest), ["core", "newton"]);
    assert!(layer("newton") >= layer("avbd") && layer("core") > layer("gpu"));
}

/// Only the harness names backends; a method knows neither another method's crate nor its name.
#[test]
fn no_backend_names_another() {
    let crates = crates();
    let methods: Vec<&String> = crates.iter().filter(|name| layer(name) == METHODS).collect();
    let mut problems = Vec::new();
    for name in crates.iter().filter(|name| layer(name) <= METHODS) {
        let own = |other: &str| other == name.as_str();
        let strangers = methods.iter().filter(|other| !own(other));
        let packages =
            strangers.flat_map(|other| [format!("taut_{other}"), format!("taut-{other}")]);
        let table = backends::table();
        let method = name.strip_prefix("peer-").unwrap_or(name);
        let foreign = table.names().filter(|backend| backend.split('-').next() != Some(method));
        let words: Vec<String> =
            packages.chain(foreign.map(|name| format!("\"{name}\""))).collect();
        for file in rust_files(&root().join("crates").join(name)) {
            let text = read(&file);
            for word in words.iter().filter(|word| text.contains(word.as_str())) {
                problems.push(format!("{} names {word}", short(&file)));
            }
        }
    }
    report(&problems);
}

#[test]
fn runs_are_repeatable() {
    let mut problems = Vec::new();
    let mut used = vec![false; EXCEPTIONS.len()];
    for name in crates().iter().filter(|name| layer(name) <= METHODS) {
        let beyond = if name == "core" { BEYOND_CORE } else { &[] };
        for file in rust_files(&root().join("crates").join(name).join("src")) {
            let (path, text) = (short(&file), code(&read(&file)));
            for word in UNREPEATABLE.iter().chain(beyond).filter(|word| text.contains(**word)) {
                let excused = EXCEPTIONS.iter().position(|(f, w, _)| *f == path && w == word);
                match excused {
                    Some(i) => used[i] = true,
                    None => problems.push(format!("{path} uses {word}")),
                }
            }
        }
    }
    let stale = EXCEPTIONS.iter().zip(used).filter(|(_, used)| !used);
    problems.extend(stale.map(|((file, word, _), _)| format!("{file} no longer uses {word}")));
    report(&problems);
}

#[test]
fn files_and_functions_are_short() {
    let mut problems = Vec::new();
    let mut excused = Vec::new();
    for file in rust_files(&root().join("crates")) {
        let (path, text) = (short(&file), read(&file));
        let lines = text.lines().count();
        if lines > FILE_CAP {
            problems.push(format!("{path} has {lines} lines"));
        }
        let functions = functions(&text);
        for (name, lines) in functions.iter().filter(|(_, lines)| *lines > FUNCTION_CAP) {
            match LONG.iter().position(|(file, function, _)| *file == path && function == name) {
                Some(row) => excused.push(row),
                None => problems.push(format!("{path}: `{name}` has {lines} lines")),
            }
        }
    }
    let stale = LONG.iter().enumerate().filter(|(row, _)| !excused.contains(row));
    problems.extend(stale.map(|(_, (file, name, _))| format!("{file}: `{name}` is short now")));
    report(&problems);
}

#[test]
fn shaders_are_short() {
    let long = |file: &PathBuf| read(file).lines().count() > FILE_CAP;
    let shaders = files(&root().join("shaders"), "wgsl");
    assert!(shaders.len() > 20, "too few shaders were found");
    let problems: Vec<String> =
        shaders.iter().filter(|file| long(file)).map(|file| short(file)).collect();
    report(&problems);
}

#[test]
fn siblings_form_no_circle() {
    let mut problems = Vec::new();
    for name in crates() {
        let found = circles(&modules(&sources(&name)));
        problems.extend(found.into_iter().map(|circle| format!("{name}: {circle}")));
    }
    report(&problems);
}

/// The names of types with more than one definition: where each is defined.
fn defined_twice(crates: &[(String, Vec<(ModulePath, String)>)]) -> BTreeMap<String, Vec<String>> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, files) in crates {
        for (path, module) in modules(files) {
            for found in module.types {
                let place = [std::slice::from_ref(name), &path].concat().join("::");
                places.entry(found).or_default().push(place);
            }
        }
    }
    places.retain(|_, places| places.len() > 1);
    places
}

#[test]
fn one_name_has_one_meaning() {
    let crates: Vec<_> = crates().into_iter().map(|name| (name.clone(), sources(&name))).collect();
    let twice = defined_twice(&crates);
    let listed = |name: &str| SHARED.iter().any(|(shared, _)| *shared == name);
    let unlisted = twice.iter().filter(|(name, _)| !listed(name));
    let mut problems: Vec<String> =
        unlisted.map(|(name, places)| format!("`{name}` is {}", places.join(" and "))).collect();
    let stale = SHARED.iter().filter(|(name, _)| !twice.contains_key(*name));
    problems.extend(stale.map(|(name, _)| format!("`{name}` has one definition now")));
    report(&problems);
}

#[test]
fn names_are_compared_across_crates_and_modules() {
    let file = |path: &[&str], text: &str| {
        (path.iter().map(|&name| name.to_owned()).collect::<ModulePath>(), text.to_owned())
    };
    let a = vec![file(&[], "mod x; struct A; fn f() { struct B; }"), file(&["x"], "enum A {}")];
    let b = vec![file(&[], "trait A {} type B = u8; impl T for B { type C = u8; }")];
    let crates = [("a".to_owned(), a), ("b".to_owned(), b)];
    let expected = ["a", "a::x", "b"].map(str::to_owned).to_vec();
    assert_eq!(defined_twice(&crates), BTreeMap::from([("A".to_owned(), expected)]));
}

/// Whether a file of a crate below the harness is in a room for graphics adapters.
fn is_device_room(name: &str, path: &ModulePath) -> bool {
    let room = |part: &str| part == "gpu" || part == "device" || part.ends_with("-gpu");
    room(name) || path.iter().any(|part| room(part))
}

#[test]
fn only_rooms_for_devices_know_devices() {
    let mut problems = Vec::new();
    for name in crates().iter().filter(|name| layer(name) <= METHODS) {
        for (path, text) in sources(name) {
            let file = format!("crates/{name}/src/{}.rs", path.join("/"));
            let beside = BESIDE_DEVICES.iter().any(|(beside, _)| *beside == file);
            let text = code(&text);
            let word = DEVICE_WORDS.iter().find(|word| text.contains(**word));
            match (word, beside) {
                (Some(word), false) if !is_device_room(name, &path) => {
                    problems.push(format!("{name}::{} names {word}", path.join("::")));
                }
                (None, true) => problems.push(format!("{file} knows no device any more")),
                _ => {}
            }
        }
    }
    report(&problems);
}

#[test]
fn device_rooms_are_told_by_their_names() {
    let path = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<ModulePath>();
    assert!(is_device_room("collide-gpu", &path(&["broad"])));
    assert!(is_device_room("descent", &path(&["device", "step"])));
    assert!(!is_device_room("descent", &path(&["sweep"])));
    assert!(!is_device_room("newton", &path(&["device_less"])));
}

#[test]
fn every_module_says_what_it_is_for() {
    let undocumented = |file: &PathBuf| {
        let text = read(file);
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
        // Sentences only: a bare heading says nothing.
        !first.starts_with("//! ") || first.len() < 15
    };
    let files = rust_files(&root().join("crates"));
    let problems: Vec<String> =
        files.iter().filter(|file| undocumented(file)).map(|file| short(file)).collect();
    report(&problems);
}

/// Whether the documentation in a source has a block that would be compiled, which nobody runs.
fn has_example(text: &str) -> bool {
    let mut inside = false;
    text.lines().map(str::trim_start).any(|line| {
        let comment = line.strip_prefix("//!").or_else(|| line.strip_prefix("///"));
        let comment = comment.unwrap_or("").trim_end();
        if comment.trim_start().starts_with("```") {
            inside = !inside;
            return inside && comment.trim_start() != "```text";
        }
        // What is indented is code as well.
        !inside && comment.starts_with("     ")
    })
}

#[test]
fn documentation_has_no_code_to_run() {
    let files = rust_files(&root().join("crates"));
    let problems: Vec<String> = files
        .iter()
        .filter(|file| has_example(&read(file)))
        .map(|file| format!("{}: mark blocks as ```text, or test examples", short(file)))
        .collect();
    report(&problems);
    let fence = "`".repeat(3);
    assert!(has_example(&format!("/// {fence}\n/// f();\n/// {fence}\n")));
    assert!(!has_example(&format!("//! {fence}text\n//! a\n//! {fence}\n")));
    assert!(has_example("/// As in\n///\n///     f();\n"));
}

#[test]
fn nothing_is_left_for_later() {
    // In pieces, so that this file does not find itself.
    let words =
        [["TO", "DO"], ["FIX", "ME"], ["unimple", "mented!"], ["todo", "!("], ["dbg", "!("]];
    let words = words.map(|pieces| pieces.concat());
    let mut problems = Vec::new();
    for file in rust_files(&root().join("crates")) {
        let text = read(&file);
        for word in words.iter().filter(|word| text.contains(word.as_str())) {
            problems.push(format!("{} contains {word}", short(&file)));
        }
    }
    report(&problems);
}

#[test]
fn architecture_names_what_exists() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let mut problems = Vec::new();
    if text.lines().count() > ARCHITECTURE_CAP {
        problems.push(format!("ARCHITECTURE.md has more than {ARCHITECTURE_CAP} lines"));
    }
    let paths = paths_in(&text);
    assert!(paths.len() > 20, "too few paths were recognised: {paths:?}");
    problems.extend(
        paths.iter().filter(|path| !root().join(path).exists()).map(|path| format!("no {path}")),
    );
    let listed = |name: &&String| paths.iter().any(|path| path == &format!("crates/{name}"));
    problems.extend(
        crates()
            .iter()
            .filter(|name| !listed(name))
            .map(|name| format!("crates/{name} is not in the code map")),
    );
    report(&problems);
}

#[test]
fn the_readme_names_what_exists_and_has_a_place_for_the_matrix() {
    let text = read(&root().join("README.md"));
    let missing: Vec<String> =
        paths_in(&text).into_iter().filter(|path| !root().join(path).exists()).collect();
    report(&missing);
    let begin = text.find("<!-- matrix:begin -->").expect("where it begins");
    assert!(text[begin..].contains("<!-- matrix:end -->"));
}

/// What the pages show or lead to is there: a dead path is an empty frame for whoever reads.
#[test]
fn pages_show_what_exists() {
    let mut pages = vec![root().join("README.md"), root().join("ARCHITECTURE.md")];
    pages.extend(["results", "scenes"].iter().flat_map(|folder| files(&root().join(folder), "md")));
    let mut problems = Vec::new();
    let mut pictures = 0;
    for page in &pages {
        let folder = page.parent().expect("a folder");
        for target in targets(&read(page)) {
            pictures += usize::from(target.ends_with(".svg") || target.ends_with(".png"));
            if !folder.join(&target).exists() {
                problems.push(format!("{}: no {target}", short(page)));
            }
        }
    }
    assert!(pictures > 40, "too few pictures were recognised");
    report(&problems);
}

/// The paths that a page in Markdown shows or leads to, without places in pages and addresses elsewhere.
fn targets(markdown: &str) -> Vec<String> {
    let after = |mark: &str, end: char| {
        let parts = markdown.split(mark).skip(1);
        parts.filter_map(|part| part.split(end).next()).map(str::to_owned).collect::<Vec<_>>()
    };
    let all = [after("](", ')'), after("src=\"", '"'), after("href=\"", '"')].concat();
    let paths = all.iter().filter_map(|target| target.split('#').next());
    let own = paths.filter(|path| !path.is_empty() && !path.contains("://"));
    own.map(str::to_owned).collect()
}

#[test]
fn pictures_are_recognised() {
    let text = "[![a](b.svg)](c/d) <img src=\"e.png\"> [f](https://g.org) [h](#i) [j](k.md#l)";
    assert_eq!(targets(text), ["b.svg", "c/d", "k.md", "e.png"]);
}

/// Quoted words in Markdown that look like paths below the root, without a trailing slash.
fn paths_in(markdown: &str) -> Vec<String> {
    let starts = ["crates/", "scenes/", "results/", "scripts/", "shaders/", ".ci/"];
    let quoted = markdown.split('`').skip(1).step_by(2);
    let plain = quoted.filter(|word| !word.contains(['*', '<', ' ', '{']));
    let paths = plain.filter(|word| {
        starts.iter().any(|start| word.starts_with(start))
            || word.ends_with(".toml")
            || word.ends_with(".md")
    });
    paths.map(|path| path.trim_end_matches('/').to_owned()).collect()
}

#[test]
fn paths_are_recognised() {
    let text = "The `crates/core/` crate, `Scene::watch`, `crates/*/src` and `Cargo.toml`; `scenes/x.ron`.";
    assert_eq!(paths_in(text), ["crates/core", "Cargo.toml", "scenes/x.ron"]);
}

#[test]
fn long_functions_are_seen() {
    let long = format!("fn long() {{\n{}}}\n", "    work();\n".repeat(80));
    assert!(functions(&long)[0].1 > FUNCTION_CAP);
}
