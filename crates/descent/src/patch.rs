//! One patch of contact: up to four points of two bodies that share a normal, or one of a body and a particle,
//! which has no arm and no block but the first.
//!
//! The rows of a point are the gap along the normal and the displacement along two tangents, as a
//! Taylor series at the step's start (AVBD section 4, Eq. 15): `C = C0 + JA dxA + JB dxB` with lever
//! arms that stay as they were, because the points of round bodies do not turn with them. Rows are in
//! the axes of the contact, normal first, arms in world axes. Everything is kept by lanes, so that four
//! points cost little more than one.
//!
//! The stiffness of a point is `K = kt I + (kn - kt) n n^T + s e e^T`: one number across, one along the
//! normal, and a rank-one term for what is special about one tangential direction `e`. Only where there
//! is such a term does a point cost a 6x6 outer product; the rest sums up in a few vectors per patch.
//!
//! Signs: the normal points from B to A and pressure has a negative force; it acts on A along `-F`.

use taut_math::{LANES, Number, Q4, Real, V3, Wide};
use taut_model::Side;

use crate::{block::Block, node::SweepNode};

/// One vector per point, component by component: world axes, or normal, first and second tangent.
pub type PatchRows<R> = [<R as Real>::Wide; 3];

/// No vector at any point.
#[inline(always)]
const fn no_rows<R: Real>() -> PatchRows<R> {
    [R::Wide::ZERO; 3]
}

/// Up to four contacts of one pair of bodies.
#[derive(Clone, Copy, Debug)]
pub struct Patch<R: Real> {
    /// Nodes of A and B.
    pub nodes: [u32; 2],
    /// How many of the lanes are in use; the others exert nothing.
    pub count: u32,
    /// Normal and two tangents in the world, right-handed.
    pub axes: [V3<R>; 3],
    /// Arms from the centre of A at the step's start, in world axes [m].
    pub arm_a: PatchRows<R>,
    /// The same for B.
    pub arm_b: PatchRows<R>,
    /// Values of the rows at the step's start, as far as they are to be corrected [m].
    pub start: PatchRows<R>,
    /// Multipliers [N].
    pub lambda: PatchRows<R>,
    /// Below zero for points that have pressed in this step, or did at the end of the last one [N].
    pub pressed: R::Wide,
    /// Penalty stiffness [N/m].
    pub stiffness: PatchRows<R>,
    /// Coefficient of friction in this step [1]: static, or dynamic for points that slid in the last.
    pub friction: R::Wide,
    /// Which points hold without sliding.
    pub sticks: [bool; LANES],
}

/// Forces of a patch and how they change with its rows.
#[derive(Clone, Copy, Debug)]
pub struct Push<R: Real> {
    /// Force per row [N].
    pub force: PatchRows<R>,
    /// Stiffness along the normal [N/m].
    pub normal: R::Wide,
    /// Stiffness along all tangents but for [`Self::extra`] [N/m].
    pub tangent: R::Wide,
    /// Whether any lane has an extra stiffness.
    pub has_extra: bool,
    /// Further stiffness along one tangential direction of any length [N/m over its square].
    pub extra: R::Wide,
    /// That direction's components along the two tangents.
    pub direction: [R::Wide; 2],
}

impl<R: Real> Push<R> {
    /// No force and no stiffness.
    pub const NONE: Self = Self {
        force: no_rows::<R>(),
        normal: R::Wide::ZERO,
        tangent: R::Wide::ZERO,
        has_extra: false,
        extra: R::Wide::ZERO,
        direction: [R::Wide::ZERO; 2],
    };
}

/// How a method turns the values of the rows into forces.
pub trait ContactLaw<R: Real>: Copy + Sync {
    /// Whether arms follow the current rotation instead of staying as they were.
    const ARMS_TURN: bool = false;

    /// Whether the patch exerts nothing and resists nothing at row values `value`.
    #[inline(always)]
    fn idles(&self, _patch: &Patch<R>, _value: &PatchRows<R>) -> bool {
        false
    }

    /// The forces at row values `value`; lanes beyond the patch's count are not read.
    fn push(&self, patch: &Patch<R>, value: &PatchRows<R>) -> Push<R>;
}

