//! What a solver in another program is sent, and what it sends back: scenes as JSON, states and forces as blocks of
//! numbers.
//!
//! Whoever reads and writes JSON derives it from [`SceneForm`], a scene under the names of schema 1
//! (`crates/core/src/protocol/scene-1.schema.json`). Within a schema keys may be added but none may change its meaning:
//! what a scene asks of whoever reads it has words ([`words_of`]), and who does not know a word is not shown the scene.

mod block;
mod forces;
mod form;
mod parts;
mod words;

pub use block::{BodyForm, block_len, read_block, write_block};
pub use forces::{forces_len, read_forces, write_forces};
pub use form::{SCENE_SCHEMA, SceneForm};
pub use words::{NeedWord, WORDS, words_of};
