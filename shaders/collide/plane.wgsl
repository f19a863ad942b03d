// Contacts of a half-space with convex solids: the corners of the feature that is lowest. Twin:
// crates/collide/src/plane.rs.

//#use collide/touch.wgsl

fn height(plane: Place, up: vec3<f32>, corner: vec3<f32>, round: f32, reach: f32, id: u32) {
    let a = corner - up * round;
    let height = dot(up, a - plane.position);
    if height <= reach {
        let b = a - up * height;
        push(a, b, dot(up, a - b), name(CORNER_A, id, 0u));
    }
}

// The solid `i` over a half-space, with `a` on the solid; the normal points up.
fn over(i: u32, place: Place, plane: Place, reach: f32) -> vec3<f32> {
    let body = bodies[i];
    let up = plane.turn[2];
    if body.kind == SPHERE {
        height(plane, up, place.position, body.round, reach, 0u);
    } else if body.kind == CAPSULE {
        let arm = place.turn * vec3<f32>(0.0, 0.0, body.half.z);
        height(plane, up, place.position - arm, body.round, reach, 0u);
        height(plane, up, place.position + arm, body.round, reach, 1u);
    } else {
        var down = -up * place.turn;
        let size = abs(down);
        var axis = select(2u, 1u, size.y >= size.z);
        if size.x >= size.y && size.x >= size.z {
            axis = 0u;
        }
        // Counterclockwise about the outward normal, which turns over for the lower face.
        let sign = select(-1.0, 1.0, down[axis] >= 0.0);
        let u = (axis + 1u) % 3u;
        let v = (axis + 2u) % 3u;
        for (var c = 0u; c < 4u; c++) {
            var corner = body.half;
            corner[axis] *= sign;
            corner[u] *= select(sign, -sign, c == 1u || c == 2u);
            corner[v] *= select(1.0, -1.0, c >= 2u);
            let bits = select(vec3<u32>(0u), vec3<u32>(1u, 2u, 4u), corner > vec3<f32>(0.0));
            height(plane, up, point(place, corner), 0.0, reach, bits.x | bits.y | bits.z);
        }
    }
    return up;
}

@compute @workgroup_size(THREADS)
fn plane(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let k = thread_index(group, groups, THREADS, lane);
    let both = kinds_at(k);
    let kind_a = both / 8u;
    let kind_b = both % 8u;
    if !(kind_b == PLANE && kind_a <= CAPSULE) && !(kind_a == PLANE && kind_b <= CAPSULE) {
        return;
    }
    let pair = pair_at(k);
    points = 0u;
    var normal: vec3<f32>;
    if kind_b == PLANE {
        normal = over(pair.a, pair.place_a, pair.place_b, pair.reach);
    } else {
        normal = -over(pair.b, pair.place_b, pair.place_a, pair.reach);
        flip(0u);
    }
    finish(k, pair, normal);
}
