# SPDX-License-Identifier: Apache-2.0
"""What the tests of the figures' claims share. Points are made, such as the paper has, and broken
ones."""

import importlib
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench/figures"))
import judging  # noqa: E402

NO_HTM = {"no_htm": "it is switched off"}


def spread(median, mad=0.01):
    return {"median": median, "mad": mad}


class OfAFigure(unittest.TestCase):
    """Judges points by the claims of the figure that a subclass names."""

    def judge(self, points):
        claims = importlib.import_module(self.figure).CLAIMS
        return [claim.judge(list(points)) for claim in claims]

    def words(self, points):
        return [v.word for v in self.judge(points)]

    def word(self, points):
        return judging.whole(self.words(points))
