#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command hashmap: hashmap_test.py PATH_OF_CAIRN [unittest options]."""
import gzip
import itertools
import os
import sys
import unittest

import cli_test
from cli_test import InAFolder, cairn, report

SMALL = ["hashmap", "--strings", 5000, "--tasks", 60, "--steps", 50]
PLACES = (["--threads", 1], ["--threads", 2], ["--ranks", 2, "--threads", 1],
          ["--ranks", 3, "--threads", 2], ["--ranks", 2, "--threads", 1, "--progress", "thread"],
          ["--sim", "ranks=8,seed=3"])


class HashMap(InAFolder):
    def outcome(self, *options):
        o = report(*options, "--verify")
        self.assertIs(o["verified"], True)
        trial = o["result"]["trials"][-1]
        self.assertGreaterEqual(trial["found"], trial["stored"])
        return tuple(trial[k] for k in ("accesses", "stored", "entries_before", "entries_after",
                                        "checksum"))

    def test_the_outcome_does_not_depend_on_the_place(self):
        expected = self.outcome(*SMALL)
        self.assertEqual(expected[0], 3000)
        self.assertEqual(expected[2] + expected[1], expected[3])
        self.assertGreater(expected[1], 200)
        for place in PLACES:
            self.assertEqual(self.outcome(*SMALL, *place), expected, place)

    def test_the_number_of_concurrent_tasks_is_a_setting(self):
        expected = self.outcome(*SMALL)
        for options in (["--loop-tasks", 1], ["--loop-tasks", 7], ["--prefetching", 2]):
            self.assertEqual(self.outcome(*SMALL, *options), expected)
        def sent(*options):
            counters = report(*SMALL, "--ranks", 2, "--threads", 1, *options)["counters"]
            return counters["messages_sent"], counters["buffers_sent"]
        messages, buffers = sent()
        self.assertLess(buffers, messages / 2)
        self.assertEqual(sent("--loop-tasks", 1), (messages, messages))  # a message at a time

    def test_strings_of_a_file_plain_or_compressed(self):
        words = [f"word{i * i % 701}" for i in range(2000)] + ["a-word-of-more-than-20-characters"]
        lines = "\n".join(" ".join(words[i:i + 9]) for i in range(0, len(words), 9)).encode()
        files = self.file("t.txt", lines), self.file("t.txt.gz", gzip.compress(lines))
        outcomes = set()
        for file, place in itertools.product(files, PLACES):
            options = ["hashmap", file, "--tasks", 20, "--steps", 70, *place]
            outcomes.add(self.outcome(*options))
        self.assertEqual(len(outcomes), 1)
        o = report("hashmap", files[1])
        self.assertEqual(o["result"]["strings"], {"name": "t.txt.gz", "number": 2001, "cut": 1})
        o = report("hashmap", files[0], "--strings", 100)
        self.assertEqual((o["result"]["strings"]["number"], o["result"]["entries"]), (100, 10))

    def test_the_report_has_the_contract_s_keys(self):
        o = report(*SMALL, "--trials", 3, "--threads", 1)
        self.assertLessEqual({"command", "graph", "settings", "machine", "ranks", "threads",
                              "seconds", "teps", "result", "counters", "counters_load",
                              "counters_verify", "verified", "version"}, set(o))
        self.assertEqual((o["command"], o["graph"], o["verified"]), ("hashmap", None, None))
        self.assertEqual(len(o["seconds"]["run"]), 3)
        self.assertEqual(len(o["result"]["trials"]), 3)
        self.assertGreater(o["result"]["accesses_per_second"], 0)
        self.assertGreater(o["seconds"]["build"], 0)

    def test_counters_are_of_the_trials_alone(self):
        o = report(*SMALL, "--ranks", 2, "--threads", 1, "--verify")
        trial = o["result"]["trials"][0]
        asked = trial["accesses"] + trial["found"]
        self.assertLess(o["counters"]["messages_sent"], 2 * asked)
        self.assertGreater(o["counters"]["messages_sent"], asked / 2)
        self.assertGreater(o["counters_load"]["messages_sent"], 0)

    def test_several_seeds_are_one_array(self):
        last = 2**64 - 1
        self.assertIsInstance(report(*SMALL, "--sim", f"ranks=2,seed={last}"), dict)
        self.assertEqual(len(report(*SMALL, "--sim", f"ranks=2,seed={last - 1}..{last}")), 2)
        all_of_them = report(*SMALL, "--sim", "ranks=3,seed=1..4", "--verify")
        self.assertEqual([o["verified"] for o in all_of_them], [True] * 4)
        self.assertEqual(len({o["result"]["trials"][0]["stored"] for o in all_of_them}), 1)

    def test_people_get_strings_entries_and_rate(self):
        run = cairn(*SMALL, "--verify", "--stats", "--ranks", 2, "--threads", 1)
        for word in ("5,000, generated", "60 of 50 steps", "entries", "found", "time", "rate",
                     "verified     yes", "messages_sent"):
            self.assertIn(word, run.stdout)
        run = cairn(*SMALL, "--quiet")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    def test_another_seed_gives_other_strings(self):
        def messages(seed):  # as many as have another rank as their owner
            o = report(*SMALL, "--seed", seed, "--ranks", 2, "--threads", 1)
            return o["counters"]["messages_sent"]
        self.assertEqual(messages(2), messages(2))
        self.assertNotEqual(messages(2), messages(3))

    def test_options_are_refused_in_one_sentence(self):
        text = self.file("t.txt", "one two three\n")
        for options, saying in (
                (["--entries", 6, "--strings", 5], "more than the 5 strings of the pool"),
                (["--tasks", 0], "--tasks"), (["--steps", 0], "--steps"),
                (["--strings", -1], "not an integer"),
                (["--tasks", 2**40, "--steps", 2**40], "not below 2^63"),
                (["--routing", "direct"], "--routing"), (["--mechanism", "htm"], "--mechanism"),
                (["--strings", 10**12, "--entries", 10**12], "of memory, but"),
                ([text, "--seed", 3], "--seed has no effect here"),
                ([text, "--strings", 4], "more than the 3 words of t.txt"),
                ([self.folder / "none.txt"], "cannot be opened"),
                ([self.folder], "is a directory")):
            self.refused("hashmap", *options, saying=saying)

    def test_ill_formed_files_are_refused_in_one_sentence_on_all_ranks(self):
        whole = gzip.compress(b"some words of a text\n" * 1000)
        for name, content, saying in (
                ("a.txt", b"one\ntwo \x00\n", "a.txt:2: expected text"),
                ("b.txt", b" \n \n", "contains no word"),
                ("c.txt", b"", "c.txt"),
                ("d.txt.gz", whole[:-20], "ends too early"),
                ("e.txt.gz", b"no gzip\n", "e.txt.gz"),
                ("f.txt", b"\x7fELF\x02\x01\x01", "f.txt:1: expected text")):
            file = self.file(name, content)
            for place in ([], ["--ranks", 3, "--threads", 1], ["--sim", "ranks=3"]):
                self.refused("hashmap", file, *place, saying=saying)

    def test_a_line_may_be_long(self):
        text = b"".join(b"%d " % i for i in range(200_000))
        self.assertGreater(len(text), 2**20)
        for name, content in (("t.txt", text), ("t.txt.gz", gzip.compress(text, 1))):
            o = report("hashmap", self.file(name, content), "--tasks", 10, "--steps", 5)
            self.assertEqual(o["result"]["strings"]["number"], 200_000, name)

    def test_a_time_limit_ends_it_on_all_ranks(self):
        for place in (["--threads", 2], ["--ranks", 2, "--threads", 1]):
            run = cairn("hashmap", "--strings", 1000, "--steps", 10**12, "--timeout", 0.3, *place)
            self.assertEqual((run.returncode, run.stdout), (124, ""), run.stderr)
            self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)


if __name__ == "__main__":
    cli_test.CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
