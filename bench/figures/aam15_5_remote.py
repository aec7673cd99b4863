# SPDX-License-Identifier: Apache-2.0
"""Points: {"work": "mark" or "increment", "ranks", "cores", "messages": C, "mpi", "seconds",
"ratio"}, ratio = one-sided MPI / activities; or {"no_mpi": reason}."""

from judging import FAILS, HOLDS, OPEN, Claim, Plot, Verdict, above_one, mad, median, reason

TITLE = "[AAM15] figures 5c to h: activities on remote vertices against one-sided MPI"
SHORT = "--runs 3"
LONG = "--runs 15"


def coalescing_wins(work):
    def judge(points):
        missing = reason(points, "no_mpi")
        if missing:
            return Verdict(OPEN, missing)
        group = [p for p in points if p["work"] == work]
        pair = sorted((p for p in group if p["ranks"] == 2), key=lambda p: p["messages"])
        if not pair or pair[0]["messages"] != 1:
            return Verdict(OPEN, "no message travelled alone")
        alone = pair[0]["ratio"]
        if median(alone) + mad(alone) >= 1:
            return Verdict(FAILS, f"messages that travel alone take {1 / median(alone):.2f} of the "
                           "time of one-sided MPI")
        crossing = next((p for p in pair if above_one(p["ratio"])), None)
        if crossing is None:
            return Verdict(FAILS, "no C beats one-sided MPI")
        best = max(pair, key=lambda p: median(p["ratio"]))
        number = (f"alone {median(alone):.2f} times the speed of one-sided MPI, faster from "
                  f"C = {crossing['messages']}, {median(best['ratio']):.1f} times at "
                  f"C = {best['messages']}")
        word = HOLDS
        for p in group:
            if p["ranks"] == 2:
                continue
            senders = p["ranks"] - 1
            speed = f"{median(p['ratio']):.2f} times with {senders} ranks sending to one"
            cores = p.get("cores", p["ranks"])
            if cores < p["ranks"]:  # the scheduler decides the time of a pass
                word = OPEN
                number += f", {speed}, which {cores} cores do not decide"
                continue
            if not above_one(p["ratio"]):
                return Verdict(FAILS, f"{number}, but {speed}")
            number += f", {speed}"
        return Verdict(word, number)

    return judge


CLAIMS = [Claim(f"{work}s that travel alone lose to one-sided MPI, some C is enough to win, and "
                "coalesced ones win with several ranks sending to one", coalescing_wins(work))
          for work in ("mark", "increment")]
PLOTS = [Plot("messages", "C, messages of a buffer",
              [("{ranks} ranks", "seconds"), ("MPI, {ranks} ranks", "mpi")], panels=("work",),
              log_x=True, log_y=True)]
