"""What Drake's plant holds, from the plant itself."""

import numpy as np


def audit(solver) -> dict:
    model, plant = solver.model, solver.model.plant
    return {
        "gravity": plant.gravity_field().gravity_vector().tolist(),
        "precision": "f64",
        "threads": 1,
        "sleeping": False,
        # There is none but that of joints.
        "damping_linear": 0,
        "damping_angular": 0,
        "speed_max": None,
        "gyroscopic": True,
        "bodies": [body(solver, i) for i in range(len(model.bodies))],
        "joints": joints(solver),
        "contacts": {"law": "compliant", "margin": 0, "friction_rule": "harmonic mean", "restitution_rule": "none"},
        "effective": {
            "time_step": plant.time_step(),
            "contact_model": plant.get_contact_model().name,
            "approximation": plant.get_discrete_contact_approximation().name,
            "solver": plant.get_discrete_contact_solver().name,
            "sap_near_rigid_threshold": plant.get_sap_near_rigid_threshold(),
            "contact_penalty_time_scale": plant.get_contact_penalty_method_time_scale(),
            "degrees_of_freedom": plant.num_velocities(),
            "constraints": plant.num_constraints(),
        },
    }


def body(solver, i: int) -> dict:
    if not solver.moves[i]:
        return {"mass": None}
    made, context = solver.model.bodies[i], solver.model.context
    spatial = made.CalcSpatialInertiaInBodyFrame(context)
    return {
        "mass": spatial.get_mass(),
        "centre": spatial.get_com().tolist(),
        "inertia": spatial.CalcRotationalInertia().CopyToFullMatrix3().ravel().tolist(),
    }


def joints(solver) -> list[dict]:
    """Constraints of a plant tell no anchors once they are made."""
    model = solver.model
    found: list[dict] = [{} for _ in solver.scene["joints"]]
    for k, made in model.joints.items():
        on_a = made.frame_on_parent().GetFixedPoseInBodyFrame()
        on_b = made.frame_on_child().GetFixedPoseInBodyFrame()
        driven = solver.scene["joints"][k]["kind"] in ("hinge", "prismatic")
        found[k] = {
            "law": "coordinates",
            "rows": 6 - made.num_velocities(),
            "anchor_a": on_a.translation().tolist(),
            "anchor_b": on_b.translation().tolist(),
            "axis": (on_b.rotation().matrix() @ np.array([1.0, 0, 0])).tolist() if driven else None,
        }
    for k in model.constraints:
        found[k] = {"law": "near-rigid constraint"}
    return found
