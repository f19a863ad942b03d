//! Names of bodies and particles: single ones by text, members of generated groups by arithmetic,
//! so that a group of a million bodies costs one entry.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::{
    error::{Result, SceneError},
    expression::{Scope, split_name},
};
use crate::scene::Endpoint;

/// Members of a larger group carry no text of their own; they are still found by index.
const NAMED_GROUP_MAX: usize = 100_000;

/// The name that stands for the world.
pub(super) const WORLD: &str = "world";

/// Which kind of element a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Movable {
    Body,
    Particle,
}

impl Movable {
    pub(super) fn endpoint(self, index: usize) -> Endpoint {
        match self {
            Self::Body => Endpoint::Body(index),
            Self::Particle => Endpoint::Particle(index),
        }
    }
}

#[derive(Debug)]
enum NameEntry {
    One(Endpoint),
    /// Consecutive members, the last index running fastest.
    Group {
        kind: Movable,
        first: usize,
        counts: Vec<usize>,
    },
}

/// All names known so far. Their order reaches no result: they are looked up, or sorted first.
#[derive(Debug, Default)]
pub(super) struct Names {
    entries: HashMap<String, NameEntry>,
    /// What single names with an index begin with: no group may be called so.
    bases: HashSet<String>,
}

/// The text of a name after its brackets are evaluated.
pub(super) fn canonical(base: &str, brackets: &[Vec<usize>]) -> String {
    let mut name = base.to_owned();
    for values in brackets {
        let values: Vec<String> = values.iter().map(usize::to_string).collect();
        name += &format!("[{}]", values.join(","));
    }
    name
}

/// Names of the members of a group, empty for a large or nameless one.
pub(super) fn member_name(group: &str, counts: &[usize], member: usize) -> String {
    if group.is_empty() || counts.iter().product::<usize>() > NAMED_GROUP_MAX {
        return String::new();
    }
    let mut rest = member;
    let mut indices: Vec<usize> = Vec::with_capacity(counts.len());
    for &count in counts.iter().rev() {
        indices.push(rest % count);
        rest /= count;
    }
    indices.reverse();
    canonical(group, &[indices])
}

impl Names {
    /// Takes a name, whose brackets are evaluated; an empty one is no name.
    pub(super) fn insert_one(&mut self, name: String, endpoint: Endpoint) -> Result<()> {
        if let Some((base, _)) = name.rsplit_once('[') {
            if matches!(self.entries.get(base), Some(NameEntry::Group { .. })) {
                return Err(SceneError::new(format!(
                    "`{base}` is a group, its members have names"
                )));
            }
            if !self.bases.contains(base) {
                self.bases.insert(base.to_owned());
            }
        }
        self.insert(name, NameEntry::One(endpoint))
    }

    /// Takes the name of a group of `counts` members from `first` on.
    pub(super) fn insert_group(
        &mut self,
        name: String,
        kind: Movable,
        first: usize,
        counts: Vec<usize>,
    ) -> Result<()> {
        if self.bases.contains(&name) {
            return Err(SceneError::new(format!(
                "duplicate name `{name}`, there is a `{name}[..]`"
            )));
        }
        self.insert(name, NameEntry::Group { kind, first, counts })
    }

    fn insert(&mut self, name: String, entry: NameEntry) -> Result<()> {
        if name.is_empty() {
            return Ok(());
        }
        if name == WORLD {
            return Err(SceneError::new("`world` is taken: it stands for the world"));
        }
        let repeated = format!("duplicate name `{name}`; inside `repeat` write `{name}[i]`");
        match self.entries.insert(name, entry) {
            None => Ok(()),
            Some(_) => Err(SceneError::new(repeated)),
        }
    }

    /// The kind and the numbers of the members of a group.
    pub(super) fn group(&self, name: &str, scope: &Scope) -> Result<(Movable, Range<usize>)> {
        let (base, brackets) = split_name(name, scope)?;
        let name = canonical(&base, &brackets);
        if let Some(NameEntry::Group { kind, first, counts }) = self.entries.get(&name) {
            return Ok((*kind, *first..first + counts.iter().product::<usize>()));
        }
        let groups = self.entries.iter().filter(|(_, e)| matches!(e, NameEntry::Group { .. }));
        let mut known: Vec<&str> = groups.map(|(name, _)| name.as_str()).collect();
        known.sort_unstable();
        Err(SceneError::unknown("group", &name, known))
    }

    /// What a name of the file stands for.
    pub(super) fn resolve(&self, name: &str, scope: &Scope) -> Result<Endpoint> {
        if name == WORLD {
            return Ok(Endpoint::World);
        }
        if name.is_empty() {
            return Err(SceneError::new("expected the name of a body, of a particle or `world`"));
        }
        let (base, brackets) = split_name(name, scope)?;
        if let Some(NameEntry::One(endpoint)) = self.entries.get(&canonical(&base, &brackets)) {
            return Ok(*endpoint);
        }
        if let Some((indices, outer)) = brackets.split_last() {
            let group = canonical(&base, outer);
            if let Some(NameEntry::Group { kind, first, counts }) = self.entries.get(&group) {
                return member(&group, counts, indices).map(|i| kind.endpoint(first + i));
            }
        }
        if let Some(NameEntry::Group { counts, .. }) = self.entries.get(name) {
            let message = format!(
                "`{name}` is a group of {} members, expected one of them such as `{}`",
                counts.iter().product::<usize>(),
                member_name(name, &vec![1; counts.len()], 0),
            );
            return Err(SceneError::new(message));
        }
        // Sorted so that equally near names give the same message in every run.
        let mut known: Vec<&str> = self.entries.keys().map(String::as_str).chain([WORLD]).collect();
        known.sort_unstable();
        let found = if self.entries.contains_key(name) { name } else { base.as_str() };
        let mut error = SceneError::unknown("body or particle", found, known);
        if found != name {
            error.message += &format!(" in `{name}`");
        }
        Err(error)
    }
}

fn member(group: &str, counts: &[usize], indices: &[usize]) -> Result<usize> {
    let total: usize = counts.iter().product();
    // One index counts through the whole group, whatever its shape.
    let shape: &[usize] = if indices.len() == 1 { &[total] } else { counts };
    let fits = indices.len() == shape.len() && indices.iter().zip(shape).all(|(i, n)| i < n);
    if !fits {
        let sizes: Vec<String> = counts.iter().map(usize::to_string).collect();
        let indices: Vec<String> = indices.iter().map(usize::to_string).collect();
        return Err(SceneError::new(format!(
            "no member [{}] in `{group}`, which has {} members counted from zero",
            indices.join(","),
            sizes.join(" x "),
        )));
    }
    Ok(indices.iter().zip(shape).fold(0, |sum, (i, n)| sum * n + i))
}
