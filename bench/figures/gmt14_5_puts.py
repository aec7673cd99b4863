# SPDX-License-Identifier: Apache-2.0
"""The points are those of put_claims.py."""

from put_claims import MORE, PLOTS, Claim, above_single, larger_elements, more_tasks  # noqa: F401

TITLE = "[GMT14] figure 5: blocking puts between two ranks against the number of tasks"
SHORT = "--bytes 8 32 128 --tasks 1 64 1024 4096 --puts 262144 --repeats 5"
LONG = "--puts 1048576 --repeats 15"
CLAIMS = [
    Claim(f"many tasks bring at least {MORE} times the bandwidth of the fewest",
          more_tasks("local")),
    Claim("elements of 128 bytes bring at least 3 times the bandwidth of 8 bytes",
          larger_elements("local")),
    Claim("far above one message per put: at least 4 times, for each size",
          above_single("local", 4)),
    Claim("at least 20 times one message per put, with 4,096 tasks and 8 bytes",
          above_single("local", 20, 4096, only=8)),
]
