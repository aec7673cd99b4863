# SPDX-License-Identifier: Apache-2.0
"""Points: {"threads", "grain": M, "retry": policy, "seconds", "attempts", "aborts": {cause:
number}, "fallbacks"}; for rtm "ratio" = atomics / rtm; for other policies "rtm_ratio" = rtm /
policy; no times for emulated transactions. {"layout": "contiguous" or "strided", "vertices",
"attempts", "aborts"} for transactions that write `vertices` cache lines."""

from judging import (FAILS, HOLDS, OPEN, Claim, Plot, Verdict, above_one, clearly_above,
                     for_each_threads, grouped, having, mad, median, needs_htm, share)

TITLE = "[AAM15] figure 4: breadth-first search against M, the operators per transaction"
SHORT = "--kronecker 16 --grains 1 4 16 64 144 320 --runs 5 --min-seconds 0.05"
LONG = "--kronecker 20 --runs 15"
POLICIES = ("rtm", "hle", "bgq")
BGQ_ATTEMPTS = 11  # the first one and ten retries
NOISE = 0.01  # where nearly all activities are serialised with each policy


@for_each_threads("grain")
def curve_of_rtm(sweep):
    best = min(sweep, key=lambda p: median(p["seconds"]))
    first, last = sweep[0], sweep[-1]
    m = best["grain"]
    if not clearly_above(first["seconds"], best["seconds"]):
        return Verdict(FAILS, f"the time does not fall on the way to M = {m}")
    if not clearly_above(last["seconds"], best["seconds"]):
        return Verdict(FAILS, f"the time does not rise after M = {m}")
    speed = f"M = {m} takes {1 / median(best['ratio']):.2f} of atomics' time"
    if not above_one(best["ratio"]):
        return Verdict(FAILS, f"the best {speed}")
    aborts = (f"{100 * share(best):.1f} % of the attempts abort at M = {m}, "
              f"{100 * share(last):.1f} % at M = {last['grain']}")
    if share(last) <= share(best):
        return Verdict(FAILS, f"aborts do not explain the rise: {aborts}")
    cause = max(last["aborts"], key=lambda c: share(last, c) - share(best, c))
    return Verdict(HOLDS, speed, f"{aborts}, mostly by {cause}")


@needs_htm
def time_falls_and_rises(points):
    return curve_of_rtm([p for p in points if p.get("retry", "rtm") == "rtm"])


@needs_htm
def associativity_ends_transactions(points):
    """Compares the smallest transactions of which half abort because of capacity."""
    layouts = grouped(points, "layout")
    if not {"contiguous", "strided"} <= layouts.keys():
        return Verdict(OPEN, "nothing was measured")
    apart, beside = (min((p["vertices"] for p in layouts[name] if share(p, "capacity") >= 0.5),
                         default=None) for name in ("strided", "contiguous"))
    right = apart is not None and (beside is None or apart < beside)
    return Verdict(HOLDS if right else FAILS, "too many vertices for a transaction: "
                   f"{apart or 'none'} a page apart, {beside or 'none'} side by side")


def by_policy(points):
    """(T, {policy: {M: point}}) where all policies were measured."""
    for threads, group in grouped(having(points, "retry"), "threads").items():
        policies = {name: {m: last[-1] for m, last in grouped(of_name, "grain").items()}
                    for name, of_name in grouped(group, "retry").items()}
        if all(name in policies for name in POLICIES):
            yield threads, policies


def aborts_of(point):
    return sum(point["aborts"].values())


def serialised(point):
    """The fraction of the activities that used the fallback."""
    fallbacks = point["fallbacks"]
    committed = point["attempts"] - aborts_of(point)
    return fallbacks / (committed + fallbacks) if fallbacks else 0


