#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The claims about ranks: [AAM15] figures 5c to i, 7c to e, scaling; and reading points."""

import importlib
import tempfile
import unittest
from pathlib import Path

from of_a_figure import OfAFigure, judging, spread
from judging import FAILS, HOLDS, OPEN


class Remote(OfAFigure):
    figure = "aam15_5_remote"

    def points(self, alone=(.4,), coalesced=(2,), many=(3,)):
        """Marks as claimed, and increments with these ratios."""
        return [{"work": work, "ranks": ranks, "messages": c, "ratio": spread(*ratio)}
                for work, ranks, c, ratio in (
                    ("mark", 2, 64, (5,)), ("mark", 2, 1, (.5,)), ("mark", 2, 4, (1.2,)),
                    ("mark", 4, 64, (6,)), ("increment", 2, 1, alone),
                    ("increment", 2, 64, coalesced), ("increment", 4, 64, many))]

    def test_holds_if_messages_alone_lose_and_coalesced_ones_win(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS, HOLDS])
        self.assertIn("faster from C = 4, 5.0 times at C = 64", verdicts[0].number)

    def test_fails_where_one_part_does(self):
        for broken in ({"alone": (1.3,)}, {"coalesced": (.9,)}, {"many": (.9,)},
                       {"coalesced": (1.1, .2)}):
            self.assertEqual(self.words(self.points(**broken)), [HOLDS, FAILS], broken)

    def test_is_open_without_mpi_cores_or_messages_alone(self):
        few_cores = [{**p, "cores": 2} for p in self.points(many=(.9,))]
        self.assertEqual(self.words(few_cores), [OPEN, OPEN])
        self.assertIn("0.90 times with 3 ranks sending to one, which 2 cores do not decide",
                      self.judge(few_cores)[1].number)
        self.assertEqual([v.number for v in self.judge([{"no_mpi": "there is none"}])],
                         ["there is none"] * 2)
        self.assertEqual(self.words([]), [OPEN, OPEN])
        self.assertEqual(self.words(p for p in self.points() if p["messages"] != 1), [OPEN, OPEN])


class HashMap(OfAFigure):
    figure = "gmt14_10_hash_map"

    def points(self, alone=3, together=1.2, few=2, lines=(100, 300), mad=0.01, more=2):
        """Times of MPI over those of tasks, of 64 tasks over those of 1,024, source lines, and the
        time of 2 simulated ranks over that of 8."""
        points = [{"task_lines": lines[0], "mpi_lines": lines[1]}]
        points += [{"where": "simulated", "ranks": ranks, "tasks": 16384, "steps": 64,
                    "accesses": 1000, "seconds": spread(seconds, 0)}
                   for ranks, seconds in ((2, more), (8, 1))]
        for ranks in (1, 2):
            for tasks, time in ((64, few), (1024, 1), (16384, 1)):
                points.append({"where": "local", "ranks": ranks, "tasks": tasks, "steps": 64,
                               "accesses": 1000, "entries": 100, "strings": 1000,
                               "seconds": spread(time, mad),
                               "alone_seconds": spread(alone if tasks > 64 else 1, mad),
                               "alone": spread(alone if tasks > 64 else .5, mad),
                               "together_seconds": spread(together if tasks > 64 else 1, mad),
                               "together": spread(together if tasks > 64 else .5, mad)})
        return points

    def test_holds_as_the_paper_has_it(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 5)
        self.assertIn("3.00 with 1024 tasks of 64 steps on 2 ranks", verdicts[0].number)
        self.assertIn("3.0 times", verdicts[4].number)

    def test_fails_where_one_part_does(self):
        for broken, number in (({"alone": 1.9}, 0), ({"together": .9}, 1),
                               ({"few": 1.1}, 2), ({"more": .9}, 3), ({"lines": (100, 199)}, 4)):
            self.assertEqual(self.words(self.points(**broken))[number], FAILS, broken)

    def test_is_open_without_mpi_or_several_ranks(self):
        self.assertEqual(self.words([]), [OPEN] * 5)
        one = [p for p in self.points() if p.get("ranks") != 2]
        self.assertEqual(self.words(one), [OPEN] * 4 + [HOLDS])
        without = [{k: v for k, v in p.items() if k not in ("alone", "together")}
                   for p in self.points()]
        self.assertEqual(self.words(without), [OPEN, OPEN, HOLDS, HOLDS, HOLDS])

    def test_is_open_within_the_spread(self):
        self.assertEqual(self.words(self.points(together=1.1, mad=.2))[:2], [HOLDS, OPEN])


