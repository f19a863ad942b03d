//! The gallery: a card for each figure, and what they can be filtered by.

use std::fmt::Write as _;

use super::{
    figures::{ReportFigure, VERDICTS},
    heat::mark_class,
    html::escape,
};

/// The cards; all are shown until the script hides some.
pub(super) fn gallery(figures: &[ReportFigure]) -> String {
    let mut text = filters(figures);
    text += "<div class=\"cards\">\n";
    for figure in figures {
        let id = figure.id();
        // Writing to a string cannot fail, hence the results that are let go.
        let _ = write!(
            text,
            "<a class=\"tile\" href=\"#{id}\" data-paper=\"{}\" data-methods=\"{}\" data-verdicts=\"{}\">",
            slug(&figure.paper),
            figure.methods().join(" "),
            kinds(figure).join(" ")
        );
        if let Some(thumb) = &figure.thumb {
            let alt = escape(&format!("Small picture of {id}, without text"));
            let _ =
                write!(text, "<img src=\"{thumb}\" width=\"260\" height=\"160\" alt=\"{alt}\">");
        }
        let _ = writeln!(
            text,
            "<strong>{}</strong><span class=\"from\">{id}</span><span class=\"badge {}\">{}</span></a>",
            escape(&figure.heading),
            mark_class(worst(figure)),
            escape(&figure.badge())
        );
    }
    text + "</div>\n"
}

/// The verdicts that its claims have, as words for an address.
fn kinds(figure: &ReportFigure) -> Vec<String> {
    let own = VERDICTS.iter().filter(|(verdict, _)| figure.count(verdict) > 0);
    own.map(|(verdict, _)| slug(verdict)).collect()
}

/// What colours its badge.
fn worst(figure: &ReportFigure) -> &'static str {
    let order = ["fails", "void", "unclear", "deviation", "holds"];
    order.into_iter().find(|verdict| figure.count(verdict) > 0).unwrap_or("not judged")
}

/// Words for attributes and addresses; whole, since texts may differ at their ends alone.
pub(super) fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_end_matches('-').to_owned()
}

/// Three choices, hidden until a script can answer them.
fn filters(figures: &[ReportFigure]) -> String {
    let mut papers: Vec<(String, String)> = Vec::new();
    let mut methods: Vec<(String, String)> = Vec::new();
    for figure in figures {
        let paper = (slug(&figure.paper), figure.paper.clone());
        if !papers.contains(&paper) {
            papers.push(paper);
        }
        for method in figure.methods() {
            let method = (method.to_owned(), method.to_owned());
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
    }
    methods.sort();
    let held = |verdict: &&(&str, &str)| figures.iter().any(|figure| figure.count(verdict.0) > 0);
    let verdicts: Vec<(String, String)> = VERDICTS
        .iter()
        .filter(held)
        .map(|(verdict, _)| (slug(verdict), format!("some claim: {verdict}")))
        .collect();
    let mut text = "<form class=\"filters\" id=\"filters\" hidden>\n".to_owned();
    for (name, label, options) in [
        ("paper", "Paper", papers),
        ("method", "Method", methods),
        ("verdict", "Verdict", verdicts),
    ] {
        let _ =
            write!(text, "<label>{label} <select name=\"{name}\"><option value=\"\">all</option>");
        for (value, words) in options {
            let _ = write!(text, "<option value=\"{value}\">{}</option>", escape(&words));
        }
        text += "</select></label>\n";
    }
    let count = figures.len();
    let _ = writeln!(
        text,
        "<button type=\"reset\">Show all</button> <output aria-live=\"polite\">{count} of {count} figures</output>\n</form>"
    );
    text
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn addresses_are_plain() {
        assert_eq!(slug("Giles, Diaz: A (SIGGRAPH 2025)"), "giles-diaz-a-siggraph-2025");
        assert_eq!(slug("not judged"), "not-judged");
    }
}
