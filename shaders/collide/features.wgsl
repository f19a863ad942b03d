// Contacts of boxes, segments and triangles with each other: an axis from flat faces and from the closest
// points, then the overlap of the features that meet along it. Twins: crates/collide/src/convex.rs,
// crates/collide/src/feature.rs, crates/collide/src/region.rs.

//#use collide/closest.wgsl

// A face as an axis.
struct FaceAxis {
    holds: bool,
    side: u32,
    index: u32,
    normal: vec3<f32>,
    separation: f32,
}

// A corner, a line or a convex loop, and numbers of its corners.
struct Feature {
    count: u32,
    normal: vec3<f32>,
    corners: array<vec3<f32>, 4>,
    ids: array<u32, 4>,
}

var<private> features: array<Feature, 2>;

// Of a triangle: across each edge away from it, and the sine and cosine of how far normals may lean there.
var<private> outward: array<vec3<f32>, 3>;
var<private> leans: array<vec2<f32>, 3>;

// Faces are preferred by this share of the smaller size where both cores are solid.
const FACE_BIAS: f32 = 2e-3;
// Rounding, as a share of the size.
const FLOAT: f32 = 1e-6;
// Corners this far outside, as a share of the size, still count as inside.
const INSIDE: f32 = 1e-6;
// Points closer than this share of the size are one.
const MERGE: f32 = 1e-5;

// Whether a surface of triangles can push along a normal at a point of this triangle, the second core.
fn admits(normal: vec3<f32>, on: vec3<f32>, size: f32) -> bool {
    let inner = normal * places[1].turn;
    let at = local(places[1], on);
    let up = dot(inner, triangle_normal(cores[1].corners));
    var result = up > 0.0;
    for (var k = 0u; k < 3u; k++) {
        let is_at_edge = dot(outward[k], at - cores[1].corners[k]) > -3e-6 * size;
        let aside = dot(inner, outward[k]);
        // The sine of what the normal leans beyond what it may, which is less than a quarter turn.
        let beyond = aside * leans[k].y - up * leans[k].x;
        result = result && !(is_at_edge && beyond > 0.0);
    }
    return result;
}

// The face of either core along which they are farthest apart. Faces that look away from the closest points
// are not tried; where B is a triangle of a surface, A's faces are tried as far as the surface admits them.
fn best_face(free: Closest, known: Closest, of_mesh: bool) -> FaceAxis {
    var best: FaceAxis;
    for (var side = 0u; side < 2u; side++) {
        // The normal of A's faces points away from B, and that of contact to A.
        let sign = select(1.0, -1.0, side == 0u);
        let is_box = cores[side].kind == BOX;
        let count = select(face_count(side), 6u, is_box);
        for (var i = 0u; i < count; i++) {
            var out_ = face_normal(side, 0u);
            var offset = dot(triangle_normal(cores[side].corners), cores[side].corners[0]);
            if is_box {
                var half = cores[side].half;
                out_ = places[side].turn[i / 2u] * select(1.0, -1.0, i % 2u == 1u);
                offset = half[i / 2u];
            }
            let normal = out_ * sign;
            if free.state == KNOWN && free.distance > 0.0 && dot(free.normal, normal) < 0.0 {
                continue;
            }
            let apart = dot(out_, support(1u - side, -out_) - places[side].position) - offset;
            // The first of equals, so that rounding does not decide.
            if best.holds && !(apart > best.separation + FLOAT * scale) {
                continue;
            }
            if of_mesh && side == 0u && (known.state != KNOWN || !admits(normal, known.b, scale)) {
                continue;
            }
            best = FaceAxis(true, side, i, normal, apart);
        }
    }
    return best;
}

// Whether the closest points are a better axis than the face.
fn is_better_axis(face: FaceAxis, found: Closest) -> bool {
    if cores[0].round + cores[1].round == 0.0 {
        return found.distance > face.separation + FACE_BIAS * max(scale, abs(face.separation));
    }
    if found.distance > face.separation + FLOAT * max(scale, abs(face.separation)) {
        return true;
    }
    // A difference below the rounding: the CPU's bar of 1e-10 as the angle between the two normals.
    let turn = length(found.normal - face.normal);
    let size = max(scale, 1e-3 * found.distance);
    return found.distance > 0.0
        && turn > sqrt(2e-10 * size / found.distance) + 1e-6 * (1.0 + size / found.distance);
}

