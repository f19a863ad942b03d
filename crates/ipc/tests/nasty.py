#!/usr/bin/env python3
"""Makes tests/data/nasty/*.json: ill-conditioned pairs, impacts and triangles with answers of many digits.

Needs mpmath; `python3 tests/nasty.py` from the folder of the crate. Derivatives are central differences at 90 digits of
closed forms that the crate does not use (areas and determinants), so that no formula of it is copied; impacts are roots of
the coplanarity cubic; intersections are decided on exact rationals by separating directions.
"""
import json, os, random
from fractions import Fraction
from mpmath import mp, mpf

mp.dps = 90
STEP = mpf(10) ** -25
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "nasty")


def sub(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def add(a, b, s=1):
    return [x + s * y for x, y in zip(a, b)]


def exact(points):
    return [[mpf(x) for x in p] for p in points]


def rounded(points):
    return [[float(x) for x in p] for p in points]


# Squared distances of fixed kinds, of four points.
def two_points(i, j):
    return lambda x: dot(sub(x[i], x[j]), sub(x[i], x[j]))


def point_line(i, j, k):
    def f(x):
        e = sub(x[k], x[j])
        n = cross(sub(x[i], x[j]), e)
        return dot(n, n) / dot(e, e)
    return f


def determinant(i, j, k, first, second):
    def f(x):
        n = cross(sub(x[first[1]], x[first[0]]), sub(x[second[1]], x[second[0]]))
        return dot(sub(x[i], x[k]), n) ** 2 / dot(n, n)
    return f


def share(p, a, b):
    e = sub(b, a)
    return dot(sub(p, a), e) / dot(e, e)


def point_triangle_kind(x):
    """Name and function of the nearest features, by which perpendicular feet are inside."""
    found = []
    n = cross(sub(x[2], x[1]), sub(x[3], x[1]))
    sides = [(1, 2), (2, 3), (3, 1)]
    turns = [dot(cross(sub(x[j], x[i]), sub(x[0], x[i])), n) for i, j in sides]
    if all(t > 0 for t in turns):
        found.append(("P_T", determinant(0, 0, 1, (1, 2), (1, 3))))
    for k, (i, j) in enumerate(sides):
        if 0 < share(x[0], x[i], x[j]) < 1:
            found.append((f"P_E{k}", point_line(0, i, j)))
    for k in range(3):
        found.append((f"P_T{k}", two_points(0, 1 + k)))
    return min(found, key=lambda f: f[1](x))


def edge_edge_kind(x):
    found = []
    u, v, w = sub(x[1], x[0]), sub(x[3], x[2]), sub(x[0], x[2])
    n = cross(u, v)
    s, t = dot(cross(v, w), n) / dot(n, n), dot(cross(u, w), n) / dot(n, n)
    if 0 < s < 1 and 0 < t < 1:
        found.append(("EA_EB", determinant(0, 0, 2, (0, 1), (2, 3))))
    for i in range(2):
        if 0 < share(x[i], x[2], x[3]) < 1:
            found.append((f"EA{i}_EB", point_line(i, 2, 3)))
        if 0 < share(x[2 + i], x[0], x[1]) < 1:
            found.append((f"EA_EB{i}", point_line(2 + i, 0, 1)))
        for j in range(2):
            found.append((f"EA{i}_EB{j}", two_points(i, 2 + j)))
    return min(found, key=lambda f: f[1](x))


def derivatives(f, x, size):
    """Value, gradient and lower Hessian by central differences of steps in units of the pair's size."""
    h = STEP * size
    flat = [c for p in x for c in p]

    def at(*moves):
        y = list(flat)
        for i, s in moves:
            y[i] += s * h
        return f([y[3 * i:3 * i + 3] for i in range(4)])

    value = at()
    plus, minus = [at((i, 1)) for i in range(12)], [at((i, -1)) for i in range(12)]
    gradient = [(p - m) / (2 * h) for p, m in zip(plus, minus)]
    hessian = [[mpf(0)] * 12 for _ in range(12)]
    for i in range(12):
        hessian[i][i] = (plus[i] - 2 * value + minus[i]) / (h * h)
        for j in range(i):
            x = at((i, 1), (j, 1)) - at((i, 1), (j, -1)) - at((i, -1), (j, 1)) + at((i, -1), (j, -1))
            hessian[i][j] = hessian[j][i] = x / (4 * h * h)
    return value, gradient, hessian


def lower(h):
    return [float(h[i][j]) for i in range(12) for j in range(i + 1)]


def clamped(h):
    mp.dps = 40
    values, vectors = mp.eigsy(mp.matrix(h))
    out = [[sum(max(values[k], 0) * vectors[i, k] * vectors[j, k] for k in range(12)) for j in range(12)]
           for i in range(12)]
    mp.dps = 90
    return out


def pair_case(category, points, d_hat, rest=None):
    points = rounded(points)
    x = exact(points)
    name, squared = (edge_edge_kind if rest else point_triangle_kind)(x)
    size = max(mp.sqrt(dot(sub(a, b), sub(a, b))) for a in x for b in x)
    d, gradient, hessian = derivatives(squared, x, size)
    d_hat = float(d_hat(mp.sqrt(d)))
    hat = mpf(d_hat) ** 2
    eps = mpf(rest[0]) ** 2 * mpf(rest[1]) ** 2 / 1000 if rest else None

    def energy(y):
        d = squared(y)
        if d >= hat:
            return mpf(0)
        b = -(d - hat) ** 2 * mp.log(d / hat)
        if rest:
            n = cross(sub(y[1], y[0]), sub(y[3], y[2]))
            c = dot(n, n) / eps
            b *= (2 - c) * c if c < 1 else 1
        return b

    # Steps well below the distance too, or differences would see past the barrier.
    value, b_gradient, b_hessian = derivatives(energy, x, min(size, mp.sqrt(d)))
    case = {"category": category, "points": points, "kinds": [name], "distance_squared": float(d), "d_hat": d_hat}
    if rest:
        case["rest_lengths"] = rest
    if category != "skew":
        case |= {"gradient": [float(g) for g in gradient], "hessian_lower": lower(hessian)}
    case["barrier"] = {
        "value": float(value),
        "gradient": [float(g) for g in b_gradient],
        "hessian_lower": lower(b_hessian),
        "hessian_psd_lower": lower(clamped(b_hessian)),
    }
    return case


def uniform(size=1.0):
    return [random.uniform(-size, size) for _ in range(3)]


def unit():
    v = exact([uniform()])[0]
    return [c / mp.sqrt(dot(v, v)) for c in v]


def across(v):
    w = cross(v, unit())
    return [c / mp.sqrt(dot(w, w)) for c in w]


def triangle(kind):
    """Corners in `mpf`: a common one, a needle with one short side, or a cap that is flat at one corner."""
    a, e = exact([uniform()])[0], unit()
    f = across(e)
    thin = mpf(10) ** random.uniform(-6, -3)
    if kind == "needle":
        return [a, add(a, e), add(add(a, e, random.uniform(0.9, 1.1)), f, thin)]
    if kind == "cap":
        return [a, add(a, e), add(add(a, e, random.uniform(0.2, 0.8)), f, thin)]
    return [a, *exact([uniform(), uniform()])]


def above(t, height):
    """A point over a random place of a triangle or a little beside it."""
    s, r = random.uniform(-0.3, 1.2), random.uniform(-0.3, 1.2)
    e1, e2 = sub(t[1], t[0]), sub(t[2], t[0])
    n = cross(e1, e2)
    n = [c / mp.sqrt(dot(n, n)) for c in n]
    return add(add(add(t[0], e1, s), e2, r), n, height)


def factor(least=1.0001):
    """d_hat over the distance, of which one is a barrier that has only begun."""
    f = random.choice([least, 1.05, 1.5, 4.0, 30.0])
    return lambda d: d * mpf(f)


def placed(points, scale, shift):
    return [[c * scale + s for c, s in zip(p, shift)] for p in points]


def point_triangles():
    cases = []
    for shape in ("needle", "cap", "common"):
        for height in (mpf(10) ** -k for k in (0, 2, 4)):
            t = triangle(shape)
            cases.append(pair_case(shape, [above(t, height), *t], factor()))
    for scale in (1e-6, 1e-3, 1e3, 1e6):
        t = triangle("common")
        cases.append(pair_case("scaled", placed([above(t, 0.1), *t], mpf(scale), [0] * 3), factor()))
    for away in (1e3, 1e5):
        t = triangle("common")
        cases.append(pair_case("far", placed([above(t, 0.3), *t], 1, uniform(away)), factor()))
    for height in (1e-5, 1e-7, 1e-8):
        t = triangle("common")
        cases.append(pair_case("close", [above(t, mpf(height)), *t], factor(1.2)))
    return cases


def edges(sine, height):
    a, u = exact([uniform()])[0], unit()
    n = across(u)
    side = cross(n, u)
    v = add([c * mp.sqrt(1 - sine ** 2) for c in u], side, sine)
    s, t = random.uniform(0.1, 0.9), random.uniform(0.1, 0.9)
    length = mpf(random.uniform(0.3, 1.5))
    v = [c * length for c in v]
    b = add(add(add(a, u, s), v, -t), n, height)
    return [a, add(a, u), b, add(b, v)]


def lengths(x):
    return [float(mp.sqrt(dot(sub(x[i + 1], x[i]), sub(x[i + 1], x[i])))) for i in (0, 2)]


def edge_edges():
    cases = []

    def case(category, x, rest=None):
        least = 1.2 if category == "close" else 1.0001
        cases.append(pair_case(category, x, factor(least), rest or lengths(x)))

    for k in (2, 3, 4, 5, 6, 7):
        case("skew", edges(mpf(10) ** -k, mpf(random.choice([1e-3, 1e-2, 0.1]))))
    for sine in (0.02, 0.03, 0.1):
        case("mollified", edges(mpf(sine), mpf("0.05")))
    for height in (1e-5, 1e-7, 1e-8):
        case("close", edges(mpf("0.7"), mpf(height)))
    for scale in (1e-6, 1e-3, 1e3, 1e6):
        case("scaled", placed(edges(mpf("0.5"), mpf("0.1")), mpf(scale), [0] * 3))
    for away in (1e3, 1e5):
        case("far", placed(edges(mpf("0.5"), mpf("0.1")), 1, uniform(away)))
    for _ in range(6):
        case("common", exact([uniform() for _ in range(4)]))
    return cases


def coplanar_times(start, move):
    """Roots of the coplanarity cubic in 0..1, in order."""
    def f(t):
        x = [add(p, m, t) for p, m in zip(start, move)]
        return dot(sub(x[0], x[1]), cross(sub(x[2], x[1]), sub(x[3], x[1])))
    values = [f(mpf(t)) for t in (0, 1, 2, 3)]
    rows = mp.matrix([[mpf(t) ** k for k in range(4)] for t in range(4)])
    c = mp.lu_solve(rows, mp.matrix(values))
    roots = mp.polyroots([c[3], c[2], c[1], c[0]], maxsteps=500, extraprec=400)
    return sorted(mp.re(r) for r in roots if abs(mp.im(r)) < mpf(10) ** -40 and 0 <= mp.re(r) <= 1)


def first_impact(points, move):
    for t in coplanar_times(points[0:4], move):
        x = [add(p, m, t) for p, m in zip(points, move)]
        yield t, x


def touches_triangle(x):
    n = cross(sub(x[2], x[1]), sub(x[3], x[1]))
    return all(dot(cross(sub(x[j], x[i]), sub(x[0], x[i])), n) >= 0 for i, j in ((1, 2), (2, 3), (3, 1)))


def touches_edges(x):
    u, v, w = sub(x[1], x[0]), sub(x[3], x[2]), sub(x[0], x[2])
    n = cross(u, v)
    s, t = dot(cross(v, w), n) / dot(n, n), dot(cross(u, w), n) / dot(n, n)
    return 0 <= s <= 1 and 0 <= t <= 1


def impact_case(category, start, end, touches):
    start, end = rounded(start), rounded(end)
    x, y = exact(start), exact(end)
    move = [sub(b, a) for a, b in zip(x, y)]
    times = [t for t, z in first_impact(x, move) if touches(z)]
    impact = None
    if times:
        impact = float(times[0])
        if mpf(impact) > times[0]:
            impact = mp.mpf(impact) - mpf(2) ** -53 * mpf(impact)
            impact = float(impact)
    return {"category": category, "start": start, "end": end, "impact": impact}


def impacts(kind):
    touches = touches_triangle if kind == "ccd_point_triangle" else touches_edges
    cases = []
    makers = {
        "needle": lambda: [[uniform(), *triangle("needle")]] * 1,
        "cap": lambda: [[uniform(), *triangle("cap")]],
        "common": lambda: [[uniform(), *triangle("common")]],
    }
    if kind == "ccd_edge_edge":
        makers = {
            "skew": lambda: [edges(mpf(10) ** random.uniform(-9, -2), mpf(random.uniform(0.01, 0.3)))],
            "common": lambda: [[uniform() for _ in range(4)]],
        }
    for category, make in makers.items():
        for scale, away in ((1, 0), (1, 0), (1, 0), (1e-5, 0), (1e5, 0), (1, 1e4)):
            start = exact(make()[0])
            # The first feature crosses a random place of the second within the step, whatever else it does.
            meeting = random.uniform(0.05, 0.95)
            second = [add(p, exact([uniform(0.2)])[0]) for p in start]
            middle = [add(p, sub(q, p), meeting) for p, q in zip(start, second)]
            if kind == "ccd_point_triangle":
                s, t = random.uniform(0.05, 0.5), random.uniform(0.05, 0.5)
                target = add(add(middle[1], sub(middle[2], middle[1]), s), sub(middle[3], middle[1]), t)
                way = sub(target, start[0])
                second[0] = add(start[0], way, 1 / mpf(meeting))
            else:
                s, t = random.uniform(0.1, 0.9), random.uniform(0.1, 0.9)
                on_a = add(middle[0], sub(middle[1], middle[0]), s)
                on_b = add(middle[2], sub(middle[3], middle[2]), t)
                way = [c / mpf(meeting) for c in sub(on_b, on_a)]
                second[0], second[1] = add(second[0], way), add(second[1], way)
            shift = uniform(away)
            cases.append(impact_case(category, placed(start, mpf(scale), shift),
                                     placed(second, mpf(scale), shift), touches))
    return cases


def disjoint(a, b):
    """Two triangles of rationals: the direction between their nearest points separates them if anything does."""
    sides = lambda t: [sub(t[1], t[0]), sub(t[2], t[1]), sub(t[0], t[2])]
    ea, eb = sides(a), sides(b)
    between = [sub(p, q) for p in a for q in b]
    axes = between + [cross(ea[0], ea[1]), cross(eb[0], eb[1])]
    axes += [cross(e, f) for e in ea for f in eb]
    axes += [cross(e, cross(w, e)) for e in ea + eb for w in between]
    for axis in axes:
        p, q = [dot(axis, x) for x in a], [dot(axis, x) for x in b]
        if max(p) < min(q) or max(q) < min(p):
            return True
    return False


def nudged(p):
    return [c if random.random() < 0.5 else c * (1 + random.choice([-1, 1]) * 2.0 ** -52) for c in p]


def intersections():
    cases = []
    for category in ("face", "edge", "corner", "plane"):
        for _ in range(12):
            a = [uniform() for _ in range(3)]
            s, t = random.uniform(0, 1), random.uniform(0, 1)
            if category == "edge":
                t = 1 - s
            if category == "corner":
                s = t = 0
            if s + t > 1:
                s, t = 1 - s, 1 - t
            place = [a[0][k] + s * (a[1][k] - a[0][k]) + t * (a[2][k] - a[0][k]) for k in range(3)]
            b = [nudged(place), uniform(), uniform()]
            if category == "plane":
                # A plane of equal coordinates, in which all is exact.
                k, level = random.randrange(3), random.uniform(-1, 1)
                for p in a + b:
                    p[k] = level
            rational = [[[Fraction(c) for c in p] for p in t] for t in (a, b)]
            cases.append({"category": category, "a": a, "b": b, "intersect": not disjoint(*rational)})
    return cases


def main():
    os.makedirs(OUT, exist_ok=True)
    random.seed(20260)
    sets = {
        "point_triangle": point_triangles,
        "edge_edge": edge_edges,
        "ccd_point_triangle": lambda: impacts("ccd_point_triangle"),
        "ccd_edge_edge": lambda: impacts("ccd_edge_edge"),
        "intersection": intersections,
    }
    for kind, make in sets.items():
        with open(os.path.join(OUT, f"{kind}.json"), "w") as file:
            json.dump({"schema": 1, "kind": kind, "cases": make()}, file, separators=(",", ":"))
            file.write("\n")
        print(kind)


main()
