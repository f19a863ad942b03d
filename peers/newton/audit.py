"""What Newton's model holds, from its own arrays, which are of single precision."""

import newton
import numpy as np

from frames import Place
from surfaces import larger, mean, told

# Equations of each sort of joint.
ROWS = {"BALL": 3, "FIXED": 6, "REVOLUTE": 5, "PRISMATIC": 5, "DISTANCE": 1}

RULES = {mean: "mean", larger: "larger", told: "the scene's"}


def audit(solver) -> dict:
    m = solver.m
    linear, angular = solver.LAW.damping(solver) if solver.solver is not None else (0.0, 0.0)
    return {
        "gravity": np.asarray(m.gravity.numpy(), float).reshape(-1, 3)[0].tolist(),
        "precision": "f32",
        "threads": 1,
        "sleeping": False,
        "damping_linear": linear,
        "damping_angular": angular,
        "speed_max": None,
        "gyroscopic": True,
        "bodies": bodies(solver),
        "joints": joints(solver),
        "contacts": contacts(solver),
        "effective": effective(solver),
        "capacity": capacity(solver),
    }


def bodies(solver) -> list[dict]:
    if solver.solver is None:
        return [{"mass": None} for _ in solver.moves]
    masses, centres, inertia = (np.asarray(x, float) for x in solver.LAW.bodies(solver))
    return [
        {"mass": None} if b < 0 else {"mass": masses[b], "centre": centres[b].tolist(), "inertia": inertia[b].ravel().tolist()}
        for b in solver.model.bodies
    ]


def joints(solver) -> list[dict]:
    m = solver.m
    found: list[dict] = [{} for _ in solver.scene["joints"]]
    if not solver.model.joints:
        return found
    sorts, above, below = m.joint_type.numpy(), m.joint_X_p.numpy().astype(float), m.joint_X_c.numpy().astype(float)
    axes, first = m.joint_axis.numpy().astype(float), m.joint_qd_start.numpy()
    for k, (made, turned) in solver.model.joints.items():
        joint = solver.scene["joints"][k]
        outer = above[made, :3]
        end = joint["b" if turned else "a"]
        if end != "world" and solver.model.motions[end["body"]] == "static":
            outer = solver.model.places[end["body"]].inverse().point(outer)
        ends = [outer, below[made, :3]]
        a, b = reversed(ends) if turned else ends
        axis = None
        if joint["kind"] in ("hinge", "prismatic"):
            # The axis is that of the frame on the parent; where the joint holds, that on the child has it too.
            place = above[made] if turned else below[made]
            axis = Place.of(place[:3], place[3:]).r @ axes[first[made]] * (-1 if turned else 1)
            if turned and end != "world" and solver.model.motions[end["body"]] == "static":
                axis = solver.model.places[end["body"]].r.T @ axis
        sort = newton.JointType(int(sorts[made])).name
        rows = 0 if sort == "DISTANCE" and joint["limit"] is not None else ROWS[sort]
        law = solver.LAW.CLOSES if k in solver.model.loops and solver.LAW.CLOSES else solver.LAW.HOLDS
        found[k] = {"law": law, "rows": rows, "anchor_a": a.tolist(), "anchor_b": b.tolist()}
        found[k]["axis"] = None if axis is None else axis.tolist()
    return found


def contacts(solver) -> dict:
    m = solver.m
    if not solver.model.shapes:
        return {}
    return {
        "law": solver.LAW.NAME,
        "margin": float(m.shape_margin.numpy().max(initial=0.0)),
        "friction_rule": RULES[solver.LAW.FRICTION],
        "restitution_rule": RULES[solver.LAW.RESTITUTION] if "contact.restitution" in solver.LAW.TAKES else "none",
        "frictions": sorted({float(x) for x in m.shape_material_mu.numpy()}),
        "rolling_and_spinning": float(m.shape_material_mu_rolling.numpy().max() + m.shape_material_mu_torsional.numpy().max()),
        "gap_m": float(m.shape_gap.numpy().max(initial=0.0)),
    }


def effective(solver) -> dict:
    names = (*solver.LAW.SETTINGS, "angular_damping", "enable_restitution")
    held = {name: getattr(solver.solver, name) for name in names if hasattr(solver.solver, name)}
    held = {name: value for name, value in held.items() if isinstance(value, (int, float, str, bool))}
    return {**held, "joints": int(solver.m.joint_count), "degrees_of_freedom": int(solver.m.joint_dof_count)}


def capacity(solver) -> dict:
    if solver.contacts is None:
        return {}
    return {"contacts": [solver.most_contacts, int(solver.contacts.rigid_contact_max)]}
