# SPDX-License-Identifier: Apache-2.0
"""Points: {"by": "loop", "hand" or "tasks", "tasks": how many, "ns_per_step", "by_loop": time of
the loop / this time, "by_hand": time of the loop that interleaves by hand / this time}, and one
with "by": "task in cache" for one task over a small graph."""

from judging import FAILS, HOLDS, OPEN, Claim, Plot, Verdict, mad, median

TITLE = "[GMT14] on one machine: random walks over a table larger than the caches, against tasks"
SHORT = "--vertex-bits 21 --steps 524288 --runs 5 --min-seconds 0.02"
LONG = "--vertex-bits 24 --runs 15"
HIDES = 4  # times one task
IN_CACHE = 1 / 1.1
BY_LOOP, BY_HAND = 8, .85


def by_tasks(points):
    return sorted((p for p in points if p["by"] == "tasks"), key=lambda p: p["tasks"])


def fastest(points):
    return min(points, key=lambda p: median(p["ns_per_step"]))


def interleaving_hides_latency(points):
    found = by_tasks(points)
    if len(found) < 2 or found[0]["tasks"] != 1:
        return Verdict(OPEN, "nothing was measured")
    one, best = found[0], fastest(found)
    gain = median(one["ns_per_step"]) / median(best["ns_per_step"])
    return Verdict(HOLDS if gain >= HIDES else FAILS,
                   f"{median(one['ns_per_step']):.0f} ns a step by one task, "
                   f"{median(best['ns_per_step']):.1f} ns by {best['tasks']}: {gain:.1f} times")


def more_tasks_do_not_hurt(points):
    found = by_tasks(points)
    if len(found) < 2:
        return Verdict(OPEN, "nothing was measured")
    best, last = fastest(found), found[-1]
    ratio = median(last["ns_per_step"]) / median(best["ns_per_step"])
    return Verdict(HOLDS if ratio <= 1.25 else FAILS,
                   f"{last['tasks']} tasks take {ratio:.2f} times as long as {best['tasks']}")


def at_least(member, minimum, baseline):
    def judge(points):
        found = by_tasks(points)
        if not found:
            return Verdict(OPEN, "nothing was measured")
        best = max(found, key=lambda p: median(p[member]))
        number = (f"{median(best[member]):.2f} ± {mad(best[member]):.2f} times the speed of "
                  f"{baseline}, by {best['tasks']} tasks")
        if median(best[member]) >= minimum:
            return Verdict(HOLDS, number)
        return Verdict(FAILS, number, "a switch costs some 9 ns beside the two misses of a step, "
                       "and the instructions between two prefetches keep page walks from "
                       "overlapping")

    return judge


def in_cache(points):
    found = [p["by_loop"] for p in points if p["by"] == "task in cache"]
    if not found:
        return Verdict(OPEN, "nothing was measured")
    ratio = median(found[0])
    return Verdict(HOLDS if ratio >= IN_CACHE else FAILS,
                   f"{1 / ratio:.2f} times the time of the loop")


def over_memory(points):
    return [p for p in points if p["by"] != "task in cache"]


CLAIMS = [
    Claim(f"interleaving hides the latency of memory: some number of tasks is at least {HIDES} "
          "times as fast as one", interleaving_hides_latency),
    Claim("more tasks than that are no slower by more than a quarter", more_tasks_do_not_hurt),
    Claim(f"at least {BY_LOOP} times the speed of a loop of one walk at a time",
          at_least("by_loop", BY_LOOP, "the loop")),
    Claim("within 15 % of the loop that interleaves by hand",
          at_least("by_hand", BY_HAND, "the loop by hand")),
    Claim("a task whose data the core's own cache holds is not slowed by more than 10 %, in one "
          "long walk", in_cache),
]
PLOTS = [Plot("tasks", "tasks of a worker", [("{by}", "ns_per_step")], y_label="ns per step",
              log_x=True, log_y=True, only=over_memory)]
