// The Newton step of one node while its neighbours stand still (Eq. 4). Twins: crates/descent/src/assemble.rs and
// crates/descent/src/block.rs.

//#use descent/rows.wgsl

struct Block {
    ll: Sym3,
    aa: Sym3,
    al: Mat3,
    fl: vec3<f32>,
    fa: vec3<f32>,
}

struct Move {
    step: vec3<f32>,
    turn: vec3<f32>,
}

// How far A's anchor has moved from B's since the step's start.
fn apart(n: u32, i: u32) -> vec3<f32> {
    let other = nodes[incidences[i].other].step;
    let change = incidences[incidences[i].twin].arm_change;
    let moved = (nodes[n].step - other) + (incidences[i].arm_change - change);
    return select(moved, -moved, incidences[i].is_b != 0u);
}

// Force of three point rows on the node they are seen from (Eq. 9).
fn point_force(n: u32, i: u32, e: u32) -> vec3<f32> {
    let offset = elements[e].offset + apart(n, i);
    let pull = keep(elements[e].stiffness * offset + elements[e].lambda);
    return select(-pull, pull, incidences[i].is_b != 0u);
}

// Column norms of the lever arm's second derivative r F^T - (r.F) I (Eq. 17, section 3.5).
fn lever_curvature(arm: vec3<f32>, force: vec3<f32>) -> vec3<f32> {
    let along = dot3(arm, force);
    let square = dot3(arm, arm);
    let first = keep(force * force * square);
    let second = keep(2.0 * force * arm * along);
    let third = keep1(along * along);
    let total = keep(first - second) + vec3<f32>(third);
    return vec3<f32>(
        sqrt(larger(total.x, 0.0)),
        sqrt(larger(total.y, 0.0)),
        sqrt(larger(total.z, 0.0)),
    );
}

// A body on which only isotropic point rows act: the translation block is a multiple of the unit matrix and the
// coupling block a cross product.
fn step_by_points(n: u32) -> Move {
    let lag = nodes[n].step - nodes[n].target_step;
    let spin = quat_times(nodes[n].turn, quat_conjugate(nodes[n].target_turn)).xyz * 2.0;
    let inertia = sym_of(nodes[n].inertia);
    var stiffness = nodes[n].mass;
    var lever = vec3<f32>(0.0);
    var aa = inertia;
    var fl = keep(lag * -nodes[n].mass);
    var fa = -sym_apply(inertia, spin);
    for (var i = nodes[n].first; i < nodes[n].last; i++) {
        let e = incidences[i].element;
        if (elements[e].flags & ACTIVE) == 0u {
            continue;
        }
        let force = point_force(n, i, e);
        let arm = incidences[i].arm + incidences[i].arm_change;
        let k = elements[e].stiffness.x;
        let scaled = keep(arm * k);
        let squares = keep(arm * scaled);
        aa.d = aa.d + keep(vec3<f32>(squares.y + squares.z, squares.x + squares.z, squares.x + squares.y));
        aa.o = aa.o + keep(vec3<f32>(-(arm.x * scaled.y), -(arm.x * scaled.z), -(arm.y * scaled.z)));
        if (elements[e].flags & CURVED) != 0u {
            aa.d = aa.d + lever_curvature(arm, force);
        }
        stiffness = stiffness + k;
        lever = lever + scaled;
        fl = fl + force;
        fa = fa + cross3(arm, force);
    }
    let inverse = 1.0 / stiffness;
    let half = keep(lever * inverse);
    let squares = keep(lever * half);
    let schur = Sym3(
        aa.d - keep(vec3<f32>(squares.y + squares.z, squares.x + squares.z, squares.x + squares.y)),
        aa.o + keep(vec3<f32>(lever.x * half.y, lever.x * half.z, lever.y * half.z)),
    );
    let w = sym_solve(schur, fa - cross3(half, fl));
    return Move(keep(keep(fl + cross3(lever, w)) * inverse), w);
}

// Three point rows along the world axes at a lever arm.
fn add_point(b: ptr<function, Block>, k: vec3<f32>, arm: vec3<f32>, force: vec3<f32>) {
    let xk = keep(arm.x * k);
    let yk = keep(arm.y * k);
    let zk = keep(arm.z * k);
    (*b).ll.d = (*b).ll.d + k;
    (*b).aa.d = (*b).aa.d + keep(vec3<f32>(
        arm.z * zk.y + arm.y * yk.z,
        arm.z * zk.x + arm.x * xk.z,
        arm.y * yk.x + arm.x * xk.y,
    ));
    (*b).aa.o = (*b).aa.o + keep(vec3<f32>(-(arm.x * yk.z), -(arm.x * zk.y), -(arm.y * zk.x)));
    (*b).al.r0 = (*b).al.r0 + vec3<f32>(0.0, -zk.y, yk.z);
    (*b).al.r1 = (*b).al.r1 + vec3<f32>(zk.x, 0.0, -xk.z);
    (*b).al.r2 = (*b).al.r2 + vec3<f32>(-yk.x, xk.y, 0.0);
    (*b).fl = (*b).fl + force;
    (*b).fa = (*b).fa + cross3(arm, force);
}

