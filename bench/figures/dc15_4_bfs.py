# SPDX-License-Identifier: Apache-2.0
"""The points are those of buffer_claims.py; the longest weight is 1, or 255 for the comparison."""

from buffer_claims import PLOTS, Claim, best_size_differs, choice_is_close, sensitive  # noqa: F401

TITLE = "[DC15] figure 4: breadth-first search by Distributed Control against the size of buffers"
SHORT = "--scale 13 --runs 5 --repeats 5"
LONG = "--scale 16 --runs 15 --repeats 5"
CLAIMS = [
    Claim("the size of buffers changes the time by more than a tenth, on each graph", sensitive(1)),
    Claim("on some graph the best size is not that of shortest paths", best_size_differs),
    Claim("the runtime's own size is within 5 % of the best, on each graph", choice_is_close(1)),
]
