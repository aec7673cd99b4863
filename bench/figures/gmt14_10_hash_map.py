# SPDX-License-Identifier: Apache-2.0
"""Points: {"where": local or simulated, "ranks", "tasks", "steps", "strings", "entries",
"accesses", "seconds"}; if there is MPI local ones also have "alone_seconds" (one string at a time,
each a message), "together_seconds" (many tasks, coalesced strings), and by pairs each over
"seconds", "alone" and "together"; {"task_lines", "mpi_lines"};
{"shrunk": why the map is smaller than asked}. Simulated times have no spread; their clock charges
messages only. In the paper GMT is two orders of magnitude faster than MPI, on a network whose
latency equals thousands of accesses. On one machine it equals a few, so the claim here is a factor
of 2."""

from judging import (FAILS, HOLDS, OPEN, Claim, Plot, Verdict, at_least, having, median, reason,
                     whole)
from rank_claims import curves_of

TITLE = "[GMT14] figures 10 and 11: concurrent hash map access"
SHORT = "--runs 3 --warm-ups 0"
LONG = ("--runs 3 --tasks 64 1024 16384 65536 --steps 64 1024 --strings 100000000 "
        "--entries 10000000 --simulated 2 4 8 16 32 64 128 256")
MIN_TASKS = 1024  # the claims are about this many tasks or more


def on_ranks(points, *members):
    return [p for p in local(points, *members) if p["ranks"] > 1 and p["tasks"] >= MIN_TASKS]


def local(points, *members):
    return [p for p in having(points, "where", *members) if p["where"] == "local"]


def size_of(points):
    """What was run, for the details of a verdict."""
    p = local(points)[0]
    shrunk = reason(points, "shrunk")
    return (f"a map of {p['entries']:,} entries, {p['strings']:,} strings"
            f"{f'; the memory is too small: {shrunk}' if shrunk else ''}")


def times_faster(member, minimum):
    def judge(points):
        measured = on_ranks(points, member)
        if not measured:
            return Verdict(OPEN, "there is no MPI, or one rank or few tasks only were measured")
        return Verdict(whole(at_least(p[member], minimum) for p in measured), "times its speed: " +
                       ", ".join(f"{median(p[member]):.2f} with {p['tasks']} tasks of {p['steps']} "
                                 f"steps on {p['ranks']} ranks" for p in measured), size_of(points))

    return judge


def grows_with_tasks(points):
    by_ranks = {}
    for p in local(points, "seconds", "tasks"):
        if p["ranks"] > 1:
            by_ranks.setdefault((p["ranks"], p["steps"]), []).append(p)
    if not by_ranks or any(len(of) < 2 for of in by_ranks.values()):
        return Verdict(OPEN, "several ranks and numbers of tasks are needed")
    found = []
    for (ranks, _), of in sorted(by_ranks.items()):
        few, many = min(of, key=lambda p: p["tasks"]), max(of, key=lambda p: p["tasks"])
        found.append((ranks, rate(many) / rate(few), few["tasks"], many["tasks"]))
    return Verdict(HOLDS if all(ratio > 1.2 for _, ratio, _, _ in found) else FAILS, ", ".join(
        f"{ratio:.2f} times as many a second by {many} tasks as by {few} on {ranks} ranks"
        for ranks, ratio, few, many in found))


def grows_with_ranks(points):
    curves = curves_of(points, "simulated", "steps")
    if not curves:
        return Verdict(OPEN, "fewer than two numbers of simulated ranks were measured")
    right = all(rate(b) > rate(a) for curve in curves.values() for a, b in zip(curve, curve[1:]))
    return Verdict(HOLDS if right else FAILS, "; ".join(
        f"{curve[0]['tasks']} tasks of {steps} steps: " + ", ".join(
            f"{rate(p):.1f} million/s on {p['ranks']}" for p in curve)
        for steps, curve in curves.items()))


def is_short(points):
    lines = having(points, "task_lines", "mpi_lines")
    if not lines:
        return Verdict(OPEN, "no lines were counted")
    tasks, mpi = lines[-1]["task_lines"], lines[-1]["mpi_lines"]
    return Verdict(HOLDS if 2 * tasks <= mpi else FAILS,
                   f"{tasks} lines, the MPI program {mpi}: {mpi / tasks:.1f} times")


def rate(p, member="seconds"):
    return p["accesses"] / median(p[member]) / 1e6


def rate_of(member):
    return lambda p: rate(p, member) if member in p else None


CLAIMS = [
    Claim("from 1,024 tasks on, tasks are at least twice as fast as MPI with one string at a time, "
          "on several ranks (a hundred times in the paper, over a network)",
          times_faster("alone", 2)),
    Claim("and faster than MPI with strings that travel together",
          times_faster("together", 1)),
    Claim("more tasks make more accesses a second, on several ranks", grows_with_tasks),
    Claim("more simulated ranks make more accesses a second", grows_with_ranks),
    Claim("the algorithm of the MPI program has at least twice as many source lines", is_short),
]
PLOTS = [
    Plot("tasks", "tasks", [("by tasks", rate_of("seconds")),
                            ("MPI, one string at a time", rate_of("alone_seconds")),
                            ("MPI, strings together", rate_of("together_seconds"))],
         panels=("ranks", "steps"), y_label="million accesses a second", log_x=True, log_y=True,
         only=local),
    Plot("ranks", "ranks, simulated", [("{tasks} tasks of {steps} steps", rate_of("seconds"))],
         y_label="million accesses a second", log_x=True, log_y=True,
         only=lambda points: [p for p in having(points, "where") if p["where"] == "simulated"]),
]
