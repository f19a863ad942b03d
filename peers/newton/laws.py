"""What each solver of Newton takes, how it is made and what its budget is."""

import newton

from surfaces import Surfaces, mean
from wire import flag, number, one_of

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
    "motor_kd": (1e3, number(0, 1e15)),
}


def own(bodies: list[dict], _) -> list[float]:
    """Each its own: the engine takes the geometric mean, as the scene does."""
    return [body["friction"][0] for body in bodies]


def larger(bodies: list[dict], apart) -> list[float]:
    """Its own where all that meet are alike: the engine takes the larger of two."""
    return Surfaces(bodies, apart, "friction").settled_alike()


class Law:
    """Defaults of a solver."""

    # Whether it has joints that close loops, takes rest from the start, wants colours, and damps joints by itself.
    LOOPS = True
    RESTS_AT_START = False
    COLOURED = False
    PASSIVE_DAMPING = False
    # Whether its state is that of joints.
    REDUCED = False
    SETTINGS: dict = {}
    friction = staticmethod(own)
    RULE = "geometric mean"


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
    friction = staticmethod(lambda bodies, apart: mean(bodies, apart, "friction"))
    RULE = "mean"

    @staticmethod
    def solver(model, s: dict):
        keys = Xpbd.SETTINGS
        return newton.solvers.SolverXPBD(model, angular_damping=0.0, enable_restitution=True, **{k: s[k] for k in keys})


class Vbd(Law):
    NAME = "newton-vbd"
    SUMMARY = "Newton's VBD: augmented vertex block descent in maximal coordinates, f32, on processors"
    REFERENCE = "Giles, Diaz, Yuksel: Augmented vertex block descent (2025)"
    TAKES = [*BODIES, *JOINTS, "joint.limit", "joint.loop", *CONTACTS]
    COLOURED = True
    RESTS_AT_START = True
    SETTINGS = {
        "iterations": (10, number(1, 100_000, whole=True)),
        "rigid_avbd_gamma": (0.999, number(0, 1)),
        "friction_epsilon": (1e-2, number(1e-9, 1)),
        "rigid_contact_history": (False, flag),
    }

    @staticmethod
    def solver(model, s: dict):
        return newton.solvers.SolverVBD(model, rigid_body_contact_buffer_size=512, **{k: s[k] for k in Vbd.SETTINGS})


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


class MuJoCo(Law):
    NAME = "newton-mujoco"
    SUMMARY = "Newton's MuJoCo: mujoco_warp, coordinates of joints, soft constraints, f32, on processors"
    REFERENCE = "Todorov, Erez, Tassa: MuJoCo, a physics engine for model-based control (2012)"
    LOOPS = False
    REDUCED = True
    PASSIVE_DAMPING = True
    TAKES = [*BODIES, *JOINTS, "joint.limit", "joint.motor", "joint.damping", *CONTACTS]
    SETTINGS = {
        "solver": ("newton", one_of("newton", "cg")),
        "integrator": ("euler", one_of("euler", "implicitfast")),
        "cone": ("pyramidal", one_of("pyramidal", "elliptic")),
        "iterations": (100, number(1, 100_000, whole=True)),
        "tolerance": (1e-8, number(0, 1)),
        "impratio": (1.0, number(1e-3, 1e6)),
    }
    friction = staticmethod(larger)
    RULE = "larger"

    @staticmethod
    def solver(model, s: dict):
        # Its own estimate of room is of few contacts.
        room = 64 * max(1, model.shape_count)
        return newton.solvers.SolverMuJoCo(
            model, nconmax=room, njmax=4 * room + 64, ls_iterations=50, enable_sleeping=False, density=0.0, viscosity=0.0,
            disable_contacts=model.shape_count == 0, **{k: s[k] for k in MuJoCo.SETTINGS},
        )


LAWS = {law.NAME.split("-")[1]: law for law in (Xpbd, Vbd, Featherstone, MuJoCo)}
