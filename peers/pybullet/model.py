"""A scene as multibodies of Bullet: each tree of joints is one, described in URDF, the only form that has inertia whole."""

import os
import tempfile
from xml.sax.saxutils import quoteattr

import numpy as np
import pybullet as p

from frames import Place, matrix, quaternion
from tree import Link, body_of, forest, frame_on
from wire import Refusal

# Joints that URDF has, and their laws.
SORTS = {"ball": "spherical", "hinge": "revolute", "prismatic": "prismatic", "fixed": "fixed"}
EYE = Place(np.eye(3), np.zeros(3))
FLAGS = p.URDF_USE_INERTIA_FROM_FILE | p.URDF_USE_SELF_COLLISION | p.URDF_USE_IMPLICIT_CYLINDER
STILL = '<inertial><mass value="0"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>'
# Of one multibody; the engine says no more than that it cannot load one with more.
MOST_COORDINATES = 128
# An effort without bound [N or N m].
STRONG = 1e12


def rpy(r: np.ndarray) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation matrix; by arcus tangents, which lose no digits near a right angle."""
    pitch = np.arctan2(-r[2, 0], np.hypot(r[0, 0], r[1, 0]))
    if np.hypot(r[0, 0], r[1, 0]) < 1e-12:
        return float(np.arctan2(-r[1, 2], r[1, 1])), float(pitch), 0.0
    return float(np.arctan2(r[2, 1], r[2, 2])), float(pitch), float(np.arctan2(r[1, 0], r[0, 0]))


def origin(place: Place) -> str:
    x, turn = " ".join(repr(float(c)) for c in place.x), " ".join(repr(c) for c in rpy(place.r))
    return f'<origin xyz="{x}" rpy="{turn}"/>'


def principal(inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Moments and axes; the axes are the body's own where these are principal already."""
    if np.abs(inertia - np.diag(inertia.diagonal())).max() <= 1e-12 * inertia.trace():
        return inertia.diagonal(), np.eye(3)
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    return moments, axes


