//! Scenes and states as data that other programs write and read.
//!
//! Vectors are lists of three numbers, rotations quaternions `[x, y, z, w]` from body to world, matrices nine
//! numbers column by column. In JSON a bound that is infinite is `null`, and so is a number of a state that is
//! not finite; the latter reads back as no number. Names and order of the fields are frozen by a snapshot: a
//! change raises [`SCHEMA`], and readers refuse any other. `drives`, `forces`, `damping` and a mesh's `control` are there only where a
//! scene has any, and whoever does not know them refuses it.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::{Mat3, Quat, Vec3};

/// Version of the names and order of the fields.
pub const SCHEMA: u32 = 2;

/// A scene or state on its way, with the version of its form.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Versioned<T> {
    /// [`SCHEMA`].
    #[serde(deserialize_with = "this_schema")]
    schema: u32,
    /// What is sent.
    pub content: T,
}

impl<T> Versioned<T> {
    /// `content` in the form of this version.
    pub fn new(content: T) -> Self {
        Self { schema: SCHEMA, content }
    }
}

fn this_schema<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        SCHEMA => Ok(SCHEMA),
        other => Err(Error::custom(format!("schema {other}, but this program reads {SCHEMA}"))),
    }
}

/// Whether a number is left out where it says nothing.
pub(crate) fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// What is sent as a list of numbers.
pub(crate) trait Flat: Sized {
    fn numbers(&self) -> &[f64];
    /// `None` of too many or too few.
    fn of(numbers: &[f64]) -> Option<Self>;
}

impl Flat for Vec3 {
    fn numbers(&self) -> &[f64] {
        self.as_slice()
    }

    fn of(numbers: &[f64]) -> Option<Self> {
        Some(Self::from(<[f64; 3]>::try_from(numbers).ok()?))
    }
}

impl Flat for Mat3 {
    fn numbers(&self) -> &[f64] {
        self.as_slice()
    }

    fn of(numbers: &[f64]) -> Option<Self> {
        (numbers.len() == 9).then(|| Self::from_column_slice(numbers))
    }
}

impl Flat for Quat {
    fn numbers(&self) -> &[f64] {
        self.coords.as_slice()
    }

    fn of(numbers: &[f64]) -> Option<Self> {
        // As it was sent: making it a unit again could change its last bits.
        let numbers = <[f64; 4]>::try_from(numbers).ok()?;
        Some(Self::new_unchecked(nalgebra::Quaternion::from(nalgebra::Vector4::from(numbers))))
    }
}

fn flat<T: Flat, E: Error>(numbers: &[f64]) -> Result<T, E> {
    T::of(numbers).ok_or_else(|| E::custom(format!("a list of {} numbers", numbers.len())))
}

/// Lists of numbers that are finite.
pub(crate) mod numbers {
    use super::*;

    pub(crate) fn serialize<T: Flat, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(value.numbers())
    }

    pub(crate) fn deserialize<'de, T: Flat, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        flat(&Vec::<f64>::deserialize(from)?)
    }
}

/// Lists of numbers that may not be.
pub(crate) mod maybe_numbers {
    use super::*;

    pub(crate) fn serialize<T: Flat, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(value.numbers().iter().map(|x| x.is_finite().then_some(x)))
    }

    pub(crate) fn deserialize<'de, T: Flat, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        let numbers = Vec::<Option<f64>>::deserialize(from)?;
        flat(&numbers.iter().map(|x| x.unwrap_or(f64::NAN)).collect::<Vec<f64>>())
    }
}

/// One number of a state.
pub(crate) mod maybe_number {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(value).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
    }
}

/// Bounds that may be infinite above.
pub(crate) mod upper_bound {
    use super::*;
    pub(crate) use maybe_number::serialize;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
    }
}

/// Bounds that may be infinite below.
pub(crate) mod lower_bound {
    use super::*;
    pub(crate) use maybe_number::serialize;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(f64::NEG_INFINITY))
    }
}

/// Lists that several owners share.
pub(crate) mod shared {
    use super::*;

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        value: &Arc<[T]>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(value.iter())
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<[T]>, D::Error> {
        Ok(Vec::deserialize(from)?.into())
    }
}

/// Shared lists of points.
pub(crate) mod points {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(value: &Arc<[Vec3]>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(value.iter().map(Flat::numbers))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<[Vec3]>, D::Error> {
        Ok(Vec::<[f64; 3]>::deserialize(from)?.into_iter().map(Vec3::from).collect())
    }
}

/// Four points, or none.
pub(crate) mod four_points {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        value: &Option<Arc<[Vec3; 4]>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(|points| points.map(<[f64; 3]>::from)).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Arc<[Vec3; 4]>>, D::Error> {
        let points = Option::<[[f64; 3]; 4]>::deserialize(from)?;
        Ok(points.map(|points| Arc::new(points.map(Vec3::from))))
    }
}

/// Lists of a length that the type knows.
pub(crate) mod array {
    use super::*;

    pub(crate) fn serialize<T: Serialize, S: Serializer, const N: usize>(
        value: &[T; N],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(value)
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>, const N: usize>(
        from: D,
    ) -> Result<[T; N], D::Error> {
        let list = Vec::deserialize(from)?;
        let length = list.len();
        list.try_into().map_err(|_| Error::custom(format!("{length} entries instead of {N}")))
    }
}
