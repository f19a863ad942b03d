//! The few elements that a report is made of, with everything escaped.

use std::fmt::Write as _;

use base64::{Engine, engine::general_purpose::STANDARD};

/// A part of a page under construction.
#[derive(Debug, Default)]
pub(super) struct Html {
    text: String,
    /// Whether pictures come in one form only, for a page to be sent.
    pub(super) light: bool,
}

impl Html {
    pub(super) fn new(light: bool) -> Self {
        Self { light, ..Self::default() }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// Markup as it is.
    pub(super) fn raw(&mut self, markup: &str) {
        self.text += markup;
    }

    // Writing to a string cannot fail, hence the results that are let go below.

    pub(super) fn heading(&mut self, level: u32, text: &str) {
        let _ = writeln!(self.text, "<h{level}>{}</h{level}>", escape(text));
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.text, "<p>{}</p>", escape(text));
    }

    /// A drawing, as the data of an image: there, scripts and events of a foreign file do not run.
    pub(super) fn foreign_svg(&mut self, text: &str, alt: &str) {
        let source = data_uri("image/svg+xml", text.as_bytes());
        let alt = escape(alt);
        let _ = writeln!(self.text, "<p><img class=\"card\" alt=\"{alt}\" src=\"{source}\"></p>");
    }

    /// Text that is there when asked for.
    pub(super) fn details(&mut self, summary: &str, text: &str) {
        let (summary, text) = (escape(summary), escape(text));
        let _ = writeln!(
            self.text,
            "<details><summary>{summary}</summary><pre tabindex=\"0\">{text}</pre></details>"
        );
    }

    /// A table whose first column names its rows; it scrolls by itself where it is too wide.
    pub(super) fn table(&mut self, caption: &str, header: &[&str], rows: &[Vec<String>]) {
        let cells = |row: &Vec<String>| row.iter().map(|cell| Cell::text(cell)).collect();
        let rows: Vec<Vec<Cell>> = rows.iter().map(cells).collect();
        self.rich_table(caption, header, &rows);
    }

    /// The same with cells of markup.
    pub(super) fn rich_table(&mut self, caption: &str, header: &[&str], rows: &[Vec<Cell>]) {
        let name = escape(caption);
        let _ = write!(
            self.text,
            "<div class=\"scroll\" role=\"region\" aria-label=\"{name}\" tabindex=\"0\"><table>\
             <caption>{name}</caption>\n<thead><tr>"
        );
        for cell in header {
            let _ = write!(self.text, "<th scope=\"col\">{}</th>", escape(cell));
        }
        self.text += "</tr></thead>\n<tbody>\n";
        for row in rows {
            let id = row.first().map_or("", |cell| &cell.id);
            let id = if id.is_empty() { String::new() } else { format!(" id=\"{}\"", escape(id)) };
            let _ = write!(self.text, "<tr{id}>");
            for (place, Cell { markup, class, .. }) in row.iter().enumerate() {
                let class =
                    if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
                let _ = match place {
                    0 => write!(self.text, "<th scope=\"row\"{class}>{markup}</th>"),
                    _ => write!(self.text, "<td{class}>{markup}</td>"),
                };
            }
            self.text += "</tr>\n";
        }
        self.text += "</tbody></table></div>\n";
    }
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// What stands in it.
    pub(super) markup: String,
    /// How it looks.
    pub(super) class: &'static str,
    /// In the first cell, the id of the row.
    pub(super) id: String,
}

impl Cell {
    /// Words, marked where they should catch the eye.
    pub(super) fn text(words: &str) -> Self {
        Self { markup: escape(words), class: class(words), id: String::new() }
    }

    /// Markup as it is.
    pub(super) fn raw(markup: String, class: &'static str) -> Self {
        Self { markup, class, id: String::new() }
    }
}

/// Words that should catch the eye.
pub(super) fn class(word: &str) -> &'static str {
    match word {
        "fails" | "void" | "failed" | "worse" | "shorter" | "missing" | "diverged" | "exploded"
        | "falling" => "bad",
        "deviation" | "unclear" | "not judged" | "frozen" | "intersecting" | "penetrating"
        | "unsupported" | "skipped" | "better" => "known",
        _ => "",
    }
}

/// Text between tags, and in quotes.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Bytes as an address that needs no request.
pub(super) fn data_uri(kind: &str, bytes: &[u8]) -> String {
    format!("data:{kind};base64,{}", STANDARD.encode(bytes))
}
