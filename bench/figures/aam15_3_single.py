# SPDX-License-Identifier: Apache-2.0
"""Points: {"activity": "mark" or "increment", "operations", "threads", "mechanism", "seconds",
"attempts", "aborts": number, "repetitions"}."""

from judging import (FAILS, HOLDS, OPEN, Claim, Plot, Verdict, clearly_above, having, median,
                     needs_htm)

TITLE = "[AAM15] figure 3: all threads mark or increment one vertex"
SHORT = "--runs 7 --min-seconds 0.02"
LONG = "--runs 31"


def of(points, **values):
    return [p for p in having(points, "activity") if all(p[m] == v for m, v in values.items())]


def max_threads(points):
    return max((p["threads"] for p in of(points)), default=0)


def aborted(points, **values):
    """Aborts as a fraction of the attempts."""
    group = of(points, **values)
    attempts = sum(p["attempts"] for p in group)
    return sum(p["aborts"] for p in group) / attempts if attempts else 0


@needs_htm
def marks_cost_more(points):
    threads = max_threads(points)
    if not threads:
        return Verdict(OPEN, "nothing was measured")
    aborts = aborted(points, activity="mark", mechanism="htm", threads=threads)
    number = f"{100 * aborts:.1f} % of the attempts to mark abort"
    for htm in of(points, activity="mark", mechanism="htm", threads=1):
        for atomics in of(points, activity="mark", mechanism="atomics", threads=1,
                          operations=htm["operations"]):
            if not clearly_above(htm["seconds"], atomics["seconds"]):
                return Verdict(FAILS, f"{htm['operations']} marks by htm do not cost more than by "
                               f"atomics; {number}")
    return Verdict(HOLDS if aborts <= 0.05 else FAILS, number)


@needs_htm
def increments_abort(points):
    threads = max_threads(points)
    if threads < 2:
        return Verdict(OPEN, "one thread: nothing to conflict with")
    few, many = (aborted(points, activity="increment", mechanism="htm", threads=t)
                 for t in (1, threads))
    return Verdict(HOLDS if many >= 0.1 and many > few else FAILS,
                   f"{100 * few:.1f} % of the attempts on one thread, {100 * many:.1f} % on "
                   f"{threads}")


def increments(points, threads):
    """{mechanism: time of an increment, at the largest number of operations}."""
    group = of(points, activity="increment", threads=threads)
    last = {p["mechanism"]: p for p in sorted(group, key=lambda p: p["operations"])}
    return {m: {part: p["seconds"][part] / (p.get("repetitions", 1) * p["operations"])
                for part in ("median", "mad")} for m, p in sorted(last.items())}


def times_of_increments(points, threads):
    """"atomics 12.3, stm 45.6": ns per increment."""
    return ", ".join(f"{m} {1e9 * median(t):.1f}" for m, t in increments(points, threads).items())


def aggregators_do_not_abort(points):
    threads = max_threads(points)
    if not threads:
        return Verdict(OPEN, "nothing was measured")
    aborts = sum(p["aborts"] for p in of(points, activity="increment", mechanism="aggregator"))
    by_stm = aborted(points, activity="increment", mechanism="stm", threads=threads)
    times = increments(points, threads)
    slower = clearly_above(times["aggregator"], times["stm"])
    return Verdict(
        FAILS if aborts or slower else HOLDS,
        f"{aborts} aborts, {median(times['stm']) / median(times['aggregator']):.2f} times the "
        f"speed of stm on {threads} threads, by the medians",
        f"by stm {100 * by_stm:.2f} % of the attempts on {threads} threads abort; ns of an "
        f"increment on one thread: {times_of_increments(points, 1)}; by each of {threads}: "
        f"{times_of_increments(points, threads)}")


CLAIMS = [
    Claim("on one thread a mark by htm costs more than by compare-and-swap; at most a twentieth "
          "of the attempts to mark abort", marks_cost_more),
    Claim("with all threads at least a tenth of the attempts to increment by htm abort, and more "
          "than on one thread", increments_abort),
    Claim("increments by an aggregator do not abort at all, and are no slower than by stm",
          aggregators_do_not_abort),
]
PLOTS = [Plot("threads", "threads", [("{mechanism}", "seconds")],
              panels=("activity", "operations"), log_y=True)]
