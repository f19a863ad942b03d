//! Structures of Rust held to those of the shaders.

use crate::shader::Shader;

/// What differs between a structure of Rust and that of the same name in a shader; empty if nothing does.
///
/// `members` are names and offsets in Rust, in order.
pub fn difference(shader: &str, name: &str, size: usize, members: &[(&str, usize)]) -> String {
    let loaded = match Shader::load(shader) {
        Ok(shader) => shader,
        Err(error) => return error.to_string(),
    };
    let Some((span, theirs)) = loaded.layout(name) else {
        return format!("shaders/{shader} has no structure `{name}`");
    };
    let ours: Vec<_> = members.iter().map(|&(name, offset)| (name.to_owned(), offset)).collect();
    if (span, &theirs) == (size, &ours) {
        return String::new();
    }
    format!(
        "`{name}` in Rust is {size} bytes: {ours:?}; in shaders/{shader} {span} bytes: {theirs:?}"
    )
}

/// Fails a test if a structure differs from that of the same name in a shader.
///
/// `assert_layout!("jacobi/types.wgsl", Body { position, mass })`.
#[macro_export]
macro_rules! assert_layout {
    ($shader:expr, $name:ident { $($member:ident),+ $(,)? }) => {
        let members = [$((stringify!($member), ::std::mem::offset_of!($name, $member))),+];
        let size = ::std::mem::size_of::<$name>();
        let found = $crate::layout::difference($shader, stringify!($name), size, &members);
        assert!(found.is_empty(), "{found}");
    };
}
