"""Coefficients of surfaces by which an engine's rule for a pair gives that of the scene, or a refusal where none do.

The scene takes the geometric mean of two coefficients of friction and the larger of two restitutions.
"""

from itertools import combinations

import numpy as np

from tree import joined
from wire import Refusal

# Relative rounding within which a pair is as the scene says.
ROUNDING = 1e-12


def kept_apart(scene: dict, broken) -> set[tuple[int, int]]:
    """Pairs of bodies that never touch, the lower one first: those that a joint connects, and those of one group."""
    groups: dict[str, list[int]] = {}
    for i, body in enumerate(scene["bodies"]):
        if body["group"] is not None:
            groups.setdefault(body["group"], []).append(i)
    return joined(scene, broken).union(*(combinations(members, 2) for members in groups.values()))


def coefficient(body: dict, key: str) -> float:
    """What a body has of its own: of friction the static one, from which the dynamic one never differs in what is taken here."""
    return body[key][0] if key == "friction" else body[key]


class Surfaces:
    """Bodies by what they are made of and whether they move, and which of these classes meet.

    `apart` are pairs of bodies that never touch. A class meets itself where two of its bodies can.
    """

    def __init__(self, bodies: list[dict], apart: set[tuple[int, int]], key: str):
        sorts: dict = {}
        self.key = key
        self.member = []
        for body in bodies:
            sort = (coefficient(body, key), body["motion"] == "dynamic")
            self.member.append(sorts.setdefault(sort, len(sorts)))
        self.values = [value for value, _ in sorts]
        moving = [moves for _, moves in sorts]
        count = np.bincount(self.member, minlength=len(sorts))
        kept = np.zeros((len(sorts), len(sorts)), int)
        for a, b in apart:
            low, high = sorted((self.member[a], self.member[b]))
            kept[low, high] += 1
        self.due: dict[tuple[int, int], float] = {}
        for a in range(len(sorts)):
            for b in range(a, len(sorts)):
                pairs = count[a] * (count[a] - 1) // 2 if a == b else count[a] * count[b]
                if pairs > kept[a, b] and (moving[a] or moving[b]):
                    self.due[a, b] = self.of_pair(self.values[a], self.values[b])

    def of_pair(self, a: float, b: float) -> float:
        return float(np.sqrt(a * b)) if self.key == "friction" else max(a, b)

    def settled(self, own: list[float], rule, words: str) -> list[float]:
        """The coefficient of each body, if the engine's rule makes all pairs of them."""
        for (a, b), value in self.due.items():
            if abs(rule(own[a], own[b]) - value) > 10 * ROUNDING * (1 + value):
                pair = f"{self.values[a]:g} and {self.values[b]:g} meet, and the engine takes {words}"
                raise Refusal("unsupported", f"{self.key}: {pair}; no coefficients give all pairs here theirs")
        return [own[place] for place in self.member]

    def extreme(self, of_pairs, rule, words: str) -> list[float]:
        """The coefficients if of each class it is the least or largest of those that its pairs are due."""
        of_class = ([due for pair, due in self.due.items() if i in pair] for i in range(len(self.values)))
        return self.settled([of_pairs(due, default=0.0) for due in of_class], rule, words)

    def sums(self, due: dict[tuple[int, int], float]) -> np.ndarray:
        """The least numbers whose sums are those of all pairs, or nearly."""
        rows = np.zeros((len(due), len(self.values)))
        for row, (a, b) in zip(rows, due):
            row[a] += 1
            row[b] += 1
        return np.linalg.lstsq(rows, np.array(list(due.values())), rcond=None)[0]


def lesser(bodies: list[dict], apart: set[tuple[int, int]], key: str) -> list[float]:
    """For an engine that takes the lesser: as much as some pair is due, since more would only add to what others have."""
    return Surfaces(bodies, apart, key).extreme(max, min, "the lesser of two")


def larger(bodies: list[dict], apart: set[tuple[int, int]], key: str) -> list[float]:
    """For an engine that takes the larger: as little as some pair is due, since more would only add to what others have."""
    return Surfaces(bodies, apart, key).extreme(min, max, "the larger of two")


def told(bodies: list[dict], _apart: set[tuple[int, int]], key: str) -> list[float]:
    """For an engine whose rule is the scene's."""
    return [coefficient(body, key) for body in bodies]


def product(bodies: list[dict], apart: set[tuple[int, int]], key: str) -> list[float]:
    """For an engine that multiplies: logarithms whose sums are those of all pairs."""
    surfaces = Surfaces(bodies, apart, key)
    some = {pair: float(np.log(due)) for pair, due in surfaces.due.items() if due > 0}
    logs = surfaces.sums(some) if some else np.zeros(len(surfaces.values))
    any_of = {i for pair in some for i in pair}
    own = [float(np.exp(logs[i])) if i in any_of else 0.0 for i in range(len(surfaces.values))]
    return surfaces.settled(own, lambda a, b: a * b, "the product of two")


def mean(bodies: list[dict], apart: set[tuple[int, int]], key: str) -> list[float]:
    """For an engine that takes the arithmetic mean."""
    surfaces = Surfaces(bodies, apart, key)
    if not surfaces.due:
        return [0.0] * len(bodies)
    own = list(2 * surfaces.sums(surfaces.due))
    if min(own) < -ROUNDING:
        raise Refusal("unsupported", f"{key}: the engine takes the mean of two, and some would have to be below zero")
    return surfaces.settled([max(0.0, float(x)) for x in own], lambda a, b: (a + b) / 2, "the mean of two")
