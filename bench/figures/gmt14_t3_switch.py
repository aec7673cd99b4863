# SPDX-License-Identifier: Apache-2.0
"""Points: {"by": "tasks" or "Boost.Fiber", "tasks", "switches": of each, "ns": of a switch,
"cycles"}; or {"no_boost_fiber": reason}. Points are not measured in pairs, so the ratios are those
of medians."""

from judging import (FAILS, HOLDS, OPEN, Claim, Plot, Verdict, at_least, at_most, having, mad,
                     median, ratio_of_medians, reason, whole, with_mad)

TITLE = "[GMT14] table III: a context switch among 1 to 1,000,000 tasks"
SHORT = "--max-switches 10000000 --runs 5 --min-seconds 0.01"
LONG = "--max-switches 1000000000 --runs 15"
PAPER = {(1, 1): 1816, (8, 1): 1500.25, (64, 1): 1536.81, (1024, 1): 1799.1,
         (1, 100): 497.31, (8, 100): 496.71, (64, 100): 554.25, (1024, 100): 590.91,
         (1, 1000): 517.14, (8, 1000): 494.56, (64, 1000): 545, (1024, 1000): 579.13}
TEN_NS = 10


def of(points, by):
    return {(p["tasks"], p["switches"]): p for p in having(points, "ns") if p["by"] == by}


def share_of(p, cycles):
    """The cycles of a point over these; they vary as its time does."""
    share = p["cycles"] / cycles
    return {"median": share, "mad": abs(share * mad(p["ns"]) / (median(p["ns"]) or 1))}


def order_of_magnitude_less(points):
    """In cycles, at each entry of the paper's table."""
    found = {at: p for at, p in of(points, "tasks").items() if at in PAPER}
    if not found:
        return Verdict(OPEN, "nothing was measured")
    share = {at: share_of(p, PAPER[at]) for at, p in found.items()}
    at = max(share, key=lambda at: median(share[at]))
    number = (f"at most {median(share[at]):.3f} of the cycles: {found[at]['cycles']:.0f} among "
              f"{at[0]} tasks with {at[1]} switches each")
    return Verdict(whole(at_most(s, .1) for s in share.values()), number)


def many_switches_are_cheap(points):
    found = [p for (tasks, n), p in of(points, "tasks").items() if tasks == 1024 and n >= 100]
    if not found:
        return Verdict(OPEN, "nothing was measured")
    worst = max(found, key=lambda p: median(p["ns"]))
    number = f"{median(worst['ns']):.1f} ns, {worst['cycles']:.0f} cycles"
    return Verdict(whole(at_most(p["ns"], TEN_NS) for p in found), number)


def grows_slightly(points):
    """From 8 tasks to 1,024, whose frames do not fit the nearest cache."""
    found = of(points, "tasks")
    few, many = found.get((8, 1000)), found.get((1024, 1000))
    if not few or not many:
        return Verdict(OPEN, "nothing was measured")
    ratio = ratio_of_medians(many["ns"], few["ns"])
    return Verdict(at_most(ratio, 2),
                   f"{with_mad(ratio, 2)} times as long among 1,024 as among 8, by the medians")


def a_million_tasks(points):
    found = [p for (tasks, _), p in of(points, "tasks").items() if tasks >= 1_000_000]
    if not found:
        return Verdict(OPEN, "nothing was measured")
    worst = max(found, key=lambda p: p["cycles"])
    number = f"{worst['cycles']:.0f} cycles, {median(worst['ns']):.0f} ns"
    if worst["cycles"] <= 0:
        return Verdict(OPEN, number + ": less than the variation of the passes without switches")
    return Verdict(HOLDS if worst["cycles"] < min(PAPER.values()) else FAILS, number)


def faster_than_boost_fiber(points):
    missing = reason(points, "no_boost_fiber")
    if missing:
        return Verdict(OPEN, missing)
    tasks, fibers = of(points, "tasks"), of(points, "Boost.Fiber")
    ratios = {at: ratio_of_medians(fibers[at]["ns"], tasks[at]["ns"]) for at in fibers
              if at in tasks and at[1] >= 100 and median(tasks[at]["ns"]) > 0}
    if not ratios:
        return Verdict(OPEN, "nothing was measured")
    worst = min(ratios, key=lambda at: median(ratios[at]))
    most = max(ratios.values(), key=median)
    return Verdict(whole(at_least(r, 1) for r in ratios.values()),
                   f"{with_mad(ratios[worst])} to {with_mad(most)} times as fast by the medians, "
                   f"least among {worst[0]} tasks")


CLAIMS = [
    Claim("at least ten times fewer cycles than in the paper, at each of its entries",
          order_of_magnitude_less),
    Claim(f"less than {TEN_NS} ns among 1,024 tasks that switch 100 times or more",
          many_switches_are_cheap),
    Claim("it grows only slightly with the number of tasks, up to 1,024", grows_slightly),
    Claim("among 1,000,000 tasks, which no cache holds, fewer cycles than any entry of the paper",
          a_million_tasks),
    Claim("less than in Boost.Fiber, with 100 switches or more", faster_than_boost_fiber),
]
PLOTS = [Plot("tasks", "tasks of a worker", [("{by}, {switches} switches each", "ns")],
              y_label="ns per switch", log_x=True, log_y=True,
              only=lambda points: having(points, "ns"))]
