# SPDX-License-Identifier: Apache-2.0
"""The points are those of buffer_claims.py; the longest weight is 1, or 255 for the comparison."""

from buffer_claims import PLOTS, Claim, best_size_differs, choice_is_close, sensitive  # noqa: F401

TITLE = "[DC15] figure 4: breadth-first search by Distributed Control against the size of buffers"
SHORT = ("--scale 12 --runs 3 --repeats 3 --local 2 4 --simulated 2 8"
         " --buffers 64 256 1024 4096 16384 65536")
LONG = ("--scale 16 --runs 15 --repeats 5 --local 1 2 4 8 --simulated 2 4 8 16 32 64 "
        "--simulated-scale 14")
CLAIMS = [
    Claim("the size of buffers changes the time by more than a tenth, on each graph and number of "
          "local ranks", sensitive(1)),
    Claim("the same on simulated ranks: the size matters", sensitive(1, "simulated")),
    Claim("on some graph the best size is not that of shortest paths", best_size_differs),
    Claim("the runtime's own size is within 5 % of the best, on each graph and number of local "
          "ranks", choice_is_close(1)),
    Claim("the same on simulated ranks: the choice is close", choice_is_close(1, "simulated")),
]
