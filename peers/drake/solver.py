"""Drake as a row of taut. What it does with a scene and why is in README.md."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common"))

import wire  # First: it takes standard output away from the engine.

import importlib.metadata

import numpy as np
from pydrake.multibody.math import SpatialForce, SpatialVelocity
from pydrake.multibody.tree import MultibodyForces

from audit import audit
from frames import Place, about, body_places, matrix
from model import Model, transform
from tree import body_of, frame_on
from wire import Refusal, number, one_of


class Drake:
    """One scene; a plant is made for steps of a fixed length, so each length has its own."""

    HELLO = {
        "name": "drake",
        "version": importlib.metadata.version("drake"),
        "summary": "Drake: coordinates of joints, contacts and constraints by the SAP solver",
        "reference": "Castro, Permenter, Han: An unconstrained convex formulation of compliant contact (2022)",
        "iteration": "substep",
        "determinism": "bitwise",
        "state": "rigid",
        "contacts": "own",
        "takes": [
            *("body.dynamic", "body.static"),
            *("joint.ball", "joint.hinge", "joint.universal", "joint.prismatic", "joint.fixed", "joint.distance"),
            *("joint.limit", "joint.motor", "joint.damping", "joint.loop"),
            *("spring.linear", "spring.damping"),
            *("contact", "contact.groups"),
            *("shape.box", "shape.sphere", "shape.capsule", "shape.cylinder", "shape.compound", "shape.half_space"),
        ],
    }
    SETTINGS = {
        "contact_model": ("hydroelastic_with_fallback", one_of("point", "hydroelastic_with_fallback")),
        "discrete_contact_approximation": ("lagged", one_of("lagged", "similar", "sap", "tamsi")),
        "penetration_allowance": (1e-3, number(1e-9, 1)),
        "stiction_tolerance": (1e-4, number(1e-9, 1)),
        "sap_near_rigid_threshold": (1.0, number(0, 1e6)),
        "hydroelastic_pa": (1e7, number(1, 1e15)),
        "dissipation_s_m": (10.0, number(0, 1e6)),
        "motor_gain": (1e6, number(1e-3, 1e12)),
    }

    def __init__(self, scene: dict, settings: dict):
        self.scene = scene
        self.settings = settings
        self.moves = np.array([body["motion"] == "dynamic" for body in scene["bodies"]], bool)
        self.models: dict[float, Model] = {}
        self.broken: tuple[int, ...] = ()
        self.model = self.model_for(scene["dt_s"])

    def model_for(self, h: float) -> Model:
        if h not in self.models:
            if len(self.models) > 8:
                self.models.clear()
            self.models[h] = Model(self.scene, self.settings, set(self.broken), h)
        return self.models[h]

    def load(self, time_s: float, bodies: np.ndarray, broken: list[int]):
        if tuple(broken) != self.broken:
            self.broken = tuple(broken)
            self.models.clear()
            self.model = self.model_for(self.scene["dt_s"])
        self.loaded = bodies
        opened = self.model.open_joint(bodies)
        if opened:
            raise Refusal("state", opened)
        plant, context = self.model.plant, self.model.context
        context_root = self.model.root
        context_root.SetTime(time_s)
        for body, made in zip(bodies, self.model.bodies):
            if made.index() in self.model.free:
                plant.SetFreeBodyPose(context, made, transform(body[:3], body[3:7]))
                rates = SpatialVelocity(body[10:13], body[7:10])
                plant.SetFreeBodySpatialVelocity(context, made, rates)
        if self.model.joints:
            self.hang(body_places(bodies))
            self.share_momentum(bodies)
        self.time_s = time_s

    def hang(self, places: list[Place]):
        world = Place(np.eye(3), np.zeros(3))
        for k, made in self.model.joints.items():
            joint = self.scene["joints"][k]
            ends = [body_of(joint[side]) for side in "ab"]
            a, b = (world if end is None else places[end] for end in ends)
            moved = (a * frame_on(joint, "a")).inverse() * (b * frame_on(joint, "b"))
            if joint["kind"] == "hinge":
                made.set_angle(self.model.context, about(moved.r, np.array([1.0, 0, 0])))
            elif joint["kind"] == "prismatic":
                made.set_translation(self.model.context, moved.x[0])
            elif joint["kind"] == "universal":
                r = moved.r
                made.set_angles(self.model.context, [np.arctan2(r[2, 1], r[1, 1]), np.arctan2(r[0, 2], r[0, 0])])

    def share_momentum(self, bodies: np.ndarray):
        """Velocities of joints that carry the momentum of the bodies: where these fit the joints, just their motion."""
        plant, context = self.model.plant, self.model.context
        momentum = MultibodyForces(plant)
        for i, made in enumerate(self.model.bodies):
            if not self.moves[i]:
                continue
            r = matrix(bodies[i, 3:7])
            inertia = r @ np.reshape(self.scene["bodies"][i]["inertia_kg_m2"], (3, 3)) @ r.T
            linear = made.get_mass(context) * bodies[i, 7:10]
            made.AddInForceInWorld(context, SpatialForce(inertia @ bodies[i, 10:13], linear), momentum)
        mass = plant.CalcMassMatrix(context)
        speeds = np.linalg.solve(mass, plant.CalcGeneralizedForces(context, momentum))
        plant.SetVelocities(context, speeds)

    def step(self, dt: float, iterations: int):
        h = dt / iterations
        if self.model.plant.time_step() != h:
            other = self.model_for(h)
            state = self.model.plant.GetPositionsAndVelocities(self.model.context)
            other.plant.SetPositionsAndVelocities(other.context, state)
            self.model = other
        diagram, root = self.model.diagram, self.model.root
        for sub in range(iterations):
            root.SetTime(self.time_s + sub * h)
            after = diagram.AllocateDiscreteVariables()
            try:
                diagram.CalcForcedDiscreteVariableUpdate(root, after)
            except RuntimeError as error:
                raise Refusal("not_converged", str(error).splitlines()[0][:300]) from error
            root.SetDiscreteState(after)
        self.time_s += dt
        root.SetTime(self.time_s)

    def read(self) -> np.ndarray:
        plant, context = self.model.plant, self.model.context
        out = self.loaded.copy()
        for i in np.flatnonzero(self.moves):
            made = self.model.bodies[i]
            pose = plant.EvalBodyPoseInWorld(context, made)
            rates = plant.EvalBodySpatialVelocityInWorld(context, made)
            q = pose.rotation().ToQuaternion()
            out[i] = [*pose.translation(), q.x(), q.y(), q.z(), q.w(), *rates.translational(), *rates.rotational()]
        return out

    def audit(self) -> dict:
        return audit(self)


if __name__ == "__main__":
    wire.serve(Drake)