impl<R: Real> Patch<R> {
    /// A patch without points.
    pub const EMPTY: Self = Self {
        nodes: [0, 0],
        count: 0,
        axes: [V3::ZERO; 3],
        arm_a: no_rows::<R>(),
        arm_b: no_rows::<R>(),
        start: no_rows::<R>(),
        lambda: no_rows::<R>(),
        pressed: R::Wide::ZERO,
        stiffness: no_rows::<R>(),
        friction: R::Wide::ZERO,
        sticks: [false; LANES],
    };

    /// Components of a world vector in the axes of the contact.
    #[inline(always)]
    pub fn local(&self, v: V3<R>) -> V3<R> {
        V3([self.axes[0].dot(v), self.axes[1].dot(v), self.axes[2].dot(v)])
    }

    /// The world vector with these components.
    #[inline(always)]
    pub fn world(&self, v: V3<R>) -> V3<R> {
        self.axes[0] * v.0[0] + self.axes[1] * v.0[1] + self.axes[2] * v.0[2]
    }

    /// Values of the rows at the current iterate.
    #[inline(always)]
    pub fn value(&self, a: &SweepNode<R>, b: &SweepNode<R>) -> PatchRows<R> {
        let [px, py, pz] = (a.step - b.step).0.map(R::Wide::splat);
        let [ax, ay, az] = (a.turn.v * R::TWO).0.map(R::Wide::splat);
        let [bx, by, bz] = (b.turn.v * R::TWO).0.map(R::Wide::splat);
        let ([rx, ry, rz], [sx, sy, sz]) = (self.arm_a, self.arm_b);
        let moved = [
            px + ((ay * rz - az * ry) - (by * sz - bz * sy)),
            py + ((az * rx - ax * rz) - (bz * sx - bx * sz)),
            pz + ((ax * ry - ay * rx) - (bx * sy - by * sx)),
        ];
        let along = |axis: V3<R>| {
            let [x, y, z] = axis.0.map(R::Wide::splat);
            x * moved[0] + (y * moved[1] + z * moved[2])
        };
        let [n, u, v] = self.axes;
        [self.start[0] + along(n), self.start[1] + along(u), self.start[2] + along(v)]
    }

    /// The patch with its arms turned along with the bodies.
    pub fn turned(&self, a: &SweepNode<R>, b: &SweepNode<R>) -> Self {
        let mut turned = *self;
        for (arms, node) in [(&mut turned.arm_a, a), (&mut turned.arm_b, b)] {
            *arms = Q4::<R::Wide>::splat(node.turn).rotate(V3(*arms)).0;
        }
        turned
    }

    /// Adds the patch to the block of the body on one side (Eq. 5 and 6 without second derivatives,
    /// which vanish for a Taylor series).
    #[inline(always)]
    pub fn add_to(&self, block: &mut Block<R>, side: Side, push: &Push<R>) {
        let arms = if side == Side::A { &self.arm_a } else { &self.arm_b };
        let n = self.axes[0];
        let (force, torque) = self.wrench(arms, push);
        let sign = if side == Side::A { -R::ONE } else { R::ONE };
        block.fl += force * sign;
        block.fa += torque * sign;
        let sums = Sums::over(n, arms, push);
        let ll = &mut block.ll.0;
        let [x, y, z] = n.0;
        let [nx, ny, nz] = (n * sums.along).0;
        ll[0] += sums.across + nx * x;
        ll[1] += sums.across + ny * y;
        ll[2] += sums.across + nz * z;
        ll[3] += nx * y;
        ll[4] += nx * z;
        ll[5] += ny * z;
        // sum K_i [r_i]x^T, rows rotate: kt [r]x + (kn - kt) (r x n) n^T.
        let [cx, cy, cz] = sums.lever.0;
        let al = &mut block.al.0;
        al[0] += n * sums.twist.0[0] + V3([R::ZERO, -cz, cy]);
        al[1] += n * sums.twist.0[1] + V3([cz, R::ZERO, -cx]);
        al[2] += n * sums.twist.0[2] + V3([-cy, cx, R::ZERO]);
        for (entry, sum) in block.aa.0.iter_mut().zip(sums.aa) {
            *entry += sum;
        }
        if push.has_extra {
            self.add_extra(block, arms, push);
        }
    }

