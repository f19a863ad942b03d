// What patches of contact do to a body's block. Twin: crates/descent/src/patch.rs.

//#use descent/block.wgsl
//#use descent/patches.wgsl

// Forces of a patch and how they change with its rows.
struct Push {
    force: array<vec4<f32>, 3>,
    normal: vec4<f32>,
    tangent: vec4<f32>,
    // Further stiffness along one tangential direction.
    extra: vec4<f32>,
    direction: array<vec4<f32>, 2>,
}

fn sum4(x: vec4<f32>) -> f32 {
    return keep1(keep1(x.x + x.z) + keep1(x.y + x.w));
}

// Values of the rows at the current iterate.
fn patch_value(p: u32) -> array<vec4<f32>, 3> {
    let a = patches[p].node_a;
    let b = patches[p].node_b;
    let step = nodes[a].step - nodes[b].step;
    let u = nodes[a].turn.xyz * 2.0;
    let v = nodes[b].turn.xyz * 2.0;
    let r = patches[p].arm_a;
    let s = patches[p].arm_b;
    let x = keep4(step.x + keep4(keep4(u.y * r[2] - u.z * r[1]) - keep4(v.y * s[2] - v.z * s[1])));
    let y = keep4(step.y + keep4(keep4(u.z * r[0] - u.x * r[2]) - keep4(v.z * s[0] - v.x * s[2])));
    let z = keep4(step.z + keep4(keep4(u.x * r[1] - u.y * r[0]) - keep4(v.x * s[1] - v.y * s[0])));
    let n = patches[p].normal;
    let t = patches[p].first_tangent;
    let w = patches[p].second_tangent;
    return array<vec4<f32>, 3>(
        keep4(patches[p].start[0] + keep4(n.x * x + keep4(n.y * y + n.z * z))),
        keep4(patches[p].start[1] + keep4(t.x * x + keep4(t.y * y + t.z * z))),
        keep4(patches[p].start[2] + keep4(w.x * x + keep4(w.y * y + w.z * z))),
    );
}

// Adds the forces of a patch and the torques that they have at `arm`.
fn add_wrench(b: ptr<function, Block>, p: u32, r: array<vec4<f32>, 3>, f: array<vec4<f32>, 3>, sign: f32) {
    let n = patches[p].normal;
    let t = patches[p].first_tangent;
    let w = patches[p].second_tangent;
    let x = keep4(n.x * f[0] + keep4(t.x * f[1] + w.x * f[2]));
    let y = keep4(n.y * f[0] + keep4(t.y * f[1] + w.y * f[2]));
    let z = keep4(n.z * f[0] + keep4(t.z * f[1] + w.z * f[2]));
    let force = vec3<f32>(sum4(x), sum4(y), sum4(z));
    let torque = vec3<f32>(
        sum4(keep4(r[1] * z - r[2] * y)),
        sum4(keep4(r[2] * x - r[0] * z)),
        sum4(keep4(r[0] * y - r[1] * x)),
    );
    (*b).fl = keep((*b).fl + force * sign);
    (*b).fa = keep((*b).fa + torque * sign);
}

// Adds the stiffness of a patch: what is the same along all tangents, and what the normal has besides.
fn add_stiffness(b: ptr<function, Block>, n: vec3<f32>, r: array<vec4<f32>, 3>, kn: vec4<f32>, kt: vec4<f32>) {
    let kd = keep4(kn - kt);
    let across = sum4(kt);
    let lx = keep4(kt * r[0]);
    let ly = keep4(kt * r[1]);
    let lz = keep4(kt * r[2]);
    let qx = keep4(r[1] * n.z - r[2] * n.y);
    let qy = keep4(r[2] * n.x - r[0] * n.z);
    let qz = keep4(r[0] * n.y - r[1] * n.x);
    let tx = keep4(kd * qx);
    let ty = keep4(kd * qy);
    let tz = keep4(kd * qz);
    let sx = keep4(lx * r[0]);
    let sy = keep4(ly * r[1]);
    let sz = keep4(lz * r[2]);
    let m = keep(n * sum4(kd));
    (*b).ll.d = keep((*b).ll.d + keep(across + m * n));
    (*b).ll.o = keep((*b).ll.o + keep(vec3<f32>(m.x * n.y, m.x * n.z, m.y * n.z)));
    // sum K_i [r_i]x^T, rows rotate: kt [r]x + (kn - kt) (r x n) n^T.
    let c = vec3<f32>(sum4(lx), sum4(ly), sum4(lz));
    (*b).al.r0 = keep((*b).al.r0 + keep(n * sum4(tx) + vec3<f32>(0.0, -c.z, c.y)));
    (*b).al.r1 = keep((*b).al.r1 + keep(n * sum4(ty) + vec3<f32>(c.z, 0.0, -c.x)));
    (*b).al.r2 = keep((*b).al.r2 + keep(n * sum4(tz) + vec3<f32>(-c.y, c.x, 0.0)));
    (*b).aa.d = keep((*b).aa.d + vec3<f32>(
        sum4(keep4(tx * qx + keep4(sy + sz))),
        sum4(keep4(ty * qy + keep4(sx + sz))),
        sum4(keep4(tz * qz + keep4(sx + sy))),
    ));
    (*b).aa.o = keep((*b).aa.o + vec3<f32>(
        sum4(keep4(tx * qy - lx * r[1])),
        sum4(keep4(tx * qz - lx * r[2])),
        sum4(keep4(ty * qz - ly * r[2])),
    ));
}

// Adds a patch to the block of the body on one side (Eq. 5 and 6 without second derivatives, which vanish for a
// Taylor series).
fn add_patch(b: ptr<function, Block>, p: u32, is_b: bool, push: Push) {
    var r = patches[p].arm_a;
    if is_b {
        r = patches[p].arm_b;
    }
    add_wrench(b, p, r, push.force, select(-1.0, 1.0, is_b));
    add_stiffness(b, patches[p].normal, r, push.normal, push.tangent);
    let count = patches[p].state & 7u;
    for (var i = 0u; i < count; i++) {
        let extra = push.extra[i];
        if extra != 0.0 {
            let along = keep(
                patches[p].first_tangent * push.direction[0][i] + patches[p].second_tangent * push.direction[1][i],
            );
            let arm = vec3<f32>(r[0][i], r[1][i], r[2][i]);
            add_row(b, along, cross3(arm, along), extra, 0.0);
        }
    }
}
