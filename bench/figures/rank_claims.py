# SPDX-License-Identifier: Apache-2.0
"""Claims about curves over ranks of [GMT14]. A curve is a list of points by ascending "ranks"."""

from judging import FAILS, HOLDS, OPEN, Verdict, grouped, having


def curves_of(points, where, *members):
    """{values of the members: curve}; a curve has at least two numbers of ranks."""
    here = [p for p in having(points, "where", "ranks", "seconds") if p["where"] == where]
    curves = {values: sorted(curve, key=lambda p: p["ranks"])
              for values, curve in grouped(here, *members).items()}
    return {values: curve for values, curve in curves.items() if len(curve) > 1}


def weak_scaling(curves, rate, unit):
    """Whether the rate grows with each number of ranks, and that of a rank keeps a half of what it
    was.

    curves  {name: curve}
    rate    of a point, in millions of the unit
    """
    right, said, details = [], [], []
    for name, curve in curves.items():
        rates = [rate(p) for p in curve]
        first, last = curve[0]["ranks"], curve[-1]["ranks"]
        kept = rates[-1] / rates[0] * first / last
        right.append(all(b > a for a, b in zip(rates, rates[1:])) and kept >= 0.5)
        said.append(f"{name}: from {first} to {last} ranks the rate of a rank falls to {kept:.2f} "
                    "of what it was")
        details.append(f"{name}: " + ", ".join(f"{r:.2f} million {unit}/s on {p['ranks']}"
                                               for r, p in zip(rates, curve)))
    if not right:
        return Verdict(OPEN, "fewer than two numbers of simulated ranks were measured")
    return Verdict(HOLDS if all(right) else FAILS, "; ".join(said), "; ".join(details))
