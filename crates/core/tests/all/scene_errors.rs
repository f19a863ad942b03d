//! Bad scene files: each mistake has a message that says where and what, kept as a snapshot.

use std::fmt::Write as _;

use taut_core::load::{load_file, load_str};

/// A scene whose bodies, joints and springs are well formed but for what a case puts in.
fn scene(bodies: &str, joints: &str, springs: &str) -> String {
    format!(
        "(\n    contacts: false,\n    parameters: {{ \"links\": 3, \"width\": 0.5 }},\n    bodies: [\n        \
         body(name: \"base\", shape: box(size: (1, 1, 1)), motion: static),\n        \
         body(name: \"arm\", shape: box(size: (1, 1, 1)), density: 1),\n        {bodies}\n    ],\n    \
         joints: [\n        {joints}\n    ],\n    springs: [\n        {springs}\n    ],\n)\n"
    )
}

fn body(text: &str) -> String {
    scene(text, "", "")
}

fn joint(text: &str) -> String {
    scene("", text, "")
}

fn spring(text: &str) -> String {
    scene("", "", text)
}

/// The messages of all cases, one per line.
fn messages(cases: &[(&str, String)]) -> String {
    let mut lines = String::new();
    for (case, text) in cases {
        let message = match load_str(text, "bad.ron", &[]) {
            Ok(_) => "LOADED".to_owned(),
            Err(error) => error.to_string(),
        };
        assert!(message != "LOADED", "{case} loads");
        writeln!(lines, "{case}\n    {message}").unwrap();
    }
    lines
}

fn snapshot(name: &str, messages: &str) {
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, messages);
    });
}

#[test]
fn text() {
    let whole = body("");
    let cut = whole[..whole.len() / 2].to_owned();
    let doubled = "(dt: 0.1, dt: 0.2, bodies: [])".to_owned();
    snapshot(
        "text",
        &messages(&[
            ("empty file", String::new()),
            ("only a comment", "// nothing here\n".to_owned()),
            ("truncated file", cut),
            ("no scene at all", "hello".to_owned()),
            ("more after the end", whole + "()"),
            ("unknown field", "(gravitty: (0, 0, -10), bodies: [])".to_owned()),
            ("duplicate field", doubled),
            ("nothing inside", "(bodies: [])".to_owned()),
            ("nested too deep", format!("(bodies: [{}", "[".repeat(1000))),
        ]),
    );
}

#[test]
fn settings() {
    let with = |field: &str| body("").replacen('(', &format!("(\n    {field},"), 1);
    snapshot(
        "settings",
        &messages(&[
            ("zero step", with("dt: 0")),
            ("negative step", with("dt: \"-1/60\"")),
            ("wrong type", with("dt: true")),
            ("fractional count", with("steps: 1.5")),
            ("negative count", with("steps: -3")),
            ("no steps", with("steps: 0")),
            ("infinite gravity", with("gravity: (0, 0, inf)")),
            ("division by zero", with("gravity: (0, 0, \"1/0\")")),
            ("not a number", with("gravity: (0, 0, \"0/0\")")),
            ("two components", with("gravity: (0, -10)")),
            ("unknown parameter", with("dt: \"1/linkz\"")),
            ("bad expression", with("dt: \"1 +* 2\"")),
            ("unbalanced expression", with("dt: \"(1 + 2\"")),
            ("odd character", with("dt: \"1 # 2\"")),
            ("empty expression", with("dt: \"\"")),
            ("index outside a generator", with("dt: \"i\"")),
            ("unknown watch", with("watch: [\"amr\"]")),
            ("watching the world", with("watch: [\"arm\", \"world\"]")),
            ("negative margin", body("").replace("contacts: false", "contacts: (margin: -1)")),
            ("other contacts", body("").replace("contacts: false", "contacts: 3")),
            ("parameter named as a function", body("").replace("\"width\"", "\"sin\"")),
            ("parameter twice", body("").replace("\"width\"", "\"links\"")),
        ]),
    );
}

