#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ids, orders and conversion: input_test.py PATH_OF_CAIRN [unittest options]."""
import json
import os
import pty
import re
import subprocess
import sys
import threading
import time
import unittest

import cli_test
from cli_test import LAUNCHERS, InAFolder, cairn, report, under_mpi

MATRIX = "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 2\n2 1\n3 1\n"
ORDERS = ("file", "degree", "hash", "random")


class Ids(InAFolder):
    def rows(self, name, *arguments):
        out = self.folder / name
        run = cairn(*arguments, "--output", out, "--quiet")
        self.assertEqual(run.returncode, 0, run.stderr)
        return out.read_text().split()

    def test_outputs_have_the_ids_of_the_input_in_every_order(self):
        matrix = self.file("g.mtx", MATRIX)
        edges = self.file("g.el", "30 20\n7 9\n20 30\n41 41\n9 8\n")
        for order in ORDERS:
            for ranks in (1, 2):
                options = ["--order", order, "--ranks", ranks, "--threads", 1]
                self.assertEqual(self.rows("a.csv", "cc", matrix, *options),
                                 ["id,component", "1,1", "2,1", "3,1", "4,4"])
                self.assertEqual(self.rows("b.csv", "cc", edges, *options),
                                 ["id,component", "7,7", "8,7", "9,7", "20,20", "30,20", "41,41"])
        self.assertEqual(self.rows("c.csv", "bfs", matrix, "--source", 3),
                         ["id,depth", "1,1", "2,2", "3,0", "4,"])
        self.refused("bfs", matrix, "--source", 0, saying="0 is not a vertex")
        metis = self.file("g.graph", "4 2\n2 3\n1\n1\n\n")
        dimacs = self.file("g.gr", "p tw 4 2\n1 2\n3 1\n")
        arcs = self.file("a.gr", "p sp 4 4\na 1 2 1\na 2 1 1\na 1 3 1\na 3 1 1\n")
        for file in (metis, dimacs, arcs):
            for order in ORDERS:
                self.assertEqual(self.rows("d.csv", "bfs", file, "--source", 3, "--order", order),
                                 ["id,depth", "1,1", "2,2", "3,0", "4,"])

    def test_ids_may_be_texts(self):
        edges = self.file("g.el", "# friends\nbob alice\ncarol dave\nalice eve\n")
        expected = ["id,component", "alice,alice", "bob,alice", "carol,carol", "dave,carol",
                    "eve,alice"]
        for order in ORDERS:
            for options in ([], ["--ranks", 2, "--threads", 1]):
                self.assertEqual(self.rows("a.csv", "cc", edges, "--ids", "text", "--order", order,
                                           *options), expected)
        native = self.folder / "g.cairn"
        self.assertEqual(cairn("convert", edges, native, "--ids", "text",
                               "--order", "degree").returncode, 0)
        self.assertEqual(self.rows("b.csv", "cc", native), expected)
        back = self.folder / "back.el"
        self.assertEqual(cairn("convert", native, back).returncode, 0)
        self.assertEqual(sorted(back.read_text().splitlines()),
                         ["alice eve", "bob alice", "carol dave"])
        self.refused("cc", edges, saying="g.el:2: expected an id (an integer), found 'bob'")
        self.refused("cc", edges, "--ids", "text", "--output", self.folder / "o.npy", "--trials",
                     10**8, saying=".npy")
        self.refused("cc", self.file("g.mtx", MATRIX), "--ids", "text", saying="edge lists")
        self.refused("cc", "--kronecker", 6, "--ids", "text", saying="edge lists")
        self.refused("cc", native, "--ids", "text", saying=".cairn")

    def test_ids_survive_conversion(self):
        matrix, native = self.file("g.mtx", MATRIX), self.folder / "g.cairn"
        again = self.folder / "again.mtx"
        for order in ORDERS:
            cairn("convert", matrix, native, "--order", order)
            self.assertEqual(self.rows("a.csv", "bfs", native, "--source", 3),
                             ["id,depth", "1,1", "2,2", "3,0", "4,"])
            if order == "file":
                self.assertEqual(cairn("convert", native, again).returncode, 0)
                self.assertEqual(again.read_text(), MATRIX)
        zeros = self.file("z.el", "0 5\n")
        self.refused("convert", zeros, again, saying="1 to n")
        self.assertEqual(cairn("convert", zeros, again, "--renumber").returncode, 0)
        self.assertEqual(again.read_text(),
                         "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")


