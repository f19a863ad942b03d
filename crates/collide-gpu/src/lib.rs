//! Contacts found on a graphics adapter: the same pairs and points as a [`ContactSet`](taut_collide::ContactSet)'s,
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
//!
//! # Where it differs from the CPU
//!
//! Normals and gaps are the CPU's within 1e-5 [1, m], or within what rounding the poses to single precision
//! makes of the CPU's own answer. `crates/collide-gpu/tests/device` holds ten thousand pairs per kind to that,
//! half of them random and half with faces, edges and corners that meet exactly. What is not the same:
//!
//! | what | here | difference |
//! |---|---|---|
//! | closest points of boxes, capsules and triangles | all features are tried, without iteration | none but rounding |
//! | cores that only touch | the axis along which they are farthest apart | the CPU's direction is undefined there |
//! | a line that lies level on a face | told by the angle to its normal | the CPU's bar is a tilt of 1e-10: other points of the line |
//! | scores that choose points | equal within 1e-5, not 1e-6 | another point of a tie |
//! | patches of triangles | joined if no earlier one is alike | chains of normals within a milliradian |
//! | a point on an edge that triangles share | of either | its name |
//! | friction of a pair | the root in single precision | one unit in the last place |

mod broad;
mod feature;
mod layout;
mod narrow;
mod surfaces;
mod world;

use taut_collide::{Contact, ContactList, NONE, Site};
use taut_core::{Scene, Unsupported, Vec3, scene::Shape};
use taut_gpu::{Bindings, Buffer, Clock, Gpu, GpuError, Recorder};

use self::{broad::BroadKernels, narrow::Narrow, world::World};

pub use self::layout::{Counts, Far, Manifold, Near, Pose};

/// Threads per workgroup in [`Answer::groups`].
pub const THREADS: u32 = 64;
/// Places for points per manifold.
pub const LANES: usize = 4;

