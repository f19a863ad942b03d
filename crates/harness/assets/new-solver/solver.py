"""A solver for taut: replace `PositionBased` by a method of your own.

    taut --backends backends.ron verify -b mine

The program asks on standard input, one line of JSON for each request, and this answers on standard output. Units are SI,
z is up, a body's frame has its origin at the centre of mass and its quaternion x y z w turns body into world coordinates.
"""

import os
import sys

# Whatever is printed from here on goes to standard error: between the answers it would be taken for one.
ANSWERS = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)

# Import your engine below this line.
import array
import json
import math
import time


class Refusal(Exception):
    """Says no and lives on; kind is unsupported, settings, state, capacity, not_converged, device or internal."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind
        self.message = message


def turn(q, v):
    """A vector turned by a quaternion."""
    x, y, z, w = q
    cx, cy, cz = y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0]
    return [
        v[0] + 2 * (w * cx + y * cz - z * cy),
        v[1] + 2 * (w * cy + z * cx - x * cz),
        v[2] + 2 * (w * cz + x * cy - y * cx),
    ]


def turned_back(q, v):
    return turn([-q[0], -q[1], -q[2], q[3]], v)


def rotated(q, rate, h):
    """A quaternion after turning at a constant rate in world axes for `h` seconds, of unit length again."""
    speed = math.sqrt(sum(r * r for r in rate))
    half = 0.5 * h * speed
    # The limit of sin(half) / speed where nothing turns.
    scale = math.sin(half) / speed if speed > 0 else 0.5 * h
    (ax, ay, az), aw = [scale * r for r in rate], math.cos(half)
    x, y, z, w = q
    out = [
        aw * x + ax * w + ay * z - az * y,
        aw * y - ax * z + ay * w + az * x,
        aw * z + ax * y - ay * x + az * w,
        aw * w - ax * x - ay * y - az * z,
    ]
    length = math.sqrt(sum(c * c for c in out))
    return [c / length for c in out]


def product(matrix, v):
    return [sum(matrix[3 * row + k] * v[k] for k in range(3)) for row in range(3)]


def inverse(m):
    """The inverse of a 3x3 matrix, row by row."""
    a = [m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4]]
    b = [m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5]]
    c = [m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]]
    determinant = m[0] * a[0] + m[1] * b[0] + m[2] * c[0]
    return [x / determinant for x in a + b + c]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


class Side:
    """One end of a joint: a body, or -1 for the world, and the anchor in its coordinates."""

    def __init__(self, endpoint, anchor):
        self.body = endpoint["body"] if isinstance(endpoint, dict) else -1
        self.anchor = anchor


class PositionBased:
    """Bodies under gravity, whose ball joints are closed one after the other at the end of each substep.

    Müller et al., "Detailed Rigid Body Simulation with Extended Position Based Dynamics", 2020, without compliance. Drag
    takes a share of velocity and spin.
    """

    HELLO = {
        "name": "position-based",
        "version": "1",
        "summary": "ball joints closed one by one; the template of a solver in Python",
        "reference": "Müller et al., Detailed Rigid Body Simulation with XPBD, 2020",
        # substep: an iteration is a step of dt / iterations. refine: it improves the same end (see `begin` below).
        "iteration": "substep",
        "determinism": "bitwise",
        "state": "rigid",
        "contacts": "none",
        # Scenes that need a word which is not here are never sent. `taut export` shows the words of a scene.
        "takes": ["body.dynamic", "body.static", "joint.ball"],
        "settings": {"drag": 0.0},
        # Whether it answers `audit` by what it holds of the scene, which is compared before each run.
        "audit": True,
        # Whether it answers `forces` by what joints and contacts exerted in the last step.
        "forces": True,
    }
    WIDTH = 13  # Numbers of a body: position 3, quaternion 4, velocity 3, angular velocity in world axes 3.

    def __init__(self, scene, settings):
        for key, value in settings.items():
            if key not in self.HELLO["settings"]:
                raise Refusal("settings", f"there is no setting `{key}`")
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not 0 <= value <= 1e6:
                raise Refusal("settings", f"`{key}` is {value}, expected a number from 0 to 1e6 [1/s]")
        self.settings = {**self.HELLO["settings"], **settings}
        self.gravity = scene["gravity"]
        self.moving = [i for i, body in enumerate(scene["bodies"]) if body["motion"] == "dynamic"]
        self.mass = [body["mass_kg"] for body in scene["bodies"]]
        self.inertia = [body["inertia_kg_m2"] for body in scene["bodies"]]
        self.inverse = {i: inverse(self.inertia[i]) for i in self.moving}
        ends = (("a", "anchor_a"), ("b", "anchor_b"))
        self.joints = [[Side(joint[body], joint[anchor]) for body, anchor in ends] for joint in scene["joints"]]
        self.size = self.WIDTH * len(scene["bodies"]) + 6 * len(scene["particles"])
        self.time_s = 0.0
        self.numbers = []
        self.broken = []  # Joints that hold nothing, by number.
        self.momentum = {}  # About the centre of mass, in world axes [kg m²/s].
        self.pulls = []  # What each joint gave its second body in the last step [N s].
        self.dt = 1.0

    def load(self, time_s, numbers, broken):
        """Takes a state and forgets everything else."""
        self.time_s = time_s
        self.numbers = numbers
        self.broken = broken
        for i in self.moving:
            body = numbers[13 * i : 13 * i + 13]
            local = turned_back(body[3:7], body[10:13])
            self.momentum[i] = turn(body[3:7], product(self.inertia[i], local))
        self.pulls = [[0.0] * 3 for _ in self.joints]

    def rate(self, i, q):
        """The angular velocity of a body that is turned so."""
        return self.turned_by(i, q, self.momentum[i])

    def turned_by(self, i, q, twist):
        """The inverse inertia, as the body is turned, times a vector in world axes."""
        return turn(q, product(self.inverse[i], turned_back(q, twist)))

    def step(self, dt, iterations):
        self.dt = dt
        self.pulls = [[0.0] * 3 for _ in self.joints]
        h = dt / iterations
        for _ in range(iterations):
            for i in self.moving:
                self.fly(i, h)
            for number, joint in enumerate(self.joints):
                if number not in self.broken:
                    self.close(joint, self.pulls[number], h)
            for i in self.moving:
                at = 13 * i
                self.numbers[at + 10 : at + 13] = array.array("d", self.rate(i, self.numbers[at + 3 : at + 7]))
        self.time_s += dt

    def fly(self, i, h):
        x = self.numbers
        at = 13 * i
        decay = 1.0 / (1.0 + h * self.settings["drag"])
        for k in range(3):
            x[at + 7 + k] = (x[at + 7 + k] + h * self.gravity[k]) * decay
            x[at + k] += h * x[at + 7 + k]
        self.momentum[i] = [each * decay for each in self.momentum[i]]
        # By the rate in the middle of the substep: second order.
        q = list(x[at + 3 : at + 7])
        middle = rotated(q, self.rate(i, q), 0.5 * h)
        x[at + 3 : at + 7] = array.array("d", rotated(q, self.rate(i, middle), h))

    def close(self, joint, pull, h):
        """Moves both bodies of a joint by equal and opposite pushes at its anchors until these are in one place."""
        x = self.numbers
        gap, arms, matrix = [0.0] * 3, [], [0.0] * 9
        for side, sign in zip(joint, (1.0, -1.0)):
            i, place, arm = side.body, [0.0] * 3, side.anchor
            if i >= 0:
                place, arm = x[13 * i : 13 * i + 3], turn(x[13 * i + 3 : 13 * i + 7], side.anchor)
            arms.append(arm)
            gap = [gap[k] + sign * (place[k] + arm[k]) for k in range(3)]
            if i in self.inverse:
                q = x[13 * i + 3 : 13 * i + 7]
                for k in range(3):
                    # Where the anchor goes when it is pushed along this axis.
                    push = [float(axis == k) for axis in range(3)]
                    way = cross(self.turned_by(i, q, cross(arm, push)), arm)
                    for row in range(3):
                        matrix[3 * row + k] += push[row] / self.mass[i] + way[row]
        push = product(inverse(matrix), gap)
        for side, arm, sign in zip(joint, arms, (-1.0, 1.0)):
            i = side.body
            if i not in self.inverse:
                continue
            at = 13 * i
            for k in range(3):
                moved = sign * push[k] / self.mass[i]
                x[at + k] += moved
                x[at + 7 + k] += moved / h
            q = list(x[at + 3 : at + 7])
            twist = [sign * each for each in cross(arm, push)]
            x[at + 3 : at + 7] = array.array("d", rotated(q, self.turned_by(i, q, twist), 1.0))
            self.momentum[i] = [m + t / h for m, t in zip(self.momentum[i], twist)]
        for k in range(3):
            pull[k] += push[k] / h

    def read(self):
        """Time [s], the numbers of the state, and which joints are broken. Changes nothing."""
        return self.time_s, self.numbers, self.broken

    def forces(self):
        """For each joint its force on the second body [N] and the torque there; contacts would follow. Changes nothing."""
        return [number for pull in self.pulls for number in (*(each / self.dt for each in pull), 0.0, 0.0, 0.0)]

    def audit(self):
        """What is held of the scene, from the arrays that steps are taken with, never from the scene itself."""
        bodies = [{"mass": m, "centre": [0, 0, 0], "inertia": i} for m, i in zip(self.mass, self.inertia)]
        joints = [{"rows": 3, "anchor_a": a.anchor, "anchor_b": b.anchor} for a, b in self.joints]
        return {
            "gravity": self.gravity,
            "precision": "f64",
            "sleeping": False,
            "damping_linear": self.settings["drag"],
            "damping_angular": 0,
            "bodies": bodies,
            "joints": joints,
        }


class Conversation:
    """Requests and answers, protocol 1. Nothing here need be changed for another method."""

    def __init__(self, method):
        self.method = method
        self.solver = None

    def answer(self, request, block):
        """The keys of an answer and the bytes after it."""
        name = request["do"]
        if name in ("ping", "bye"):
            return {}, b""
        if name == "hello":
            if 1 not in request["protocol"]:
                raise Refusal("unsupported", "this solver speaks protocol 1")
            return {"protocol": 1, **self.method.HELLO}, b""
        if name == "scene":
            self.solver = self.method(json.loads(block), request["settings"])
            return {"settings": self.solver.settings}, b""
        if self.solver is None and name in ("load", "step", "read"):
            raise Refusal("internal", f"`{name}` before any scene")
        if name == "load":
            return self.load(request, block)
        if name == "step":
            return self.step(request)
        if name == "read":
            return self.read()
        if name == "audit" and self.solver is not None and hasattr(self.solver, "audit"):
            block = json.dumps(self.solver.audit()).encode()
            return {"bytes": len(block)}, block
        if name == "forces" and self.solver is not None and hasattr(self.solver, "forces"):
            block = little_endian(array.array("d", self.solver.forces())).tobytes()
            return {"bytes": len(block)}, block
        # Where `iteration` is refine: `begin` as `step`, then `iterate` with a `count`, then `end`.
        raise Refusal("unknown", f"there is no request `{name}`")

    def load(self, request, block):
        due = 8 * self.solver.size
        if len(block) != due:
            raise Refusal("state", f"a state of {len(block)} bytes where {due} are due")
        self.solver.load(request["time_s"], little_endian(array.array("d", block)), request["broken"])
        return {}, b""

    def step(self, request):
        # What stages took may be told, too: "stages": {"collide": .., "prepare": .., "iterate": .., "finish": ..} [s].
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(request["count"]):
            self.solver.step(request["dt"], request["iterations"])
        return {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}, b""

    def read(self):
        time_s, numbers, broken = self.solver.read()
        block = little_endian(array.array("d", numbers)).tobytes()
        return {"time_s": time_s, "broken": broken, "bytes": len(block)}, block


def little_endian(numbers):
    """Numbers in the order of bytes of a block, or from it."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def serve(method):
    conversation = Conversation(method)
    requests = sys.stdin.buffer
    # The end of the input is the end of this process.
    while line := requests.readline():
        request = json.loads(line)
        block = requests.read(request.get("bytes", 0))
        answer, after = {"ok": True}, b""
        try:
            keys, after = conversation.answer(request, block)
            answer.update(keys)
        except Refusal as refusal:
            answer = {"ok": False, "kind": refusal.kind, "message": refusal.message}
        answer["n"] = request["n"]
        ANSWERS.write(json.dumps(answer).encode() + b"\n" + after)
        ANSWERS.flush()
        if request["do"] == "bye":
            break


if __name__ == "__main__":
    serve(PositionBased)
