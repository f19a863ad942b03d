//! Widths of text in the embedded font, and lines that are broken to fit.

use std::sync::OnceLock;

use plotters::style::{FontDesc, FontFamily, FontStyle, register_font};

/// Name under which the embedded font is registered.
const FONT: &str = "sans-serif";

/// The embedded fonts cannot be read, so that nothing is drawn.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the embedded fonts cannot be read")]
pub struct NoFonts;

/// Gives the drawing library its fonts, once per process; to be called before anything is measured or drawn.
///
/// # Errors
/// When they cannot be read.
pub fn fonts() -> Result<(), NoFonts> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let registered = *REGISTERED.get_or_init(|| {
        register_font(FONT, FontStyle::Normal, dejavu::sans::regular()).is_ok()
            && register_font(FONT, FontStyle::Bold, dejavu::sans::bold()).is_ok()
    });
    registered.then_some(()).ok_or(NoFonts)
}

/// The drawing library's size of a font is its line, from the lowest to the highest letter, which for the embedded one
/// is so many times as high as the em that everybody else means by it.
pub const EM: f64 = 1.164;

/// Width of a line of text [px].
pub fn text_width(text: &str, size: f64, bold: bool) -> f64 {
    let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
    // The library measures whole pixels: at ten times the size they are tenths.
    let font = FontDesc::new(FontFamily::SansSerif, 10.0 * EM * size, style);
    // Without fonts nothing is drawn at all, so the fallback is never seen.
    font.layout_box(text).map_or(0.0, |((left, _), (right, _))| f64::from(right - left) / 10.0)
}

/// Breaks text at blanks into lines of at most `width` [px].
pub fn wrapped(text: &str, size: f64, bold: bool, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size, bold) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Start and end of a text that fit, with an ellipsis where something is left out: names of runs differ at their ends.
pub fn shortened(text: &str, size: f64, width: f64) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut shown = text.to_owned();
    let mut left_out = 0;
    while text_width(&shown, size, false) > width && left_out + 4 < letters.len() {
        left_out += 1;
        let kept = letters.len() - left_out;
        let (head, tail) = (kept * 2 / 5, kept - kept * 2 / 5);
        let [head, tail] = [&letters[..head], &letters[letters.len() - tail..]]
            .map(|part| part.iter().collect::<String>());
        shown = format!("{}…{}", head.trim_end(), tail.trim_start());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_broken_or_shortened() {
        fonts().unwrap();
        let text = "constraint error of a swinging pendulum with a heavy end";
        let lines = wrapped(text, 12.0, false, 150.0);
        assert!(lines.len() > 1 && lines.join(" ") == text);
        assert!(lines.iter().all(|line| text_width(line, 12.0, false) <= 150.0));
        let short = shortened(text, 12.0, 150.0);
        assert!(
            short.contains('…')
                && short.ends_with("end")
                && text_width(&short, 12.0, false) <= 150.0
        );
        assert_eq!(shortened("short", 12.0, 150.0), "short");
    }
}
