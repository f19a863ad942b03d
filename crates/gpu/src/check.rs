//! What naga makes of a shader, or the file and line where it is wrong. The build script uses this too.

use std::{error::Error, fmt::Write};

use crate::{
    naga::{
        Binding, EntryPoint, Handle, Module, ShaderStage, SourceLocation, Span, Type, TypeInner,
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
    stages_fit(&module).map_err(|message| format!("{}: {message}", at(None)))?;
    Ok((module, info))
}

/// Devices find out when a pipeline is made; the build must, too: a file that draws has one entry point for vertices
/// and at most one for fragments, which takes what the other gives.
fn stages_fit(module: &Module) -> Result<(), String> {
    let of = |stage| module.entry_points.iter().filter(move |entry| entry.stage == stage);
    let (mut vertices, mut fragments) = (of(ShaderStage::Vertex), of(ShaderStage::Fragment));
    let (vertex, fragment) = (vertices.next(), fragments.next());
    if let Some(second) = vertices.next().or(fragments.next()) {
        return Err(format!("`{}` is a second entry point of its stage", second.name));
    }
    let Some(fragment) = fragment else { return Ok(()) };
    let Some(vertex) = vertex else {
        return Err(format!("`{}` takes fragments of no vertices", fragment.name));
    };
    let given = outputs(module, vertex);
    for (location, kind) in inputs(module, fragment) {
        let (taker, giver) = (&fragment.name, &vertex.name);
        match given.iter().find(|(other, _)| *other == location) {
            Some((_, other)) if *other == kind => {}
            Some(_) => {
                return Err(format!(
                    "`{taker}` takes location {location} as another type than `{giver}` gives"
                ));
            }
            None => {
                return Err(format!(
                    "`{taker}` takes location {location}, which `{giver}` does not give"
                ));
            }
        }
    }
    Ok(())
}

type Located = Vec<(u32, Handle<Type>)>;

fn inputs(module: &Module, entry: &EntryPoint) -> Located {
    let arguments = entry.function.arguments.iter();
    arguments.flat_map(|argument| located(module, argument.ty, argument.binding.as_ref())).collect()
}

fn outputs(module: &Module, entry: &EntryPoint) -> Located {
    let result = entry.function.result.as_ref();
    result.map_or(vec![], |result| located(module, result.ty, result.binding.as_ref()))
}

/// Locations and types of what is passed between stages as one value, or as the members of a structure.
fn located(module: &Module, kind: Handle<Type>, binding: Option<&Binding>) -> Located {
    match (binding, &module.types[kind].inner) {
        (Some(Binding::Location { location, .. }), _) => vec![(*location, kind)],
        (None, TypeInner::Struct { members, .. }) => {
            let parts = members.iter();
            parts.flat_map(|member| located(module, member.ty, member.binding.as_ref())).collect()
        }
        _ => vec![],
    }
}
