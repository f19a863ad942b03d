// What the stages of a Jacobi step share. Twins: crates/jacobi/src/layout.rs.

//#use shared/index.wgsl
//#use shared/math.wgsl

const STATIC: u32 = 0u;
const DYNAMIC: u32 = 1u;
const KINEMATIC: u32 = 2u;

struct StepData {
    gravity: vec3<f32>,
    // Length of the step [s].
    h: f32,
    // Share of each correction that is taken, over the length of the step [1/s].
    rate: f32,
    // Share of the error to be taken away, over the length of the step [1/s].
    drift: f32,
    gyroscopic: u32,
    // Whether velocities start from the multipliers at hand, or multipliers from zero.
    warm: u32,
    bodies: u32,
    joints: u32,
    // Zero, see shared/math.wgsl.
    nothing: u32,
    pad: u32,
}

// What is true of a body in every step.
struct BodyData {
    inertia: array<f32, 6>,
    inverse_inertia: array<f32, 6>,
    inverse_mass: f32,
    // Its range among the ends of joints.
    first: u32,
    last: u32,
    motion: u32,
}

struct MotionData {
    position: vec3<f32>,
    pad_0: f32,
    rotation: vec4<f32>,
    velocity: vec3<f32>,
    pad_1: f32,
    omega: vec3<f32>,
    pad_2: f32,
}

struct VelocityData {
    linear: vec3<f32>,
    pad_0: f32,
    angular: vec3<f32>,
    pad_1: f32,
}

struct JointData {
    a: u32,
    b: u32,
    // A broken joint is not.
    holds: u32,
    anchor_a: array<f32, 3>,
    anchor_b: array<f32, 3>,
}

// What a joint needs in the iterations of one step.
struct PreparedData {
    arm_a: array<f32, 3>,
    arm_b: array<f32, 3>,
    inverse: array<f32, 6>,
    bias: array<f32, 3>,
}

@group(0) @binding(0) var<uniform> constants: StepData;
@group(0) @binding(1) var<storage, read> bodies: array<BodyData>;
@group(0) @binding(2) var<storage, read> joints: array<JointData>;
@group(0) @binding(3) var<storage, read> ends: array<u32>;
@group(0) @binding(4) var<storage, read_write> motions: array<MotionData>;
@group(0) @binding(5) var<storage, read_write> inertias: array<array<f32, 6>>;
@group(0) @binding(6) var<storage, read_write> free: array<VelocityData>;
@group(0) @binding(7) var<storage, read_write> velocities: array<VelocityData>;
@group(0) @binding(8) var<storage, read_write> prepared: array<PreparedData>;
@group(0) @binding(9) var<storage, read_write> multipliers: array<array<f32, 3>>;
// How bodies with a prescribed motion turn in a step; the identity for others.
@group(0) @binding(10) var<storage, read> turns: array<vec4<f32>>;

const THREADS: u32 = 64u;
