// Vectors and quaternions x y z w as arrays, in double precision.

export const X = [1, 0, 0];
export const Y = [0, 1, 0];
export const Z = [0, 0, 1];

/** A quaternion of unit length. */
export function unit(q) {
  const length = Math.hypot(...q);
  return q.map((c) => c / length);
}

/** A vector turned by a quaternion of unit length. */
export function turned([x, y, z, w], [a, b, c]) {
  const [u, v, t] = [y * c - z * b, z * a - x * c, x * b - y * a];
  return [a + 2 * (w * u + y * t - z * v), b + 2 * (w * v + z * u - x * t), c + 2 * (w * t + x * v - y * u)];
}

/** The rotation by `q` after that by `p`. */
export function product([x, y, z, w], [a, b, c, d]) {
  return [
    w * a + x * d + y * c - z * b,
    w * b - x * c + y * d + z * a,
    w * c + x * b - y * a + z * d,
    w * d - x * a - y * b - z * c,
  ];
}

export const sum = (a, b) => a.map((c, i) => c + b[i]);

/** `u` and `v` in shares of the cosine and sine of an angle: `u` turned towards `v`, where they are orthogonal. */
export const between = (u, v, angle) => u.map((c, i) => Math.cos(angle) * c + Math.sin(angle) * v[i]);
