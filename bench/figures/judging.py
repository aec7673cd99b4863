# SPDX-License-Identifier: Apache-2.0
"""Common code of the figures: points, spreads, fits, claims and verdicts. Needs no display.

A figure is a program, NAME.cpp, that prints points, and NAME.py beside it, which defines:

    TITLE   the figure of the paper and its subject
    SHORT   arguments of the program's short form; LONG: of its full form
    CLAIMS  [Claim(text, judge)]; judge(points) returns a Verdict
    PLOTS   [Plot(...) or Matrix(...)]

A point is a dictionary. Its times and ratios are spreads, {"median", "mad"}. A ratio is over
consecutive runs: the time of the first named divided by the time of the second, so it is above 1 if
the second is faster.
"""

import dataclasses
import json
from collections import defaultdict
from typing import Callable, NamedTuple

HOLDS, FAILS, OPEN = "holds", "does not hold", "not decided here"


class Verdict(NamedTuple):
    word: str  # HOLDS, FAILS or OPEN
    number: str  # the decisive number, or the reason why there is none
    details: str = ""


class Claim(NamedTuple):
    text: str
    judge: Callable[[list], Verdict]


@dataclasses.dataclass
class Plot:
    """A plot with one panel for each combination of values of the members `panels`.

    x        member on the x axis; a point that lacks it is drawn as a horizontal line
    curves   [(label, y)]: label is a format string over the point's members; y is a member or a
             function of the point, and yields a spread, a number, or None for no value
    y_label  empty: seconds, drawn in a fitting unit
    only     function of all points that yields those of the plot
    lines    function of a panel's points that yields (curve, label, xs, ys): drawn dashed, in the
             color of that curve
    """

    x: str
    x_label: str
    curves: list
    panels: tuple = ()
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False
    joined: bool = True
    only: Callable = None
    lines: Callable = None


@dataclasses.dataclass
class Matrix:
    """A picture of a matrix, a list of rows, with a panel for each point that has it.

    member   of the point
    title    of a panel: a format string over the point's members
    entry    what an entry counts
    """

    member: str
    title: str
    column_label: str
    row_label: str
    entry: str


class Unfinished(Exception):
    """The lines contain no finished sweep."""


def last_sweep(lines, figure):
    """The points of the last finished sweep of a figure, and its last line, with the provenance.

    A program ends each sweep with {"figure": name, "points": how many}. A line that a killed
    program left incomplete may continue with the first line of the next sweep; that sweep lacks a
    point and does not count as finished.
    """
    points = []
    found = None
    for text in lines:
        try:
            line = json.loads(text)
            if line.get("figure") != figure:
                continue
        except (AttributeError, ValueError):  # not JSON, or not an object
            points = []
            continue
        if "points" not in line:
            points.append(line)
            continue
        # An interrupted sweep may have left earlier points.
        if len(points) >= line["points"]:
            found = points[len(points) - line["points"]:], line
        points = []
    if found is None:
        raise Unfinished("no sweep was finished")
    return found


def median(spread):
    return spread["median"]


def mad(spread):
    return spread["mad"]


def above_one(ratio):
    """Whether the ratio exceeds 1 by more than its MAD."""
    return median(ratio) > 1 + mad(ratio)


def clearly_above(slow, fast):
    """Whether the difference exceeds the sum of the MADs."""
    return median(slow) - median(fast) > mad(slow) + mad(fast)


def ratio_of_medians(a, b):
    """a / b for points without pairs. Its MAD is the sum of both relative MADs."""
    if median(a) <= 0 or median(b) <= 0:
        raise ValueError("a time or rate is not above its variation")
    ratio = median(a) / median(b)
    return {"median": ratio, "mad": ratio * (mad(a) / median(a) + mad(b) / median(b))}


def with_mad(ratio, digits=1):
    return f"{median(ratio):.{digits}f} ± {mad(ratio):.{digits}f}"


def at_least(ratio, limit):
    """OPEN if the distance to the limit is less than the MAD."""
    if abs(median(ratio) - limit) < mad(ratio):
        return OPEN
    return HOLDS if median(ratio) >= limit else FAILS


