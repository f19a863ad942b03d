"""The joints of a scene as a forest, for engines whose coordinates are those of joints, and the rest as loops."""

from dataclasses import dataclass

import numpy as np

from frames import Place, body_places, start_of

# A joint that is open by more at the start, relative to a metre or a radian, is no coordinate of anything.
OPEN = 1e-6


@dataclass
class Link:
    """A joint by which a body hangs on another, or on the world (`None`)."""

    joint: int
    parent: int | None
    child: int
    # Whether the child is the scene's A.
    turned: bool


def body_of(end) -> int | None:
    """The body of an end of a joint; `None` is the world."""
    return None if end == "world" else end["body"]


def joined(scene: dict, broken) -> set[tuple[int, int]]:
    """Pairs of bodies that a joint connects, the lower one first: they do not touch."""
    pairs = set()
    for k, joint in enumerate(scene["joints"]):
        a, b = body_of(joint["a"]), body_of(joint["b"])
        if k not in broken and a is not None and b is not None:
            pairs.add((min(a, b), max(a, b)))
    return pairs


def frame_on(joint: dict, side: str) -> Place:
    """The joint's frame on one of its bodies."""
    return Place.of(joint[f"anchor_{side}"], joint[f"basis_{side}"])


def openness(joint: dict, a: Place, b: Place) -> float:
    """How far a joint is from holding, the larger of metres and radians."""
    rel = (a * frame_on(joint, "a")).inverse() * (b * frame_on(joint, "b"))
    r, x, kind = rel.r, rel.x, joint["kind"]
    twist = float(np.linalg.norm([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])) / 2
    if r.trace() < 1:
        # Past a right angle the sine falls again.
        twist = 2.0 - twist
    if kind == "distance":
        length = float(np.linalg.norm(x))
        lower, upper = joint["limit"] or [joint["length_m"]] * 2
        return max(0.0, (lower or 0.0) - length, 0.0 if upper is None else length - upper)
    point = float(np.linalg.norm(x))
    side = float(np.linalg.norm(x[1:]))
    axis = float(np.hypot(r[1, 0], r[2, 0])) if r[0, 0] > 0 else 2.0
    return {
        "ball": point,
        "hinge": max(point, axis),
        "universal": max(point, abs(float(r[0, 1]))),
        "prismatic": max(side, twist),
        "cylindrical": max(side, axis),
        "fixed": max(point, twist),
    }[kind]


def forest(scene: dict, left_out: set[int], closable: set[str]) -> tuple[list[Link], list[int]]:
    """Links in an order in which parents come before children, and the joints that close loops.

    Kinds in `closable` are the first to be left to loops: the engine has a constraint for them. So are joints that are
    open at the start. What no force moves is one ground.
    """
    bodies, joints = scene["bodies"], scene["joints"]
    ground = len(bodies)
    root = list(range(ground + 1))

    def find(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    def node(end) -> int:
        body = body_of(end)
        return ground if body is None or bodies[body]["motion"] != "dynamic" else body

    places = body_places(start_of(scene)) + [Place(np.eye(3), np.zeros(3))]

    def place(end) -> Place:
        body = body_of(end)
        return places[ground if body is None else body]

    kept, loops = [], []
    order = sorted(range(len(joints)), key=lambda k: (joints[k]["kind"] in closable, k))
    for k in order:
        joint = joints[k]
        if k in left_out:
            continue
        a, b = find(node(joint["a"])), find(node(joint["b"]))
        if joint["kind"] == "distance" or a == b or openness(joint, place(joint["a"]), place(joint["b"])) > OPEN:
            loops.append(k)
            continue
        root[a] = b
        kept.append(k)
    return hung(scene, kept, ground, node), sorted(loops)


def hung(scene: dict, kept: list[int], ground: int, node) -> list[Link]:
    """Hangs the kept joints on the ground, or on the first body of what is free of it."""
    joints = scene["joints"]
    at: dict[int, list[int]] = {}
    for k in sorted(kept):
        for end in (node(joints[k]["a"]), node(joints[k]["b"])):
            at.setdefault(end, []).append(k)
    seen, links = set(), []
    for start in [ground, *range(len(scene["bodies"]))]:
        if start in seen:
            continue
        seen.add(start)
        queue = [start]
        while queue:
            here = queue.pop(0)
            for k in at.get(here, []):
                a, b = node(joints[k]["a"]), node(joints[k]["b"])
                turned = b == here
                child = a if turned else b
                if child in seen:
                    continue
                parent = body_of(joints[k]["b" if turned else "a"])
                links.append(Link(k, parent, child, turned))
                seen.add(child)
                queue.append(child)
    return links


def zero_place(joint: dict, turned: bool) -> Place:
    """Where the child's frame lies in the parent's when the joint's coordinates are zero."""
    a, b = frame_on(joint, "a"), frame_on(joint, "b")
    return b * a.inverse() if turned else a * b.inverse()
