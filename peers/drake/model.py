"""A scene as a discrete plant of Drake: joints as coordinates where a tree has room for them, else as constraints."""

import numpy as np
from pydrake.common.eigen_geometry import Quaternion
from pydrake.geometry import (
    AddCompliantHydroelasticProperties,
    AddContactMaterial,
    AddRigidHydroelasticProperties,
    Box,
    Capsule,
    CollisionFilterDeclaration,
    Cylinder,
    GeometrySet,
    HalfSpace,
    ProximityProperties,
    Sphere,
)
from pydrake.math import RigidTransform
from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
from pydrake.multibody.tree import (
    FixedOffsetFrame,
    LinearSpringDamper,
    PdControllerGains,
    PrismaticJoint,
    RevoluteJoint,
    SpatialInertia,
    UnitInertia,
    UniversalJoint,
    WeldJoint,
)
from pydrake.systems.framework import DiagramBuilder

from frames import body_places, start_of
from tree import body_of, forest, joined, openness, OPEN
from wire import Refusal

# Constraints that a discrete plant has for what no coordinate holds.
CONSTRAINTS = ("ball", "fixed", "distance")


def transform(x, q) -> RigidTransform:
    return RigidTransform(Quaternion(q[3], q[0], q[1], q[2]), x)


class Model:
    """The plant for steps of one length, and where the bodies and joints of the scene are in it."""

    def __init__(self, scene: dict, settings: dict, broken: set[int], h: float):
        self.scene = scene
        self.settings = settings
        names = ("contact_model", "discrete_contact_approximation", "penetration_allowance", "stiction_tolerance")
        chosen = {name: settings[name] for name in (*names, "sap_near_rigid_threshold")}
        builder = DiagramBuilder()
        self.plant, self.graph = AddMultibodyPlant(MultibodyPlantConfig(time_step=h, use_sampled_output_ports=False, **chosen), builder)
        self.plant.mutable_gravity_field().set_gravity_vector(scene["gravity"])
        # Angles of a ball joint are singular at a right angle, so a ball is no coordinate.
        balls = {k for k, joint in enumerate(scene["joints"]) if joint["kind"] == "ball"}
        self.links, loops = forest(scene, broken | balls, set(CONSTRAINTS))
        self.loops = sorted([*loops, *(balls - broken)])
        # Constraints on Drake's own body of the world end the process in 1.51.1, on one that is welded to it they do not.
        self.ground = self.fixed("ground", RigidTransform())
        self.bodies = [self.body(i, body) for i, body in enumerate(scene["bodies"])]
        self.joints = {}
        self.motors = []
        for link in self.links:
            self.coordinate(link.joint, scene["joints"][link.joint])
        self.constraints = {k: self.close(k, scene["joints"][k]) for k in self.loops}
        for spring in scene["springs"]:
            self.spring(spring)
        if scene["contacts"] is not None:
            self.contacts()
        try:
            self.plant.Finalize()
        except RuntimeError as error:
            raise Refusal("unsupported", f"Drake does not take it: {error}") from error
        if scene["contacts"] is not None:
            self.filters(broken)
        self.diagram = builder.Build()
        self.root = self.diagram.CreateDefaultContext()
        self.context = self.plant.GetMyMutableContextFromRoot(self.root)
        # Of the bodies that joints connect Drake picks the one that is free, not always the first.
        self.free = self.plant.GetFloatingBaseBodies()
        self.wanted_speeds()

    def body(self, i: int, body: dict):
        if body["motion"] != "dynamic":
            return self.fixed(f"b{i}", transform(body["position"], body["rotation"]))
        mass = body["mass_kg"]
        per = np.reshape(body["inertia_kg_m2"], (3, 3)) / mass
        try:
            unit = UnitInertia(*per.diagonal(), per[0, 1], per[0, 2], per[1, 2])
            return self.plant.AddRigidBody(f"b{i}", SpatialInertia(mass, [0, 0, 0], unit))
        except RuntimeError as error:
            raise Refusal("unsupported", f"body {i}: {error}") from error

    def fixed(self, name: str, pose: RigidTransform):
        """A body that is welded to the world, whose inertia nothing asks for."""
        made = self.plant.AddRigidBody(name, SpatialInertia(1.0, [0, 0, 0], UnitInertia(1, 1, 1)))
        self.plant.WeldFrames(self.plant.world_frame(), made.body_frame(), pose)
        return made

    def end(self, end):
        body = body_of(end)
        return self.ground if body is None else self.bodies[body]

    def frame(self, k: int, joint: dict, side: str):
        pose = transform(joint[f"anchor_{side}"], joint[f"basis_{side}"])
        return self.plant.AddFrame(FixedOffsetFrame(f"j{k}.{side}", self.end(joint[side]).body_frame(), pose))

    def coordinate(self, k: int, joint: dict):
        """A joint between its two frames; whichever of them hangs on the other, A is the parent that angles are from."""
        kind, name = joint["kind"], f"j{k}"
        a, b = self.frame(k, joint, "a"), self.frame(k, joint, "b")
        lower, upper = joint["limit"] or [None, None]
        bounds = [-np.inf if lower is None else lower, np.inf if upper is None else upper]
        damping = joint.get("damping", 0.0)
        if kind == "hinge":
            made = RevoluteJoint(name, a, b, [1, 0, 0], *bounds, damping)
        elif kind == "prismatic":
            made = PrismaticJoint(name, a, b, [1, 0, 0], *bounds, damping)
        elif kind == "universal":
            made = UniversalJoint(name, a, b, 0.0)
        elif kind == "fixed":
            made = WeldJoint(name, a, b, RigidTransform())
        else:
            raise Refusal("unsupported", f"joint {k} is a {kind}, which is no joint of Drake")
        self.joints[k] = self.plant.AddJoint(made)
        if joint["motor"] is not None:
            self.motor(k, joint)

    def motor(self, k: int, joint: dict):
        """A velocity servo that the contact solver treats implicitly, with its bound on the effort."""
        most = joint["motor"]["max_effort"]
        act = self.plant.AddJointActuator(f"m{k}", self.joints[k], np.inf if most is None else most)
        act.set_controller_gains(PdControllerGains(p=0.0, d=self.settings["motor_gain"]))
        self.motors.append((act, joint["motor"]["speed"]))

    def wanted_speeds(self):
        if not self.motors:
            return
        speeds = [speed for _, speed in self.motors]
        port = self.plant.get_desired_state_input_port(self.motors[0][0].model_instance())
        port.FixValue(self.context, np.array([0.0] * len(speeds) + speeds))

    def close(self, k: int, joint: dict):
        kind = joint["kind"]
        if kind not in CONSTRAINTS or joint["motor"] or joint["limit"] or joint.get("damping", 0.0) > 0:
            raise Refusal("unsupported", f"joint {k}: Drake has no constraint for a {kind} that closes a loop or is open")
        a, b = self.end(joint["a"]), self.end(joint["b"])
        at = [joint["anchor_a"], joint["anchor_b"]]
        if kind == "ball":
            return self.plant.AddBallConstraint(a, at[0], b, at[1])
        if kind == "distance":
            return self.plant.AddDistanceConstraint(a, at[0], b, at[1], joint["length_m"])
        frames = [transform(joint[f"anchor_{side}"], joint[f"basis_{side}"]) for side in "ab"]
        return self.plant.AddWeldConstraint(a, frames[0], b, frames[1])

    def spring(self, spring: dict):
        a, b = self.end(spring["a"]), self.end(spring["b"])
        rest, stiffness, damping = spring["rest_length_m"], spring["stiffness"], spring.get("damping", 0.0)
        if not rest > 0:
            raise Refusal("unsupported", "a spring of no rest length, which Drake does not take")
        self.plant.AddForceElement(
            LinearSpringDamper(a, spring["anchor_a"], b, spring["anchor_b"], rest, stiffness, damping)
        )

    def contacts(self):
        bodies = self.scene["bodies"]
        # It takes the harmonic mean of two coefficients, the scene their geometric mean.
        if len({body["friction"][0] for body in bodies}) > 1:
            raise Refusal("unsupported", "unequal coefficients of friction, of which Drake takes the harmonic mean")
        self.shapes = [[] for _ in bodies]
        for i, body in enumerate(bodies):
            self.shape(i, body, body["shape"], RigidTransform())

    def shape(self, i: int, body: dict, shape: dict, place: RigidTransform):
        (kind, about), = shape.items()
        if kind == "compound":
            for part in about["parts"]:
                self.shape(i, body, part["shape"], place @ transform(part["position"], part["rotation"]))
            return
        if kind == "box":
            form = Box(*(2 * half for half in about["half_m"]))
        elif kind == "sphere":
            form = Sphere(about["radius_m"])
        elif kind == "capsule":
            form = Capsule(about["radius_m"], 2 * about["half_length_m"])
        elif kind == "cylinder":
            form = Cylinder(about["radius_m"], 2 * about["half_length_m"])
        elif body["motion"] == "dynamic":
            raise Refusal("unsupported", f"body {i} is a half space that moves")
        else:
            form = HalfSpace()
        mu, s = body["friction"][0], self.settings
        properties = ProximityProperties()
        AddContactMaterial(
            properties=properties, friction=CoulombFriction(mu, mu), dissipation=s["dissipation_s_m"]
        )
        # A ball touches in one point, which is exact; what has edges would stand on one, so it gets a field of pressure.
        least = min(about.get("half_m", [about.get("radius_m", 1.0)]))
        if body["motion"] != "dynamic":
            # The surface of contact is that of the rigid one then, with its normals.
            AddRigidHydroelasticProperties(least, properties)
        elif kind != "sphere":
            AddCompliantHydroelasticProperties(least, s["hydroelastic_pa"], properties)
        holder = self.bodies[i]
        if kind == "half_space":
            # On any body but that of the world it ends the process in 1.51.1 once there are some 20 other shapes.
            holder, place = self.plant.world_body(), transform(body["position"], body["rotation"]) @ place
        name = f"g{i}.{len(self.shapes[i])}"
        self.shapes[i].append(self.plant.RegisterCollisionGeometry(holder, place, form, name, properties))

    def filters(self, broken: set[int]):
        """Neither bodies of one group touch, nor those that a joint connects; the engine leaves out some of these."""
        manager = self.graph.collision_filter_manager()

        def shapes(*bodies: int) -> GeometrySet:
            found = GeometrySet()
            for body in bodies:
                found.Add(self.shapes[body])
            return found

        for a, b in sorted(joined(self.scene, broken)):
            manager.Apply(CollisionFilterDeclaration().ExcludeBetween(shapes(a), shapes(b)))
        groups: dict[int, list[int]] = {}
        for i, body in enumerate(self.scene["bodies"]):
            if body["group"] is not None:
                groups.setdefault(body["group"], []).append(i)
        for members in groups.values():
            manager.Apply(CollisionFilterDeclaration().ExcludeWithin(shapes(*members)))

    def open_joint(self, bodies: np.ndarray) -> str | None:
        """A joint that coordinates hold and that a state has open."""
        places = body_places(bodies)
        world = body_places(np.array([[0, 0, 0, 0, 0, 0, 1.0]]))[0]
        for link in self.links:
            joint = self.scene["joints"][link.joint]
            ends = [body_of(joint[side]) for side in "ab"]
            a, b = (world if end is None else places[end] for end in ends)
            if openness(joint, a, b) > OPEN * (1 + float(np.abs(bodies[:, :3]).max(initial=0.0))):
                return f"joint {link.joint} is open, which its coordinates cannot hold"
        return None
