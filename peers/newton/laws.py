"""What each solver of Newton takes, how it is made and what its budget is."""

import newton
import numpy as np
import warp as wp

from frames import matrix
from surfaces import larger, mean, told
from wire import Refusal, flag, number, one_of

BODIES = ("body.dynamic", "body.static")
JOINTS = ("joint.ball", "joint.hinge", "joint.prismatic", "joint.fixed")
SHAPES = ("shape.box", "shape.sphere", "shape.capsule", "shape.cylinder", "shape.compound", "shape.half_space")
CONTACTS = ("contact", "contact.groups", *SHAPES)
COUNT = number(1, 100_000, whole=True)
SHARE = number(0, 1)
# A stiffness or a damping.
SPRING = number(0, 1e15)
# Of all rows. The engine's own, apart from what README.md tells.
COMMON = {
    "gap_m": (0.1, number(0, 10)),
    "contact_ke": (2.5e3, SPRING),
    "contact_kd": (100.0, SPRING),
    "contact_kf": (1000.0, SPRING),
    "limit_ke": (1e4, SPRING),
    "limit_kd": (10.0, SPRING),
}


class Law:
    """Defaults of a solver."""

    # Kinds of joints that close loops.
    LOOPS: tuple[str, ...] = ("ball", "hinge", "prismatic", "fixed", "distance")
    # Whether a joint outside the tree may be open at the start.
    OPENS = True
    # Whether its state is that of joints.
    REDUCED = False
    # What it makes of two coefficients of friction, and of two restitutions.
    FRICTION = staticmethod(mean)
    RESTITUTION = staticmethod(mean)
    # How it holds joints, and those outside the tree where that is another way.
    HOLDS = "positions"
    CLOSES: str | None = None
    SETTINGS: dict = {}
    # The engine's class, where it has attributes that a builder has to know.
    ATTRIBUTES = None

    @classmethod
    def contacts_max(cls, _settings: dict) -> int | None:
        """Room for contacts; the engine's own estimate if it is not told."""
        return None

    @staticmethod
    def finish(builder):
        """What is due when all is in the builder."""

    @staticmethod
    def advance(row, state, after, h: float):
        row.solver.step(state, after, row.control, row.contacts, h)

    @staticmethod
    def bodies(row):
        """Masses, centres and inertia, of the arrays that the solver reads."""
        m = row.m
        return m.body_mass.numpy(), m.body_com.numpy(), m.body_inertia.numpy()

    @staticmethod
    def damping(row) -> tuple[float, float]:
        """Of what moves and of what turns."""
        return 0.0, float(getattr(row.solver, "angular_damping", 0.0))


class Xpbd(Law):
    NAME = "newton-xpbd"
    SUMMARY = "Newton's XPBD: positions of bodies in maximal coordinates, f32, on processors"
    REFERENCE = "Macklin, Müller, Chentanez: XPBD (2016); Müller et al.: Detailed rigid body simulation with XPBD (2020)"
    TAKES = [*BODIES, *JOINTS, "joint.distance", "joint.limit", "joint.loop", *CONTACTS, "contact.restitution"]
    SETTINGS = {
        "iterations": (2, COUNT),
        "joint_linear_relaxation": (0.7, number(0, 2)),
        "joint_angular_relaxation": (0.7, number(0, 2)),
        "rigid_contact_relaxation": (0.8, number(0, 2)),
        "rigid_contact_con_weighting": (True, flag),
    }

    @staticmethod
    def solver(row):
        own = {key: row.settings[key] for key in Xpbd.SETTINGS}
        return newton.solvers.SolverXPBD(row.m, angular_damping=0.0, enable_restitution=True, **own)


class Featherstone(Law):
    NAME = "newton-featherstone"
    SUMMARY = "Newton's Featherstone: coordinates of joints, no contacts here, f32, on processors"
    REFERENCE = "Featherstone: Rigid body dynamics algorithms (2008)"
    LOOPS = ()
    REDUCED = True
    HOLDS = "coordinates"
    # Its contacts and limits are explicit springs, which bear a scene by sinking or not at all.
    TAKES = [*BODIES, *JOINTS]

    @staticmethod
    def solver(row):
        return newton.solvers.SolverFeatherstone(row.m, angular_damping=0.0)


