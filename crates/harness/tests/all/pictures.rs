//! Every committed picture, read as the list of what is drawn: nothing covers a name, nothing leaves the page, and
//! who failed is seen. Each rule is shown to fail on a picture doctored against it.

use std::collections::BTreeSet;

use taut::{
    Setup,
    checkout::Checkout,
    figure,
    plot::{
        self, ClaimMark, Curve, CurveWeight, Failure, Item, ItemRole, ItemShape, MOST_EMPHASISED,
        Panel, Picture, PictureForm, PixelBox, PlotSpec, Strip, colour::vision::least_difference,
    },
};

fn root() -> Checkout {
    Checkout::at(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// What figures may name: the backends of the program, and engines whether they are here or not.
fn setup() -> Setup {
    Setup::default().with_engines(&root()).expect("files of engines")
}

/// All committed pictures by name.
fn committed() -> Vec<(String, PlotSpec)> {
    let setup = setup();
    let mut pictures = Vec::new();
    for id in figure::ids(&root()).expect("figures") {
        let (first, more) = figure::filed_pictures(&setup, &root(), &id).expect("on file");
        pictures.push((id.clone(), first));
        pictures.extend(more.map(|more| (format!("{id}, supplement"), more)));
    }
    pictures
}

fn texts(picture: &Picture) -> impl Iterator<Item = (&Item, &str, f64)> {
    picture.items.iter().filter_map(|item| match &item.shape {
        ItemShape::Text { text, size, .. } => Some((item, text.as_str(), *size)),
        _ => None,
    })
}

/// What is wrong with a picture as it is laid out.
fn faults(picture: &Picture) -> Vec<String> {
    let mut faults = Vec::new();
    let page = PixelBox { left: 0.0, top: 0.0, right: picture.width, bottom: picture.height };
    let all: Vec<(&Item, &str, f64)> = texts(picture).collect();
    for (i, (item, text, size)) in all.iter().enumerate() {
        let own = item.bounds();
        if !page.contains((own.left, own.top)) || !page.contains((own.right, own.bottom)) {
            faults.push(format!("`{text}` leaves the page"));
        }
        if *size < 12.0 {
            faults.push(format!("`{text}` is smaller than 12 px"));
        }
        let others = all[i + 1..].iter();
        for (_, other, _) in
            others.filter(|(other, _, _)| other.bounds().overlaps(&own.grown(-1.0)))
        {
            faults.push(format!("`{text}` and `{other}` overlap"));
        }
        if item.role == ItemRole::Name && covered(picture, &own) > 0.3 {
            faults.push(format!("`{text}` lies on curves"));
        }
    }
    faults
}

/// The share of a rectangle, in cells of 4 px, that curves that matter run through.
fn covered(picture: &Picture, bounds: &PixelBox) -> f64 {
    let cell = |x: f64, y: f64| ((x / 4.0).floor() as i64, (y / 4.0).floor() as i64);
    let mut cells = BTreeSet::new();
    for item in picture.items.iter().filter(|item| item.role == ItemRole::Emphasis) {
        let ItemShape::Line { points, .. } = &item.shape else { continue };
        for pair in points.windows(2) {
            let steps =
                ((pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1) / 2.0).ceil().max(1.0);
            for i in 0..=steps as u32 {
                let t = f64::from(i) / steps;
                let (x, y) = (
                    pair[0].0 + t * (pair[1].0 - pair[0].0),
                    pair[0].1 + t * (pair[1].1 - pair[0].1),
                );
                if bounds.contains((x, y)) {
                    cells.insert(cell(x, y));
                }
            }
        }
    }
    let all = ((bounds.right - bounds.left) / 4.0) * ((bounds.bottom - bounds.top) / 4.0);
    cells.len() as f64 / all.max(1.0)
}

/// What is wrong with what a picture tells.
fn lies(plot: &PlotSpec, picture: &Picture) -> Vec<String> {
    let mut lies = Vec::new();
    let count = |role: ItemRole| picture.items.iter().filter(|item| item.role == role).count();
    let strip = plot.strip.as_ref().map_or(0, |strip| strip.claims.len());
    if count(ItemRole::Claim) != strip {
        lies.push(format!("{} squares for {strip} claims", count(ItemRole::Claim)));
    }
    let mut names: Vec<&str> = texts(picture)
        .filter(|(item, _, _)| item.role == ItemRole::Name)
        .map(|(_, t, _)| t)
        .collect();
    if plot.panels.len() > 2 && !picture.own_keys {
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        // A panel may say that it has nothing to show, and two runs may fail alike.
        let twice = |name: &&str| !name.contains('✕') && **name != *"nothing to show";
        let once = names.iter().filter(|name| twice(name)).count();
        let shown =
            texts(picture).filter(|(item, t, _)| item.role == ItemRole::Name && twice(t)).count();
        if once != shown {
            lies.push(format!("a name stands twice, of {all}"));
        }
    }
    for panel in &plot.panels {
        let matter: Vec<&Curve> =
            panel.curves.iter().filter(|curve| curve.weight == CurveWeight::Emphasis).collect();
        for (i, a) in matter.iter().enumerate() {
            // Engines of others share one ink, as the variants of a method do, and are told apart by their looks.
            let ink = |curve: &Curve| plot::style_of(&curve.backend).method;
            for b in matter[i + 1..].iter().filter(|b| ink(b) != ink(a)) {
                let [x, y] = [a, b].map(|curve| plot::style_of(&curve.backend).light);
                let apart = least_difference(x, y);
                if apart <= 20.0 {
                    lies.push(format!("{} and {} look alike: {apart:.1}", a.label, b.label));
                }
            }
        }
        if matter.len() > MOST_EMPHASISED {
            lies.push(format!("{} curves matter in `{}`", matter.len(), panel.title));
        }
    }
    // Two bars a cross.
    let failed = |panel: &Panel| {
        let over_time = panel.curves.iter().filter(|c| c.weight != CurveWeight::Context);
        let over_time = over_time.filter(|curve| curve.failure.is_some()).count();
        over_time + panel.curves.iter().map(|curve| curve.failed_at.len()).sum::<usize>()
    };
    let expected: usize = plot.panels.iter().map(failed).sum();
    if count(ItemRole::Cross) != 2 * expected {
        lies.push(format!("{} crosses for {expected} failures", count(ItemRole::Cross) / 2));
    }
    if plot.title.chars().count() > 84 && plot.strip.is_some() {
        lies.push("the title is longer than 84 characters".to_owned());
    }
    lies
}

fn all_faults(plot: &PlotSpec, form: PictureForm) -> Vec<String> {
    let picture = plot::layout(plot, form).expect("fonts");
    let mut faults = faults(&picture);
    faults.extend(lies(plot, &picture));
    faults
}

#[test]
fn committed_pictures_can_be_read() {
    let mut wrong = Vec::new();
    for (name, plot) in committed() {
        for form in [PictureForm::Wide, PictureForm::Narrow] {
            let faults = all_faults(&plot, form);
            wrong.extend(faults.into_iter().map(|fault| format!("{name}, {form:?}: {fault}")));
        }
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn committed_pictures_are_as_drawn_and_small() {
    for id in figure::ids(&root()).expect("figures") {
        let changed = figure::redraw(&setup(), &root(), &id, true).expect("on file");
        assert!(changed.is_empty(), "run `taut redraw --all`: {changed:?}");
        let svg = figure::folder(&root(), &id).join("figure.svg");
        let length = svg.metadata().expect("a picture").len();
        assert!(length < 90_000, "{id}: {length} bytes");
    }
}

#[test]
fn every_figure_has_a_conclusion() {
    for id in figure::ids(&root()).expect("figures") {
        let figure = figure::load(&root(), &id, &setup()).expect("a definition");
        assert!(figure.conclusion.is_some(), "{id} has no conclusion");
    }
}

/// A picture in which everything is right.
fn good() -> PlotSpec {
    let curve = |label: &str, backend: &str, rise: f64| Curve {
        label: label.to_owned(),
        backend: backend.to_owned(),
        points: (0..50).map(|i| (f64::from(i) / 10.0, 1.0 + rise * f64::from(i))).collect(),
        ..Curve::default()
    };
    let failed = Curve { failure: Failure::new("falling", 2.0), ..curve("XPBD", "xpbd-cpu", 0.5) };
    let panel = Panel {
        title: "Height".to_owned(),
        x: plot::Axis::time(),
        y: plot::Axis::linear("height", "m"),
        curves: vec![curve("AVBD", "avbd-cpu", 0.1), curve("VBD", "vbd-cpu", 0.2), failed],
        ..Panel::default()
    };
    let strip = Strip {
        claims: vec![ClaimMark::Holds, ClaimMark::Deviates],
        text: "1 of 2 claims hold".to_owned(),
        notes: Vec::new(),
    };
    let title = "AVBD stays low".to_owned();
    PlotSpec { title, subtitle: "a test".to_owned(), panels: vec![panel], strip: Some(strip) }
}

#[test]
fn each_rule_fails_on_a_doctored_picture() {
    let plot = good();
    assert_eq!(all_faults(&plot, PictureForm::Wide), Vec::<String>::new());
    let laid_out = plot::layout(&plot, PictureForm::Wide).expect("fonts");
    let doctored = |change: &dyn Fn(&mut Item)| {
        let mut picture = laid_out.clone();
        picture.items.iter_mut().for_each(change);
        let mut found = faults(&picture);
        found.extend(lies(&plot, &picture));
        found.join("\n")
    };
    let name = |item: &Item, name: &str| matches!(&item.shape, ItemShape::Text { text, .. } if text == name);
    let moved = |which: &'static str, to: (f64, f64)| {
        doctored(&move |item| {
            if name(item, which)
                && let ItemShape::Text { at, .. } = &mut item.shape
            {
                *at = to;
            }
        })
    };
    assert!(moved("AVBD", (790.0, 100.0)).contains("leaves the page"));
    let at = texts(&laid_out).find(|(_, text, _)| *text == "VBD").map(|(item, _, _)| item.bounds());
    let at = at.expect("a name");
    assert!(moved("AVBD", (at.left, at.bottom - 3.0)).contains("overlap"));
    let small = doctored(&|item| {
        if let ItemShape::Text { size, .. } = &mut item.shape {
            *size = 11.0;
        }
    });
    assert!(small.contains("smaller than 12 px"));
    let on_curve = laid_out.items.iter().find(|item| item.role == ItemRole::Emphasis);
    let Some(ItemShape::Line { points, .. }) = on_curve.map(|item| &item.shape) else {
        panic!("a curve")
    };
    assert!(moved("VBD", (points[10].0, points[10].1 + 4.0)).contains("lies on curves"));
    let vanished = |role: ItemRole| {
        doctored(&move |item| {
            if item.role == role {
                item.role = ItemRole::Axis;
            }
        })
    };
    assert!(vanished(ItemRole::Claim).contains("0 squares for 2 claims"));
    assert!(vanished(ItemRole::Cross).contains("0 crosses for 1 failures"));
    let alike = {
        let mut plot = good();
        plot.panels[0].curves[1].backend = "abd-cpu".to_owned();
        plot.panels[0].curves[0].backend = "vbd-cpu".to_owned();
        all_faults(&plot, PictureForm::Wide).join("\n")
    };
    assert!(alike.contains("look alike"), "{alike}");
    let long = PlotSpec { title: "x ".repeat(43), ..good() };
    assert!(all_faults(&long, PictureForm::Wide).join("\n").contains("longer than 84"));
    let mut twice = good();
    twice.panels = vec![twice.panels[0].clone(), twice.panels[0].clone(), twice.panels[0].clone()];
    let mut picture = plot::layout(&twice, PictureForm::Wide).expect("fonts");
    assert!(lies(&twice, &picture).is_empty());
    let again = picture.items.iter().find(|item| name(item, "AVBD")).cloned().expect("a name");
    picture.items.push(again);
    assert!(lies(&twice, &picture).join("\n").contains("stands twice"));
}
