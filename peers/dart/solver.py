"""DART as a row of taut. What it does with a scene and why is in README.md."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common"))

import wire  # First: it takes standard output away from the engine.

import dartpy as dart
import numpy as np

from audit import audit
from frames import Place, body_places, matrix, quaternion, start_of
from model import DETECTORS, Model
from tree import OPEN
from wire import Refusal, flag, number, one_of


def driven(body: np.ndarray, time_s: float):
    """Coordinates of a free joint after a time at constant velocities."""
    turn = dart.math.expMapRot(time_s * body[10:13]) @ matrix(body[3:7])
    return dart.dynamics.FreeJoint.convertToPositions(dart.math.Isometry3(turn, body[:3] + time_s * body[7:10]))


class Dart:
    """One scene; a state is loaded into a world made anew, since constraints take their anchors from where bodies are."""

    HELLO = {
        "name": "dart",
        "version": dart.__version__,
        "summary": "DART: coordinates of joints, contacts, limits and motors by a complementarity problem",
        "reference": "Lee et al.: DART: dynamic animation and robotics toolkit, JOSS 3(22), 2018",
        "iteration": "substep",
        "determinism": "bitwise",
        "state": "rigid",
        "contacts": "own",
        "takes": [
            *("body.dynamic", "body.static", "body.kinematic"),
            *("joint.ball", "joint.hinge", "joint.universal", "joint.prismatic", "joint.fixed"),
            *("joint.limit", "joint.motor", "joint.damping", "joint.loop"),
            *("contact", "contact.restitution", "contact.groups"),
            *("shape.box", "shape.sphere", "shape.capsule", "shape.cylinder", "shape.compound", "shape.half_space"),
        ],
    }
    SETTINGS = {
        "collision": ("ode", one_of(*DETECTORS)),
        "friction": ("cone", one_of("cone", "box")),
        "sweeps": (100, number(1, 1_000_000, whole=True)),
        "tolerance": (1e-5, number(0, 1)),
        "split_impulse": (False, flag),
        "erp": (0.01, number(0, 1)),
        "erv_m_s": (1.0, number(0, 1e6)),
        "cfm": (1e-5, number(1e-9, 1)),
    }

    def __init__(self, scene: dict, settings: dict):
        self.scene = scene
        self.settings = settings
        self.moves = np.array([body["motion"] == "dynamic" for body in scene["bodies"]], bool)
        self.build(body_places(start_of(scene)), set())

    def build(self, places: list[Place], broken: set[int]):
        self.model = Model(self.scene, self.settings, broken, places)
        self.most_contacts = 0
        self.room = int(self.model.world.getConstraintSolver().getCollisionOption().maxNumContacts)

    def load(self, time_s: float, bodies: np.ndarray, broken: list[int]):
        self.loaded, self.gone_s = bodies, 0.0
        places = body_places(bodies)
        self.build(places, set(broken))
        for i, body in self.model.made.items():
            found = body.getWorldTransform().matrix()
            far = np.linalg.norm(found[:3, 3] - places[i].x) / (1 + np.abs(places[i].x).max())
            turned = np.linalg.norm(found[:3, :3] - places[i].r)
            if not max(far, turned) <= OPEN:
                raise Refusal("state", f"body {i} is {far:.2e} and {turned:.2e} off what its coordinates can hold")
        for i, (joint, _) in self.model.driven.items():
            # The rates of a free joint are those in the world, angular ones first.
            speeds = np.concatenate([bodies[i, 10:13], bodies[i, 7:10]])
            joint.setVelocities(speeds)
            joint.setCommands(speeds)
        for skeleton in self.model.skeletons:
            self.share_momentum(skeleton, bodies)
        self.model.world.setTime(time_s)

    def share_momentum(self, skeleton, bodies: np.ndarray):
        """Rates that carry the momentum of the bodies: where these fit the joints, just their motion."""
        momentum = np.zeros(skeleton.getNumDofs())
        for i, body in self.model.made.items():
            if body.getSkeleton().getName() != skeleton.getName():
                continue
            r = matrix(bodies[i, 3:7])
            spin = r @ body.getInertia().getMoment() @ r.T @ bodies[i, 10:13]
            both = np.concatenate([spin, body.getMass() * bodies[i, 7:10]])
            momentum += skeleton.getWorldJacobian(body).T @ both
        # What a kinematic body has is given; it is the root of its tree.
        first = 6 if any(body.getSkeleton().getName() == skeleton.getName() for _, body in self.model.driven.values()) else 0
        if momentum.size > first:
            mass, speeds = np.reshape(skeleton.getMassMatrix(), (momentum.size, momentum.size)), np.ravel(skeleton.getVelocities())
            given = mass[first:, :first] @ speeds[:first]
            speeds[first:] = np.linalg.solve(mass[first:, first:], momentum[first:] - given)
            skeleton.setVelocities(speeds)

    def step(self, dt: float, iterations: int):
        world = self.model.world
        world.setTimeStep(dt / iterations)
        for _ in range(iterations):
            # Commands stay.
            world.step(False)
            self.gone_s += dt / iterations
            for i, (joint, _) in self.model.driven.items():
                # The engine's own sum of turns is 1e-7 off after a second.
                joint.setPositions(driven(self.loaded[i], self.gone_s))
            if self.model.shapes:
                self.count_contacts(world.getLastCollisionResult().getNumContacts())

    def count_contacts(self, count: int):
        """It keeps so many and drops the rest in silence."""
        self.most_contacts = max(self.most_contacts, count)
        if count >= self.room:
            raise Refusal("capacity", f"{count} contacts, and DART keeps {self.room}")

    def read(self) -> np.ndarray:
        out = self.loaded.copy()
        for i, body in [*self.model.made.items(), *((i, body) for i, (_, body) in self.model.driven.items())]:
            at = body.getWorldTransform().matrix()
            linear, angular = np.ravel(body.getLinearVelocity()), np.ravel(body.getAngularVelocity())
            out[i] = [*at[:3, 3], *quaternion(at[:3, :3]), *linear, *angular]
        return out

    def audit(self) -> dict:
        return audit(self)


if __name__ == "__main__":
    wire.serve(Dart)
