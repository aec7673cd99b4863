# SPDX-License-Identifier: Apache-2.0
"""Points: {"job", "real_ranks", "messages", "simulated_messages", "buffers", "simulated_buffers"};
{"job", "setting", "measured": spread, "predicted": seconds}; and for the plot {"job", "network",
"ranks", "seconds"}."""

from itertools import permutations

from judging import FAILS, HOLDS, OPEN, Claim, Plot, Verdict, having, mad, median

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
        here = f"{p['job']} on {p['real_ranks']} ranks"
        if p["messages"] != p["simulated_messages"]:
            faults.append(f"{here}: other messages")
        off = abs(p["simulated_buffers"] / p["buffers"] - 1)
        worst = max(worst, off)
        if off > BUFFERS_WITHIN:
            faults.append(f"{here}: buffers {100 * off:.0f} % off")
    faults += [f"not predicted: {a['job']}: {a['setting']} beats {b['setting']}"
               for a, b in pairs if a["predicted"] >= b["predicted"]]
    number = (f"{len(counted)} runs counted, buffers at most {100 * worst:.1f} % off, {len(pairs)} "
              "pairs of settings told apart")
    if faults:
        return Verdict(FAILS, f"{number}, {len(faults)} faults", "; ".join(faults))
    return Verdict(HOLDS, f"{number}, all ranked as measured")


CLAIMS = [Claim("the simulated cluster sends the messages of ranks that run here, their buffers "
                "within 10 %, and ranks settings as measured", simulation_agrees)]
PLOTS = [
    Plot("ranks", "ranks, simulated", [("{job}, network: {network}", "seconds")], log_x=True,
         log_y=True),
    Plot("setting", "", [("measured", "measured"),
                         ("predicted", lambda p: {"median": p["predicted"], "mad": 0})],
         panels=("job",), joined=False),
]
