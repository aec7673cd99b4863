# SPDX-License-Identifier: Apache-2.0
"""Points: {"threads", "scale", "degree", "atomics", "by_hand", "by_hand_ratio"},
by_hand_ratio = by hand / atomics; with htm also "htm" and "ratio" = atomics / htm."""

from judging import FAILS, HOLDS, OPEN, Claim, Plot, Verdict, above_one, having, median, reason

TITLE = "[AAM15] figure 6: breadth-first search over vertices and degrees"
SHORT = "--scales 12 14 16 18 --runs 5 --min-seconds 0.02"
LONG = "--scales 16 18 20 22 --to-memory --degrees 1 2 4 8 16 32 64 128 256 --runs 15"


def range_of(points, member):
    ratios = [median(p[member]) for p in points]
    return f"{min(ratios):.2f} to {max(ratios):.2f} times the speed of"


def htm_gains(points):
    measured = having(points, "by_hand_ratio")
    if not measured:
        return Verdict(OPEN, "nothing was measured")
    beside = f"atomics have {range_of(measured, 'by_hand_ratio')} the search by hand"
    missing = reason(points, "no_htm")
    if missing:
        return Verdict(OPEN, f"no hardware transactions: {missing}", beside)
    for p in having(points, "ratio"):
        if not above_one(p["ratio"]):
            return Verdict(FAILS, f"{median(p['ratio']):.2f} times the speed of atomics at scale "
                           f"{p['scale']}, degree {p['degree']}", beside)
    return Verdict(HOLDS, f"{range_of(measured, 'ratio')} atomics", beside)


CLAIMS = [Claim("coarse hardware transactions are faster than atomics at every point", htm_gains)]
CURVES = [("atomics", "atomics"), ("htm", "htm"), ("by hand", "by_hand")]


def of_smallest_scale(points):
    points = having(points, "scale")
    return [p for p in points if p["scale"] == min(q["scale"] for q in points)]


PLOTS = [
    Plot("scale", "log2 of the vertices, of degree 16", CURVES, panels=("threads",), log_y=True,
         only=lambda points: [p for p in points if p.get("degree") == 16]),
    Plot("degree", "degree, at the smallest scale", CURVES, panels=("threads",), log_x=True,
         log_y=True, only=of_smallest_scale),
]