#[test]
fn bodies() {
    let shaped = |shape: &str| body(&format!("body(name: \"c\", shape: {shape}, density: 1)"));
    let with = |rest: &str| body(&format!("body(name: \"c\", shape: sphere(radius: 1), {rest})"));
    let chain_text = |rest: &str| {
        format!(
            "chain(name: \"c\", start: (0, 0, 0), step: (1, 0, 0), body: (shape: sphere(radius: 1), mass: 1), {rest})"
        )
    };
    let chain = |rest: &str| body(&chain_text(rest));
    let member = "body(name: \"c[1]\", shape: sphere(radius: 1), mass: 1)";
    snapshot(
        "bodies",
        &messages(&[
            ("unknown field", with("densty: 1")),
            ("unknown kind", body("sphere(radius: 1)")),
            ("unknown shape", shaped("boxx(size: (1, 1, 1))")),
            ("missing field", shaped("capsule(radius: 1)")),
            ("zero size", shaped("box(size: (1, 0, 1))")),
            ("negative size", shaped("sphere(radius: \"width - 1\")")),
            ("flat hull", shaped("hull(points: [(0,0,0), (1,0,0), (0,1,0), (1,1,0)])")),
            ("small hull", shaped("hull(points: [(0,0,0), (1,0,0)])")),
            ("empty compound", shaped("compound(parts: [])")),
            (
                "nested compound",
                shaped("compound(parts: [(shape: compound(parts: [(shape: sphere(radius: 1))]))])"),
            ),
            ("zero density", with("density: 0")),
            ("negative mass", with("mass: -2")),
            ("no mass", with("friction: 0.5")),
            ("mass and density", with("mass: 1, density: 1")),
            ("overflowing mass", with("density: 1e308, omega: (0, 0, 0)")),
            ("impossible inertia", with("mass: 1, inertia: (1, 1, 3)")),
            ("zero inertia", with("mass: 1, inertia: (1, 0, 1)")),
            ("no inertia at all", with("mass: 1, inertia: (0, 0, 0)")),
            ("negative friction", with("mass: 1, friction: (0.5, -0.1)")),
            ("wrong friction", with("mass: 1, friction: [1]")),
            ("non-unit quaternion", with("mass: 1, rotation: quaternion(0, 0, 1, 1)")),
            ("zero axis", with("mass: 1, rotation: axis_angle(axis: (0, 0, 0), degrees: 90)")),
            ("moving static body", with("motion: static, velocity: (1, 0, 0)")),
            ("wrong motion", with("motion: fixed")),
            ("impossible Poisson ratio", with("mass: 1, elasticity: (young: 1e9, poisson: 0.5)")),
            ("Poisson ratio of nothing", with("mass: 1, elasticity: (young: 1e9, poisson: -1)")),
            ("no stiffness", with("mass: 1, elasticity: (young: 0, poisson: 0.3)")),
            (
                "negative stiffness",
                with("mass: 1, elasticity: (young: \"width - 1\", poisson: 0.3)"),
            ),
            ("infinite stiffness", with("mass: 1, elasticity: (young: inf, poisson: 0.3)")),
            ("no Poisson ratio", with("mass: 1, elasticity: (young: 1e9)")),
            ("unknown elasticity", with("mass: 1, elasticity: (yuong: 1e9, poisson: 0.3)")),
            (
                "elastic plate without thickness",
                with("mass: 1, inertia: (1, 1, 2), elasticity: (young: 1e9, poisson: 0.3)"),
            ),
            ("duplicate name", body("body(name: \"arm\", shape: sphere(radius: 1), mass: 1)")),
            ("name of the world", body("body(name: \"world\", shape: sphere(radius: 1), mass: 1)")),
            ("malformed name", body("body(name: \"a[1\", shape: sphere(radius: 1), mass: 1)")),
            ("member named twice", body(&format!("{}, {member}", chain_text("count: 3")))),
            ("group named twice", body(&format!("{member}, {}", chain_text("count: 3")))),
            ("negative count", chain("count: -1")),
            ("fractional count", chain("count: \"links/2\"")),
            ("too many", chain("count: 1e9")),
            ("held member outside", chain("count: 3, held: [3]")),
            ("joint with ends", chain("count: 3, joint: ball(a: \"arm\")")),
            (
                "placed member",
                body(
                    "chain(name: \"c\", count: 3, start: (0,0,0), step: (1,0,0), body: (shape: sphere(radius: 1), mass: 1, position: (0,0,0)))",
                ),
            ),
            (
                "too many in a grid",
                body(
                    "grid(name: \"c\", counts: (1e4, 1e4, 1e4), start: (0,0,0), step: (1,1,1), body: (shape: sphere(radius: 1), mass: 1))",
                ),
            ),
            (
                "too many in rounds",
                body(
                    "repeat(count: 1e6, bodies: [pyramid(name: \"p[i]\", n: 100, start: (0,0,0), along: (1,0,0), up: (0,0,1), body: (shape: sphere(radius: 1), mass: 1))])",
                ),
            ),
            (
                "too many in a tree",
                body(
                    "tree(name: \"c\", depth: 40, branches: 3, start: (0,0,0), length: 1, spread: 30, body: (shape: sphere(radius: 1), mass: 1))",
                ),
            ),
            (
                "rounds without an index",
                body(
                    "repeat(count: 2, bodies: [body(name: \"c\", shape: sphere(radius: 1), mass: 1)])",
                ),
            ),
            ("endless rounds", body("repeat(count: 1e15, bodies: [])")),
            (
                "endless rounds within",
                body("repeat(count: 1e6, bodies: [repeat(count: 1e6, bodies: [])])"),
            ),
            (
                "generators too deep",
                body(
                    "repeat(count: 1, bodies: [repeat(count: 1, bodies: [grid(name: \"c\", counts: (1,1,1), start: (0,0,0), step: (1,1,1), body: (shape: sphere(radius: 1), mass: 1))])])",
                ),
            ),
            (
                "sockets beyond the rods",
                body(
                    "net(name: \"c\", n: 3, start: (0,0,0), spacing: 1, socket: 0.5, pinned: corners, hub: (shape: sphere(radius: 1), mass: 1), rod: (shape: sphere(radius: 1), mass: 1))",
                ),
            ),
            (
                "error inside rounds",
                body(
                    "repeat(count: 3, bodies: [body(name: \"c[i]\", shape: sphere(radius: \"1 - i\"), mass: 1)])",
                ),
            ),
        ]),
    );
}

