//! Elastic energies of points: forces between more than two ends, each defined by one file.
//!
//! An energy is a function `W = f(C(x))` of a few rows `C` of up to [`ENDS_MAX`] points `x`, and says what
//! those rows are and how stiff they are. All else follows here: forces, blocks of second derivatives, the
//! convex system of one point, and compliances. Methods take energies through these functions and name
//! none of them. A point is a particle, or is fixed to a body, whose part in a force is the method's.
//!
//! A new energy is a file here, a variant and its arms below, and whatever makes it from a scene.

mod bending;
mod cell;
mod corner;
mod corotated;
mod elasticity;
mod fold;
mod hinge;
mod hooke;
mod log_membrane;
mod log_neo_hookean;
mod membrane;
mod neo_hookean;
mod sheet;
mod solid;
mod spectrum;
mod st_venant;
#[cfg(test)]
mod tests;
mod tie;
mod viscous;
mod weighted_sum;

use taut_math::{LANES, M3, Number, Real, V3, Wide};

pub(crate) use cell::{FACES, volume};
pub use corner::{CornerLanes, CornerSystem, SheetCorner, SolidCorner};
pub use corotated::Corotated;
pub use elasticity::Elasticity;
pub use fold::{FoldEnergy, FoldModel};
pub use hinge::Hinge;
pub use log_membrane::LogMembrane;
pub use log_neo_hookean::LogNeoHookean;
pub use membrane::Membrane;
pub use neo_hookean::NeoHookean;
pub use sheet::{SheetEnergy, SheetModel};
pub use solid::{SolidEnergy, SolidModel};
pub use st_venant::StVenantKirchhoff;
pub use viscous::{DampingEnergy, SheetDamping, SolidDamping, Viscous};
pub use weighted_sum::WeightedSum;

/// Most points that an energy has.
pub const ENDS_MAX: usize = 4;
/// Most rows that an energy has.
pub const ROWS_MAX: usize = 6;

/// The points of an energy [m]; it looks at its first ones.
pub type Points<N> = [V3<N>; ENDS_MAX];
/// One number per row.
pub type PerRow<N> = [N; ROWS_MAX];

/// Second derivatives between all pairs of points [N/m]; zero beyond its own ends.
pub type Blocks<N> = [[M3<N>; ENDS_MAX]; ENDS_MAX];

/// Values and gradients of an energy's rows, with room for `SIZE` of them; zero beyond its own rows and ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rows<N, const SIZE: usize = ROWS_MAX> {
    /// Value of each row, zero at rest.
    pub value: [N; SIZE],
    /// Gradient of each row with respect to each point.
    pub gradient: [Points<N>; SIZE],
}

impl<N: Number, const SIZE: usize> Rows<N, SIZE> {
    /// Rows that are zero everywhere.
    pub const ZERO: Self = Self { value: [N::ZERO; SIZE], gradient: [[V3::ZERO; ENDS_MAX]; SIZE] };
}

/// An energy `W = f(C(x))` [J]; `f = C^T K C / 2` up to a constant, with constant `K`, unless an energy says
/// otherwise. What follows from its rows may be given in a closed form that is cheaper or exact in more states.
pub trait RowEnergy<N: Number> {
    /// How many points it has.
    const ENDS: usize;
    /// How many rows it has.
    const ROWS: usize;

    /// Its rows at `x`.
    fn rows(&self, x: &Points<N>) -> Rows<N>;

    /// Second derivative `sum_r w_r d2C_r/dx_i dx_j` of its rows under `weights`.
    fn curvature(&self, x: &Points<N>, weights: &PerRow<N>, i: usize, j: usize) -> M3<N>;

    /// `K`, or `d2f/dC2` at the given rows.
    fn stiffness(&self, rows: &Rows<N>) -> [PerRow<N>; ROWS_MAX];

    /// Begins a step of length `h` [s] with the points at `x`; what resists rates remembers both.
    #[inline]
    fn begin(&mut self, _: &Points<N>, _: N) {}

