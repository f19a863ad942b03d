//! The performance profile (Dolan, Moré 2002): how many problems each method solves within how many times the least
//! time, and each two methods compared.

use serde::Serialize;

use super::{
    html::{Cell, Html, escape},
    live::{self, both},
    work::{budget, cheapest, dash, weight},
};
use crate::{
    figure::with_unit,
    plot::{
        Axis, Better, CostScale, CostTable, Curve, CurveWeight, Panel, PlotSpec, Strip,
        colour::{CONTEXT, style_of},
    },
    problems::{Problem, ProblemFile, ProblemMethod, ProblemRows},
};

/// What the script computes profiles of other choices from.
#[derive(Serialize)]
struct ProfileData {
    methods: Vec<ProfileMethod>,
}

#[derive(Serialize)]
struct ProfileMethod {
    label: String,
    colour: [String; 2],
    width: f64,
    dash: &'static [f64],
    /// Time per frame that solves each problem [s]; `null` where nothing does.
    costs: Vec<Option<f64>>,
}

pub(super) fn profile(
    page: &mut Html,
    file: &ProblemFile,
    rows: &ProblemRows,
) -> anyhow::Result<()> {
    let costs = rows.costs(file);
    page.raw("<div id=\"profile\">\n");
    let plot = picture(&costs, file);
    page.raw(&format!("<p>{}. {}.</p>\n", escape(&plot.title), escape(&plot.subtitle)));
    page.raw(&choices(file));
    live::picture(page, "profile-plot", &plot, &|_| String::new())?;
    let text = serde_json::to_string(&data(&costs, file))?.replace('<', "\\u003c");
    page.raw(&format!(
        "<script type=\"application/json\" id=\"profile-data\">{text}</script>\n</div>\n"
    ));
    page.paragraph(
        "A profile of many methods says nothing sure of two: who is cheapest decides what the others are divided by. \
         So each two are compared below, whoever else is there.",
    );
    pairs(page, &costs);
    solved(page, file, rows);
    Ok(())
}

/// Which methods take part; hidden until a script can answer.
fn choices(file: &ProblemFile) -> String {
    let mut text =
        "<fieldset class=\"choices\" hidden><legend>Methods that take part</legend>\n".to_owned();
    for (place, method) in file.methods.iter().enumerate() {
        text += &format!(
            "<label><input type=\"checkbox\" checked value=\"{place}\"> {}</label>\n",
            escape(&method.label)
        );
    }
    text + "</fieldset>\n"
}

fn picture(costs: &CostTable, file: &ProblemFile) -> PlotSpec {
    let styled = |(place, curve): (usize, Curve)| Curve {
        dash: file.methods.get(place).map(dash).unwrap_or_default(),
        weight: weight(place),
        ..curve
    };
    let curves = costs.shares(CostScale::Cheapest).into_iter().enumerate().map(styled).collect();
    let panel = Panel {
        title: "Share of problems solved".to_owned(),
        x: Axis::log("time per frame, over that of the fastest method", ""),
        y: Axis { range: Some((0.0, 1.05)), ..Axis::linear("", "") },
        curves,
        better: Better::Higher,
        ..Panel::default()
    };
    let nobody = (0..file.problems.len())
        .filter(|&i| costs.rows().all(|(_, _, own)| !own[i].is_finite()))
        .count();
    let told = match nobody {
        0 => "Every problem is solved by some method".to_owned(),
        1 => "One problem is solved by nobody".to_owned(),
        count => format!("{count} problems are solved by nobody"),
    };
    PlotSpec {
        title: format!("{} problems: who solves how many, at what multiple of the least time", file.problems.len()),
        subtitle: "Steps: at 1, the problems that a method solves fastest; at the right, those that it solves at all"
            .to_owned(),
        panels: vec![panel],
        strip: Some(Strip { text: told, ..Strip::default() }),
    }
}

fn data(costs: &CostTable, file: &ProblemFile) -> ProfileData {
    let methods = costs.rows().enumerate().map(|(place, (label, backend, own))| {
        let context = weight(place) == CurveWeight::Context;
        ProfileMethod {
            label: label.to_owned(),
            colour: both(if context { CONTEXT } else { style_of(backend).light }),
            width: if context { 1.0 } else { 2.25 },
            dash: if context {
                &[]
            } else {
                file.methods[place..].first().map_or(&[], |m| dash(m).pattern())
            },
            costs: own.iter().map(|cost| cost.is_finite().then_some(*cost)).collect(),
        }
    });
    ProfileData { methods: methods.collect() }
}

/// Share of the problems that either of two solves at which the row is faster.
fn pairs(page: &mut Html, costs: &CostTable) {
    let cheaper = costs.cheaper();
    let header: Vec<&str> =
        std::iter::once("faster than").chain(cheaper.iter().map(|(label, _)| *label)).collect();
    let row = |(label, shares): &(&str, Vec<f64>)| {
        let cells = cheaper.iter().zip(shares).map(|((other, _), share)| {
            if other == label {
                Cell::raw("·".to_owned(), "idle")
            } else {
                let class = if *share > 0.5 { "good" } else { "" };
                Cell::raw(format!("{:.0} %", 100.0 * share), class)
            }
        });
        std::iter::once(Cell::text(label)).chain(cells).collect()
    };
    let rows: Vec<Vec<Cell>> = cheaper.iter().map(row).collect();
    page.rich_table(
        "Of the problems that either solves, the share at which the method of the row is faster than that of the column",
        &header,
        &rows,
    );
}

/// What each method takes for each problem.
fn solved(page: &mut Html, file: &ProblemFile, rows: &ProblemRows) {
    let header: Vec<&str> = std::iter::once("problem")
        .chain(file.methods.iter().map(|method| method.label.as_str()))
        .collect();
    let cell = |problem: &Problem, method: &ProblemMethod| {
        let own = rows.timed(&problem.id).filter(|row| row.method == method.label);
        let all = cheapest(rows.timed(&problem.id), problem.tolerance);
        match cheapest(own, problem.tolerance) {
            Some(row) => Cell::raw(
                format!("{} <small>{}</small>", with_unit(row.cost_s, "s"), budget(row)),
                if all == Some(row) { "good" } else { "" },
            ),
            None => Cell::raw("unsolved".to_owned(), "idle"),
        }
    };
    let row = |problem: &Problem| {
        let name = format!("<a href=\"#work-{}\">{}</a>", problem.id, escape(&problem.title));
        let cells = file.methods.iter().map(|method| cell(problem, method));
        std::iter::once(Cell::raw(name, "")).chain(cells).collect()
    };
    let table: Vec<Vec<Cell>> = file.problems.iter().map(row).collect();
    page.rich_table(
        "Time per frame of the cheapest budget that solves each problem",
        &header,
        &table,
    );
}
