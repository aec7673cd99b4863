#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the last sweep of a figure's lines as an SVG, with nothing but Python's own library.

    plot.py LINES.jsonl [OUT.svg]      default: the name of the lines, ending with .svg
"""

import json
import math
import sys
from pathlib import Path

WIDTH, HEIGHT, MARGIN, LEGEND = 560, 320, 50, 150
UNITS = [("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)]
COLOURS = ["#1b6ca8", "#c1440e", "#3a7d44", "#7b3f98", "#b8860b", "#444444",
           "#d0679d", "#2aa198", "#8b5a2b", "#6c8ebf"]
# What lies on the x axis: its member, its name, and whether its scale is logarithmic. Then the
# members that hold times, with the name of the curve, to be filled in from the point; and the
# members for whose values there is a panel each. A point without the axis is left out, unless it
# has nothing but its time to tell it from the others: then it counts everywhere.
ATOMICS_AND_HTM = {"atomics": "atomics", "htm": "htm", "seconds": "htm"}
FIGURES = {
    "aam15_1_phases": ("level", "level", False, ATOMICS_AND_HTM, ["threads"]),
    "aam15_2_model": ("vertices", "N, vertices of an activity", True, {"seconds": "{mechanism}"},
                      []),
    "aam15_3_single": ("threads", "threads", False, {"seconds": "{mechanism}"},
                       ["activity", "operations"]),
    "aam15_4_grain": ("grain", "M, operators per transaction", True,
                      {"atomics": "atomics", "seconds": "htm, {retry}"}, ["threads"]),
    "aam15_5_aborts": ("threads", "threads", False, {"seconds": "htm, M = {grain}"}, []),
    "aam15_5_remote": ("messages", "C, messages of a buffer", True,
                       {"seconds": "{ranks} ranks", "mpi": "MPI, {ranks} ranks"}, ["work"]),
    "aam15_5i_distributed": ("transactions", "x, transactions of each rank", True,
                             {"seconds": "{local} own + {remote} remote"}, ["threads"]),
    "aam15_6_graphs": ("scale", "log2 of the vertices", False,
                       {"atomics": "atomics, degree {degree}", "htm": "htm, degree {degree}",
                        "by_hand": "by hand, degree {degree}"}, ["threads"]),
    "aam15_7_threads": ("threads", "threads", False, {"seconds": "{mechanism}"}, []),
    "aam15_7_pagerank": ("vertices", "vertices of a rank", True,
                         {"seconds": "coalesced", "alone_seconds": "alone",
                          "pull_seconds": "pull", "mpi_pull_seconds": "pull by hand"},
                         ["ranks", "threads"]),
    "scaling": ("ranks", "ranks, simulated", True, {"seconds": "{job}, network: {network}"}, []),
}


def last_sweep(file):
    """The points before the last verdict, and the verdict."""
    points, sweep, verdict = [], None, None
    for text in file:
        line = json.loads(text)
        if "figure" not in line:
            continue
        if "verdict" in line:
            sweep, verdict, points = points, line, []
        else:
            points.append(line)
    if verdict is None:
        sys.exit("no line has a verdict: these are not the lines of a whole sweep")
    return sweep, verdict


def curves(points, x, times):
    """Seconds by x, by the name of the curve: of the points that have what it names."""
    everywhere = sorted({p[x] for p in points if x in p})
    found = {}
    for p in points:
        for member, name in times.items():
            if member not in p or (x not in p and "no_htm" not in p):
                continue
            try:
                curve = found.setdefault(name.format(**{"retry": "rtm", **p}), {})
            except KeyError:
                continue
            for at in [p[x]] if x in p else everywhere:
                curve[at] = p[member]["median"]
    return {name: sorted(curve.items()) for name, curve in found.items()}


def panels(points, x, times, split):
    """(title, curves) for each combination of the values of `split`."""
    by_values = {}
    for p in points:
        if all(member in p for member in split):
            by_values.setdefault(tuple(p[member] for member in split), []).append(p)
    for values, these in by_values.items():
        lines = curves(these, x, times)
        if any(lines.values()):
            yield ", ".join(f"{m} {v}" for m, v in zip(split, values)), lines


def ticks(top):
    step = 10 ** math.floor(math.log10(top))
    step *= next(f for f in (0.2, 0.5, 1) if top / (step * f) <= 8 or f == 1)
    return [i * step for i in range(int(top / step) + 1)]


def text(x, y, words, anchor="middle"):
    words = words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def draw_panel(title, lines, x_name, logarithmic):
    scale = math.log2 if logarithmic else float
    xs = sorted({x for line in lines.values() for x, _ in line})
    low, high = scale(xs[0]), scale(xs[-1])
    longest = max(y for line in lines.values() for _, y in line)
    unit, factor = next(u for u in UNITS if longest * u[1] >= 1 or u is UNITS[-1])
    lines = {name: [(x, y * factor) for x, y in line] for name, line in lines.items()}
    top = 1.1 * (longest * factor or 1)
    right = WIDTH - LEGEND

    def px(x):
        return MARGIN + (right - MARGIN) * ((scale(x) - low) / (high - low) if high > low else 0.5)

    def py(y):
        return HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * y / top

    out = [text(MARGIN, 20, title, "start"), text((MARGIN + right) / 2, HEIGHT - 15, x_name),
           text(MARGIN, MARGIN - 10, unit)]
    for y in ticks(top):
        out.append(f'<line x1="{MARGIN}" x2="{right}" y1="{py(y):.1f}" '
                   f'y2="{py(y):.1f}" stroke="#dddddd"/>')
        out.append(text(MARGIN - 6, py(y) + 4, f"{y:.6g}", "end"))
    last = -WIDTH
    for x in xs:  # those whose labels would meet are left out
        if px(x) - last >= 9 * len(f"{x:g}"):
            out.append(text(px(x), HEIGHT - MARGIN + 16, f"{x:g}"))
            last = px(x)
    for i, (name, line) in enumerate(lines.items()):
        colour = COLOURS[i % len(COLOURS)]
        path = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="3" fill="{colour}"/>'
                for x, y in line]
        out.append(f'<g fill="{colour}">' + text(right + 10, MARGIN + 14 * i, name, "start")
                   + "</g>")
    return out


def draw(figure, all_panels):
    """Panels below each other, two in a row if there are several."""
    _, x_name, logarithmic, _, _ = FIGURES[figure]
    columns = min(2, len(all_panels))
    width, height = WIDTH * columns, HEIGHT * math.ceil(len(all_panels) / columns)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>']
    for i, (title, lines) in enumerate(all_panels):
        at = WIDTH * (i % columns), HEIGHT * (i // columns)
        out += [f'<g transform="translate({at[0]} {at[1]})">',
                *draw_panel(title, lines, x_name, logarithmic), "</g>"]
    return "\n".join(out + ["</svg>", ""])


def plot(source, target):
    """Draws the last sweep of the lines, and says whether it had anything to draw."""
    with source.open() as file:
        points, verdict = last_sweep(file)
    figure = verdict["figure"]
    if figure not in FIGURES:
        sys.exit(f"{figure} is not known here")
    x, _, _, times, split = FIGURES[figure]
    all_panels = list(panels(points, x, times, split))
    if all_panels:
        target.write_text(draw(figure, all_panels))
    return bool(all_panels)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    source = Path(sys.argv[1])
    target = Path(sys.argv[2]) if len(sys.argv) == 3 else source.with_suffix(".svg")
    if not plot(source, target):
        sys.exit("no point has a time")
    print(target)


if __name__ == "__main__":
    main()
