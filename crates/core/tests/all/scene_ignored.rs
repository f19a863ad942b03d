//! Words that would mean nothing are refused, with the field and the reason.

use taut_core::load::load_str;

/// The message that a scene with these lists is refused with.
fn refusal(lists: &str) -> String {
    let text = format!("(contacts: false, {lists})");
    match load_str(&text, "bad.ron", &[]) {
        Ok(_) => panic!("it loads: {lists}"),
        Err(error) => error.to_string(),
    }
}

fn joint(joint: &str) -> String {
    refusal(&format!(
        "bodies: [body(name: \"arm\", shape: box(size: (1, 1, 1)), density: 1)],
        particles: [particle(name: \"p\", mass: 1, position: (1, 0, 0))], joints: [{joint}]"
    ))
}

fn chain(more: &str) -> String {
    refusal(&format!(
        "bodies: [chain(name: \"c\", count: 3, start: (0, 0, 0), step: (1, 0, 0),
            body: (shape: box(size: (1, 1, 1)), density: 1), {more})]"
    ))
}

#[track_caller]
fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

#[test]
fn joints_say_nothing_twice() {
    let turn = "axis_angle(axis: (0, 0, 1), degrees: 10)";
    let bases = format!("basis_a: {turn}, basis_b: {turn}");
    let hinge = format!("hinge(a: \"world\", b: \"arm\", at: (0, 0, 0), axis: (0, 0, 1), {bases})");
    says(&joint(&hinge), &["axis", "have it already"]);
    for kind in ["fixed", "hinge"] {
        let axis = if kind == "hinge" { ", axis: (0, 0, 1)" } else { "" };
        let message = joint(&format!("{kind}(a: \"arm\", b: \"p\"{axis})"));
        says(&message, &["a particle does not turn"]);
    }
}

#[test]
fn generators_name_and_join_by_themselves() {
    let ends = "at: (0, 0, 0)";
    says(&chain(&format!("joint: ball(name: \"j\", {ends})")), &["joint", "name"]);
    says(&chain(&format!("joint: ball(a: \"world\", {ends})")), &["the generator chooses"]);
    says(&chain("spring: linear(name: \"s\", stiffness: 1)"), &["spring", "name"]);
    says(&chain("spring: linear(b: \"world\", stiffness: 1)"), &["the generator chooses"]);
    says(&chain("spring: angular(a: \"world\", stiffness: 1)"), &["the generator chooses"]);
}

/// Rounds within rounds are counted before the first is made, in lists that make no bodies, too.
#[test]
fn rounds_without_end_are_refused() {
    for list in ["joints", "springs", "triangles", "tetrahedra", "forces"] {
        let inner = format!("repeat(count: 1000000, {list}: [])");
        let rounds = format!("repeat(count: 1000000, {list}: [{inner}])");
        says(&refusal(&format!("bodies: [], {list}: [{rounds}]")), &["would make", "at most"]);
    }
}

/// The spring of a path is at its closing joint, too.
#[test]
fn paths_close_with_their_spring() {
    let text = "(contacts: false, bodies: [path(name: \"c\", count: 3, start: (0, 0, 0), along: (1, 0, 0), tip: \"world\",
        body: (shape: box(size: (1, 0.1, 0.1)), density: 1), joint: ball(), spring: angular(stiffness: 1))])";
    let scene = load_str(text, "path", &[]).unwrap_or_else(|error| panic!("{error}")).scene;
    assert_eq!([scene.joints.len(), scene.springs.len()], [3, 3]);
}
