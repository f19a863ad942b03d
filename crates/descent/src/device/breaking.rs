//! Joints that let go, on a device.

use bytemuck::{Pod, Zeroable};
use taut_core::Scene;
use taut_gpu::{Bindings, Buffer, Call, Gpu, GpuError, Recorder};
use taut_math::Number;
use taut_model::{Owner, breakable, narrow};

use super::spec::Breaking;
use crate::element::Definition;

/// As `shaders/descent/break.wgsl` has it.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
struct Joint {
    first: u32,
    last: u32,
    force: f32,
    torque: f32,
}

/// What makes joints let go.
pub(super) struct Breaker {
    pub(super) when: Breaking,
    broken: Buffer<u32>,
    call: Call,
    _joints: Buffer<Joint>,
}

impl Breaker {
    /// `None` for a scene whose joints all hold.
    pub(super) fn new(
        gpu: &Gpu,
        scene: &Scene,
        definitions: &[Definition],
        bindings: Bindings<'_>,
        when: Breaking,
    ) -> Result<Option<Self>, GpuError> {
        if !breakable(scene) {
            return Ok(None);
        }
        let joints = gpu.upload("joints", &joints(scene, definitions))?;
        let broken = gpu.buffer("broken joints", joints.len())?;
        let bindings = bindings.with("joints", &joints).with("broken", &broken);
        let call = gpu.call("descent/break.wgsl", "let_go", &bindings)?;
        Ok(Some(Self { when, broken, call, _joints: joints }))
    }

    /// Not zero for joints that have let go.
    pub(super) fn broken(&self) -> &Buffer<u32> {
        &self.broken
    }

    pub(super) fn record(&self, recorder: &mut Recorder) {
        recorder.run(&self.call, self.broken.len());
    }

    pub(super) fn upload(&self, gpu: &Gpu, broken: &[bool]) -> Result<(), GpuError> {
        let all: Vec<u32> = broken.iter().map(|&broken| u32::from(broken)).collect();
        gpu.write(&self.broken, 0, &all)
    }

    pub(super) fn take_over(&self, gpu: &Gpu, broken: &mut [bool]) -> Result<(), GpuError> {
        let mut all = vec![];
        gpu.read(&self.broken, &mut all)?;
        broken.iter_mut().zip(all).for_each(|(broken, read)| *broken = read != 0);
        Ok(())
    }
}

/// Where the elements of each joint are, and what it bears.
fn joints(scene: &Scene, definitions: &[Definition]) -> Vec<Joint> {
    // Shaders need not know infinity; no force is larger than this.
    let bears = |most: f64| f32::of(most).min(3.4e38);
    let mut next = 0;
    let one = |(j, joint): (usize, &taut_core::scene::Joint)| {
        let first = next;
        while definitions.get(next).is_some_and(|d| d.owner == Owner::Joint(narrow(j))) {
            next += 1;
        }
        Joint {
            first: narrow(first),
            last: narrow(next),
            force: bears(joint.break_force),
            torque: bears(joint.break_torque),
        }
    };
    scene.joints.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_are_those_of_the_shader() {
        taut_gpu::assert_layout!("descent/break.wgsl", Joint { first, last, force, torque });
    }
}
