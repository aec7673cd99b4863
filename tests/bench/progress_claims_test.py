#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The claims about progress: [DC15] figure 2."""

import unittest

from of_a_figure import OfAFigure, spread
from judging import FAILS, HOLDS, OPEN


class Progress(OfAFigure):
    figure = "dc15_2_progress"

    def points(self, changed=None, choice=None, mad=.01, idle=1e-6):
        """{(case, handler_ns, busy_ns): speed of a thread by that of polling}, and
        {the same: speed of the online choice by that of the better style}."""
        by_poll = {("round trips", 0, 0): 1, ("round trips", 0, 10 ** 5): 20,
                   ("round trips", 0, 10 ** 6): 100, ("round trips", 10 ** 4, 10 ** 7): 900,
                   ("exchange", 0, 0): .25, ("exchange", 10 ** 4, 0): 1.9, **(changed or {})}
        found = []
        for (case, handler_ns, busy_ns), ratio in by_poll.items():
            at = {"case": case, "handler_ns": handler_ns, "busy_ns": busy_ns, "by_thread": .4}
            by_better = (choice or {}).get((case, handler_ns, busy_ns), .97)
            found += [{**at, "style": "poll", "seconds": spread(idle)},
                      {**at, "style": "thread", "seconds": spread(1),
                       "by_poll": spread(ratio, mad)},
                      {**at, "style": "auto", "seconds": spread(1), "by_poll": spread(1),
                       "by_better": spread(by_better, mad)}]
        return found

    def paths(self, thread=(2, 12), auto=.97, slow=2):
        """Shortest paths; speed by thread on the fewest and the most simulated ranks, of auto by
        that of the better style, and time of the slowest style, on local ranks."""
        local = {"where": "local", "graph": "grid", "ranks": 2}
        return [{**local, "ranks": 1, "style": "poll", "seconds": spread(1)},
                {**local, "style": "poll", "seconds": spread(1)},
                {**local, "style": "auto", "seconds": spread(1), "by_poll": spread(1),
                 "by_better": spread(auto)},
                {**local, "style": "thread", "seconds": spread(slow), "by_poll": spread(1 / slow)},
                *({"where": "simulated", "graph": "grid", "ranks": ranks, "style": "thread",
                   "seconds": spread(1), "by_poll": spread(gain, 0)}
                  for ranks, gain in zip((2, 64), thread))]

    def test_holds_for_shortest_paths(self):
        verdicts = self.judge(self.paths())
        self.assertEqual([v.word for v in verdicts], [OPEN] * 4 + [HOLDS] * 3)
        self.assertIn("grid on 2 ranks 2.00 times from poll to thread", verdicts[4].number)
        self.assertIn("2.00 times on 2 ranks, 12.00 times on 64 ranks", verdicts[6].number)

    def test_fails_for_shortest_paths_where_one_part_does(self):
        for broken, part in (({"slow": 1.05}, 4), ({"auto": .8}, 5), ({"thread": (2, 9)}, 6),
                             ({"thread": (13, 12)}, 6)):
            words = self.words(self.paths(**broken))
            self.assertEqual([i for i, w in enumerate(words) if w == FAILS], [part], broken)

    def test_holds_if_each_style_wins_somewhere_and_the_choice_finds_it(self):
        verdicts = self.judge(self.points())
        self.assertEqual([v.word for v in verdicts], [HOLDS] * 4 + [OPEN] * 3)
        self.assertIn("at least 100 times (round trips, answers of 0 us, polls every 1 ms)",
                      verdicts[0].number)
        self.assertIn("a thread wins 4, at most 900 times", verdicts[1].number)
        self.assertIn("polling 1, at most 4 times (exchange, answers of 0 us, no computing)",
                      verdicts[1].number)
        self.assertIn("in 5 of 5 cases", verdicts[3].number)

    def test_fails_where_one_part_does(self):
        for changed, parts in (({("round trips", 0, 10 ** 6): 9}, {0}),
                               ({("exchange", 0, 0): 1}, {1, 2}),
                               ({("exchange", 0, 0): 1.5, ("round trips", 0, 0): .5}, {2})):
            words = self.words(self.points(changed))
            self.assertEqual({i for i, w in enumerate(words) if w == FAILS}, parts, changed)

    def test_the_choice_fails_where_styles_differ(self):
        lost = self.judge(self.points(choice={("round trips", 0, 10 ** 5): .05}))
        self.assertEqual([v.word for v in lost], [HOLDS] * 3 + [FAILS] + [OPEN] * 3)
        self.assertIn("in 4 of 5 cases; round trips, answers of 0 us, polls every 100 us: 20 times "
                      "the time, 40 % of the answers by the thread", lost[3].number)
        alike = self.words(self.points(choice={("round trips", 0, 0): .5}))
        self.assertEqual(alike, [HOLDS] * 4 + [OPEN] * 3)

    def test_is_open_within_the_spread_and_without_points(self):
        near = self.points(choice={("exchange", 0, 0): .9}, mad=.05)
        self.assertEqual(self.words(near), [HOLDS] * 3 + [OPEN] * 4)
        self.assertEqual(self.words([]), [OPEN] * 7)

    def test_is_open_if_other_programs_took_the_cores(self):
        verdicts = self.judge(self.points(idle=4e-3))
        self.assertEqual([v.word for v in verdicts], [OPEN] * 7)
        self.assertIn("a rank that only waits took 4000 us", verdicts[0].number)


if __name__ == "__main__":
    unittest.main()