def at_most(ratio, limit):
    return at_least({"median": -median(ratio), "mad": mad(ratio)}, -limit)


def share(point, *causes):
    """The fraction of a point's attempts that aborted by these causes; default: any cause."""
    aborts = sum(point["aborts"][c] for c in causes or point["aborts"])
    return aborts / point["attempts"] if point["attempts"] else 0


def having(points, *members):
    return [p for p in points if all(m in p for m in members)]


def grouped(points, *members):
    """{values of the members: points}, ascending; one member: {value: points}."""
    groups = defaultdict(list)
    for p in having(points, *members):
        values = tuple(p[m] for m in members)
        groups[values if len(members) > 1 else values[0]].append(p)
    return dict(sorted(groups.items()))


def reason(points, member):
    """The reason why something was not measured, from the first point that has one, or None."""
    return next((p[member] for p in points if member in p), None)


def needs_htm(judge):
    """Decorator: the claim is open on a machine without hardware transactions."""

    def judged(points):
        why = reason(points, "no_htm")
        return Verdict(OPEN, f"no hardware transactions: {why}") if why else judge(points)

    return judged


def whole(words):
    """Combined verdict: FAILS if one part fails, HOLDS if all hold."""
    words = list(words)
    if FAILS in words:
        return FAILS
    return HOLDS if all(w == HOLDS for w in words) else OPEN


def for_each_threads(key):
    """Decorator: judges the points that have `key` for each T, ordered by `key`. The first T that
    fails decides, else all T together."""

    def decorate(judge):
        def judged(points):
            verdicts = []
            for threads, group in grouped(having(points, key), "threads").items():
                v = judge(sorted(group, key=lambda p: p[key]))
                v = v._replace(number=f"T = {threads}: {v.number}")
                if v.word == FAILS:
                    return v
                verdicts.append(v)
            if not verdicts:
                return Verdict(OPEN, "nothing was measured")
            return Verdict(whole(v.word for v in verdicts), "; ".join(v.number for v in verdicts),
                           "; ".join(v.details for v in verdicts if v.details))

        return judged

    return decorate


class Line(NamedTuple):
    """T = a * N + b."""

    a: float
    b: float
    r_squared: float


def fit_line(samples):
    """Least squares through [(x, y)], of at least two different x."""
    n = len(samples)
    mean_x, mean_y = sum(x for x, _ in samples) / n, sum(y for _, y in samples) / n
    xx = sum((x - mean_x) ** 2 for x, _ in samples)
    xy = sum((x - mean_x) * (y - mean_y) for x, y in samples)
    yy = sum((y - mean_y) ** 2 for _, y in samples)
    if xx == 0:
        raise ValueError("a line needs two different sizes")
    a = xy / xx
    # If all times are equal, a constant line explains them.
    return Line(a, mean_y - a * mean_x, xy * xy / (xx * yy) if yy > 0 else 1)


def crossing_of_lines(fine, coarse):
    """The x >= 1 from which the coarse line is below the fine one, or None."""
    saved, paid = fine.a - coarse.a, coarse.b - fine.b
    if saved > 0:
        return max(1, paid / saved)
    return 1 if saved == 0 and paid < 0 else None


def crossing_of_times(fine, coarse):
    """The interpolated x from which the coarse times stay below the fine ones, or None.

    fine, coarse   [(x, y)] with the same ascending x; else a ValueError
    """
    xs = [x for x, _ in fine]
    if xs != [x for x, _ in coarse] or xs != sorted(set(xs)):
        raise ValueError("times that are compared are not of the same sizes")
    first = len(fine)
    while first > 0 and coarse[first - 1][1] < fine[first - 1][1]:
        first -= 1
    if first == len(fine):
        return None
    if first == 0:
        return fine[0][0]
    lost = coarse[first - 1][1] - fine[first - 1][1]
    won = fine[first][1] - coarse[first][1]
    start, end = fine[first - 1][0], fine[first][0]
    return start + (end - start) * lost / (lost + won)
