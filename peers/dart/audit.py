"""What DART holds, from its own skeletons."""

import numpy as np

from contacts import shared
from frames import body_places, start_of


def audit(solver) -> dict:
    world, model = solver.model.world, solver.model
    constraints = world.getConstraintSolver()
    options = constraints.getCollisionOption()
    return {
        "gravity": np.ravel(world.getGravity()).tolist(),
        "precision": "f64",
        "threads": int(world.getNumSimulationThreads()),
        "sleeping": bool(world.getDeactivationOptions().mEnabled),
        # There is none but that of joints.
        "damping_linear": 0,
        "damping_angular": 0,
        "speed_max": None,
        "gyroscopic": True,
        "bodies": [body(solver, i) for i in range(len(solver.moves))],
        "joints": joints(solver),
        "contacts": {
            "law": "complementarity",
            "margin": 0,
            "friction_rule": "lesser",
            "restitution_rule": "product",
            "shapes": sum(len(shapes) for shapes in model.shapes.values()),
            "frictions": held(model, "getFrictionCoeff"),
            "restitutions": held(model, "getRestitutionCoeff"),
        },
        "effective": {
            "time_step": world.getTimeStep(),
            "solver": type(constraints.getBoxedLcpSolver()).__name__,
            "solver_after_failures": type(constraints.getSecondaryBoxedLcpSolver()).__name__,
            "collision": constraints.getCollisionDetector().getType(),
            "split_impulse": bool(constraints.isSplitImpulseEnabled()),
            **shared(),
            "degrees_of_freedom": sum(skeleton.getNumDofs() for skeleton in model.skeletons),
        },
        "capacity": {"contacts": [solver.most_contacts, int(options.maxNumContacts)]},
    }


def held(model, name: str) -> list[float]:
    """The different coefficients that shapes have."""
    found = {getattr(node.getDynamicsAspect(), name)() for shapes in model.shapes.values() for node in shapes}
    return sorted(found)


def body(solver, i: int) -> dict:
    made = solver.model.made.get(i)
    if made is None:
        return {"mass": None}
    inertia = made.getInertia()
    moment = np.reshape(inertia.getMoment(), (3, 3))
    return {
        "mass": inertia.getMass(),
        "centre": np.ravel(inertia.getLocalCOM()).tolist(),
        "inertia": moment.ravel().tolist(),
    }


def joints(solver) -> list[dict]:
    """Constraints tell no anchors once they are made."""
    found: list[dict] = [{} for _ in solver.scene["joints"]]
    start = body_places(start_of(solver.scene))
    for k, (made, link) in solver.model.joints.items():
        parent = np.ravel(made.getTransformFromParentBodyNode().translation())
        if link.parent is not None and solver.model.motions[link.parent] == "static":
            parent = start[link.parent].inverse().point(parent)
        child = made.getTransformFromChildBodyNode()
        ends = [parent, np.ravel(child.translation())]
        kind = solver.scene["joints"][k]["kind"]
        axis = None
        if kind in ("hinge", "prismatic") and not link.turned:
            axis = (child.rotation() @ np.ravel(made.getAxis())).tolist()
        a, b = reversed(ends) if link.turned else ends
        found[k] = {
            "law": "coordinates",
            "rows": 6 - made.getNumDofs(),
            "anchor_a": a.tolist(),
            "anchor_b": b.tolist(),
            "axis": axis,
        }
    for k in solver.model.loops:
        found[k] = {"law": "complementarity"}
    return found
