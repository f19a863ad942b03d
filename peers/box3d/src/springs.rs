//! Linear springs, with the scene's stiffness and damping.
//!
//! The engine's springs have a frequency and a damping ratio, whose stiffness follows the mass that they move. That
//! mass is found once a step, so both are set before each for what they move then.

use std::f64::consts::TAU;

use box3d_sys as b3;

use crate::{
    joints::{LOOSE, SHORTEST_M, inverse_mass},
    scene,
    vector::{Place, Vector, cross, form, from_matrix, from_quat, scaled, sum, to_transform, turn},
};

pub(crate) struct Spring {
    id: b3::b3JointId,
    ends: [(b3::b3BodyId, Vector); 2],
    stiffness: f64,
    damping: f64,
}

impl Spring {
    /// Says why it cannot be made.
    pub(crate) fn add(
        world: b3::b3WorldId,
        spring: &scene::Spring,
        ends: [b3::b3BodyId; 2],
    ) -> Result<Self, String> {
        let rest = spring.rest_length_m;
        if rest < SHORTEST_M {
            return Err(format!("rests at {rest} m, and Box3D takes {SHORTEST_M} m at least"));
        }
        let anchors = [spring.anchor_a, spring.anchor_b];
        let frames = anchors.map(|x| to_transform(&Place { x, ..Place::HERE }));
        // SAFETY: world and bodies live as long as the model, and the definition is the engine's own.
        let id = unsafe {
            let mut def = b3::b3DefaultDistanceJointDef();
            [def.base.bodyIdA, def.base.bodyIdB] = ends;
            [def.base.localFrameA, def.base.localFrameB] = frames;
            // Springs keep nothing apart.
            def.base.collideConnected = true;
            def.length = rest as f32;
            def.enableSpring = true;
            b3::b3CreateDistanceJoint(world, &raw const def)
        };
        let ends = [(ends[0], anchors[0]), (ends[1], anchors[1])];
        let (stiffness, damping) = (spring.stiffness, spring.damping);
        Ok(Self { id, ends, stiffness, damping })
    }

    /// Sets frequency and damping ratio for the mass that it moves now.
    pub(crate) fn tune(&self) {
        let [(a, turned_a, at_a), (b, turned_b, at_b)] = self.ends.map(|(id, anchor)| {
            // SAFETY: the body lives as long as the model.
            let (x, q) = unsafe { (b3::b3Body_GetPosition(id), b3::b3Body_GetRotation(id)) };
            let lever = turn(from_quat(q), anchor);
            (id, lever, sum([x.x, x.y, x.z].map(f64::from), lever))
        });
        let line = sum(at_b, scaled(at_a, -1.0));
        let length = line.iter().map(|c| c * c).sum::<f64>().sqrt();
        let axis = if length > 0.0 { scaled(line, 1.0 / length) } else { [0.0; 3] };
        let slowness: f64 = [(a, turned_a), (b, turned_b)]
            .map(|(id, lever)| {
                // SAFETY: as above.
                let inertia = unsafe { b3::b3Body_GetWorldInverseRotationalInertia(id) };
                inverse_mass(id) + form(&from_matrix(&inertia), cross(lever, axis))
            })
            .iter()
            .sum();
        let rate = (self.stiffness * slowness).sqrt().max(LOOSE);
        let ratio = self.damping * slowness / (2.0 * rate);
        // SAFETY: the joint lives as long as the model.
        unsafe {
            b3::b3DistanceJoint_SetSpringHertz(self.id, (rate / TAU) as f32);
            b3::b3DistanceJoint_SetSpringDampingRatio(self.id, ratio as f32);
        }
    }
}