class Partitions(InAFolder):
    def test_results_do_not_depend_on_the_partition(self):
        star = self.file("g.el", "".join(f"1 {v}\n" for v in range(2, 90)) + "100 101\n")
        def entries(partition):
            return report("info", star, "-s", "--ranks", 3, "--threads", 1, "--partition",
                          partition)["result"]["max_entries_per_rank"]
        self.assertLess(entries("edges"), entries("vertices"))
        for partition in ("vertices", "edges"):
            for command in ("bfs", "cc", "pagerank", "coloring"):
                arguments = [command, star, "-s", "--ranks", 3, "--threads", 1, "--verify",
                             "--partition", partition]
                o = report(*arguments, *(["--source", 1] if command == "bfs" else []))
                self.assertTrue(o["verified"], command)
        self.refused("convert", star, self.folder / "o.cairn", "--partition", "edges",
                     saying="--partition")


class Conversion(InAFolder):
    def test_with_a_generator_the_first_name_is_the_output(self):
        a, b, c = (self.folder / name for name in ("a.el", "b.el", "c.el"))
        self.assertEqual(cairn("generate", "--grid", "5x6", a).returncode, 0)
        self.assertEqual(cairn("convert", "--grid", "5x6", b).returncode, 0)
        self.assertEqual(cairn("convert", "--grid", "5x6", "--output", c).returncode, 0)
        self.assertEqual(a.read_bytes(), b.read_bytes())
        self.assertEqual(a.read_bytes(), c.read_bytes())
        self.refused("generate", a, b, saying="unexpected argument")
        self.refused("generate", b, saying="no generator")
        self.refused("generate", saying="no generator")
        self.refused("convert", a, saying="no output")

    def test_ranks_write_the_same_file(self):
        one, two = self.folder / "one.cairn", self.folder / "two.cairn"
        self.assertEqual(cairn("generate", "-g", 8, one).returncode, 0)
        generate = ("generate", "-g", 8, two, "--threads", 1)
        for launcher in (None, *LAUNCHERS):
            with self.subTest(launcher):
                two.unlink(missing_ok=True)
                run = (under_mpi(self, launcher, 2, cli_test.CAIRN, *generate) if launcher else
                       cairn(*generate, "--ranks", 3))
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(run.stdout.count("wrote"), 1, run.stdout)
                self.assertEqual(one.read_bytes(), two.read_bytes())

    def test_machine_and_settings_print_once_per_job(self):
        for launcher in LAUNCHERS:
            with self.subTest(launcher):
                for command in ("machine", "settings"):
                    run = under_mpi(self, launcher, 2, cli_test.CAIRN, command, "--json")
                    self.assertEqual(json.loads(run.stdout)["command"], command)

    def drawn_by(self, *arguments):
        """What the command draws on a terminal; what it prints is in the file `printed`."""
        main, terminal = pty.openpty()
        with (self.folder / "printed").open("w") as printed:
            run = subprocess.Popen([cli_test.CAIRN, *map(str, arguments)], stdout=printed,
                                   stderr=terminal)
        os.close(terminal)
        drawn = b""
        try:
            while piece := os.read(main, 4096):
                drawn += piece
        except OSError:  # the terminal is closed
            pass
        self.assertEqual(run.wait(), 0, drawn)
        return drawn

    def test_the_stages_around_a_run_are_on_the_terminal(self):
        pipe = self.folder / "depths.csv"
        os.mkfifo(pipe)

        def read_late():  # more than the pipe holds
            with open(pipe, "rb") as rows:
                time.sleep(2)
                rows.read()
        reader = threading.Thread(target=read_late)
        reader.start()
        drawn = self.drawn_by("bfs", "-g", 15, "--source", 1, "--output", pipe)
        reader.join()
        self.assertIn(b"writing the output of bfs", drawn)

    def test_a_bar_moves_while_a_graph_is_generated_and_built(self):
        drawn = self.drawn_by("info", "-g", 20, "--threads", 1, "--json")
        seconds = json.loads((self.folder / "printed").read_text())["seconds"]
        # The bar is drawn from the first second on, 20 times a second.
        if seconds["load"] + seconds["build"] < max(seconds["load"], 1) + 0.5:
            self.skipTest("built within half a second of the bar")
        parts = set(re.findall(rb"building kronecker 20[^%]* (\d+) %", drawn))
        self.assertGreater(len(parts), 1, drawn)