#[test]
fn particles() {
    let with = |text: &str| body("").replacen('(', &format!("(particles: [{text}],"), 1);
    snapshot(
        "particles",
        &messages(&[
            ("zero mass", with("particle(mass: 0, position: (0, 0, 0))")),
            ("moving without mass", with("particle(position: (0, 0, 0), velocity: (1, 0, 0))")),
            ("no position", with("particle(mass: 1)")),
            ("negative radius", with("particle(mass: 1, position: (0, 0, 0), radius: -1e-3)")),
            (
                "negative friction",
                with("particle(mass: 1, position: (0, 0, 0), radius: 0, friction: -1)"),
            ),
            (
                "friction without radius",
                with("particle(mass: 1, position: (0, 0, 0), friction: 0.5)"),
            ),
            ("group without radius", with("particle(mass: 1, position: (0, 0, 0), group: 1)")),
            (
                "friction of a grid without radius",
                with(
                    "grid(name: \"p\", counts: (2, 1, 2), start: (0,0,0), step: (1,1,1), mass: 1, friction: 1)",
                ),
            ),
            (
                "negative stiffness",
                with(
                    "grid(name: \"p\", counts: (2, 1, 2), start: (0,0,0), step: (1,1,1), mass: 1, shear: -1)",
                ),
            ),
            (
                "held member outside",
                with(
                    "grid(name: \"p\", counts: (2, 1, 2), start: (0,0,0), step: (1,1,1), mass: 1, held: [member(2, 0, 0)])",
                ),
            ),
        ]),
    );
}

