//! What goes to a device and what comes back.

use taut_core::SolverError;
use taut_gpu::GpuError;
use taut_math::{Number, Q4, V3};
use taut_model::{NodeKind, Owner, Rotation, driven_turn};
use taut_model_gpu::fault;

use super::{Device, layout};
use crate::{
    node::{Base, SweepNode},
    options::{InertiaFrame, InitialGuess},
};

impl Device {
    pub(super) fn upload(&mut self) -> Result<(), GpuError> {
        let system = &mut self.system;
        for index in 0..system.elements.len() {
            let held = match system.definitions[index].owner {
                Owner::Joint(joint) => !system.broken[joint as usize],
                Owner::Spring(_) => true,
            };
            system.elements[index].active = held;
            system.elements[index].stiffness = V3([self.starts[index].stiffness; 3]);
        }
        let nodes: Vec<_> = system.nodes.iter().map(layout::Node::of).collect();
        let ends = system.incidences.iter().zip(&system.anchors);
        let incidences: Vec<_> =
            ends.map(|(end, &anchor)| layout::Incidence::of(end, anchor)).collect();
        let all = system.elements.iter().zip(&system.definitions);
        let all = all.zip(&system.local_bases).zip(self.starts.iter().zip(&self.kinds));
        let elements: Vec<_> = all
            .map(|(((element, definition), local), (start, &kind))| {
                layout::Element::of(element, definition, local, start, kind)
            })
            .collect();
        if let Some(breaker) = &self.breaker {
            breaker.upload(&self.gpu, &system.broken)?;
        }
        if let Some(finder) = self.contacts.as_ref().and_then(|c| c.finder.as_ref()) {
            let broken: Vec<u32> = system.broken.iter().map(|&b| u32::from(b)).collect();
            self.gpu.write(finder.detector.broken(), 0, &broken)?;
        }
        self.gpu.write(&self.buffers.nodes, 0, &nodes)?;
        self.upload_bases(0.0)?;
        self.gpu.write(&self.buffers.incidences, 0, &incidences)?;
        self.gpu.write(&self.buffers.elements, 0, &elements)
    }

    /// Takes on a step length: constants, and how driven bodies turn in it.
    pub(super) fn change_step(&mut self, dt: f64) -> Result<(), GpuError> {
        self.flush()?;
        if self.dt != 0.0 {
            self.take_over()?;
        }
        self.dt = dt;
        if let Some(finder) = self.contacts.as_mut().and_then(|c| c.finder.as_mut()) {
            finder.detector.look_ahead(dt)?;
        }
        let constants = self.constants(dt);
        self.gpu.write(&self.buffers.constants, 0, &[constants])?;
        self.upload_bases(f64::from(constants.h))
    }

    /// Writes where nodes are, and how driven bodies turn in a step of length `h` [s].
    fn upload_bases(&self, h: f64) -> Result<(), GpuError> {
        let of = |(base, node): (&Base<f32>, &SweepNode<f32>)| {
            let driven = node.kind == NodeKind::Driven;
            let turn = if driven { driven_turn(base.omega.to_f64() * h) } else { Q4::IDENTITY };
            layout::Base::of(base, driven, turn)
        };
        let bases: Vec<_> = self.system.nodes_base.iter().zip(&self.system.nodes).map(of).collect();
        self.gpu.write(&self.buffers.bases, 0, &bases)
    }

    /// Gives pulled bodies the velocity of a step of length `dt` [s] before it starts, for which all motion
    /// comes and goes once.
    pub(super) fn pull(&mut self, dt: f64) -> Result<(), SolverError> {
        if self.system.pulls.is_empty() {
            return Ok(());
        }
        self.wait()?;
        self.take_over().map_err(fault)?;
        let system = &mut self.system;
        system.begin_pulls();
        let h = f32::of(dt);
        for (body, wrench) in system.pulls.iter() {
            let base = &mut system.nodes_base[system.layout.bodies()[body] as usize];
            *base = base.kicked(&wrench, h, system.options.frame);
        }
        self.upload_bases(f64::from(h)).map_err(fault)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the step is taken in single precision")]
    fn constants(&self, dt: f64) -> layout::Constants {
        let (system, h) = (&self.system, dt as f32);
        let size = system.gravity.norm();
        layout::Constants {
            gravity: system.gravity.0,
            h,
            square: h * h,
            inverse_h: 1.0 / h,
            inverse_square: 1.0 / (h * h),
            followed: h * size * size,
            nodes: system.nodes.len() as u32,
            moving: system.layout.colours.last().map_or(0, |&last| last as u32),
            elements: system.elements.len() as u32,
            gyroscopic: u32::from(system.options.gyroscopic),
            adaptive: u32::from(system.options.start == InitialGuess::Adaptive),
            world_inertia: u32::from(system.options.frame == InertiaFrame::World),
            cayley: u32::from(system.options.rotation == Rotation::Cayley),
            gamma: self.decay[0],
            retain: self.decay[1],
            lanes: system.options.lanes_per_body,
            ..layout::Constants::default()
        }
    }

    /// Takes motion and forces over from the device.
    pub(super) fn take_over(&mut self) -> Result<(), GpuError> {
        self.settle()?;
        let (mut nodes, mut bases, mut elements) = (vec![], vec![], vec![]);
        self.gpu.read(&self.buffers.nodes, &mut nodes)?;
        self.gpu.read(&self.buffers.bases, &mut bases)?;
        self.gpu.read(&self.buffers.elements, &mut elements)?;
        let system = &mut self.system;
        system.nodes.iter_mut().zip(&nodes).for_each(|(node, read)| read.write_to(node));
        system.nodes_base.iter_mut().zip(&bases).for_each(|(base, read)| read.write_to(base));
        system.elements.iter_mut().zip(&elements).for_each(|(e, read)| read.write_to(e));
        if let Some(breaker) = &self.breaker {
            breaker.take_over(&self.gpu, &mut system.broken)?;
        }
        Ok(())
    }

    /// Takes lever arms, joint bases and contacts over, which only forces need.
    pub(super) fn take_ends_over(&mut self) -> Result<(), GpuError> {
        let (mut ends, mut elements) = (vec![], vec![]);
        self.gpu.read(&self.buffers.incidences, &mut ends)?;
        self.gpu.read(&self.buffers.elements, &mut elements)?;
        let system = &mut self.system;
        system.incidences.iter_mut().zip(&ends).for_each(|(end, read)| read.write_to(end));
        system.bases.iter_mut().zip(&elements).for_each(|(bases, read)| *bases = read.bases());
        if let (Some(contacts), Some(touch)) = (&self.contacts, &mut system.contacts) {
            contacts.take_over(&self.gpu, touch)?;
        }
        Ok(())
    }
}
