//! The few elements that a report is made of, with everything escaped.

use std::fmt::Write as _;

const STYLE: &str = "
body { font: 15px/1.45 'DejaVu Sans', system-ui, sans-serif; color: #282828; max-width: 1200px;
  margin: 2em auto; padding: 0 1em; }
h1 { font-size: 22px; border-bottom: 2px solid #282828; } h2 { font-size: 19px; }
h3 { font-size: 16px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; margin: .6em 0 1.2em; }
th, td { border: 1px solid #cdcdcd; padding: 3px 8px; text-align: left; vertical-align: top; }
th { background: #f2f2f2; }
td.bad { background: #fbdcd2; font-weight: bold; } td.known { background: #fdf1cf; }
img { max-width: 100%; height: auto; }
pre { background: #f6f6f6; padding: .6em; overflow-x: auto; font-size: 12px; }
";

/// A page under construction.
#[derive(Debug)]
pub(super) struct Html {
    text: String,
}

impl Html {
    pub(super) fn new(title: &str) -> Self {
        let title = escape(title);
        Self {
            text: format!(
                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
                 <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
            ),
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.text += "</body>\n</html>\n";
        self.text
    }

    // Writing to a string cannot fail, hence the results that are let go below.

    pub(super) fn heading(&mut self, level: u32, text: &str) {
        let _ = writeln!(self.text, "<h{level}>{}</h{level}>", escape(text));
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.text, "<p>{}</p>", escape(text));
    }

    /// A drawing, as the data of an image: there, scripts and events of a foreign file do not run.
    pub(super) fn svg(&mut self, text: &str) {
        self.text += "<p><img alt=\"\" src=\"data:image/svg+xml,";
        for byte in text.bytes() {
            match byte {
                b'A'..=b'Z'
                | b'a'..=b'z'
                | b'0'..=b'9'
                | b' '
                | b'.'
                | b','
                | b'-'
                | b'='
                | b'/' => {
                    self.text.push(char::from(byte));
                }
                _ => {
                    let _ = write!(self.text, "%{byte:02X}");
                }
            }
        }
        self.text += "\"></p>\n";
    }

    /// Text that is there when asked for.
    pub(super) fn details(&mut self, summary: &str, text: &str) {
        let (summary, text) = (escape(summary), escape(text));
        let _ =
            writeln!(self.text, "<details><summary>{summary}</summary><pre>{text}</pre></details>");
    }

    pub(super) fn table(&mut self, header: &[&str], rows: &[Vec<String>]) {
        self.text += "<div class=\"wide\"><table>\n<tr>";
        for cell in header {
            let _ = write!(self.text, "<th>{}</th>", escape(cell));
        }
        self.text += "</tr>\n";
        for row in rows {
            self.text += "<tr>";
            for cell in row {
                let _ = write!(self.text, "<td{}>{}</td>", class(cell), escape(cell));
            }
            self.text += "</tr>\n";
        }
        self.text += "</table></div>\n";
    }
}

/// Words that should catch the eye.
fn class(cell: &str) -> &'static str {
    match cell {
        "fails" | "void" | "failed" | "worse" | "shorter" | "missing" => " class=\"bad\"",
        "deviation" | "unclear" | "not judged" | "diverged" | "exploded" | "frozen" | "falling"
        | "penetrating" | "unsupported" | "skipped" | "better" => " class=\"known\"",
        _ => "",
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
