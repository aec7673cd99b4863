#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The claims about programs over global arrays: [GMT14] figures 7 to 11."""

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

    def points(self, weak=(1, 1, 1, 1), strong=(4, 2, 1.5, 1.4), dense=(1, 1), mpi=3, lines=None):
        """By default as claimed; seconds on 2, 4, 8 and 16 simulated ranks."""
        points = [{"costs": {}, **LINES, **(lines or {})}]
        for scaling, degree, seconds in (("weak", 32, weak), ("strong", 32, strong),
                                         ("weak", 4000, dense)):
            for i, s in enumerate(seconds):
                ranks = 2 << i
                edges = 1000 * (ranks if scaling == "weak" else 8)
                points.append({"where": "simulated", "scaling": scaling, "degree": degree,
                               "ranks": ranks, "edges": edges, "seconds": spread(s, 0)})
            for ranks in (1, 2):
                local = {"where": "local", "scaling": scaling, "degree": degree, "ranks": ranks,
                         "edges": 1000, "seconds": spread(2), "cairn_seconds": spread(1)}
                if mpi:
                    local["mpi_seconds"] = spread(mpi if ranks > 1 else .5)
                    local["mpi"] = spread(local["mpi_seconds"]["median"] / 2)
                points.append(local)
        return points

    def test_holds_as_the_paper_has_it(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 4)
        self.assertIn("degree 4,000: from 2 to 4 ranks the rate of a rank falls to 1.00 of what it "
                      "was", verdicts[0].number)
        self.assertIn("1.50 to 1.50 times", verdicts[2].number)

    def test_fails_where_a_part_is_broken(self):
        for broken, part in (({"weak": (1, 1, 1, 3)}, 0), ({"weak": (1, 2.1, 2, 2)}, 0),
                             ({"dense": (1, 3)}, 0),
                             ({"weak": (1, 1.4, 1.8, 2.2)}, 0), ({"strong": (4, 4, 4, 4)}, 1),
                             ({"strong": (4, 2, 1, .5)}, 1), ({"mpi": 1.9}, 2),
                             ({"lines": {"task_lines": 301}}, 3)):
            words = self.words(self.points(**broken))
            self.assertEqual({i for i, w in enumerate(words) if w == FAILS}, {part}, broken)

    def test_is_open_without_points_and_without_mpi(self):
        self.assertEqual(self.words([]), [OPEN] * 4)
        self.assertEqual(self.words(self.points(mpi=None))[2], OPEN)
        few = self.points(weak=(1,), strong=(1, 1), dense=())
        self.assertEqual(self.words(few)[:2], [OPEN] * 2)

    def test_few_vertices_are_not_judged(self):
        many = {"where": "simulated", "scaling": "weak", "degree": 32, "ranks": 1024, "edges": 1000,
                "seconds": spread(9, 0), "small": True}
        self.assertEqual(self.words([*self.points(), many]), self.words(self.points()))

    def test_is_drawn(self):
        self.drawn(self.points(), 4)


class Walks(DrawnFigure):
    figure = "gmt14_9_walks"

    def points(self, tasks=1., cairn=.1, mpi=2., mad=.01, simulated=(1., 1.5), **lines):
        return [{**LINES, **lines},
                *({"where": "local", "ranks": ranks, "edges": 1000, "seconds": spread(tasks, mad),
                   "cairn_seconds": spread(cairn, mad),
                   **({"mpi_seconds": spread(mpi if ranks > 1 else .01, mad),
                       "mpi": spread(mpi / tasks, mad), "mpi_by_cairn": spread(mpi / cairn, mad)}
                      if mpi else {})}
                  for ranks in (1, 2, 4)),
                *({"where": "simulated", "ranks": ranks, "edges": 1000 * ranks,
                   "seconds": spread(s, 0), "cairn_seconds": spread(s, 0)}
                  for ranks, s in zip((2, 32), simulated))]

    def test_holds_as_the_paper_has_it(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 4)
        self.assertIn("2.00 on 2 ranks, 2.00 on 4 ranks", verdicts[0].number)
        self.assertIn("10.0 times", verdicts[2].number)

    def test_fails_where_a_part_is_broken(self):
        for broken, parts in (({"tasks": 2.5}, {0}), ({"cairn": 2.5}, {1}),
                              ({"task_lines": 61}, {2}), ({"simulated": (1., 2.5)}, {3})):
            words = self.words(self.points(**broken))
            self.assertEqual({i for i, w in enumerate(words) if w == FAILS}, parts, broken)

    def test_is_open_without_points_and_without_mpi(self):
        self.assertEqual(self.words([]), [OPEN] * 4)
        self.assertEqual(self.words(self.points(mpi=None))[:2], [OPEN] * 2)
        self.assertEqual(self.words(self.points(mad=1.5))[:2], [OPEN, HOLDS])
        self.assertEqual(self.words(self.points(simulated=(1.,)))[3], OPEN)

    def test_few_vertices_are_not_judged(self):
        many = {"where": "simulated", "ranks": 1024, "edges": 1000,
                "seconds": spread(9, 0), "small": True}
        self.assertEqual(self.words([*self.points(), many]), self.words(self.points()))

    def test_is_drawn(self):
        self.drawn(self.points(), 5)


class HashMap(DrawnFigure):
    figure = "gmt14_10_hash_map"

    def point(self, where, ranks, tasks, seconds, **more):
        return {"where": where, "ranks": ranks, "tasks": tasks, "steps": 64, "strings": 100,
                "entries": 10, "accesses": 1000 * tasks, "seconds": seconds, **more}

    def points(self, alone=3., together=2., few=.1, simulated=(2., 1.), mpi=True, **lines):
        by_hand = {"alone_seconds": spread(alone), "together_seconds": spread(together),
                   "alone": spread(alone), "together": spread(together)}
        return [{**LINES, **lines},
                *(self.point("local", ranks, tasks, spread(s), **(by_hand if mpi else {}))
                  for ranks in (1, 2) for tasks, s in ((64, few), (1024, 1.))),
                *(self.point("simulated", ranks, 1024, spread(s, 0))
                  for ranks, s in zip((2, 32), simulated))]

    def test_holds_as_the_paper_has_it(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 5)
        self.assertEqual("a map of 10 entries, 100 strings", verdicts[0].details)

    def test_fails_where_a_part_is_broken(self):
        for broken, part in (({"alone": 1.9}, 0), ({"together": .9}, 1), ({"few": .07}, 2),
                             ({"simulated": (1., 1.)}, 3), ({"task_lines": 301}, 4)):
            words = self.words(self.points(**broken))
            self.assertEqual({i for i, w in enumerate(words) if w == FAILS}, {part}, broken)

    def test_is_open_without_points_and_without_mpi(self):
        self.assertEqual(self.words([]), [OPEN] * 5)
        self.assertEqual(self.words(self.points(mpi=False))[:2], [OPEN] * 2)
        self.assertEqual(self.words(self.points(simulated=(1.,)))[3], OPEN)

    def test_says_why_the_map_is_smaller(self):
        verdict = self.judge([{"shrunk": "10 instead of 100"}, *self.points()])[0]
        self.assertIn("the memory is too small: 10 instead of 100", verdict.details)

    def test_is_drawn(self):
        self.drawn(self.points(), 3)


if __name__ == "__main__":
    unittest.main()
