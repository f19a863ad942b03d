// Scalar rows: value, one side's gradient and that side's second derivative. Twin: crates/model/src/row.rs.

//#use descent/types.wgsl

struct Pair {
    arm_a: vec3<f32>,
    arm_b: vec3<f32>,
    offset: vec3<f32>,
    basis_a: vec4<f32>,
    basis_b: vec4<f32>,
}

// Vector part of the rotation from A's basis to B's, and its non-negative scalar part.
fn relative(p: Pair) -> vec4<f32> {
    let q = quat_times(quat_conjugate(p.basis_a), p.basis_b);
    if q.w < 0.0 {
        return -q;
    }
    return q;
}

// A rotation vector of at most half a turn, and the factor of [phi]^2 in its gradient.
struct Turning {
    phi: vec3<f32>,
    bend: f32,
}

// The rotation vector from A's basis to B's, in A's; twin of `turning` in crates/model/src/row.rs.
fn turning(p: Pair) -> Turning {
    let q = relative(p);
    let s = norm3(q.xyz);
    let angle = 2.0 * arc_tangent(s, q.w);
    let square = keep1(angle * angle);
    var phi = q.xyz * 2.0;
    if s > 0.0 {
        phi = keep(q.xyz * keep1(angle * (1.0 / s)));
    }
    if angle < 0.3 {
        var bend = keep1(3.306878306878307e-5 + keep1(square * 8.267195767195768e-7));
        bend = keep1(1.3888888888888889e-3 + keep1(square * bend));
        return Turning(phi, keep1(8.333333333333333e-2 + keep1(square * bend)));
    }
    let cotangent = keep1(q.w * (1.0 / keep1(keep1(2.0 * angle) * s)));
    return Turning(phi, keep1(1.0 / square - cotangent));
}

// Gradient of a component of it with respect to B's rotation; A's is the negative.
fn turn_gradient(p: Pair, t: Turning, c: u32) -> vec3<f32> {
    let e = unit3(c);
    let across = cross3(t.phi, e);
    let bent = keep(cross3(t.phi, across) * t.bend);
    return quat_rotate(p.basis_a, keep(keep(e + across * 0.5) + bent));
}

// Whether an element is three rows of a rotation.
fn is_rotation(kind: u32) -> bool {
    return kind == TWIST || kind == TURN;
}

// Gradient of a twist row with respect to B's rotation; A's is the negative.
fn twist_gradient(p: Pair, q: vec4<f32>, c: u32) -> vec3<f32> {
    let e = unit3(c);
    return quat_rotate(p.basis_a, keep(e * q.w + cross3(q.xyz, e)));
}

struct Gradient {
    value: f32,
    linear: vec3<f32>,
    angular: vec3<f32>,
}

fn gradient(kind: u32, p: Pair, is_b: bool) -> Gradient {
    if kind >= DOT {
        let u = quat_rotate(p.basis_a, unit3((kind - DOT) / 3u));
        let w = quat_rotate(p.basis_b, unit3((kind - DOT) % 3u));
        let torque = cross3(u, w);
        return Gradient(dot3(u, w), vec3<f32>(0.0), select(torque, -torque, is_b));
    }
    if kind >= SLIDE {
        let u = quat_rotate(p.basis_a, unit3(kind - SLIDE));
        let value = -dot3(u, p.offset);
        if is_b {
            return Gradient(value, u, cross3(p.arm_b, u));
        }
        return Gradient(value, -u, cross3(u, p.arm_a - p.offset));
    }
    if kind == ANGLE {
        let y_a = quat_rotate(p.basis_a, unit3(1u));
        let y_b = quat_rotate(p.basis_b, unit3(1u));
        let z_a = quat_rotate(p.basis_a, unit3(2u));
        let cosine = dot3(y_a, y_b);
        let sine = dot3(z_a, y_b);
        let across = keep(keep(cross3(z_a, y_b) * cosine) - keep(cross3(y_a, y_b) * sine));
        let torque = keep(across * (1.0 / keep1(cosine * cosine + sine * sine)));
        return Gradient(arc_tangent(sine, cosine), vec3<f32>(0.0), select(torque, -torque, is_b));
    }
    let value = norm3(p.offset);
    var n = vec3<f32>(0.0);
    if value > 0.0 {
        n = keep(p.offset * (1.0 / value));
    }
    if is_b {
        return Gradient(value, -n, cross3(n, p.arm_b));
    }
    return Gradient(value, n, cross3(p.arm_a, n));
}

struct Curvature {
    ll: Mat3,
    al: Mat3,
    aa: Mat3,
}

fn mat_zero() -> Mat3 {
    return Mat3(vec3<f32>(0.0), vec3<f32>(0.0), vec3<f32>(0.0));
}