/// Told where the stages of a query begin.
type Mark<'a> = &'a mut dyn FnMut(&mut Recorder, &'static str);

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

/// What the next answer is matched with: an [`Answer`] as it was, at the same places.
#[derive(Debug)]
pub struct PreviousAnswer {
    /// How much there is: one value.
    pub counts: Buffer<Counts>,
    /// Manifolds by pair.
    pub manifolds: Buffer<Manifold>,
    /// The side of A of every point, four places per manifold.
    pub near: Buffer<Near>,
    /// The name of every point among those of its pair.
    pub features: Buffer<[u32; 2]>,
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
    gpu: Gpu,
    room: Room,
    world: World,
    answer: Answer,
    before: PreviousAnswer,
    /// None for a scene without contacts.
    stages: Option<(BroadKernels, Narrow)>,
    /// Whether the next query repeats one that had no room.
    again: bool,
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
        let mut world = World::new(gpu, scene)?;
        let (answer, before) = (Answer::new(gpu, &room)?, PreviousAnswer::new(gpu, &room)?);
        let stages = match scene.contacts {
            Some(_) => Some(stages(gpu, &mut world, &answer, &before, &room)?),
            None => None,
        };
        Ok(Self { gpu: gpu.clone(), room, world, answer, before, stages, again: false })
    }

    /// Where the bodies are: to be filled before a query runs.
    pub fn poses(&self) -> &Buffer<Pose> {
        &self.world.poses
    }

    /// Not zero for joints that no longer keep their bodies from touching.
    pub fn broken(&self) -> &Buffer<u32> {
        &self.world.broken
    }

    /// The last answer.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// The answer before the last.
    pub fn before(&self) -> &PreviousAnswer {
        &self.before
    }

    /// For how much there is room.
    pub fn room(&self) -> Room {
        self.room
    }

    /// Sets how far ahead queries look [s]. Work that was submitted before is not affected.
    ///
    /// # Errors
    /// When the device is lost.
    #[expect(clippy::cast_possible_truncation, reason = "the step is taken in single precision")]
    pub fn look_ahead(&mut self, dt: f64) -> Result<(), GpuError> {
        self.world.task.dt = dt as f32;
        self.world.write_task(&self.gpu)
    }

    /// Forgets all answers, so that the next one continues none.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn forget(&mut self) -> Result<(), GpuError> {
        self.again = false;
        self.gpu.write(&self.answer.counts, 0, &[Counts::default()])
    }

    /// Records a query.
    pub fn record(&mut self, recorder: &mut Recorder) {
        self.record_marked(recorder, &mut |_, _| {});
    }

    /// Records a query in stages of its own, whose times `clock` takes: `boxes` and the tree over them, `pairs`,
    /// their `order`, `points` of contact, and the `answer` with what it continues.
    pub fn record_timed(&mut self, recorder: &mut Recorder, clock: &mut Clock) {
        self.record_marked(recorder, &mut |recorder, stage| recorder.stage(clock, stage));
    }

    fn record_marked(&mut self, recorder: &mut Recorder, mark: Mark<'_>) {
        let Some((broad, narrow)) = &self.stages else { return };
        if !self.again {
            recorder.copy(&self.answer.counts, &self.before.counts);
            recorder.copy(&self.answer.manifolds, &self.before.manifolds);
            recorder.copy(&self.answer.near, &self.before.near);
            recorder.copy(&self.answer.features, &self.before.features);
        }
        self.again = false;
        narrow.clear(recorder);
        broad.record(recorder, mark);
        narrow.record(recorder, &broad.pairs, mark);
    }

    /// Waits for the last query and says whether it had no room: then the buffers are new, those of the
    /// answer before hold what they held, and the step is to be done again.
    ///
    /// # Errors
    /// When the device is lost, or has no memory for larger buffers.
    pub fn settle(&mut self) -> Result<bool, GpuError> {
        let counts = self.counts()?;
        if counts.short == 0 {
            return Ok(false);
        }
        // Where an early stage had no room, later ones have not said all that they need.
        let larger = |room: usize, needed: u32| {
            if needed as usize > room { needed as usize + needed as usize / 2 } else { room }
        };
        let room = Room {
            pairs: larger(self.room.pairs, counts.pairs_needed),
            manifolds: larger(self.room.manifolds, counts.manifolds_needed),
            triangles: larger(self.room.triangles, counts.triangles_needed),
        };
        self.grow(room)?;
        self.again = true;
        Ok(true)
    }

    /// How much there was to the last query. Waits for it.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn counts(&self) -> Result<Counts, GpuError> {
        let mut counts = vec![];
        self.gpu.read(&self.answer.counts, &mut counts)?;
        Ok(counts[0])
    }

    /// Copies the last answer as the CPU would have given it, with `previous` counted as there.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn read(&self, out: &mut ContactList) -> Result<(), GpuError> {
        out.clear();
        let count = self.counts()?.manifolds as usize;
        let (mut manifolds, mut near, mut far) = (vec![], vec![], vec![]);
        let (mut features, mut before) = (vec![], vec![]);
        self.gpu.read(&self.answer.manifolds, &mut manifolds)?;
        self.gpu.read(&self.answer.near, &mut near)?;
        self.gpu.read(&self.answer.far, &mut far)?;
        self.gpu.read(&self.answer.features, &mut features)?;
        self.gpu.read(&self.before.manifolds, &mut before)?;
        // Where the points of each manifold before began in a list without unused places.
        let begin = |total: &mut u32, m: &Manifold| {
            let first = *total;
            *total += m.count;
            Some(first)
        };
        let starts: Vec<u32> = before.iter().scan(0, begin).collect();
        for (m, manifold) in manifolds[..count].iter().enumerate() {
            let first = out.contacts.len() as u32;
            let normal = Vec3::from(manifold.normal.map(f64::from));
            let owners = [manifold.a, manifold.b];
            for place in (m * LANES..).take(manifold.count as usize) {
                let old = far[place].previous;
                let lane = old % LANES as u32;
                let anchors = [near[place].anchor, far[place].anchor];
                let site = |k: usize| {
                    let anchor = Vec3::from(anchors[k].map(f64::from));
                    Site::Body { node: owners[k], anchor }
                };
                out.contacts.push(Contact {
                    sites: [site(0), site(1)],
                    normal,
                    gap: f64::from(near[place].gap),
                    feature: feature::number(features[place]),
                    previous: if old == NONE { NONE } else { starts[old as usize / LANES] + lane },
                });
            }
            out.manifolds.push(taut_collide::Manifold {
                owners,
                normal,
                contacts: first..first + manifold.count,
                friction: [manifold.friction_static, manifold.friction_dynamic].map(f64::from),
                restitution: f64::from(manifold.restitution),
            });
        }
        Ok(())
    }

    /// Makes all buffers anew and keeps the answer before.
    fn grow(&mut self, room: Room) -> Result<(), GpuError> {
        let answer = Answer::new(&self.gpu, &room)?;
        let before = PreviousAnswer::new(&self.gpu, &room)?;
        let mut recorder = self.gpu.record();
        recorder.copy(&self.before.counts, &before.counts);
        recorder.copy(&self.before.manifolds, &before.manifolds);
        recorder.copy(&self.before.near, &before.near);
        recorder.copy(&self.before.features, &before.features);
        recorder.submit(&mut Clock::default())?;
        self.stages = Some(stages(&self.gpu, &mut self.world, &answer, &before, &room)?);
        (self.answer, self.before, self.room) = (answer, before, room);
        Ok(())
    }
}

/// The stages of a query over buffers of this room.
fn stages(
    gpu: &Gpu,
    world: &mut World,
    answer: &Answer,
    before: &PreviousAnswer,
    room: &Room,
) -> Result<(BroadKernels, Narrow), GpuError> {
    let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    world.task.pairs_room = narrow(room.pairs);
    world.task.manifolds_room = narrow(room.manifolds);
    world.task.triangles_room = narrow(room.triangles);
    world.write_task(gpu)?;
    let broad = BroadKernels::new(gpu, world, answer, room)?;
    let narrow = Narrow::new(gpu, world, &broad.pairs, (answer, before), room)?;
    Ok((broad, narrow))
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

    fn bind<'a>(&'a self, bindings: Bindings<'a>) -> Bindings<'a> {
        bindings
            .with("counts", &self.counts)
            .with("manifolds", &self.manifolds)
            .with("near", &self.near)
            .with("far", &self.far)
            .with("features", &self.features)
            .with("groups_out", &self.groups)
    }
}

impl PreviousAnswer {
    fn new(gpu: &Gpu, room: &Room) -> Result<Self, GpuError> {
        let points = room.manifolds * LANES;
        Ok(Self {
            counts: gpu.buffer("counts of contacts before", 1)?,
            manifolds: gpu.buffer("manifolds before", room.manifolds)?,
            near: gpu.buffer("contacts on A before", points)?,
            features: gpu.buffer("features of contacts before", points)?,
        })
    }

    fn bind<'a>(&'a self, bindings: Bindings<'a>) -> Bindings<'a> {
        bindings
            .with("counts_before", &self.counts)
            .with("manifolds_before", &self.manifolds)
            .with("near_before", &self.near)
            .with("features_before", &self.features)
    }
}
