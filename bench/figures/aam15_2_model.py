# SPDX-License-Identifier: Apache-2.0
"""Points: {"mechanism", "vertices": N, "seconds"} of one activity that modifies N vertices."""

from judging import (FAILS, HOLDS, OPEN, Claim, Plot, Verdict, crossing_of_lines,
                     crossing_of_times, fit_line, grouped, having, median, needs_htm)

TITLE = "[AAM15] figure 2: time of an activity of N vertices, T = A N + B"
SHORT = "--passes 21"
LONG = "--passes 201"
MIN_R_SQUARED = 0.9


def times_of(points):
    """{mechanism: [(N, ns)]}."""
    return {m: sorted((p["vertices"], 1e9 * median(p["seconds"])) for p in group)
            for m, group in grouped(having(points, "vertices"), "mechanism").items()}


def where(n):
    return "nowhere" if n is None else f"N = {n:.1f}"


def compared(times, mechanism):
    """Fitted lines of the mechanism and of atomics; crossings of the lines and of the times."""
    line, atomics = fit_line(times[mechanism]), fit_line(times["atomics"])
    return (line, atomics, crossing_of_lines(atomics, line),
            crossing_of_times(times["atomics"], times[mechanism]))


def agree(predicted, measured, times):
    """Whether both are within a factor of 2, or both beyond the measured range."""
    largest = max(n for samples in times.values() for n, _ in samples)
    if measured is None:
        return predicted is None or predicted > largest
    return predicted is not None and 0.5 <= predicted / measured <= 2


def poor(line, atomics):
    """Whether the fit is too poor for predictions."""
    return min(line.r_squared, atomics.r_squared) < MIN_R_SQUARED


@needs_htm
def htm_pays_off(points):
    times = times_of(points)
    if "htm" not in times or "atomics" not in times:
        return Verdict(OPEN, "nothing was measured")
    htm, atomics, predicted, measured = compared(times, "htm")
    number = f"crossing at {where(measured)}, predicted {where(predicted)}"
    details = (f"B(htm) = {htm.b:.1f} ns, B(atomics) = {atomics.b:.1f} ns, A(htm) = {htm.a:.2f} "
               f"ns, A(atomics) = {atomics.a:.2f} ns; R^2 {htm.r_squared:.3f} and "
               f"{atomics.r_squared:.3f}")
    right = (htm.b > atomics.b and htm.a < atomics.a and measured is not None
             and agree(predicted, measured, times))
    word = FAILS if not right else OPEN if poor(htm, atomics) else HOLDS
    return Verdict(word, number, details)


def software_crosses_as_predicted(points):
    times = times_of(points)
    words, numbers, details = [], [], []
    for mechanism in times:
        if mechanism in ("atomics", "htm") or "atomics" not in times:
            continue
        line, atomics, predicted, measured = compared(times, mechanism)
        words.append(FAILS if not agree(predicted, measured, times)
                     else OPEN if poor(line, atomics) else HOLDS)
        numbers.append(f"{mechanism} {where(measured)}, predicted {where(predicted)}")
        details.append(f"{mechanism}: A = {line.a:.2f} ns, B = {line.b:.1f} ns, "
                       f"R^2 {line.r_squared:.3f}")
    if not words:
        return Verdict(OPEN, "nothing was measured")
    details.append(f"R^2 of atomics {atomics.r_squared:.3f}")
    word = FAILS if FAILS in words else OPEN if OPEN in words else HOLDS
    return Verdict(word, f"atomics are beaten from: {'; '.join(numbers)}", "; ".join(details))


def fitted_lines(points):
    for mechanism, samples in times_of(points).items():
        line = fit_line(samples)
        yield (mechanism, f"{mechanism}: {line.a:.1f} N + {line.b:.0f} ns", [n for n, _ in samples],
               [1e-9 * (line.a * n + line.b) for n, _ in samples])


CLAIMS = [
    Claim("htm costs more than atomics to begin (B) and less per vertex (A), and the fitted lines "
          "cross where the times do, within a factor of 2", htm_pays_off),
    Claim("so do the lines of the mechanisms in software, or neither lines nor times cross at a "
          "measured N", software_crosses_as_predicted),
]
PLOTS = [Plot("vertices", "N, vertices of an activity", [("{mechanism}", "seconds")], log_x=True,
              log_y=True, joined=False, lines=fitted_lines)]
