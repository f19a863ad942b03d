// Contacts of a solid with one triangle of a surface. Twin: `touch` in crates/collide/src/mesh.rs.

//#use collide/mesh/types.wgsl
//#use collide/features.wgsl

struct Patch {
    holds: bool,
    normal: vec3<f32>,
}

// A sphere, the first core, on the triangle, the second.
fn touch_sphere(reach: f32) -> Patch {
    let centre = places[0].position;
    let found = nearest(cores[1], local(places[1], centre));
    let normal = normalize(places[1].turn * found.normal);
    let a = centre - normal * cores[0].round;
    let b = point(places[1], found.surface);
    let gap = dot(normal, a - b);
    if gap > reach || !admits(normal, b, scale) {
        return Patch(false, normal);
    }
    push(a, b, gap, name(CLOSEST, 0u, 0u));
    return Patch(true, normal);
}

// The solid, the first core, on the triangle, the second; the normal points to the solid.
fn touch_triangle(reach: f32) -> Patch {
    let up = face_normal(1u, 0u);
    var patch_ = Patch(false, up);
    // What is behind a triangle is not touched.
    if dot(up, support(0u, up) - places[1].position) + cores[0].round < 0.0 {
        return patch_;
    }
    if cores[0].kind == SPHERE {
        return touch_sphere(reach);
    }
    let known = closest(reach + cores[0].round);
    if known.state == DISTANT {
        return patch_;
    }
    var free = known;
    if !admits(known.normal, known.b, scale) {
        free.state = UNUSED;
    }
    let face = best_face(free, known, true);
    if face.holds && (free.state != KNOWN || !is_better_axis(face, free)) {
        on_face(face);
        patch_.normal = face.normal;
        if points == 0u && free.state == KNOWN && face.separation > 0.0 {
            along(free);
            patch_.normal = free.normal;
        }
    } else if free.state == KNOWN {
        along(free);
        patch_.normal = free.normal;
    }
    round_off(patch_.normal, reach);
    patch_.holds = points > 0u;
    return patch_;
}

@compute @workgroup_size(THREADS)
fn touch_meeting(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let c = thread_index(group, groups, THREADS, lane);
    if c >= min(meetings_total[0], task.triangles_room) {
        return;
    }
    let pair = pair_at(meetings[c].x);
    let flipped = bodies[pair.a].kind == MESH;
    var solid = pair.a;
    var surface_ = pair.b;
    places[0] = pair.place_a;
    places[1] = pair.place_b;
    if flipped {
        solid = pair.b;
        surface_ = pair.a;
        places[0] = pair.place_b;
        places[1] = pair.place_a;
    }
    cores[0] = core_of(solid);
    let triangle = triangles[bodies[surface_].triangle_first + meetings[c].y];
    // About its first corner, so that where it is on the surface costs no precision.
    places[1].position = point(places[1], triangle.origin);
    cores[1].kind = TRIANGLE;
    cores[1].corners = array<vec3<f32>, 3>(vec3<f32>(0.0), triangle.b, triangle.c);
    outward = array<vec3<f32>, 3>(triangle.outward_0, triangle.outward_1, triangle.outward_2);
    leans = array<vec2<f32>, 3>(
        vec2<f32>(triangle.sine_0, triangle.cosine_0),
        vec2<f32>(triangle.sine_1, triangle.cosine_1),
        vec2<f32>(triangle.sine_2, triangle.cosine_2),
    );
    scale = bodies[solid].size;
    points = 0u;
    let found_ = touch_triangle(pair.reach);
    var normal = found_.normal;
    if flipped {
        normal = -normal;
        flip(0u);
    }
    drop_distant(pair, normal);
    patches[c] = Found(normal, select(0u, PATCH | points, found_.holds));
    for (var i = 0u; i < points; i++) {
        patch_near[MOST * c + i] = Near(points_a[i], gaps[i]);
        patch_far[MOST * c + i] = Far(points_b[i], names[i]);
    }
}
