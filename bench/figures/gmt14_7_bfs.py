# SPDX-License-Identifier: Apache-2.0
"""Points: {"where": local or simulated, "scaling": weak or strong, "program", "ranks", "vertices",
"degree", "tasks", "edges", "messages", "buffers", "seconds"}; local points also have
"cairn_seconds", the time of Cairn's own search, and with MPI "mpi_seconds", the time of one-sided
gets; {"costs", "task_lines", "mpi_lines"}. Simulated times have no spread; their clock charges
messages only. The claims were written before the first sweep."""

from judging import FAILS, HOLDS, OPEN, Claim, Plot, Verdict, having, median

TITLE = "[GMT14] figures 7 and 8: breadth-first search by tasks over global arrays"
SHORT = "--runs 3 --warm-ups 0"
LONG = "--runs 9 --scale 16 --rank-scale 10 --simulated 2 4 8 16 32 64 128 256"


def rate(p):
    """Edges a second."""
    return p["edges"] / median(p["seconds"])


def curve_of(points, where, scaling):
    curve = [p for p in having(points, "ranks", "seconds")
             if (p["where"], p["scaling"]) == (where, scaling)]
    return sorted(curve, key=lambda p: p["ranks"])


def rates(curve):
    return ", ".join(f"{rate(p) / 1e6:.2f} million edges/s on {p['ranks']}" for p in curve)


def weak_scaling_holds(points):
    curve = curve_of(points, "simulated", "weak")
    if len(curve) < 2:
        return Verdict(OPEN, "fewer than two numbers of simulated ranks were measured")
    grows = all(rate(b) > rate(a) for a, b in zip(curve, curve[1:]))
    kept = rate(curve[-1]) / rate(curve[0]) * curve[0]["ranks"] / curve[-1]["ranks"]
    return Verdict(HOLDS if grows and kept >= 0.5 else FAILS,
                   f"from {curve[0]['ranks']} to {curve[-1]['ranks']} ranks the rate of a rank "
                   f"falls to {kept:.2f} of what it was", rates(curve))


def strong_scaling_ends(points):
    curve = curve_of(points, "simulated", "strong")
    if len(curve) < 3:
        return Verdict(OPEN, "fewer than three numbers of simulated ranks were measured")
    gains = [rate(b) / rate(a) for a, b in zip(curve, curve[1:])]
    return Verdict(HOLDS if gains[0] > 1.2 and gains[-1] < gains[0] else FAILS,
                   f"doubling {curve[0]['ranks']} ranks gives {gains[0]:.2f} times the rate, "
                   f"doubling {curve[-2]['ranks']} ranks {gains[-1]:.2f} times", rates(curve))


def beats_gets(points):
    measured = [p for p in having(points, "mpi_seconds") if p["ranks"] > 1]
    if not measured:
        return Verdict(OPEN, "there is no MPI, or one rank only was measured")
    ratios = {f"{p['scaling']}, {p['ranks']} ranks": median(p["mpi_seconds"]) / median(p["seconds"])
              for p in measured}
    return Verdict(HOLDS if min(ratios.values()) > 1 else FAILS,
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
    Claim("weak scaling: with more simulated ranks the rate of edges grows, that of a rank falls "
          "to half at most", weak_scaling_holds),
    Claim("strong scaling: with more simulated ranks the rate grows ever less, because each has "
          "fewer vertices of a level", strong_scaling_ends),
    Claim("on several local ranks, faster than the aggregated one-sided gets of MPI", beats_gets),
    Claim("at most half of the source lines of the program of one-sided gets", is_short),
]
PLOTS = [Plot("ranks", "ranks",
              [("by tasks", lambda p: rate(p) / 1e6),
               ("Cairn's own", lambda p: p["edges"] / median(p["cairn_seconds"]) / 1e6
                if "cairn_seconds" in p else None),
               ("one-sided gets", lambda p: p["edges"] / median(p["mpi_seconds"]) / 1e6
                if "mpi_seconds" in p else None)],
              panels=("scaling", "where"), y_label="million edges a second", log_x=True,
              log_y=True)]