    /// `K^-1`; none where `f` is not quadratic, as of barriers.
    fn compliance(&self) -> Option<[PerRow<N>; ROWS_MAX]>;

    /// The principal stretches of its material at `x`, those that it has; only the last may be negative, where a
    /// solid is inside out. `None` of what is no piece of material by itself.
    fn principal_stretches(&self, _: &Points<N>) -> Option<[N; 3]> {
        None
    }

    /// `df/dC`: what pulls along each row's gradient.
    #[inline]
    fn tension(&self, rows: &Rows<N>) -> PerRow<N> {
        let stiffness = self.stiffness(rows);
        let mut tension = [N::ZERO; ROWS_MAX];
        for (tension, row) in tension.iter_mut().zip(&stiffness).take(Self::ROWS) {
            for (&stiffness, &value) in row.iter().zip(&rows.value).take(Self::ROWS) {
                *tension += stiffness * value;
            }
        }
        tension
    }

    /// `W` [J].
    #[inline]
    fn energy(&self, x: &Points<N>) -> N {
        let rows = self.rows(x);
        let tension = self.tension(&rows);
        let mut twice = N::ZERO;
        for (&tension, &value) in tension.iter().zip(&rows.value).take(Self::ROWS) {
            twice += tension * value;
        }
        twice * N::HALF
    }

    /// Force on point `i` [N]: `-dW/dx_i`.
    #[inline]
    fn force(&self, x: &Points<N>, i: usize) -> V3<N> {
        let rows = self.rows(x);
        pull(&rows, &self.tension(&rows), Self::ROWS, i)
    }

    /// `d2W/dx_i dx_j` [N/m], with a share `bent` of what can make the matrix of all blocks indefinite: with all of
    /// it the block is exact, without it that matrix is positive. Here it is what the rows' second derivatives add.
    #[inline]
    fn block(&self, x: &Points<N>, i: usize, j: usize, bent: N) -> M3<N> {
        let rows = self.rows(x);
        let weights = self.tension(&rows).map(|tension| tension * bent);
        let straight = outer(&rows, &self.stiffness(&rows), Self::ROWS, i, j);
        straight.plus(self.curvature(x, &weights, i, j))
    }

    /// The blocks of all pairs of points, see [`Self::block`].
    fn blocks(&self, x: &Points<N>, bent: N) -> Blocks<N> {
        let mut blocks = [[M3::ZERO; ENDS_MAX]; ENDS_MAX];
        for (i, row) in blocks.iter_mut().enumerate().take(Self::ENDS) {
            for (j, block) in row.iter_mut().enumerate().take(Self::ENDS) {
                *block = self.block(x, i, j, bent);
            }
        }
        blocks
    }

    /// Force on point `i` [N] and a positive matrix [N/m] near `d2W/dx_i dx_i`, for methods that move one
    /// point at a time: the rows' second derivatives count where they are positive themselves.
    #[inline]
    fn vertex(&self, x: &Points<N>, i: usize) -> (V3<N>, M3<N>) {
        let rows = self.rows(x);
        let tension = self.tension(&rows);
        let bent = self.curvature(x, &tension, i, i);
        let share = definite(&bent);
        let bent = bent.times(share);
        let straight = outer(&rows, &self.stiffness(&rows), Self::ROWS, i, i);
        (pull(&rows, &tension, Self::ROWS, i), straight.plus(bent))
    }
}

/// An energy that can be one in each lane of `W`.
pub trait SideBySide<W: Wide>: RowEnergy<W> + Copy + Send + Sync {
    /// One of this kind in each lane; `None` where one is of another.
    fn side_by_side(energies: [&Energy<W::Lane>; LANES]) -> Option<Self>;

    /// Its rows at `x`, as [`RowEnergy::rows`], in room for `SIZE` of them, which is not less than it has: clearing more
    /// takes a twentieth of a correction.
    fn sized_rows<const SIZE: usize>(&self, x: &Points<W>) -> Rows<W, SIZE>;
}

