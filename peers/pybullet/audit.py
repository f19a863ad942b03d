"""What Bullet holds, from what it tells of its bodies, joints and constraints. It tells no damping and no sleeping."""

import numpy as np
import pybullet as p

from frames import matrix
from tree import body_of

DEGREES = {p.JOINT_REVOLUTE: 1, p.JOINT_PRISMATIC: 1, p.JOINT_SPHERICAL: 3, p.JOINT_FIXED: 0}


def audit(solver) -> dict:
    world = p.getPhysicsEngineParameters()
    gravity = [world[f"gravityAcceleration{axis}"] for axis in "XYZ"]
    return {
        "gravity": gravity,
        "precision": "f64",
        "threads": 1,
        "bodies": [body(solver, i) for i in range(len(solver.scene["bodies"]))],
        "joints": joints(solver),
        "contacts": {"margin": 0.0, "friction_rule": "product of roots", "restitution_rule": "product"},
        "effective": {
            "time_step": world["fixedTimeStep"],
            "solver_iterations": world["numSolverIterations"],
            "sub_steps": world["numSubSteps"],
        },
    }


def body(solver, i: int) -> dict:
    if not solver.moves[i]:
        mass = p.getDynamicsInfo(*solver.model.at[i])[0]
        return {"mass": mass}
    mass, _, moments, centre, turn = p.getDynamicsInfo(*solver.model.at[i])[:5]
    frame = solver.model.frames[i]
    axes = frame.r @ matrix(turn)
    return {
        "mass": mass,
        "centre": frame.point(centre).tolist(),
        "inertia": (axes @ np.diag(moments) @ axes.T).ravel().tolist(),
    }


def joints(solver) -> list[dict]:
    model, scene = solver.model, solver.scene
    found: list[dict] = [{} for _ in scene["joints"]]
    for link in model.links:
        number, j = model.joint_at[link.joint]
        info = p.getJointInfo(number, j)
        frame = model.frames[link.child]
        centre = p.getDynamicsInfo(number, j)[3]
        # From the centre of mass of each body, whose frame is that of its principal axes.
        child = -frame.r @ np.array(centre)
        parent = np.array(info[14])
        if link.parent is not None and solver.moves[link.parent]:
            parent = model.moments[link.parent][1] @ parent
        elif link.parent is not None:
            parent = model.places[link.parent].inverse().point(parent)
        ends = [child, parent] if link.turned else [parent, child]
        found[link.joint] = {
            "law": "coordinates",
            "rows": 6 - DEGREES[info[2]],
            "anchor_a": ends[0].tolist(),
            "anchor_b": ends[1].tolist(),
        }
    for k, made in model.constraints.items():
        info = p.getConstraintInfo(made)
        pivots = list(info[6:8])
        if body_of(scene["joints"][k]["a"]) is None:
            pivots.reverse()
        ends = [body_of(scene["joints"][k][side]) for side in "ab"]
        pivots = [np.array(x) if i is None else model.moments[i][1] @ np.array(x) for i, x in zip(ends, pivots)]
        found[k] = {"law": "impulses", "rows": 3, "anchor_a": pivots[0].tolist(), "anchor_b": pivots[1].tolist()}
    return found
