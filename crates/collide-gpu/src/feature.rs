//! Names of features as shaders pack them, and as the CPU has them.

use taut_collide::name::{mix, name, sort};

/// The number by which the CPU calls a feature: `[name, triangle + 1]`, no triangle where that is zero.
pub(crate) fn number([packed, triangle]: [u32; 2]) -> u64 {
    let (sort, a, b) = (packed >> 29, packed >> 18 & 0x7ff, packed & 0x3_ffff);
    // Two corners that end a line; edges of boxes across each other have a bit of their own.
    let line = |id: u32| (id >> 3) << 16 | (id & 7);
    let own = if sort == sort::CROSSING && a & 256 == 0 {
        name(sort, line(a), line(b))
    } else {
        name(sort, a, b)
    };
    if triangle == 0 { own } else { mix(u64::from(triangle - 1), own) }
}
