// The surface point of a core nearest to a point, and rounded surfaces. Twins: crates/collide/src/nearest.rs,
// `surface` in crates/collide/src/convex.rs, `side_by_side` in crates/collide/src/round.rs.

//#use collide/touch.wgsl
//#use collide/segments.wgsl

const TRIANGLE: u32 = 5u;

// A convex shape without its rounding: a point, a segment along z, a box or a triangle.
struct Core {
    kind: u32,
    half: vec3<f32>,
    round: f32,
    corners: array<vec3<f32>, 3>,
}

struct Nearest {
    surface: vec3<f32>,
    normal: vec3<f32>,
    distance: f32,
}

fn core_of(i: u32) -> Core {
    var core: Core;
    core.kind = bodies[i].kind;
    core.half = bodies[i].half;
    core.round = bodies[i].round;
    return core;
}

fn outside(at: vec3<f32>, surface: vec3<f32>, otherwise: vec3<f32>) -> Nearest {
    let found = direction(at - surface, otherwise);
    return Nearest(surface, found.unit, found.length);
}

fn triangle_normal(corners: array<vec3<f32>, 3>) -> vec3<f32> {
    return direction(cross(corners[1] - corners[0], corners[2] - corners[0]), vec3<f32>(0.0, 0.0, 1.0)).unit;
}

// A triangle has a surface on both sides, but its inside is everything straight below.
fn nearest_triangle(corners: array<vec3<f32>, 3>, at: vec3<f32>) -> Nearest {
    let normal = triangle_normal(corners);
    var list = corners;
    var beyond = false;
    var best = vec3<f32>(0.0);
    var least = HUGE;
    for (var k = 0u; k < 3u; k++) {
        let p = list[k];
        let q = list[(k + 1u) % 3u];
        beyond = beyond || dot(cross(q - p, normal), at - p) > 0.0;
        let on = on_segment(p, q, at);
        let square = dot(at - on, at - on);
        if square < least {
            best = on;
            least = square;
        }
    }
    if !beyond {
        let height = dot(normal, at - list[0]);
        return Nearest(at - normal * height, normal, height);
    }
    return outside(at, best, normal);
}

fn nearest(core: Core, at: vec3<f32>) -> Nearest {
    if core.kind == SPHERE {
        return outside(at, vec3<f32>(0.0), vec3<f32>(0.0, 0.0, 1.0));
    }
    if core.kind == CAPSULE {
        let on = vec3<f32>(0.0, 0.0, clamp(at.z, -core.half.z, core.half.z));
        return outside(at, on, vec3<f32>(1.0, 0.0, 0.0));
    }
    if core.kind == TRIANGLE {
        return nearest_triangle(core.corners, at);
    }
    let clamped = clamp(at, -core.half, core.half);
    if any(clamped != at) {
        return outside(at, clamped, vec3<f32>(0.0, 0.0, 1.0));
    }
    let depth = core.half - abs(at);
    var unit = vec3<f32>(0.0, 0.0, 1.0);
    if depth.x <= depth.y && depth.x <= depth.z {
        unit = vec3<f32>(1.0, 0.0, 0.0);
    } else if depth.y <= depth.z {
        unit = vec3<f32>(0.0, 1.0, 0.0);
    }
    let normal = select(unit, -unit, dot(unit, at) < 0.0);
    let least = smallest(depth);
    return Nearest(at + normal * least, normal, -least);
}

// The surface point of a rounded core that is farthest along a direction, of those that are nearest to a
// point of the core: beside an axis, only what is across it counts.
fn surface(core: Core, place: Place, on: vec3<f32>, towards: vec3<f32>) -> vec3<f32> {
    if core.kind != CAPSULE {
        return on + towards * core.round;
    }
    let axis = place.turn[2];
    let along = dot(axis, towards);
    let at = dot(axis, on - place.position);
    // The outer half of either end is a sphere.
    if at * along > 0.0 && abs(at) >= core.half.z * (1.0 - 1e-6) {
        return on + towards * core.round;
    }
    return on + direction(towards - axis * along, towards).unit * core.round;
}

// Whether two nearly parallel lines run side by side, seen along a normal, and the pairs of points at either
// end of that, ordered along A.
struct Beside {
    holds: bool,
    low: Ends,
    high: Ends,
}

fn beside(a0: vec3<f32>, a1: vec3<f32>, b0: vec3<f32>, b1: vec3<f32>, normal: vec3<f32>) -> Beside {
    var result: Beside;
    let along_a = a1 - a0;
    let along_b = b1 - b0;
    let u = along_a - normal * dot(normal, along_a);
    let v = along_b - normal * dot(normal, along_b);
    let uu = dot(u, u);
    let vv = dot(v, v);
    let across = cross(u, v);
    // A line along the normal has no direction across it. Sine of the largest angle between lines that count
    // as parallel: 0.05.
    if uu <= 1e-10 * dot(along_a, along_a) || dot(across, across) > 0.0025 * uu * vv {
        return result;
    }
    let s0 = dot(u, b0 - a0) / uu;
    let s1 = dot(u, b1 - a0) / uu;
    let low = max(min(s0, s1), 0.0);
    let high = min(max(s0, s1), 1.0);
    // What they share must be a line and not a point.
    if high - low <= 1e-3 {
        return result;
    }
    let t0 = clamp((low - s0) / (s1 - s0), 0.0, 1.0);
    let t1 = clamp((high - s0) / (s1 - s0), 0.0, 1.0);
    result.holds = true;
    result.low = ends(a0 + along_a * low, b0 + along_b * t0);
    result.high = ends(a0 + along_a * high, b0 + along_b * t1);
    return result;
}