    /// Sum of the forces and of their torques about one body's centre, in world axes.
    #[inline(always)]
    fn wrench(&self, arms: &PatchRows<R>, push: &Push<R>) -> (V3<R>, V3<R>) {
        let [n, u, v] = self.axes;
        let [fn_, fu, fv] = push.force;
        let along = |c: usize| {
            let [n, u, v] = [n.0[c], u.0[c], v.0[c]].map(R::Wide::splat);
            n * fn_ + (u * fu + v * fv)
        };
        let (fx, fy, fz) = (along(0), along(1), along(2));
        let [rx, ry, rz] = *arms;
        let force = V3([fx.sum(), fy.sum(), fz.sum()]);
        let torque =
            V3([(ry * fz - rz * fy).sum(), (rz * fx - rx * fz).sum(), (rx * fy - ry * fx).sum()]);
        (force, torque)
    }

    /// Adds the rank-one terms.
    #[inline(never)]
    fn add_extra(&self, block: &mut Block<R>, arms: &PatchRows<R>, push: &Push<R>) {
        for i in 0..self.count as usize {
            let [extra, u, v] =
                [push.extra, push.direction[0], push.direction[1]].map(|lanes| lanes.lane(i));
            if extra != R::ZERO {
                let e = self.axes[1] * u + self.axes[2] * v;
                block.add_row(e, lane::<R>(arms, i).cross(e), extra, R::ZERO);
            }
        }
    }
}

/// What the points of a patch sum up to for one body, in world axes; `kd = kn - kt`, `q = r x n`.
struct Sums<R> {
    /// `sum kt`.
    across: R,
    /// `sum kd`.
    along: R,
    /// `sum kt r`.
    lever: V3<R>,
    /// `sum kd q`.
    twist: V3<R>,
    /// `sum kt (r.r I - r r^T) + kd q q^T`, as a symmetric matrix is stored.
    aa: [R; 6],
}

impl<R: Real> Sums<R> {
    #[inline(always)]
    fn over(n: V3<R>, arms: &PatchRows<R>, push: &Push<R>) -> Self {
        let [x, y, z] = n.0.map(R::Wide::splat);
        let [rx, ry, rz] = *arms;
        let kt = push.tangent;
        let kd = push.normal - kt;
        let (lx, ly, lz) = (kt * rx, kt * ry, kt * rz);
        let (qx, qy, qz) = (ry * z - rz * y, rz * x - rx * z, rx * y - ry * x);
        let (tx, ty, tz) = (kd * qx, kd * qy, kd * qz);
        let (sx, sy, sz) = (lx * rx, ly * ry, lz * rz);
        Self {
            across: kt.sum(),
            along: kd.sum(),
            lever: V3([lx.sum(), ly.sum(), lz.sum()]),
            twist: V3([tx.sum(), ty.sum(), tz.sum()]),
            aa: [
                (tx * qx + (sy + sz)).sum(),
                (ty * qy + (sx + sz)).sum(),
                (tz * qz + (sx + sy)).sum(),
                (tx * qy - lx * ry).sum(),
                (tx * qz - lx * rz).sum(),
                (ty * qz - ly * rz).sum(),
            ],
        }
    }
}

/// Components by lanes from one vector.
#[inline]
pub(crate) fn put<R: Real>(rows: &mut PatchRows<R>, lane: usize, v: V3<R>) {
    for (row, x) in rows.iter_mut().zip(v.0) {
        row.put(lane, x);
    }
}

/// The vector of one lane.
#[inline]
pub fn lane<R: Real>(rows: &PatchRows<R>, i: usize) -> V3<R> {
    V3([rows[0].lane(i), rows[1].lane(i), rows[2].lane(i)])
}

#[cfg(test)]
mod tests {
    use taut_math::Sym3;

    use taut_collide::frame;
    use taut_model::NodeKind;

    use super::*;

    /// Forces `k C + lambda` without bounds.
    #[derive(Clone, Copy)]
    struct Linear;

    impl ContactLaw<f64> for Linear {
        fn push(&self, patch: &Patch<f64>, value: &PatchRows<f64>) -> Push<f64> {
            let rows = |c: usize| patch.stiffness[c] * value[c] + patch.lambda[c];
            let [k, ku, kv] = patch.stiffness;
            Push {
                force: [rows(0), rows(1), rows(2)],
                normal: k,
                tangent: ku,
                has_extra: true,
                extra: kv - ku,
                direction: [0.0, 1.0].map(Wide::splat),
            }
        }
    }

