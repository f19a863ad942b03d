// Motion of a rigid body without constraints; twin of `free_omega` in crates/model/src/motion.rs.

//#use shared/math.wgsl

// Angular velocity after a step of free rotation: one Newton step of I (w' - w) + h w' x I w' = 0.
fn free_omega(w: vec3<f32>, inertia: Sym3, h: f32) -> vec3<f32> {
    let l = sym_apply(inertia, w);
    let residual = cross3(w, l) * h;
    // d(w x I w) = [w]x I - [I w]x.
    let r0 = vec3<f32>(inertia.d.x, inertia.o.x, inertia.o.y);
    let r1 = vec3<f32>(inertia.o.x, inertia.d.y, inertia.o.z);
    let r2 = vec3<f32>(inertia.o.y, inertia.o.z, inertia.d.z);
    let s0 = cross3(w, r0);
    let s1 = cross3(w, r1);
    let s2 = cross3(w, r2);
    let m = skew(l);
    let c0 = vec3<f32>(
        r0.x + (s0.x - m.r0.x) * h,
        r1.x + (s0.y - m.r1.x) * h,
        r2.x + (s0.z - m.r2.x) * h,
    );
    let c1 = vec3<f32>(
        r0.y + (s1.x - m.r0.y) * h,
        r1.y + (s1.y - m.r1.y) * h,
        r2.y + (s1.z - m.r2.y) * h,
    );
    let c2 = vec3<f32>(
        r0.z + (s2.x - m.r0.z) * h,
        r1.z + (s2.y - m.r1.z) * h,
        r2.z + (s2.z - m.r2.z) * h,
    );
    let determinant = dot3(c0, cross3(c1, c2));
    if abs(determinant) > 0.0 {
        let scale = 1.0 / determinant;
        let solved = vec3<f32>(
            dot3(residual, cross3(c1, c2)),
            dot3(c0, cross3(residual, c2)),
            dot3(c0, cross3(c1, residual)),
        );
        return w - solved * scale;
    }
    return w;
}
