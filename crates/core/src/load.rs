//! From the text of a file to a checked scene.
//!
//! The authoring form is a RON file with parameters and generators; how to write one is described in
//! `scenes/README.md`.

mod author;
mod body;
mod closed;
mod connect;
mod elements;
mod error;
mod expand;
mod expression;
mod mesh_file;
mod mesh_folder;
mod mesh_shape;
mod names;
mod timed;
mod validate;

pub use error::SceneError;

use std::path::Path;

use ron::{extensions::Extensions, value::RawValue};
use serde::Deserialize;

use crate::{
    math::Vec3,
    scene::{Contacts, Scene},
    settings::nearest,
};
use error::{At, Result};
use expand::{Builder, ELEMENTS_MAX};
use expression::{Formula, Scope, Triple, is_parameter_name, vector};
use mesh_folder::MeshFolder;

/// A scene and what its loading had to say.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The flat scene.
    pub scene: Scene,
    /// What is allowed but probably not meant.
    pub warnings: Vec<String>,
    /// The parameters in force, in the order of the file.
    pub parameters: Vec<(String, f64)>,
}

/// Loads a scene file, with parameters replaced as by `--set name=value`.
///
/// # Errors
/// [`SceneError`] with file, place, field and what was expected.
pub fn load_file(path: &Path, overrides: &[(String, f64)]) -> Result<Loaded> {
    let file = path.display().to_string();
    let in_file = |error: SceneError| SceneError { file: file.clone(), ..error };
    if path.is_dir() {
        return Err(in_file(SceneError::new("expected a scene file, found a directory")));
    }
    let bytes = std::fs::read(path).map_err(|error| {
        in_file(match error.kind() {
            std::io::ErrorKind::NotFound => SceneError::new("no such file"),
            _ => SceneError::new(format!("cannot be read: {error}")),
        })
    })?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let valid = error.valid_up_to();
        let before = String::from_utf8_lossy(&bytes[..valid]);
        let position = Some(position(&before, valid));
        in_file(SceneError { position, ..SceneError::new("expected UTF-8 text") })
    })?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let folder = path.parent();
    let mut loaded = SourceText { text }.load(overrides, ELEMENTS_MAX, folder).map_err(in_file)?;
    loaded.scene.name = stem.unwrap_or_default();
    Ok(loaded)
}

/// Loads a scene from text; `name` stands for the file in messages and names the scene.
///
/// # Errors
/// [`SceneError`] with place, field and what was expected.
pub fn load_str(text: &str, name: &str, overrides: &[(String, f64)]) -> Result<Loaded> {
    load_str_within(text, name, overrides, ELEMENTS_MAX)
}

/// As [`load_str`], refusing scenes of more than `elements_max` elements of a kind.
///
/// # Errors
/// [`SceneError`] with place, field and what was expected.
pub fn load_str_within(
    text: &str,
    name: &str,
    overrides: &[(String, f64)],
    elements_max: usize,
) -> Result<Loaded> {
    let mut loaded = SourceText { text }
        .load(overrides, elements_max, None)
        .map_err(|error| SceneError { file: name.to_owned(), ..error })?;
    loaded.scene.name = name.to_owned();
    Ok(loaded)
}

/// Line and column, counted from one, of a byte of the text.
fn position(text: &str, byte: usize) -> (u32, u32) {
    let before = &text[..byte.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let count = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
    (count(before.matches('\n').count()), count(before[line_start..].chars().count()))
}

/// The text of one file, against which parts of it are located.
struct SourceText<'a> {
    text: &'a str,
}

