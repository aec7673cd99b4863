# SPDX-License-Identifier: Apache-2.0
"""Claims of figures 5 and 6 of [GMT14]. Points: {"where": "local" or "simulated", "ranks", "bytes":
of an element, "tasks": of a rank that puts, 0 for one message per put, "mb_per_s",
"puts_per_buffer"}. A point has no pairs of runs, so the ratios are those of medians."""

from judging import (OPEN, Claim, Plot, Verdict, at_least, grouped, having, median,
                     ratio_of_medians, whole, with_mad)

MORE = 4  # times the bandwidth of few tasks
LARGER = 3  # times the bandwidth of 8 bytes, with 128


def places(points):
    """{(where, ranks, bytes): {tasks: point}}"""
    return {at: {p["tasks"]: p for p in group}
            for at, group in grouped(points, "where", "ranks", "bytes").items()}


def for_each_place(where):
    """Decorator: judges {tasks: point} of each number of ranks and size; the worst is named."""

    def decorate(judge):
        def judged(points):
            found = []
            for (place, ranks, size), by_tasks in places(points).items():
                v = judge(by_tasks) if place == where else None
                if v:
                    found.append((v[0], f"{ranks} ranks, {size} bytes: {v[1]}", v[2]))
            if not found:
                return Verdict(OPEN, "nothing was measured")
            return Verdict(whole(w for w, _, _ in found), min(found, key=lambda f: f[2])[1],
                           "; ".join(text for _, text, _ in found))

        return judged

    return decorate


def more_tasks(where):
    @for_each_place(where)
    def judge(by_tasks):
        counts = sorted(t for t in by_tasks if t > 0)
        if len(counts) < 2:
            return None
        few, many = by_tasks[counts[0]], by_tasks[counts[-1]]
        ratio = ratio_of_medians(many["mb_per_s"], few["mb_per_s"])
        return (at_least(ratio, MORE),
                f"{median(many['mb_per_s']):.1f} MB/s by {counts[-1]} tasks, {with_mad(ratio)} "
                f"times that of {counts[0]} by the medians, {many['puts_per_buffer']:.0f} puts and "
                "answers a buffer", median(ratio))

    return judge


def above_single(where, minimum, tasks=0, only=None):
    """At the largest number of tasks, or at one, at least so many times one message per put; for
    elements of `only` bytes, or of each size."""

    @for_each_place(where)
    def judge(by_tasks):
        at = tasks or max(by_tasks)
        if 0 not in by_tasks or at not in by_tasks or at == 0:
            return None
        if only and by_tasks[at]["bytes"] != only:
            return None
        alone = by_tasks[0]["mb_per_s"]
        ratio = ratio_of_medians(by_tasks[at]["mb_per_s"], alone)
        return (at_least(ratio, minimum),
                f"{with_mad(ratio)} times the {median(alone):.2f} MB/s of one message per put, by "
                "the medians", median(ratio))

    return judge


def larger_elements(where):
    def judge(points):
        verdicts, numbers = [], []
        for (place, ranks), group in grouped(points, "where", "ranks").items():
            max_tasks = max(p["tasks"] for p in group)
            found = {p["bytes"]: p["mb_per_s"] for p in group if p["tasks"] == max_tasks}
            if place != where or len(found) < 2 or max_tasks == 0:
                continue
            small, large = min(found), max(found)
            ratio = ratio_of_medians(found[large], found[small])
            verdicts.append(at_least(ratio, LARGER))
            numbers.append(f"{ranks} ranks: {median(found[large]):.0f} MB/s with {large} bytes, "
                           f"{with_mad(ratio)} times that with {small}, by the medians")
        if not numbers:
            return Verdict(OPEN, "nothing was measured")
        return Verdict(whole(verdicts), "; ".join(numbers))

    return judge


def singles_as_lines(points):
    """The points; those of one message per put have no place on the axis of tasks."""
    return [p if p["tasks"] else
            {k: p[k] for k in ("where", "ranks", "bytes")} | {"single": p["mb_per_s"]}
            for p in having(points, "tasks")]


PLOTS = [Plot("tasks", "tasks of a rank",
              [("{bytes} bytes", "mb_per_s"), ("{bytes} bytes, one message per put", "single")],
              panels=("where", "ranks"), y_label="MB/s", log_x=True, log_y=True,
              only=singles_as_lines)]
