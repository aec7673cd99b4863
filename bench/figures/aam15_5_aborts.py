# SPDX-License-Identifier: Apache-2.0
"""Points: {"threads", "grain", "seconds", "attempts", "aborts": {cause: number}}."""

from judging import FAILS, HOLDS, OPEN, Claim, Plot, Verdict, needs_htm, share

TITLE = "[AAM15] figures 5a and b: causes of aborts at M = 2"
SHORT = "--kronecker 16 --runs 5 --min-seconds 0.05"
LONG = "--kronecker 20 --runs 15"


@needs_htm
def one_cause_leads(points):
    """On several threads; the cause depends on the machine."""
    number = "of the attempts, " + "; ".join(
        f"T = {p['threads']}: {100 * share(p, 'conflict'):.2f} % conflict, "
        f"{100 * share(p, 'capacity'):.2f} % capacity" for p in points)
    leads = {share(p, "conflict") > share(p, "capacity") for p in points if p["threads"] > 1}
    if not leads:
        return Verdict(OPEN, f"{number}; one thread: nothing to conflict with")
    return Verdict(HOLDS if len(leads) == 1 else FAILS, number)


CLAIMS = [Claim("the same cause, conflict or capacity, has the larger share for every T above 1",
                one_cause_leads)]
PLOTS = [Plot("threads", "threads",
              [("conflict", lambda p: 100 * share(p, "conflict")),
               ("capacity", lambda p: 100 * share(p, "capacity")),
               ("other", lambda p: 100 * share(p, "other"))], y_label="% of attempts")]
