"""What MuJoCo compiled, from its own arrays."""

import mujoco
import numpy as np

from frames import Place
from model import EQUALITIES


def audit(solver) -> dict:
    m, d, o = solver.m, solver.d, solver.m.opt
    flags = mujoco.mjtDisableBit
    soft = [float(x) for x in (*m.geom_solref[0], *m.geom_solimp[0])] if m.ngeom else []
    return {
        "gravity": list(o.gravity) if not o.disableflags & flags.mjDSBL_GRAVITY else [0, 0, 0],
        "precision": "f64",
        "threads": 1,
        "sleeping": bool(o.enableflags & mujoco.mjtEnableBit.mjENBL_SLEEP),
        # Of a fluid; that of joints is the scene's own.
        "damping_linear": float(o.density + o.viscosity),
        "damping_angular": float(o.density + o.viscosity),
        "speed_max": None,
        "gyroscopic": True,
        "bodies": [body(solver, int(b)) for b in solver.model.ids],
        "joints": joints(solver),
        "contacts": {
            "law": "soft constraint",
            "margin": float(m.geom_margin.max(initial=0.0)),
            "friction_rule": "of each pair" if m.npair else "larger",
            "restitution_rule": "none",
            "solref_solimp": soft,
        },
        "effective": {
            "timestep": float(o.timestep),
            "solver": mujoco.mjtSolver(o.solver).name,
            "integrator": mujoco.mjtIntegrator(o.integrator).name,
            "cone": mujoco.mjtCone(o.cone).name,
            "tolerance": float(o.tolerance),
            "ls_tolerance": float(o.ls_tolerance),
            "iterations": int(o.iterations),
            "ls_iterations": int(o.ls_iterations),
            "impratio": float(o.impratio),
            "disableflags": int(o.disableflags),
            "enableflags": int(o.enableflags),
            "degrees_of_freedom": int(m.nv),
        },
        "capacity": {"bytes of its arena": [int(d.maxuse_arena), int(m.narena)]},
    }


def body(solver, b: int) -> dict:
    m = solver.m
    if m.body_weldid[b] == 0:
        # Welded to the world, whatever its mass.
        return {"mass": None}
    return {
        "mass": float(m.body_mass[b]),
        "centre": m.body_ipos[b].tolist(),
        "inertia": solver.inertia(b).ravel().tolist(),
    }


def joints(solver) -> list[dict]:
    found: list[dict] = [{} for _ in solver.scene["joints"]]
    for link in solver.model.links:
        found[link.joint] = coordinate(solver, link)
    for k in solver.model.loops:
        found[k] = constraint(solver.m, k)
    return found


def coordinate(solver, link) -> dict:
    """A joint that coordinates hold exactly: anchors and axis where all of them are zero."""
    m, joint = solver.m, solver.scene["joints"][link.joint]
    b = int(solver.model.ids[link.child])
    zero = Place.of(m.body_pos[b], np.roll(m.body_quat[b], -1))
    first, count = int(m.body_jntadr[b]), int(m.body_jntnum[b])
    # A weld has no coordinate to ask; the places of its bodies are compared through the anchor of the child.
    child = m.jnt_pos[first] if count else np.array(joint["anchor_a" if link.turned else "anchor_b"])
    ends = [zero.point(child), child]
    axis = None
    if joint["kind"] in ("hinge", "prismatic", "cylindrical"):
        axis = -zero.r @ m.jnt_axis[first] if link.turned else m.jnt_axis[first]
    a, on_b = reversed(ends) if link.turned else ends
    law = "soft limit" if m.jnt_limited[first : first + count].any() else "coordinates"
    driven = any(m.actuator_trnid[act, 0] in range(first, first + count) for act in range(m.nu))
    return {
        "law": "velocity servo" if driven else law,
        "rows": 6 - int(m.body_dofnum[b]),
        "anchor_a": a.tolist(),
        "anchor_b": on_b.tolist(),
        "axis": None if axis is None else axis.tolist(),
    }


def constraint(m, k: int) -> dict:
    """A joint that a soft constraint holds."""
    ends = {}
    for side in "ab":
        ends[f"anchor_{side}"] = m.site_pos[m.site(f"j{k}.{side}").id].tolist()
    equality = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_EQUALITY, f"j{k}")
    if equality < 0:
        return {"law": "soft limit", "rows": 0, **ends}
    sorts = {mujoco.mjtEq.mjEQ_CONNECT: "ball", mujoco.mjtEq.mjEQ_WELD: "fixed", mujoco.mjtEq.mjEQ_TENDON: "distance"}
    kind = sorts[mujoco.mjtEq(m.eq_type[equality])]
    return {"law": "soft constraint", "rows": EQUALITIES[kind], **ends}
