// Where corners of drawables are in the world.

//#use draw/types.wgsl

@group(0) @binding(0) var<uniform> view: Optics;
@group(0) @binding(1) var<storage, read> corners: array<MeshCorner>;
@group(0) @binding(2) var<storage, read> drawables: array<Drawable>;

fn place(drawable: Drawable, position: vec3<f32>) -> vec3<f32> {
    let p = vec4<f32>(position, 1.0);
    return vec3<f32>(dot(drawable.x, p), dot(drawable.y, p), dot(drawable.z, p));
}

// By cofactors, which need no inverse and bear flattened frames; a reflection turns normals over.
fn place_normal(drawable: Drawable, normal: vec3<f32>) -> vec3<f32> {
    let a = vec3<f32>(drawable.x.x, drawable.y.x, drawable.z.x);
    let b = vec3<f32>(drawable.x.y, drawable.y.y, drawable.z.y);
    let c = vec3<f32>(drawable.x.z, drawable.y.z, drawable.z.z);
    let bc = cross(b, c);
    let turned = bc * normal.x + cross(c, a) * normal.y + cross(a, b) * normal.z;
    let side = select(-1.0, 1.0, dot(a, bc) >= 0.0);
    let size = length(turned);
    return select(vec3<f32>(0.0, 0.0, 1.0), side * turned / size, size > 0.0);
}
