# SPDX-License-Identifier: Apache-2.0
"""Points: {"where": local or simulated, "ranks", "vertices", "degree", "length", "tasks", "edges":
steps, "messages", "buffers", "seconds", "cairn_seconds"}; local points with MPI also have
"mpi_seconds" and, by pairs, that time over both others, "mpi" and "mpi_by_cairn"; {"costs",
"task_lines", "mpi_lines"}. Simulated times have no spread; their clock charges messages only. Of
simulated points "small" is true if a rank has fewer walkers than tasks: those are drawn, not
judged. The claims were written before the first sweep."""

from judging import FAILS, HOLDS, OPEN, Claim, Plot, Verdict, at_least, having, median, whole
from rank_claims import curves_of, weak_scaling

TITLE = "[GMT14] figure 9: random walks"
SHORT = "--runs 3 --warm-ups 0 --rank-scale 12 --local 1 2 4"
LONG = ("--runs 9 --rank-scale 17 --simulated 2 4 8 16 32 64 --small 64 128 256 512 1024")


def faster(member):
    """Whether a program beats the baseline on several ranks; the member is the baseline's time over
    its time."""

    def judge(points):
        measured = [p for p in having(points, member) if p["ranks"] > 1]
        if not measured:
            return Verdict(OPEN, "there is no MPI, or one rank only was measured")
        return Verdict(whole(at_least(p[member], 1) for p in measured), "times its speed: " +
                       ", ".join(f"{median(p[member]):.2f} on {p['ranks']} ranks"
                                 for p in measured))

    return judge


def scales(points):
    curves = curves_of([p for p in points if not p.get("small")], "simulated", "where")
    return weak_scaling({"by tasks": curve for curve in curves.values()}, steps_of("seconds"),
                        "steps")


def is_short(points):
    lines = having(points, "task_lines", "mpi_lines")
    if not lines:
        return Verdict(OPEN, "no lines were counted")
    tasks, mpi = lines[-1]["task_lines"], lines[-1]["mpi_lines"]
    return Verdict(HOLDS if 10 * tasks <= mpi else FAILS,
                   f"{tasks} lines with the graph in global arrays, the MPI program {mpi}: "
                   f"{mpi / tasks:.1f} times")


CLAIMS = [
    Claim("walks by tasks are faster than the delegating MPI program", faster("mpi")),
    Claim("Cairn's own walks are faster than the delegating MPI program", faster("mpi_by_cairn")),
    Claim("with a tenth of the source lines of its algorithm", is_short),
    Claim("weak scaling: with more simulated ranks the rate of steps grows, that of a rank keeps "
          "at least a half", scales),
]


def steps_of(member, small=False):
    return lambda p: (p["edges"] / median(p[member]) / 1e6
                      if member in p and p.get("small", False) == small else None)


PLOTS = [Plot("ranks", "ranks",
              [("by tasks", steps_of("seconds")), ("Cairn's own", steps_of("cairn_seconds")),
               ("by tasks, few vertices a rank", steps_of("seconds", small=True)),
               ("Cairn's own, few vertices a rank", steps_of("cairn_seconds", small=True)),
               ("MPI, delegating", steps_of("mpi_seconds"))],
              panels=("where",), y_label="million steps a second", log_x=True, log_y=True)]
