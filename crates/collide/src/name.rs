//! Names of the features that meet in a point of contact: one number, the same on every device.

/// One number from two, without ties that matter.
pub fn mix(a: u64, b: u64) -> u64 {
    // The output function of SplitMix64.
    let scramble = |z: u64| {
        let z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    scramble(scramble(a) ^ b)
}

/// Names what a point of contact is made of: its sort and a number from either side.
pub fn name(sort: u32, a: u32, b: u32) -> u64 {
    mix(u64::from(sort), u64::from(a) << 32 | u64::from(b))
}

/// Sorts of points, so that equal numbers of different things differ.
pub mod sort {
    /// A corner of A over B.
    pub const CORNER_A: u32 = 0;
    /// A corner of B over A.
    pub const CORNER_B: u32 = 1;
    /// An edge of A over one of B.
    pub const CROSSING: u32 = 2;
    /// The closest points.
    pub const CLOSEST: u32 = 3;
    /// An end of the part that two parallel lines share.
    pub const LINE: u32 = 4;
}
