#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What files say, and what is refused: files_test.py PATH_OF_CAIRN [unittest options]."""
import gzip
import os
import sys
import unittest

import cli_test
from cli_test import InAFolder, cairn, report


class Files(InAFolder):
    def test_results_are_written_and_verified_in_every_format(self):
        graph = self.file("g.el", "".join(f"{a} {(a * 7 + 3) % 500}\n" for a in range(500)))
        for values in ("depth", "parent"):
            for ending in (".csv", ".tsv", ".npy", ".csv.gz", ".tsv.zst", ".npy.xz"):
                out = self.folder / (values + ending)
                for options in ([], ["--ranks", 2, "--threads", 1]):
                    run = cairn("bfs", graph, "-s", "-r", 3, "--output", out, "--values", values,
                                "--quiet", *options)
                    self.assertEqual(run.returncode, 0, run.stderr)
                    self.assertTrue(report("verify", graph, out, "-s")["verified"])
                    self.assertTrue(report("verify", graph, out, "-s", "--source", 3,
                                           "--ranks", 3, "--threads", 1)["verified"])

    def test_rows_have_the_input_s_ids_and_unreached_is_empty(self):
        graph = self.file("g.el", "10 20\n20 30\n7 10\n")
        out = self.folder / "o.csv"
        cairn("bfs", graph, "--source", 10, "--output", out)
        self.assertEqual(out.read_text().split(), ["id,depth", "7,", "10,0", "20,1", "30,2"])
        cairn("bfs", graph, "--source", 10, "--output", out, "--values", "parent")
        self.assertEqual(out.read_text().split(), ["id,parent", "7,", "10,10", "20,10", "30,20"])

    def test_wrong_results_fail_verification(self):
        graph = self.file("g.el", "10 20\n20 30\n7 10\n")
        for rows in ("7,\n10,0\n20,2\n30,3\n", "7,1\n10,0\n20,1\n30,2\n", "7,\n10,0\n20,1\n30,\n"):
            run = cairn("verify", graph, self.file("r.csv", "id,depth\n" + rows))
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertIn("verification failed", run.stderr)

    def test_values_that_no_vertex_can_have_are_wrong_results(self):
        graph = self.file("g.el", "10 20\n20 30\n7 10\n")
        for column, value, saying in (
                ("component", 99, "vertex 20 has the component 99, which is no vertex"),
                ("label", 99, "vertex 20 has the label 99, which is no vertex"),
                ("parent", -5, "vertex 20 has the parent -5, which is no vertex"),
                ("predecessor", 8, "vertex 20 has the predecessor 8, which is no vertex"),
                ("depth", -5, "vertex 20 has the depth -5, which is negative"),
                ("depth", -1, "vertex 20 has the depth -1, which is negative"),
                ("parent", 2**64 - 1, "vertex 20 has the parent 1.8446744073709552e+19, which is"),
                ("depth", 10**22, "vertex 20 has the depth 1e+22, which is no 64-bit integer"),
                ("depth", -10**22, "vertex 20 has the depth -1e+22, which is negative"),
                ("distance", 5, "no vertex has distance 0")):
            rows = self.file("r.csv", f"id,{column}\n7,7\n10,10\n20,{value}\n30,10\n")
            for ranks in (1, 3):
                run = cairn("verify", graph, rows, "--ranks", ranks, "--threads", 1)
                self.assertEqual(run.returncode, 1, run.stderr)
                self.assertIn(saying, run.stderr)
        for values, saying in (
                (("7", "0.5", "7", "7"), "vertex 10: expected an integer, found 0.5"),
                (("7.0",) * 4, "expected integers, found a column of reals")):
            rows = "".join(f"{v},{x}\n" for v, x in zip((7, 10, 20, 30), values))
            self.refused("verify", graph, self.file("r.csv", "id,parent\n" + rows), saying=saying)

    def test_sides_of_a_cut_are_0_or_1(self):
        graph = self.file("g.wel", "1 2 2\n2 3 2\n")
        for side, status in ((1, 0), (2, 1), (99, 1)):
            cut = self.file("cut.csv", f"id,source_side\n1,1\n2,{side}\n3,0\n")
            run = cairn("verify", graph, cut, "--from", 1, "--to", 3)
            self.assertEqual(run.returncode, status, run.stderr)
            self.assertIn("" if status == 0 else f"vertex 2 has the source_side {side}", run.stderr)

    def test_unusable_results_are_refused(self):
        graph = self.file("g.el", "10 20\n20 30\n7 10\n")
        for rows, word in (("id,depth\n7,\n10,0\n20,1\n", "rows"),
                           ("id,depth\n7,\n10,0\n20,1\n31,2\n", "31"),
                           ("id,depth\n7,\n10,0\n20,1\n20,2\n", "20"),
                           ("id,shade\n7,\n10,0\n20,1\n30,2\n", "shade"),
                           ("id,\x1b[2Jshade\n7,\n10,0\n20,1\n30,2\n", "'\\x1b[2Jshade'"),
                           ("id,depth\n7,\n10,zero\n20,1\n30,2\n", "r.csv:3"),
                           ("id,depth\n7,\n10,nan\n20,1\n30,2\n", "r.csv:3")):
            self.refused("verify", graph, self.file("r.csv", rows), saying=word)
        self.refused("verify", graph, self.file("r.csv.gz", gzip.compress(b"")),
                     saying="r.csv.gz:1: the file is empty: expected a header line 'id,NAME'")

    def test_converted_graphs_are_the_same_graph(self):
        def facts(*arguments):
            o = report("info", *arguments)
            return [o["graph"][k] for k in ("edges", "directed")] + [o["result"]["max_degree"]]
        native = self.folder / "k.cairn"
        self.assertEqual(cairn("generate", "--kronecker", 8, native).returncode, 0)
        expected = facts("--kronecker", 8)
        self.assertEqual(facts(native), expected)
        self.assertEqual(facts(native, "--ranks", 3, "--threads", 1), expected)
        once = self.folder / "k.el.gz"
        self.assertEqual(cairn("convert", native, once, "--once").returncode, 0)
        self.assertEqual(facts(once, "--symmetrize"), expected)
        again = self.folder / "again.cairn.zst"
        self.assertEqual(cairn("convert", once, again, "--symmetrize").returncode, 0)
        self.assertEqual(facts(again), expected)

    def test_self_loops_and_duplicates_are_dropped_if_told(self):
        edges = self.file("g.wel", "1 2 5\n2 1 3\n1 2 4\n3 3 1\n2 3 7\n3 3 2\n")
        native = self.folder / "g.cairn"
        self.assertEqual(cairn("convert", edges, native).returncode, 0)
        loops, twice = "--drop-self-loops", "--drop-duplicates"
        for told, expected in (((), {(1, 2, 4), (1, 2, 5), (2, 1, 3), (2, 3, 7), (3, 3, 1),
                                     (3, 3, 2)}),
                               ((loops,), {(1, 2, 4), (1, 2, 5), (2, 1, 3), (2, 3, 7)}),
                               ((twice,), {(1, 2, 4), (2, 1, 3), (2, 3, 7), (3, 3, 1)}),
                               ((loops, twice), {(1, 2, 4), (2, 1, 3), (2, 3, 7)}),
                               ((loops, twice, "--symmetrize"),
                                {(1, 2, 3), (2, 1, 3), (2, 3, 7), (3, 2, 7)})):
            for source in (edges, native):
                self.assertEqual(cairn("convert", source, self.folder / "o.wel", *told).returncode,
                                 0)
                rows = (self.folder / "o.wel").read_text().splitlines()
                self.assertEqual(sorted(tuple(map(int, row.split())) for row in rows),
                                 sorted(expected), told)
                for ranks in (1, 3):
                    o = report("info", source, *told, "--ranks", ranks, "--threads", 1)
                    undirected = "--symmetrize" in told
                    self.assertEqual(o["graph"]["edges"], len(expected) // (1 + undirected))
        self.refused("convert", edges, self.folder / "o.graph", "--symmetrize", loops,
                     saying=twice)
        simple = self.folder / "o.graph"
        self.assertEqual(cairn("convert", edges, simple, "--symmetrize", loops, twice).returncode,
                         0)


class Refusals(InAFolder):
    def test_bad_usage_is_one_sentence_and_status_2(self):
        self.refused()
        self.refused("frobnicate")
        self.refused("bfs", saying="no graph")
        self.refused("bfs", "--kronecker", 8, "--uniform", 8, saying="several graphs")
        self.refused("bfs", "--kronecker", "eight", saying="eight")
        self.refused("bfs", "--kronecker", 40, saying="memory")
        self.refused("bfs", "-g", 6, "--threads", 0)
        self.refused("bfs", "-g", 6, "--mechanism", "magic", saying="magic")
        self.refused("bfs", "-g", 6, "--threads", 2, "--mechanism", "plain", saying="plain")
        self.refused("bfs", "-g", 6, "--mechanism", "stm", saying="stm")
        self.refused("bfs", "-g", 6, "--ranks", 2, "--mechanism", "stm", saying="stm")
        self.refused("bfs", "-g", 6, "--retry", "often", saying="often")
        self.refused("bfs", "-g", 6, "--direction", "sideways")
        self.refused("cc", "-g", 6, "--method", "magic")
        self.refused("mst", self.file("e.el", "1 2\n"), saying="--symmetrize")
        self.refused("mst", "-g", 6, "--mechanism", "atomics", saying="atomics")
        self.refused("bfs", "-g", 6, "--source", 99, saying="99")
        self.refused("bfs", "-g", 6, "--source", -1, saying="'-1' is not an integer")
        self.refused("bfs", "-g", 6, "--seed", 2**64, saying="is not an integer")
        self.refused("coloring", "-g", 6, "-n", 0, saying="--trials")
        self.refused("search", "-g", 6, saying="no command 'search'")
        self.refused("bfs", "-g", 6, "--output", self.folder / "o.parquet", saying=".csv")
        self.refused("bfs", "-g", 6, "--output", "", saying="--output: name the file to write")
        self.refused("bfs", "-g", 6, "--source", saying="--source needs a value")
        self.refused("bfs", "-g", 6, "--coalesce-age", 0.5, saying="expected 0..1000000000")
        self.refused("--json", "bfs", "-g", 6, saying="unexpected argument: --json")
        self.refused("--ranks", 2, "bfs", "-g", 6, saying="unexpected argument: --ranks")
        self.refused("--json", saying="cairn takes a command")
        self.refused("bfs", "-g", 6, "--sim", "ranks=2", "--sim", "ranks=3",
                     saying="--sim is given twice")
        self.refused("pagerank", "-g", 6, "--damping", 2, saying="--damping is 2, expected")
        for arguments in (("bfs", "-g", 6, "--source"), ("maxflow", "-g", 6, "--from"),
                          ("maxflow", "-g", 6, "--to"), ("bfs", "--kronecker"),
                          ("bfs", "--uniform"), ("bfs", "--grid"), ("bfs", "--erdos-renyi"),
                          ("bfs", "-g", 6, "--file"), ("hashmap", "--file"),
                          ("verify", "-g", 6, "--paths")):
            self.refused(*arguments, "", saying=arguments[-1])
        self.refused("hashmap", "", saying="empty")
        nowhere = self.folder / "none"
        for ranks in (1, 2):
            self.refused("bfs", "-g", 40, "--ranks", ranks, "--output", nowhere / "o.csv",
                         saying="o.csv: cannot be written")
        self.refused("generate", "-g", 40, nowhere / "g.cairn", saying="g.cairn: cannot be written")
        self.refused("bfs", "-g", 6, "--sim", "ranks=none")
        self.refused("bfs", "-g", 6, "--sim", "ranks=4,edge_ns=2", saying="clock=loggp")
        self.refused("bfs", "-g", 6, "--sim", "clock=/no/such/file", saying="cannot be opened")
        empty = self.file("none.json", "{}")
        self.refused("bfs", "-g", 6, "--sim", f"clock={empty}", saying="none.json: expected")
        self.refused("bench", "sim", "--ranks", 3, saying="two ranks")
        self.refused("bench", saying="cairn bench takes a command")
        self.refused("bench", "foo", saying="no command 'bench foo'")
        self.refused("generate", "x", "y", saying="unexpected argument: y")
        self.refused("verify", "-g", 6, saying="no result")
        self.refused("convert", self.file("e.el", "1 2\n"), saying="no output")
        self.refused("convert", self.file("e.el", "1 2\n"), self.folder / "o.gml", saying=".cairn")

    def test_numbers_are_decimal(self):
        g = report("info", "--uniform", 4, "-k", "010", "--seed", "08")["graph"]
        self.assertEqual(g, report("info", "--uniform", "4:10", "--seed", 8)["graph"]
                         | {"name": g["name"]})
        trials = report("bfs", "-g", 4, "--trials", "010")["result"]["trials"]
        self.assertEqual(len(trials), 10)
        counts = ("--strings", "0100", "--tasks", "010", "--steps", "02", "--trials", "02")
        result = report("hashmap", *counts)["result"]
        self.assertEqual((result["strings"]["number"], result["tasks"], result["steps"],
                          len(result["trials"])), (100, 10, 2, 2))
        for option in ("--trials", "-k", "--seed"):
            for number in ("0x10", "+5", "5 ", "1e3", ""):
                self.refused("bfs", "-g", 4, option, number, saying=f"'{number}' is not an integer")

    def test_bad_files_are_one_sentence_with_file_and_line(self):
        good = gzip.compress(b"1 2\n2 3\n" * 1000)
        cases = {
            "empty.el": "", "word.el": "1 2\n3 x\n", "negative.el": "1 2\n-3 4\n",
            "huge.el": "1 99999999999999999999999\n", "short.el": "1 2\n3\n",
            "cut.el.gz": good[:-20], "corrupt.el.gz": good[:40] + b"\0\0\0" + good[43:],
            "nan.wel": "1 2 nan\n", "signed.csv": "-1,2\n2,3\n", "plus.csv": "+1,2\n2,3\n",
            "quoted.csv": '"1",2\n2,3\n', "both.csv": '"1","2"\n',
            "fraction.mtx": "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 1.5\n",
            "few.mtx": "%%MatrixMarket matrix coordinate pattern general\n3 3 5\n1 2\n",
            "many.mtx": "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n2 3\n",
            "lying.mtx": "%%MatrixMarket matrix coordinate pattern general\n"
                         "9 9 1000000000000\n1 2\n",
            "zero.mtx": "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n0 2\n",
            "range.mtx": "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 4\n",
            "dense.mtx": "%%MatrixMarket matrix array real general\n1 1\n1.0\n",
            "garbage.cairn": os.urandom(5000), "garbage.gr": os.urandom(500),
            "none.graph": "% nothing\n",
        }
        for name, content in cases.items():
            for options in ([], ["--ranks", 2]):
                self.refused("bfs", self.file(name, content), *options, saying=name)
        for options in ([], ["--order", "degree"]):
            big = self.file("big.gr", f"c\np sp {2**48} 1\na 1 2 3\n")
            self.refused("bfs", big, *options, saying="big.gr:2: ")
        self.refused("bfs", self.folder / "missing.el", saying="missing.el")
        self.refused("bfs", self.folder, saying=str(self.folder))

    def test_help_lists_every_command_and_only_those(self):
        text = cairn("--help").stdout
        for command in ("bfs", "sssp", "pagerank", "cc", "mst", "st-connectivity", "coloring",
                        "maxflow", "kcore", "triangles", "cdlp", "lcc", "walk", "hashmap",
                        "graphalytics", "info", "machine", "generate", "convert", "verify",
                        "settings", "bench"):
            self.assertIn(command, text)
            own = cairn(command, "--help")
            self.assertEqual((own.returncode, own.stderr), (0, ""))
        for command, unused in (
                ("walk", "mechanism grain retry costs deliver filter frequency lead"),
                ("lcc", "mechanism"), ("cdlp", "mechanism routing"), ("triangles", "mechanism"),
                ("pagerank", "frequency lead filter"),
                ("kcore", "frequency lead filter"), ("mst", "deliver filter"),
                ("sssp", "loop-tasks prefetching")):
            own = cairn(command, "--help").stdout
            for option in unused.split():
                self.assertNotIn(f"--{option} ", own, command)
        for option in ("mechanism", "deliver", "filter", "frequency", "lead"):
            self.assertIn(f"--{option} ", cairn("sssp", "--help").stdout)
        for command, auto in (("sssp", "auto: distributed-control"), ("cc", "auto: afforest"),
                              ("mst", "auto: hooking")):
            self.assertIn(auto, " ".join(cairn(command, "--help").stdout.split()))
        words = " ".join(cairn("bfs", "--help").stdout.split())
        for absent in ("(default: poll)", "(microseconds) (default: 200)", "(default: any)"):
            self.assertIn(absent, words)
        self.assertIn("Maximum number of sweeps; of cdlp: Maximum number of iterations",
                      " ".join(cairn("verify", "--help").stdout.split()))
        for command in ("betweenness",):
            self.assertNotIn(command, text)


if __name__ == "__main__":
    cli_test.CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
