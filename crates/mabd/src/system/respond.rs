//! What each body does by itself: its rotation, its local inverse, and where it would go without joints.

use taut_core::{Mat3, Vec3};
use taut_math::LANES;

use super::{StepScheme, System};
use crate::{
    body::BodyKind,
    free::{FreeResponse, GroupTable},
    local::Root,
    node::Nodes,
    polar,
    settings::Polar,
    simd::{self, Once},
};

/// Makes room for what all bodies do by themselves, and tells their constants, anchors aside; those of a point mass where a
/// group is not full.
pub(super) fn constants(nodes: &mut Nodes) -> GroupTable {
    nodes.make_room();
    let filler = BodyKind::particle(1.0);
    let kind = |node: usize| if node < nodes.count() { *nodes.kind(node) } else { filler };
    let groups = nodes.count().div_ceil(LANES);
    GroupTable::new(groups, |node| (kind(node), Vec3::zeros(), Vec3::zeros()))
}

impl System {
    /// From co-rotated to world increments.
    #[inline(always)]
    pub(super) fn turn_back(&self, node: usize, rotation: &Mat3, local: &Mat3) -> Mat3 {
        match self.physics.polar {
            Polar::Exact | Polar::NewtonSchulz => rotation * local,
            Polar::Blockwise => {
                let frame = self.nodes.place(node as u32).frame;
                polar::blockwise(frame.data.0, local.data.0).into()
            }
        }
    }

    /// Inertia over the squared step along the principal axes, with what tension adds [kg m^2/s^2].
    #[inline(always)]
    pub(super) fn stiff(&self, node: usize, scheme: &StepScheme) -> Vec3 {
        let inertia = self.nodes.kind(node).inertia(scheme.h);
        match self.physics.geometric {
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
        kind.softened(self.physics.softness_min, &kind.inertia(scheme.h))
    }

    /// A root of the inverse of a body's local matrix.
    pub(super) fn root(&self, node: usize, scheme: &StepScheme) -> Root {
        if self.is_elastic(node) {
            return Root::of_point(self.nodes.kind(node).mass, scheme.h);
        }
        Root::new(&self.softened(node, scheme), &self.stiff(node, scheme), scheme.h)
    }

    /// How many columns that has.
    pub(super) fn columns(&self, node: usize) -> usize {
        if self.is_elastic(node) {
            return Root::POINT;
        }
        let kind = self.nodes.kind(node);
        Root::columns(&kind.softened(self.physics.softness_min, &kind.second))
    }

    /// All bodies by themselves.
    pub(super) fn respond(&mut self, scheme: &StepScheme) {
        self.constants.set_step(scheme.h, self.physics.softness_min);
        let mut responses = std::mem::take(&mut self.nodes.responses);
        let task = self.physics.task(scheme, &self.before);
        let (bodies, _) = self.nodes.bodies(task.before);
        let (constants, polar) = (&self.constants, self.physics.polar);
        let once = Once;
        simd::dispatch(
            #[inline(always)]
            || {
                once.spend();
                for (group, responses) in responses.chunks_mut(LANES).enumerate() {
                    let free = FreeResponse::new(
                        &bodies,
                        constants.at(group).constants,
                        &task,
                        group,
                        polar,
                    );
                    for (k, response) in responses.iter_mut().enumerate() {
                        *response = free.response(k);
                    }
                }
            },
        );
        self.nodes.responses = responses;
    }
}
