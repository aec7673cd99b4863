# SPDX-License-Identifier: Apache-2.0
"""Points: {"graph", "kind", "seconds", "ratio", "atomics_ratio", "by_hand_ratio",
"vertex_program_ratio", "best"}: the time with the runtime's choice, and the ratios of the best of
the sweep and of the baselines to it; with htm also "fixed_ratio" for fixed M, and "htm_grain", its
best M. {"missing": name} for a graph that was not found."""

import math

from judging import (FAILS, HOLDS, OPEN, Claim, Plot, Verdict, grouped, having, mad, median, reason)

TITLE = "[AAM15] table 1: breadth-first search on real graphs"
SHORT = "--runs 3 --min-seconds 0.02 --graphs {graphs}"
LONG = "--runs 31 --graphs {graphs}"
LONG_SEARCH = 0.02  # seconds; shorter searches are compared only with atomics
LOSS_OF_LONG, LOSS_OF_SHORT = 0.05, 0.1
GRAINS_ALIKE = 4


def is_long(p):
    return median(p["seconds"]) >= LONG_SEARCH


def choice_on(p):
    """Compares medians. A point whose spread exceeds the allowed loss is undecided, unless its loss
    exceeds the spread."""
    ratio = p["ratio" if is_long(p) else "atomics_ratio"]
    loss = LOSS_OF_LONG if is_long(p) else LOSS_OF_SHORT
    said = (f"{p['graph']}: {p['best'] if is_long(p) else 'atomics'} takes {median(ratio):.2f} +- "
            f"{mad(ratio):.2f} of the time of what is chosen")
    noisy = mad(ratio) > loss
    if median(ratio) + (mad(ratio) if noisy else 0) < 1 - loss:
        return Verdict(FAILS, said)
    return Verdict(OPEN if noisy else HOLDS, said + ", a spread too large to tell")


def mean_speed(points, baseline, setting):
    """Geometric mean of the speed of a setting relative to a baseline; None: of the choice."""
    logs = [math.log(median(p[baseline]) / (median(p[setting]) if setting else 1))
            for p in having(points, baseline, *([setting] if setting else []))]
    return f"{math.exp(sum(logs) / len(logs)):.2f}" if logs else "-"


def columns(points):
    """The paper's columns, by kind of graph."""
    said = "speeds by M fixed / online / best, geometric means"
    for baseline, name in (("atomics_ratio", "atomics"), ("by_hand_ratio", "by hand"),
                           ("vertex_program_ratio", "vertex program")):
        said += f"; against {name}: " + ", ".join(
            f"{kind} " + " / ".join(mean_speed(group, baseline, setting)
                                    for setting in ("fixed_ratio", None, "ratio"))
            for kind, group in grouped(points, "kind").items())
    return said


def kind_apart(points):
    """A kind of graphs whose best M differ, or None."""
    for kind, group in grouped(having(points, "htm_grain"), "kind").items():
        grains = [p["htm_grain"] for p in group]
        if max(grains) > GRAINS_ALIKE * min(grains):
            return f"{kind} like M from {min(grains)} to {max(grains)}"
    return None


def choice_is_nearly_the_best(points):
    graphs = having(points, "graph")
    if not graphs:
        return Verdict(OPEN, "no graph was there")
    choices = [choice_on(p) for p in graphs]
    for word in (FAILS, OPEN):
        decisive = [v.number for v in choices if v.word == word]
        if decisive:
            return Verdict(word, decisive[0], "; ".join(decisive + [columns(points)]))
    searches = sum(map(is_long, graphs))
    number = (f"on the {searches} of {len(graphs)} graphs whose search exceeds 20 ms the choice is "
              "within 5 % of the best" if searches
              else f"of {len(graphs)} graphs no search exceeds 20 ms")
    missing = reason(points, "no_htm")
    if missing:
        return Verdict(OPEN, f"no M to choose; {number}",
                       f"no hardware transactions: {missing}; {columns(points)}")
    apart = kind_apart(points)
    if apart:
        return Verdict(FAILS, apart, columns(points))
    return Verdict(HOLDS if searches else OPEN, number, columns(points))


CLAIMS = [Claim("the online choice is within 5 % of the best (mechanism, M) of a sweep where a "
                "search exceeds 20 ms, and of atomics within 10 % elsewhere; graphs of one kind "
                "like M within a factor of 4", choice_is_nearly_the_best)]
PLOTS = [Plot("graph", "",
              [("best of the sweep", "ratio"), ("atomics", "atomics_ratio"),
               ("htm, M fixed", "fixed_ratio"), ("by hand", "by_hand_ratio"),
               ("vertex program", "vertex_program_ratio")], log_y=True, joined=False,
              y_label="time by that of the online choice")]
