"""Coefficients of surfaces by which DART's rules for a pair give those of the scene, or a refusal where none do.

DART takes the lesser of two coefficients of friction and the product of two restitutions; the scene takes the geometric
mean and the larger.
"""

import numpy as np

from wire import Refusal

# Relative rounding within which a pair is as the scene says.
ROUNDING = 1e-12


def classes(bodies: list[dict], apart: set[tuple[int, int]], key: str):
    """Bodies by what they are made of and whether they move, and which of these classes meet.

    A class meets itself where two of its bodies can touch.
    """
    sorts: dict = {}
    member = []
    for body in bodies:
        value = body[key][0] if key == "friction" else body[key]
        member.append(sorts.setdefault((value, body["motion"] == "dynamic"), len(sorts)))
    values = [value for value, _ in sorts]
    moving = [moves for _, moves in sorts]
    count = np.bincount(member, minlength=len(sorts))
    kept = np.zeros((len(sorts), len(sorts)), int)
    for a, b in apart:
        low, high = sorted((member[a], member[b]))
        kept[low, high] += 1
    meet = []
    for a in range(len(sorts)):
        for b in range(a, len(sorts)):
            pairs = count[a] * (count[a] - 1) // 2 if a == b else count[a] * count[b]
            if pairs > kept[a, b] and (moving[a] or moving[b]):
                meet.append((a, b))
    return member, values, meet


def frictions(bodies: list[dict], apart: set[tuple[int, int]]) -> list[float]:
    """The least coefficients that no pair has too little of; any larger ones would only add to what a pair has."""
    member, values, meet = classes(bodies, apart, "friction")
    due = {pair: float(np.sqrt(values[pair[0]] * values[pair[1]])) for pair in meet}
    own = [max((mu for pair, mu in due.items() if place in pair), default=0.0) for place in range(len(values))]
    for (a, b), mu in due.items():
        if min(own[a], own[b]) - mu > ROUNDING * mu:
            words = f"coefficients {values[a]:g} and {values[b]:g} meet, and DART takes the lesser of two"
            raise Refusal("unsupported", f"friction: {words}; no two of them have the means of all pairs here")
    return [own[place] for place in member]


def restitutions(bodies: list[dict], apart: set[tuple[int, int]]) -> list[float]:
    """Roots of the scene's where all pairs bounce alike; in general logarithms whose sums are those of all pairs."""
    member, values, meet = classes(bodies, apart, "restitution")
    due = {pair: max(values[pair[0]], values[pair[1]]) for pair in meet}
    bounce = {pair: e for pair, e in due.items() if e > 0}
    logs = np.zeros(len(values))
    if bounce:
        rows = np.zeros((len(bounce), len(values)))
        for row, (a, b) in zip(rows, bounce):
            row[a] += 1
            row[b] += 1
        logs = np.linalg.lstsq(rows, np.log(list(bounce.values())), rcond=None)[0]
    bouncing = {place for pair in bounce for place in pair}
    own = [float(np.exp(logs[place])) if place in bouncing else 0.0 for place in range(len(values))]
    for (a, b), e in due.items():
        if abs(own[a] * own[b] - e) > 10 * ROUNDING or max(own[a], own[b]) > 1 + ROUNDING:
            words = f"{values[a]:g} and {values[b]:g} meet, and DART multiplies them"
            raise Refusal("unsupported", f"restitution: {words}; no two of them have the products of all pairs here")
    return [min(own[place], 1.0) for place in member]
