//! Generators: entries that stand for many bodies together with their joints and springs.

pub(super) mod chain;
pub(super) mod repeat;

use super::{
    author,
    body::{self, Blank},
    error::{At, Result, SceneError},
    expression::Scope,
};

/// The members' common body, evaluated once unless it depends on the index.
pub(super) struct Template<'a> {
    spec: &'a author::Body,
    constant: Option<Blank>,
}

impl<'a> Template<'a> {
    /// Evaluates the body for a first member, whose indices are all zero.
    pub(super) fn new(spec: &'a author::Body, scope: &Scope, indices: usize) -> Result<Self> {
        if !spec.name.is_empty() {
            return Err(SceneError::new("the generator names its members")).at("name");
        }
        if spec.position.is_some() {
            return Err(SceneError::new("the generator places its members")).at("position");
        }
        let scope = scope.indexed(&vec![0; indices]);
        let blank = body::blank(spec, &scope)?;
        Ok(Self { spec, constant: (!scope.index_used()).then_some(blank) })
    }

    /// The body of the member with these indices.
    pub(super) fn blank(&self, scope: &Scope, indices: &[usize]) -> Result<Blank> {
        match &self.constant {
            Some(blank) => Ok(blank.clone()),
            None => body::blank(self.spec, &scope.indexed(indices)),
        }
    }
}
