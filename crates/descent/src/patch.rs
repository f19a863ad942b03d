//! One patch of contact: up to four points of two bodies that share a normal.
//!
//! The rows of a point are the gap along the normal and the displacement along two tangents, as a
//! Taylor series at the step's start (AVBD section 4, Eq. 15): `C = C0 + JA dxA + JB dxB` with lever
//! arms that stay as they were, because the points of round bodies do not turn with them. Everything is
//! kept in the axes of the contact, normal first, and by lanes, so that four points cost little more
//! than one.
//!
//! Signs: the normal points from B to A and pressure has a negative force; it acts on A along `-F`.

use crate::{block::Block, math::V3, node::Node, real::Real, row::Side};

/// Points per patch.
pub const LANES: usize = 4;

/// One number per point.
pub type Lanes<R> = [R; LANES];

/// One vector per point, component by component: normal, first and second tangent.
pub type Rows<R> = [Lanes<R>; 3];

/// Up to four contacts of one pair of bodies.
#[derive(Clone, Copy, Debug)]
pub struct Patch<R> {
    /// Nodes of A and B.
    pub nodes: [u32; 2],
    /// How many of the lanes are in use; the others exert nothing.
    pub count: u32,
    /// Normal and two tangents in the world, right-handed.
    pub axes: [V3<R>; 3],
    /// Arms from the centre of A at the step's start, in the axes of the contact [m].
    pub arm_a: Rows<R>,
    /// The same for B.
    pub arm_b: Rows<R>,
    /// Values of the rows at the step's start, as far as they are to be corrected [m].
    pub start: Rows<R>,
    /// Multipliers [N].
    pub lambda: Rows<R>,
    /// Penalty stiffness [N/m].
    pub stiffness: Rows<R>,
    /// Coefficient of friction in this step [1]: static, or dynamic for points that slid in the last.
    pub friction: Lanes<R>,
    /// Which points hold without sliding.
    pub sticks: [bool; LANES],
}

/// Forces of a patch and how they change with its rows.
#[derive(Clone, Copy, Debug)]
pub struct Push<R> {
    /// Force per row [N].
    pub force: Rows<R>,
    /// Stiffness along the normal [N/m].
    pub normal: Lanes<R>,
    /// Stiffness along the first and the second tangent and between them [N/m].
    pub tangent: Rows<R>,
}

impl<R: Real> Push<R> {
    /// No force and no stiffness.
    pub const NONE: Self = Self {
        force: [[R::ZERO; LANES]; 3],
        normal: [R::ZERO; LANES],
        tangent: [[R::ZERO; LANES]; 3],
    };
}

/// How a method turns the values of the rows into forces.
pub trait ContactLaw<R>: Copy + Sync {
    /// Whether arms follow the current rotation instead of staying as they were.
    const ARMS_TURN: bool = false;

    /// The forces at row values `value`; lanes beyond the patch's count are not read.
    fn push(&self, patch: &Patch<R>, value: &Rows<R>) -> Push<R>;
}

/// Motion of a body since the step's start, in the axes of a contact.
#[derive(Clone, Copy)]
struct Motion<R> {
    step: V3<R>,
    turn: V3<R>,
}