class Options(InAFolder):
    def test_options_without_effect_are_refused(self):
        for arguments in (("info", "-g", 6, "--mechanism", "htm"),
                          ("info", "-g", 6, "--grain", 4), ("info", "-g", 6, "--filter", 0),
                          ("machine", "--sim", "ranks=2"), ("machine", "--threads", 2),
                          ("machine", "--stats"), ("settings", "--stats"),
                          ("bfs", "-g", 6, "--prefetching", 8),
                          ("bfs", "-g", 6, "--loop-tasks", 8),
                          ("generate", "-g", 6, "x.el", "--routing", "grid"),
                          ("generate", "-g", 6, "x.el", "--sim", "ranks=2"),
                          ("info", "-g", 6, "--drop-self-loops"),
                          ("info", "-g", 6, "--drop-duplicates"),
                          ("generate", "-g", 6, "x.cairn", "--once"),
                          ("info", "-g", 6, "--ids", "number"),
                          ("info", "-g", 6, "--symmetrize"),
                          ("info", "-g", 6, "--sim", "ranks=2", "--pin", "on"),
                          ("info", "-g", 6, "--sim", "ranks=2", "--transport", "ring"),
                          ("info", "-g", 6, "--machines", 2), ("info", "-g", 6, "--mpi", "mpich"),
                          ("generate", "-g", 6, "x.el", "--layout", "always"),
                          ("generate", "-g", 6, "x.cairn", "--trials", 3)):
            option = next(a for a in reversed(arguments) if str(a).startswith("--"))
            self.refused(*arguments, saying=option)
        self.refused("info", "--grid", "2x2", "-k", 3, saying="-k is the edge factor")
        self.refused("info", "-g", 10**11, saying="'100000000000' is too large")

    def test_commands_without_simulation_ignore_its_variable(self):
        for sim in ("ranks=2,seed=1..2", "ranks=2,clock=/none", "none"):
            here = dict(os.environ, CAIRN_SIM=sim)
            self.assertIn("machine", report("machine", environment=here))
            o = report("generate", "-g", 6, self.folder / "x.el", environment=here)
            self.assertEqual(o["ranks"], 1)

    def test_options_of_files_that_say_it_themselves_are_refused(self):
        matrix = self.file("g.mtx", MATRIX)
        edges = self.file("g.el", "1 2\n2 3\n")
        native = self.folder / "g.cairn"
        self.assertEqual(cairn("convert", matrix, native).returncode, 0)
        for file in (matrix, native):
            for ids in ("number", "text"):
                self.refused("info", file, "--ids", ids, saying="determines the kind of its ids")
        self.assertEqual(cairn("info", edges, "--ids", "number").returncode, 0)
        self.refused("convert", edges, self.folder / "o.el", "--once", saying="is directed")
        self.refused("info", edges, "--seed", 3, saying="nothing is random")
        self.refused("bfs", edges, "--source", 1, "--seed", 3, saying="nothing is random")
        self.assertEqual(cairn("bfs", edges, "--seed", 3).returncode, 0)
        self.assertEqual(cairn("cc", edges, "--seed", 3, "--order", "random").returncode, 0)
        self.refused("convert", edges, self.folder / "o.el", "--seed", 3, saying="--seed")
        self.refused("info", edges, "--order", "hash", saying="--order has no effect here")
        self.refused("info", edges, "--order", "hash", "--ranks", 1, saying="there is one rank")
        run = cairn("info", edges, "--order", "hash", "--ranks", 2)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_a_csv_file_of_texts_has_a_header_or_is_refused(self):
        good, bad = self.file("g.csv", "from,to\nbob,eve\n"), self.file("b.csv", "bob,eve\n")
        self.assertEqual(report("info", good, "--ids", "text")["graph"]["edges"], 1)
        self.refused("info", bad, "--ids", "text", saying="begins with a header")
        red = self.file("r.csv", "\x1b[31mbob,eve\n")
        self.refused("info", red, "--ids", "text", saying="found '\\x1b[31mbob'")

    def test_memory_is_at_most_the_machine_s(self):
        with open("/proc/meminfo", encoding="ascii") as file:
            total = int(re.search(r"MemTotal:\s+(\d+) kB", file.read())[1]) * 1024
        found = report("machine")["machine"]["memory_bytes"]
        self.assertLessEqual(found, total)
        self.assertGreater(found, 0)
        self.assertEqual(report("info", "-g", 4)["machine"]["memory_bytes"], found)

    def test_json_of_several_seeds_is_one_array(self):
        run = cairn("info", "-g", 5, "--sim", "ranks=2,seed=3..5", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        found = json.loads(run.stdout)
        self.assertEqual([o["command"] for o in found], ["info"] * 3)
        self.assertEqual(report("info", "-g", 5, "--sim", "ranks=2,seed=3")["command"], "info")


if __name__ == "__main__":
    cli_test.CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
