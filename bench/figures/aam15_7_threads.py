# SPDX-License-Identifier: Apache-2.0
"""Points: {"mechanism", "threads", "seconds"}, from one thread on."""

from judging import (FAILS, HOLDS, OPEN, Claim, Plot, Verdict, clearly_above, grouped, having,
                     median, needs_htm)

TITLE = "[AAM15] figures 7a and b: breadth-first search over threads"
SHORT = "--kronecker 18 --runs 7 --min-seconds 0.05"
LONG = "--kronecker 20 --runs 31"


def speeds_up(points, requested):
    """Whether each requested mechanism is faster on all threads than on one."""
    times = {m: {p["threads"]: p["seconds"] for p in group}
             for m, group in grouped(having(points, "seconds"), "mechanism").items()}
    if any(min(by_threads) != 1 or max(by_threads) == 1 for by_threads in times.values()):
        return Verdict(OPEN, "one number of threads tells nothing")
    ends = {m: (t[1], t[max(t)], max(t)) for m, t in times.items() if requested(m)}
    if not ends:
        return Verdict(OPEN, "nothing was measured")
    right = all(clearly_above(slow, fast) for slow, fast, _ in ends.values())
    return Verdict(HOLDS if right else FAILS, ", ".join(
        f"{m} {median(slow) / median(fast):.2f} times as fast on {threads} threads"
        for m, (slow, fast, threads) in ends.items()) + ", by the medians")


def software_speeds_up(points):
    return speeds_up(points, lambda m: m not in ("htm", "by hand"))


@needs_htm
def htm_speeds_up(points):
    return speeds_up(points, lambda m: m == "htm")


CLAIMS = [
    Claim("each mechanism in software is faster on all threads than on one", software_speeds_up),
    Claim("so is htm", htm_speeds_up),
]
PLOTS = [Plot("threads", "threads", [("{mechanism}", "seconds")])]