class Distributed(OfAFigure):
    figure = "aam15_5i_distributed"

    def points(self, seconds=(1, 2, 9, 20), lost=0, refuse=True, end=True, restarts=8):
        """seconds of few with 1 and 3 remote elements, then of many."""
        keys = ((1000, 1), (1000, 3), (10000, 1), (10000, 3))
        return [*({"transactions": x, "local": 4 + remote, "remote": remote, "restarts": 7,
                   "seconds": spread(s), "expected": 2 * x, "commits": 2 * x - lost}
                  for (x, remote), s in zip(keys, seconds)),
                {"back_off": False, "ranks": 2, "turns": 1000, "ended": not refuse},
                {"back_off": True, "ranks": 2, "turns": 30, "ended": end},
                {"chain": 8, "expected": 100, "commits": 100, "restarts": int(100 * restarts)}]

    def test_holds_as_the_paper_has_it(self):
        self.assertEqual(self.words(self.points()), [HOLDS] * 3)
        self.assertEqual(self.words(self.points(restarts=9.5)), [HOLDS] * 3)
        self.assertEqual(self.words(self.points()[1:]), [OPEN, HOLDS, HOLDS])
        self.assertEqual(self.words([]), [OPEN] * 3)

    def test_fails_where_one_part_does(self):
        for part, broken in ((0, {"seconds": (1, 2, 9, 9)}), (0, {"seconds": (1, 2, 1, 20)}),
                             (0, {"lost": 1}), (1, {"refuse": False}), (1, {"end": False}),
                             (2, {"restarts": 17}), (2, {"restarts": 1})):
            words = self.words(self.points(**broken))
            self.assertEqual([i for i, w in enumerate(words) if w == FAILS], [part], broken)


class PageRank(OfAFigure):
    figure = "aam15_7_pagerank"

    def point(self, alone, ranks=2):
        p = {"ranks": ranks, "threads": 1, "vertices": 4096, "seconds": spread(1 / alone),
             "pull": spread(.7)}
        return {**p, "alone": spread(alone, .1)} if ranks > 1 else p

    def test_holds_if_each_point_of_several_ranks_gains_threefold(self):
        self.assertEqual(self.word([self.point(3.5), self.point(9)]), HOLDS)
        lost = self.judge([self.point(9), self.point(2.5)])[0]
        self.assertEqual(lost.word, FAILS)
        self.assertIn("2.5 ± 0.1 times", lost.number)
        self.assertEqual(self.word([self.point(9), self.point(3.05)]), OPEN)
        split = self.judge([self.point(3.5), self.point(20, ranks=1)])[0]
        self.assertEqual(split.word, HOLDS)
        self.assertIn("a second with 1 ranks", split.details)
        self.assertEqual(self.word([self.point(20, ranks=1)]), OPEN)