#[test]
fn joints() {
    let with = |rest: &str| joint(&format!("ball(a: \"base\", b: \"arm\", {rest})"));
    let hinge =
        |rest: &str| joint(&format!("hinge(a: \"base\", b: \"arm\", at: (0, 0, 0), {rest})"));
    let links = "chain(name: \"link\", count: \"links\", start: (0, 0, 0), step: (1, 0, 0), body: (shape: sphere(radius: 1), mass: 1))";
    let linked =
        |name: &str| scene(links, &format!("ball(a: \"arm\", b: \"{name}\", at: (0, 0, 0))"), "");
    snapshot(
        "joints",
        &messages(&[
            ("unknown body", joint("ball(a: \"base\", b: \"amr\", at: (0, 0, 0))")),
            ("missing side", joint("ball(a: \"base\", at: (0, 0, 0))")),
            ("itself", joint("ball(a: \"arm\", b: \"arm\", at: (0, 0, 0))")),
            ("world to world", joint("ball(a: \"world\", b: \"world\", at: (0, 0, 0))")),
            ("member outside", linked("link[links]")),
            ("negative member", linked("link[links - 4]")),
            ("fractional member", linked("link[0.5]")),
            ("whole group", linked("link")),
            ("unknown group", linked("lonk[1]")),
            ("no index", linked("link[]")),
            ("no anchor", joint("ball(a: \"base\", b: \"arm\")")),
            ("too many anchors", with("at: (0, 0, 0), anchor_a: (0, 0, 0)")),
            ("axis of a ball", with("at: (0, 0, 0), axis: (0, 0, 1)")),
            ("no axis", hinge("")),
            ("zero axis", hinge("axis: (0, 0, \"links - 3\")")),
            ("axis that is no number", hinge("axis: (NaN, 0, 0)")),
            ("inverted limit", hinge("axis: (0, 0, 1), limit: (1, -1)")),
            ("weak motor", hinge("axis: (0, 0, 1), motor: (speed: 1, max_effort: 0)")),
            ("negative compliance", with("at: (0, 0, 0), compliance_linear: -1e-6")),
            ("negative break force", with("at: (0, 0, 0), break_force: -5")),
            ("zero break torque", with("at: (0, 0, 0), break_torque: 0")),
            (
                "second axis along the first",
                joint(
                    "universal(a: \"base\", b: \"arm\", at: (0,0,0), axis: (1,0,0), axis_b: (1,1,0))",
                ),
            ),
            (
                "no second axis",
                joint("universal(a: \"base\", b: \"arm\", at: (0,0,0), axis: (1,0,0))"),
            ),
            ("distance without length", joint("distance(a: \"base\", b: \"arm\")")),
            ("negative length", joint("distance(a: \"base\", b: \"arm\", length: -1)")),
            (
                "negative distance",
                joint("distance(a: \"base\", b: \"arm\", length: 1, limit: (-1, 1))"),
            ),
            (
                "place of a distance joint",
                joint("distance(a: \"base\", b: \"arm\", at: (0, 0, 0))"),
            ),
            (
                "duplicate name",
                joint(
                    "ball(name: \"x\", a: \"base\", b: \"arm\", at: (0,0,0)), ball(name: \"x\", a: \"base\", b: \"arm\", at: (0,0,0))",
                ),
            ),
            ("unknown kind", joint("bal(a: \"base\", b: \"arm\", at: (0, 0, 0))")),
            ("number as a name", joint("ball(a: 3, b: \"arm\", at: (0, 0, 0))")),
        ]),
    );
}

#[test]
fn springs() {
    let linear = |rest: &str| spring(&format!("linear(a: \"base\", b: \"arm\", {rest})"));
    snapshot(
        "springs",
        &messages(&[
            ("negative stiffness", linear("stiffness: -1")),
            ("no stiffness", linear("rest_length: 1")),
            ("negative rest length", linear("stiffness: 1, rest_length: -1")),
            ("angular field", linear("stiffness: 1, basis_a: euler_degrees(0, 0, 0)")),
            ("itself", spring("angular(a: \"arm\", b: \"arm\", stiffness: 1)")),
        ]),
    );
}