impl<'a> SourceText<'a> {
    /// `folder` is where files are that the scene names.
    fn load(
        &self,
        overrides: &[(String, f64)],
        elements_max: usize,
        folder: Option<&Path>,
    ) -> Result<Loaded> {
        let file: author::File = self.parse(self.text)?;
        let parameters = parameters(&file.parameters, overrides).at("parameters")?;
        let files = MeshFolder::new(folder, elements_max);
        let scope = Scope::new(&parameters).with_files(&files);
        let mut scene = Scene {
            about: file.about.trim().to_owned(),
            gravity: Vec3::new(0.0, 0.0, -9.81),
            dt: 1.0 / 60.0,
            steps: 300,
            contacts: Some(Contacts::default()),
            ..Scene::default()
        };
        self.settings(&file, &scope, &mut scene)?;
        // Bodies first, so that joints of any order in the file find them.
        let mut builder = Builder::new(&mut scene, elements_max, folder.map(Path::to_owned));
        self.each("bodies", &file.bodies, |entry| builder.add_body(entry, &scope))?;
        self.each("particles", &file.particles, |entry| builder.add_particle(entry, &scope))?;
        self.each("joints", &file.joints, |entry| builder.add_joint(entry, &scope))?;
        self.each("springs", &file.springs, |entry| builder.add_spring(entry, &scope))?;
        self.each("triangles", &file.triangles, |entry| builder.add_triangle(entry, &scope))?;
        self.each("tetrahedra", &file.tetrahedra, |entry| builder.add_tetrahedron(entry, &scope))?;
        self.each("forces", &file.forces, |entry| builder.add_force(entry, &scope))?;
        if let Some(raw) = file.watch {
            builder.scene.watch = self.watched(raw, &builder, &scope).at("watch")?;
        }
        let mut warnings = std::mem::take(&mut builder.notes);
        if scene.bodies.is_empty() && scene.particles.is_empty() {
            return Err(SceneError::new("expected at least one body or particle"));
        }
        validate::check_finite(&scene)?;
        warnings.extend(validate::warnings(&scene));
        Ok(Loaded { scene, warnings, parameters })
    }

    /// Gravity, time and contact.
    fn settings(&self, file: &author::File<'a>, scope: &Scope, scene: &mut Scene) -> Result<()> {
        if let Some(raw) = file.gravity {
            scene.gravity =
                self.value(raw, |triple: &Triple| vector(triple, scope)).at("gravity")?;
        }
        if let Some(raw) = file.dt {
            scene.dt = self.value(raw, |dt: &Formula| dt.positive(scope)).at("dt")?;
        }
        if let Some(raw) = file.steps {
            let steps = self.value(raw, |steps: &Formula| {
                let steps = steps.whole(scope, 1)?;
                u32::try_from(steps).map_err(|_| {
                    SceneError::new(format!("expected at most {}, found {steps}", u32::MAX))
                })
            });
            scene.steps = steps.at("steps")?;
        }
        match file.contacts.map(|raw| (raw, raw.trim().get_ron())) {
            None | Some((_, "true")) => {}
            Some((_, "false")) => scene.contacts = None,
            Some((raw, text)) if text.starts_with('(') => {
                let contacts = self.value(raw, |spec: &author::ContactsSpec| contacts(spec, scope));
                scene.contacts = Some(contacts.at("contacts")?);
            }
            Some((raw, text)) => {
                let message =
                    format!("expected `false`, `true` or `(margin: 0.01)`, found `{text}`");
                return Err(self.located(raw, SceneError::new(message))).at("contacts");
            }
        }
        Ok(())
    }

    fn watched(&self, raw: &'a RawValue, builder: &Builder, scope: &Scope) -> Result<Vec<usize>> {
        self.value(raw, |names: &Vec<String>| {
            let resolve = |(i, name): (usize, &String)| match builder.names.resolve(name, scope) {
                Ok(end) => builder.scene.node(end).ok_or_else(|| {
                    let message = format!("expected a body or particle, `{name}` is none");
                    SceneError::new(message).within(&format!("[{i}]"))
                }),
                Err(error) => Err(error.within(&format!("[{i}]"))),
            };
            names.iter().enumerate().map(resolve).collect()
        })
    }

    /// Parses and uses every entry of a list.
    fn each<T: Deserialize<'a>>(
        &self,
        list: &str,
        entries: &[&'a RawValue],
        mut add: impl FnMut(&T) -> Result<()>,
    ) -> Result<()> {
        for (i, raw) in entries.iter().enumerate() {
            self.value(raw, &mut add).at_index(list, i)?;
        }
        Ok(())
    }

    /// Parses a part of the text and evaluates it; errors carry its place.
    fn value<T: Deserialize<'a>, V>(
        &self,
        raw: &'a RawValue,
        evaluate: impl FnOnce(&T) -> Result<V>,
    ) -> Result<V> {
        let parsed: T = self.parse(raw.get_ron())?;
        evaluate(&parsed).map_err(|error| self.located(raw, error))
    }

    /// An error with the place where the entry it is in begins.
    fn located(&self, raw: &'a RawValue, error: SceneError) -> SceneError {
        let start = self.offset(raw.trim().get_ron());
        SceneError { position: Some(position(self.text, start)), ..error }
    }

    /// Where a part of the text begins. The part borrows from the text.
    fn offset(&self, part: &str) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }

    /// Parses a slice of the text, with `Some` left unwritten and `kind(field: ..)` for variants.
    fn parse<T: Deserialize<'a>>(&self, part: &'a str) -> Result<T> {
        let extensions = Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES;
        let options = ron::Options::default().with_default_extension(extensions);
        options.from_str(part).map_err(|error| {
            let (line, column) = position(self.text, self.offset(part));
            // Positions within a part count from its first character.
            let in_file = |at: ron::error::Position| {
                let [down, right] = [at.line, at.col].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
                let right = if down <= 1 { column.saturating_add(right) - 1 } else { right };
                (line.saturating_add(down.saturating_sub(1)), right)
            };
            let place = in_file(error.span.start);
            // A cut file fails in many ways; that it ends is what its writer needs to hear.
            let at_end = in_file(error.span.end) >= position(self.text, self.text.trim_end().len());
            SceneError { position: Some(place), ..explain(error.code, at_end) }
        })
    }
}

