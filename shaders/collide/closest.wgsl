// The two solids of a pair, what of them is farthest along a direction, and their closest points. Twin:
// crates/collide/src/convex.rs.
//
// The CPU iterates for the closest points (GJK, EPA). Here all features are tried: the closest points of
// polyhedra are a corner and what is nearest to it, or on two edges; where they overlap, the axis along
// which they do so least is normal to a face or across two edges.

//#use collide/nearest.wgsl

// The two cores and where they are.
var<private> cores: array<Core, 2>;
var<private> places: array<Place, 2>;
var<private> scale: f32;

// Closest points, or the deepest ones; and what is known of them.
struct Closest {
    state: u32,
    distance: f32,
    // From B to A.
    normal: vec3<f32>,
    a: vec3<f32>,
    b: vec3<f32>,
}

// Farther apart than matters; not to be used; known.
const DISTANT: u32 = 0u;
const UNUSED: u32 = 1u;
const KNOWN: u32 = 2u;

// Closest points nearer than this share of the size have no direction between them worth trusting; but the
// axis along which the cores are farthest apart is known even where they only touch.
const TOUCHING: f32 = 1e-6;

fn support(side: u32, towards: vec3<f32>) -> vec3<f32> {
    let d = towards * places[side].turn;
    let half = cores[side].half;
    var inner = select(half, -half, d < vec3<f32>(0.0));
    if cores[side].kind == CAPSULE {
        inner = vec3<f32>(0.0, 0.0, inner.z);
    } else if cores[side].kind == TRIANGLE {
        let a = dot(cores[side].corners[0], d);
        let b = dot(cores[side].corners[1], d);
        let c = dot(cores[side].corners[2], d);
        inner = cores[side].corners[select(select(2u, 1u, b >= c), 0u, a >= b && a >= c)];
    }
    return point(places[side], inner);
}

// Distance of the cores along a normal from B to A [m].
fn separation(normal: vec3<f32>) -> f32 {
    return dot(normal, support(0u, -normal) - support(1u, normal));
}

fn corner_count(side: u32) -> u32 {
    let kind = cores[side].kind;
    return select(select(3u, 2u, kind == CAPSULE), 8u, kind == BOX);
}

fn corner(side: u32, i: u32) -> vec3<f32> {
    let half = cores[side].half;
    var inner = vec3<f32>(0.0, 0.0, select(-half.z, half.z, i == 1u));
    if cores[side].kind == BOX {
        let up = vec3<bool>((i & 1u) != 0u, (i & 2u) != 0u, (i & 4u) != 0u);
        inner = select(-half, half, up);
    } else if cores[side].kind == TRIANGLE {
        inner = cores[side].corners[i];
    }
    return point(places[side], inner);
}

// Directions in which edges run, and normals of faces up to their sign.
fn direction_count(side: u32) -> u32 {
    return select(3u, 1u, cores[side].kind == CAPSULE);
}

fn edge_direction(side: u32, i: u32) -> vec3<f32> {
    if cores[side].kind == TRIANGLE {
        return corner(side, (i + 1u) % 3u) - corner(side, i);
    }
    return places[side].turn[select(i, 2u, cores[side].kind == CAPSULE)];
}

fn face_count(side: u32) -> u32 {
    let kind = cores[side].kind;
    return select(select(1u, 0u, kind == CAPSULE), 3u, kind == BOX);
}

fn face_normal(side: u32, i: u32) -> vec3<f32> {
    if cores[side].kind == TRIANGLE {
        return places[side].turn * triangle_normal(cores[side].corners);
    }
    return places[side].turn[i];
}

fn edge_count(side: u32) -> u32 {
    let kind = cores[side].kind;
    return select(select(3u, 1u, kind == CAPSULE), 12u, kind == BOX);
}

fn edge(side: u32, i: u32) -> Ends {
    if cores[side].kind == BOX {
        let along = i / 4u;
        let u = (along + 1u) % 3u;
        let v = (along + 2u) % 3u;
        var from_ = cores[side].half;
        from_[u] *= select(1.0, -1.0, (i & 1u) != 0u);
        from_[v] *= select(1.0, -1.0, (i & 2u) != 0u);
        var to = from_;
        from_[along] = -from_[along];
        return ends(point(places[side], from_), point(places[side], to));
    }
    return ends(corner(side, i), corner(side, (i + 1u) % corner_count(side)));
}

