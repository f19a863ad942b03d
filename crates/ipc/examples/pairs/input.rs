//! Fields of a file, with what is wrong about them in words.

use serde_json::Value;
use taut_math::V3;

/// A field that has to be there.
pub(crate) fn field<'a>(object: &'a Value, name: &str) -> Result<&'a Value, String> {
    object.get(name).ok_or_else(|| format!("no field `{name}`"))
}

/// A finite number.
pub(crate) fn number(object: &Value, name: &str) -> Result<f64, String> {
    finite(field(object, name)?).map_err(|error| format!("`{name}`: {error}"))
}

/// A finite number above zero.
pub(crate) fn positive(object: &Value, name: &str) -> Result<f64, String> {
    let x = number(object, name)?;
    if x > 0.0 { Ok(x) } else { Err(format!("`{name}` is {x}, and has to be above 0")) }
}

/// Exactly `N` finite numbers.
pub(crate) fn numbers<const N: usize>(object: &Value, name: &str) -> Result<[f64; N], String> {
    array(field(object, name)?).map_err(|error| format!("`{name}`: {error}"))
}

/// Finite numbers of which there have to be `count`.
pub(crate) fn many(object: &Value, name: &str, count: usize) -> Result<Vec<f64>, String> {
    let list = list(object, name)?;
    if list.len() != count {
        return Err(format!("`{name}` has {} entries instead of {count}", list.len()));
    }
    list.iter().map(finite).collect::<Result<_, _>>().map_err(|error| format!("`{name}`: {error}"))
}

/// Exactly `N` points.
pub(crate) fn points<const N: usize>(object: &Value, name: &str) -> Result<[V3<f64>; N], String> {
    let points = all_points(object, name)?;
    let count = points.len();
    points.try_into().map_err(|_| format!("`{name}` has {count} points instead of {N}"))
}

/// Any number of points.
pub(crate) fn all_points(object: &Value, name: &str) -> Result<Vec<V3<f64>>, String> {
    let point = |(i, value): (usize, &Value)| {
        array(value).map(V3).map_err(|error| format!("`{name}`[{i}]: {error}"))
    };
    list(object, name)?.iter().enumerate().map(point).collect()
}

/// Triples of indices below `count`.
pub(crate) fn triangles(
    object: &Value,
    name: &str,
    count: usize,
) -> Result<Vec<[usize; 3]>, String> {
    let triangle = |(i, value): (usize, &Value)| {
        let corners = value.as_array().filter(|corners| corners.len() == 3);
        let corners = corners.ok_or_else(|| format!("`{name}`[{i}] is not three indices"))?;
        let mut out = [0; 3];
        for (out, corner) in out.iter_mut().zip(corners) {
            let index = corner.as_u64().and_then(|index| usize::try_from(index).ok());
            *out = index.filter(|index| *index < count).ok_or_else(|| {
                format!("`{name}`[{i}]: {corner} is not the index of one of {count} vertices")
            })?;
        }
        Ok(out)
    };
    list(object, name)?.iter().enumerate().map(triangle).collect()
}

/// A list of anything.
pub(crate) fn list<'a>(object: &'a Value, name: &str) -> Result<&'a Vec<Value>, String> {
    field(object, name)?.as_array().ok_or_else(|| format!("`{name}` is not a list"))
}

fn array<const N: usize>(value: &Value) -> Result<[f64; N], String> {
    let list = value.as_array().ok_or("not a list")?;
    if list.len() != N {
        return Err(format!("{} numbers instead of {N}", list.len()));
    }
    let mut out = [0.0; N];
    for (out, value) in out.iter_mut().zip(list) {
        *out = finite(value)?;
    }
    Ok(out)
}

fn finite(value: &Value) -> Result<f64, String> {
    let x = value.as_f64().filter(|x| x.is_finite());
    x.ok_or_else(|| format!("{value} is not a finite number"))
}
