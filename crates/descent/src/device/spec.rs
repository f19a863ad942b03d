//! What a method wants of a device.

use taut_core::{BuildError, Scene, Unsupported};

use crate::collision::Collision;

/// When joints are asked how hard they pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaking {
    /// After every sweep.
    EverySweep,
    /// At the end of a step.
    EveryStep,
}

impl Collision {
    /// What was asked for, or the device wherever it knows all shapes of a scene.
    ///
    /// # Errors
    /// When the device is asked for what it cannot do.
    pub fn choose(asked: Option<Self>, scene: &Scene) -> Result<Self, BuildError> {
        match (asked, taut_collide_gpu::supports(scene)) {
            (Some(Self::Host), _) | (None, Err(_)) => Ok(Self::Host),
            (Some(Self::Device) | None, Ok(())) => Ok(Self::Device),
            (Some(Self::Device), Err(Unsupported(why))) => {
                Err(BuildError::Settings(format!("collision is host for this scene: {why}")))
            }
        }
    }
}

/// A method's kernels of contacts: a shader with the entry points `sweep` (one colour, by nodes),
/// `sweep_rest` (the colours from one on, by one workgroup), `warm_start` (before the first sweep, by
/// patches) and `update` (after each sweep, by patches).
#[derive(Clone, Copy, Debug)]
pub struct ContactKernels {
    /// Where the shader is.
    pub shader: &'static str,
    /// Entry point that runs by patches once the iterations are over.
    pub follow: Option<&'static str>,
    /// Entry point that sets all error to be corrected, by patches, for a last sweep.
    pub stabilise: Option<&'static str>,
}

/// What a method wants of a device besides its kernels.
#[derive(Clone, Copy, Debug)]
pub struct DeviceSpec {
    /// When joints are asked how hard they pull.
    pub breaking: Breaking,
    /// Whether each step ends with a sweep that corrects the error that is left without making it velocity.
    pub stabilise: bool,
    /// What of stiffness and of multipliers is kept from step to step.
    pub decay: [f32; 2],
    /// Where contacts are searched for.
    pub collision: Collision,
    /// Shader with the kernels `warm_start` and `update` over all elements, where there is something to do.
    pub elements: Option<&'static str>,
}

/// How an element starts from a state that was loaded.
#[derive(Clone, Copy, Debug, Default)]
pub struct ElementStart {
    /// Share of the error at a step's start that is left uncorrected.
    pub kept: f32,
    /// Stiffness [N/m or N m/rad].
    pub stiffness: f32,
    /// Whether the multiplier is all of the force after an update.
    pub takes_over: bool,
}
