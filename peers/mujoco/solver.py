"""MuJoCo as a row of taut. What it does with a scene and why is in README.md."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common"))

import wire  # First: it takes standard output away from the engine.

import mujoco
import numpy as np

from audit import audit
from frames import Place, about, body_places, matrix, quaternion
from model import Model, wxyz
from wire import Refusal, number, one_of

# A state that is farther from all that the coordinates can hold is refused [m, and as share of a turn].
OFF = 1e-6
# What the engine would go on after in silence.
BAD = ("BADQPOS", "BADQVEL", "BADQACC", "BADCTRL")
FULL = ("CNSTRFULL", "CONTACTFULL")


class Mujoco:
    """One scene in one model; broken joints make another."""

    HELLO = {
        "name": "mujoco",
        "version": mujoco.__version__,
        "summary": "MuJoCo: reduced coordinates, soft constraints solved by Newton's method",
        "reference": "Todorov, Erez, Tassa: MuJoCo, a physics engine for model-based control (2012)",
        "iteration": "substep",
        "determinism": "bitwise",
        "state": "rigid",
        "contacts": "own",
        "takes": [
            *("body.dynamic", "body.static"),
            *("joint.ball", "joint.hinge", "joint.universal", "joint.prismatic", "joint.cylindrical"),
            *("joint.fixed", "joint.distance", "joint.limit", "joint.motor", "joint.damping", "joint.loop"),
            *("spring.linear", "spring.damping"),
            *("contact", "contact.groups"),
            *("shape.box", "shape.sphere", "shape.capsule", "shape.cylinder", "shape.hull", "shape.compound"),
            "shape.half_space",
        ],
    }
    SETTINGS = {
        "coordinates": ("reduced", one_of("reduced", "maximal")),
        "solver": ("newton", one_of("newton", "cg", "pgs")),
        "integrator": ("euler", one_of("euler", "rk4", "implicit", "implicitfast")),
        "cone": ("pyramidal", one_of("pyramidal", "elliptic")),
        "tolerance": (1e-8, number(0, 1)),
        "ls_tolerance": (1e-2, number(1e-12, 1)),
        "iterations": (100, number(1, 100_000, whole=True)),
        "impratio": (1.0, number(1e-3, 1e6)),
        "timeconst_s": (0.02, number(1e-6, 1e3)),
        "dampratio": (1.0, number(1e-3, 1e3)),
        "motor_rate": (1e3, number(1e-3, 1e9)),
    }

    def __init__(self, scene: dict, settings: dict):
        self.scene = scene
        self.settings = settings
        self.moves = np.array([body["motion"] == "dynamic" for body in scene["bodies"]], bool)
        self.build(())

    def build(self, broken):
        self.broken = tuple(broken)
        self.model = Model(self.scene, self.settings, set(broken))
        self.m = self.model.m
        self.d = mujoco.MjData(self.m)
        mujoco.mj_forward(self.m, self.d)
        self.control = self.model.finish(self.d)

    def load(self, time_s: float, bodies: np.ndarray, broken: list[int]):
        if tuple(broken) != self.broken:
            self.build(broken)
        mujoco.mj_resetData(self.m, self.d)
        self.d.time, self.loaded = time_s, bodies
        self.d.ctrl[:] = self.control
        places = body_places(bodies)
        hung = {link.child for link in self.model.links}
        for i, body in enumerate(bodies):
            if i in hung or not self.moves[i]:
                continue
            joint = self.m.body_jntadr[self.model.ids[i]]
            q, v = self.m.jnt_qposadr[joint], self.m.jnt_dofadr[joint]
            self.d.qpos[q : q + 7] = [*body[:3], *wxyz(body[3:7])]
            self.d.qvel[v : v + 6] = [*body[7:10], *(matrix(body[3:7]).T @ body[10:13])]
        for link in self.model.links:
            parent = Place(np.eye(3), np.zeros(3)) if link.parent is None else places[link.parent]
            self.hang(link, parent.inverse() * places[link.child])
        self.check(bodies, places)
        if hung:
            self.share_momentum(bodies)
        mujoco.mj_forward(self.m, self.d)
        self.clear_warnings()

    def hang(self, link, relative: Place):
        """The coordinates of a joint from where its child lies on its parent."""
        m, kind = self.m, self.scene["joints"][link.joint]["kind"]
        if kind == "fixed":
            return
        body = self.model.ids[link.child]
        zero = Place.of(m.body_pos[body], np.roll(m.body_quat[body], -1))
        moved = zero.inverse() * relative
        first = m.body_jntadr[body]
        at = m.jnt_qposadr[first : first + m.body_jntnum[body]]
        axes, anchor = m.jnt_axis[first : first + m.body_jntnum[body]], m.jnt_pos[first]
        if kind == "ball":
            self.d.qpos[at[0] : at[0] + 4] = wxyz(quaternion(moved.r))
        elif kind == "hinge":
            self.d.qpos[at[0]] = about(moved.r, axes[0])
        elif kind in ("prismatic", "cylindrical"):
            self.d.qpos[at[0]] = axes[0] @ (moved.point(anchor) - anchor)
            if kind == "cylindrical":
                self.d.qpos[at[1]] = about(moved.r, axes[1])
        elif kind == "universal":
            u, v = axes
            turned, back = moved.r @ v, moved.r.T @ u
            self.d.qpos[at[0]] = np.arctan2(u @ np.cross(v, turned), v @ turned)
            self.d.qpos[at[1]] = -np.arctan2(v @ np.cross(u, back), u @ back)

    def check(self, bodies: np.ndarray, places: list[Place]):
        """That the coordinates hold what was loaded."""
        mujoco.mj_kinematics(self.m, self.d)
        size = 1.0 + np.abs(bodies[:, :3]).max(initial=0.0)
        for i, (place, body) in enumerate(zip(places, self.model.ids)):
            far = np.linalg.norm(self.d.xpos[body] - place.x) / size
            turned = np.linalg.norm(self.d.xmat[body].reshape(3, 3) - place.r)
            if not max(far, turned) <= OFF:
                words = f"body {i} is {far * size:.2e} m and {turned:.2e} off what its coordinates can hold"
                raise Refusal("state", words)

    def share_momentum(self, bodies: np.ndarray):
        """Velocities of joints that carry the momentum of the bodies: where these fit the joints, just their motion."""
        m, d = self.m, self.d
        mujoco.mj_fwdPosition(m, d)
        momentum = np.zeros(m.nv)
        for i, b in enumerate(self.model.ids):
            if not self.moves[i]:
                continue
            r = d.xmat[b].reshape(3, 3)
            inertia = r @ self.inertia(b) @ r.T
            linear, angular = m.body_mass[b] * bodies[i, 7:10], inertia @ bodies[i, 10:13]
            mujoco.mj_applyFT(m, d, linear, angular, d.xpos[b], b, momentum)
        speeds = np.zeros((1, m.nv))
        mujoco.mj_solveM(m, d, speeds, momentum.reshape(1, -1))
        hung = np.zeros(m.nv, bool)
        for i in range(m.njnt):
            if m.jnt_type[i] != mujoco.mjtJoint.mjJNT_FREE or m.body_subtreemass[m.jnt_bodyid[i]] > m.body_mass[m.jnt_bodyid[i]]:
                width = {0: 6, 1: 3}.get(int(m.jnt_type[i]), 1)
                hung[m.jnt_dofadr[i] : m.jnt_dofadr[i] + width] = True
        d.qvel[hung] = speeds[0, hung]

    def inertia(self, body: int) -> np.ndarray:
        """In the coordinates of the body, from what the engine compiled."""
        r = matrix(np.roll(self.m.body_iquat[body], -1))
        return r @ np.diag(self.m.body_inertia[body]) @ r.T

    def clear_warnings(self):
        for warning in self.d.warning:
            warning.number = 0

    def step(self, dt: float, iterations: int):
        self.m.opt.timestep = dt / iterations
        mujoco.mj_step(self.m, self.d, iterations)
        for kind, names in (("not_converged", BAD), ("capacity", FULL)):
            for name in names:
                if self.d.warning[getattr(mujoco.mjtWarning, "mjWARN_" + name)].number:
                    raise Refusal(kind, f"{name} at {self.d.time:.4g} s")

    def read(self) -> np.ndarray:
        """The engine leaves places and velocities of bodies where the last step began, so they are found here."""
        m, d, ids = self.m, self.d, self.model.ids
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_comVel(m, d)
        out = np.empty((len(ids), wire.WIDTH))
        out[:, 0:3] = d.xpos[ids]
        out[:, 3:7] = np.roll(d.xquat[ids], -1, axis=1)
        out[:, 10:13] = d.cvel[ids, 0:3]
        arm = d.xpos[ids] - d.subtree_com[m.body_rootid[ids]]
        out[:, 7:10] = d.cvel[ids, 3:6] + np.cross(d.cvel[ids, 0:3], arm)
        # Its copy of what never moves differs by rounding.
        out[~self.moves] = self.loaded[~self.moves]
        return out

    def audit(self) -> dict:
        return audit(self)


if __name__ == "__main__":
    # Else it writes MUJOCO_LOG.TXT beside this file.
    mujoco.set_mju_user_warning(lambda text: print(text, file=sys.stderr))
    wire.serve(Mujoco)