impl<R: Real> Patch<R> {
    /// A patch without points.
    pub const EMPTY: Self = Self {
        nodes: [0, 0],
        count: 0,
        axes: [V3::ZERO; 3],
        arm_a: [[R::ZERO; LANES]; 3],
        arm_b: [[R::ZERO; LANES]; 3],
        start: [[R::ZERO; LANES]; 3],
        lambda: [[R::ZERO; LANES]; 3],
        stiffness: [[R::ZERO; LANES]; 3],
        friction: [R::ZERO; LANES],
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

    #[inline(always)]
    fn motion(&self, node: &Node<R>) -> Motion<R> {
        Motion { step: self.local(node.step), turn: self.local(node.turn.v * R::TWO) }
    }

    /// Values of the rows at the current iterate.
    #[inline(always)]
    pub fn value(&self, a: &Node<R>, b: &Node<R>) -> Rows<R> {
        let (a, b) = (self.motion(a), self.motion(b));
        let apart = a.step - b.step;
        let ([an, a1, a2], [bn, b1, b2]) = (a.turn.0, b.turn.0);
        let mut value = self.start;
        for i in 0..LANES {
            let (rn, r1, r2) = (self.arm_a[0][i], self.arm_a[1][i], self.arm_a[2][i]);
            let (sn, s1, s2) = (self.arm_b[0][i], self.arm_b[1][i], self.arm_b[2][i]);
            value[0][i] += apart.0[0] + ((a1 * r2 - a2 * r1) - (b1 * s2 - b2 * s1));
            value[1][i] += apart.0[1] + ((a2 * rn - an * r2) - (b2 * sn - bn * s2));
            value[2][i] += apart.0[2] + ((an * r1 - a1 * rn) - (bn * s1 - b1 * sn));
        }
        value
    }

    /// The patch with its arms turned along with the bodies.
    pub fn turned(&self, a: &Node<R>, b: &Node<R>) -> Self {
        let mut turned = *self;
        for (arms, node) in [(&mut turned.arm_a, a), (&mut turned.arm_b, b)] {
            for i in 0..self.count as usize {
                let arm = self.world(V3([arms[0][i], arms[1][i], arms[2][i]]));
                let moved = self.local(node.turn.rotate(arm));
                for c in 0..3 {
                    arms[c][i] = moved.0[c];
                }
            }
        }
        turned
    }

    /// Adds the patch to the block of the body on one side (Eq. 5 and 6 without second derivatives,
    /// which vanish for a Taylor series).
    #[inline(always)]
    pub fn add_to(&self, block: &mut Block<R>, side: Side, push: &Push<R>) {
        let arms = if side == Side::A { &self.arm_a } else { &self.arm_b };
        let sums = Sums::over(arms, push);
        let sign = if side == Side::A { -R::ONE } else { R::ONE };
        block.fl += self.world(sums.force) * sign;
        block.fa += self.world(sums.torque) * sign;
        let [n, u, v] = self.axes;
        let [kn, ku, kv, kuv] = sums.ll;
        add_symmetric(&mut block.ll.0, [n, u, v], [n * kn, u * ku + v * kuv, u * kuv + v * kv]);
        let rows = sums.al.map(|[x, y, z]| n * x + u * y + v * z);
        for p in 0..3 {
            let row = rows[0] * n.0[p] + rows[1] * u.0[p] + rows[2] * v.0[p];
            block.al.0[p] += row;
        }
        let [nn, uu, vv, nu, nv, uv] = sums.aa;
        let columns =
            [n * nn + u * nu + v * nv, n * nu + u * uu + v * uv, n * nv + u * uv + v * vv];
        add_symmetric(&mut block.aa.0, [n, u, v], columns);
    }
}

/// Adds `sum axes[i] columns[i]^T`, known to be symmetric.
#[inline(always)]
fn add_symmetric<R: Real>(into: &mut [R; 6], axes: [V3<R>; 3], columns: [V3<R>; 3]) {
    let [n, u, v] = axes;
    let [a, b, c] = columns;
    let entry = |i: usize, j: usize| n.0[i] * a.0[j] + u.0[i] * b.0[j] + v.0[i] * c.0[j];
    into[0] += entry(0, 0);
    into[1] += entry(1, 1);
    into[2] += entry(2, 2);
    into[3] += entry(0, 1);
    into[4] += entry(0, 2);
    into[5] += entry(1, 2);
}

/// What the points of a patch sum up to for one body, in the axes of the contact.
struct Sums<R> {
    force: V3<R>,
    torque: V3<R>,
    /// `sum K`: nn, uu, vv, uv.
    ll: [R; 4],
    /// `sum [r]x K`.
    al: [[R; 3]; 3],
    /// `sum [r]x K [r]x^T`: nn, uu, vv, nu, nv, uv.
    aa: [R; 6],
}

impl<R: Real> Sums<R> {
    #[inline(always)]
    fn over(arms: &Rows<R>, push: &Push<R>) -> Self {
        let z = [R::ZERO; LANES];
        let (mut tn, mut tu, mut tv) = (z, z, z);
        let (mut a01, mut a02, mut a10, mut a11, mut a12) = (z, z, z, z, z);
        let (mut a20, mut a21, mut a22) = (z, z, z);
        let (mut nn, mut uu, mut vv, mut nu, mut nv, mut uv) = (z, z, z, z, z, z);
        for i in 0..LANES {
            let (rn, ru, rv) = (arms[0][i], arms[1][i], arms[2][i]);
            let (fn_, fu, fv) = (push.force[0][i], push.force[1][i], push.force[2][i]);
            tn[i] = ru * fv - rv * fu;
            tu[i] = rv * fn_ - rn * fv;
            tv[i] = rn * fu - ru * fn_;
            let k = push.normal[i];
            let (ku, kv, kuv) = (push.tangent[0][i], push.tangent[1][i], push.tangent[2][i]);
            // Rows of [r]x K.
            a01[i] = ru * kuv - rv * ku;
            a02[i] = ru * kv - rv * kuv;
            a10[i] = rv * k;
            a11[i] = -(rn * kuv);
            a12[i] = -(rn * kv);
            a20[i] = -(ru * k);
            a21[i] = rn * ku;
            a22[i] = rn * kuv;
            nn[i] = a02[i] * ru - a01[i] * rv;
            nu[i] = -(rn * a02[i]);
            nv[i] = rn * a01[i];
            uu[i] = rv * a10[i] - rn * a12[i];
            uv[i] = ru * -a10[i] + rn * a11[i];
            vv[i] = rn * a21[i] - ru * a20[i];
        }
        let [fn_, fu, fv] = push.force;
        let [ku, kv, kuv] = push.tangent;
        let zero = R::ZERO;
        Self {
            force: V3([sum(fn_), sum(fu), sum(fv)]),
            torque: V3([sum(tn), sum(tu), sum(tv)]),
            ll: [sum(push.normal), sum(ku), sum(kv), sum(kuv)],
            al: [
                [zero, sum(a01), sum(a02)],
                [sum(a10), sum(a11), sum(a12)],
                [sum(a20), sum(a21), sum(a22)],
            ],
            aa: [sum(nn), sum(uu), sum(vv), sum(nu), sum(nv), sum(uv)],
        }
    }
}

#[inline(always)]
fn sum<R: Real>(lanes: Lanes<R>) -> R {
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}

/// Two tangents that complete a unit normal to a right-handed basis, the same for equal normals.
pub fn tangents<R: Real>(n: V3<R>) -> [V3<R>; 2] {
    let [x, y, z] = n.0;
    // Away from the axis that is closest to the normal, so that the cross product is well scaled.
    let across = if x.abs() > y.abs() { V3([-z, R::ZERO, x]) } else { V3([R::ZERO, z, -y]) };
    let u = across * (R::ONE / across.norm());
    [u, n.cross(u)]
}

/// Components by lanes from one vector.
#[inline]
pub(crate) fn put<R: Real>(rows: &mut Rows<R>, lane: usize, v: V3<R>) {
    for c in 0..3 {
        rows[c][lane] = v.0[c];
    }
}

/// The vector of one lane.
#[inline]
pub fn lane<R: Real>(rows: &Rows<R>, i: usize) -> V3<R> {
    V3([rows[0][i], rows[1][i], rows[2][i]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        math::{Q4, Sym3},
        node::{Acted, NodeKind},
    };

    /// Forces `k C + lambda` without bounds.
    #[derive(Clone, Copy)]
    struct Linear;

    impl ContactLaw<f64> for Linear {
        fn push(&self, patch: &Patch<f64>, value: &Rows<f64>) -> Push<f64> {
            let mut push = Push::NONE;
            for i in 0..LANES {
                for (c, row) in value.iter().enumerate() {
                    push.force[c][i] = patch.stiffness[c][i] * row[i] + patch.lambda[c][i];
                }
                push.normal[i] = patch.stiffness[0][i];
                push.tangent[0][i] = patch.stiffness[1][i];
                push.tangent[1][i] = patch.stiffness[2][i];
            }
            push
        }
    }

    fn node(step: V3<f64>) -> Node<f64> {
        Node {
            step,
            turn: Q4::IDENTITY,
            target_step: V3::ZERO,
            target_turn: Q4::IDENTITY,
            mass: 0.0,
            inertia: Sym3::ZERO,
            incidences: [0, 0],
            kind: NodeKind::Body,
            acted: Acted::ByAny,
        }
    }

    fn sample() -> Patch<f64> {
        let n = V3([0.6, 0.0, 0.8]);
        let [u, v] = tangents(n);
        let mut patch = Patch { count: 3, axes: [n, u, v], ..Patch::EMPTY };
        for i in 0..3_u8 {
            let (lane, t) = (usize::from(i), f64::from(i));
            put(&mut patch.arm_a, lane, V3([-0.5, 0.3 - 0.4 * t, 0.2 + 0.3 * t]));
            put(&mut patch.arm_b, lane, V3([0.4, -0.2 + 0.4 * t, 0.1 - 0.5 * t]));
            put(&mut patch.start, lane, V3([-0.01 * t, 0.02, -0.03]));
            put(&mut patch.lambda, lane, V3([-3.0 - t, 1.0, 2.0 * t]));
            put(&mut patch.stiffness, lane, V3([50.0 + t, 20.0, 30.0 - t]));
        }
        patch
    }

    /// `sum k/2 C^2 + lambda C` (Eq. 8).
    fn energy(patch: &Patch<f64>, a: &Node<f64>, b: &Node<f64>) -> f64 {
        let value = patch.value(a, b);
        let lanes = 0..patch.count as usize;
        let rows = (0..3).flat_map(|c| lanes.clone().map(move |i| (c, i)));
        rows.map(|(c, i)| {
            let x = value[c][i];
            patch.stiffness[c][i] / 2.0 * x * x + patch.lambda[c][i] * x
        })
        .sum()
    }

    /// Moved along two of its six coordinates at once: one after the other, rotations would add a
    /// commutator.
    fn moved(node: &Node<f64>, i: usize, x: f64, j: usize, y: f64) -> Node<f64> {
        let mut z = [V3::ZERO; 2];
        z[i / 3].0[i % 3] += x;
        z[j / 3].0[j % 3] += y;
        Node { step: node.step + z[0], turn: node.turn.advanced(z[1]), ..*node }
    }

    #[test]
    fn forces_and_blocks_are_derivatives_of_the_energy() {
        let patch = sample();
        let (a, b) = (node(V3([0.01, -0.02, 0.03])), node(V3([-0.02, 0.01, 0.02])));
        for side in [Side::A, Side::B] {
            let at = |i: usize, x: f64, j: usize, y: f64| {
                let turned = |n: &Node<f64>| moved(n, i, x, j, y);
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

    #[test]
    fn tangents_complete_any_normal() {
        for n in
            [V3([0.0, 0.0, 1.0]), V3([0.0, -1.0, 0.0]), V3([1.0, 0.0, 0.0]), V3([0.48, 0.6, -0.64])]
        {
            let [u, v] = tangents(n);
            assert!((u.norm() - 1.0).abs() < 1e-15 && u.dot(n).abs() < 1e-15);
            assert!((n.cross(u) - v).norm() < 1e-15);
        }
    }
}
