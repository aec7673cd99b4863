# SPDX-License-Identifier: Apache-2.0
"""Points: {"by": "loop", "hand" or "tasks", "tasks": how many, "interleaved": walks of the loop by
hand, "ns_per_step", "by_loop": time of the loop / this time, "by_hand": time of the fastest loop that
interleaves by hand / this time}, and {"by": "task in cache", "length": of a walk, "ns_per_step",
"by_loop"} for one task over a small graph. The point of the loop also has "table_bytes" and,
as each point, "machine"."""

from judging import (FAILS, OPEN, Claim, Plot, Verdict, at_least, at_most, having, mad, median,
                     ratio_of_medians, with_mad)

TITLE = "[GMT14] on one machine: random walks over a table larger than the caches, against tasks"
SHORT = "--vertex-bits 21 --steps 524288 --runs 5 --min-seconds 0.02"
LONG = "--vertex-bits 24 --runs 15"
HIDES = 4  # times one task
IN_CACHE = 1 / 1.1
LONG_WALK = 1000  # steps
BY_LOOP, BY_HAND = 8, .85
FAR_LARGER = 2  # times the last cache


def needs_memory(judge):
    """Decorator: the claim is open if the last cache holds a large part of the table."""

    def judged(points):
        for p in having(points, "table_bytes", "machine"):
            cache = p["machine"]["l3_bytes"]
            if p["table_bytes"] < FAR_LARGER * cache:
                return Verdict(OPEN, f"a table of {p['table_bytes'] / 1e6:.0f} MB is not far "
                               f"larger than the last cache, {cache / 1e6:.0f} MB")
        return judge(points)

    return judged


def by_tasks(points):
    return sorted((p for p in points if p["by"] == "tasks"), key=lambda p: p["tasks"])


def fastest(points):
    return min(points, key=lambda p: median(p["ns_per_step"]))


@needs_memory
def interleaving_hides_latency(points):
    found = by_tasks(points)
    if len(found) < 2 or found[0]["tasks"] != 1:
        return Verdict(OPEN, "nothing was measured")
    one, best = found[0], fastest(found)
    gain = ratio_of_medians(one["ns_per_step"], best["ns_per_step"])
    return Verdict(at_least(gain, HIDES),
                   f"{median(one['ns_per_step']):.0f} ns a step by one task, "
                   f"{median(best['ns_per_step']):.1f} ns by {best['tasks']}: {with_mad(gain)} "
                   "times by the medians")


@needs_memory
def more_tasks_do_not_hurt(points):
    found = by_tasks(points)
    if len(found) < 2:
        return Verdict(OPEN, "nothing was measured")
    best, last = fastest(found), found[-1]
    ratio = ratio_of_medians(last["ns_per_step"], best["ns_per_step"])
    return Verdict(at_most(ratio, 1.25), f"{last['tasks']} tasks take {with_mad(ratio, 2)} times "
                   f"as long as {best['tasks']}, by the medians")


def reaches(member, minimum, baseline):
    @needs_memory
    def judge(points):
        found = by_tasks(points)
        if not found:
            return Verdict(OPEN, "nothing was measured")
        best = max(found, key=lambda p: median(p[member]))
        number = (f"{median(best[member]):.2f} ± {mad(best[member]):.2f} times the speed of "
                  f"{baseline}, by {best['tasks']} tasks")
        word = at_least(best[member], minimum)
        return Verdict(word, number, "" if word != FAILS else "a switch costs some 9 ns beside the "
                       "two misses of a step, and the instructions between two prefetches keep "
                       "page walks from overlapping")

    return judge


def in_cache(are_long):
    def judge(points):
        found = [p for p in cached(points) if (p["length"] >= LONG_WALK) == are_long]
        if not found:
            return Verdict(OPEN, "nothing was measured")
        slowest = min(found, key=lambda p: median(p["by_loop"]))
        ratio = slowest["by_loop"]
        number = (f"{1 / median(ratio):.2f} times the time of the loop, {slowest['length']:,} steps "
                  "a walk")
        word = at_least(ratio, IN_CACHE)
        return Verdict(word, number, "" if are_long or word != FAILS else "the processor can "
                       "begin the loop's next walk while it waits for the last steps of this one")

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
          reaches("by_loop", BY_LOOP, "the loop")),
    Claim("within 15 % of the loop that interleaves by hand, with the number of walks that is best "
          "for it", reaches("by_hand", BY_HAND, "the loop by hand")),
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
