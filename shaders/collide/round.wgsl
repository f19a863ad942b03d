// Contacts of spheres with everything convex, and of capsules with each other: closed forms. Twin:
// crates/collide/src/round.rs.

//#use collide/nearest.wgsl

// Appends the contact of a sphere with a solid, with `a` on the sphere; the normal points to the sphere.
fn sphere(centre: vec3<f32>, radius: f32, core: Core, place: Place, reach: f32) -> vec3<f32> {
    let found = nearest(core, local(place, centre));
    let normal = normalize(place.turn * found.normal);
    let a = centre - normal * radius;
    let b = point(place, found.surface) + normal * core.round;
    let gap = dot(normal, a - b);
    if gap <= reach {
        push(a, b, gap, name(CLOSEST, 0u, 0u));
    }
    return normal;
}

// Appends one point of two capsules, or two where they lie side by side; the normal points to A.
fn capsules(a: Core, place_a: Place, b: Core, place_b: Place) -> vec3<f32> {
    let axis_a = place_a.turn[2];
    let axis_b = place_b.turn[2];
    let a0 = place_a.position - axis_a * a.half.z;
    let a1 = place_a.position + axis_a * a.half.z;
    let b0 = place_b.position - axis_b * b.half.z;
    let b1 = place_b.position + axis_b * b.half.z;
    let on = segments(a0, a1, b0, b1);
    // Axes that cross have no direction between them; across both is where they are thinnest.
    var otherwise = cross(axis_a, axis_b);
    if length(otherwise) <= 1e-6 {
        var unit = vec3<f32>(0.0, 0.0, 1.0);
        let size = abs(axis_a);
        if size.x <= size.y && size.x <= size.z {
            unit = vec3<f32>(1.0, 0.0, 0.0);
        } else if size.y <= size.z {
            unit = vec3<f32>(0.0, 1.0, 0.0);
        }
        otherwise = cross(axis_a, unit);
    }
    // Below this is only rounding, and no direction.
    let size = a.half.z + b.half.z + length(place_b.position - place_a.position);
    var normal = normalize(otherwise);
    if length(on.a - on.b) > 1e-7 * size {
        normal = between(on, normal).unit;
    }
    let lines = beside(a0, a1, b0, b1, normal);
    if lines.holds {
        round_off(a, place_a, lines.low.a, b, place_b, lines.low.b, normal, name(LINE, 0u, 0u));
        round_off(a, place_a, lines.high.a, b, place_b, lines.high.b, normal, name(LINE, 1u, 1u));
    } else {
        round_off(a, place_a, on.a, b, place_b, on.b, normal, name(CLOSEST, 0u, 0u));
    }
    return normal;
}

// From points on the cores to one on the surfaces.
fn round_off(
    a: Core, place_a: Place, on_a: vec3<f32>, b: Core, place_b: Place, on_b: vec3<f32>,
    normal: vec3<f32>, id: u32,
) {
    let from_ = surface(a, place_a, on_a, -normal);
    let to = surface(b, place_b, on_b, normal);
    push(from_, to, dot(normal, from_ - to), id);
}

@compute @workgroup_size(THREADS)
fn round(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let k = thread_index(group, groups, THREADS, lane);
    let both = kinds_at(k);
    let kind_a = both / 8u;
    let kind_b = both % 8u;
    let has_sphere = (kind_a == SPHERE && kind_b <= CAPSULE) || (kind_b == SPHERE && kind_a <= CAPSULE);
    if !has_sphere && both != kinds(CAPSULE, CAPSULE) {
        return;
    }
    let pair = pair_at(k);
    points = 0u;
    var normal: vec3<f32>;
    if kind_a == SPHERE {
        let core = core_of(pair.b);
        normal = sphere(vec3<f32>(0.0), bodies[pair.a].round, core, pair.place_b, pair.reach);
    } else if kind_b == SPHERE {
        let core = core_of(pair.a);
        let centre = pair.place_b.position;
        normal = -sphere(centre, bodies[pair.b].round, core, pair.place_a, pair.reach);
        flip(0u);
    } else {
        normal = capsules(core_of(pair.a), pair.place_a, core_of(pair.b), pair.place_b);
    }
    finish(k, pair, normal);
}
