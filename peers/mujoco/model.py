"""A scene as a model of MuJoCo: bodies nested by their joints (reduced), or free and held by equalities (maximal)."""

import mujoco
import numpy as np

from frames import Place, quaternion
from tree import Link, body_of, forest, joined, zero_place
from wire import Refusal

# Rows that an equality holds. Each law is soft: a spring and damper in time, whose stiffness follows the inertia.
EQUALITIES = {"ball": 3, "fixed": 6, "distance": 1}
# Limits of a coordinate that is free on one side.
FAR = 1e6
# Of explicit pairs, which mixed coefficients of friction need.
MOST_PAIRS = 50_000


def wxyz(q) -> list[float]:
    return [q[3], q[0], q[1], q[2]]


class Model:
    """The compiled model, and where the bodies and joints of the scene are in it."""

    def __init__(self, scene: dict, settings: dict, broken: set[int]):
        self.scene = scene
        self.settings = settings
        self.spec = mujoco.MjSpec()
        self.bodies = [None] * len(scene["bodies"])
        self.links: list[Link] = []
        self.loops = [k for k in range(len(scene["joints"])) if k not in broken]
        if settings["coordinates"] == "reduced":
            self.links, self.loops = forest(scene, broken, set(EQUALITIES))
        self.options()
        self.place_bodies()
        for k in self.loops:
            self.close(k, scene["joints"][k])
        for k, spring in enumerate(scene["springs"]):
            self.spring(k, spring)
        if scene["contacts"] is not None:
            self.contacts(broken)
        try:
            self.m = self.spec.compile()
        except ValueError as error:
            raise Refusal("unsupported", f"MuJoCo does not compile it: {error}") from error
        names = range(len(self.bodies))
        self.ids = np.array([self.m.body(f"b{i}").id for i in names], int)

    def options(self):
        o, s = self.spec.option, self.settings
        o.gravity = self.scene["gravity"]
        o.solver = getattr(mujoco.mjtSolver, "mjSOL_" + s["solver"].upper())
        o.integrator = getattr(mujoco.mjtIntegrator, "mjINT_" + s["integrator"].upper())
        o.cone = getattr(mujoco.mjtCone, "mjCONE_" + s["cone"].upper())
        o.tolerance, o.iterations = s["tolerance"], s["iterations"]
        o.ls_tolerance, o.impratio = s["ls_tolerance"], s["impratio"]
        # A bad state would start over in silence.
        o.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        # It keeps a body from all that is welded to its parent; the scene only from what a joint connects it to.
        o.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
        if self.scene["contacts"] is None:
            o.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        self.spec.compiler.degree = False
        # Joints may be limited only where they say so, and inertia is what is given.
        self.spec.compiler.autolimits = False
        self.spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE

    def soft(self, element, suffix=""):
        setattr(element, "solref" + suffix, [self.settings["timeconst_s"], self.settings["dampratio"]])

    def place_bodies(self):
        hung = {link.child for link in self.links}
        for i, body in enumerate(self.scene["bodies"]):
            if i not in hung:
                node = self.body(i, self.spec.worldbody, body["position"], body["rotation"])
                if body["motion"] == "dynamic":
                    node.add_freejoint()
        for link in self.links:
            joint = self.scene["joints"][link.joint]
            zero = zero_place(joint, link.turned)
            parent = self.spec.worldbody if link.parent is None else self.bodies[link.parent]
            node = self.body(link.child, parent, zero.x, quaternion(zero.r))
            self.coordinates(node, link, joint)

    def body(self, i: int, parent, position, rotation):
        body = self.scene["bodies"][i]
        node = parent.add_body(name=f"b{i}", pos=position, quat=wxyz(rotation))
        self.bodies[i] = node
        if body["motion"] == "dynamic":
            inertia = np.reshape(body["inertia_kg_m2"], (3, 3))
            node.mass, node.ipos, node.explicitinertial = body["mass_kg"], [0, 0, 0], True
            node.fullinertia = [*inertia.diagonal(), inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        return node

    def coordinates(self, node, link: Link, joint: dict):
        """The free coordinates of a joint, those nearer to the parent first."""
        kind, side = joint["kind"], "a" if link.turned else "b"
        anchor = joint[f"anchor_{side}"]
        # A child that is the scene's A moves the other way round.
        axes = Place.of([0, 0, 0], joint[f"basis_{side}"]).r * (-1 if link.turned else 1)
        hinge, slide = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE
        first, second = (1, 0) if link.turned else (0, 1)
        free = {
            "ball": [(mujoco.mjtJoint.mjJNT_BALL, 0)],
            "hinge": [(hinge, 0)],
            "universal": [(hinge, first), (hinge, second)],
            "prismatic": [(slide, 0)],
            "cylindrical": [(slide, 0), (hinge, 0)],
            "fixed": [],
        }[kind]
        for place, (sort, axis) in enumerate(free):
            made = node.add_joint(name=f"j{link.joint}.{place}", type=sort, pos=anchor, axis=axes[:, axis])
            self.soft(made, "_limit")
            if place == 0 and kind in ("hinge", "prismatic", "cylindrical"):
                self.bounded(made, joint)

    def bounded(self, made, joint: dict):
        made.damping[0] = joint.get("damping", 0.0)
        if joint["limit"] is not None:
            lower, upper = joint["limit"]
            made.limited = mujoco.mjtLimited.mjLIMITED_TRUE
            made.range = [-FAR if lower is None else lower, FAR if upper is None else upper]
        if joint["motor"] is not None:
            self.motor(made.name, joint["motor"])

    def motor(self, target: str, motor: dict):
        """A velocity servo whose effort is bounded."""
        act = self.spec.add_actuator(name=target, target=target, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        act.gaintype, act.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        # The gain is set once inertia is known.
        act.gainprm[0], act.biasprm[2] = 1.0, -1.0
        most = motor["max_effort"]
        if most is not None:
            act.forcelimited, act.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, [-most, most]
        act.ctrllimited = mujoco.mjtLimited.mjLIMITED_FALSE

    def site(self, end, name: str, joint: dict, side: str) -> str:
        body = body_of(end)
        node = self.spec.worldbody if body is None else self.bodies[body]
        turn = joint.get(f"basis_{side}", [0, 0, 0, 1])
        node.add_site(name=name, pos=joint[f"anchor_{side}"], quat=wxyz(turn))
        return name

    def tendon(self, name: str, joint: dict):
        """A straight line between two anchors."""
        line = self.spec.add_tendon(name=name)
        for side in "ab":
            line.wrap_site(self.site(joint[side], f"{name}.{side}", joint, side))
        return line

    def close(self, k: int, joint: dict):
        """Holds a joint by a soft constraint."""
        kind, name = joint["kind"], f"j{k}"
        driven = joint["motor"] is not None or joint.get("damping", 0.0) > 0
        if kind not in EQUALITIES or driven:
            how = "in maximal coordinates" if self.settings["coordinates"] == "maximal" else "that closes a loop or is open"
            raise Refusal("unsupported", f"joint {k}: MuJoCo has no constraint for a {kind} {how}")
        if kind == "distance":
            line = self.tendon(name, joint)
            lower, upper = joint["limit"] or [joint["length_m"]] * 2
            if joint["limit"] is None:
                equality = self.spec.add_equality(name=name, type=mujoco.mjtEq.mjEQ_TENDON, name1=name)
                # Of the length where the model was compiled, which `finish` knows.
                equality.data[:] = 0.0
                self.soft(equality)
            else:
                line.limited = mujoco.mjtLimited.mjLIMITED_TRUE
                line.range = [lower or 0.0, FAR if upper is None else upper]
                self.soft(line, "_limit")
            return
        sort = mujoco.mjtEq.mjEQ_CONNECT if kind == "ball" else mujoco.mjtEq.mjEQ_WELD
        sites = [self.site(joint[side], f"{name}.{side}", joint, side) for side in "ba"]
        equality = self.spec.add_equality(name=name, type=sort, objtype=mujoco.mjtObj.mjOBJ_SITE)
        equality.name1, equality.name2 = sites
        self.soft(equality)

    def spring(self, k: int, spring: dict):
        line = self.tendon(f"s{k}", spring)
        line.stiffness[0] = spring["stiffness"]
        line.damping[0] = spring.get("damping", 0.0)
        line.springlength = [spring["rest_length_m"]] * 2

    def contacts(self, broken: set[int]):
        """Shapes, and which of them meet: neither those of one group nor those that a joint connects."""
        bodies = self.scene["bodies"]
        for i, body in enumerate(bodies):
            for place, shape in self.shapes(body["shape"], Place(np.eye(3), np.zeros(3))):
                self.geom(i, body, place, shape)
        apart = joined(self.scene, broken)
        for a, b in sorted(apart):
            self.spec.add_exclude(bodyname1=f"b{a}", bodyname2=f"b{b}")
        groups = sorted({body["group"] for body in bodies if body["group"] is not None})
        if len(groups) > 30:
            raise Refusal("unsupported", f"{len(groups)} groups, and MuJoCo has bits for 30")
        bit = {None: 1, **{group: 2 << place for place, group in enumerate(groups)}}
        # Two shapes meet where the kind of one is in the affinity of the other.
        for i, body in enumerate(bodies):
            for geom in self.bodies[i].geoms:
                geom.contype = bit[body["group"]]
                alike = 0 if body["group"] is None else bit[body["group"]]
                geom.conaffinity = 0x7FFFFFFF & ~alike
        if len({body["friction"][0] for body in bodies}) > 1:
            self.pairs(apart)

    def shapes(self, shape: dict, place: Place):
        (kind, about), = shape.items()
        if kind != "compound":
            yield place, (kind, about)
            return
        for part in about["parts"]:
            yield from self.shapes(part["shape"], place * Place.of(part["position"], part["rotation"]))

    def geom(self, i: int, body: dict, place: Place, shape):
        kind, about = shape
        types = mujoco.mjtGeom
        count = len(self.bodies[i].geoms)
        made = self.bodies[i].add_geom(name=f"g{i}.{count}", pos=place.x, quat=wxyz(quaternion(place.r)))
        if kind == "box":
            made.type, made.size = types.mjGEOM_BOX, about["half_m"]
        elif kind == "sphere":
            made.type, made.size = types.mjGEOM_SPHERE, [about["radius_m"], 0, 0]
        elif kind in ("capsule", "cylinder"):
            made.type = types.mjGEOM_CAPSULE if kind == "capsule" else types.mjGEOM_CYLINDER
            made.size = [about["radius_m"], about["half_length_m"], 0]
        elif kind == "half_space":
            if body["motion"] == "dynamic":
                raise Refusal("unsupported", f"body {i} is a half space that moves")
            made.type, made.size = types.mjGEOM_PLANE, [0, 0, 1]
        else:
            name = f"h{i}.{count}"
            self.spec.add_mesh(name=name, uservert=np.ravel(about["points_m"]))
            made.type, made.meshname = types.mjGEOM_MESH, name
        made.condim = 3
        made.friction = [body["friction"][0], 0, 0]
        self.soft(made)

    def pairs(self, apart: set):
        """Every pair by itself: MuJoCo takes the larger coefficient of two shapes, the scene their geometric mean."""
        bodies = self.scene["bodies"]
        geoms = [(i, geom) for i, node in enumerate(self.bodies) for geom in node.geoms]
        count = len(geoms) * (len(geoms) - 1) // 2
        if count > MOST_PAIRS:
            raise Refusal("unsupported", f"unequal coefficients of friction need {count} pairs, {MOST_PAIRS} are taken")
        for place, (a, one) in enumerate(geoms):
            for b, other in geoms[place + 1 :]:
                alike = bodies[a]["group"] is not None and bodies[a]["group"] == bodies[b]["group"]
                still = all(bodies[i]["motion"] != "dynamic" for i in (a, b))
                if a == b or still or alike or (min(a, b), max(a, b)) in apart:
                    continue
                mean = float(np.sqrt(bodies[a]["friction"][0] * bodies[b]["friction"][0]))
                pair = self.spec.add_pair(geomname1=one.name, geomname2=other.name)
                pair.condim, pair.friction = 3, [mean, mean, 0, 0, 0]
                self.soft(pair)
        for _, geom in geoms:
            geom.contype = geom.conaffinity = 0

    def finish(self, d):
        """What depends on the compiled model: gains of motors, and lengths of rods. Returns the controls."""
        m, joints = self.m, self.scene["joints"]
        control = np.zeros(m.nu)
        for act in range(m.nu):
            joint = m.actuator_trnid[act, 0]
            k = int(m.actuator(act).name[1:].split(".")[0])
            # As strong as brings what hangs on the joint to speed at this rate.
            gain = self.settings["motor_rate"] * m.dof_M0[m.jnt_dofadr[joint]]
            m.actuator_gainprm[act, 0], m.actuator_biasprm[act, 2] = gain, -gain
            control[act] = joints[k]["motor"]["speed"]
        for k in self.loops:
            if joints[k]["kind"] == "distance" and joints[k]["limit"] is None:
                length = m.tendon_length0[m.tendon(f"j{k}").id]
                m.eq_data[m.equality(f"j{k}").id, 0] = joints[k]["length_m"] - length
        d.ctrl[:] = control
        return control