class Model:
    """What was built of a scene: for each body its multibody, its link, and the frame of that link on it."""

    def __init__(self, scene: dict, settings: dict, broken: set[int], places: list[Place]):
        self.scene = scene
        self.settings = settings
        self.places = places
        bodies = scene["bodies"]
        self.links, self.loops = forest(scene, broken, {"ball"})
        if settings["coordinates"] == "maximal":
            self.links, self.loops = [], [k for k in range(len(scene["joints"])) if k not in broken]
        self.moments = [principal(np.reshape(b["inertia_kg_m2"], (3, 3))) for b in bodies]
        self.at: list[tuple[int, int]] = [(-1, -1)] * len(bodies)
        self.frames = [EYE] * len(bodies)
        self.joint_at: dict[int, tuple[int, int]] = {}
        self.constraints: dict[int, int] = {}
        below: dict[int | None, list[Link]] = {}
        for link in self.links:
            fixed = link.parent is None or bodies[link.parent]["motion"] != "dynamic"
            below.setdefault(None if fixed else link.parent, []).append(link)
            side = "a" if link.turned else "b"
            self.frames[link.child] = frame_on(scene["joints"][link.joint], side)
        hung = {link.child for link in self.links}
        for i in range(len(bodies)):
            if i not in hung:
                self.tree(i, below.get(i, []), below)
        for link in below.get(None, []):
            self.tree(None, [link], below)
        for k in self.loops:
            self.close(k, scene["joints"][k])
        if scene["contacts"] is not None:
            self.filters(broken)

    def tree(self, root: int | None, first: list[Link], below: dict):
        """One multibody: the root, or an empty base on the ground, and all that hangs on it."""
        texts = ['<robot name="tree">']
        texts.append(f'<link name="ground">{STILL}</link>' if root is None else self.link(root))
        order, queue = [], list(first)
        while queue:
            link = queue.pop(0)
            order.append(link)
            texts.append(self.link(link.child))
            texts.append(self.joint(link, root is None and link in first))
            queue.extend(below.get(link.child, []))
        texts.append("</robot>")
        fixed = root is None or self.scene["bodies"][root]["motion"] != "dynamic"
        place = EYE if root is None else self.places[root]
        coordinates = sum(4 if self.scene["joints"][link.joint]["kind"] == "ball" else 1 for link in order)
        if coordinates > MOST_COORDINATES:
            words = f"{coordinates} coordinates in one tree, and PyBullet takes {MOST_COORDINATES}"
            raise Refusal("unsupported", f"{words}: `coordinates: maximal` holds balls by impulses")
        number = self.loaded("".join(texts), place, fixed)
        if root is not None:
            self.at[root] = (number, -1)
        names = {p.getJointInfo(number, j)[12].decode(): j for j in range(p.getNumJoints(number))}
        for link in order:
            place_in = names[f"b{link.child}"]
            self.at[link.child], self.joint_at[link.joint] = (number, place_in), (number, place_in)
        for i in [*([] if root is None else [root]), *(link.child for link in order)]:
            self.settle(i)
        for link in order:
            self.drive(link)

    def loaded(self, text: str, place: Place, fixed: bool) -> int:
        file, name = tempfile.mkstemp(suffix=".urdf")
        with os.fdopen(file, "w") as out:
            out.write(text)
        try:
            return p.loadURDF(name, list(place.x), list(quaternion(place.r)), useFixedBase=fixed, flags=FLAGS)
        except p.error as error:
            raise Refusal("unsupported", f"Bullet does not load it: {error}") from error
        finally:
            os.unlink(name)

    def link(self, i: int) -> str:
        body, on_link = self.scene["bodies"][i], self.frames[i].inverse()
        parts = [f'<link name="b{i}">']
        if body["motion"] == "dynamic":
            moments, axes = self.moments[i]
            ixx, iyy, izz = (repr(float(m)) for m in moments)
            parts.append(f"<inertial>{origin(on_link * Place(axes, np.zeros(3)))}<mass value=\"{body['mass_kg']!r}\"/>")
            parts.append(f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial>')
        else:
            parts.append(STILL)
        if self.scene["contacts"] is not None:
            parts.extend(self.shapes(i, body, body["shape"], on_link))
        return "".join([*parts, "</link>"])

    def shapes(self, i: int, body: dict, shape: dict, place: Place):
        (kind, about), = shape.items()
        if kind == "compound":
            for part in about["parts"]:
                yield from self.shapes(i, body, part["shape"], place * Place.of(part["position"], part["rotation"]))
            return
        if kind == "box":
            form = '<box size="' + " ".join(repr(2 * half) for half in about["half_m"]) + '"/>'
        elif kind == "sphere":
            form = f'<sphere radius="{about["radius_m"]!r}"/>'
        elif kind in ("capsule", "cylinder"):
            form = f'<{kind} radius="{about["radius_m"]!r}" length="{2 * about["half_length_m"]!r}"/>'
        elif body["motion"] == "dynamic":
            raise Refusal("unsupported", f"body {i} is a half space that moves")
        else:
            form = '<plane normal="0 0 1"/>'
        yield f"<collision>{origin(place)}<geometry>{form}</geometry></collision>"

    def joint(self, link: Link, on_ground: bool) -> str:
        joint = self.scene["joints"][link.joint]
        kind = joint["kind"]
        if kind not in SORTS:
            raise Refusal("unsupported", f"joint {link.joint} is a {kind}, which is no joint of Bullet's multibodies")
        side = "b" if link.turned else "a"
        frame = frame_on(joint, side)
        if on_ground:
            # What no force moves is part of the ground.
            above, name = (EYE if link.parent is None else self.places[link.parent]), "ground"
        else:
            above, name = self.frames[link.parent].inverse(), f"b{link.parent}"
        sort, limit = SORTS[kind], ""
        if kind == "hinge" and joint["limit"] is None:
            sort = "continuous"
        if joint["limit"] is not None:
            lower, upper = joint["limit"]
            bounds = [-STRONG if lower is None else lower, STRONG if upper is None else upper]
            limit = f'<limit lower="{bounds[0]!r}" upper="{bounds[1]!r}" effort="{STRONG}" velocity="{STRONG}"/>'
        elif kind == "prismatic":
            # Bounds the wrong way round are none.
            limit = f'<limit lower="1" upper="-1" effort="{STRONG}" velocity="{STRONG}"/>'
        axis = "-1 0 0" if link.turned else "1 0 0"
        return (
            f'<joint name="j{link.joint}" type="{sort}"><parent link={quoteattr(name)}/><child link="b{link.child}"/>'
            f'{origin(above * frame)}<axis xyz="{axis}"/>{limit}</joint>'
        )

    def settle(self, i: int):
        """Switches off what would change the motion in silence."""
        number, link = self.at[i]
        body = self.scene["bodies"][i]
        quiet = dict(linearDamping=0, angularDamping=0, jointDamping=0, maxJointVelocity=STRONG)
        quiet |= dict(rollingFriction=0, spinningFriction=0, restitution=0)
        # Bullet multiplies the coefficients of two shapes, the scene takes their geometric mean.
        mu = float(np.sqrt(body["friction"][0]))
        awake = p.ACTIVATION_STATE_DISABLE_SLEEPING | p.ACTIVATION_STATE_DISABLE_WAKEUP
        p.changeDynamics(number, link, lateralFriction=mu, activationState=awake, **quiet)

    def drive(self, link: Link):
        """Motors; without a bound of zero on its effort every joint would have one that brakes."""
        number, j = self.joint_at[link.joint]
        joint = self.scene["joints"][link.joint]
        if joint["kind"] == "ball":
            p.setJointMotorControlMultiDof(
                number, j, p.POSITION_CONTROL, targetPosition=[0, 0, 0, 1], positionGain=0, velocityGain=0, force=[0, 0, 0]
            )
        elif joint["kind"] != "fixed":
            motor = joint["motor"]
            speed = 0.0 if motor is None else motor["speed"]
            most = 0.0 if motor is None else motor["max_effort"]
            most = STRONG if most is None else most
            p.setJointMotorControl2(number, j, p.VELOCITY_CONTROL, targetVelocity=speed, force=most)

    def end(self, end, anchor) -> tuple[int, int, list[float]]:
        """Multibody, link and pivot, which Bullet wants in the frame of principal axes."""
        body = body_of(end)
        if body is None:
            return -1, -1, list(anchor)
        return *self.at[body], list(self.moments[body][1].T @ np.array(anchor))

    def close(self, k: int, joint: dict):
        if joint["kind"] != "ball":
            raise Refusal("unsupported", f"joint {k} is a {joint['kind']} that is no coordinate, and Bullet has no such constraint")
        a, b = self.end(joint["a"], joint["anchor_a"]), self.end(joint["b"], joint["anchor_b"])
        if a[0] < 0:
            a, b = b, a
        made = p.createConstraint(a[0], a[1], b[0], b[1], p.JOINT_POINT2POINT, [0, 0, 0], a[2], b[2])
        p.changeConstraint(made, maxForce=STRONG)
        self.constraints[k] = made

    def filters(self, broken: set[int]):
        """Neither bodies of one group touch, nor those that a joint connects."""
        bodies = self.scene["bodies"]
        apart = []
        for k, joint in enumerate(self.scene["joints"]):
            a, b = body_of(joint["a"]), body_of(joint["b"])
            if k not in broken and a is not None and b is not None:
                apart.append((a, b))
        groups: dict[int, list[int]] = {}
        for i, body in enumerate(bodies):
            if body["group"] is not None:
                groups.setdefault(body["group"], []).append(i)
        for members in groups.values():
            apart.extend((a, b) for place, a in enumerate(members) for b in members[place + 1 :])
        for a, b in apart:
            p.setCollisionFilterPair(self.at[a][0], self.at[b][0], self.at[a][1], self.at[b][1], 0)

    def pose(self, i: int) -> Place:
        """Where a body is: the engine tells the frame of its principal axes."""
        number, link = self.at[i]
        if link < 0:
            x, q = p.getBasePositionAndOrientation(number)
        else:
            x, q = p.getLinkState(number, link, computeForwardKinematics=1)[:2]
        return Place(matrix(q) @ self.moments[i][1].T, x)
