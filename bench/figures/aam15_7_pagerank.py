# SPDX-License-Identifier: Apache-2.0
"""Points: {"ranks", "threads", "vertices", "seconds", "pull_seconds", "pull"}; on several ranks
"alone_seconds", "not_summed_seconds", "alone"; with MPI also "mpi_pull_seconds", "mpi_pull". "pull"
and "mpi_pull" divide the times of pulling by "seconds", that of coalesced messages which sum
contributions. "alone" divides the time of messages that travel alone by that of coalesced ones;
in both each contribution is a message."""

from judging import OPEN, Claim, Plot, Verdict, at_least, having, median, whole, with_mad

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
        f"{place(p)}: {median(p['alone']):.1f} times the speed of messages that travel alone; "
        f"with sums {median(p['pull']):.2f} times that of pulling" for p in measured)
    return Verdict(whole(at_least(p["alone"], 3) for p in measured),
                   f"at least {with_mad(worst['alone'])} times the speed, with {place(worst)}",
                   f"{details}; most vertices a second with {place(fastest)}")


CLAIMS = [Claim("coalesced messages are at least 3 times as fast as messages that travel alone, at "
                "every point of several ranks", coalescing_wins)]
PLOTS = [Plot("vertices", "vertices of a rank",
              [("coalesced, summed", "seconds"), ("coalesced", "not_summed_seconds"),
               ("alone", "alone_seconds"), ("pull", "pull_seconds"),
               ("pull by hand", "mpi_pull_seconds")], panels=("ranks", "threads"), log_x=True,
              log_y=True)]