def miscounted(rtm, hle, bgq):
    """The error in the counts of the policies at one M, or None."""
    if hle["fallbacks"] != aborts_of(hle):
        return f"hle serialises {hle['fallbacks']} times after {aborts_of(hle)} aborts"
    if aborts_of(bgq) < BGQ_ATTEMPTS * bgq["fallbacks"]:
        return f"bgq serialises {bgq['fallbacks']} times after {aborts_of(bgq)} aborts"
    for p in (rtm, bgq):
        if serialised(p) > serialised(hle) + NOISE:
            return (f"{100 * serialised(p):.1f} % of the activities serialise by {p['retry']}, "
                    f"{100 * serialised(hle):.1f} % by hle")
    return None


def origin(points):
    emulated = any(p.get("emulated") for p in points)
    return "emulated, with injected aborts; " if emulated else ""


def hle_serialises_first(points):
    said = []
    for threads, of in by_policy(points):
        for m, hle in of["hle"].items():
            if m not in of["rtm"] or m not in of["bgq"]:
                continue
            rtm, bgq = of["rtm"][m], of["bgq"][m]
            wrong = miscounted(rtm, hle, bgq)
            if wrong:
                return Verdict(FAILS, f"T = {threads}, M = {m}: {wrong}")
            said.append(f"T = {threads}, M = {m}: {100 * serialised(bgq):.1f} / "
                        f"{100 * serialised(rtm):.1f} / {100 * serialised(hle):.1f} %")
    if not said:
        return Verdict(OPEN, "nothing was measured")
    return Verdict(HOLDS, f"{origin(points)}serialised by bgq / rtm / hle: {said[-1]}",
                   ", ".join(said))


def compare_ends(points, policy, compare):
    """Judges the smallest and the largest M of a policy by compare(threads, first, last), which
    returns (whether the claim holds, sentence)."""
    found = [compare(threads, *(of[policy][end(of[policy])] for end in (min, max)))
             for threads, of in by_policy(points) if len(of[policy]) > 1]
    if not found:
        return Verdict(OPEN, "one M: nothing to compare")
    return Verdict(HOLDS if all(right for right, _ in found) else FAILS,
                   ", ".join(said for _, said in found))


def bgq_serialises_more_at_large_m(points):
    def compare(threads, first, last):
        return (serialised(last) > serialised(first),
                f"T = {threads}: {100 * serialised(first):.1f} % at M = {first['grain']}, "
                f"{100 * serialised(last):.1f} % at M = {last['grain']}")

    v = compare_ends(points, "bgq", compare)
    return v if v.word == OPEN else v._replace(number=origin(points) + v.number)


@needs_htm
def hle_passes_rtm(points):
    def compare(threads, first, last):
        fast, slow = first["rtm_ratio"], last["rtm_ratio"]
        return (median(fast) < 1 - mad(fast) and above_one(slow),
                f"T = {threads}: hle takes {1 / median(fast):.2f} of rtm's time at "
                f"M = {first['grain']}, {1 / median(slow):.2f} at M = {last['grain']}")

    return compare_ends(points, "hle", compare)


CLAIMS = [
    Claim("the time falls to a best M and rises after it, the best M beats atomics, and a larger "
          "share of aborts comes with the rise", time_falls_and_rises),
    Claim("associativity, not size, ends a transaction: fewer vertices fit a page apart than side "
          "by side", associativity_ends_transactions),
    Claim("hle serialises after the first abort and bgq after ten retries, and no policy "
          "serialises more of the activities than hle", hle_serialises_first),
    Claim("bgq serialises more of the activities at the largest M than at the least",
          bgq_serialises_more_at_large_m),
    Claim("rtm is faster than hle at the least M, and slower at the largest", hle_passes_rtm),
]
M = "M, operators per transaction"
PLOTS = [
    Plot("grain", M, [("atomics", "atomics"), ("htm, {retry}", "seconds")], panels=("threads",),
         log_x=True),
    Plot("grain", M, [("serialised, {retry}", lambda p: 100 * serialised(p))], panels=("threads",),
         log_x=True, y_label="% of activities"),
    Plot("vertices", "cache lines that a transaction writes",
         [("{layout}", lambda p: 100 * share(p, "capacity"))], log_x=True,
         y_label="% of attempts that abort by capacity"),
]
