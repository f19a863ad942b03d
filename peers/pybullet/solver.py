"""Bullet by PyBullet as a row of taut. What it does with a scene and why is in README.md."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common"))

import wire  # First: it takes standard output away from the engine.

import importlib.metadata

import numpy as np
import pybullet as p

from audit import audit
from frames import Place, about, body_places, quaternion, start_of
from model import EYE, Model
from tree import frame_on
from wire import Refusal, number, one_of

# A state that is farther from all that the coordinates can hold is refused [m, and as share of a turn].
OFF = 1e-6


class PyBullet:
    """One scene; a state is loaded into a world made anew, since nothing else forgets what contacts remember."""

    HELLO = {
        "name": "pybullet",
        "version": importlib.metadata.version("pybullet"),
        "summary": "Bullet: articulated bodies, contacts and constraints by sequential impulses",
        "reference": "Coumans: Bullet physics SDK; Featherstone: Rigid body dynamics algorithms (2008)",
        "iteration": "substep",
        "determinism": "bitwise",
        "state": "rigid",
        "contacts": "own",
        "takes": [
            *("body.dynamic", "body.static"),
            *("joint.ball", "joint.hinge", "joint.prismatic", "joint.fixed"),
            *("joint.limit", "joint.motor", "joint.loop"),
            *("contact", "contact.groups"),
            *("shape.box", "shape.sphere", "shape.capsule", "shape.cylinder", "shape.compound", "shape.half_space"),
        ],
    }
    SETTINGS = {
        "coordinates": ("reduced", one_of("reduced", "maximal")),
        "solver_iterations": (50, number(1, 100_000, whole=True)),
        "erp": (0.2, number(0, 1)),
        "contact_erp": (0.2, number(0, 1)),
        "friction_erp": (0.2, number(0, 1)),
        "residual": (1e-7, number(0, 1)),
    }

    def __init__(self, scene: dict, settings: dict):
        self.scene = scene
        self.settings = settings
        self.moves = np.array([body["motion"] == "dynamic" for body in scene["bodies"]], bool)
        self.build(body_places(start_of(scene)), ())

    def build(self, places: list[Place], broken):
        p.resetSimulation()
        p.setGravity(*self.scene["gravity"])
        p.setPhysicsEngineParameter(
            numSolverIterations=self.settings["solver_iterations"],
            solverResidualThreshold=self.settings["residual"],
            erp=self.settings["erp"],
            contactERP=self.settings["contact_erp"],
            frictionERP=self.settings["friction_erp"],
            numSubSteps=0,
            deterministicOverlappingPairs=1,
            # Nothing falls asleep, and nothing is written.
            reportSolverAnalytics=0,
        )
        self.model = Model(self.scene, self.settings, set(broken), places)

    def load(self, time_s: float, bodies: np.ndarray, broken: list[int]):
        places = body_places(bodies)
        self.loaded = bodies
        self.build(places, broken)
        hung = {link.child for link in self.model.links}
        for i in range(len(bodies)):
            # A base lies where it was loaded.
            if i not in hung and self.moves[i]:
                base = self.model.at[i][0]
                p.resetBaseVelocity(base, list(bodies[i, 7:10]), list(bodies[i, 10:13]))
        for link in self.model.links:
            self.hang(link, bodies, places)
        self.check(places)

    def hang(self, link, bodies: np.ndarray, places: list[Place]):
        """Coordinate and rate of a joint."""
        joint = self.scene["joints"][link.joint]
        above, below = ("b", "a") if link.turned else ("a", "b")
        still = link.parent is None or not self.moves[link.parent]
        parent = EYE if link.parent is None else places[link.parent]
        fp, fc = parent * frame_on(joint, above), places[link.child] * frame_on(joint, below)
        moved = fp.inverse() * fc
        own = bodies[link.child]
        rates = np.zeros(13) if still else bodies[link.parent]
        spin = own[10:13] - rates[10:13]
        number, j = self.model.joint_at[link.joint]
        axis = np.array([-1.0 if link.turned else 1.0, 0, 0])
        kind = joint["kind"]
        if kind == "ball":
            p.resetJointStateMultiDof(
                number, j, targetValue=list(quaternion(moved.r)), targetVelocity=list(fc.r.T @ spin)
            )
        elif kind == "hinge":
            p.resetJointState(number, j, about(moved.r, axis), float(fp.r @ axis @ spin))
        elif kind == "prismatic":
            along = fp.r @ axis
            arms = [np.cross(rates[10:13], fc.x - parent.x), np.cross(own[10:13], fc.x - places[link.child].x)]
            speed = own[7:10] + arms[1] - rates[7:10] - arms[0]
            p.resetJointState(number, j, float(axis @ moved.x), float(along @ speed))

    def check(self, places: list[Place]):
        """That the coordinates hold what was loaded."""
        for i, place in enumerate(places):
            found = self.model.pose(i)
            size = 1.0 + float(np.abs(place.x).max())
            far, turned = np.linalg.norm(found.x - place.x) / size, np.linalg.norm(found.r - place.r)
            if not max(far, turned) <= OFF:
                words = f"body {i} is {far * size:.2e} m and {turned:.2e} off what its coordinates can hold"
                raise Refusal("state", words)

    def step(self, dt: float, iterations: int):
        p.setTimeStep(dt / iterations)
        for _ in range(iterations):
            p.stepSimulation()

    def read(self) -> np.ndarray:
        out = self.loaded.copy()
        for i in np.flatnonzero(self.moves):
            place = self.model.pose(i)
            number, link = self.model.at[i]
            if link < 0:
                linear, angular = p.getBaseVelocity(number)
            else:
                linear, angular = p.getLinkState(number, link, computeLinkVelocity=1, computeForwardKinematics=1)[6:8]
            out[i] = [*place.x, *quaternion(place.r), *linear, *angular]
        return out

    def audit(self) -> dict:
        return audit(self)


if __name__ == "__main__":
    p.connect(p.DIRECT)
    wire.serve(PyBullet)
