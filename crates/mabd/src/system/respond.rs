//! What each body does by itself: its rotation, its local inverse, and where it would go without joints.

use taut_core::{Mat3, Vec3};

use super::{StepScheme, System};
use crate::{
    affine::Affine,
    body::BodyKind,
    local::{LocalInverse, Root},
    node::NodeResponse,
    polar,
    settings::Polar,
};

impl System {
    /// From co-rotated to world increments.
    #[inline(always)]
    pub(super) fn turn_back(&self, node: usize, rotation: &Mat3, local: &Mat3) -> Mat3 {
        match self.polar {
            Polar::Exact | Polar::NewtonSchulz => rotation * local,
            Polar::Blockwise => {
                let frame = self.nodes.place(node as u32).frame;
                blockwise(&frame, local)
            }
        }
    }

    /// Where free motion leads, as a displacement since the start of the step.
    #[inline(always)]
    fn aim(&self, node: usize, scheme: &StepScheme) -> Affine {
        let rate = self.nodes.rate.get(node);
        let Some([moved, slower]) = self.before.as_ref().filter(|_| scheme.two_step) else {
            return rate.times(scheme.h);
        };
        // q~ = (4 q_n - q_(n-1)) / 3 + 2 h / 3 (4 v_n - v_(n-1)) / 3.
        let speed = rate.times(4.0 / 3.0).plus(&slower.get(node), -1.0 / 3.0);
        speed.times(scheme.h).plus(&moved.get(node), 1.0 / 3.0)
    }

    /// Inertia over the squared step along the principal axes, with what tension adds [kg m^2/s^2].
    #[inline(always)]
    pub(super) fn stiff(&self, node: usize, scheme: &StepScheme) -> Vec3 {
        let inertia = self.nodes.kind(node).inertia(scheme.h);
        match self.geometric {
            None => inertia,
            // Only what exceeds a share of the inertia, so that slow modes keep their energy.
            Some(share) => inertia.zip_map(&self.nodes.tension(node), |s, tension| {
                s + (tension - share * s).max(0.0)
            }),
        }
    }

    /// A body as soft as its solve takes it.
    #[inline(always)]
    fn softened(&self, node: usize, scheme: &StepScheme) -> BodyKind {
        let kind = self.nodes.kind(node);
        kind.softened(self.softness_min, &kind.inertia(scheme.h))
    }

    /// A root of the inverse of a body's local matrix.
    pub(super) fn root(&self, node: usize, scheme: &StepScheme) -> Root {
        Root::new(&self.softened(node, scheme), &self.stiff(node, scheme), scheme.h)
    }

    /// How many columns that has.
    pub(super) fn columns(&self, node: usize) -> usize {
        let kind = self.nodes.kind(node);
        Root::columns(&kind.softened(self.softness_min, &kind.second))
    }

    /// The body alone: its rotation, its local inverse and where it would go without joints.
    ///
    /// With the strain `sigma = 1 - sym(R^T A)` the elastic load is `K sigma`, so that the increment is
    /// `sigma + H^-1 (R^T r - S' sigma)`: nothing cancels however stiff the body is, and the limit of
    /// rigid ones is the same formula.
    #[inline(always)]
    pub(super) fn respond(&mut self, node: usize, scheme: &StepScheme) {
        let (kind, moved) = (self.nodes.kind(node), self.nodes.moved.get(node));
        let frame = self.nodes.start.get(node).frame + moved.frame;
        let rotation = match self.polar {
            Polar::Exact => polar::exact(&frame),
            Polar::NewtonSchulz | Polar::Blockwise => polar::single(&frame),
        };
        let inertia = kind.inertia(scheme.h);
        let stiff = self.stiff(node, scheme);
        let local = LocalInverse::of(&self.softened(node, scheme), &stiff);
        let aim = self.aim(node, scheme);
        let left = aim.frame - moved.frame;
        let push = Mat3::from_columns(&[
            left.column(0) * inertia.x,
            left.column(1) * inertia.y,
            left.column(2) * inertia.z,
        ]);
        let (sigma, turned) = match self.polar {
            Polar::Blockwise => {
                let strain = frame.tr_mul(&frame) - Mat3::identity();
                (strain * -0.5, blockwise(&frame.transpose(), &push))
            }
            Polar::Exact | Polar::NewtonSchulz => {
                let stretch = rotation.tr_mul(&frame);
                let symmetric = (stretch + stretch.transpose()) * 0.5;
                (Mat3::identity() - symmetric, rotation.tr_mul(&push))
            }
        };
        let held = Mat3::from_columns(&[
            sigma.column(0) * stiff.x,
            sigma.column(1) * stiff.y,
            sigma.column(2) * stiff.z,
        ]);
        let fall = self.gravity * (scheme.h * scheme.h);
        let free = Affine {
            frame: sigma + local.under(&(turned - held)),
            origin: aim.origin - moved.origin + fall,
        };
        self.nodes.responses[node] = NodeResponse { rotation, local, free, load: Affine::ZERO };
    }
}

/// Turns each column by the frame and gives it back its length (Alg. 1).
#[inline(always)]
fn blockwise(frame: &Mat3, columns: &Mat3) -> Mat3 {
    let turned = frame * columns;
    let scale = |i: usize| {
        let (before, after) = (columns.column(i).norm(), turned.column(i).norm());
        if after > 0.0 { before / after } else { 0.0 }
    };
    Mat3::from_columns(&[
        turned.column(0) * scale(0),
        turned.column(1) * scale(1),
        turned.column(2) * scale(2),
    ])
}