// Second derivative of e . u with respect to a rotation of u.
fn rotation_curvature(u: vec3<f32>, e: vec3<f32>) -> Mat3 {
    let d = dot3(e, u);
    let r0 = keep(e.x * u + u.x * e) * 0.5;
    let r1 = keep(e.y * u + u.y * e) * 0.5;
    let r2 = keep(e.z * u + u.z * e) * 0.5;
    return Mat3(
        vec3<f32>(r0.x - d, r0.y, r0.z),
        vec3<f32>(r1.x, r1.y - d, r1.z),
        vec3<f32>(r2.x, r2.y, r2.z - d),
    );
}

fn curvature(kind: u32, p: Pair, is_b: bool) -> Curvature {
    var h = Curvature(mat_zero(), mat_zero(), mat_zero());
    if kind >= DOT {
        let u = quat_rotate(p.basis_a, unit3((kind - DOT) / 3u));
        let w = quat_rotate(p.basis_b, unit3((kind - DOT) % 3u));
        if is_b {
            h.aa = rotation_curvature(w, u);
        } else {
            h.aa = rotation_curvature(u, w);
        }
        return h;
    }
    if kind >= SLIDE {
        let u = quat_rotate(p.basis_a, unit3(kind - SLIDE));
        if is_b {
            h.aa = rotation_curvature(p.arm_b, u);
        } else {
            h.aa = rotation_curvature(u, p.arm_a - p.offset);
            h.al = skew(-u);
        }
        return h;
    }
    let length = norm3(p.offset);
    if kind == DISTANCE && length > 0.0 {
        let inverse = 1.0 / length;
        let n = keep(p.offset * inverse);
        h.ll = Mat3(
            keep(unit3(0u) + n * -n.x) * inverse,
            keep(unit3(1u) + n * -n.y) * inverse,
            keep(unit3(2u) + n * -n.z) * inverse,
        );
        let arm = select(p.arm_a, p.arm_b, is_b);
        let pull = select(n, -n, is_b);
        let s = skew(arm);
        h.al = Mat3(mat_apply(h.ll, s.r0), mat_apply(h.ll, s.r1), mat_apply(h.ll, s.r2));
        let swept = Mat3(mat_apply(s, h.al.r0), mat_apply(s, h.al.r1), mat_apply(s, h.al.r2));
        h.aa = mat_plus(swept, rotation_curvature(arm, pull));
    }
    return h;
}

// How far A's anchor is from B's, or what of that is to be corrected.
fn offset_of(e: u32) -> vec3<f32> {
    let a = nodes[elements[e].node_a].step;
    let b = nodes[elements[e].node_b].step;
    let change_a = incidences[elements[e].end_a].arm_change;
    let change_b = incidences[elements[e].end_b].arm_change;
    return elements[e].offset + ((a - b) + (change_a - change_b));
}

fn pair_of(e: u32) -> Pair {
    let a = elements[e].end_a;
    let b = elements[e].end_b;
    return Pair(
        incidences[a].arm + incidences[a].arm_change,
        incidences[b].arm + incidences[b].arm_change,
        offset_of(e),
        quat_times(nodes[elements[e].node_a].turn, elements[e].basis_a),
        quat_times(nodes[elements[e].node_b].turn, elements[e].basis_b),
    );
}

// The value of a scalar row, with the full turns of an angle.
fn counted(e: u32, value: f32) -> f32 {
    if elements[e].kind == ANGLE {
        return nearest_turn(value, elements[e].counted);
    }
    return value;
}

// The rows' current values less what is not to be corrected.
fn value_of(e: u32) -> vec3<f32> {
    let kind = elements[e].kind;
    if kind == POINT {
        return offset_of(e);
    }
    let pair = pair_of(e);
    if kind == TWIST {
        return relative(pair).xyz * 2.0 - elements[e].shift;
    }
    if kind == TURN {
        return turning(pair).phi - elements[e].shift;
    }
    let value = counted(e, gradient(kind, pair, false).value);
    return vec3<f32>(value, 0.0, 0.0) - elements[e].shift;
}

// Force of the rows after an update, within its bounds: the multiplier where that took over all of it.
fn force_of(e: u32) -> vec3<f32> {
    if (elements[e].flags & TAKES_OVER) != 0u {
        return elements[e].lambda;
    }
    let free = keep(elements[e].stiffness * keep(value_of(e)) + elements[e].lambda);
    if elements[e].kind == POINT || is_rotation(elements[e].kind) {
        return free;
    }
    return vec3<f32>(smaller(larger(free.x, elements[e].lower), elements[e].upper), 0.0, 0.0);
}
