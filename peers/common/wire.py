"""Protocol 1 of crates/exec/PROTOCOL.md for engines: import this first, then the engine, then `serve`."""

import os
import sys

# Whatever an engine prints goes to standard error: between the answers it would be taken for one.
ANSWERS = os.fdopen(os.dup(1), "wb", buffering=1 << 20)
os.dup2(2, 1)

import json
import time

import numpy as np

WIDTH = 13  # Numbers of a body: position 3, quaternion x y z w, velocity 3, angular velocity in world axes 3.


class Refusal(Exception):
    """Says no and lives on; kind is unsupported, settings, state, capacity, not_converged, device or internal."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind
        self.message = message


def one_of(*names: str):
    """A setting that is one of some words."""

    def check(key, value):
        if value not in names:
            raise Refusal("settings", f"`{key}` is {value}, expected one of {', '.join(names)}")
        return value

    return check


def flag(key, value):
    """A setting that is yes or no."""
    if not isinstance(value, bool):
        raise Refusal("settings", f"`{key}` is {value}, expected true or false")
    return value


def number(lowest: float, highest: float, whole: bool = False):
    """A setting that is a number between two others, these included."""

    def check(key, value):
        kinds = int if whole else (int, float)
        if not isinstance(value, kinds) or isinstance(value, bool) or not lowest <= value <= highest:
            words = "a whole number" if whole else "a number"
            raise Refusal("settings", f"`{key}` is {value}, expected {words} from {lowest:g} to {highest:g}")
        return value

    return check


def settled(given: dict, known: dict) -> dict:
    """The settings in force: `known` has the default and the check of each."""
    for key, value in given.items():
        if key not in known:
            raise Refusal("settings", f"there is no setting `{key}`, there are {', '.join(known)}")
        known[key][1](key, value)
    return {key: given.get(key, default) for key, (default, _) in known.items()}


class Conversation:
    """Requests and answers about one scene at a time.

    A method has HELLO and SETTINGS, is made of a scene and settings, and has `load(time_s, bodies, broken)`,
    `step(dt, iterations)`, `read() -> bodies` and `audit()`. Bodies are rows of `WIDTH` numbers.
    """

    def __init__(self, method):
        self.method = method
        self.solver = None
        self.count = 0
        self.time_s = 0.0
        self.ready = False
        self.broken: list[int] = []
        self.loaded: np.ndarray | None = None

    def answer(self, request: dict, block: bytes) -> tuple[dict, bytes]:
        """The keys of an answer and the bytes after it."""
        name = request["do"]
        if name in ("ping", "bye"):
            return {}, b""
        if name == "hello":
            defaults = {key: default for key, (default, _) in self.method.SETTINGS.items()}
            return {"protocol": 1, "audit": True, "settings": defaults, **self.method.HELLO}, b""
        if name == "scene":
            self.solver = self.loaded = None
            self.ready = False
            scene = json.loads(block)
            settings = settled(request["settings"], self.method.SETTINGS)
            self.solver = self.method(scene, settings)
            self.count = len(scene["bodies"])
            return {"settings": settings}, b""
        known = {"load": self.load, "step": self.step, "read": self.read, "audit": self.audit}
        if name not in known:
            raise Refusal("unknown", f"there is no request `{name}`")
        if self.solver is None:
            raise Refusal("internal", f"`{name}` before any scene")
        if name in ("step", "read") and not self.ready:
            raise Refusal("internal", f"`{name}` before any state")
        return known[name](request, block)

    def load(self, request: dict, block: bytes):
        due = 8 * WIDTH * self.count
        if len(block) != due:
            raise Refusal("state", f"a state of {len(block)} bytes where {due} are due")
        bodies = np.frombuffer(block, "<f8").reshape(self.count, WIDTH)
        self.solver.load(request["time_s"], bodies, request["broken"])
        self.time_s, self.broken, self.loaded, self.ready = request["time_s"], request["broken"], bodies, True
        return {}, b""

    def step(self, request: dict, _):
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(request["count"]):
            # What was loaded is no longer what the engine holds, even where it fails.
            self.loaded = None
            self.solver.step(request["dt"], request["iterations"])
            self.time_s += request["dt"]
        return {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}, b""

    def read(self, *_):
        # Before any step a state is told as it was loaded: an engine that keeps it otherwise gives other last bits.
        bodies = self.solver.read() if self.loaded is None else self.loaded
        block = np.ascontiguousarray(bodies, "<f8").tobytes()
        return {"time_s": self.time_s, "broken": self.broken, "bytes": len(block)}, block

    def audit(self, *_):
        block = json.dumps(self.solver.audit()).encode()
        return {"bytes": len(block)}, block


def serve(method):
    conversation = Conversation(method)
    requests = sys.stdin.buffer
    # The end of the input is the end of this process.
    while line := requests.readline():
        request = json.loads(line)
        block = requests.read(request.get("bytes", 0))
        answer, after = {"ok": True}, b""
        try:
            keys, after = conversation.answer(request, block)
            answer.update(keys)
        except Refusal as refusal:
            answer = {"ok": False, "kind": refusal.kind, "message": refusal.message}
        answer["n"] = request["n"]
        ANSWERS.write(json.dumps(answer).encode() + b"\n" + after)
        ANSWERS.flush()
        if request["do"] == "bye":
            break
