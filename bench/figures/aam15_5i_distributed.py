# SPDX-License-Identifier: Apache-2.0
"""Points: {"transactions", "local", "remote", "seconds", "expected", "commits", "restarts"}, two
values of the first and two of (local, remote); {"chain": elements, "seconds", "expected",
"commits", "restarts"}; {"back_off": bool, "ranks", "turns", "ended": bool}."""

from judging import FAILS, HOLDS, OPEN, Claim, Plot, Verdict, clearly_above, having, median

TITLE = "[AAM15] figure 5i: transactions over ranks"
SHORT = "--ranks 2 --threads 1 --runs 5 --min-seconds 0"
LONG = "--ranks 2 --threads 1 --runs 15"


def remote_elements_cost(points):
    for p in having(points, "commits"):
        if p["commits"] != p["expected"]:
            return Verdict(FAILS, f"{p['commits']} of {p['expected']} committed")
    at = {(p["transactions"], p["remote"]): p for p in having(points, "remote")}
    if len(at) != 4:
        return Verdict(OPEN, "there are not four scenarios")
    few_less, few_more, many_less, many_more = (at[key] for key in sorted(at))
    said = "; ".join(
        f"x = {less['transactions']}: {1e3 * median(less['seconds']):.2f} ms with "
        f"{less['remote']} remote elements, {1e3 * median(more['seconds']):.2f} ms with "
        f"{more['remote']}" for less, more in ((few_less, few_more), (many_less, many_more)))
    right = all(clearly_above(more["seconds"], less["seconds"]) for more, less in (
        (few_more, few_less), (many_more, many_less),
        (many_less, few_less), (many_more, few_more)))
    return Verdict(HOLDS if right else FAILS, said + ", by the medians")


def back_off_ends_refusals(points):
    plays = having(points, "back_off")
    if not plays:
        return Verdict(OPEN, "nothing was measured")
    right = (all(p["ended"] for p in plays if p["back_off"])
             and not all(p["ended"] for p in plays if not p["back_off"]))
    without, with_it = ([p for p in plays if p["back_off"] == b] for b in (False, True))
    return Verdict(
        HOLDS if right else FAILS,
        f"{sum(not p['ended'] for p in without)} of {len(without)} circles of ranks in step do not "
        f"end without back-off, {sum(not p['ended'] for p in with_it)} of {len(with_it)} with it",
        "; ".join(f"{p['ranks']} ranks in step {'with' if p['back_off'] else 'without'} back-off: "
                  f"{'done after' if p['ended'] else 'none done in'} {p['turns']} turns"
                  for p in plays))


def restarts_of(point):
    return point["restarts"] / point["expected"]


def chains_restart_by_element(points):
    chains = having(points, "chain")
    if not chains:
        return Verdict(OPEN, "nothing was measured")
    right = all(p["chain"] <= restarts_of(p) < 2 * p["chain"] for p in chains)
    each = [restarts_of(p) / p["chain"] for p in chains]
    return Verdict(HOLDS if right else FAILS,
                   f"{min(each):.2f} to {max(each):.2f} restarts for each element",
                   ", ".join(f"{restarts_of(p):.2f} restarts for {p['chain']} elements"
                             for p in chains))


CLAIMS = [
    Claim("all commit; more remote elements take longer, and so do more transactions",
          remote_elements_cost),
    Claim("without back-off transactions may refuse each other for ever; with it they do not",
          back_off_ends_refusals),
    Claim("a body that follows pointers restarts about once for each element that is not there, "
          "and less than twice", chains_restart_by_element),
]
PLOTS = [
    Plot("transactions", "x, transactions of each rank",
         [("{local} own + {remote} remote", "seconds")], panels=("ranks", "threads"), log_x=True,
         log_y=True),
    Plot("chain", "elements of a chain", [("restarts", restarts_of)], log_x=True, log_y=True,
         y_label="restarts of a transaction"),
]