class Scaling(OfAFigure):
    figure = "scaling"

    def counted(self, messages=(7, 90, 3), buffers=100):
        return {"job": "bfs", "real_ranks": 4, "messages": [7, 90, 3], "buffers": 100,
                "simulated_messages": list(messages), "simulated_buffers": buffers}

    def setting(self, name, measured, predicted, mad=.01, job="bfs"):
        return {"job": job, "setting": name, "measured": spread(measured, mad),
                "predicted": predicted}

    def test_holds_if_counts_agree_and_settings_are_ranked_as_measured(self):
        verdict = self.judge([self.counted(buffers=109), self.setting("a", 1, 5),
                              self.setting("b", 2, 6), self.setting("c", 3, 60),
                              {"ranks": 256, "seconds": spread(1)}])[0]
        self.assertEqual(verdict.word, HOLDS)
        self.assertIn("at most 9.0 % off, 3 pairs", verdict.number)

    def test_fails_where_one_part_does(self):
        a, b = self.setting("a", 1, 5), self.setting("b", 2, 6)
        for broken in (self.counted((7, 91, 3)), self.counted((7, 90)), self.counted(buffers=111),
                       self.counted(buffers=89)):
            self.assertEqual(self.word([broken, a, b]), FAILS)
        wrong = self.judge([self.counted(), a, self.setting("b", 2, 4)])[0]
        self.assertEqual(wrong.word, FAILS)
        self.assertIn("bfs: a beats b", wrong.details)

    def test_tells_no_settings_apart_that_may_be_equal(self):
        for a, b in (((1, 5), (1.05, 4)), ((1, 5, .3), (2, 4, .3)),
                     ((1, 5), (2, 4, .01, "pagerank"))):
            points = [self.counted(), self.setting("a", *a), self.setting("b", *b)]
            self.assertEqual(self.word(points), OPEN)
        self.assertEqual(self.word([self.setting("a", 1, 5), self.setting("b", 2, 6)]), OPEN)

    def sends(self, routing, receivers, ranks=16):
        rows = [[7 * (0 < (to - of) % ranks <= receivers) for to in range(ranks)]
                for of in range(ranks)]
        return {"job": "bfs", "routing": routing, "bytes_between": rows}

    def test_a_grid_has_fewer_receivers(self):
        for grid, direct, word in ((12, 15, HOLDS), (13, 15, FAILS), (9, 14, FAILS)):
            judged = self.judge([self.sends("grid", grid), self.sends("direct", direct)])[1]
            self.assertEqual(judged.word, word, (grid, direct))
        self.assertIn("direct 14, grid 9", judged.number)
        self.assertEqual(self.judge([self.sends("grid", 5)])[1].word, OPEN)

    def test_the_matrix_is_drawn(self):
        try:
            import plotting
        except ImportError as missing:
            self.skipTest(str(missing))
        plot = importlib.import_module(self.figure).PLOTS[-1]
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "m.svg"
            points = [self.sends("grid", 5), self.sends("direct", 15), self.counted()]
            self.assertTrue(plotting.draw(points, plot, target))
            self.assertEqual(target.read_text().count("<image"), 4)  # two pictures, two scales
            self.assertFalse(plotting.draw([self.counted()], plot, target))


class Reading(unittest.TestCase):
    def test_takes_the_last_finished_sweep(self):
        points, last = judging.last_sweep("""{"figure": "a", "grain": 1}
{"figure": "a", "points": 1}
{"figure": "b", "grain": 2}
{"kernel": "bfs"}
{"figure": "a", "grain": 9}
{"figure": "a", "grain": 3}
{"figure": "a", "grain": 4}
{"figure": "a", "points": 2, "commit": "c"}
{"figure": "a", "grain": 5}""".splitlines(), "a")
        self.assertEqual([p["grain"] for p in points], [3, 4], "9 was interrupted")
        self.assertEqual(last["commit"], "c")
        with self.assertRaises(judging.Unfinished):
            judging.last_sweep(['{"figure": "a", "grain": 1}'], "a")

    def test_an_incomplete_line_spoils_its_sweep_only(self):
        damaged = ['{"figure": "a", "grain": 1}', '{"figure": "a", "gr{"figure": "a", "grain": 2}',
                   '{"figure": "a", "grain": 3}', '{"figure": "a", "points": 2}']
        with self.assertRaises(judging.Unfinished):
            judging.last_sweep(damaged, "a")
        later = ['{"figure": "a", "grain": 4}', '{"figure": "a", "points": 1}', '{"figure"', "3"]
        self.assertEqual([p["grain"] for p in judging.last_sweep(damaged + later, "a")[0]], [4])

    def test_a_figure_fails_if_a_part_does_and_holds_if_all_do(self):
        self.assertEqual(judging.whole([HOLDS, OPEN, FAILS]), FAILS)
        self.assertEqual(judging.whole([HOLDS, OPEN]), OPEN)
        self.assertEqual(judging.whole([HOLDS, HOLDS]), HOLDS)


if __name__ == "__main__":
    unittest.main()
