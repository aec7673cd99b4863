# SPDX-License-Identifier: Apache-2.0
"""Points: {"ranks", "tasks", "steps", "accesses", "seconds"}; if there is MPI also "alone_seconds"
(one string at a time, each a message) and "together_seconds" (many tasks, coalesced strings);
{"task_lines", "mpi_lines"}. In the paper GMT is two orders of magnitude faster than MPI, on a
network whose latency equals thousands of accesses. On one machine it equals a few, so the claim
here is a factor of 2."""

from judging import FAILS, HOLDS, OPEN, Claim, Plot, Verdict, clearly_above, having, median

TITLE = "[GMT14] figures 10 and 11: concurrent hash map access"
SHORT = "--runs 3 --warm-ups 0"
LONG = "--runs 9 --tasks 64 1024 16384 65536 --steps 64 1024"
MIN_TASKS = 1024  # the claims are about this many tasks or more


def on_ranks(points, *members):
    return [p for p in having(points, *members) if p["ranks"] > 1 and p["tasks"] >= MIN_TASKS]


def times_faster(member, minimum):
    def judge(points):
        measured = on_ranks(points, member)
        if not measured:
            return Verdict(OPEN, "there is no MPI, or one rank or few tasks only were measured")
        ratios = [median(p[member]) / median(p["seconds"]) for p in measured]
        right = all(r >= minimum and clearly_above(p[member], p["seconds"])
                    for r, p in zip(ratios, measured))
        return Verdict(HOLDS if right else FAILS, "times its speed: " + ", ".join(
            f"{r:.2f} with {p['tasks']} tasks of {p['steps']} steps on {p['ranks']} ranks"
            for r, p in zip(ratios, measured)))

    return judge


def grows_with_tasks(points):
    by_ranks = {}
    for p in having(points, "seconds", "tasks"):
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
          "on several ranks", times_faster("alone_seconds", 2)),
    Claim("and faster than MPI with strings that travel together",
          times_faster("together_seconds", 1)),
    Claim("more tasks make more accesses a second, on several ranks", grows_with_tasks),
    Claim("the MPI program has at least twice as many source lines", is_short),
]
PLOTS = [Plot("tasks", "tasks", [("by tasks", rate_of("seconds")),
                                 ("MPI, one string at a time", rate_of("alone_seconds")),
                                 ("MPI, strings together", rate_of("together_seconds"))],
              panels=("ranks", "steps"), y_label="million accesses a second", log_x=True,
              log_y=True)]
