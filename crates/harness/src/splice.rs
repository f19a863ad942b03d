//! Generated sections of Markdown files, between markers that name them.

/// The lines between which a section stands.
fn markers(section: &str) -> [String; 2] {
    ["begin", "end"].map(|end| format!("<!-- {section}:{end} -->"))
}

/// `text` with what stands between the markers of a section replaced; `None` where a marker is missing.
pub(crate) fn splice(text: &str, section: &str, content: &str) -> Option<String> {
    let [begin, end] = markers(section);
    let begin = text.find(&begin)? + begin.len();
    let end = text[begin..].find(&end)?;
    Some(format!("{}\n{}{}", &text[..begin], content, &text[begin + end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let [begin, end] = markers("matrix");
        let text = format!("before\n{begin}\nold\n{end}\nafter\n");
        let spliced = splice(&text, "matrix", "new\n").unwrap();
        assert_eq!(spliced, format!("before\n{begin}\nnew\n{end}\nafter\n"));
        assert_eq!(splice(&spliced, "matrix", "new\n").unwrap(), spliced);
        assert!(splice("nothing", "matrix", "new").is_none());
        assert!(splice(&text, "figures", "new").is_none());
    }
}
