# SPDX-License-Identifier: Apache-2.0
"""Claims of figures 3 and 4 of [DC15]. Points: {"where": local or simulated, "graph", "longest",
"ranks", "bytes": size of buffers (missing if the runtime chose it), "seconds", "messages",
"buffers", "overflow", "useful", "wasted"}; {"where", "graph", "longest", "ranks", "best_bytes",
"choice": time with the best size divided by the time with the runtime's choice}; {"costs"}.
Simulated times have no spread."""

from judging import (FAILS, HOLDS, OPEN, Claim, Plot, Verdict, clearly_above, grouped,  # noqa: F401
                     having, mad, median)

CLEAR = 1.1  # minimum ratio of the times with the slowest and the fastest size
CLOSE = 0.95  # of the speed of the best size


def fastest(points):
    return min(points, key=lambda p: median(p["seconds"]))


def wasted(point):
    return point["wasted"] / point["useful"]


def name_of(graph, ranks):
    return f"{graph} on {ranks} ranks"


def messaging(points, longest, where, member):
    """Points of several ranks, which send messages."""
    return [p for p in having(points, "where", member)
            if (p["longest"], p["where"]) == (longest, where) and p["ranks"] > 1]


def sensitive(longest, where="local"):
    def judge(points):
        verdicts, said, details = [], [], []
        for place, sizes in grouped(messaging(points, longest, where, "bytes"),
                                    "graph", "ranks").items():
            graph = name_of(*place)
            best = fastest(sizes)
            worst = max(sizes, key=lambda p: median(p["seconds"]))
            ratio = median(worst["seconds"]) / median(best["seconds"])
            verdicts.append(ratio >= CLEAR and clearly_above(worst["seconds"], best["seconds"]))
            said.append(f"{graph} {ratio:.2f} times from {best['bytes']} to {worst['bytes']} bytes")
            details.append(f"{graph}: " + ", ".join(
                f"{p['bytes']} bytes {1e3 * median(p['seconds']):.2f} ms with {wasted(p):.2f} "
                "wasted relaxations per useful one" for p in sizes))
        if not verdicts:
            return Verdict(OPEN, "nothing was measured")
        return Verdict(HOLDS if all(verdicts) else FAILS, "; ".join(said), "; ".join(details))

    return judge


def choice_is_close(longest, where="local"):
    def judge(points):
        compared = messaging(points, longest, where, "choice")
        if not compared:
            return Verdict(OPEN, "nothing was measured")
        number = "; ".join(f"{name_of(p['graph'], p['ranks'])}: {median(p['choice']):.3f} ± "
                           f"{mad(p['choice']):.3f} of the speed of {p['best_bytes']} bytes"
                           for p in compared)
        if all(median(p["choice"]) >= CLOSE for p in compared):
            return Verdict(HOLDS, number)
        # Runs that differ by more than the distance to the limit decide nothing.
        if all(median(p["choice"]) + mad(p["choice"]) >= CLOSE for p in compared):
            return Verdict(OPEN, f"the spread is too large: {number}")
        return Verdict(FAILS, number)

    return judge


def best_size_differs(points):
    """On some graph the best size with weights is clearly not the best one without, on local ranks:
    by CLEAR, because the fastest of several sizes also differs by chance."""
    said, differs = [], False
    group = [p for p in having(points, "where", "bytes")
             if p["where"] == "local" and p["ranks"] > 1]
    for place, group in grouped(group, "graph", "ranks").items():
        graph, sizes = name_of(*place), grouped(group, "longest")
        if len(sizes) < 2 or 1 not in sizes:
            continue
        plain, paths = fastest(sizes[1]), fastest(sizes[max(sizes)])
        lengths_one = next((p for p in sizes[1] if p["bytes"] == paths["bytes"]), None)
        if lengths_one is None:
            continue
        ratio = median(lengths_one["seconds"]) / median(plain["seconds"])
        clear = ratio >= CLEAR and clearly_above(lengths_one["seconds"], plain["seconds"])
        differs = differs or clear
        said.append(f"{graph}: {plain['bytes']} bytes, with weights {paths['bytes']}, at which the "
                    f"search takes {ratio:.2f} times as long"
                    f"{'' if clear else ' (within the spread, or a tenth)'}")
    if not said:
        return Verdict(OPEN, "nothing was measured")
    return Verdict(HOLDS if differs else FAILS, "; ".join(said))


def large_scales_better(longest):
    """From the fewest to the most simulated ranks, by the largest and by the smallest size."""

    def judge(points):
        right, said = [], []
        for graph, group in grouped(messaging(points, longest, "simulated", "bytes"),
                                    "graph").items():
            sizes = grouped(group, "bytes")
            gains = []
            for size in (min(sizes), max(sizes)):
                curve = sorted(sizes[size], key=lambda p: p["ranks"])
                few, many = curve[0], curve[-1]
                gains.append(median(few["seconds"]) / median(many["seconds"]))
            if few["ranks"] == many["ranks"] or len(sizes) < 2:
                continue
            right.append(gains[1] > gains[0])
            said.append(f"{graph}: from {few['ranks']} to {many['ranks']} ranks {gains[1]:.2f} "
                        f"times as fast with {max(sizes)} bytes, {gains[0]:.2f} with {min(sizes)}")
        if not said:
            return Verdict(OPEN, "fewer than two sizes or numbers of simulated ranks were measured")
        return Verdict(HOLDS if all(right) else FAILS, "; ".join(said))

    return judge


PLOTS = [
    Plot("bytes", "bytes of a buffer", [("longest weight {longest}, {ranks} ranks", "seconds")],
         panels=("graph", "where"), log_x=True, log_y=True),
    Plot("bytes", "bytes of a buffer", [("longest weight {longest}, {ranks} ranks", wasted)],
         panels=("graph", "where"), log_x=True, y_label="wasted relaxations per useful one",
         only=lambda points: having(points, "bytes")),
    Plot("ranks", "ranks",
         [("longest weight {longest}, {bytes} bytes", "seconds"),
          ("longest weight {longest}, own size",
           lambda p: None if "bytes" in p else p.get("seconds"))],
         panels=("graph", "where"), log_x=True, log_y=True),
]