class Vbd(Law):
    NAME = "newton-vbd"
    SUMMARY = "Newton's VBD: augmented vertex block descent over stiff springs, f32, on processors"
    REFERENCE = "Chen et al.: Vertex block descent (2024); Giles, Diaz, Yuksel: Augmented vertex block descent (2025)"
    TAKES = [*BODIES, *JOINTS, "joint.limit", "joint.loop", *CONTACTS]
    # It holds the turn between two bodies that they have in the model.
    OPENS = False
    FRICTION = staticmethod(told)
    HOLDS = "augmented springs"
    SETTINGS = {
        "iterations": (10, COUNT),
        "joint_ke": (1e5, SPRING),
        "joint_kd": (0.0, SPRING),
        "contact_ke": (1e9, SPRING),
        "contact_kd": (0.0, SPRING),
        "limit_ke": (1e9, SPRING),
        "limit_kd": (0.0, SPRING),
        "friction_epsilon": (1e-2, number(0, 10)),
        "contacts_of_body_max": (256, COUNT),
    }
    ATTRIBUTES = "SolverVBD"

    @staticmethod
    def finish(builder):
        builder.color()

    @staticmethod
    def solver(row):
        s = row.settings
        return newton.solvers.SolverVBD(
            row.m,
            iterations=s["iterations"],
            friction_epsilon=s["friction_epsilon"],
            rigid_joint_linear_ke=s["joint_ke"],
            rigid_joint_angular_ke=s["joint_ke"],
            rigid_joint_linear_kd=s["joint_kd"],
            rigid_joint_angular_kd=s["joint_kd"],
            rigid_body_contact_buffer_size=s["contacts_of_body_max"],
        )

    @staticmethod
    def advance(row, state, after, h: float):
        Law.advance(row, state, after, h)
        if row.contacts is not None:
            most, room = int(row.solver.body_body_contact_overflow_max.numpy()[0]), row.settings["contacts_of_body_max"]
            if most > room:
                raise Refusal("capacity", f"a body has {most} contacts, and there is room for {room}")


class Kamino(Law):
    NAME = "newton-kamino"
    SUMMARY = "Newton's Kamino: constraints as a complementarity problem, by proximal ADMM, f32, on processors"
    REFERENCE = "Tsounis, Grandia, Bächer: On solving the dynamics of constrained rigid multi-body systems (2025)"
    TAKES = [*BODIES, *JOINTS, "joint.limit", "joint.loop", *CONTACTS, "contact.restitution"]
    FRICTION = RESTITUTION = staticmethod(told)
    HOLDS = "velocities"
    SETTINGS = {
        "max_iterations": (200, COUNT),
        "tolerance": (1e-6, number(0, 1)),
        "joint_recovery": (0.01, SHARE),
        "limit_recovery": (0.01, SHARE),
        "contact_recovery": (0.01, SHARE),
        "contacts_max": (1000, COUNT),
    }
    ATTRIBUTES = "SolverKamino"

    @classmethod
    def contacts_max(cls, settings: dict) -> int | None:
        """Its matrices are dense, with three rows for each contact there is room for."""
        return settings["contacts_max"]

    @staticmethod
    def solver(row):
        # The engine has no public name for the parts of a Config.
        from newton._src.solvers.kamino import config

        s = row.settings
        shares = dict(alpha=s["joint_recovery"], beta=s["limit_recovery"], gamma=s["contact_recovery"])
        close = {f"{what}_tolerance": s["tolerance"] for what in ("primal", "dual", "compl")}
        about = newton.solvers.SolverKamino.Config(
            constraints=config.ConstraintStabilizationConfig(**shares),
            padmm=config.PADMMSolverConfig(max_iterations=s["max_iterations"], **close),
            materials=config.MaterialManagerConfig(friction_mix_mode="geometric_average", restitution_mix_mode="max"),
        )
        return newton.solvers.SolverKamino(row.m, about)

    @staticmethod
    def bodies(row):
        held = row.solver._model_kamino.bodies
        return held.m_i.numpy(), held.i_r_com_i.numpy(), held.i_I_i.numpy()

    @staticmethod
    def damping(row) -> tuple[float, float]:
        return 0.0, float(row.solver._config.angular_velocity_damping)


