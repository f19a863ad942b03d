"""A solver of Newton as a row of taut, named by the first argument. What it does with a scene and why is in README.md."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common"))

import wire  # First: it takes standard output away from the engine.

import importlib.metadata
import os
import warnings

import warp as wp

# Compiled kernels stay with the environment, and no derivative of them is asked for.
wp.config.quiet = True
wp.config.enable_backward = False
wp.config.kernel_cache_dir = str(Path(sys.prefix) / "kernels")
wp.init()
wp.set_device("cpu")

import newton
import numpy as np

from audit import audit
from laws import COMMON, LAWS
from model import Model
from wire import Refusal

# A state that is farther from all that the coordinates can hold is refused [m, and as share of a turn].
OFF = 1e-4


class Row:
    """One scene; a state is loaded into a solver made anew, which has nothing to remember."""

    LAW: type
    HELLO: dict
    SETTINGS: dict

    def __init__(self, scene: dict, settings: dict):
        self.scene = scene
        self.settings = settings
        self.moves = np.array([body["motion"] == "dynamic" for body in scene["bodies"]], bool)
        self.build(())

    def build(self, broken):
        self.broken = tuple(broken)
        self.model = Model(self.scene, self.settings, self.LAW, set(broken))
        self.at = np.array(self.model.bodies, int)
        self.m = self.model.m
        self.pipeline = self.contacts = None
        if self.model.shapes:
            room = self.LAW.contacts_max(self.settings)
            self.pipeline = newton.CollisionPipeline(self.m, broad_phase="explicit", deterministic=True, rigid_contact_max=room)
            self.contacts = self.pipeline.contacts()
        self.control = self.m.control()
        self.most_contacts = 0
        self.start()

    def start(self):
        self.states = [self.m.state(), self.m.state()]
        self.solver = self.LAW.solver(self) if self.m.body_count else None

    def load(self, time_s: float, bodies: np.ndarray, broken: list[int]):
        if tuple(broken) != self.broken:
            self.build(broken)
        self.loaded = bodies
        if self.solver is None:
            return
        self.start()
        state = self.states[0]
        places, rates = state.body_q.numpy(), state.body_qd.numpy()
        for i in np.flatnonzero(self.at >= 0):
            places[self.at[i]], rates[self.at[i]] = bodies[i, :7], bodies[i, 7:13]
        state.body_q.assign(places)
        state.body_qd.assign(rates)
        if self.LAW.REDUCED:
            self.coordinates(state, bodies)

    def coordinates(self, state, bodies: np.ndarray):
        """Those of joints, which have to hold what was loaded."""
        newton.eval_ik(self.m, state, state.joint_q, state.joint_qd)
        newton.eval_fk(self.m, state.joint_q, state.joint_qd, state)
        found = state.body_q.numpy()
        for i in np.flatnonzero(self.at >= 0):
            far = np.abs(found[self.at[i], :3] - bodies[i, :3]).max() / (1 + np.abs(bodies[i, :3]).max())
            if not far <= OFF:
                raise Refusal("state", f"body {i} is {far:.2e} off what its coordinates can hold")

    def step(self, dt: float, iterations: int):
        for _ in range(iterations if self.solver is not None else 0):
            self.advance(dt / iterations)

    def advance(self, h: float):
        state, after = self.states
        state.clear_forces()
        if self.pipeline is not None:
            self.pipeline.collide(state, self.contacts)
            self.count_contacts()
        self.LAW.advance(self, state, after, h)
        self.states = [after, state]

    def count_contacts(self):
        """It drops in silence what it has no room for."""
        count = int(self.contacts.rigid_contact_count.numpy()[0])
        self.most_contacts = max(self.most_contacts, count)
        if count > self.contacts.rigid_contact_max:
            raise Refusal("capacity", f"{count} contacts, and there is room for {self.contacts.rigid_contact_max}")

    def read(self) -> np.ndarray:
        out = self.loaded.copy()
        if self.solver is None:
            return out
        places, rates = self.states[0].body_q.numpy().astype(float), self.states[0].body_qd.numpy().astype(float)
        held = self.at >= 0
        out[held, :7], out[held, 7:] = places[self.at[held]], rates[self.at[held]]
        # Unit length in single precision is not what the protocol asks for.
        out[held, 3:7] /= np.linalg.norm(out[held, 3:7], axis=1, keepdims=True)
        return out

    def audit(self) -> dict:
        return audit(self)


def row(name: str) -> type[Row]:
    law = LAWS[name]
    Row.LAW = law
    Row.SETTINGS = {**COMMON, **law.SETTINGS}
    Row.HELLO = {
        "name": law.NAME,
        "version": importlib.metadata.version("newton"),
        "summary": law.SUMMARY,
        "reference": law.REFERENCE,
        "iteration": "substep",
        "determinism": "bitwise",
        "state": "rigid",
        "contacts": "own" if "contact" in law.TAKES else "none",
        "takes": law.TAKES,
    }
    return Row


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    wire.serve(row(sys.argv[1]))
    # Taking Warp apart lasts longer than `bye` allows.
    sys.stderr.flush()
    os._exit(0)
