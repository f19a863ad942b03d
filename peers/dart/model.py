"""A scene as skeletons of DART: each tree of joints is one, what no force moves hangs on the ground."""

import dartpy as dart
import numpy as np

from contacts import share
from frames import Place, about, quaternion
from surfaces import kept_apart, lesser, product
from tree import OPEN, Link, body_of, forest, frame_on, openness
from wire import Refusal

EYE = Place(np.eye(3), np.zeros(3))
# What a loop can be closed by.
CONSTRAINTS = ("ball", "fixed")
DETECTORS = {
    "fcl": dart.collision.FCLCollisionDetector,
    "dart": dart.collision.DARTCollisionDetector,
    "bullet": dart.collision.BulletCollisionDetector,
    "ode": dart.collision.OdeCollisionDetector,
}


def isometry(place: Place):
    return dart.math.Isometry3(place.r, place.x)


class Model:
    """A world, and where the bodies and joints of the scene are in it."""

    def __init__(self, scene: dict, settings: dict, broken: set[int], places: list[Place]):
        self.scene = scene
        self.settings = settings
        self.places = places
        self.motions = [body["motion"] for body in scene["bodies"]]
        self.links, self.loops = forest(scene, broken, set(CONSTRAINTS))
        # Bodies that forces move, kinematic ones, and static ones, which are there to be touched.
        self.made: dict = {}
        self.driven: dict = {}
        self.fixed: dict = {}
        self.joints: dict = {}
        self.skeletons: list = []
        self.shapes: dict[int, list] = {}
        self.world = dart.simulation.World()
        self.options()
        self.trees()
        if scene["contacts"] is not None:
            for i, motion in enumerate(self.motions):
                if motion == "static":
                    self.stand(i)
            self.surfaces(broken)
        for skeleton in self.skeletons:
            self.world.addSkeleton(skeleton)
        for body in self.fixed.values():
            self.world.addSkeleton(body.getSkeleton())
        for k in self.loops:
            self.close(k)

    def options(self):
        self.world.setGravity(self.scene["gravity"])
        awake = self.world.getDeactivationOptions()
        awake.mEnabled = False
        self.world.setDeactivationOptions(awake)
        solver = self.world.getConstraintSolver()
        solver.setCollisionDetector(DETECTORS[self.settings["collision"]]())
        solver.setSplitImpulseEnabled(self.settings["split_impulse"])
        share(self.settings)
        if self.scene["contacts"] is not None and self.settings["friction"] == "cone":
            # Dantzig's method knows a box about the cone.
            options = dart.constraint.NsgsFrictionSolver.Options()
            options.maxSweeps, options.tolerance = self.settings["sweeps"], self.settings["tolerance"]
            solver.setBoxedLcpSolver(dart.constraint.NsgsFrictionSolver(options))

    def trees(self):
        below: dict[int | None, list[Link]] = {}
        for link in self.links:
            fixed = link.parent is None or self.motions[link.parent] == "static"
            below.setdefault(None if fixed else link.parent, []).append(link)
        hung = {link.child for link in self.links}
        for i, motion in enumerate(self.motions):
            if motion != "static" and i not in hung:
                skeleton = self.skeleton()
                joint, body = skeleton.createFreeJointAndBodyNodePair(None)
                if motion == "dynamic":
                    self.body(i, body)
                else:
                    # Its rates are commands, which nothing that touches it changes.
                    joint.setActuatorType(dart.dynamics.ActuatorType.VELOCITY)
                    self.driven[i] = (joint, body)
                    self.shape(i, body)
                joint.setPositions(dart.dynamics.FreeJoint.convertToPositions(isometry(self.places[i])))
                self.hang(skeleton, body, below.get(i, []), below)
        for link in below.get(None, []):
            self.hang(self.skeleton(), None, [link], below)

    def skeleton(self):
        skeleton = dart.dynamics.Skeleton(f"s{len(self.skeletons)}")
        # The scene keeps apart what a joint connects, and nothing else of a tree.
        skeleton.setSelfCollisionCheck(True)
        skeleton.setAdjacentBodyCheck(True)
        self.skeletons.append(skeleton)
        return skeleton

    def body(self, i: int, body):
        about_it = self.scene["bodies"][i]
        inertia = np.reshape(about_it["inertia_kg_m2"], (3, 3))
        body.setInertia(dart.dynamics.Inertia(about_it["mass_kg"], np.zeros(3), inertia))
        self.made[i] = body
        self.shape(i, body)

    def stand(self, i: int):
        """A body that no force moves."""
        skeleton = dart.dynamics.Skeleton(f"ground {i}")
        joint, body = skeleton.createWeldJointAndBodyNodePair(None)
        joint.setTransformFromParentBodyNode(isometry(self.places[i]))
        self.shape(i, body)
        skeleton.setMobile(False)
        self.fixed[i] = body

    def hang(self, skeleton, parent, links: list[Link], below: dict):
        """All that hangs on a body or on the ground, with the coordinates that the places tell."""
        queue = [(link, parent) for link in links]
        while queue:
            link, above = queue.pop(0)
            joint = self.scene["joints"][link.joint]
            made, body = self.coordinate(skeleton, above, link, joint)
            outer, inner = ("b", "a") if link.turned else ("a", "b")
            # What no force moves is part of the ground.
            on_ground = EYE if link.parent is None or above is not None else self.places[link.parent]
            made.setTransformFromParentBodyNode(isometry(on_ground * frame_on(joint, outer)))
            made.setTransformFromChildBodyNode(isometry(frame_on(joint, inner)))
            self.body(link.child, body)
            self.joints[link.joint] = (made, link)
            parent_place = EYE if link.parent is None else self.places[link.parent]
            child_place = self.places[link.child]
            moved = (parent_place * frame_on(joint, outer)).inverse() * (child_place * frame_on(joint, inner))
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

    def close(self, k: int):
        """A loop by a constraint, which takes both anchors from where the bodies are."""
        joint = self.scene["joints"][k]
        ends = [body_of(joint[side]) for side in "ab"]
        a, b = (EYE if end is None else self.places[end] for end in ends)
        if joint["kind"] not in CONSTRAINTS or openness(joint, a, b) > OPEN:
            raise Refusal("unsupported", f"joint {k}: DART has no constraint for an open loop, or one of this kind")
        nodes = self.nodes()
        bodies = [nodes[end] for end in ends if end is not None and self.motions[end] != "static"]
        if joint["kind"] == "ball":
            made = dart.constraint.BallJointConstraint(*bodies, a.point(joint["anchor_a"]))
        else:
            made = dart.constraint.WeldJointConstraint(*bodies)
        self.world.getConstraintSolver().addConstraint(made)

    def nodes(self) -> dict:
        """The bodies of the engine that bodies of the scene are."""
        return {**self.made, **self.fixed, **{i: body for i, (_, body) in self.driven.items()}}

    def shape(self, i: int, body):
        if self.scene["contacts"] is None:
            return
        self.shapes[i] = []
        for place, shape in self.parts(i, self.scene["bodies"][i]["shape"], EYE):
            node = body.createShapeNode(shape)
            node.setRelativeTransform(isometry(place))
            node.createCollisionAspect()
            node.createDynamicsAspect()
            self.shapes[i].append(node)

    def parts(self, i: int, shape: dict, place: Place):
        (kind, about_it), = shape.items()
        if kind == "compound":
            for part in about_it["parts"]:
                yield from self.parts(i, part["shape"], place * Place.of(part["position"], part["rotation"]))
        elif kind == "box":
            yield place, dart.dynamics.BoxShape(2 * np.array(about_it["half_m"]))
        elif kind == "sphere":
            yield place, dart.dynamics.SphereShape(about_it["radius_m"])
        elif kind == "capsule":
            yield place, dart.dynamics.CapsuleShape(about_it["radius_m"], 2 * about_it["half_length_m"])
        elif kind == "cylinder":
            yield place, dart.dynamics.CylinderShape(about_it["radius_m"], 2 * about_it["half_length_m"])
        elif self.motions[i] == "dynamic":
            raise Refusal("unsupported", f"body {i} is a half space that moves")
        else:
            yield place, dart.dynamics.PlaneShape(np.array([0.0, 0, 1]), 0.0)

    def surfaces(self, broken: set[int]):
        """Which bodies meet, and by which coefficients."""
        bodies = self.scene["bodies"]
        apart = kept_apart(self.scene, broken)
        nodes = self.nodes()
        keeps_apart = self.world.getConstraintSolver().getCollisionOption().collisionFilter
        for a, b in sorted(apart):
            keeps_apart.addBodyNodePairToBlackList(nodes[a], nodes[b])
        friction = lesser(bodies, apart, "friction")
        restitution = [min(e, 1.0) for e in product(bodies, apart, "restitution")]
        for i, shapes in self.shapes.items():
            for node in shapes:
                node.getDynamicsAspect().setFrictionCoeff(friction[i])
                node.getDynamicsAspect().setRestitutionCoeff(restitution[i])