// The edge along direction `i` that is farthest towards a direction.
fn outer_edge(side: u32, i: u32, towards: vec3<f32>) -> Ends {
    if cores[side].kind != BOX {
        return edge(side, i);
    }
    let d = towards * places[side].turn;
    var half = cores[side].half;
    var middle = select(half, -half, d < vec3<f32>(0.0));
    middle[i] = 0.0;
    var arm = vec3<f32>(0.0);
    arm[i] = half[i];
    return ends(point(places[side], middle - arm), point(places[side], middle + arm));
}

// The axis along which the cores are farthest apart: of face `i` of a side, or across edges `i` and `j`.
struct Widest {
    separation: f32,
    normal: vec3<f32>,
    side: u32,
    i: u32,
    j: u32,
}

fn widest() -> Widest {
    var best = Widest(-HUGE, vec3<f32>(0.0, 0.0, 1.0), 2u, 0u, 0u);
    for (var side = 0u; side < 2u; side++) {
        for (var i = 0u; i < face_count(side); i++) {
            let normal = face_normal(side, i);
            let above = separation(normal);
            let below = separation(-normal);
            if max(above, below) > best.separation {
                best = Widest(max(above, below), select(-normal, normal, above >= below), side, i, 0u);
            }
        }
    }
    for (var i = 0u; i < direction_count(0u); i++) {
        let u = edge_direction(0u, i);
        for (var j = 0u; j < direction_count(1u); j++) {
            let v = edge_direction(1u, j);
            let across = cross(u, v);
            let square = dot(across, across);
            // Parallel edges: faces say the same.
            if square <= 1e-10 * dot(u, u) * dot(v, v) {
                continue;
            }
            let normal = across / sqrt(square);
            let above = separation(normal);
            let below = separation(-normal);
            if max(above, below) > best.separation {
                best = Widest(max(above, below), select(-normal, normal, above >= below), 2u, i, j);
            }
        }
    }
    return best;
}

// Closest points of cores that are apart.
fn closest_apart() -> Ends {
    var best = ends(vec3<f32>(0.0), vec3<f32>(HUGE));
    var least = HUGE;
    for (var side = 0u; side < 2u; side++) {
        let other = 1u - side;
        for (var i = 0u; i < corner_count(side); i++) {
            let p = corner(side, i);
            let q = point(places[other], nearest(cores[other], local(places[other], p)).surface);
            let square = dot(p - q, p - q);
            if square < least {
                least = square;
                best = ends(select(p, q, side == 1u), select(q, p, side == 1u));
            }
        }
    }
    for (var i = 0u; i < edge_count(0u); i++) {
        let a = edge(0u, i);
        for (var j = 0u; j < edge_count(1u); j++) {
            let b = edge(1u, j);
            let on = segments(a.a, a.b, b.a, b.b);
            let square = dot(on.a - on.b, on.a - on.b);
            if square < least {
                least = square;
                best = on;
            }
        }
    }
    return best;
}

fn closest(reach: f32) -> Closest {
    let axis = widest();
    if axis.separation > reach {
        return Closest(DISTANT, 0.0, axis.normal, vec3<f32>(0.0), vec3<f32>(0.0));
    }
    if axis.separation > 0.0 {
        let on = closest_apart();
        let found = between(on, axis.normal);
        if found.length > reach {
            return Closest(DISTANT, 0.0, axis.normal, on.a, on.b);
        }
        if found.length <= TOUCHING * scale {
            return Closest(KNOWN, axis.separation, axis.normal, on.a, on.b);
        }
        return Closest(KNOWN, separation(found.unit), found.unit, on.a, on.b);
    }
    let normal = axis.normal;
    if axis.side == 0u {
        let b = support(1u, normal);
        return Closest(KNOWN, axis.separation, normal, b + normal * axis.separation, b);
    }
    if axis.side == 1u {
        let a = support(0u, -normal);
        return Closest(KNOWN, axis.separation, normal, a, a - normal * axis.separation);
    }
    let a = outer_edge(0u, axis.i, -normal);
    let b = outer_edge(1u, axis.j, normal);
    let on = segments(a.a, a.b, b.a, b.b);
    return Closest(KNOWN, axis.separation, normal, on.a, on.b);
}
