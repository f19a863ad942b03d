// Vectors, matrices and quaternions with the operations of crates/math/src/vector.rs in the same order, so
// that both give the same bits. Built-in products are avoided where their order is the driver's choice.

// Zero, which no compiler knows: entry points set it from a buffer.
var<private> nothing: u32;

// The same value, but no longer a sum that may be regrouped with what it is added to. Mesa turns
// (a b + c d) + e into (a b + e) + c d, and WGSL has no way to forbid it.
fn keep(x: vec3<f32>) -> vec3<f32> {
    return bitcast<vec3<f32>>(bitcast<vec3<u32>>(x) ^ vec3<u32>(nothing));
}

fn keep1(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ nothing);
}

fn dot3(a: vec3<f32>, b: vec3<f32>) -> f32 {
    return keep1(a.x * b.x + a.y * b.y + a.z * b.z);
}

fn cross3(a: vec3<f32>, b: vec3<f32>) -> vec3<f32> {
    return keep(vec3<f32>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x));
}

fn norm3(a: vec3<f32>) -> f32 {
    return sqrt(dot3(a, a));
}

fn unit3(i: u32) -> vec3<f32> {
    return vec3<f32>(f32(i == 0u), f32(i == 1u), f32(i == 2u));
}

// The arc tangent of y/x in the right quadrant; twin of `arc_tangent` in crates/math/src/number.rs.
fn arc_tangent(y: f32, x: f32) -> f32 {
    let across = abs(y);
    let along = abs(x);
    let steep = across > along;
    let small = select(across, along, steep);
    let large = select(along, across, steep);
    var quotient = 0.0;
    if large > 0.0 {
        quotient = small / large;
    }
    let folds = quotient > 0.41421357;
    var t = quotient;
    if folds {
        t = keep1(quotient - 1.0) / keep1(quotient + 1.0);
    }
    let z = keep1(t * t);
    var p = keep1(keep1(8.0537445e-2 * z) - 1.3877685e-1);
    p = keep1(keep1(p * z) + 1.9977711e-1);
    p = keep1(keep1(p * z) - 3.3332949e-1);
    let core = keep1(keep1(keep1(p * z) * t) + t);
    var angle = core;
    if folds {
        angle = keep1(0.78539816339744831 + core);
    }
    if steep {
        angle = keep1(1.5707963267948966 - angle);
    }
    if x < 0.0 {
        angle = keep1(3.1415926535897932 - angle);
    }
    return select(angle, -angle, y < 0.0);
}

// An angle and the full turns that bring it nearest to another; twin of `nearest_turn` in crates/math/src/number.rs.
fn nearest_turn(angle: f32, to: f32) -> f32 {
    let turns = floor(keep1(keep1(to - angle) * 0.15915494309189535) + 0.5);
    if turns == 0.0 {
        return angle;
    }
    return angle + keep1(turns * 6.283185307179586);
}

// A symmetric matrix: its diagonal, and xy, xz, yz.
struct Sym3 {
    d: vec3<f32>,
    o: vec3<f32>,
}

// A matrix by rows.
struct Mat3 {
    r0: vec3<f32>,
    r1: vec3<f32>,
    r2: vec3<f32>,
}

// As buffers hold a symmetric matrix and a vector: without padding.
fn sym_of(m: array<f32, 6>) -> Sym3 {
    return Sym3(vec3<f32>(m[0], m[1], m[2]), vec3<f32>(m[3], m[4], m[5]));
}

fn sym_array(s: Sym3) -> array<f32, 6> {
    return array<f32, 6>(s.d.x, s.d.y, s.d.z, s.o.x, s.o.y, s.o.z);
}

fn vec_of(v: array<f32, 3>) -> vec3<f32> {
    return vec3<f32>(v[0], v[1], v[2]);
}

fn vec_array(v: vec3<f32>) -> array<f32, 3> {
    return array<f32, 3>(v.x, v.y, v.z);
}

fn sym_zero() -> Sym3 {
    return Sym3(vec3<f32>(0.0), vec3<f32>(0.0));
}

fn sym_plus(a: Sym3, b: Sym3) -> Sym3 {
    return Sym3(a.d + b.d, a.o + b.o);
}

fn sym_times(a: Sym3, s: f32) -> Sym3 {
    return Sym3(a.d * s, a.o * s);
}

// s u u^T.
fn sym_outer(u: vec3<f32>, s: f32) -> Sym3 {
    let v = keep(u * s);
    return Sym3(u * v, vec3<f32>(u.x * v.y, u.x * v.z, u.y * v.z));
}