fn box_face(side: u32, axis: u32, upper: bool) {
    let sign = select(-1.0, 1.0, upper);
    let u = (axis + 1u) % 3u;
    let v = (axis + 2u) % 3u;
    features[side].count = 4u;
    features[side].normal = places[side].turn[axis] * sign;
    for (var c = 0u; c < 4u; c++) {
        var inner = cores[side].half;
        inner[axis] *= sign;
        inner[u] *= select(sign, -sign, c == 1u || c == 2u);
        inner[v] *= select(1.0, -1.0, c >= 2u);
        let bits = select(vec3<u32>(0u), vec3<u32>(1u, 2u, 4u), inner > vec3<f32>(0.0));
        features[side].ids[c] = bits.x | bits.y | bits.z;
        features[side].corners[c] = point(places[side], inner);
    }
}

fn all_corners(side: u32) {
    features[side].count = corner_count(side);
    for (var c = 0u; c < features[side].count; c++) {
        features[side].ids[c] = c;
        features[side].corners[c] = corner(side, c);
    }
    if cores[side].kind == TRIANGLE {
        features[side].normal = face_normal(side, 0u);
    }
}

// Sets the feature that meets a plane coming from a direction first.
fn support_feature(side: u32, towards: vec3<f32>) {
    if cores[side].kind != BOX {
        all_corners(side);
        return;
    }
    var d = towards * places[side].turn;
    let size = abs(d);
    var axis = select(2u, 1u, size.y >= size.z);
    if size.x >= size.y && size.x >= size.z {
        axis = 0u;
    }
    box_face(side, axis, d[axis] >= 0.0);
}

fn push_apart(normal: vec3<f32>, a: vec3<f32>, b: vec3<f32>, id: u32) {
    let near = (MERGE * scale) * (MERGE * scale);
    for (var i = 0u; i < points; i++) {
        let between = points_a[i] - a;
        if dot(between, between) <= near {
            return;
        }
    }
    push(a, b, dot(normal, a - b), id);
}

// Appends the point of the loop of a side that a line along the normal through a corner of the other meets.
fn opposite(normal: vec3<f32>, side: u32, c: u32) {
    let count = features[side].count;
    let slope = dot(features[side].normal, normal);
    if count < 3u || slope == 0.0 {
        return;
    }
    let at = features[1u - side].corners[c];
    let sign = select(-1.0, 1.0, slope >= 0.0);
    for (var k = 0u; k < count; k++) {
        let p = features[side].corners[k];
        let q = features[side].corners[(k + 1u) % count];
        let inward = cross(normal, q - p) * sign;
        if dot(inward, at - p) < -INSIDE * scale * length(inward) {
            return;
        }
    }
    let height = dot(features[side].normal, features[side].corners[0] - at) / slope;
    let met = at + normal * height;
    let id = features[1u - side].ids[c];
    if side == 1u {
        push_apart(normal, at, met, name(CORNER_A, id, 0u));
    } else {
        push_apart(normal, met, at, name(CORNER_B, 0u, id));
    }
}

fn line_count(side: u32) -> u32 {
    let count = features[side].count;
    return select(count, 1u, count == 2u);
}

fn line_id(side: u32, k: u32) -> u32 {
    let a = features[side].ids[k];
    let b = features[side].ids[(k + 1u) % features[side].count];
    return min(a, b) << 3u | max(a, b);
}

fn cross_lines(normal: vec3<f32>, i: u32, j: u32) {
    let a = features[0].corners[i];
    let b = features[1].corners[j];
    let along_a = features[0].corners[(i + 1u) % features[0].count] - a;
    let along_b = features[1].corners[(j + 1u) % features[1].count] - b;
    let between = b - a;
    let area = dot(cross(along_a, along_b), normal);
    // Sines that are less are those of the rounding.
    if area * area <= 1e-12 * dot(along_a, along_a) * dot(along_b, along_b) {
        return;
    }
    let s = dot(cross(between, along_b), normal) / area;
    let t = dot(cross(between, along_a), normal) / area;
    if s >= 0.0 && s <= 1.0 && t >= 0.0 && t <= 1.0 {
        let id = name(CROSSING, line_id(0u, i), line_id(1u, j));
        push_apart(normal, a + along_a * s, b + along_b * t, id);
    }
}

