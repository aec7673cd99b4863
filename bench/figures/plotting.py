# SPDX-License-Identifier: Apache-2.0
"""Draws the plots of a figure (judging.Plot, judging.Matrix) with matplotlib, without a display."""

import math

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter, ScalarFormatter

from judging import Matrix, grouped, having

LINE_STYLES = [":", "-.", (0, (6, 2, 1, 2, 1, 2))]  # of horizontal lines without a curve
UNITS = [("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)]


def value_of(point, y):
    """(value, half the length of its error bar), or None."""
    value = y(point) if callable(y) else point.get(y)
    if value is None:
        return None
    return (value["median"], value["mad"]) if isinstance(value, dict) else (value, 0)


def curves_of(points, plot):
    """{label: [(x, value, spread)]}; x is None for a horizontal line."""
    curves = {}
    for p in points:
        for label, y in plot.curves:
            try:
                found, name = value_of(p, y), label.format(**p)
            except KeyError:  # the point belongs to another curve
                continue
            if found is not None:
                curves.setdefault(name, []).append((p.get(plot.x), *found))
    return curves


def panels_of(points, plot):
    """[(title, points, curves)] of the panels that have points with an x value."""
    groups = grouped(points, *plot.panels) if plot.panels else {(): points}
    for values, group in groups.items():
        values = values if isinstance(values, tuple) else (values,)
        curves = curves_of(group, plot)
        if any(x is not None for curve in curves.values() for x, _, _ in curve):
            title = ", ".join(f"{m} {v}" for m, v in zip(plot.panels, values))
            yield title, group, curves


def draw_panel(axes, plot, title, points, curves):
    largest = max(value for curve in curves.values() for _, value, _ in curve)
    unit, factor = plot.y_label, 1
    if not unit:
        unit, factor = next(u for u in UNITS if largest * u[1] >= 1 or u is UNITS[-1])
    colors, lines = {}, []
    for label, curve in curves.items():
        on_axis = [(x, factor * y, factor * spread) for x, y, spread in curve if x is not None]
        if plot.joined:
            on_axis.sort(key=lambda at: at[0])
        if on_axis:
            xs, ys, spreads = zip(*on_axis)
            drawn = axes.errorbar(xs, ys, yerr=spreads, label=label, marker="o", markersize=4,
                                  capsize=3, linestyle="-" if plot.joined else "none")
            colors[label] = drawn[0].get_color()
        lines += [(label, factor * y) for x, y, _ in curve if x is None]
    with_curves = len(colors)
    for label, y in lines:
        new = label not in colors
        number = len(colors) - with_curves
        color = colors.setdefault(label, f"C{len(colors) % 10}")
        axes.axhline(y, label=label if new else None, color=color,
                     linestyle=LINE_STYLES[number % len(LINE_STYLES)] if new else ":")
    for curve, label, xs, ys in plot.lines(points) if plot.lines else ():
        # A fitted line may be negative, which a logarithmic axis cannot show.
        at = [(x, factor * y) for x, y in zip(xs, ys) if y > 0 or not plot.log_y]
        axes.plot(*zip(*at), label=label, color=colors.get(curve), linestyle="--", linewidth=1)
    numbers = sorted({x for curve in curves.values() for x, _, _ in curve
                      if isinstance(x, (int, float))})
    if plot.log_x:
        axes.set_xscale("log", base=2)
    if numbers and len(numbers) <= 12:
        axes.set_xticks(numbers)
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.xaxis.set_minor_formatter(NullFormatter())
    if not numbers:
        axes.tick_params(axis="x", labelrotation=30)
    if plot.log_y and all(y > 0 for curve in curves.values() for _, y, _ in curve):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set(title=title, xlabel=plot.x_label, ylabel=unit)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize="small")


def draw_matrix(axes, plot, point):
    image = axes.imshow(point[plot.member], cmap="viridis", vmin=0)
    axes.set(title=plot.title.format(**point), xlabel=plot.column_label, ylabel=plot.row_label)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.figure.colorbar(image, ax=axes, label=plot.entry)


def draw(points, plot, target):
    """Writes an SVG with two panels per row. Returns whether there was anything to draw."""
    if isinstance(plot, Matrix):
        panels = [(p,) for p in having(points, plot.member)]
        draw_one = draw_matrix
    else:
        panels = list(panels_of(plot.only(points) if plot.only else points, plot))
        draw_one = draw_panel
    if not panels:
        return False
    columns = min(2, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(6.5 * columns, 4.2 * rows), layout="constrained")
    for i, panel in enumerate(panels):
        draw_one(figure.add_subplot(rows, columns, i + 1), plot, *panel)
    figure.savefig(target, format="svg", metadata={"Date": None})
    return True