#[inline]
fn pull<N: Number>(rows: &Rows<N>, tension: &PerRow<N>, count: usize, i: usize) -> V3<N> {
    let mut force = V3::ZERO;
    for (gradient, &tension) in rows.gradient.iter().zip(tension).take(count) {
        force += gradient[i] * -tension;
    }
    force
}

/// `sum_rs dC_r/dx_i K_rs (dC_s/dx_j)^T`.
#[inline]
fn outer<N: Number>(
    rows: &Rows<N>,
    stiffness: &[PerRow<N>; ROWS_MAX],
    count: usize,
    i: usize,
    j: usize,
) -> M3<N> {
    let mut sum = M3::ZERO;
    for (row, gradient) in stiffness.iter().zip(&rows.gradient).take(count) {
        let mut other = V3::ZERO;
        for (&stiffness, gradient) in row.iter().zip(&rows.gradient).take(count) {
            other += gradient[j] * stiffness;
        }
        sum = sum.plus(M3::outer(gradient[i], other));
    }
    sum
}

/// The symmetric matrix of three rows with these entries `00 = 11`, `01` and `22`.
#[inline]
fn symmetric<N: Number>([direct, cross, last]: [N; 3]) -> [PerRow<N>; ROWS_MAX] {
    let mut matrix = [[N::ZERO; ROWS_MAX]; ROWS_MAX];
    (matrix[0][0], matrix[1][1], matrix[2][2]) = (direct, direct, last);
    (matrix[0][1], matrix[1][0]) = (cross, cross);
    matrix
}

/// One where a symmetric matrix is positive definite (Sylvester's criterion), else zero.
#[inline]
fn definite<N: Number>(m: &M3<N>) -> N {
    let [a, b, c] = m.0;
    let (first, second) = (a.0[0], a.0[0] * b.0[1] - a.0[1] * b.0[0]);
    let third = a.dot(b.cross(c));
    first.min(second).min(third).where_above(N::ZERO, N::ONE, N::ZERO)
}

/// Any of the energies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Energy<N> {
    /// A triangle that resists being stretched and sheared.
    Membrane(Membrane<N>),
    /// Two triangles that resist being folded along the edge they share, flat at rest, or a point that is held to a
    /// place in a triangle.
    WeightedSum(WeightedSum<N>),
    /// A tetrahedron of stable neo-Hookean material.
    NeoHookean(NeoHookean<N>),
    /// A tetrahedron of St. Venant-Kirchhoff material.
    StVenantKirchhoff(StVenantKirchhoff<N>),
    /// A tetrahedron of linear elastic material that turns with it.
    Corotated(Corotated<N>),
    /// A tetrahedron of stable neo-Hookean material that does not stay pressed to a point.
    LogNeoHookean(LogNeoHookean<N>),
    /// A triangle that resists being pressed to nothing, too.
    LogMembrane(LogMembrane<N>),
    /// Two triangles that resist being folded away from their angle at rest.
    Hinge(Hinge<N>),
    /// A triangle that resists being strained fast.
    SheetDamping(SheetDamping<N>),
    /// A tetrahedron that does.
    SolidDamping(SolidDamping<N>),
}

/// The same expression for whichever energy it is.
macro_rules! each {
    ($energy:expr, $one:ident => $value:expr) => {
        match $energy {
            Energy::Membrane($one) => $value,
            Energy::WeightedSum($one) => $value,
            Energy::NeoHookean($one) => $value,
            Energy::StVenantKirchhoff($one) => $value,
            Energy::Corotated($one) => $value,
            Energy::LogNeoHookean($one) => $value,
            Energy::LogMembrane($one) => $value,
            Energy::Hinge($one) => $value,
            Energy::SheetDamping($one) => $value,
            Energy::SolidDamping($one) => $value,
        }
    };
}

fn ends<N: Number, E: RowEnergy<N>>(_: &E) -> usize {
    E::ENDS
}

fn size<N: Number, E: RowEnergy<N>>(_: &E) -> usize {
    E::ROWS
}

