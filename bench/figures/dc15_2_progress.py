# SPDX-License-Identifier: Apache-2.0
"""Points of shortest paths: {"where": local or simulated, "graph", "ranks", "style": poll, thread,
auto or specialised, "seconds", "messages", "buffers", "overflow", "useful", "wasted", "buckets"};
{"costs"}: costs of the simulated clusters, whose times have no spread. Points of messages: {"case": round trips or exchange, "style": poll, thread or auto, "handler_ns": work of an
answer, "busy_ns": work between two polls, 0 if there is none, "seconds": per question, "by_thread":
share of the answers that the progress thread computed}. Those of other styles than poll also have
"by_poll": time by polling divided by this time, and those of auto "by_better": time in the better
of poll and thread divided by this time (not if simulated). The claims were written before the first
sweep."""

from operator import itemgetter

from judging import FAILS, HOLDS, OPEN, Claim, Plot, Verdict, grouped, having, mad, median, whole

TITLE = "[DC15] figure 2: progress by polling, by threads, and as chosen online"
SHORT = "--scale 12 --local 1 2 4 --simulated 2 8 32 --handlers 0 10000 --runs 5"
LONG = "--scale 16 --handlers 0 1000 10000 100000 --runs 15"
TENFOLD = 10
LONG_NS = 1_000_000  # of computing without a poll
SHARED_SECONDS = 50e-6  # of a round trip without computing, which takes less on cores of its own
CLEAR = 1.1  # minimum ratio of the times of two styles that differ
TRIPS, EXCHANGE = "round trips", "exchange"


def of(points, style, case=None):
    """Points of messages."""
    return [p for p in having(points, "style", "case") if p["style"] == style
            and case in (None, p["case"])]


def length(ns):
    return f"{ns / 1e3:g} us" if ns < 1e6 else f"{ns / 1e6:g} ms"


def where(p):
    return (f"{p['case']}, answers of {length(p['handler_ns'])}, "
            + (f"polls every {length(p['busy_ns'])}" if p["busy_ns"] else "no computing"))


def needs_cores(judge):
    """Decorator: the claim is open if other programs took the ranks' cores."""

    def judged(points):
        for p in of(points, "poll", TRIPS):
            lost = median(p["seconds"]) - 1e-9 * p["handler_ns"]
            if p["busy_ns"] == 0 and lost > SHARED_SECONDS:
                return Verdict(OPEN, "the ranks had no cores of their own: a question to a rank "
                               f"that only waits took {1e6 * lost:.0f} us")
        return judge(points)

    return judged


def above(ratio, limit):
    """Whether the ratio is above the limit; open if the limit is within the spread."""
    if median(ratio) - mad(ratio) > limit:
        return HOLDS
    return FAILS if median(ratio) + mad(ratio) < limit else OPEN


def clear_winner(thread):
    """The style that is clearly better, by the point of the style `thread`, or None."""
    if above(thread["by_poll"], CLEAR) == HOLDS:
        return "thread"
    return "poll" if above(thread["by_poll"], 1 / CLEAR) == FAILS else None


@needs_cores
def tenfold(points):
    at = [p for p in of(points, "thread", TRIPS) if p["busy_ns"] >= LONG_NS]
    if not at:
        return Verdict(OPEN, "nothing was measured")
    least = min(at, key=lambda p: median(p["by_poll"]))
    return Verdict(whole(above(p["by_poll"], TENFOLD) for p in at),
                   f"at least {median(least['by_poll']):.0f} times ({where(least)})",
                   "; ".join(f"{where(p)}: {median(p['by_poll']):.0f} times" for p in at))


@needs_cores
def each_wins(points):
    threads = of(points, "thread")
    if not threads:
        return Verdict(OPEN, "nothing was measured")
    winners = [clear_winner(p) for p in threads]
    most = max(threads, key=lambda p: median(p["by_poll"]))
    least = min(threads, key=lambda p: median(p["by_poll"]))
    return Verdict(HOLDS if {"thread", "poll"} <= set(winners) else FAILS,
                   f"of {len(threads)} cases a thread wins {winners.count('thread')}, at most "
                   f"{median(most['by_poll']):.3g} times ({where(most)}), and polling "
                   f"{winners.count('poll')}, at most {1 / median(least['by_poll']):.3g} times "
                   f"({where(least)})",
                   "; ".join(f"{where(p)}: {median(p['by_poll']):.3g} times" for p in threads))


@needs_cores
def short_answers(points):
    at = [p for p in of(points, "thread", EXCHANGE) if p["busy_ns"] == 0]
    if not at:
        return Verdict(OPEN, "nothing was measured")
    shortest = min(at, key=lambda p: p["handler_ns"])
    opposite = {HOLDS: FAILS, FAILS: HOLDS, OPEN: OPEN}
    return Verdict(opposite[above(shortest["by_poll"], 1 / CLEAR)],
                   f"{where(shortest)}: with a thread {1 / median(shortest['by_poll']):.2f} times "
                   "the time", "; ".join(f"{where(p)}: {1 / median(p['by_poll']):.2f} times"
                                         for p in at))


