# SPDX-License-Identifier: Apache-2.0
"""Points: {"where": local or simulated, "scaling": weak or strong, "program", "ranks", "vertices",
"degree": with parallel edges, which are dropped, "tasks", "edges", "messages", "buffers",
"seconds"}; local points also have "cairn_seconds", the time of Cairn's own search, and with MPI
"mpi_seconds", the time of one-sided gets, and "mpi", that time over "seconds" by pairs; {"costs",
"task_lines", "mpi_lines"}. Simulated times
have no spread; their clock charges messages only. Simulated points with a true "small" have few
vertices a rank, so few tasks: they are drawn, not judged. The claims were written before the first
sweep."""

from judging import FAILS, HOLDS, OPEN, Claim, Plot, Verdict, at_least, having, median, whole
from rank_claims import curves_of, weak_scaling

TITLE = "[GMT14] figures 7 and 8: breadth-first search by tasks over global arrays"
SHORT = ("--runs 3 --warm-ups 0 --scale 11 --rank-scale 9 --simulated-scale 9 "
         "--edge-factor 16 4 64 --local 1 2 4 --simulated 2 4 8 16 --dense 2 4")
LONG = ("--runs 9 --scale 16 --rank-scale 10 --edge-factor 16 128 2000 "
        "--simulated 2 4 8 16 32 64 --small 64 128 256 512 1024 --dense 2 4")


def rate(p):
    """Million edges a second."""
    return p["edges"] / median(p["seconds"]) / 1e6


def weak_scaling_holds(points):
    curves = curves_of([p for p in points if not p.get("small")], "simulated", "scaling", "degree")
    return weak_scaling({f"degree {degree:,}": curve for (scaling, degree), curve in curves.items()
                         if scaling == "weak"}, rate, "edges")


def strong_scaling_ends(points):
    curve = curves_of(points, "simulated", "scaling").get("strong", [])
    if len(curve) < 3:
        return Verdict(OPEN, "fewer than three numbers of simulated ranks were measured")
    gains = [rate(b) / rate(a) for a, b in zip(curve, curve[1:])]
    return Verdict(HOLDS if gains[0] > 1.2 and gains[-1] < gains[0] else FAILS,
                   f"doubling {curve[0]['ranks']} ranks gives {gains[0]:.2f} times the rate, "
                   f"doubling {curve[-2]['ranks']} ranks {gains[-1]:.2f} times",
                   ", ".join(f"{rate(p):.2f} million edges/s on {p['ranks']}" for p in curve))


def beats_gets(points):
    measured = [p for p in having(points, "mpi") if p["ranks"] > 1]
    if not measured:
        return Verdict(OPEN, "there is no MPI, or one rank only was measured")
    ratios = {f"{p['scaling']}, degree {p['degree']:,}, {p['ranks']} ranks":
              median(p["mpi"]) for p in measured}
    return Verdict(whole(at_least(p["mpi"], 1) for p in measured),
                   f"{min(ratios.values()):.2f} to {max(ratios.values()):.2f} times its speed",
                   "; ".join(f"{where}: {x:.2f}" for where, x in ratios.items()))


def is_short(points):
    lines = having(points, "task_lines", "mpi_lines")
    if not lines:
        return Verdict(OPEN, "no lines were counted")
    tasks, mpi = lines[-1]["task_lines"], lines[-1]["mpi_lines"]
    return Verdict(HOLDS if 2 * tasks <= mpi else FAILS,
                   f"{tasks} lines with the graph in global arrays, one-sided gets {mpi}")


CLAIMS = [
    Claim("weak scaling: with more simulated ranks the rate of edges grows, that of a rank keeps "
          "at least a half, with each degree", weak_scaling_holds),
    Claim("strong scaling: with more simulated ranks the rate grows ever less, because each has "
          "fewer vertices of a level", strong_scaling_ends),
    Claim("on several local ranks, faster than the aggregated one-sided gets of MPI", beats_gets),
    Claim("at most half of the source lines of the algorithm by one-sided gets", is_short),
]
PLOTS = [Plot("ranks", "ranks",
              [("by tasks", lambda p: None if p.get("small") else rate(p)),
               ("by tasks, few vertices a rank", lambda p: rate(p) if p.get("small") else None),
               ("Cairn's own", lambda p: p["edges"] / median(p["cairn_seconds"]) / 1e6
                if "cairn_seconds" in p else None),
               ("one-sided gets", lambda p: p["edges"] / median(p["mpi_seconds"]) / 1e6
                if "mpi_seconds" in p else None)],
              panels=("scaling", "degree", "where"), y_label="million edges a second", log_x=True,
              log_y=True)]
