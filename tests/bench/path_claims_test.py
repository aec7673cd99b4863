#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The claims about shortest paths: [DC15] figures 1, 3, 4 and scaling."""

import importlib
import tempfile
import unittest
from pathlib import Path

from of_a_figure import OfAFigure, spread
from judging import FAILS, HOLDS, OPEN

CONTROL, DELTA, CHAOTIC = "distributed-control", "delta", "chaotic"
SORTED = "delta, sorted"


class Settings(OfAFigure):
    figure = "dc15_1_settings"

    def point(self, graph, where, setting, by, seconds, delta=16, scale=14, mad=.01,
              wasted=7):
        return {"graph": graph, "where": where, "ranks": 2, "setting": setting, "scale": scale,
                "by": by, "delta": delta, "seconds": spread(seconds, mad), "messages": 9,
                "buffers": 3, "overflow": 1, "useful": 100, "wasted": wasted, "buckets": 0}

    def points(self, changed=None, without=(), mad=.01):
        """As claimed: with the width 16 each order, with the best width too."""
        times = {("kronecker", "coalesced", CONTROL, 16): 1,
                 ("kronecker", "coalesced", DELTA, 16): 2,
                 ("kronecker", "alone", CONTROL, 16): 6, ("kronecker", "alone", DELTA, 16): 5,
                 ("kronecker", "alone", CONTROL, 0): 5.5, ("kronecker", "alone", CHAOTIC, 0): 5.4,
                 ("grid", "prompt", CONTROL, 16): 1, ("grid", "prompt", DELTA, 16): 2,
                 ("grid", "coalesced", CONTROL, 16): 3, ("grid", "coalesced", DELTA, 16): 2,
                 **(changed or {})}
        small = self.point("kronecker", "local", "coalesced", CONTROL, 99, scale=13)
        ordered = [self.point("kronecker", where, "coalesced", SORTED, 2, wasted=6)
                   for where in ("local", "simulated") if "coalesced" not in without]
        return [small, *ordered, *(self.point(graph, where, setting, by, s, width, mad=mad)
                         for (graph, setting, by, width), s in times.items()
                         for where in ("local", "simulated") if setting not in without)]

    def test_holds_if_each_setting_has_another_winner(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 7)
        self.assertIn("scale 14, 2 ranks: coalesced: 1000.00 ms, delta 2000.00 ms (2.00 times)",
                      verdicts[0].number)
        self.assertIn("0.07 wasted relaxations", verdicts[0].details)

    def test_fails_where_one_algorithm_always_wins(self):
        for broken, parts in (({("kronecker", "alone", CONTROL, 16): 4}, {0, 1, 2, 5}),
                              ({("kronecker", "alone", CONTROL, 0): 4}, {2, 5}),
                              ({("kronecker", "coalesced", DELTA, 16): .9}, {0, 1, 2}),
                              ({("grid", "prompt", DELTA, 16): .9}, {3, 4}),
                              ({("grid", "coalesced", DELTA, 16): 4}, {3, 4}),
                              ({("kronecker", "alone", CHAOTIC, 0): 9}, {5})):
            words = self.words(self.points(broken))
            # Where the fastest time with messages alone changes, so does what chaotic is judged by.
            self.assertEqual({i for i, w in enumerate(words) if w == FAILS}, parts, broken)

    def test_sorted_buffers_fail_where_they_waste_more(self):
        more = self.point("kronecker", "local", "coalesced", SORTED, 2, wasted=8)
        kept = [p for p in self.points() if p["by"] != SORTED]
        self.assertEqual(self.words([*kept, more])[6], FAILS)

    def test_is_open_within_the_spread_and_without_points(self):
        self.assertEqual(self.words(self.points(mad=.6))[:5], [OPEN] * 5)
        self.assertEqual(self.words([]), [OPEN] * 7)
        self.assertEqual(self.words(self.points(without=("alone",)))[:3], [OPEN] * 3)
        self.assertEqual(self.words(self.points(without=("prompt",)))[3:5], [OPEN] * 2)


