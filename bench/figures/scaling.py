# SPDX-License-Identifier: Apache-2.0
"""Points: {"job", "real_ranks", "messages", "simulated_messages", "buffers", "simulated_buffers"};
{"job", "setting", "measured": spread, "predicted": seconds}; {"job", "routing", "bytes_between":
rows by sender}; and for the plot {"job", "network", "ranks", "seconds"}."""

import math
from itertools import permutations

from judging import FAILS, HOLDS, OPEN, Claim, Matrix, Plot, Verdict, having, mad, median

TITLE = "Scaling over ranks, predicted by the simulated cluster (no figure of the paper)"
SHORT = "--kronecker 14 --runs 3 --warm-ups 0"
LONG = "--kronecker 16 --runs 15"
BUFFERS_WITHIN = 0.1
MIN_RATIO = 1.1  # settings whose times differ by less, or by twice the spread, are not compared


def faster(a, b):
    return (MIN_RATIO * median(a) < median(b)
            and median(a) + 2 * mad(a) < median(b) - 2 * mad(b))


def simulation_agrees(points):
    counted = having(points, "real_ranks")
    pairs = [(a, b) for a, b in permutations(having(points, "setting"), 2)
             if a["job"] == b["job"] and faster(a["measured"], b["measured"])]
    if not counted or not pairs:
        return Verdict(OPEN,
                       "nothing that runs here was compared, or no two settings differ")
    faults, worst = [], 0
    for p in counted:
        place = f"{p['job']} on {p['real_ranks']} ranks"
        if p["messages"] != p["simulated_messages"]:
            faults.append(f"{place}: other messages")
        off = abs(p["simulated_buffers"] / p["buffers"] - 1)
        worst = max(worst, off)
        if off > BUFFERS_WITHIN:
            faults.append(f"{place}: buffers {100 * off:.0f} % off")
    faults += [f"not predicted: {a['job']}: {a['setting']} beats {b['setting']}"
               for a, b in pairs if a["predicted"] >= b["predicted"]]
    number = (f"{len(counted)} runs counted, buffers at most {100 * worst:.1f} % off, {len(pairs)} "
              "pairs of settings told apart")
    if faults:
        return Verdict(FAILS, f"{number}, {len(faults)} faults", "; ".join(faults))
    return Verdict(HOLDS, f"{number}, all ranked as measured")


def grid_has_fewer_receivers(points):
    found = {}
    for p in having(points, "bytes_between"):
        receivers = max(sum(b > 0 for b in row) for row in p["bytes_between"])
        found.setdefault(p["routing"], []).append((receivers, len(p["bytes_between"])))
    if not {"direct", "grid"} <= found.keys():
        return Verdict(OPEN, "nothing was measured")
    # Besides the grid's, the partners of reductions.
    faults = [f"{n} of {ranks} ranks" for n, ranks in found["grid"]
              if n > 2.2 * ranks ** 0.5 + math.ceil(math.log2(ranks))]
    faults += [f"directly only {n} of {ranks} ranks" for n, ranks in found["direct"]
               if n != ranks - 1]
    number = "receivers of a rank: " + ", ".join(
        f"{routing} {max(n for n, _ in place)}" for routing, place in sorted(found.items()))
    return Verdict(FAILS if faults else HOLDS, number, "; ".join(faults))


CLAIMS = [Claim("the simulated cluster sends the messages of ranks that run here, their buffers "
                "within 10 %, and ranks settings as measured", simulation_agrees),
          Claim("through a grid of P ranks each sends to at most 2.2 sqrt(P) others, beside "
                "reductions", grid_has_fewer_receivers)]
PLOTS = [
    Plot("ranks", "ranks, simulated", [("{job}, network: {network}", "seconds")], log_x=True,
         log_y=True),
    Plot("setting", "", [("measured", "measured"),
                         ("predicted", lambda p: {"median": p["predicted"], "mad": 0})],
         panels=("job",), joined=False),
    Matrix("bytes_between", "{job}, {routing}", "to rank", "from rank", "bytes"),
]
