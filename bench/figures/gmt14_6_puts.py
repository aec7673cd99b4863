# SPDX-License-Identifier: Apache-2.0
"""The points are those of put_claims.py."""

from judging import FAILS, HOLDS, OPEN, Verdict, median
from put_claims import MORE, PLOTS, Claim, above_single, more_tasks, places  # noqa: F401

TITLE = "[GMT14] figure 6: blocking puts from one rank to all others"
SHORT = ("--bytes 8 128 --tasks 1 64 1024 4096 --puts 262144 --repeats 5 --simulated 32 "
         "--simulated-puts 131072")
LONG = "--puts 1048576 --repeats 15 --simulated 128 1024 --simulated-puts 262144"
SLIGHT = .5  # of the bandwidth to one rank


def degrades_slightly(points):
    """On the simulated cluster, with the most tasks, against the same with two ranks."""
    words, said = [], []
    found = {at: by for at, by in places(points).items() if at[0] == "simulated"}
    for (_, ranks, size), by_tasks in found.items():
        pair = found.get(("simulated", 2, size))
        max_tasks = max(by_tasks)
        if ranks == 2 or not pair or max_tasks not in pair or max_tasks == 0:
            continue
        ratio = median(by_tasks[max_tasks]["mb_per_s"]) / median(pair[max_tasks]["mb_per_s"])
        words.append(ratio >= SLIGHT)
        said.append(f"{ranks} ranks, {size} bytes, {max_tasks} tasks: {ratio:.2f} of the bandwidth "
                    f"to one, with {by_tasks[max_tasks]['puts_per_buffer']:.0f} instead of "
                    f"{pair[max_tasks]['puts_per_buffer']:.0f} puts and answers a buffer")
    if not said:
        return Verdict(OPEN, "nothing was measured")
    return Verdict(HOLDS if all(words) else FAILS, "; ".join(said),
                   "a block leaves when its worker is idle, so a small buffer of answers wakes few "
                   "tasks, which fill small buffers again")


CLAIMS = [
    Claim(f"on local ranks many tasks bring at least {MORE} times the bandwidth of the fewest",
          more_tasks("local")),
    Claim(f"on a simulated cluster, too: at least {MORE} times", more_tasks("simulated")),
    Claim("more destinations degrade it only slightly: to no less than half", degrades_slightly),
    Claim("on a simulated cluster at least 4 times one message per put",
          above_single("simulated", 4)),
]
