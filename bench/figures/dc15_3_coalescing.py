# SPDX-License-Identifier: Apache-2.0
"""The points are those of buffer_claims.py."""

from buffer_claims import (PLOTS, Claim, choice_is_close, large_scales_better,  # noqa: F401
                           sensitive)

TITLE = "[DC15] figure 3: shortest paths by Distributed Control against the size of buffers"
SHORT = ("--scale 13 --runs 5 --repeats 3 --local 2 4 --simulated 2 8"
         " --buffers 64 256 1024 4096 16384 65536")
LONG = ("--scale 16 --runs 15 --repeats 5 --local 1 2 4 8 --simulated 2 4 8 16 32 64 "
        "--simulated-scale 14")
CLAIMS = [
    Claim("the size of buffers changes the time by more than a tenth, on each graph and number of "
          "local ranks", sensitive(255)),
    Claim("the same on simulated ranks: the size matters", sensitive(255, "simulated")),
    Claim("the runtime's own size is within 5 % of the best, on each graph and number of local "
          "ranks", choice_is_close(255)),
    Claim("the same on simulated ranks: the choice is close", choice_is_close(255, "simulated")),
    Claim("the largest size scales better than the smallest, on simulated ranks",
          large_scales_better(255)),
]
