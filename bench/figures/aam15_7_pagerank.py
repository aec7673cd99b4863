# SPDX-License-Identifier: Apache-2.0
"""Points: {"ranks", "threads", "vertices", "seconds", "pull_seconds", "pull"}; on several ranks
"alone_seconds", "alone"; with MPI also "mpi_pull_seconds", "mpi_pull". The ratios
divide the times of pull, single messages and hand-written pull by that of coalesced messages."""

from judging import FAILS, HOLDS, OPEN, Claim, Plot, Verdict, having, median

TITLE = "[AAM15] figures 7c to e: PageRank on Erdős–Rényi graphs over ranks"
SHORT = "--runs 3 --warm-ups 0"
LONG = "--runs 9 --vertices 4096 16384 65536 262144"


def place(p):
    return f"{p['ranks']} ranks x {p['threads']} threads, {p['vertices']} vertices each"


def coalescing_wins(points):
    measured = having(points, "alone")
    if not measured:
        return Verdict(OPEN, "nothing was measured on several ranks")
    worst = min(measured, key=lambda p: median(p["alone"]))
    # Of the splits, those with more ranks have fewer vertices per rank.
    fastest = max(points, key=lambda p: p["vertices"] * p["ranks"] / median(p["seconds"]))
    details = "; ".join(
        f"{place(p)}: {median(p['alone']):.1f} times the speed of messages that travel alone, "
        f"{median(p['pull']):.2f} times that of pulling" for p in measured)
    return Verdict(HOLDS if median(worst["alone"]) >= 3 else FAILS,
                   f"at least {median(worst['alone']):.1f} times the speed, with {place(worst)}",
                   f"{details}; most vertices a second with {place(fastest)}")


CLAIMS = [Claim("coalesced messages are at least 3 times as fast as messages that travel alone, at "
                "every point of several ranks", coalescing_wins)]
PLOTS = [Plot("vertices", "vertices of a rank",
              [("coalesced", "seconds"), ("alone", "alone_seconds"), ("pull", "pull_seconds"),
               ("pull by hand", "mpi_pull_seconds")], panels=("ranks", "threads"), log_x=True,
              log_y=True)]