    fn node(step: V3<f64>) -> SweepNode<f64> {
        SweepNode { step, kind: NodeKind::Body, ..SweepNode::RESTING }
    }

    fn sample() -> Patch<f64> {
        let axes = frame(V3([0.6, 0.0, 0.8]));
        let mut patch = Patch { count: 3, axes, ..Patch::EMPTY };
        for i in 0..3_u8 {
            let (lane, t) = (usize::from(i), f64::from(i));
            put::<f64>(&mut patch.arm_a, lane, V3([-0.5, 0.3 - 0.4 * t, 0.2 + 0.3 * t]));
            put::<f64>(&mut patch.arm_b, lane, V3([0.4, -0.2 + 0.4 * t, 0.1 - 0.5 * t]));
            put::<f64>(&mut patch.start, lane, V3([-0.01 * t, 0.02, -0.03]));
            put::<f64>(&mut patch.lambda, lane, V3([-3.0 - t, 1.0, 2.0 * t]));
            put::<f64>(&mut patch.stiffness, lane, V3([50.0 + t, 20.0, 30.0 - t]));
        }
        patch
    }

    /// `sum k/2 C^2 + lambda C` (Eq. 8).
    fn energy(patch: &Patch<f64>, a: &SweepNode<f64>, b: &SweepNode<f64>) -> f64 {
        let value = patch.value(a, b);
        let lanes = 0..patch.count as usize;
        let rows = (0..3).flat_map(|c| lanes.clone().map(move |i| (c, i)));
        rows.map(|(c, i)| {
            let [x, k, lambda] =
                [value[c], patch.stiffness[c], patch.lambda[c]].map(|lanes| lanes.lane(i));
            k / 2.0 * x * x + lambda * x
        })
        .sum()
    }

    /// Moved along two of its six coordinates at once: one after the other, rotations would add a
    /// commutator.
    fn moved(node: &SweepNode<f64>, i: usize, x: f64, j: usize, y: f64) -> SweepNode<f64> {
        let mut z = [V3::ZERO; 2];
        z[i / 3].0[i % 3] += x;
        z[j / 3].0[j % 3] += y;
        SweepNode { step: node.step + z[0], turn: node.turn.advanced(z[1]), ..*node }
    }

    #[test]
    fn forces_and_blocks_are_derivatives_of_the_energy() {
        let patch = sample();
        let (a, b) = (node(V3([0.01, -0.02, 0.03])), node(V3([-0.02, 0.01, 0.02])));
        for side in [Side::A, Side::B] {
            let at = |i: usize, x: f64, j: usize, y: f64| {
                let turned = |n: &SweepNode<f64>| moved(n, i, x, j, y);
                match side {
                    Side::A => energy(&patch, &turned(&a), &b),
                    Side::B => energy(&patch, &a, &turned(&b)),
                }
            };
            let mut block = Block::default();
            patch.add_to(&mut block, side, &Linear.push(&patch, &patch.value(&a, &b)));
            for i in 0..6 {
                let slope = (at(i, 1e-6, i, 0.0) - at(i, -1e-6, i, 0.0)) / 2e-6;
                let force = if i < 3 { block.fl.0[i] } else { block.fa.0[i - 3] };
                assert!((force + slope).abs() < 1e-6, "{side:?} {i}: {force} {slope}");
                for j in 0..6 {
                    let h = 1e-4;
                    let second = (at(i, h, j, h) - at(i, h, j, -h) - at(i, -h, j, h)
                        + at(i, -h, j, -h))
                        / (4.0 * h * h);
                    let entry = entry(&block, i, j);
                    assert!((entry - second).abs() < 1e-4, "{side:?} {i} {j}: {entry} {second}");
                }
            }
        }
    }

    fn entry(block: &Block<f64>, i: usize, j: usize) -> f64 {
        let symmetric = |s: &Sym3<f64>, i: usize, j: usize| match (i.min(j), i.max(j)) {
            (i, j) if i == j => s.0[i],
            (0, 1) => s.0[3],
            (0, 2) => s.0[4],
            _ => s.0[5],
        };
        match (i / 3, j / 3) {
            (0, 0) => symmetric(&block.ll, i, j),
            (1, 1) => symmetric(&block.aa, i - 3, j - 3),
            (1, 0) => block.al.0[i - 3].0[j],
            _ => block.al.0[j - 3].0[i],
        }
    }
}
