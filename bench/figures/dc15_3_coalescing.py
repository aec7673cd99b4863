# SPDX-License-Identifier: Apache-2.0
"""The points are those of buffer_claims.py."""

from buffer_claims import PLOTS, Claim, choice_is_close, sensitive  # noqa: F401

TITLE = "[DC15] figure 3: shortest paths by Distributed Control against the size of buffers"
SHORT = "--scale 13 --runs 9 --repeats 5"
LONG = "--scale 16 --runs 15 --repeats 5"
CLAIMS = [
    Claim("the size of buffers changes the time by more than a tenth, on each graph",
          sensitive(255)),
    Claim("the runtime's own size is within 5 % of the best, on each graph", choice_is_close(255)),
]