fn sym_apply(s: Sym3, v: vec3<f32>) -> vec3<f32> {
    return keep(vec3<f32>(
        s.d.x * v.x + s.o.x * v.y + s.o.y * v.z,
        s.o.x * v.x + s.d.y * v.y + s.o.z * v.z,
        s.o.y * v.x + s.o.z * v.y + s.d.z * v.z,
    ));
}

// R S R^T.
fn sym_rotated(s: Sym3, r: Mat3) -> Sym3 {
    let h0 = sym_apply(s, r.r0);
    let h1 = sym_apply(s, r.r1);
    let h2 = sym_apply(s, r.r2);
    return Sym3(
        vec3<f32>(dot3(h0, r.r0), dot3(h1, r.r1), dot3(h2, r.r2)),
        vec3<f32>(dot3(h0, r.r1), dot3(h0, r.r2), dot3(h1, r.r2)),
    );
}

fn inverse_pivot(pivot: f32) -> f32 {
    if pivot > 0.0 {
        return 1.0 / pivot;
    }
    return 0.0;
}

// Solves S x = b; a pivot that is not positive leaves its direction unmoved.
fn sym_solve(s: Sym3, b: vec3<f32>) -> vec3<f32> {
    let i0 = inverse_pivot(s.d.x);
    let minor = inverse_pivot(keep1(s.d.x * s.d.y - s.o.x * s.o.x));
    let c = keep1(s.d.x * s.o.z - s.o.x * s.o.y);
    let l10 = s.o.x * i0;
    let l20 = s.o.y * i0;
    let l21 = c * minor;
    let i1 = s.d.x * minor;
    let i2 = inverse_pivot(s.d.z - l20 * s.o.y - l21 * (c * i0));
    let y1 = b.y - l10 * b.x;
    let y2 = b.z - l20 * b.x - l21 * y1;
    let x2 = keep1(y2 * i2);
    let x1 = keep1(y1 * i1 - l21 * x2);
    let x0 = keep1(b.x * i0 - l10 * x1 - l20 * x2);
    return vec3<f32>(x0, x1, x2);
}

// The cross-product matrix of u.
fn skew(u: vec3<f32>) -> Mat3 {
    return Mat3(vec3<f32>(0.0, -u.z, u.y), vec3<f32>(u.z, 0.0, -u.x), vec3<f32>(-u.y, u.x, 0.0));
}

fn mat_apply(m: Mat3, v: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(dot3(m.r0, v), dot3(m.r1, v), dot3(m.r2, v));
}

fn mat_apply_transposed(m: Mat3, v: vec3<f32>) -> vec3<f32> {
    return keep(m.r0 * v.x + m.r1 * v.y + m.r2 * v.z);
}

fn mat_plus(a: Mat3, b: Mat3) -> Mat3 {
    return Mat3(a.r0 + b.r0, a.r1 + b.r1, a.r2 + b.r2);
}

// u v^T.
fn mat_outer(u: vec3<f32>, v: vec3<f32>) -> Mat3 {
    return Mat3(v * u.x, v * u.y, v * u.z);
}

// Quaternions have their scalar part last.

fn quat_conjugate(q: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(-q.xyz, q.w);
}

fn quat_times(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let scaled = keep(b.xyz * a.w + a.xyz * b.w);
    return vec4<f32>(scaled + cross3(a.xyz, b.xyz), a.w * b.w - dot3(a.xyz, b.xyz));
}

fn quat_normalised(q: vec4<f32>) -> vec4<f32> {
    let square = dot3(q.xyz, q.xyz) + q.w * q.w;
    let s = sqrt(square) * (1.0 / square);
    return q * s;
}

// The rotation reached from q by the world-axis increment dw.
fn quat_advanced(q: vec4<f32>, dw: vec3<f32>) -> vec4<f32> {
    return quat_normalised(quat_times(vec4<f32>(dw * 0.5, 1.0), q));
}

// R(q) u - u, without the cancellation of rotating and subtracting.
fn quat_displacement(q: vec4<f32>, u: vec3<f32>) -> vec3<f32> {
    let t = keep(cross3(q.xyz, u) + u * q.w);
    return cross3(q.xyz, t) * 2.0;
}

fn quat_rotate(q: vec4<f32>, u: vec3<f32>) -> vec3<f32> {
    return u + quat_displacement(q, u);
}

fn quat_matrix(q: vec4<f32>) -> Mat3 {
    let x = quat_rotate(q, vec3<f32>(1.0, 0.0, 0.0));
    let y = quat_rotate(q, vec3<f32>(0.0, 1.0, 0.0));
    let z = quat_rotate(q, vec3<f32>(0.0, 0.0, 1.0));
    return Mat3(vec3<f32>(x.x, y.x, z.x), vec3<f32>(x.y, y.y, z.y), vec3<f32>(x.z, y.z, z.z));
}