impl Energy<f64> {
    /// The same with other numbers.
    pub fn lower<N: Number>(&self) -> Energy<N> {
        match self {
            Self::Membrane(membrane) => Energy::Membrane(membrane.lower()),
            Self::WeightedSum(sum) => Energy::WeightedSum(sum.lower()),
            Self::NeoHookean(solid) => Energy::NeoHookean(solid.lower()),
            Self::StVenantKirchhoff(solid) => Energy::StVenantKirchhoff(solid.lower()),
            Self::Corotated(solid) => Energy::Corotated(solid.lower()),
            Self::LogNeoHookean(solid) => Energy::LogNeoHookean(solid.lower()),
            Self::LogMembrane(membrane) => Energy::LogMembrane(membrane.lower()),
            Self::Hinge(hinge) => Energy::Hinge(hinge.lower()),
            Self::SheetDamping(damping) => Energy::SheetDamping(damping.lower()),
            Self::SolidDamping(damping) => Energy::SolidDamping(damping.lower()),
        }
    }
}

impl<N: Real> Energy<N> {
    /// See [`RowEnergy::begin`].
    #[inline]
    pub fn begin(&mut self, x: &Points<N>, h: N) {
        each!(self, one => one.begin(x, h));
    }

    /// Whether it resists being strained fast, so that a step changes it when it begins.
    pub fn resists_rates(&self) -> bool {
        matches!(self, Self::SheetDamping(_) | Self::SolidDamping(_))
    }

    /// How many points it has.
    #[inline]
    pub fn ends(&self) -> usize {
        each!(self, one => ends(one))
    }

    /// See [`RowEnergy::principal_stretches`].
    pub fn principal_stretches(&self, x: &Points<N>) -> Option<[N; 3]> {
        each!(self, one => one.principal_stretches(x))
    }

    /// How many rows it has.
    #[inline]
    pub fn size(&self) -> usize {
        each!(self, one => size(one))
    }

    /// See [`RowEnergy::rows`].
    #[inline]
    pub fn rows(&self, x: &Points<N>) -> Rows<N> {
        each!(self, one => one.rows(x))
    }

    /// See [`RowEnergy::curvature`].
    #[inline]
    pub fn curvature(&self, x: &Points<N>, weights: &PerRow<N>, i: usize, j: usize) -> M3<N> {
        each!(self, one => one.curvature(x, weights, i, j))
    }

    /// See [`RowEnergy::stiffness`].
    #[inline]
    pub fn stiffness(&self, rows: &Rows<N>) -> [PerRow<N>; ROWS_MAX] {
        each!(self, one => one.stiffness(rows))
    }

    /// See [`RowEnergy::compliance`].
    #[inline]
    pub fn compliance(&self) -> Option<[PerRow<N>; ROWS_MAX]> {
        each!(self, one => RowEnergy::<N>::compliance(one))
    }

    /// See [`RowEnergy::tension`].
    #[inline]
    pub fn tension(&self, rows: &Rows<N>) -> PerRow<N> {
        each!(self, one => one.tension(rows))
    }

    /// See [`RowEnergy::energy`].
    #[inline]
    pub fn energy(&self, x: &Points<N>) -> N {
        each!(self, one => one.energy(x))
    }

    /// See [`RowEnergy::force`].
    #[inline]
    pub fn force(&self, x: &Points<N>, i: usize) -> V3<N> {
        each!(self, one => one.force(x, i))
    }

    /// See [`RowEnergy::block`].
    #[inline]
    pub fn block(&self, x: &Points<N>, i: usize, j: usize, bent: N) -> M3<N> {
        each!(self, one => one.block(x, i, j, bent))
    }

    /// See [`RowEnergy::blocks`].
    pub fn blocks(&self, x: &Points<N>, bent: N) -> Blocks<N> {
        each!(self, one => one.blocks(x, bent))
    }

    /// See [`RowEnergy::vertex`].
    #[inline]
    pub fn vertex(&self, x: &Points<N>, i: usize) -> (V3<N>, M3<N>) {
        each!(self, one => one.vertex(x, i))
    }
}
