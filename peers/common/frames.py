"""Rotations and places. Quaternions are x y z w and turn body coordinates into world coordinates."""

import numpy as np


def matrix(q) -> np.ndarray:
    """The rotation matrix of a quaternion, which need not be of unit length."""
    x, y, z, w = np.asarray(q, float) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion(r: np.ndarray) -> np.ndarray:
    """The quaternion of a rotation matrix with w >= 0, by the largest of its four squares."""
    squares = np.array([r[0, 0], r[1, 1], r[2, 2], r.trace()])
    k = int(squares.argmax())
    if k == 3:
        q = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1], 1 + r.trace()])
    else:
        i, j = (k + 1) % 3, (k + 2) % 3
        q = np.zeros(4)
        q[k], q[i], q[j] = 1 + r[k, k] - r[i, i] - r[j, j], r[i, k] + r[k, i], r[j, k] + r[k, j]
        q[3] = r[j, i] - r[i, j]
    q /= np.linalg.norm(q)
    return -q if q[3] < 0 else q


def about(r: np.ndarray, axis: np.ndarray) -> float:
    """The angle in (-pi, pi] of a rotation that turns about a unit axis."""
    q = quaternion(r)
    angle = 2 * np.arctan2(q[:3] @ axis, q[3])
    return float(angle - 2 * np.pi if angle > np.pi else angle)


class Place:
    """Where a frame lies in another: turn, then move."""

    def __init__(self, r: np.ndarray, x):
        self.r = r
        self.x = np.asarray(x, float)

    @classmethod
    def of(cls, x, q) -> "Place":
        return cls(matrix(q), x)

    def __mul__(self, inner: "Place") -> "Place":
        return Place(self.r @ inner.r, self.x + self.r @ inner.x)

    def inverse(self) -> "Place":
        return Place(self.r.T, -self.r.T @ self.x)

    def point(self, x) -> np.ndarray:
        return self.x + self.r @ np.asarray(x, float)


def body_places(bodies: np.ndarray) -> list[Place]:
    """The places of the bodies of a state, or of a scene as rows of position and quaternion."""
    return [Place.of(b[0:3], b[3:7]) for b in bodies]


def start_of(scene: dict) -> np.ndarray:
    """Positions and quaternions of the bodies where a scene starts."""
    return np.array([[*b["position"], *b["rotation"]] for b in scene["bodies"]], float).reshape(-1, 7)
