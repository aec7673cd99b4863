# SPDX-License-Identifier: Apache-2.0
"""Claims of figures 3 and 4 of [DC15]. Points: {"graph", "longest", "ranks", "bytes": size of
buffers (missing if the runtime chose it), "seconds", "messages", "buffers", "overflow", "useful",
"wasted"}; {"graph", "longest", "best_bytes", "choice": time with the best size divided by the time
with the runtime's choice}."""

from judging import (FAILS, HOLDS, OPEN, Claim, Plot, Verdict, clearly_above, grouped,  # noqa: F401
                     having, mad, median)

CLEAR = 1.1  # minimum ratio of the times with the slowest and the fastest size
CLOSE = 0.95  # of the speed of the best size


def fastest(points):
    return min(points, key=lambda p: median(p["seconds"]))


def wasted(point):
    return point["wasted"] / point["useful"]


def sensitive(longest):
    def judge(points):
        verdicts, said, details = [], [], []
        group = [p for p in having(points, "bytes") if p["longest"] == longest]
        for graph, sizes in grouped(group, "graph").items():
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


def choice_is_close(longest):
    def judge(points):
        compared = [p for p in having(points, "choice") if p["longest"] == longest]
        if not compared:
            return Verdict(OPEN, "nothing was measured")
        number = "; ".join(f"{p['graph']}: {median(p['choice']):.3f} ± {mad(p['choice']):.3f} of "
                           f"the speed of {p['best_bytes']} bytes" for p in compared)
        if all(median(p["choice"]) >= CLOSE for p in compared):
            return Verdict(HOLDS, number)
        # Runs that differ by more than the distance to the limit decide nothing.
        if all(median(p["choice"]) + mad(p["choice"]) >= CLOSE for p in compared):
            return Verdict(OPEN, f"the spread is too large: {number}")
        return Verdict(FAILS, number)

    return judge


def best_size_differs(points):
    """On some graph the best size with weights is clearly not the best one without."""
    said, differs = [], False
    for graph, group in grouped(having(points, "bytes"), "graph").items():
        sizes = grouped(group, "longest")
        if len(sizes) < 2 or 1 not in sizes:
            continue
        plain, paths = fastest(sizes[1]), fastest(sizes[max(sizes)])
        lengths_one = next((p for p in sizes[1] if p["bytes"] == paths["bytes"]), None)
        if lengths_one is None:
            continue
        clear = clearly_above(lengths_one["seconds"], plain["seconds"])
        differs = differs or clear
        said.append(f"{graph}: {plain['bytes']} bytes, with weights {paths['bytes']}, at which the "
                    f"search takes "
                    f"{median(lengths_one['seconds']) / median(plain['seconds']):.2f} times "
                    f"as long{'' if clear else ' (within the spread)'}")
    if not said:
        return Verdict(OPEN, "nothing was measured")
    return Verdict(HOLDS if differs else FAILS, "; ".join(said))


PLOTS = [
    Plot("bytes", "bytes of a buffer", [("longest weight {longest}", "seconds")], panels=("graph",),
         log_x=True, log_y=True),
    Plot("bytes", "bytes of a buffer", [("longest weight {longest}", wasted)], panels=("graph",),
         log_x=True, y_label="wasted relaxations per useful one",
         only=lambda points: having(points, "bytes")),
]
