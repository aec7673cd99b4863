# SPDX-License-Identifier: Apache-2.0
"""Points: {"threads", "level", "atomics", "htm", "ratio"}, ratio = atomics / htm."""

from judging import (FAILS, HOLDS, OPEN, Claim, Plot, Verdict, above_one, for_each_threads, median,
                     needs_htm)

TITLE = "[AAM15] figure 1: breadth-first search level by level"
SHORT = "--kronecker 18 --runs 7 --min-seconds 0.05"
LONG = "--kronecker 20 --runs 31"


@needs_htm
@for_each_threads("level")
def heavy_levels_gain(levels):
    """Whether a level takes at least a tenth of the search by atomics."""
    search = sum(median(p["atomics"]) for p in levels)
    said = []
    for p in levels[1:-1]:
        if median(p["atomics"]) < search / 10:
            continue
        said.append(f"level {p['level']} takes {1 / median(p['ratio']):.2f} of atomics' time")
        if not above_one(p["ratio"]):
            return Verdict(FAILS, said[-1])
    if not said:
        return Verdict(OPEN, "no middle level takes a tenth of the time")
    return Verdict(HOLDS, ", ".join(said))


CLAIMS = [Claim("the heavy middle levels are faster by coarse hardware transactions than by "
                "atomics", heavy_levels_gain)]
PLOTS = [Plot("level", "level", [("atomics", "atomics"), ("htm", "htm")], panels=("threads",),
              log_y=True)]