#[test]
fn contact() {
    let settings =
        |fields: &str| body("").replace("contacts: false", &format!("contacts: {fields}"));
    let with =
        |rest: &str| body(&format!("body(name: \"c\", shape: sphere(radius: 1), mass: 1, {rest})"));
    let held = |shape: &str| body(&format!("body(name: \"c\", shape: {shape}, motion: static)"));
    let mesh = |vertices: &str, triangles: &str| {
        held(&format!("mesh(vertices: [{vertices}], triangles: [{triangles}])"))
    };
    let corners = "(0,0,0), (1,0,0), (0,1,0), (2,0,0)";
    snapshot(
        "contact",
        &messages(&[
            ("no points", settings("(points_max: 0)")),
            ("too many points", settings("(points_max: 17)")),
            ("half a point", settings("(points_max: 2.5)")),
            ("infinite margin", settings("(margin: inf)")),
            ("unknown setting", settings("(margins: 0.1)")),
            ("negative restitution", with("restitution: -0.1")),
            ("restitution above one", with("restitution: 1.5")),
            ("restitution not a number", with("restitution: \"0/0\"")),
            ("dynamic half-space", body("body(name: \"c\", shape: half_space, mass: 1)")),
            ("half-space with a size", held("half_space(size: 1)")),
            (
                "dynamic mesh",
                body(
                    "body(name: \"c\", shape: mesh(vertices: [(0,0,0), (1,0,0), (0,1,0)], triangles: [(0,1,2)]), mass: 1)",
                ),
            ),
            ("mesh without triangles", mesh(corners, "")),
            ("mesh with a corner too many", mesh(corners, "(0,1,2), (0,1,4)")),
            ("mesh with a negative corner", mesh(corners, "(0,1,-2)")),
            ("mesh with two corners", mesh(corners, "(0,1)")),
            ("mesh with a sliver", mesh(corners, "(0,1,2), (0,1,3)")),
            ("mesh with a corner twice", mesh(corners, "(0,1,1)")),
            ("mesh not a number", mesh("(0,0,0), (1,0,NaN), (0,1,0)", "(0,1,2)")),
            ("mesh by zero", mesh("(0,0,0), (1,0,\"1/0\"), (0,1,0)", "(0,1,2)")),
            ("mesh too large", mesh("(0,0,0), (1e200,0,0), (0,1e200,0)", "(0,1,2)")),
            ("half-space in a compound", held("compound(parts: [(shape: half_space)])")),
            (
                "mesh in a compound",
                held("compound(parts: [(shape: mesh(vertices: [(0,0,0)], triangles: []))])"),
            ),
            ("static box without thickness", held("box(size: (1, 1, 0))")),
            ("static flat hull", held("hull(points: [(0,0,0), (1,0,0), (0,1,0), (1,1,0)])")),
            (
                "hull as flat as rounding",
                held("hull(points: [(0,0,0), (1,0,0), (0,1,0), (1,1,1e-14)])"),
            ),
            ("hull on one line", held("hull(points: [(0,0,0), (1,0,0), (2,0,0), (3,0,0)])")),
            ("hull of one point", held("hull(points: [(1,1,1), (1,1,1), (1,1,1), (1,1,1)])")),
            ("hull not a number", held("hull(points: [(0,0,0), (1,0,0), (0,1,0), (0,0,NaN)])")),
            (
                "hull too large",
                held("hull(points: [(0,0,0), (1e160,0,0), (0,1e160,0), (0,0,1e160)])"),
            ),
        ]),
    );
}

#[test]
fn overrides() {
    let with = |name: &str, value: f64| {
        load_str(&body(""), "bad.ron", &[(name.to_owned(), value)]).unwrap_err().to_string()
    };
    snapshot(
        "overrides",
        &[with("linsk", 3.0), with("height", 3.0), with("links", f64::NAN)].join("\n"),
    );
}