// Appends the corners of the overlap of the two features, seen along the normal.
fn overlap(normal: vec3<f32>) {
    for (var c = 0u; c < features[0].count; c++) {
        opposite(normal, 1u, c);
    }
    for (var c = 0u; c < features[1].count; c++) {
        opposite(normal, 0u, c);
    }
    for (var i = 0u; i < line_count(0u); i++) {
        for (var j = 0u; j < line_count(1u); j++) {
            cross_lines(normal, i, j);
        }
    }
}

fn on_face(face: FaceAxis) {
    let out_ = select(face.normal, -face.normal, face.side == 0u);
    if cores[face.side].kind == BOX {
        box_face(face.side, face.index / 2u, face.index % 2u == 0u);
    } else {
        all_corners(face.side);
    }
    support_feature(1u - face.side, -out_);
    overlap(face.normal);
}

// The straight line on the surface that meets a plane coming from a direction first, and its number.
struct Line {
    holds: bool,
    line: Ends,
    id: u32,
}

fn line(side: u32, towards: vec3<f32>) -> Line {
    const SLOPE: f32 = 0.05;
    var result: Line;
    var d = towards * places[side].turn;
    if cores[side].kind == CAPSULE {
        result.holds = abs(d.z) <= SLOPE;
        result.line = edge(side, 0u);
        return result;
    }
    if cores[side].kind == BOX {
        let size = abs(d);
        var axis = select(2u, 1u, size.y <= size.z);
        if size.x <= size.y && size.x <= size.z {
            axis = 0u;
        }
        result.holds = size[axis] <= SLOPE;
        result.line = outer_edge(side, axis, towards);
        var middle = (result.line.a + result.line.b) * 0.5;
        var inner = local(places[side], middle);
        inner[axis] = 0.0;
        let bits = select(vec3<u32>(0u), vec3<u32>(1u, 2u, 4u), inner > vec3<f32>(1e-6 * scale));
        result.id = (bits.x | bits.y | bits.z) << 2u | axis;
        return result;
    }
    var highest = -HUGE;
    for (var k = 0u; k < 3u; k++) {
        let p = cores[side].corners[k];
        let q = cores[side].corners[(k + 1u) % 3u];
        if dot(p, d) + dot(q, d) > highest {
            highest = dot(p, d) + dot(q, d);
            result.id = k;
            result.holds = abs(dot(q - p, d)) <= SLOPE * length(q - p);
        }
    }
    result.line = edge(side, result.id);
    return result;
}

// Appends the closest points, or the ends of what two parallel edges share.
fn along(found: Closest) {
    let normal = found.normal;
    let a = line(0u, -normal);
    let b = line(1u, normal);
    if a.holds && b.holds {
        let both = beside(a.line.a, a.line.b, b.line.a, b.line.b, normal);
        if both.holds {
            push(both.low.a, both.low.b, dot(normal, both.low.a - both.low.b), name(LINE, a.id, b.id));
            push(both.high.a, both.high.b, dot(normal, both.high.a - both.high.b), name(LINE + 1u, a.id, b.id));
            return;
        }
    }
    push(found.a, found.b, dot(normal, found.a - found.b), name(CLOSEST, 0u, 0u));
}

// From cores to rounded surfaces, without the points beyond `reach`.
fn round_off(normal: vec3<f32>, reach: f32) {
    var left = 0u;
    for (var i = 0u; i < points; i++) {
        var a = points_a[i];
        var b = points_b[i];
        var gap = gaps[i];
        if cores[0].round + cores[1].round > 0.0 {
            a = surface(cores[0], places[0], a, -normal);
            b = surface(cores[1], places[1], b, normal);
            gap = dot(normal, a - b);
        }
        if gap <= reach {
            points_a[left] = a;
            points_b[left] = b;
            gaps[left] = gap;
            names[left] = names[i];
            left += 1u;
        }
    }
    points = left;
}

// Points of contact of two solids closer than `reach` [m], and their normal.
fn touch(a: Core, place_a: Place, b: Core, place_b: Place, size: f32, reach: f32) -> vec3<f32> {
    cores[0] = a;
    cores[1] = b;
    places[0] = place_a;
    places[1] = place_b;
    scale = size;
    let found = closest(reach + a.round + b.round);
    if found.state == DISTANT {
        return found.normal;
    }
    let face = best_face(found, found, false);
    var normal = found.normal;
    if face.holds && !is_better_axis(face, found) {
        normal = face.normal;
        on_face(face);
    }
    // Where a face and the incident feature pass each other, the closest points are what there is.
    if points == 0u {
        normal = found.normal;
        along(found);
    }
    round_off(normal, reach);
    return normal;
}
