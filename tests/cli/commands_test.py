#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What holds for every algorithm's command: outputs that verify judges, counters, refusals."""
import gzip
import os
import random
import sys
import unittest

import cli_test
from cli_test import InAFolder, cairn, report

# Each column that --output writes, with the options that its verification depends on.
COLUMNS = (("bfs", "depth", []), ("bfs", "parent", []), ("sssp", "distance", []),
           ("sssp", "predecessor", []), ("cc", "component", []), ("coloring", "color", []),
           ("kcore", "core", []), ("triangles", "triangles", []), ("pagerank", "rank", []),
           ("cdlp", "label", []), ("cdlp", "label", ["--iterations", 3]), ("lcc", "lcc", []),
           ("walk", "visits", ["--key", 5]), ("walk", "visits", ["--key", 6, "--length", 3]),
           ("walk", "visits", ["--key", 7, "--walkers", 50, "--p", 0.25, "--q", 4]),
           ("maxflow", "source_side", ["--from", 3, "--to", 17]))
GRAPH = ["--kronecker", "7:6"]


class Outputs(InAFolder):
    def written(self, command, column, options, name):
        out = self.folder / name
        values = ["--values", column] if command in ("bfs", "sssp") else []
        run = cairn(command, *GRAPH, "--output", out, *values, *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return out

    def test_every_column_is_verified(self):
        for command, column, options in COLUMNS:
            for name in ("o.csv", "o.npy"):
                out = self.written(command, column, options, name)
                for ranks in (1, 3):
                    found = report("verify", *GRAPH, out, *options, "--ranks", ranks,
                                   "--threads", 1)
                    self.assertTrue(found["verified"], (column, ranks))
                    self.assertEqual(found["result"]["command"], command)

    def test_other_names_are_the_same_commands(self):
        for name, other, option in (("cdlp", "label-propagation", ["--iterations", 2]),
                                    ("lcc", "clustering", [])):
            found, expected = (report(command, *GRAPH, "--verify", *option)
                               for command in (other, name))
            self.assertTrue(found["verified"])
            for key in ("command", "graph"):
                self.assertEqual(found[key], expected[key])

    def test_a_wrong_value_is_found(self):
        for command, column, options in COLUMNS:
            out = self.written(command, column, options, "o.csv")
            rows = out.read_text().split()
            worst = {"rank": "0.75", "parent": "0", "predecessor": "0", "component": "5",
                     "lcc": "0.123"}
            worst = worst.get(column, "77")
            at = next(i for i, row in enumerate(rows) if i > 20 and not row.endswith(","))
            rows[at] = rows[at].split(",")[0] + "," + worst
            out.write_text("\n".join(rows) + "\n")
            run = cairn("verify", *GRAPH, out, *options)
            self.assertEqual(run.returncode, 1, (column, rows[at], run.stderr))
            self.assertIn("verification failed", run.stderr)

    def test_what_is_missing_or_too_large_is_said_so(self):
        graph = self.file("g.el", "1 2\n2 3\n")
        for column in ("core", "color", "component", "triangles", "rank", "label", "lcc"):
            for ranks in (1, 3):
                out = self.file("o.csv", f"id,{column}\n1,1\n2,\n3,1\n")
                run = cairn("verify", graph, "-s", out, "--ranks", ranks, "--threads", 1)
                self.assertEqual(run.returncode, 1, (column, run.stderr))
                self.assertIn(f"vertex 2 has no {column}", run.stderr)
        out = self.file("o.csv", f"id,core\n1,1\n2,{2**40}\n3,1\n")
        run = cairn("verify", graph, "-s", out)
        self.assertEqual(run.returncode, 1)
        self.assertIn(f"vertex 2 has the core {2**40}, which is too large", run.stderr)

    def test_components_of_graphs_in_another_order(self):
        edges = self.file("g.el", "1 2\n2 3\n2 4\n7 8\n")
        graph, out = self.folder / "g.cairn", self.folder / "o.csv"
        for order in ("degree", "hash", "random"):
            cairn("convert", edges, graph, "--order", order)
            for ranks in (1, 3):
                cairn("cc", graph, "--output", out, "--ranks", ranks, "--threads", 1)
                self.assertEqual(out.read_text().split()[1:],
                                 ["1,1", "2,1", "3,1", "4,1", "7,7", "8,7"])
                self.assertTrue(report("verify", graph, out, "--ranks", ranks,
                                       "--threads", 1)["verified"])
            for wrong in ("1,1 2,1 3,1 4,1 7,7 8,8", "1,2 2,2 3,2 4,2 7,7 8,7",
                          "1,1 2,1 3,1 4,1 7,1 8,1"):
                out.write_text("id,component\n" + "\n".join(wrong.split()) + "\n")
                self.assertEqual(cairn("verify", graph, out).returncode, 1, (order, wrong))

    def test_texts_of_a_native_file_are_named(self):
        edges = self.file("t.el", "a b\nb c\n")
        graph = self.folder / "t.cairn"
        cairn("convert", edges, graph, "--ids", "text")
        found = report("bfs", graph, "--source", "b")
        self.assertEqual(found["result"]["trials"][0]["reached"], 2)
        self.refused("bfs", graph, "--source", "d", saying="d is not a vertex")

    def test_page_ranks_of_any_sweeps_are_verified(self):
        # In place this run ends at the limit; another order or place, or Jacobi, converges.
        arcs = "10 5,12 12,1 8,11 1,2 6,4 7,2 10,1 12,7 5,7 3,3 10,3 3,1 4,3 3,6 4,11 11,3 12," \
               "7 5,6 7,3 5"
        graph = self.file("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n14 14 20\n"
                          + arcs.replace(",", "\n") + "\n")
        out, wrong = self.folder / "o.csv", self.folder / "wrong.csv"
        converged = set()
        for run in ([], ["--sweep", "jacobi"], ["--order", "hash"], ["--layout", "always"],
                    ["--ranks", 3, "--threads", 1], ["--precision", "double", "--threads", 1]):
            for limits in ([], ["--iterations", 3], ["--damping", 0.5, "--tolerance", 1e-6]):
                found = report("pagerank", graph, "--output", out, "--verify", *run, *limits)
                self.assertTrue(found["verified"])
                converged.add(found["result"]["trials"][0]["change"] < 1e-4)
                for ranks in (1, 3):
                    self.assertTrue(report("verify", graph, out, *limits, "--ranks", ranks,
                                           "--threads", 1)["verified"], (run, limits, ranks))
            rows = dict(row.split(",") for row in out.read_text().split())
            rows["12"], rows["9"] = rows["9"], rows["12"]
            wrong.write_text("\n".join(",".join(row) for row in rows.items()) + "\n")
            self.assertEqual(cairn("verify", graph, wrong).returncode, 1, run)
        self.assertEqual(converged, {False, True})

    def test_what_it_needs_to_know_is_asked_for(self):
        out = self.written(*COLUMNS[-1], "o.csv")
        self.refused("verify", *GRAPH, out, saying="--from and --to")
        depths = self.written(*COLUMNS[0], "d.csv")
        self.refused("verify", *GRAPH, depths, "--from", 3, saying="no effect")
        self.refused("verify", *GRAPH, depths, "--order", "degree", saying="--order")
        graph = self.file("g.el", "1 2\n")
        self.refused("verify", graph, saying="no result")


class Findings(InAFolder):
    def test_cores_and_triangles_are_known_ones(self):
        # A clique of five, and a path that hangs on it.
        clique = "".join(f"{a} {b}\n" for a in range(1, 6) for b in range(1, a))
        graph = self.file("g.el", clique + "5 6\n6 7\n7 7\n")
        for options in ([], ["--ranks", 2, "--threads", 1], ["--sim", "ranks=3,seed=2"]):
            out = self.folder / "o.csv"
            found = report("kcore", graph, "-s", "--verify", "--output", out, *options)
            self.assertTrue(found["verified"])
            self.assertEqual(found["result"]["trials"][0]["largest"], 4)
            self.assertEqual(out.read_text().split(),
                             ["id,core"] + [f"{v},4" for v in range(1, 6)] + ["6,1", "7,1"])
            found = report("triangles", graph, "-s", "--verify", "--output", out, *options)
            self.assertTrue(found["verified"])
            self.assertEqual(found["result"]["trials"][0]["total"], 10)
            self.assertEqual(out.read_text().split(),
                             ["id,triangles"] + [f"{v},6" for v in range(1, 6)] + ["6,0", "7,0"])

    def test_verifying_cores_follows_a_path_in_few_supersteps(self):
        for options in (["--threads", 1], ["--threads", 2]):
            found = report("kcore", "--grid", "1x2000", "--verify", *options)
            self.assertTrue(found["verified"])
            self.assertLess(found["counters_verify"]["epochs"], 50)

    def test_distances_are_known_ones(self):
        whole = self.file("whole.wel", "1 2 5\n1 3 2\n3 2 1\n2 4 0\n5 1 1\n3 2 9\n")
        real = self.file("real.wel", "1 2 0.5\n1 3 0.25\n3 2 0.125\n2 4 0\n5 1 1.5\n")
        for graph, distances in ((whole, ["0", "3", "2", "3"]),
                                 (real, ["0.0", "0.375", "0.25", "0.375"])):
            for method in ("auto", "delta", "distributed-control", "chaotic"):
                for options in ([], ["--ranks", 2, "--threads", 1], ["--sim", "ranks=3,seed=2"]):
                    out = self.folder / "o.csv"
                    found = report("sssp", graph, "--source", 1, "--algorithm", method,
                                   "--verify", "--output", out, *options)
                    self.assertTrue(found["verified"])
                    rows = [f"{v},{d}" for v, d in enumerate(distances, 1)]
                    self.assertEqual(out.read_text().split(), ["id,distance"] + rows + ["5,"])
                    run = cairn("verify", graph, out, "--source", 1)
                    self.assertEqual(run.returncode, 0, run.stderr)
        trial = report("sssp", whole, "--source", 1)["result"]["trials"][0]
        self.assertEqual([trial[x] for x in ("reached", "edges", "useful_relaxations")], [4, 5, 5])
        draw = random.Random(9)
        far = self.file("far.wel", "".join(
            f"{draw.randrange(40_000)} {draw.randrange(40_000)} {draw.randint(1, 255)}\n"
            for _ in range(320_000)))
        skips = report("sssp", far, "-s", "--source", 1, "--threads", 1, "--layout",
                       "always")["result"]["trials"][0]
        self.assertGreater(skips["radii"], 0)
        self.assertNotIn("useful_relaxations", skips)
        self.assertNotIn("wasted_relaxations", skips)
        self.refused("sssp", whole, "--delta", 0, saying="--delta is 0")
        self.refused("sssp", whole, "--algorithm", "chaotic", "--delta", 2, saying="--delta")

    def test_searches_by_any_algorithm_find_the_same_depths(self):
        for graph in (("-g", 8), ("--grid", "20x30"), (self.file("w.wel", "1 2 5\n2 3 9\n"),)):
            found = []
            for method in ("levels", "distributed-control", "chaotic"):
                for options in ([], ["--ranks", 2, "--threads", 2], ["--sim", "ranks=3,seed=2"]):
                    out = self.folder / "o.csv"
                    run = report("bfs", *graph, "--source", 1, "--algorithm", method, "--verify",
                                 "--output", out, "--values", "depth", *options)
                    trial = run["result"]["trials"][0]
                    self.assertEqual((run["verified"], trial["algorithm"], trial["levels"] == 0),
                                     (True, method, method != "levels"))
                    found.append(out.read_text())
            self.assertEqual(len(set(found)), 1)

    def test_negative_lengths_are_refused_at_their_line(self):
        for name, text, line, edge in (
                ("g.wel", "1 2 5\n2 3 -2\n", 2, "2 to 3"),
                ("r.el", "1 2 0.5\n2 3 -2\n", 2, "2 to 3"),
                ("g.csv", "source,target,weight\n1,2,5\n2,3,-2\n", 3, "2 to 3"),
                ("g.gr", "p sp 3 2\na 1 2 5\na 2 3 -2\n", 3, "2 to 3"),
                ("g.graph", "3 2 001\n2 5\n1 5 3 -2\n2 -2\n", 3, "2 to 3"),
                ("g.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n"
                          "3 2 -2\n", 4, "3 to 2")):
            file = self.file(name, text)
            says = f":{line}: expected a weight of at least 0, found '-2' (edge from {edge})"
            self.refused("sssp", file, saying=f"{file}{says}")
            self.assertEqual(cairn("bfs", file).returncode, 0)
            packed = self.folder / (name + ".gz")
            packed.write_bytes(gzip.compress(text.encode()))
            self.refused("sssp", packed, "--ranks", 2, saying=f"{packed}{says}")
        words = self.file("w.csv", "from,to,weight\nbob,eve,-0.5\n")
        self.refused("sssp", words, "--ids", "text", saying=f"{words}:2: expected a weight of at "
                     "least 0, found '-0.5' (edge from bob to eve)")
        native = self.folder / "g.cairn"
        self.assertEqual(cairn("convert", self.folder / "g.wel", native).returncode, 0)
        self.refused("sssp", native, saying=f"{native}: the edge from 2 to 3 has weight -2, "
                     "expected a length of at least 0")

    def test_sums_of_weights_beyond_the_largest_double_are_refused(self):
        graph = self.file("g.wel", "1 2 1e308\n2 3 1e308\n3 4 1e308\n")
        for options in ((), ("--ranks", 2), ("--algorithm", "delta")):
            self.refused("sssp", graph, *options, saying=f"{graph}: the edge from 1 to 2 has "
                         "weight 1e+308: the length of a path of 3 such edges exceeds")
        for options in ((), ("--ranks", 2)):
            self.refused("mst", graph, "-s", *options, saying=f"{graph}: the edge from 1 to 2 has "
                         "weight 1e+308: the total weight of the forest exceeds")
        short = self.file("s.wel", "1 2 1e308\n")
        self.assertTrue(report("sssp", short, "--verify")["verified"])
        self.assertEqual(report("mst", short, "-s")["result"]["trials"][0]["weight"], 1e308)
        mixed = self.file("m.wel", "1 2 1e308\n2 3 1e308\n3 4 -1e308\n")
        self.assertEqual(report("mst", mixed, "-s")["result"]["trials"][0]["weight"], 1e308)

    def test_paths_of_walks_are_walks_and_give_the_visits(self):
        edges = ("a b", "b c", "c a", "c d", "d e", "e e", "a f")
        graph = self.file("g.el", "\n".join(edges) + "\n")
        arcs = {tuple(e.split()) for e in edges}
        def walks(name, separator, *options):
            out, paths = self.folder / "o.csv", self.folder / name
            found = report("walk", graph, "--ids", "text", "--key", 3, "--walkers", 40, "--length",
                           7, "--output", out, "--paths", paths, "--verify", *options)
            self.assertTrue(found["verified"])
            rows = [row.split(separator) for row in paths.read_text().splitlines()]
            visited = [v for row in rows for v in row]
            visits = dict(row.split(",") for row in out.read_text().split()[1:])
            self.assertEqual({v: str(visited.count(v)) for v in visits}, visits)
            self.assertEqual(len(rows), 40)
            for row in rows:
                self.assertTrue(len(row) == 8 or row[-1] == "f", row)
                self.assertLessEqual(set(zip(row, row[1:])), arcs)
            return rows
        for bias in ((), ("--p", 0.5, "--q", 3)):
            first = walks("p.csv", ",", *bias)
            for name, separator in (("p.tsv", "\t"), ("p.txt", " ")):
                for where in (["--ranks", 3, "--threads", 1], ["--sim", "ranks=5,seed=2"]):
                    self.assertEqual(walks(name, separator, *where, *bias), first)
        one = self.file("one.el", "7 7\n")  # half of whose vertices are none
        paths = self.folder / "one.csv"
        self.assertEqual(report("walk", one, "--paths", paths)["result"]["trials"][0]["walkers"], 1)
        self.assertTrue(report("verify", one, "--paths", paths)["verified"])

    def test_paths_of_walks_are_verified(self):
        graph = self.file("g.el", "a b\nb c\nc a\nc d\nd e\ne e\na f\n")
        options = ("--ids", "text", "--walkers", 40, "--length", 7)
        def verified(path, *more):
            return cairn("verify", graph, "--paths", path, *(more or options))
        for name, separator in (("p.csv", ","), ("p.tsv", "\t"), ("p.txt", " ")):
            path = self.folder / name
            cairn("walk", graph, *options, "--key", 3, "--p", 0.5, "--paths", path)
            for where in ((), ("--ranks", 3, "--threads", 1), ("--sim", "ranks=5,seed=2")):
                for key in ((), ("--key", 3, "--p", 0.5)):
                    run = verified(path, *options, *key, *where)
                    self.assertEqual(run.returncode, 0, run.stderr)
            rows = path.read_text().splitlines()
            whole = next(i for i, row in enumerate(rows) if len(row) == 15)
            part = separator.join(rows[whole].split(separator)[:-2])
            broken = self.folder / f"broken{path.suffix}"
            for row, status, saying in (
                    (separator.join("abcabcac"), 1, f"walk {whole + 1} takes no edge of the graph"),
                    (part, 1, f"walk {whole + 1} ends early at"),
                    (rows[whole] + separator + "e", 1, f"walk {whole + 1} has 8 steps"),
                    (rows[whole] + "\nf", 1, "there are 41 walks, expected 40 (--walkers)"),
                    ("", 2, f":{whole + 1}: expected an id of the graph"),
                    (rows[whole] + separator, 2, f":{whole + 1}: expected an id of the graph"),
                    (rows[whole] + "!", 2, f":{whole + 1}: expected an id of the graph")):
                broken.write_text("\n".join(rows[:whole] + [row] + rows[whole + 1:]) + "\n")
                run = verified(broken)
                self.assertEqual(run.returncode, status, run.stderr)
                self.assertIn(saying, run.stderr)
            for other in (("--key", 4, "--p", 0.5), ("--key", 3)):
                self.assertEqual(verified(path, *options, *other).returncode, 1)
        self.refused("verify", graph, "--paths", path, *options, "--q", 2, saying="--key")
        self.refused("verify", graph, path, "--paths", path, saying="only one of")
        self.refused("verify", graph, "--paths", path, *options, "--source", 2, saying="--source")

    def test_counters_are_of_the_trials(self):
        found = report("bfs", *GRAPH, "--source", 3, "--verify", "--ranks", 2, "--threads", 1)
        plain = report("bfs", *GRAPH, "--source", 3, "--ranks", 2, "--threads", 1)
        for o in (found, plain):
            self.assertGreater(o["counters_load"]["messages_sent"], 0)
        self.assertEqual(found["counters"]["edges"], plain["counters"]["edges"])
        self.assertGreater(found["counters_verify"]["messages_sent"],
                           plain["counters_verify"]["messages_sent"])

    def test_pagerank_has_a_rate_and_no_teps(self):
        found = report("pagerank", *GRAPH)
        self.assertIsNone(found["teps"])
        self.assertGreater(found["result"]["edges_per_second"], 0)

    def test_several_seeds_are_one_array(self):
        found = report("kcore", *GRAPH, "--sim", "ranks=3,seed=4..6")
        self.assertEqual([o["command"] for o in found], ["kcore"] * 3)


class Refusals(InAFolder):
    def test_integers_that_no_real_number_holds(self):
        for name, head in (("w.wel", ""), ("w.mtx", "%%MatrixMarket matrix coordinate integer "
                                           "general\n2 2 1\n")):
            line = head.count("\n") + 1
            graph = self.file(name, head + "1 2 9007199254740993\n")
            self.refused("sssp", graph, "-r", 1, saying=f"{name}:{line}: expected an integer that")
            for weight in ("9007199254740992", "100000000000000000000", "-9007199254740992"):
                graph = self.file(name, head + f"1 2 {weight}\n")
                self.assertEqual(cairn("mst", graph, "-s").returncode, 0, weight)

    def test_a_thread_beside_the_workers_changes_no_result(self):
        for style in ("poll", "thread", "auto"):
            for ranks in (("--ranks", 3, "--threads", 1), ("--sim", "ranks=5,seed=2,clock=loggp")):
                for command in (("bfs",), ("sssp", "--algorithm", "distributed-control"), ("mst",)):
                    found = report(*command, *GRAPH, *ranks, "--progress", style, "--verify")
                    self.assertTrue(found["verified"])
                    self.assertEqual(found["settings"]["progress"], style)

    def test_ids_that_are_no_vertices(self):
        self.refused("bfs", *GRAPH, "--source", "x", saying="'x' is not an integer")
        self.refused("st-connectivity", *GRAPH, "--to", 4000, saying="4000 is not a vertex")

    def test_walks_that_are_none(self):
        for option in ("--p", "--q"):
            for x in (0, -1, "nan", "inf", "much"):
                self.refused("walk", *GRAPH, f"{option}={x}", saying=option)
        for q in (1e-6, 1001, 1e6):
            self.refused("walk", *GRAPH, "--q", q, saying="expected a number from 0.001 to 1000")
        for p in (1e-6, 1e6):
            self.assertTrue(report("walk", *GRAPH, "--p", p, "--q", 1000, "--verify")["verified"])
        self.refused("walk", *GRAPH, "--walkers", "many", saying="--walkers")
        self.refused("walk", *GRAPH, "--walkers", 0, saying="auto or an integer of at least 1")
        self.refused("walk", *GRAPH, "--paths", self.folder / "p.npy", saying=".csv, .tsv or .txt")
        same = self.folder / "o.csv"
        self.refused("walk", *GRAPH, "--paths", same, "--output", same, saying="the same file")
        self.refused("walk", *GRAPH, "--paths", self.folder / "p.txt", "--walkers", 2**40,
                     "--length", 2**20, saying="2^48")
        self.refused("bfs", *GRAPH, "--paths", same, saying="--paths")
        auto, half = (report("walk", *GRAPH, "--walkers", n, "--key", 1)["result"]["trials"][0]
                      for n in ("auto", 64))
        self.assertEqual(auto, half)

    def test_modes_that_need_one_rank(self):
        self.refused("triangles", *GRAPH, "--mode", "natural", "--ranks", 2, saying="one rank")


if __name__ == "__main__":
    cli_test.CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