#[test]
fn files() {
    let folder = std::env::temp_dir().join(format!("taut-scene-errors-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let latin = folder.join("latin.ron");
    std::fs::write(&latin, b"(\n    about: \"caf\xe9\",\n)").unwrap();
    let messages: Vec<String> = [&latin, &folder, &folder.join("none.ron")]
        .iter()
        .map(|path| load_file(path, &[]).unwrap_err().to_string())
        .map(|message| message.replace(&folder.display().to_string(), "FOLDER"))
        .collect();
    std::fs::remove_dir_all(&folder).unwrap();
    snapshot("files", &messages.join("\n"));
}

#[test]
fn triangles() {
    let scene = |text: &str| {
        let point = |name: &str, x: f64, y: f64| {
            format!("particle(name: \"{name}\", mass: 1, position: ({x}, {y}, 0))")
        };
        let above = "particle(name: \"above\", mass: 1, position: (0, 0, 1))".to_owned();
        let points =
            [point("left", 0.0, 0.0), point("right", 1.0, 0.0), point("top", 0.0, 1.0)].join(", ");
        format!(
            "(\n    particles: [{points}, {}],\n    triangles: [\n        {text}\n    ],\n)\n",
            [point("farther", 2.0, 0.0), point("farthest", 3.0, 0.0), above].join(", ")
        )
    };
    let nodes = |nodes: &str| {
        scene(&format!(
            "triangle(nodes: {nodes}, thickness: 1e-3, membrane: (young: 1e5, poisson: 0.3)),"
        ))
    };
    let made_of =
        |rest: &str| scene(&format!("triangle(nodes: (\"left\", \"right\", \"top\"), {rest}),"));
    let fine = "thickness: 1e-3, membrane: (young: 1e5, poisson: 0.3)";
    let twice = format!(
        "triangle(name: \"t\", nodes: (\"left\", \"right\", \"top\"), {fine}), \
         triangle(name: \"t\", nodes: (\"left\", \"right\", \"top\"), {fine})"
    );
    // Triangles that resist bending, after one with the corners left, right and top.
    let bent = |others: &[&str]| {
        let all = ["(\"left\", \"right\", \"top\")"].iter().chain(others);
        all.map(|nodes| format!("triangle(nodes: {nodes}, {fine}, bending: ()), "))
            .collect::<String>()
    };
    snapshot(
        "triangles",
        &messages(&[
            ("unknown node", nodes("(\"left\", \"rihgt\", \"top\")")),
            ("a corner of the world", nodes("(\"left\", \"right\", \"world\")")),
            ("a node twice", nodes("(\"left\", \"right\", \"left\")")),
            ("two nodes", nodes("(\"left\", \"right\")")),
            ("four nodes", nodes("(\"left\", \"right\", \"top\", \"farther\")")),
            ("no area", nodes("(\"left\", \"right\", \"farther\")")),
            ("no membrane", made_of("thickness: 1e-3")),
            ("no thickness", made_of("membrane: (young: 1e5, poisson: 0.3)")),
            (
                "negative thickness",
                made_of("thickness: -1e-3, membrane: (young: 1e5, poisson: 0.3)"),
            ),
            ("negative modulus", made_of("thickness: 1e-3, membrane: (young: -1e5, poisson: 0.3)")),
            ("impossible ratio", made_of("thickness: 1e-3, membrane: (young: 1e5, poisson: 0.5)")),
            ("too much at once", made_of("thickness: 1e300, membrane: (young: 1e300, poisson: 0)")),
            ("unknown field", made_of(&format!("{fine}, thikness: 1"))),
            ("unknown kind", scene("triangel(nodes: ())")),
            ("duplicate name", scene(&twice)),
            ("negative rigidity", made_of(&format!("{fine}, bending: (rigidity: -1)"))),
            (
                "folded at rest",
                scene(&bent(&["(\"right\", \"left\", \"above\")"]))
                    .replace("bending: (", "bending: (model: quadratic, "),
            ),
            (
                "an edge of three triangles",
                scene(&bent(&[
                    "(\"right\", \"top\", \"farther\")",
                    "(\"top\", \"right\", \"farthest\")",
                ])),
            ),
        ]),
    );
}
