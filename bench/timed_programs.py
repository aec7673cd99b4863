# SPDX-License-Identifier: Apache-2.0
"""Runs programs and reads the times that they print: what the scripts beside it share."""

import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

NUMBER = r"\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)"
TIMES = [re.compile(word + NUMBER) for word in
         ("Trial Time:", "Average Time:", "median_time:", "seconds:")]
# By the name of GAP's program.
CAIRN = {"bfs": ["bfs"], "pr": ["pagerank", "--convention", "gap"], "cc": ["cc"]}


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        raise RuntimeError(f"{command[0]} ended with status {done.returncode}: {last}")
    return done.stdout + done.stderr, done.stdout


def printed_time(text):
    """The median of the times that a program printed after the first pattern that matches."""
    for pattern in TIMES:
        found = [float(number) for number in pattern.findall(text)]
        if found:
            return statistics.median(found)
    raise RuntimeError("no line of the output has a time in a known form")


def spread(values):
    values = list(values)
    middle = statistics.median(values)
    return middle, statistics.median(abs(v - middle) for v in values)


def reported(command, read):
    """What `read` takes from the JSON report of a command of Cairn."""
    try:
        return read(json.loads(run(command)[1]))
    except (LookupError, TypeError, ValueError):
        raise RuntimeError(f"{' '.join(command[:2])} printed no report of the known form") from None


def seconds_of(report):
    if report["verified"] is False:
        raise RuntimeError("Cairn's result is wrong")
    seconds = statistics.median(report["seconds"]["run"])
    if seconds <= 0:
        raise RuntimeError("Cairn's run took no time")
    return seconds


def refuse(sentence):
    print(f"{Path(sys.argv[0]).name}: {sentence}", file=sys.stderr)
    sys.exit(2)
