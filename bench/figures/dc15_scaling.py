# SPDX-License-Identifier: Apache-2.0
"""Points: {"where": local or simulated, "graph", "longest": weight, 1 for a search, "bytes": size
of buffers, 0 if chosen, "by", "ranks", "seconds", "messages", "buffers", "overflow", "useful",
"wasted", "buckets"}; {"costs"}: costs of the simulated clusters. Simulated times have no spread.
The claims were written before the first sweep."""

from judging import (FAILS, HOLDS, OPEN, Claim, Plot, Verdict, clearly_above, grouped, having,
                     median, whole)

TITLE = "[DC15]: strong scaling of shortest paths and breadth-first search"
SHORT = "--scale 13 --runs 3 --warm-ups 0 --local 1 2 4 --simulated 2 8 32 64 --compared 2 32"
LONG = ("--scale 16 --runs 9 --simulated 2 4 8 16 32 64 128 256 512 1024 "
        "--compared 2 8 32 64 256 1024")
CONTROL = "distributed-control"


def name_of(size):
    return f"{size} bytes" if size else "own size"


def with_sizes(points):
    return [{**p, "size": name_of(p["bytes"])} for p in having(points, "bytes")]


def curves(points, where, by=CONTROL):
    """{graph, problem and buffers: points by ascending ranks}"""
    group = [p for p in having(points, "where", "ranks") if p["where"] == where and p["by"] == by]
    return {f"{graph}, {'search' if longest == 1 else 'paths'}, "
            f"{name_of(size)}": sorted(curve, key=lambda p: p["ranks"])
            for (graph, longest, size), curve in grouped(group, "graph", "longest", "bytes").items()
            if len(curve) > 1}


def on_each_curve(judge_curve, where="simulated"):
    """judge_curve returns whether the claim holds for a curve, None if that is open, and the
    number."""

    def judge(points):
        found = {graph: judge_curve(curve) for graph, curve in curves(points, where).items()}
        if not found:
            return Verdict(OPEN, "nothing was measured")
        words = {True: HOLDS, False: FAILS, None: OPEN}
        return Verdict(whole(words[right] for right, _ in found.values()),
                       "; ".join(f"{curve}: {'not so, ' if right is False else ''}{said}"
                                 for curve, (right, said) in found.items()))

    return judge


def messages_grow(curve):
    pairs = zip(curve, curve[1:])
    right = all(less["messages"] < more["messages"] for less, more in pairs)
    return right, ", ".join(f"{p['messages']} on {p['ranks']}" for p in curve)


def falls_then_rises(curve):
    seconds = [median(p["seconds"]) for p in curve]
    low = seconds.index(min(seconds))
    right = (0 < low and all(a > b for a, b in zip(seconds[:low], seconds[1:low + 1]))
             and all(a < b for a, b in zip(seconds[low:], seconds[low + 1:])))
    return right, (f"fastest on {curve[low]['ranks']} ranks, {seconds[0] / seconds[low]:.1f} times "
                   f"as fast as on {curve[0]['ranks']}; " +
                   ", ".join(f"{1e3 * s:.2f} ms on {p['ranks']}" for p, s in zip(curve, seconds)))


def waste_grows(curve):
    first, last = ((p["ranks"], p["wasted"] / p["useful"]) for p in (curve[0], curve[-1]))
    return (last[1] > first[1],
            " to ".join(f"{w:.2f} on {ranks} ranks" for ranks, w in (first, last)))


def two_beat_one(curve):
    at = {p["ranks"]: p["seconds"] for p in curve}
    if not {1, 2} <= at.keys():
        return None, "one or two ranks were not measured"
    return (clearly_above(at[1], at[2]),
            ", ".join(f"{1e3 * median(s):.2f} ms on {ranks}" for ranks, s in at.items()))


def gains_with_ranks(points):
    """The time of delta-stepping over that of Distributed Control, with few and with many ranks."""
    right, said = [], []
    delta = curves(points, "simulated", "delta")
    for graph, curve in curves(points, "simulated").items():
        control = {p["ranks"]: p for p in curve}
        both = [(p["ranks"], median(p["seconds"]) / median(control[p["ranks"]]["seconds"]))
                for p in delta.get(graph, []) if p["ranks"] in control]
        if len(both) > 1:
            right.append(both[-1][1] > both[0][1])
            said.append(f"{graph}: " + ("" if right[-1] else "not so, ")
                        + ", ".join(f"{x:.1f} on {ranks} ranks" for ranks, x in both))
    if not said:
        return Verdict(OPEN, "nothing was measured")
    return Verdict(HOLDS if all(right) else FAILS, "; ".join(said))


def wastes_less(points):
    """Against chaotic relaxation, on each number of ranks that both have."""
    right, said = [], []
    chaotic = curves(points, "simulated", "chaotic")
    for graph, curve in curves(points, "simulated").items():
        control = {p["ranks"]: p["wasted"] for p in curve}
        both = [(p, control[p["ranks"]]) for p in chaotic.get(graph, []) if p["ranks"] in control]
        if both:
            right.append(all(p["wasted"] >= w for p, w in both))
            said.append(f"{graph}: " + ("" if right[-1] else "not so, ") + ", ".join(
                f"{w / p['useful']:.2f} instead of {p['wasted'] / p['useful']:.2f} on {p['ranks']} "
                "ranks" for p, w in both))
    if not said:
        return Verdict(OPEN, "nothing was measured")
    return Verdict(HOLDS if all(right) else FAILS, "; ".join(said))


CLAIMS = [
    Claim("two local ranks are faster than one", on_each_curve(two_beat_one, "local")),
    Claim("the simulated time falls up to some number of ranks and rises beyond",
          on_each_curve(falls_then_rises)),
    Claim("messages grow with the number of ranks", on_each_curve(messages_grow)),
    Claim("wasted relaxations per useful one are more on the most ranks than on the fewest",
          on_each_curve(waste_grows)),
    Claim("the advantage over delta-stepping, which waits for all ranks, grows with their number",
          gains_with_ranks),
    Claim("no more relaxations are wasted than by chaotic relaxation, per useful one", wastes_less),
]
PLOTS = [
    Plot("ranks", "ranks", [("{by}, {size}", "seconds")], panels=("where", "graph", "longest"),
         log_x=True, log_y=True, only=with_sizes),
    Plot("ranks", "ranks", [("{where}, {by}, {size}", "messages")], panels=("graph", "longest"),
         y_label="messages", log_x=True, log_y=True, only=with_sizes),
    Plot("ranks", "ranks", [("{where}, {by}, {size}", lambda p: p["wasted"] / p["useful"])],
         panels=("graph", "longest"), y_label="wasted relaxations per useful one", log_x=True,
         only=with_sizes),
]
