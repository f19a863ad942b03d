"""What each solver of Newton takes, how it is made and what its budget is."""

import newton

from surfaces import mean
from wire import flag, number

BODIES = ("body.dynamic", "body.static")
JOINTS = ("joint.ball", "joint.hinge", "joint.prismatic", "joint.fixed")
SHAPES = ("shape.box", "shape.sphere", "shape.capsule", "shape.cylinder", "shape.compound", "shape.half_space")
CONTACTS = ("contact", "contact.groups", *SHAPES)
# Of all rows. The engine's own, apart from what README.md tells.
COMMON = {
    "gap_m": (0.1, number(0, 10)),
    "contact_ke": (2.5e3, number(0, 1e15)),
    "contact_kd": (100.0, number(0, 1e15)),
    "contact_kf": (1000.0, number(0, 1e15)),
    "limit_ke": (1e4, number(0, 1e15)),
    "limit_kd": (10.0, number(0, 1e15)),
}


class Law:
    """Defaults of a solver."""

    # Whether it has joints that close loops.
    LOOPS = True
    # Whether its state is that of joints.
    REDUCED = False
    SETTINGS: dict = {}


class Xpbd(Law):
    NAME = "newton-xpbd"
    SUMMARY = "Newton's XPBD: positions of bodies in maximal coordinates, f32, on processors"
    REFERENCE = "Macklin, Müller, Chentanez: XPBD (2016); Müller et al.: Detailed rigid body simulation with XPBD (2020)"
    TAKES = [*BODIES, *JOINTS, "joint.distance", "joint.limit", "joint.loop", *CONTACTS, "contact.restitution"]
    SETTINGS = {
        "iterations": (2, number(1, 100_000, whole=True)),
        "joint_linear_relaxation": (0.7, number(0, 2)),
        "joint_angular_relaxation": (0.7, number(0, 2)),
        "rigid_contact_relaxation": (0.8, number(0, 2)),
        "rigid_contact_con_weighting": (True, flag),
    }

    @staticmethod
    def solver(model, s: dict):
        keys = Xpbd.SETTINGS
        return newton.solvers.SolverXPBD(model, angular_damping=0.0, enable_restitution=True, **{k: s[k] for k in keys})


class Featherstone(Law):
    NAME = "newton-featherstone"
    SUMMARY = "Newton's Featherstone: coordinates of joints, no contacts here, f32, on processors"
    REFERENCE = "Featherstone: Rigid body dynamics algorithms (2008)"
    LOOPS = False
    REDUCED = True
    # Its contacts and limits are explicit springs, which bear a scene by sinking or not at all.
    TAKES = [*BODIES, *JOINTS]

    @staticmethod
    def solver(model, _):
        return newton.solvers.SolverFeatherstone(model, angular_damping=0.0)


LAWS = {law.NAME.split("-")[1]: law for law in (Xpbd, Featherstone)}
