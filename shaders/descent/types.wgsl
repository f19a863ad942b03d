// What the stages of a descent step share. Twins: crates/descent/src/device/layout.rs.

//#use shared/index.wgsl
//#use shared/kinds.wgsl
//#use shared/math.wgsl

const BODY: u32 = 0u;
const PARTICLE: u32 = 1u;
const FIXED: u32 = 2u;

const BY_POINTS: u32 = 0u;
const BY_BLOCKS: u32 = 1u;
const BY_ANY: u32 = 2u;

const HOLD: u32 = 0u;
const LIMIT: u32 = 1u;
const MOTOR: u32 = 2u;

const ACTIVE: u32 = 1u;
const CURVED: u32 = 2u;
const RESCALED: u32 = 4u;
// The multiplier is all of the force after an update.
const TAKES_OVER: u32 = 8u;

struct Constants {
    gravity: vec3<f32>,
    // Length of the step [s], its square, and the inverses of both.
    h: f32,
    square: f32,
    inverse_h: f32,
    inverse_square: f32,
    // What turns a speed gained into the share of gravity that was followed [s/m].
    followed: f32,
    nodes: u32,
    elements: u32,
    gyroscopic: u32,
    // Whether steps start with as much of gravity as the last step followed.
    adaptive: u32,
    // Whether the inertia tensor is turned to the world.
    world_inertia: u32,
    cayley: u32,
    // Zero, see shared/math.wgsl.
    nothing: u32,
    // Nodes that forces move: those before this one.
    moving: u32,
    // Of the method: what is kept of stiffness and of multipliers from step to step.
    gamma: f32,
    retain: f32,
    // Partial sums over the ends of a node that has many.
    lanes: u32,
    pad_3: u32,
}

// The nodes of one colour. Where contacts change the colouring, only its index counts.
struct Colour {
    first: u32,
    count: u32,
    index: u32,
    pad_1: u32,
}

// Motion since the step's start, and inertia.
struct Node {
    step: vec3<f32>,
    mass: f32,
    turn: vec4<f32>,
    target_step: vec3<f32>,
    kind: u32,
    target_turn: vec4<f32>,
    inertia: array<f32, 6>,
    first: u32,
    last: u32,
    acted: u32,
    pad_0: u32,
    pad_1: u32,
    pad_2: u32,
}

// What of a node changes only from step to step.
struct Base {
    position: vec3<f32>,
    mass: f32,
    rotation: vec4<f32>,
    velocity: vec3<f32>,
    kinematic: u32,
    omega: vec3<f32>,
    pad_0: u32,
    previous: vec3<f32>,
    pad_1: u32,
    // How a driven body turns in a step.
    drive: vec4<f32>,
    inertia: array<f32, 6>,
    pad_2: u32,
    pad_3: u32,
}

// One end of an element.
struct Incidence {
    element: u32,
    other: u32,
    twin: u32,
    is_b: u32,
    arm: vec3<f32>,
    node: u32,
    arm_change: vec3<f32>,
    pad_0: u32,
    anchor: vec3<f32>,
    pad_1: u32,
}

struct Element {
    lambda: vec3<f32>,
    lower: f32,
    stiffness: vec3<f32>,
    upper: f32,
    offset: vec3<f32>,
    rest: f32,
    shift: vec3<f32>,
    // Share of the error at the step's start that is not corrected.
    kept: f32,
    basis_a: vec4<f32>,
    basis_b: vec4<f32>,
    local_a: vec4<f32>,
    local_b: vec4<f32>,
    kind: u32,
    flags: u32,
    role: u32,
    node_a: u32,
    node_b: u32,
    end_a: u32,
    end_b: u32,
    // An angle, at the last start of a step: full turns are counted from there.
    counted: f32,
    // Bounds of a limit, or speed and effort of a motor.
    least: f32,
    most: f32,
    pad_0: u32,
    pad_1: u32,
}

@group(0) @binding(0) var<uniform> constants: Constants;
@group(0) @binding(1) var<uniform> colour: Colour;
@group(0) @binding(2) var<storage, read_write> nodes: array<Node>;
@group(0) @binding(3) var<storage, read_write> bases: array<Base>;
@group(0) @binding(4) var<storage, read_write> incidences: array<Incidence>;
@group(0) @binding(5) var<storage, read_write> elements: array<Element>;

const THREADS: u32 = 64u;

// As `Real::max` and `Real::min` choose.
fn larger(a: f32, b: f32) -> f32 {
    if a > b {
        return a;
    }
    return b;
}

fn smaller(a: f32, b: f32) -> f32 {
    if a < b {
        return a;
    }
    return b;
}
