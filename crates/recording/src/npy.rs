//! Arrays in numpy's format `.npy`, version 1.0: a header that is a Python dictionary, then little-endian numbers.

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// Double precision.
    F64,
    /// Single precision.
    F32,
    /// A count.
    U32,
    /// True or false.
    Bool,
}

/// An array, last index fastest. Every kind of number that is stored is held exactly by `f64`.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// How its numbers are stored.
    pub scalar: Scalar,
    /// Lengths of its dimensions.
    pub shape: Vec<usize>,
    /// Its numbers, as many as the product of the lengths.
    pub values: Vec<f64>,
}

const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";
/// Numbers begin at a multiple of this, so that they can be mapped into memory.
const ALIGNMENT: usize = 64;
const SCALARS: [(Scalar, &str, usize); 4] = [
    (Scalar::F64, "<f8", 8),
    (Scalar::F32, "<f4", 4),
    (Scalar::U32, "<u4", 4),
    (Scalar::Bool, "|b1", 1),
];

impl Array {
    /// The array as the content of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (_, code, size) = SCALARS[self.scalar as usize];
        let lengths: String = self.shape.iter().map(|length| format!("{length}, ")).collect();
        let header = format!(
            "{{'descr': '{code}', 'fortran_order': False, 'shape': ({}), }}",
            lengths.trim_end()
        );
        let length = (MAGIC.len() + 2 + header.len() + 1).next_multiple_of(ALIGNMENT);
        let padded = length - MAGIC.len() - 2;
        let mut bytes = Vec::with_capacity(length + size * self.values.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&u16::try_from(padded).expect("few dimensions").to_le_bytes());
        bytes.extend_from_slice(format!("{header:width$}\n", width = padded - 1).as_bytes());
        for &value in &self.values {
            match self.scalar {
                Scalar::F64 => bytes.extend_from_slice(&value.to_le_bytes()),
                Scalar::F32 => bytes.extend_from_slice(&(value as f32).to_le_bytes()),
                Scalar::U32 => bytes.extend_from_slice(&(value as u32).to_le_bytes()),
                Scalar::Bool => bytes.push(u8::from(value != 0.0)),
            }
        }
        bytes
    }

    /// Reads the content of a file.
    ///
    /// # Errors
    /// Says what of it is not as written by [`Array::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let rest = bytes.strip_prefix(MAGIC).ok_or("no array in the format .npy 1.0")?;
        let (length, rest) = rest.split_first_chunk().ok_or("its header ends early")?;
        let length = usize::from(u16::from_le_bytes(*length));
        let (header, data) = rest.split_at_checked(length).ok_or("its header ends early")?;
        let header = String::from_utf8_lossy(header);
        if !header.contains("'fortran_order': False") {
            return Err("its numbers are in Fortran order".to_owned());
        }
        let known = SCALARS.iter().find(|(_, code, _)| header.contains(&format!("'{code}'")));
        let &(scalar, _, size) =
            known.ok_or_else(|| format!("numbers of an unknown kind: {header}"))?;
        let shape = shape(&header).ok_or_else(|| format!("no shape in its header {header}"))?;
        let count = shape.iter().try_fold(1_usize, |product, &length| product.checked_mul(length));
        if count.and_then(|count| count.checked_mul(size)) != Some(data.len()) {
            return Err(format!("{} bytes of numbers do not fill the shape {shape:?}", data.len()));
        }
        let values = data.chunks_exact(size).map(|bytes| number(scalar, bytes)).collect();
        Ok(Self { scalar, shape, values })
    }
}

fn shape(header: &str) -> Option<Vec<usize>> {
    let (_, rest) = header.split_once("'shape': (")?;
    let (inside, _) = rest.split_once(')')?;
    let lengths = inside.split(',').map(str::trim).filter(|length| !length.is_empty());
    lengths.map(|length| length.parse().ok()).collect()
}

fn number(scalar: Scalar, bytes: &[u8]) -> f64 {
    let four = || bytes.try_into().expect("four bytes");
    match scalar {
        Scalar::F64 => f64::from_le_bytes(bytes.try_into().expect("eight bytes")),
        Scalar::F32 => f64::from(f32::from_le_bytes(four())),
        Scalar::U32 => f64::from(u32::from_le_bytes(four())),
        Scalar::Bool => f64::from(bytes[0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_read_back_to_the_same_bits() {
        for (scalar, ..) in SCALARS {
            let array = Array { scalar, shape: vec![1, 2], values: vec![1.0, 0.0] };
            assert_eq!(Array::from_bytes(&array.to_bytes()), Ok(array));
        }
        let exact = Array { scalar: Scalar::F64, shape: vec![2], values: vec![0.1, 5e-324] };
        let bytes = exact.to_bytes();
        assert_eq!((bytes.len() - 16) % ALIGNMENT, 0);
        assert_eq!(Array::from_bytes(&bytes), Ok(exact));
        assert!(Array::from_bytes(&bytes[..bytes.len() - 1]).is_err());
    }
}
