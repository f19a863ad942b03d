//! What the page carries to look and act as it does, and the policy that lets nothing else in.

use std::fmt::Write as _;

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

use crate::plot::colour::{hex, on_dark};

const STYLE: &str = include_str!("../../assets/report/report.css");
const SCRIPT: &str = include_str!("../../assets/report/report.js");
const UPLOT_STYLE: &str = include_str!("../../assets/uplot-1.6.32/uPlot.min.css");
const UPLOT_SCRIPT: &str = include_str!("../../assets/uplot-1.6.32/uPlot.iife.min.js");
/// The licence of what draws curves that can be explored.
pub(super) const UPLOT_LICENCE: &str = include_str!("../../assets/uplot-1.6.32/LICENSE");

/// The parts of a page that are not its text.
pub(super) struct Dress {
    /// Everything in `<style>`.
    pub(super) style: String,
    /// Everything in each `<script>`.
    pub(super) scripts: [&'static str; 2],
}

impl Dress {
    pub(super) fn new() -> Self {
        // The file on disk may end lines otherwise than browsers hash them.
        let style = format!("{UPLOT_STYLE}\n{STYLE}\n{}", dark_rules()).replace('\r', "");
        Self { style, scripts: [UPLOT_SCRIPT, SCRIPT] }
    }

    /// The policy: nothing but these texts, and pictures that are in the page.
    pub(super) fn policy(&self) -> String {
        let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
        let scripts = self.scripts.map(hash).join(" ");
        format!(
            "default-src 'none'; script-src {scripts}; style-src {}; img-src data:; base-uri 'none'; \
             form-action 'none'",
            hash(&self.style)
        )
    }
}

/// Recolours pictures as they are written, from the palette that they are drawn in: their colours are variables, which
/// have another value at night.
fn dark_rules() -> String {
    let mut rules = String::new();
    let mut night = String::new();
    // Writing to a string cannot fail, hence the results that are let go.
    for (light, dark) in on_dark() {
        let (light, dark) = (hex(light), hex(dark));
        let name = format!("--c{}", &light[1..]);
        let _ = writeln!(rules, "svg [stroke=\"{light}\"]{{stroke:var({name},{light})}}");
        let _ = writeln!(rules, "svg [fill=\"{light}\"]{{fill:var({name},{light})}}");
        let _ = write!(night, "{name}:{dark};");
    }
    format!(
        "{rules}@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{night}}}}}\n\
         :root[data-theme=dark]{{{night}}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_the_texts() {
        // SHA-256 of nothing, from FIPS 180-4's examples.
        let dress = Dress { style: String::new(), scripts: ["", ""] };
        let empty = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";
        assert!(dress.policy().contains(&format!("style-src {empty};")));
        assert!(dress.policy().starts_with("default-src 'none';"));
    }

    #[test]
    fn no_text_ends_its_element() {
        let dress = Dress::new();
        assert!(dress.scripts.iter().all(|text| !text.contains("</script")));
        assert!(!dress.style.contains("</style"));
        for way in ["fetch(", "XMLHttpRequest", "import(", "eval("] {
            assert!(!SCRIPT.contains(way), "{way}");
        }
    }

    #[test]
    fn every_colour_of_a_committed_picture_has_one_for_the_night() {
        let root = crate::checkout::Checkout::at(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let rules = dark_rules();
        for id in crate::figure::ids(&root).unwrap() {
            let path = crate::figure::folder(&root, &id).join("figure.svg");
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            for way in ["stroke", "fill"] {
                for part in text.split(&format!(" {way}=\"#")).skip(1) {
                    let rule = format!("svg [{way}=\"#{}\"]", &part[..6]);
                    assert!(rules.contains(&rule), "{rule} of {id}");
                }
            }
        }
    }
}
