"""DART as a row of taut: joints only. What it does with a scene and why is in README.md."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common"))

import wire  # First: it takes standard output away from the engine.

import dartpy as dart
import numpy as np

from frames import Place, about, body_places, matrix, quaternion, start_of
from tree import OPEN, Link, body_of, forest, frame_on, openness
from wire import Refusal

EYE = Place(np.eye(3), np.zeros(3))
# What a loop can be closed by.
CONSTRAINTS = ("ball", "fixed")


def isometry(place: Place):
    return dart.math.Isometry3(place.r, place.x)


class Dart:
    """One scene; a state is loaded into a world made anew, since constraints take their anchors from where bodies are."""

    HELLO = {
        "name": "dart",
        "version": dart.__version__,
        "summary": "DART: coordinates of joints, limits and motors by a linear complementarity problem",
        "reference": "Lee et al.: DART: dynamic animation and robotics toolkit, JOSS 3(22), 2018",
        "iteration": "substep",
        "determinism": "bitwise",
        "state": "rigid",
        "contacts": "none",
        "takes": [
            *("body.dynamic", "body.static"),
            *("joint.ball", "joint.hinge", "joint.universal", "joint.prismatic", "joint.fixed"),
            *("joint.limit", "joint.motor", "joint.damping", "joint.loop"),
        ],
    }
    SETTINGS: dict = {}

    def __init__(self, scene: dict, settings: dict):
        self.scene = scene
        self.settings = settings
        self.moves = np.array([body["motion"] == "dynamic" for body in scene["bodies"]], bool)
        self.build(body_places(start_of(scene)), set())

    def build(self, places: list[Place], broken: set[int]):
        self.world = dart.simulation.World()
        self.world.setGravity(self.scene["gravity"])
        awake = self.world.getDeactivationOptions()
        awake.mEnabled = False
        self.world.setDeactivationOptions(awake)
        self.links, self.loops = forest(self.scene, broken, set(CONSTRAINTS))
        self.made = {}
        self.joints = {}
        self.skeletons = []
        below: dict[int | None, list[Link]] = {}
        for link in self.links:
            fixed = link.parent is None or not self.moves[link.parent]
            below.setdefault(None if fixed else link.parent, []).append(link)
        hung = {link.child for link in self.links}
        for i in np.flatnonzero(self.moves):
            if int(i) not in hung:
                skeleton = self.skeleton()
                joint, body = skeleton.createFreeJointAndBodyNodePair(None)
                self.body(int(i), body)
                joint.setPositions(dart.dynamics.FreeJoint.convertToPositions(isometry(places[i])))
                self.hang(skeleton, body, below.get(int(i), []), below, places)
        for link in below.get(None, []):
            self.hang(self.skeleton(), None, [link], below, places)
        for skeleton in self.skeletons:
            self.world.addSkeleton(skeleton)
        for k in self.loops:
            self.close(k, places)

    def skeleton(self):
        skeleton = dart.dynamics.Skeleton(f"s{len(self.skeletons)}")
        self.skeletons.append(skeleton)
        return skeleton

    def body(self, i: int, body):
        about_it = self.scene["bodies"][i]
        inertia = np.reshape(about_it["inertia_kg_m2"], (3, 3))
        body.setInertia(dart.dynamics.Inertia(about_it["mass_kg"], np.zeros(3), inertia))
        self.made[i] = body

    def hang(self, skeleton, parent, links: list[Link], below: dict, places: list[Place]):
        """All that hangs on a body or on the ground, with the coordinates that the places tell."""
        queue = [(link, parent) for link in links]
        while queue:
            link, above = queue.pop(0)
            joint = self.scene["joints"][link.joint]
            made, body = self.coordinate(skeleton, above, link, joint)
            outer, inner = ("b", "a") if link.turned else ("a", "b")
            # What no force moves is part of the ground.
            on_ground = EYE if link.parent is None or above is not None else places[link.parent]
            made.setTransformFromParentBodyNode(isometry(on_ground * frame_on(joint, outer)))
            made.setTransformFromChildBodyNode(isometry(frame_on(joint, inner)))
            self.body(link.child, body)
            self.joints[link.joint] = (made, link)
            parent_place = EYE if link.parent is None else places[link.parent]
            moved = (parent_place * frame_on(joint, outer)).inverse() * (places[link.child] * frame_on(joint, inner))
            self.place(made, joint["kind"], moved, link.turned)
            queue.extend((other, body) for other in below.get(link.child, []))

    def coordinate(self, skeleton, above, link: Link, joint: dict):
        kind = joint["kind"]
        known = {"ball": "Ball", "hinge": "Revolute", "universal": "Universal", "prismatic": "Prismatic", "fixed": "Weld"}
        if kind not in known:
            raise Refusal("unsupported", f"joint {link.joint} is a {kind}, which is no joint of DART")
        made, body = getattr(skeleton, f"create{known[kind]}JointAndBodyNodePair")(above)
        # A child that is the scene's A moves the other way round.
        sign = -1.0 if link.turned else 1.0
        x, y = np.array([sign, 0, 0]), np.array([0, sign, 0])
        if kind in ("hinge", "prismatic"):
            made.setAxis(x)
            self.drive(made, joint)
        elif kind == "universal":
            made.setAxis1(y if link.turned else x)
            made.setAxis2(x if link.turned else y)
        return made, body

    def drive(self, made, joint: dict):
        made.setDampingCoefficient(0, joint.get("damping", 0.0))
        if joint["limit"] is not None:
            lower, upper = joint["limit"]
            made.setPositionLowerLimit(0, -np.inf if lower is None else lower)
            made.setPositionUpperLimit(0, np.inf if upper is None else upper)
            made.setLimitEnforcement(True)
        if joint["motor"] is not None:
            most = joint["motor"]["max_effort"]
            most = np.inf if most is None else most
            made.setActuatorType(dart.dynamics.ActuatorType.SERVO)
            made.setForceLowerLimit(0, -most)
            made.setForceUpperLimit(0, most)
            made.setCommand(0, joint["motor"]["speed"])

    def place(self, made, kind: str, moved: Place, turned: bool):
        sign = -1.0 if turned else 1.0
        x, y = np.array([sign, 0, 0]), np.array([0, sign, 0])
        if kind == "ball":
            made.setPositions(dart.dynamics.BallJoint.convertToPositions(moved.r))
        elif kind == "hinge":
            made.setPosition(0, about(moved.r, x))
        elif kind == "prismatic":
            made.setPosition(0, float(x @ moved.x))
        elif kind == "universal":
            u, v = (y, x) if turned else (x, y)
            out, back = moved.r @ v, moved.r.T @ u
            made.setPosition(0, float(np.arctan2(u @ np.cross(v, out), v @ out)))
            made.setPosition(1, float(-np.arctan2(v @ np.cross(u, back), u @ back)))

    def close(self, k: int, places: list[Place]):
        """A loop by a constraint, which takes both anchors from where the bodies are."""
        joint = self.scene["joints"][k]
        ends = [body_of(joint[side]) for side in "ab"]
        a, b = (EYE if end is None else places[end] for end in ends)
        if joint["kind"] not in CONSTRAINTS or openness(joint, a, b) > OPEN:
            raise Refusal("unsupported", f"joint {k}: DART has no constraint for an open loop, or one of this kind")
        bodies = [self.made[end] for end in ends if end is not None and self.moves[end]]
        if joint["kind"] == "ball":
            made = dart.constraint.BallJointConstraint(*bodies, a.point(joint["anchor_a"]))
        else:
            made = dart.constraint.WeldJointConstraint(*bodies)
        self.world.getConstraintSolver().addConstraint(made)

    def load(self, time_s: float, bodies: np.ndarray, broken: list[int]):
        self.loaded = bodies
        places = body_places(bodies)
        self.build(places, set(broken))
        for i, body in self.made.items():
            found = body.getWorldTransform().matrix()
            far = np.linalg.norm(found[:3, 3] - places[i].x) / (1 + np.abs(places[i].x).max())
            turned = np.linalg.norm(found[:3, :3] - places[i].r)
            if not max(far, turned) <= OPEN:
                raise Refusal("state", f"body {i} is {far:.2e} and {turned:.2e} off what its coordinates can hold")
        for skeleton in self.skeletons:
            self.share_momentum(skeleton, bodies)
        self.world.setTime(time_s)

    def share_momentum(self, skeleton, bodies: np.ndarray):
        """Rates that carry the momentum of the bodies: where these fit the joints, just their motion."""
        momentum = np.zeros(skeleton.getNumDofs())
        for i, body in self.made.items():
            if body.getSkeleton().getName() != skeleton.getName():
                continue
            r = matrix(bodies[i, 3:7])
            spin = r @ body.getInertia().getMoment() @ r.T @ bodies[i, 10:13]
            both = np.concatenate([spin, body.getMass() * bodies[i, 7:10]])
            momentum += skeleton.getWorldJacobian(body).T @ both
        if momentum.size:
            skeleton.setVelocities(np.linalg.solve(skeleton.getMassMatrix(), momentum))

    def step(self, dt: float, iterations: int):
        self.world.setTimeStep(dt / iterations)
        for _ in range(iterations):
            # Commands of motors stay.
            self.world.step(False)

    def read(self) -> np.ndarray:
        out = self.loaded.copy()
        for i, body in self.made.items():
            at = body.getWorldTransform().matrix()
            linear, angular = np.ravel(body.getLinearVelocity()), np.ravel(body.getAngularVelocity())
            out[i] = [*at[:3, 3], *quaternion(at[:3, :3]), *linear, *angular]
        return out

    def audit(self) -> dict:
        return {
            "gravity": np.ravel(self.world.getGravity()).tolist(),
            "precision": "f64",
            "threads": int(self.world.getNumSimulationThreads()),
            "sleeping": bool(self.world.getDeactivationOptions().mEnabled),
            # There is none but that of joints.
            "damping_linear": 0,
            "damping_angular": 0,
            "speed_max": None,
            "gyroscopic": True,
            "bodies": [self.audited_body(i) for i in range(len(self.moves))],
            "joints": self.audited_joints(),
            "effective": {
                "time_step": self.world.getTimeStep(),
                "solver": type(self.world.getConstraintSolver().getBoxedLcpSolver()).__name__,
                "degrees_of_freedom": sum(skeleton.getNumDofs() for skeleton in self.skeletons),
            },
        }

    def audited_body(self, i: int) -> dict:
        if i not in self.made:
            return {"mass": None}
        inertia = self.made[i].getInertia()
        moment = np.reshape(inertia.getMoment(), (3, 3))
        return {
            "mass": inertia.getMass(),
            "centre": np.ravel(inertia.getLocalCOM()).tolist(),
            "inertia": moment.ravel().tolist(),
        }

    def audited_joints(self) -> list[dict]:
        """Constraints tell no anchors once they are made."""
        found: list[dict] = [{} for _ in self.scene["joints"]]
        start = body_places(start_of(self.scene))
        for k, (made, link) in self.joints.items():
            parent = np.ravel(made.getTransformFromParentBodyNode().translation())
            if link.parent is not None and not self.moves[link.parent]:
                parent = start[link.parent].inverse().point(parent)
            child = made.getTransformFromChildBodyNode()
            ends = [parent, np.ravel(child.translation())]
            kind = self.scene["joints"][k]["kind"]
            axis = None
            if kind in ("hinge", "prismatic") and not link.turned:
                axis = (child.rotation() @ np.ravel(made.getAxis())).tolist()
            a, b = reversed(ends) if link.turned else ends
            found[k] = {
                "law": "coordinates",
                "rows": 6 - made.getNumDofs(),
                "anchor_a": a.tolist(),
                "anchor_b": b.tolist(),
                "axis": axis,
            }
        for k in self.loops:
            found[k] = {"law": "complementarity"}
        return found


if __name__ == "__main__":
    wire.serve(Dart)
