# SPDX-License-Identifier: Apache-2.0
"""Points: {"by": "loop", "hand" or "tasks", "tasks": how many, "interleaved": walks of the loop by
hand, "ns_per_step", "by_loop": time of the loop / this time, "by_hand": time of the fastest loop that
interleaves by hand / this time}, and {"by": "task in cache", "length": of a walk, "ns_per_step",
"by_loop"} for one task over a small graph."""

from judging import FAILS, HOLDS, OPEN, Claim, Plot, Verdict, having, mad, median

TITLE = "[GMT14] on one machine: random walks over a table larger than the caches, against tasks"
SHORT = "--vertex-bits 21 --steps 524288 --runs 5 --min-seconds 0.02"
LONG = "--vertex-bits 24 --runs 15"
HIDES = 4  # times one task
IN_CACHE = 1 / 1.1
LONG_WALK = 1000  # steps
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


def in_cache(are_long):
    def judge(points):
        found = [p for p in cached(points) if (p["length"] >= LONG_WALK) == are_long]
        if not found:
            return Verdict(OPEN, "nothing was measured")
        slowest = min(found, key=lambda p: median(p["by_loop"]))
        ratio = median(slowest["by_loop"])
        number = f"{1 / ratio:.2f} times the time of the loop, {slowest['length']:,} steps a walk"
        if ratio >= IN_CACHE:
            return Verdict(HOLDS, number)
        return Verdict(FAILS, number, "" if are_long else "the processor can begin the loop's next "
                       "walk while it waits for the last steps of this one")

    return judge


def cached(points):
    return [p for p in having(points, "length") if p["by"] == "task in cache"]


def over_memory(points):
    return [{"tasks": p["interleaved"], **p} if p["by"] == "hand" else p for p in points
            if p["by"] != "task in cache"]


CLAIMS = [
    Claim(f"interleaving hides the latency of memory: some number of tasks is at least {HIDES} "
          "times as fast as one", interleaving_hides_latency),
    Claim("more tasks than that are no slower by more than a quarter", more_tasks_do_not_hurt),
    Claim(f"at least {BY_LOOP} times the speed of a loop of one walk at a time",
          at_least("by_loop", BY_LOOP, "the loop")),
    Claim("within 15 % of the loop that interleaves by hand, with the number of walks that is best "
          "for it", at_least("by_hand", BY_HAND, "the loop by hand")),
    Claim("a task whose data the core's own cache holds is not slowed by more than 10 %, in one "
          "long walk", in_cache(are_long=True)),
    Claim("the same in short walks, of 40 steps", in_cache(are_long=False)),
]
PLOTS = [
    Plot("tasks", "tasks of a worker, or walks of the loop by hand", [("{by}", "ns_per_step")],
         y_label="ns per step", log_x=True, log_y=True, only=over_memory),
    Plot("length", "steps of a walk in the core's own cache",
         [("one task", "by_loop"), ("asked", lambda p: IN_CACHE)],
         y_label="speed by that of the loop", log_x=True, only=cached),
]
