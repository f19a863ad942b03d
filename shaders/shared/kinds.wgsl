// How the rows of an element are computed, three of a block or a single one.

const POINT: u32 = 0u;
const TWIST: u32 = 1u;
const DISTANCE: u32 = 2u;
const ANGLE: u32 = 3u;
const TURN: u32 = 4u;
// Here the axis is added.
const SLIDE: u32 = 10u;
// Here the axis of B is added, and three times that of A.
const DOT: u32 = 20u;
