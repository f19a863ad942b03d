//! What naga makes of a shader, or the file and line where it is wrong. The build script uses this too.

use std::{error::Error, fmt::Write};

use crate::{
    naga::{
        Module, SourceLocation, Span,
        front::wgsl,
        valid::{Capabilities, ModuleInfo, ValidationFlags, Validator},
    },
    source::Source,
};

/// Parses and validates a shader.
pub(crate) fn check(source: &Source) -> Result<(Module, ModuleInfo), String> {
    let at = |location: Option<SourceLocation>| {
        source.place(location.map_or(1, |location| location.line_number as usize))
    };
    let module = wgsl::parse_str(&source.text)
        .map_err(|e| format!("{}: {}", at(e.location(&source.text)), e.message()))?;
    let validated = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module);
    let info = validated.map_err(|e| {
        // The function is named too, and first; its line says little.
        let spans = e.spans().map(|(span, _)| *span).filter(Span::is_defined);
        let narrowest = spans.min_by_key(|span| span.to_range().map(|range| range.len()));
        let place = at(narrowest.map(|span| span.location(&source.text)));
        let mut message = format!("{place}: {}", e.as_inner());
        let mut cause = e.as_inner().source();
        while let Some(inner) = cause {
            let _ = write!(message, ": {inner}");
            cause = inner.source();
        }
        message
    })?;
    Ok((module, info))
}
