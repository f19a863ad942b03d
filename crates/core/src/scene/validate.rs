//! Warnings: what is allowed but probably not meant.

use super::Scene;

/// Everything worth a word, in scene order.
pub(super) fn warnings(_scene: &Scene) -> Vec<String> {
    Vec::new()
}
