# SPDX-License-Identifier: Apache-2.0
"""Points: {"where": local or simulated, "ranks", "setting": coalesced, prompt or alone,
"graph", "scale", "by": an algorithm, or one with sorted receive buffers ("delta, sorted"),
"delta": width of a bucket, 0 if chosen, "seconds", "messages", "buffers",
"overflow", "useful", "wasted", "buckets"}. Simulated times have no spread."""

from judging import (FAILS, HOLDS, OPEN, Claim, Plot, Verdict, clearly_above, grouped, having,
                     median)

TITLE = "[DC15] figure 1: algorithms for shortest paths under several settings of the runtime"
SHORT = "--scales 12 14 --simulated-scales 12 14 --runs 5 --warm-ups 0 --repeats 2"
LONG = "--scales 13 14 15 16 17 --simulated-scales 13 14 15 16 --runs 9"
CONTROL, DELTA, CHAOTIC = "distributed-control", "delta", "chaotic"
SORTED = "delta, sorted"


def largest(points, where, graph):
    """The points of the largest scale, where averages differ most."""
    group = [p for p in having(points, "setting") if p["where"] == where and p["graph"] == graph]
    by_scale = grouped(group, "scale")
    return by_scale[max(by_scale)] if by_scale else []


def best(points, setting, by, width=None):
    """The fastest point of an algorithm; of this width of buckets, if given."""
    return min((p for p in points if p["setting"] == setting and p["by"] == by
                and (width is None or p["delta"] == width)),
               key=lambda p: median(p["seconds"]), default=None)


def comparison(setting, control, other):
    ratio = median(other["seconds"]) / median(control["seconds"])
    return (f"{setting}: {1e3 * median(control['seconds']):.2f} ms, {other['by']} "
            f"{1e3 * median(other['seconds']):.2f} ms ({ratio:.2f} times)")


def explained(points):
    return "; ".join(
        f"{p['setting']}, {p['by']}, width {p['delta'] or 'chosen'}: "
        f"{p['wasted'] / p['useful']:.2f} wasted relaxations per useful one, {p['buffers']} buffers"
        f" of which {p['overflow']} waited, {p['buckets']} buckets" for p in points)


def settings_decide(graph, wins, loses, where, same_width):
    """Whether Distributed Control beats delta-stepping under the setting `wins`, and loses under
    `loses`; open if the spread is larger than the difference."""

    def judge(points):
        at = largest(points, where, graph)
        width = max((p["delta"] for p in at if p["by"] == CONTROL), default=0)
        if not width:
            return Verdict(OPEN, "nothing was measured")
        said, right, clear = [], True, True
        for setting in (wins, loses):
            control, delta = (best(at, setting, by, width if same_width else None)
                              for by in (CONTROL, DELTA))
            if not control or not delta:
                return Verdict(OPEN, "nothing was measured")
            slow, fast = (delta, control) if setting == wins else (control, delta)
            right = right and median(slow["seconds"]) > median(fast["seconds"])
            clear = clear and clearly_above(slow["seconds"], fast["seconds"])
            said.append(comparison(setting, control, delta))
        return Verdict((HOLDS if clear else OPEN) if right else FAILS,
                       f"scale {at[0]['scale']}, {at[0]['ranks']} ranks: {'; '.join(said)}"
                       f"{'; the spread is too large' if right and not clear else ''}",
                       explained(p for p in at if p["setting"] in (wins, loses)))

    return judge


def no_better_than_chaotic(points):
    verdicts, said = [], []
    for where in ("local", "simulated"):
        at = largest(points, where, "kronecker")
        control, chaotic = (best(at, "alone", by) for by in (CONTROL, CHAOTIC))
        if control and chaotic:
            verdicts.append(not clearly_above(chaotic["seconds"], control["seconds"]))
            said.append(f"{where}, {comparison('alone', control, chaotic)}")
    if not verdicts:
        return Verdict(OPEN, "nothing was measured")
    return Verdict(HOLDS if all(verdicts) else FAILS, "; ".join(said))


def sorting_saves_work(points):
    """Whether sorted receive buffers waste fewer relaxations at the same widths; their time is said
    beside it."""
    fewer, said = [], []
    for where in ("local", "simulated"):
        at = largest(points, where, "kronecker")
        for width in sorted({p["delta"] for p in at if p["by"] == SORTED}):
            plain, ordered = (best(at, "coalesced", by, width) for by in (DELTA, SORTED))
            fewer.append(ordered["wasted"] <= plain["wasted"])
            ratio = median(ordered["seconds"]) / median(plain["seconds"])
            said.append(f"{where}, width {width or 'chosen'}: {ordered['wasted']} wasted "
                        f"relaxations instead of {plain['wasted']}, {ratio:.2f} times the time")
    if not said:
        return Verdict(OPEN, "nothing was measured")
    return Verdict(HOLDS if all(fewer) else FAILS, "; ".join(said))


def with_widths(points):
    return [{**p, "width": p["delta"] or "chosen"} for p in having(points, "delta")]


ON_GRAPH500 = ("on a Graph500 graph, with buckets of one width, Distributed Control beats "
               "delta-stepping if messages are coalesced and filtered, and loses if they travel "
               "alone")
ON_GRID = ("on a grid Distributed Control beats delta-stepping with buffers of 64 bytes, and loses "
           "with buffers that grow to the transport's size")
CLAIMS = [
    Claim(f"{ON_GRAPH500}: local ranks",
          settings_decide("kronecker", "coalesced", "alone", "local", True)),
    Claim(f"{ON_GRAPH500}: simulated ranks",
          settings_decide("kronecker", "coalesced", "alone", "simulated", True)),
    Claim("the same on simulated ranks if each algorithm has its best width",
          settings_decide("kronecker", "coalesced", "alone", "simulated", False)),
    Claim(f"{ON_GRID}: local ranks, best widths",
          settings_decide("grid", "prompt", "coalesced", "local", False)),
    Claim(f"{ON_GRID}: simulated ranks, best widths",
          settings_decide("grid", "prompt", "coalesced", "simulated", False)),
    Claim("on a Graph500 graph where messages travel alone, Distributed Control is no better than "
          "chaotic relaxation", no_better_than_chaotic),
    Claim("on a Graph500 graph with coalesced messages, sorted receive buffers make delta-stepping "
          "waste fewer relaxations", sorting_saves_work),
]
PLOTS = [Plot("scale", "log2 of the vertices", [("{by}, width {width}", "seconds")],
              panels=("graph", "where", "setting"), log_y=True, only=with_widths),
         Plot("scale", "log2 of the vertices",
              [("{by}, width {width}", lambda p: p["wasted"] / p["useful"])],
              panels=("graph", "where", "setting"), y_label="wasted relaxations per useful one",
              only=with_widths)]