class Buffers(OfAFigure):
    figure = "dc15_3_coalescing"

    def point(self, size, seconds, longest=255, graph="grid", ranks=2, where="local"):
        own = {} if size is None else {"bytes": size}
        return {"where": where, "graph": graph, "longest": longest, "ranks": ranks,
                "seconds": spread(seconds, .01 if where == "local" else 0), "useful": 10,
                "wasted": 5, **own}

    def compared(self, ratio, mad=.01, longest=255, graph="grid", ranks=2, where="local"):
        return {"where": where, "graph": graph, "longest": longest, "ranks": ranks,
                "best_bytes": 64, "choice": spread(ratio, mad)}

    def simulated(self, large=(1.2, .5), choice=.96, longest=255):
        """By default the larger size is slower on few ranks and scales better."""
        where = {"where": "simulated", "longest": longest}
        return [p for ranks, small, size in ((2, 1, large[0]), (8, .8, large[1]))
                for p in (self.point(64, small, ranks=ranks, **where),
                          self.point(1024, size, ranks=ranks, **where),
                          self.compared(choice, 0, ranks=ranks, **where))]

    def points(self, worst=1.2, choice=(.96,), **simulated):
        # One rank sends nothing.
        alone = [self.point(64, 1, ranks=1), self.point(1024, 1, ranks=1),
                 self.compared(.1, ranks=1)]
        return [*alone, self.point(64, 1), self.point(1024, worst), self.point(None, 1.04),
                self.compared(*choice), *self.simulated(**simulated)]

    def test_holds_if_the_size_matters_and_the_choice_is_close(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 5)
        self.assertIn("grid on 2 ranks 1.20 times from 64 to 1024 bytes", verdicts[0].number)
        self.assertIn("0.50 wasted relaxations", verdicts[0].details)
        self.assertIn("2.40 times as fast with 1024 bytes, 1.25 with 64", verdicts[4].number)

    def test_fails_where_one_part_does(self):
        for part, broken in ((0, {"worst": 1.05}), (1, {"large": (1.05, .5)}),
                             (2, {"choice": (.9,)}), (4, {"large": (1.2, 1.1)})):
            words = self.words(self.points(**broken))
            self.assertEqual([i for i, w in enumerate(words) if w == FAILS], [part], broken)
        behind = [self.compared(.9, 0, ranks=32, where="simulated")]
        self.assertEqual(self.words(self.points() + behind), [HOLDS] * 3 + [FAILS, HOLDS])
        for other in ({"graph": "kronecker"}, {"ranks": 4}):
            second = [self.point(64, 1, **other), self.point(256, 1, **other),
                      self.compared(.5, **other)]
            words = self.words(self.points() + second)
            self.assertEqual([i for i, w in enumerate(words) if w == FAILS], [0, 2], other)

    def test_a_choice_within_the_spread_decides_nothing(self):
        self.assertEqual(self.words(self.points(choice=(.9, .1)))[2], OPEN)
        self.assertEqual(self.words([]), [OPEN] * 5)
        few = [p for p in self.points() if p["where"] == "local" or p["ranks"] == 2]
        self.assertEqual(self.words(few), [HOLDS] * 4 + [OPEN])

    def test_the_plots_show_the_runtimes_choice(self):
        try:
            import plotting
        except ImportError as missing:
            self.skipTest(str(missing))
        for plot in importlib.import_module(self.figure).PLOTS:
            with tempfile.TemporaryDirectory() as folder:
                self.assertTrue(plotting.draw(self.points(), plot, Path(folder) / "p.svg"))


class Search(Buffers):
    figure = "dc15_4_bfs"

    def points(self, worst=1.2, choice=(.96,), best_of_paths=1024):
        other = 64 if best_of_paths == 1024 else 1024
        return [self.point(64, 1, 1), self.point(1024, worst, 1), self.point(best_of_paths, 1),
                self.point(other, 2), self.point(None, 1, 1), self.compared(*choice, longest=1),
                self.compared(.1), *self.simulated(longest=1)]

    def test_holds_if_the_size_matters_and_the_choice_is_close(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 5)
        self.assertIn("grid on 2 ranks: 64 bytes, with weights 1024, at which the search takes "
                      "1.20 times", verdicts[2].number)

    def test_fails_where_one_part_does(self):
        for broken, parts in (({"best_of_paths": 64}, [2]), ({"worst": 1.01}, [0, 2]),
                              ({"worst": 1.05}, [0, 2]), ({"choice": (.9,)}, [3])):
            words = self.words(self.points(**broken))
            self.assertEqual([i for i, w in enumerate(words) if w == FAILS], parts, broken)

    def test_a_choice_within_the_spread_decides_nothing(self):
        self.assertEqual(self.words(self.points(choice=(.9, .1)))[3], OPEN)
        self.assertEqual(self.words([]), [OPEN] * 5)
        plain = [p for p in self.points() if p["longest"] == 1]
        self.assertEqual(self.words(plain), [HOLDS, HOLDS, OPEN, HOLDS, HOLDS])


class PathScaling(OfAFigure):
    figure = "dc15_scaling"

    def point(self, where, ranks, seconds, messages=0, wasted=0, by=CONTROL):
        return {"where": where, "graph": "grid", "longest": 1, "bytes": 0, "by": by,
                "ranks": ranks, "seconds": spread(seconds), "messages": messages, "useful": 10,
                "wasted": wasted}

    def points(self, local=(2, 1), seconds=(4, 2, 3), messages=(1, 2, 3), wasted=(1, 0, 2),
               delta=(8, 7), chaotic=(4, 5)):
        ranks = (2, 8, 64)
        return [*(self.point("local", n, s) for n, s in zip((1, 2), local)),
                *(self.point("simulated", *p) for p in zip(ranks, seconds, messages, wasted)),
                *(self.point("simulated", n, s, by=DELTA) for n, s in zip((2, 64), delta)),
                *(self.point("simulated", n, 9, wasted=w, by=CHAOTIC)
                  for n, w in zip((2, 64), chaotic))]

    def test_holds_as_claimed(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 6)
        self.assertIn("grid, search, own size: fastest on 8 ranks, 2.0 times as fast as on 2",
                      verdicts[1].number)
        self.assertIn("2.0 on 2 ranks, 2.3 on 64 ranks", verdicts[4].number)
        self.assertIn("0.20 instead of 0.50 on 64 ranks", verdicts[5].number)
        self.assertEqual(self.words([]), [OPEN] * 6)

    def test_fails_where_one_part_does(self):
        for part, broken in ((5, {"chaotic": (4, 1)}), (0, {"local": (1, 1)}),
                             (1, {"seconds": (2, 2.5, 3), "delta": (4, 7)}),
                             (1, {"seconds": (4, 5, 3)}), (2, {"messages": (1, 3, 2)}),
                             (3, {"wasted": (3, 9, 2)}), (4, {"delta": (8, 5)})):
            words = self.words(self.points(**broken))
            self.assertEqual([i for i, w in enumerate(words) if w == FAILS], [part], broken)

    def test_ranks_that_were_not_measured_decide_nothing(self):
        points = self.points()
        next(p for p in points if p["where"] == "local" and p["ranks"] == 2)["ranks"] = 4
        verdict = self.judge(points)[0]
        self.assertEqual(verdict.word, OPEN)
        self.assertIn("one or two ranks were not measured", verdict.number)


if __name__ == "__main__":
    unittest.main()
