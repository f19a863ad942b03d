// Patches from what the search found: what continues a point of the step before keeps its multiplier, stiffness
// and drift. Twin: `Maker` in crates/descent/src/contacts.rs.

//#use descent/patches.wgsl
//#use descent/pose.wgsl

@group(0) @binding(18) var<storage, read> manifolds: array<Manifold>;
@group(0) @binding(19) var<storage, read> near: array<Near>;
@group(0) @binding(20) var<storage, read> far: array<Far>;
@group(0) @binding(21) var<storage, read> patches_before: array<Patch>;
@group(0) @binding(22) var<storage, read> backings_before: array<Backing>;
// The nodes of each patch, for the graph.
@group(0) @binding(25) var<storage, read_write> pairs: array<vec2<u32>>;

// Gap of lanes without a point [m].
const NOWHERE: f32 = 1e6;

// A tangent that is the same for equal normals.
fn tangent(n: vec3<f32>) -> vec3<f32> {
    // Away from the axis that is closest to the normal, so that the cross product is well scaled.
    let across = select(vec3<f32>(0.0, n.z, -n.y), vec3<f32>(-n.z, 0.0, n.x), abs(n.x) > abs(n.y));
    return keep(across * (1.0 / norm3(across)));
}

// What a point continues, in the axes of the new patch.
fn continue_point(made: ptr<function, Patch>, backing: ptr<function, Backing>, i: u32, previous: u32, slip: f32) {
    let old = previous / LANES;
    let lane = previous % LANES;
    let sticks = (patches_before[old].state >> (STICKS + lane)) & 1u;
    (*made).state |= sticks << (STICKS + i);
    (*made).stiffness[0][i] = patches_before[old].stiffness[0][lane];
    (*made).stiffness[1][i] = patches_before[old].stiffness[1][lane];
    let t = patches_before[old].first_tangent;
    let w = patches_before[old].second_tangent;
    let pull = keep(t * patches_before[old].lambda[1][lane] + w * patches_before[old].lambda[2][lane]);
    (*made).lambda[0][i] = patches_before[old].lambda[0][lane];
    (*made).lambda[1][i] = dot3((*made).first_tangent, pull);
    (*made).lambda[2][i] = dot3((*made).second_tangent, pull);
    if sticks == 0u {
        (*made).friction[i] = slip;
        return;
    }
    let drag = keep(t * backings_before[old].drift[0][lane] + w * backings_before[old].drift[1][lane]);
    (*backing).drift[0][i] = dot3((*made).first_tangent, drag);
    (*backing).drift[1][i] = dot3((*made).second_tangent, drag);
}

fn inverse_mass(n: u32) -> f32 {
    if n < constants.moving {
        return 1.0 / bases[n].mass;
    }
    return 0.0;
}

@compute @workgroup_size(THREADS)
fn make(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let p = thread_index(group, groups, THREADS, local);
    nothing = constants.nothing;
    if p >= extent.patches {
        return;
    }
    let found = manifolds[p];
    let a = members[found.a];
    let b = members[found.b];
    var made: Patch;
    made.node_a = a.node;
    made.node_b = b.node;
    made.normal = found.normal;
    made.first_tangent = tangent(found.normal);
    made.second_tangent = cross3(made.normal, made.first_tangent);
    made.state = found.count;
    made.friction = vec4<f32>(found.friction_static);
    var backing: Backing;
    backing.gap = vec4<f32>(NOWHERE);
    // For the method, which puts its ramp there.
    let mass = 1.0 / (inverse_mass(a.node) + inverse_mass(b.node));
    backing.ramp = vec4<f32>(mass, smaller(a.length, b.length), found.friction_dynamic, 0.0);
    for (var i = 0u; i < found.count; i++) {
        let from_a = near[LANES * p + i];
        let from_b = far[LANES * p + i];
        let arm_a = quat_rotate(bases[a.node].rotation, from_a.anchor);
        let arm_b = quat_rotate(bases[b.node].rotation, from_b.anchor);
        for (var c = 0u; c < 3u; c++) {
            made.arm_a[c][i] = arm_a[c];
            made.arm_b[c][i] = arm_b[c];
        }
        backing.gap[i] = from_a.gap;
        if from_b.previous != NONE {
            continue_point(&made, &backing, i, from_b.previous, found.friction_dynamic);
        }
    }
    made.start[0] = backing.gap;
    made.start[1] = backing.drift[0];
    made.start[2] = backing.drift[1];
    pairs[p] = vec2<u32>(a.node, b.node);
    patches[p] = made;
    backings[p] = backing;
}