@needs_cores
def found_online(points):
    """Judges the cases that one of the other styles wins clearly."""
    case = itemgetter("case", "handler_ns", "busy_ns")
    won = {case(p) for p in of(points, "thread") if clear_winner(p)}
    at = [p for p in of(points, "auto") if case(p) in won]
    if not at:
        return Verdict(OPEN, "no style wins anywhere")
    words = [above(p["by_better"], 1 / CLEAR) for p in at]
    said = [f"{where(p)}: {1 / median(p['by_better']):.3g} times the time, "
            f"{100 * p['by_thread']:.0f} % of the answers by the thread" for p in at]
    worst = min(range(len(at)), key=lambda i: median(at[i]["by_better"]))
    return Verdict(whole(words), f"in {words.count(HOLDS)} of {len(at)} cases; {said[worst]}",
                   "; ".join(said))


def paths(points, where, *members):
    """Points of shortest paths on several ranks."""
    return [p for p in having(points, "where", "style", *members)
            if p["where"] == where and p["ranks"] > 1]


def place(p):
    return f"{p['graph']} on {p['ranks']} ranks"


@needs_cores
def style_matters(points):
    """Whether some styles of shortest paths differ clearly, on each graph and number of ranks."""
    words, said, details = [], [], []
    for _, group in grouped(paths(points, "local"), "graph", "ranks").items():
        fast, slow = (choose(group, key=lambda p: median(p["seconds"])) for choose in (min, max))
        ratio = median(slow["seconds"]) / median(fast["seconds"])
        apart = median(slow["seconds"]) - mad(slow["seconds"]) > CLEAR * median(fast["seconds"])
        words.append(HOLDS if apart else FAILS)
        said.append(f"{place(fast)} {ratio:.2f} times from {fast['style']} to {slow['style']}")
        details.append(f"{place(fast)}: " + ", ".join(
            f"{p['style']} {1e3 * median(p['seconds']):.2f} ms" for p in group))
    if not words:
        return Verdict(OPEN, "nothing was measured")
    return Verdict(whole(words), "; ".join(said), "; ".join(details))


@needs_cores
def choice_of_paths(points):
    found = paths(points, "local", "by_better")
    if not found:
        return Verdict(OPEN, "nothing was measured")
    words = [above(p["by_better"], 1 / CLEAR) for p in found]
    said = [f"{place(p)}: {1 / median(p['by_better']):.2f} times the time" for p in found]
    worst = min(range(len(found)), key=lambda i: median(found[i]["by_better"]))
    return Verdict(whole(words), f"in {words.count(HOLDS)} of {len(found)} cases; {said[worst]}",
                   "; ".join(said))


def thread_gains_with_ranks(points):
    right, said = [], []
    threads = [p for p in paths(points, "simulated", "by_poll") if p["style"] == "thread"]
    for graph, curve in grouped(threads, "graph").items():
        curve.sort(key=lambda p: p["ranks"])
        first, last = median(curve[0]["by_poll"]), median(curve[-1]["by_poll"])
        if len(curve) > 1:
            right.append(last > first and last >= TENFOLD)
            said.append(f"{graph}: " + ", ".join(
                f"{median(p['by_poll']):.2f} times on {p['ranks']} ranks" for p in curve))
    if not said:
        return Verdict(OPEN, "nothing was measured")
    return Verdict(HOLDS if all(right) else FAILS, "; ".join(said),
                   "" if all(right) else "Distributed Control polls between short pieces of work, "
                   "so messages hardly wait for a busy rank")


def of_paths(points):
    return having(points, "where", "style")


def of_messages(points):
    return in_microseconds(having(points, "case"))


def in_microseconds(points):
    """Points without computing have no place on a logarithmic axis: they become lines."""
    return [{**p, "busy_us": p["busy_ns"] // 1000} if p["busy_ns"] else p for p in points]


CLAIMS = [
    Claim("the style changes the time of a round trip by more than ten times if a rank computes "
          "for a millisecond or longer without polling", tenfold),
    Claim("each style wins somewhere, by more than a tenth", each_wins),
    Claim("polling wins an exchange of short answers, because the thread takes time from the "
          "workers", short_answers),
    Claim("the online choice takes at most 1.1 times the time of the better style, wherever one is "
          "better by more than a tenth", found_online),
    Claim("the style changes the time of shortest paths by more than a tenth, on each graph and "
          "number of local ranks", style_matters),
    Claim("shortest paths with the style chosen online take at most 1.1 times the time of the "
          "better of poll and thread, on each graph and number of local ranks", choice_of_paths),
    Claim("what a thread gains in shortest paths grows with the simulated ranks, to ten times on "
          "the most", thread_gains_with_ranks),
]
PLOTS = [
    Plot("ranks", "ranks", [("{style}", "seconds")], panels=("where", "graph"), log_x=True,
         log_y=True, only=of_paths),
    Plot("busy_us", "us of computing between polls (dotted: none)", [("{style}", "seconds")],
         panels=("case", "handler_ns"), log_x=True, log_y=True, only=of_messages),
]
