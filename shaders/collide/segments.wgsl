// Closed forms for segments and directions. Twin: crates/collide/src/nearest.rs.

struct Ends {
    a: vec3<f32>,
    b: vec3<f32>,
    // Perpendicular to both lines where the points are inside both; else zero.
    across: vec3<f32>,
    // Length of the longer line [m].
    size: f32,
}

struct Direction {
    unit: vec3<f32>,
    length: f32,
}

// Direction and length of a vector, with a direction to take where it has none.
fn direction(vector: vec3<f32>, otherwise: vec3<f32>) -> Direction {
    // Scaled first: squares of tiny components vanish.
    let most = max(abs(vector.x), max(abs(vector.y), abs(vector.z)));
    if most > 0.0 && most < 3e38 {
        let scaled = vector / most;
        let size = length(scaled);
        return Direction(scaled / size, size * most);
    }
    return Direction(otherwise, 0.0);
}

fn on_segment(p: vec3<f32>, q: vec3<f32>, at: vec3<f32>) -> vec3<f32> {
    let along = q - p;
    let square = dot(along, along);
    var t = 0.0;
    if square > 0.0 {
        t = dot(along, at - p) / square;
    }
    return p + along * clamp(t, 0.0, 1.0);
}

fn ends(a: vec3<f32>, b: vec3<f32>) -> Ends {
    return Ends(a, b, vec3<f32>(0.0), 0.0);
}

// The closest points of two segments (Ericson, Real-Time Collision Detection, 5.1.9).
fn segments(a0: vec3<f32>, a1: vec3<f32>, b0: vec3<f32>, b1: vec3<f32>) -> Ends {
    let u = a1 - a0;
    let v = b1 - b0;
    let r = a0 - b0;
    let uu = dot(u, u);
    let vv = dot(v, v);
    let uv = dot(u, v);
    let ur = dot(u, r);
    let vr = dot(v, r);
    if uu == 0.0 {
        return ends(a0, on_segment(b0, b1, a0));
    }
    if vv == 0.0 {
        return ends(on_segment(a0, a1, b0), b0);
    }
    // As the square of a sine, without the cancellation of uu vv - uv uv.
    let w = cross(u, v);
    let area = dot(w, w);
    var s = 0.0;
    // Parallel lines are equally close everywhere: any point will do.
    if area > 1e-12 * uu * vv {
        s = clamp(dot(cross(v, r), w) / area, 0.0, 1.0);
    }
    var t = (uv * s + vr) / vv;
    if t < 0.0 {
        t = 0.0;
        s = clamp(-ur / uu, 0.0, 1.0);
    } else if t > 1.0 {
        t = 1.0;
        s = clamp((uv - ur) / uu, 0.0, 1.0);
    }
    var result = ends(a0 + u * s, b0 + v * t);
    if s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0 {
        result.across = w / sqrt(uu * vv);
        result.size = sqrt(max(uu, vv));
    }
    return result;
}

// Direction and distance between closest points, from B to A. Where lines cross closely, what is across both
// is known better than the difference of the points.
fn between(on: Ends, otherwise: vec3<f32>) -> Direction {
    let plain = direction(on.a - on.b, otherwise);
    let sine = length(on.across);
    if sine * on.size > plain.length {
        let unit = on.across / sine;
        let along = dot(unit, on.a - on.b);
        return Direction(select(-unit, unit, along >= 0.0), abs(along));
    }
    return plain;
}
