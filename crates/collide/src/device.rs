//! Contacts found on a graphics adapter: the same pairs and points as a [`Collider`](crate::Collider)'s,
//! in single precision and in the same order.
//!
//! A [`Detector`] owns [`poses`](Detector::poses), which the caller's kernels fill, one per body of the
//! scene, and [`broken`](Detector::broken), one number per joint. [`Detector::record`] appends one query to
//! a recording: nothing is read back, and nobody waits. The [`Answer`] then lies on the device:
//!
//! - `counts`: how many manifolds there are (`manifolds`), and whether there was room (`short`).
//! - `manifolds`: sorted by pair, as the CPU's list; those of one pair follow each other. As there, A is the
//!   body with the lower index and the normal points from B to A.
//! - `near` and `far`: four places per manifold, the first `count` of them in use. Place `4 m + i` is what
//!   [`Far::previous`] of the next answer calls this point; so a solver that keeps multipliers,
//!   stiffness and drift at the same places of its own buffers finds them there in the next step.
//! - `features`: which features meet, unique among the points of a pair, for matching only.
//! - `groups`: workgroups of [`THREADS`] threads, one thread per manifold, for an indirect dispatch.
//!
//! The answer before is kept in [`Detector::before`], at the same places. A solver that keeps something per
//! point copies its own buffers likewise before it fills them anew.
//!
//! # When there is no room
//!
//! Buffers have a size that the host chose. A query that needs more says so in `counts`, claims no manifold
//! and leaves the answer before as it was. Between steps the host calls [`Detector::settle`], which reads
//! `counts` (the only read-back, 32 bytes) and, where there was no room, makes larger buffers and says so.
//! The caller then restores its own state from before the step, binds the new buffers and does the step
//! again: the next query of a detector that grew is the same query as the one that failed.

mod layout;

use taut_core::{Scene, Unsupported, scene::Shape};
use taut_gpu::{Buffer, Gpu, GpuError, Recorder};

pub use self::layout::{Counts, Far, Manifold, Near, Pose};

/// Threads per workgroup in [`Answer::groups`].
pub const THREADS: u32 = 64;
/// Places for points per manifold.
pub const LANES: usize = 4;

/// Contacts on a device.
#[derive(Debug)]
pub struct Answer {
    /// How much there is: one value.
    pub counts: Buffer<Counts>,
    /// Manifolds by pair.
    pub manifolds: Buffer<Manifold>,
    /// The side of A of every point, four places per manifold.
    pub near: Buffer<Near>,
    /// The side of B of every point, and what it continues.
    pub far: Buffer<Far>,
    /// The name of every point among those of its pair.
    pub features: Buffer<[u32; 2]>,
    /// Workgroups with one thread per manifold: three numbers.
    pub groups: Buffer<u32>,
}

/// For how much there is room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Pairs of bodies that are close.
    pub pairs: usize,
    /// Manifolds.
    pub manifolds: usize,
    /// Pairs of a body and a triangle that are close.
    pub triangles: usize,
}

impl Room {
    /// What most scenes with this many bodies get along with.
    pub fn of(scene: &Scene) -> Self {
        let bodies = scene.bodies.len();
        let meshes = scene.bodies.iter().any(|b| matches!(b.shape, Shape::Mesh { .. }));
        Self {
            pairs: 8 * bodies + 64,
            manifolds: 4 * bodies + 64,
            triangles: if meshes { 8 * bodies + 64 } else { 0 },
        }
    }
}

/// Finds the contacts of one scene's bodies on a device.
#[derive(Debug)]
pub struct Detector {
    poses: Buffer<Pose>,
    broken: Buffer<u32>,
    answer: Answer,
    before: Answer,
}

/// Whether the device can find a scene's contacts.
///
/// # Errors
/// Names the shape or the setting that it has no shader for.
pub fn supports(scene: &Scene) -> Result<(), Unsupported> {
    let Some(contacts) = scene.contacts else { return Ok(()) };
    let refuse = |why: String| Err(Unsupported(why));
    if contacts.points_max as usize > LANES {
        let most = contacts.points_max;
        return refuse(format!("points_max is {most}, and patches on the adapter hold {LANES}"));
    }
    for (i, body) in scene.bodies.iter().enumerate() {
        let shape = match body.shape {
            Shape::Cylinder { .. } => "a cylinder",
            Shape::Hull { .. } => "a convex hull",
            Shape::Compound { .. } => "a compound",
            _ => continue,
        };
        return refuse(format!("body {i} is {shape}, whose contacts no shader finds yet"));
    }
    Ok(())
}

impl Detector {
    /// A detector for a scene that [`supports`] admits.
    ///
    /// # Errors
    /// When the device has no room.
    pub fn new(gpu: &Gpu, scene: &Scene, room: Room) -> Result<Self, GpuError> {
        Ok(Self {
            poses: gpu.buffer("poses of bodies", scene.bodies.len())?,
            broken: gpu.buffer("broken joints", scene.joints.len())?,
            answer: Answer::new(gpu, &room)?,
            before: Answer::new(gpu, &room)?,
        })
    }

    /// Where the bodies are: to be filled before a query runs.
    pub fn poses(&self) -> &Buffer<Pose> {
        &self.poses
    }

    /// Not zero for joints that no longer keep their bodies from touching.
    pub fn broken(&self) -> &Buffer<u32> {
        &self.broken
    }

    /// The last answer.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// The answer before the last.
    pub fn before(&self) -> &Answer {
        &self.before
    }

    /// Sets how far ahead queries look [s]. Work that was submitted before is not affected.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn look_ahead(&mut self, _dt: f64) -> Result<(), GpuError> {
        Ok(())
    }

    /// Forgets all answers, so that the next one continues none.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn forget(&mut self) -> Result<(), GpuError> {
        Ok(())
    }

    /// Records a query.
    pub fn record(&mut self, recorder: &mut Recorder) {
        recorder.clear(&self.answer.counts);
        recorder.clear(&self.answer.groups);
    }

    /// Waits for the last query and says whether it had no room: then the buffers are new, those of the
    /// answer before hold what they held, and the step is to be done again.
    ///
    /// # Errors
    /// When the device is lost, or has no memory for larger buffers.
    pub fn settle(&mut self, _gpu: &Gpu) -> Result<bool, GpuError> {
        Ok(false)
    }
}

impl Answer {
    fn new(gpu: &Gpu, room: &Room) -> Result<Self, GpuError> {
        let points = room.manifolds * LANES;
        Ok(Self {
            counts: gpu.buffer("counts of contacts", 1)?,
            manifolds: gpu.buffer("manifolds", room.manifolds)?,
            near: gpu.buffer("contacts on A", points)?,
            far: gpu.buffer("contacts on B", points)?,
            features: gpu.buffer("features of contacts", points)?,
            groups: gpu.buffer("workgroups over manifolds", 3)?,
        })
    }
}
