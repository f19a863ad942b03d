"""Compiles the kernels of a solver, or of each that is a row, into the environment: by LLVM that takes minutes, a request has less.

scripts/setup-peers calls it. Kernels depend on the package alone, not on a scene; what a scene needs beside these is compiled then.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
UNIT = [0.0, 0.0, 0.0, 1.0]


def body(name: str, shape: dict, x: float, motion: str = "dynamic") -> dict:
    return {
        "name": name, "shape": shape, "motion": motion, "mass_kg": 1.0, "inertia_kg_m2": [0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1],
        "friction": [0.5, 0.5], "restitution": 0.0, "elasticity": None, "group": None,
        "position": [x, 0.0, 0.49], "rotation": UNIT, "velocity": [0.0, 0.0, 0.0], "omega": [0.0, 0.0, 0.0],
    }


def joint(kind: str, a: int, b: int, lower: float | None) -> dict:
    return {
        "name": kind, "kind": kind, "a": {"body": a}, "b": {"body": b}, "anchor_a": [1.0, 0, 0], "anchor_b": [-1.0, 0, 0],
        "basis_a": UNIT, "basis_b": UNIT, "limit": None if lower is None else [lower, 1.0], "motor": None, "damping": 0.0,
    }


def scene(contacts: bool) -> dict:
    round_ = {"radius_m": 0.5, "half_length_m": 0.2}
    shapes = [{"box": {"half_m": [0.5, 0.5, 0.5]}}, {"sphere": {"radius_m": 0.5}}, {"capsule": round_}, {"cylinder": round_}]
    bodies = [body(f"b{i}", shape, 2.0 * i) for i, shape in enumerate(shapes)]
    ground = body("ground", {"half_space": {}}, 0.0, "static")
    slab = body("slab", {"box": {"half_m": [20.0, 20.0, 0.5]}}, 0.0, "static")
    ground["position"], slab["position"] = [0.0, 0.0, 0.0], [0.0, 0.0, -0.5]
    about = {"margin_m": 0.01, "points_max": 4} if contacts else None
    joints = [joint("ball", 0, 1, None), joint("hinge", 1, 2, -1.0)]
    return {
        "gravity": [0.0, 0.0, -9.81], "dt_s": 1 / 60, "contacts": about, "bodies": [*bodies, ground, slab],
        "joints": joints, "springs": [], "particles": [],
    }


def warm(name: str):
    sys.argv = ["solver.py", name]
    from solver import Row, np, row

    method = row(name)
    for contacts in (False, True):
        about = scene(contacts)
        solver: Row = method(about, {key: default for key, (default, _) in method.SETTINGS.items()})
        bodies = [[*b["position"], *b["rotation"], *b["velocity"], *b["omega"]] for b in about["bodies"]]
        solver.load(0.0, np.array(bodies), [])
        solver.step(1 / 60, 2)
        solver.read()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        warm(sys.argv[1])
    else:
        # One process each: what one solver sets holds for all of a process.
        for name in ("featherstone", "kamino", "mujoco", "steel", "vbd", "xpbd"):
            subprocess.run([sys.executable, str(HERE / "warm.py"), name], check=True)