// One row with gradient (jl, ja), stiffness k and force f.
fn add_row(b: ptr<function, Block>, jl: vec3<f32>, ja: vec3<f32>, k: f32, f: f32) {
    let linear = sym_outer(jl, k);
    let angular = sym_outer(ja, k);
    let coupling = mat_outer(keep(ja * k), jl);
    (*b).ll = sym_plus((*b).ll, Sym3(keep(linear.d), keep(linear.o)));
    (*b).aa = sym_plus((*b).aa, Sym3(keep(angular.d), keep(angular.o)));
    (*b).al = mat_plus((*b).al, Mat3(keep(coupling.r0), keep(coupling.r1), keep(coupling.r2)));
    (*b).fl = (*b).fl + keep(jl * -f);
    (*b).fa = (*b).fa + keep(ja * -f);
}

// One row that only rotates.
fn add_angular(b: ptr<function, Block>, ja: vec3<f32>, k: f32, f: f32) {
    let angular = sym_outer(ja, k);
    (*b).aa = sym_plus((*b).aa, Sym3(keep(angular.d), keep(angular.o)));
    (*b).fa = (*b).fa + keep(ja * -f);
}

// Column norms of a second derivative, scaled by the magnitude of the force.
fn add_lumped(b: ptr<function, Block>, h: Curvature, f: f32) {
    let size = abs(f);
    let x = vec3<f32>(h.ll.r0.x, h.ll.r1.x, h.ll.r2.x);
    let y = vec3<f32>(h.ll.r0.y, h.ll.r1.y, h.ll.r2.y);
    let z = vec3<f32>(h.ll.r0.z, h.ll.r1.z, h.ll.r2.z);
    let al_x = vec3<f32>(h.al.r0.x, h.al.r1.x, h.al.r2.x);
    let al_y = vec3<f32>(h.al.r0.y, h.al.r1.y, h.al.r2.y);
    let al_z = vec3<f32>(h.al.r0.z, h.al.r1.z, h.al.r2.z);
    let aa_x = vec3<f32>(h.aa.r0.x, h.aa.r1.x, h.aa.r2.x);
    let aa_y = vec3<f32>(h.aa.r0.y, h.aa.r1.y, h.aa.r2.y);
    let aa_z = vec3<f32>(h.aa.r0.z, h.aa.r1.z, h.aa.r2.z);
    let linear = vec3<f32>(
        sqrt(dot3(x, x) + dot3(al_x, al_x)),
        sqrt(dot3(y, y) + dot3(al_y, al_y)),
        sqrt(dot3(z, z) + dot3(al_z, al_z)),
    );
    let angular = vec3<f32>(
        sqrt(dot3(h.al.r0, h.al.r0) + dot3(aa_x, aa_x)),
        sqrt(dot3(h.al.r1, h.al.r1) + dot3(aa_y, aa_y)),
        sqrt(dot3(h.al.r2, h.al.r2) + dot3(aa_z, aa_z)),
    );
    (*b).ll.d = (*b).ll.d + keep(size * linear);
    (*b).aa.d = (*b).aa.d + keep(size * angular);
}

fn add_twist(b: ptr<function, Block>, e: u32, pair: Pair, is_b: bool) {
    let q = relative(pair);
    let value = q.xyz * 2.0;
    let k = elements[e].stiffness;
    let force = keep(k * (value - elements[e].shift) + elements[e].lambda);
    for (var c = 0u; c < 3u; c++) {
        let g = twist_gradient(pair, q, c);
        add_angular(b, select(-g, g, is_b), k[c], force[c]);
    }
    if (elements[e].flags & CURVED) != 0u {
        // Each row's second derivative is -value/4 times the unit matrix.
        (*b).aa.d = (*b).aa.d + vec3<f32>(keep1(abs(dot3(value, force)) * 0.25));
    }
}

fn add_turn(b: ptr<function, Block>, e: u32, pair: Pair, is_b: bool) {
    let t = turning(pair);
    let k = elements[e].stiffness;
    let force = keep(k * (t.phi - elements[e].shift) + elements[e].lambda);
    for (var c = 0u; c < 3u; c++) {
        let g = turn_gradient(pair, t, c);
        add_angular(b, select(-g, g, is_b), k[c], force[c]);
    }
}

