#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The claims about programs over global arrays: [GMT14] figures 7 to 9."""

import importlib
import tempfile
import unittest
from pathlib import Path

from of_a_figure import OfAFigure, spread
from judging import FAILS, HOLDS, OPEN

LINES = {"task_lines": 60, "mpi_lines": 600}


class DrawnFigure(OfAFigure):
    def drawn(self, points, curves):
        try:
            import plotting
        except ImportError as missing:
            self.skipTest(str(missing))
        plot = importlib.import_module(self.figure).PLOTS[0]
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "p.svg"
            self.assertTrue(plotting.draw(points, plot, target))
            self.assertEqual(len(plot.curves), curves)


class Search(DrawnFigure):
    figure = "gmt14_7_bfs"

    def points(self, weak=(1, 1, 1, 1), strong=(4, 2, 1.5, 1.4), mpi=3, lines=None):
        """By default as claimed; seconds on 2, 4, 8 and 16 simulated ranks."""
        points = [{"costs": {}, **LINES, **(lines or {})}]
        for scaling, seconds in (("weak", weak), ("strong", strong)):
            for i, s in enumerate(seconds):
                ranks = 2 << i
                edges = 1000 * (ranks if scaling == "weak" else 8)
                points.append({"where": "simulated", "scaling": scaling, "ranks": ranks,
                               "edges": edges, "seconds": spread(s, 0)})
            for ranks in (1, 2):
                local = {"where": "local", "scaling": scaling, "ranks": ranks, "edges": 1000,
                         "seconds": spread(2), "cairn_seconds": spread(1)}
                if mpi:
                    local["mpi_seconds"] = spread(mpi if ranks > 1 else .5)
                points.append(local)
        return points

    def test_holds_as_the_paper_has_it(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 4)
        self.assertIn("1.00 of what it was", verdicts[0].number)
        self.assertIn("1.50 to 1.50 times", verdicts[2].number)

    def test_fails_where_a_part_is_broken(self):
        for broken, part in (({"weak": (1, 1, 1, 3)}, 0), ({"weak": (1, 2.1, 2, 2)}, 0),
                             ({"weak": (1, 1.4, 1.8, 2.2)}, 0), ({"strong": (4, 4, 4, 4)}, 1),
                             ({"strong": (4, 2, 1, .5)}, 1), ({"mpi": 1.9}, 2),
                             ({"lines": {"task_lines": 301}}, 3)):
            words = self.words(self.points(**broken))
            self.assertEqual({i for i, w in enumerate(words) if w == FAILS}, {part}, broken)

    def test_is_open_without_points_and_without_mpi(self):
        self.assertEqual(self.words([]), [OPEN] * 4)
        self.assertEqual(self.words(self.points(mpi=None))[2], OPEN)
        self.assertEqual(self.words(self.points(weak=(1,), strong=(1, 1)))[:2], [OPEN] * 2)

    def test_is_drawn(self):
        self.drawn(self.points(), 3)


class Walks(DrawnFigure):
    figure = "gmt14_9_walks"

    def points(self, tasks=1., cairn=.1, mpi=2., mad=.01, **lines):
        return [{**LINES, **lines},
                *({"ranks": ranks, "edges": 1000, "seconds": spread(tasks, mad),
                   "cairn_seconds": spread(cairn, mad),
                   **({"mpi_seconds": spread(mpi if ranks > 1 else .01, mad)} if mpi else {})}
                  for ranks in (1, 2, 4))]

    def test_holds_as_the_paper_has_it(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 3)
        self.assertIn("2.00 on 2 ranks, 2.00 on 4 ranks", verdicts[0].number)
        self.assertIn("10.0 times", verdicts[2].number)

    def test_fails_where_a_part_is_broken(self):
        for broken, parts in (({"tasks": 2.5}, {0}), ({"cairn": 2.5}, {1}), ({"mad": 1.5}, {0, 1}),
                              ({"task_lines": 61}, {2})):
            words = self.words(self.points(**broken))
            self.assertEqual({i for i, w in enumerate(words) if w == FAILS}, parts, broken)

    def test_is_open_without_points_and_without_mpi(self):
        self.assertEqual(self.words([]), [OPEN] * 3)
        self.assertEqual(self.words(self.points(mpi=None))[:2], [OPEN] * 2)

    def test_is_drawn(self):
        self.drawn(self.points(), 3)


if __name__ == "__main__":
    unittest.main()
