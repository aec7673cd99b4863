#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The claims of [GMT14]: table II with figure 2, table III, figures 5 and 6, and the latency of one
machine."""

import importlib
import unittest

from of_a_figure import OfAFigure, spread
from judging import FAILS, HOLDS, OPEN


def failing(words):
    return {i for i, word in enumerate(words) if word == FAILS}


class Bandwidth(OfAFigure):
    figure = "gmt14_2_bandwidth"

    def points(self, changed=None, cores=8, by="mpiexec.mpich"):
        """{(processes, threads, bytes): MB/s}, as in table II."""
        rates = {(1, 1, 16): 4.2, (1, 1, 128): 39, (1, 1, 65536): 2560, (1, 2, 16): 2.7,
                 (2, 1, 16): 8, **(changed or {})}
        return [{"by": by, "processes": p, "threads": t, "cores": cores, "bytes": size,
                 "mb_per_s": spread(rate)} for (p, t, size), rate in rates.items()]

    def test_holds_as_in_the_paper(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 4)
        self.assertIn("2560 with 64 KB, 610 ± 1 times", verdicts[0].number)

    def test_fails_where_one_part_does(self):
        for broken, parts in (({(1, 1, 65536): 30}, {0}), ({(1, 1, 128): 5}, {1}),
                              ({(1, 2, 16): 5}, {2}), ({(2, 1, 16): 4}, {3})):
            self.assertEqual(failing(self.words(self.points(broken))), parts, broken)
        other = self.points({(1, 1, 65536): 30}, by="mpiexec.openmpi")
        self.assertEqual(failing(self.words(self.points() + other)), {0})

    def test_is_open_without_points_or_cores(self):
        self.assertEqual(self.words([]), [OPEN] * 4)
        self.assertEqual(self.words([{"no_mpi": "none"}])[:2], [OPEN] * 2)
        self.assertEqual(self.words(self.points(cores=2)), [HOLDS, HOLDS, OPEN, OPEN])


class Switch(OfAFigure):
    figure = "gmt14_t3_switch"

    def points(self, changed=None, fibers=20):
        ns = {(1, 1): 30, (8, 1000): 8, (1024, 100): 9, (1024, 1000): 9, (1_000_000, 1): 90,
              **(changed or {})}
        tasks = [{"by": "tasks", "tasks": n, "switches": k, "ns": spread(x), "cycles": 3 * x}
                 for (n, k), x in ns.items()]
        return tasks + [{"by": "Boost.Fiber", "tasks": 8, "switches": 1000, "ns": spread(fibers),
                         "cycles": 3 * fibers}]

    def test_holds_as_claimed(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 5)
        self.assertIn("2.5 ± 0.0 to 2.5 ± 0.0 times as fast", verdicts[4].number)

    def test_fails_where_one_part_does(self):
        for broken, parts in (({(1, 1): 90}, {0}), ({(1024, 100): 11}, {1}),
                              ({(1024, 1000): 17}, {1, 2}), ({(1_000_000, 1): 300}, {3})):
            self.assertEqual(failing(self.words(self.points(broken))), parts, broken)
        self.assertEqual(failing(self.words(self.points(fibers=7))), {4})

    def test_is_open_without_points(self):
        self.assertEqual(self.words([]), [OPEN] * 5)
        missing = [p for p in self.points() if p["by"] == "tasks"] + [{"no_boost_fiber": "why"}]
        self.assertEqual(self.words(missing), [HOLDS] * 4 + [OPEN])

    def test_is_open_within_the_spread(self):
        close = self.points(fibers=8.01)
        self.assertEqual(self.words(close), [HOLDS] * 4 + [OPEN])

    def test_is_open_if_a_switch_is_less_than_the_noise(self):
        below_zero = self.words(self.points({(1_000_000, 1): -3}))
        self.assertEqual(below_zero, [HOLDS] * 3 + [OPEN, HOLDS])


class Latency(OfAFigure):
    figure = "gmt14_latency"

    def points(self, one=250, best=25, most=28, by_loop=9, by_hand=.9, in_cache=.95, short=.92):
        return [{"by": "loop", "ns_per_step": spread(250)},
                {"by": "hand", "interleaved": 32, "ns_per_step": spread(22), "by_loop": spread(11)},
                *({"by": "task in cache", "length": length, "ns_per_step": spread(15),
                   "by_loop": spread(x)} for length, x in ((40, short), (8192, in_cache))),
                *({"by": "tasks", "tasks": n, "ns_per_step": spread(ns), "by_loop": spread(loop),
                   "by_hand": spread(hand)}
                  for n, ns, loop, hand in ((1, one, 1, .1), (64, best, by_loop, by_hand),
                                            (256, most, by_loop - .5, by_hand - .1)))]

    def test_holds_as_claimed(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 6)
        self.assertIn("25.0 ns by 64: 10.0 ± 0.0 times", verdicts[0].number)
        self.assertIn("1.05 times", verdicts[4].number)

    def test_fails_where_one_part_does(self):
        for broken, parts in (({"one": 60}, {0}), ({"most": 60}, {1}), ({"by_loop": 7}, {2}),
                              ({"by_hand": .8}, {3}), ({"in_cache": .89}, {4}),
                              ({"short": .89}, {5})):
            self.assertEqual(failing(self.words(self.points(**broken))), parts, broken)
        self.assertEqual(self.words([]), [OPEN] * 6)

    def test_is_open_within_the_spread(self):
        for close, part in (({"one": 100.01}, 0), ({"most": 31.26}, 1), ({"by_loop": 8.005}, 2),
                            ({"by_hand": .845}, 3), ({"in_cache": .905}, 4), ({"short": .905}, 5)):
            words = self.words(self.points(**close))
            self.assertEqual([i for i, w in enumerate(words) if w != HOLDS], [part], close)
            self.assertEqual(words[part], OPEN)

    def test_is_open_over_a_table_that_the_last_cache_may_hold(self):
        loop, *others = self.points()
        for table, word in ((300e6, OPEN), (700e6, HOLDS)):
            loop.update({"table_bytes": table, "machine": {"l3_bytes": 315e6}})
            self.assertEqual(self.words([loop, *others]), [word] * 4 + [HOLDS] * 2)


class Puts(OfAFigure):
    figure = "gmt14_5_puts"
    where, ranks = "local", 2

    def point(self, size, tasks, rate, ranks=None, where=None):
        return {"where": where or self.where, "ranks": ranks or self.ranks, "bytes": size,
                "tasks": tasks, "mb_per_s": spread(rate), "puts_per_buffer": 100}

    def points(self, changed=None, ranks=None, where=None):
        rates = {(8, 0): 4, (8, 1): 1, (8, 4096): 90, (128, 0): 50, (128, 1): 10, (128, 4096): 1100,
                 **(changed or {})}
        return [self.point(*at, rate, ranks, where) for at, rate in rates.items()]

    def test_holds_as_claimed(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 4)
        self.assertIn("22.5 ± 0.1 times the 4.00 MB/s", verdicts[3].number)
        self.assertEqual(self.words([]), [OPEN] * 4)

    def test_fails_where_one_part_does(self):
        for broken, parts in (({(8, 1): 40}, {0}), ({(128, 4096): 200, (128, 0): 5}, {1}),
                              ({(8, 0): 30}, {2, 3}), ({(8, 0): 5}, {3})):
            self.assertEqual(failing(self.words(self.points(broken))), parts, broken)

    def test_is_open_within_the_spread(self):
        points = self.points({(8, 1): 22.4})
        for p in points:
            p["mb_per_s"]["mad"] = 0.07 * p["mb_per_s"]["median"]
        self.assertEqual(self.words(points)[0], OPEN, "4.0 ± 0.6 times")

    def test_the_plot_has_a_line_for_one_message_per_put(self):
        try:
            import plotting
        except ImportError as missing:
            self.skipTest(str(missing))
        plot = importlib.import_module(self.figure).PLOTS[0]
        curves = plotting.curves_of(plot.only(self.points()), plot)
        self.assertEqual([x for x, _, _ in curves["8 bytes"]][:2], [1, 4096])
        self.assertIn((None, 50, 0.01), curves["128 bytes, one message per put"])


class PutsToAll(Puts):
    figure = "gmt14_6_puts"

    def points(self, changed=None, simulated=None, spread_out=None):
        return [*super().points(changed), *super().points(simulated, 2, "simulated"),
                *super().points(spread_out, 128, "simulated")]

    def test_holds_as_claimed(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 4)
        self.assertIn("128 ranks, 8 bytes, 4096 tasks: 1.00", verdicts[2].number)
        self.assertEqual(self.words([]), [OPEN] * 4)

    def test_fails_where_one_part_does(self):
        for broken, parts in (({"changed": {(8, 1): 40}}, {0}), ({"simulated": {(8, 1): 40}}, {1}),
                              ({"spread_out": {(8, 4096): 40}}, {2}),
                              ({"spread_out": {(8, 0): 30}}, {3})):
            self.assertEqual(failing(self.words(self.points(**broken))), parts, broken)


if __name__ == "__main__":
    unittest.main()