fn add_single(b: ptr<function, Block>, e: u32, pair: Pair, is_b: bool) {
    let kind = elements[e].kind;
    let row = gradient(kind, pair, is_b);
    let value = counted(e, row.value) - elements[e].shift.x;
    let full = elements[e].stiffness.x;
    let lambda = elements[e].lambda.x;
    let free = keep1(full * value + lambda);
    let force = smaller(larger(free, elements[e].lower), elements[e].upper);
    let clamped = force != free;
    let lets_go = clamped && force == 0.0;
    if lets_go && lambda == 0.0 {
        return;
    }
    // Eq. 14: a one-sided row that lets go of what it carried keeps what just reaches its bound.
    var k = full;
    if clamped && ((elements[e].flags & RESCALED) != 0u || lets_go) && value != 0.0 {
        k = smaller(abs((force - lambda) / value), full);
    }
    add_row(b, row.linear, row.angular, k, force);
    if (elements[e].flags & CURVED) != 0u && !lets_go {
        add_lumped(b, curvature(kind, pair, is_b), force);
    }
}

// Inertia of one node, and how far it is from its target.
fn inertial(n: u32) -> Block {
    let lag = nodes[n].step - nodes[n].target_step;
    var b: Block;
    b.ll = Sym3(vec3<f32>(nodes[n].mass), vec3<f32>(0.0));
    b.fl = keep(lag * -nodes[n].mass);
    if nodes[n].kind == BODY {
        let spin = quat_times(nodes[n].turn, quat_conjugate(nodes[n].target_turn)).xyz * 2.0;
        b.aa = sym_of(nodes[n].inertia);
        b.fa = -sym_apply(b.aa, spin);
    }
    return b;
}

// Adds the element at one end of a node.
fn add_end(b: ptr<function, Block>, n: u32, i: u32) {
    let e = incidences[i].element;
    if (elements[e].flags & ACTIVE) == 0u {
        return;
    }
    let is_b = incidences[i].is_b != 0u;
    if elements[e].kind == POINT {
        let force = point_force(n, i, e);
        let arm = incidences[i].arm + incidences[i].arm_change;
        add_point(b, elements[e].stiffness, arm, force);
        if (elements[e].flags & CURVED) != 0u {
            (*b).aa.d = (*b).aa.d + lever_curvature(arm, force);
        }
        return;
    }
    var pair = pair_of(e);
    pair.offset = elements[e].offset + apart(n, i);
    if elements[e].kind == TWIST {
        add_twist(b, e, pair, is_b);
    } else if elements[e].kind == TURN {
        add_turn(b, e, pair, is_b);
    } else {
        add_single(b, e, pair, is_b);
    }
}

// Inertia and all elements of one node (Eq. 5 and 6).
fn assemble(n: u32) -> Block {
    var b = inertial(n);
    for (var i = nodes[n].first; i < nodes[n].last; i++) {
        add_end(&b, n, i);
    }
    return b;
}

fn solve(b: Block, diagonal: bool) -> Move {
    let inverse = vec3<f32>(1.0 / b.ll.d.x, 1.0 / b.ll.d.y, 1.0 / b.ll.d.z);
    var h: Mat3;
    if diagonal {
        h = Mat3(keep(b.al.r0 * inverse), keep(b.al.r1 * inverse), keep(b.al.r2 * inverse));
    } else {
        h = Mat3(sym_solve(b.ll, b.al.r0), sym_solve(b.ll, b.al.r1), sym_solve(b.ll, b.al.r2));
    }
    let schur = Sym3(
        b.aa.d - vec3<f32>(dot3(h.r0, b.al.r0), dot3(h.r1, b.al.r1), dot3(h.r2, b.al.r2)),
        b.aa.o - vec3<f32>(dot3(h.r0, b.al.r1), dot3(h.r0, b.al.r2), dot3(h.r1, b.al.r2)),
    );
    let w = sym_solve(schur, b.fa - mat_apply(h, b.fl));
    let rest = b.fl - mat_apply_transposed(b.al, w);
    if diagonal {
        return Move(keep(rest * inverse), w);
    }
    return Move(sym_solve(b.ll, rest), w);
}

// The Newton step of a node on which only elements act.
fn newton_step(n: u32) -> Move {
    if nodes[n].kind == PARTICLE {
        let block = assemble(n);
        return Move(sym_solve(block.ll, block.fl), vec3<f32>(0.0));
    }
    if nodes[n].acted == BY_POINTS {
        return step_by_points(n);
    }
    return solve(assemble(n), nodes[n].acted == BY_BLOCKS);
}

// Applies a Newton step.
fn move_by(n: u32, motion: Move) {
    nodes[n].step = nodes[n].step + motion.step;
    if nodes[n].kind == BODY {
        nodes[n].turn = quat_advanced(nodes[n].turn, motion.turn);
    }
}

// Refreshes every `stride`th of a node's lever arms.
fn refresh_arms(n: u32, first: u32, stride: u32) {
    if nodes[n].kind == BODY {
        let turn = nodes[n].turn;
        for (var i = nodes[n].first + first; i < nodes[n].last; i += stride) {
            incidences[i].arm_change = quat_displacement(turn, incidences[i].arm);
        }
    }
}

// Applies a Newton step and refreshes the node's lever arms.
fn advance(n: u32, motion: Move) {
    move_by(n, motion);
    refresh_arms(n, 0u, 1u);
}
