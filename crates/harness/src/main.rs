//! The `taut` program.
fn main() {}