/// The words of a parser's error that a writer of scenes needs.
fn explain(error: ron::Error, at_end: bool) -> SceneError {
    match error {
        ron::Error::NoSuchStructField { expected, found, .. } => {
            SceneError::unknown("field", &found, expected.iter().copied())
        }
        ron::Error::NoSuchEnumVariant { expected, found, .. } => {
            SceneError::unknown("kind", &found, expected.iter().copied())
        }
        ron::Error::MissingStructField { field, .. } => {
            SceneError::new(format!("expected the field `{field}`"))
        }
        ron::Error::DuplicateStructField { field, .. } => {
            SceneError::new(format!("duplicate field `{field}`"))
        }
        ron::Error::InvalidValueForType { expected, found } => {
            SceneError::new(format!("expected {expected}, found {found}"))
        }
        ron::Error::ExpectedNamedStructLike(_) if at_end => {
            SceneError::new("expected a scene, the file is empty")
        }
        ron::Error::ExpectedDifferentStructName { found, .. } => {
            SceneError::new(format!("expected a scene such as `(bodies: [])`, found `{found}`"))
        }
        ron::Error::ExceededRecursionLimit => SceneError::new("nested too deeply"),
        ron::Error::TrailingCharacters => SceneError::new("expected nothing after the scene"),
        _ if at_end => SceneError::new("the file ends in the middle of the scene"),
        other => {
            let message = other.to_string();
            let mut characters = message.chars();
            let first = characters.next().map(|c| c.to_ascii_lowercase());
            SceneError::new(first.into_iter().chain(characters).collect::<String>())
        }
    }
}

/// The parameters of the file, replaced where asked.
fn parameters(
    authored: &author::Parameters,
    overrides: &[(String, f64)],
) -> Result<Vec<(String, f64)>> {
    let known: Vec<&str> = authored.0.iter().map(|(name, _)| name.as_str()).collect();
    for (name, value) in overrides {
        if !known.contains(&name.as_str()) {
            let mut error = SceneError::unknown("parameter", name, known.iter().copied());
            error.nearest = nearest(name, &known).map(str::to_owned);
            return Err(error);
        }
        if !value.is_finite() {
            let error = SceneError::new(format!("expected a finite number, found {value}"));
            return Err(error.within(name));
        }
    }
    let mut parameters: Vec<(String, f64)> = Vec::with_capacity(known.len());
    for (name, number) in &authored.0 {
        if !is_parameter_name(name) {
            let message = "expected a name of letters, digits and underscores that is no function \
                           and none of `pi`, `i`, `j`, `k`, `l`";
            return Err(SceneError::new(message)).at(name);
        }
        // The last of several overrides wins, as on most command lines.
        let value = match overrides.iter().rev().find(|(overridden, _)| overridden == name) {
            Some((_, value)) => *value,
            None => number.evaluate(&Scope::new(&parameters)).at(name)?,
        };
        parameters.push((name.clone(), value));
    }
    Ok(parameters)
}

/// Most points that a patch of contact can keep.
const POINTS_MAX: usize = 16;

fn contacts(spec: &author::ContactsSpec, scope: &Scope) -> Result<Contacts> {
    let mut contacts = Contacts::default();
    if let Some(margin) = &spec.margin {
        contacts.margin = margin.non_negative(scope).at("margin")?;
    }
    if let Some(points) = &spec.points_max {
        let points = points.whole(scope, 1).at("points_max")?;
        if points > POINTS_MAX {
            let message = format!("expected at most {POINTS_MAX}, found {points}");
            return Err(SceneError::new(message)).at("points_max");
        }
        contacts.points_max = u32::try_from(points).expect("a small number");
    }
    Ok(contacts)
}
