//! What of bodies, particles and what is made of particles decides with whom they touch, and how.

use taut_core::scene::{Body, Motion, Particle, Skin};

use crate::narrow::Rubbing;

/// What of a body decides with whom it touches, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    motion: Motion,
    group: Option<u32>,
    friction: [f64; 2],
    restitution: f64,
}

impl Traits {
    pub(crate) fn of(body: &Body) -> Self {
        Self {
            motion: body.motion,
            group: body.group,
            friction: [body.material.friction_static, body.material.friction_dynamic],
            restitution: body.material.restitution,
        }
    }

    pub(crate) fn of_particle(particle: &Particle) -> Self {
        let Skin { material, group, .. } = particle.touch.unwrap_or_default();
        Self {
            motion: if particle.mass > 0.0 { Motion::Dynamic } else { Motion::Static },
            group,
            friction: [material.friction_static, material.friction_dynamic],
            restitution: material.restitution,
        }
    }

    /// Those of a triangle or an edge with such corners.
    pub(crate) fn of_corners<const N: usize>(corners: [&Self; N]) -> Self {
        let moves = corners.iter().any(|corner| corner.motion == Motion::Dynamic);
        let sum = |k: usize| corners.iter().map(|corner| corner.friction[k]).sum::<f64>();
        let mean = |k: usize| sum(k) / N as f64;
        let group = corners[0].group;
        Self {
            motion: if moves { Motion::Dynamic } else { Motion::Static },
            group: group.filter(|_| corners.iter().all(|corner| corner.group == group)),
            friction: [mean(0), mean(1)],
            restitution: corners.iter().map(|corner| corner.restitution).fold(0.0, f64::max),
        }
    }

    /// Whether bodies touch where they meet, unless a joint keeps them from it.
    pub(crate) fn may_touch(&self, other: &Self) -> bool {
        let moves = self.motion == Motion::Dynamic || other.motion == Motion::Dynamic;
        moves && (self.group.is_none() || self.group != other.group)
    }
}

/// Coefficients of a pair.
pub(crate) fn surface(a: &Traits, b: &Traits) -> Rubbing {
    Rubbing {
        friction: [0, 1].map(|k| (a.friction[k] * b.friction[k]).sqrt()),
        restitution: a.restitution.max(b.restitution),
    }
}