class Steel(Law):
    NAME = "newton-steel"
    SUMMARY = "Newton's Steel: coordinates of joints, projected Gauss-Seidel for the rest, f32, on processors"
    REFERENCE = "Featherstone: Rigid body dynamics algorithms (2008)"
    TAKES = [*BODIES, *JOINTS, "joint.limit", "joint.loop", *CONTACTS, "contact.restitution"]
    LOOPS = ("ball", "hinge", "fixed")
    REDUCED = True
    HOLDS, CLOSES = "coordinates", "velocities"
    SETTINGS = {
        "iterations": (12, COUNT),
        "baumgarte": (0.2, SHARE),
        "cfm": (1e-6, number(0, 1)),
        "relaxation": (1.0, number(0, 2)),
        "friction_anchors": (True, flag),
        "tree_rows_max": (4096, COUNT),
    }
    ATTRIBUTES = "SolverSteel"

    @staticmethod
    def solver(row):
        s, m = row.settings, row.m
        m.steel.rigid_body_angular_damping.zero_()
        of_contacts = 0 if row.contacts is None else 3 * row.contacts.rigid_contact_max
        try:
            return newton.solvers.SolverSteel(
                m,
                **{key: s[key] for key in ("iterations", "baumgarte", "cfm", "relaxation")},
                friction_anchor_beta=None if s["friction_anchors"] else 0.0,
                enable_joint_limits=True,
                # Without a bound here coordinates that have no limit get rows too.
                joint_limit_activation_gap=1e6,
                restitution_velocity_threshold=0.0,
                articulation_constraint_max=min(s["tree_rows_max"], of_contacts + 6 * m.joint_count + 1),
                free_body_constraint_max=of_contacts + 1,
                warn_constraint_overflow=False,
            )
        except NotImplementedError as refused:
            raise Refusal("unsupported", str(refused)) from None

    @staticmethod
    def advance(row, state, after, h: float):
        Law.advance(row, state, after, h)
        try:
            row.solver.check_constraint_capacity()
        except RuntimeError as full:
            raise Refusal("capacity", str(full)) from None

    @staticmethod
    def damping(row) -> tuple[float, float]:
        held = row.m.steel
        return float(held.rigid_body_linear_damping.numpy().max()), float(held.rigid_body_angular_damping.numpy().max())


class Mujoco(Law):
    NAME = "newton-mujoco"
    SUMMARY = "Newton's MuJoCo (mujoco_warp): coordinates of joints, soft constraints, f32, on processors"
    REFERENCE = "Todorov, Erez, Tassa: MuJoCo (2012)"
    TAKES = [*BODIES, *JOINTS, "joint.limit", "joint.loop", *CONTACTS]
    LOOPS = ("ball", "hinge", "fixed")
    OPENS = False
    REDUCED = True
    FRICTION = staticmethod(larger)
    HOLDS, CLOSES = "coordinates", "soft constraint"
    # Of limits [s, 1], as MuJoCo is delivered. As Newton has it a limit is a spring that throws back what meets it.
    STOP = {"timeconst_s": (0.02, number(1e-6, 10)), "dampratio": (1.0, number(1e-3, 100))}
    SETTINGS = {
        **STOP,
        "iterations": (100, COUNT),
        "ls_iterations": (50, COUNT),
        "tolerance": (1e-8, number(0, 1)),
        "cone": ("elliptic", one_of("pyramidal", "elliptic")),
        "integrator": ("implicitfast", one_of("euler", "implicitfast")),
    }
    ATTRIBUTES = "SolverMuJoCo"

    @staticmethod
    def solver(row):
        # The engine has no public name for it.
        from newton._src.solvers.mujoco.constants import SOLREF_MODE_RAW

        s = row.settings
        own = {key: s[key] for key in Mujoco.SETTINGS if key not in Mujoco.STOP}
        if row.m.joint_dof_count:
            held = row.m.mujoco
            held.solreflimit.fill_(wp.vec2(s["timeconst_s"], s["dampratio"]))
            held.solreflimit_mode.fill_(SOLREF_MODE_RAW)
        # Contacts are the pipeline's, as those of all rows here.
        still = row.contacts is None
        solver = newton.solvers.SolverMuJoCo(
            row.m, use_mujoco_contacts=still, disable_contacts=still, kinematic_switchable_roots=False, **own
        )
        row.told = solver.observables({solver.ObservableKind.OVERFLOW})
        return solver

    @staticmethod
    def advance(row, state, after, h: float):
        row.solver.step(state, after, row.control, row.contacts, h, observables=row.told)
        over = int(row.told.overflow.numpy()[0])
        if over:
            raise Refusal("capacity", f"mujoco_warp ran out of room: bits {over:#x} of its overflow")

    @staticmethod
    def bodies(row):
        held = row.solver.mjw_model
        order = row.solver.mjc_body_to_newton.numpy()[0]
        own = np.flatnonzero(order >= 0)
        mass, centre, inertia = np.zeros(len(own)), np.zeros((len(own), 3)), np.zeros((len(own), 3, 3))
        masses, centres, turns = (x.numpy()[0] for x in (held.body_mass, held.body_ipos, held.body_iquat))
        for b, to, main in zip(own, order[own], held.body_inertia.numpy()[0][own]):
            axes = matrix(np.roll(turns[b], -1))
            mass[to], centre[to], inertia[to] = masses[b], centres[b], axes @ np.diag(main) @ axes.T
        return mass, centre, inertia

    @staticmethod
    def damping(row) -> tuple[float, float]:
        most = float(row.solver.mjw_model.dof_damping.numpy().max(initial=0.0))
        return most, most


LAWS = {law.NAME.split("-")[1]: law for law in (Xpbd, Featherstone, Vbd, Kamino, Steel, Mujoco)}
