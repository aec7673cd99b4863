#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What reports count, and which results are wrong: results_test.py PATH_OF_CAIRN."""
import gzip
import lzma
import os
import random
import sys
import unittest

import cli_test
from cli_test import InAFolder, cairn, report

PLACES = ((), ("--threads", 2), ("--ranks", 3, "--threads", 1), ("--sim", "ranks=4,seed=2"),
          ("--ranks", 2, "--threads", 1, "--partition", "edges", "--merge", "transactions"))
JUDGES = ((), ("--ranks", 3, "--threads", 1), ("--sim", "ranks=4,seed=2"))


def kruskal(edges):
    """The minimum spanning forest of edges (weight, id, id); of those of equal weight the first by
    their ends."""
    above = {}

    def root(v):
        while above.setdefault(v, v) != v:
            v = above[v]
        return v

    forest = []
    for weight, a, b in sorted((weight, *sorted(ends)) for weight, *ends in edges):
        if root(a) != root(b):
            above[root(a)] = root(b)
            forest.append((a, b, weight))
    return sorted(forest)


class Loops(InAFolder):
    def test_an_edge_to_itself_is_one_edge(self):
        graph = self.file("loops.el", "1 1\n1 1\n1 2\n3 3\n")
        for ranks in ([], ["--ranks", 3, "--threads", 1]):
            for command in ("bfs", "sssp"):
                for options, edges in (("-s", "-r", 1), 3), (("-s", "-r", 3), 1), (("-r", 1), 3):
                    found = report(command, graph, *options, *ranks)
                    self.assertEqual(found["result"]["trials"][0]["edges"], edges)

    def test_isolated_vertices_have_no_edge_at_all(self):
        graph = self.file("arcs.mtx", "%%MatrixMarket matrix coordinate pattern general\n"
                          "6 6 3\n1 2\n2 3\n4 4\n")
        for ranks in ([], ["--ranks", 3, "--threads", 1]):
            found = report("info", graph, *ranks)["result"]
            self.assertEqual((found["isolated"], found["sinks"]), (2, 3))
            self.assertEqual(report("info", graph, "-s", *ranks)["result"]["isolated"], 2)


class RandomVertices(InAFolder):
    def test_terminals_of_a_flow_do_not_depend_on_the_order_of_vertices(self):
        for given in ([], ["--from", 5], ["--to", 5]):
            terminals = set()
            for order in ("file", "degree", "hash"):
                found = report("maxflow", "-g", 6, "--order", order, "--trials", 3, *given)
                terminals.add(tuple((t["from"], t["to"]) for t in found["result"]["trials"]))
            self.assertEqual(len(terminals), 1, given)
            self.assertTrue(all(s != t for s, t in terminals.pop()))


class WrongResults(InAFolder):
    def judge(self, graph, values, *options):
        return cairn("verify", graph, self.file("values.csv", values), *options)

    def test_no_pagerank_is_less_than_that_of_a_vertex_without_in_edges(self):
        star = self.file("star.el", "".join(f"{v} 1\n1 {v}\n" for v in range(2, 12)))
        for least in (0, 0.0136):
            run = self.judge(star, "id,rank\n" + "".join(f"{v},{least}\n" for v in range(1, 12)),
                             "-i", 10)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertIn("rule 1", run.stderr)

    # A bound on what another sweep changes would accept these.
    def test_pageranks_are_those_of_the_last_sweep(self):
        star = self.file("star.el", "".join(f"0 {v}\n" for v in range(1, 1000)))
        out = self.folder / "rank.csv"
        for sweeps, convention, more in ((19, "graphalytics", ()), (21, "graphalytics", ()),
                                         (20, "graphalytics", ()), (7, "networkx", ("-t", 1e-9)),
                                         (20, "networkx", ("-t", 1e-9)), (1, "gap", ("-t", 0))):
            report("pagerank", star, "-s", "--convention", convention, "-i", sweeps, *more,
                   "--output", out)
            wanted = 0 if convention == "gap" else 20
            run = cairn("verify", star, "-s", out, "--convention", convention, "-i", wanted, *more)
            self.assertEqual(run.returncode, 0 if sweeps == wanted else 1, run.stderr)
        self.assertIn("sweeps", run.stderr)

    def test_pageranks_belong_to_their_vertices(self):
        options = ["-g", 9, "--convention", "networkx", "-t", 1e-4]
        out = self.folder / "rank.csv"
        for precision in ("float", "double"):
            for variant in ("pull", "push", "edge"):
                report("pagerank", *options, "--precision", precision, "--variant", variant,
                       "--output", out)
                run = cairn("verify", *options, out)
                self.assertEqual(run.returncode, 0, run.stderr)
        header, *rows = out.read_text().split()
        ids, ranks = zip(*(row.split(",") for row in rows))
        turned = [f"{v},{x}" for v, x in zip(ids, ranks[1:] + ranks[:1])]
        run = cairn("verify", *options, self.file("rank.csv", "\n".join([header, *turned])))
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("has the rank", run.stderr)

    def test_two_vertices_at_distance_0_need_an_edge_of_length_0(self):
        values = "id,distance\n1,0\n2,0\n"
        run = self.judge(self.file("one.wel", "1 2 4\n"), values)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("2 vertices have distance 0", run.stderr)
        zero = self.file("zero.wel", "1 2 0\n")
        self.assertEqual(self.judge(zero, values).returncode, 2)
        self.assertEqual(self.judge(zero, values, "-r", 1).returncode, 0)

    def test_distances_that_no_double_holds_are_not_called_wrong(self):
        graph = self.file("heavy.wel", "1 2 2147483647\n")
        self.refused("verify", graph, self.file("d.csv", f"id,distance\n1,0\n2,{2**53 + 1}\n"),
                     saying="distances of 2^53 or more cannot be verified")

    def test_the_chosen_width_of_buckets_is_one_that_delta_takes(self):
        tiny = self.file("tiny.wel", "1 2 1e-314\n2 3 2e-314\n3 1 1e-314\n")
        found = report("sssp", tiny, "-r", 1, "--verify")
        self.assertTrue(found["verified"])
        self.assertGreater(found["result"]["trials"][0]["delta"], 1e-307)

    def test_short_walks_take_no_memory_for_long_ones(self):
        graph = self.file("w.el", "1 2\n2 3\n1 4\n4 1\n")
        for walks, options, status in (("1 2 3\n3\n", (), 0), ("1 4\n3\n", (), 1),
                                       ("3\n3\n", ("--key", 1), 1)):
            run = cairn("verify", graph, "--paths", self.file("p.txt", walks), "--walkers", 2,
                        "--length", 2**32 - 1, *options)
            self.assertEqual(run.returncode, status, run.stderr)
            self.assertNotIn("memory", run.stderr)

    # Neither copies the row of the hub for each of its neighbors.
    def test_counts_at_a_star_are_verified_soon(self):
        star = self.file("star.el", "".join(f"0 {v}\n" for v in range(1, 200_000)))
        for command in ("triangles", "lcc"):
            self.assertTrue(report(command, star, "-s", "--verify")["verified"])

    def test_walks_on_vertices_in_another_order(self):
        graph = self.file("w.el", "1 2\n1 3\n1 4\n4 5\n5 1\n2 3\n3 6\n6 1\n")
        visits, paths = self.folder / "visits.csv", self.folder / "paths.csv"
        options = ["--key", 5, "--walkers", 10, "--length", 4]
        for order in ([], ["--order", "degree"], ["--order", "random", "--seed", 3]):
            report("walk", graph, *order, *options, "--output", visits, "--paths", paths)
            for result in ([visits], ["--paths", paths]):
                run = cairn("verify", graph, *result, *order, *options)
                self.assertEqual(run.returncode, 0, run.stderr)
        depths = self.folder / "depths.csv"
        report("bfs", graph, "-r", 1, "--output", depths)
        self.refused("verify", graph, depths, "--order", "degree", saying="--order has no effect")


class Forests(InAFolder):
    """Of a graph with parallel edges, self-loops, ties and several components."""
    def setUp(self):
        super().setUp()
        draw = random.Random(3)
        self.edges = [(draw.randrange(9), 7 * a, 7 * b) for part in (range(40), range(40, 60))
                      for a, b in (draw.choices(part, k=2) for _ in range(3 * len(part)))]
        self.edges += [(0, 999, 999), (5, 0, 7), (3, 7, 0)]
        self.graph = self.graph_of("g.wel", self.edges)

    def graph_of(self, name, edges):
        return self.file(name, "".join(f"{a} {b} {w}\n" for w, a, b in edges))

    def text_of(self, path):
        opened = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
        with opened(path, "rt") as file:
            return file.read()

    def found(self, name, graph, *options):
        path = self.folder / name
        report("mst", graph, "-s", "--forest", path, *options)
        return path

    def judge(self, text, status, saying="", name="f.wel", graph=None, options=(), places=JUDGES):
        path = text if hasattr(text, "suffix") else self.file(name, text)
        for place in places:
            run = cairn("verify", graph or self.graph, "-s", "--forest", path, *options, *place)
            self.assertEqual(run.returncode, status, (text, place, run.stderr))
            self.assertIn(saying, run.stderr)
            self.assertLessEqual(run.stderr.count("\n"), 1)

    def test_rows_are_those_of_kruskal_everywhere(self):
        rows = [tuple(map(str, row)) for row in kruskal(self.edges)]
        pairs = "".join(f"{a} {b}\n" for a, b, _ in rows)
        for name, text in (("f.el", pairs), ("f.txt.gz", pairs),
                           ("f.wel.xz", "".join(" ".join(row) + "\n" for row in rows)),
                           ("f.csv", "source,target,weight\n"
                            + "".join(",".join(row) + "\n" for row in rows))):
            for place in PLACES:
                path = self.found(name, self.graph, *place)
                self.assertEqual(self.text_of(path), text, place)
            self.judge(path, 0)
        packed, again = self.found("f.wel.zst", self.graph), self.folder / "again.wel"
        self.assertEqual(cairn("convert", packed, again).returncode, 0)
        self.assertEqual(self.text_of(again), self.text_of(self.folder / "f.wel.xz"))

    def test_ids_that_are_texts_and_weights_that_are_reals(self):
        edges = [(weight / 4 - 1, f"v{a}", f"v{b}") for weight, a, b in self.edges]
        graph = self.graph_of("t.wel", edges)
        text = "".join(f"{a} {b} {w}\n" for a, b, w in kruskal(edges))
        for place in PLACES:
            path = self.found("f.wel", graph, "--ids", "text", *place)
            self.assertEqual(self.text_of(path), text, place)
        self.judge(path, 0, graph=graph, options=("--ids", "text"))
        self.judge(text.replace("v", "w", 1), 2, "f.wel:1: expected an id of the graph, found 'w",
                   graph=graph, options=("--ids", "text"))

    def test_another_order_of_vertices_may_break_ties_otherwise(self):
        different = [(i, a, b) for i, (_, a, b) in enumerate(self.edges)]
        unique = self.graph_of("u.wel", different)
        for order in (("degree",), ("hash",), ("random", "--seed", 4)):
            texts = set()
            for place in PLACES:
                path = self.found("f.wel", self.graph, "--order", *order, *place)
                texts.add(self.text_of(path))
                self.assertEqual(self.text_of(self.found("u.wel.gz", unique, "--order", *order,
                                                         *place)),
                                 "".join(f"{a} {b} {w}\n" for a, b, w in kruskal(different)))
            self.assertEqual(len(texts), 1, order)
            rows = [tuple(map(int, row.split())) for row in texts.pop().splitlines()]
            self.assertEqual(sorted(w for _, _, w in rows),
                             sorted(w for _, _, w in kruskal(self.edges)))
            self.assertEqual(rows, sorted(rows))
            self.assertTrue(all(a < b for a, b, _ in rows))
            self.judge(path, 0)

    def test_unweighted_graphs_have_forests_without_weights(self):
        graph = self.file("g.el", "".join(f"{a} {b}\n" for _, a, b in self.edges))
        rows = kruskal([(1, a, b) for _, a, b in self.edges])
        for place in PLACES:
            path = self.found("f.csv", graph, *place)
            self.assertEqual(self.text_of(path), "source,target\n"
                             + "".join(f"{a},{b}\n" for a, b, _ in rows))
        self.judge(path, 0, graph=graph)
        for weight, status in ((1, 0), (2, 1)):
            self.judge("".join(f"{a} {b} {weight}\n" for a, b, _ in rows), status, graph=graph)
        for ranks in (1, 2):
            self.refused("mst", graph, "-s", "--forest", self.folder / "n.wel", "--ranks", ranks,
                         saying="a .wel file has weights, but the graph has none")
        self.assertFalse((self.folder / "n.wel").exists())

    def test_graphs_whose_forests_have_no_edges(self):
        loops = self.file("loops.wel", "1 1 4\n2 2 5\n2 2 6\n")
        isolated = self.file("i.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n"
                             "3 3 0\n")
        for graph in (loops, isolated):
            for name, text in (("f.el", ""), ("f.wel.gz", ""),
                               ("f.csv", "source,target,weight\n")):
                for place in JUDGES:
                    path = self.found(name, graph, *place)
                    self.assertEqual(self.text_of(path), text)
                self.judge(path, 0, graph=graph)
        self.judge("1 1\n", 1, "has a cycle, to which edge 1 - 1 belongs", "f.el", loops)
        self.judge("1 1 5\n", 1, "edge 1 - 1 has another weight in the graph", "f.wel", loops)
        self.judge("1 1\n", 1, "edge 1 - 1 is not an edge of the graph", "f.el", isolated)
        for name, text in (("f.el", ""), ("f.csv", "source,target\n"), ("f.wel", "# none\n")):
            self.judge(text, 1, "the forest does not connect the ends of edge", name)

    def test_wrong_forests_are_judged(self):
        rows = kruskal(self.edges)
        lightest = {}
        for weight, *ends in self.edges:
            lightest[min(ends), max(ends)] = min(weight, lightest.get((min(ends), max(ends)), 9))
        heavy = next((a, b, w) for (a, b), w in lightest.items() if (a, b, w) not in rows and a < b)
        none = next((7 * a, 7 * b, 1) for a in range(40) for b in range(a + 1, 40)
                    if (7 * a, 7 * b) not in lightest)
        a, b, weight = rows[4]
        turned = [(b, a, w) for a, b, w in reversed(rows)]
        rest = rows[:4] + rows[5:]
        for changed, saying in (
                (turned, None),
                (rest, "the forest does not connect the ends of edge"),
                (rows + [(b, a, weight)], f"the forest has edge {a} - {b} twice"),
                (rows + [heavy], "the forest has a cycle, to which edge"),
                (rest + [none], f"the forest's edge {none[0]} - {none[1]} is not an edge"),
                (rest + [(a, b, weight + 0.5)], f"edge {a} - {b} has another weight in the graph"),
                (rows + [(999, 999, 0)], "has a cycle, to which edge 999 - 999 belongs")):
            self.judge("".join(f"{a} {b} {w}\n" for a, b, w in changed), 1 if saying else 0,
                       saying or "")
            if "weight" not in (saying or ""):
                self.judge("".join(f"{a} {b}\n" for a, b, _ in changed), 1 if saying else 0,
                           saying or "", "f.el", places=((),))
        # The heaviest forest has another weight, and so do those with one of its edges.
        worst = kruskal([(-w, a, b) for w, a, b in self.edges])
        self.judge("".join(f"{a} {b} {-w}\n" for a, b, w in worst), 1, "the forest is not minimal")
        self.judge("".join(f"{a} {b}\n" for a, b, _ in worst), 1, "the forest is not minimal",
                   "f.el")

    def test_a_file_without_weights_has_the_lightest_of_parallel_edges(self):
        graph = self.file("p.wel", "1 2 5\n2 1 3\n2 3 4\n1 3 4\n")
        self.judge("1 2\n2 3\n", 0, name="f.el", graph=graph)
        self.judge("1 2\n1 3\n", 0, name="f.el", graph=graph)
        self.judge("1 3\n2 3\n", 1, "not minimal: edge 1 - 2", "f.el", graph)
        self.judge("1 2 5\n2 3 4\n", 1, "not minimal: edge 1 - 2", graph=graph)
        self.judge("1 2 3\n2 3 4\n", 0, graph=graph)

    def test_malformed_forests_are_refused_with_their_line(self):
        row = "0 7 3\n"
        for name, text, saying in (
                ("f.wel", row + "0 8 3\n", "f.wel:2: expected an id of the graph, found '8'"),
                ("f.wel", row + "x 7 3\n", "f.wel:2: expected an id of the graph, found 'x'"),
                ("f.wel", row + "-7 0 3\n", "f.wel:2: expected an id of the graph, found '-7'"),
                ("f.wel", row + "0 7\n", "f.wel:2: expected another field"),
                ("f.wel", row + "0 7 3 4\n", "f.wel:2: expected the end of the line"),
                ("f.wel", row + "0 7 y\n", "f.wel:2: expected a weight"),
                ("f.wel", "0 7\n", "f.wel:1: expected 3 columns"),
                ("f.el", "0 7\n0 7 3\n", "f.el:2: expected the end of the line"),
                ("f.el", "0\n", "f.el:1: expected 2 or 3 columns"),
                ("f.csv", "source,target\n0,7,3\n", "f.csv:2: expected 2 columns"),
                ("f.csv", "id,parent\n1,2\n", "f.csv:1: column 1 is named 'id'")):
            self.judge(text, 2, saying, name)
        self.refused("verify", self.graph, "-s", "--forest", self.folder / "no.el", saying="no.el")
        many = self.file("many.el", "0 7\n" * 2**20 + "0 7\n")
        self.judge(many, 2, "many.el: has 1048577 edges, expected at most 1048576")

    def test_what_the_command_line_refuses(self):
        forest = self.found("f.el", self.graph)
        before = forest.read_text()
        for ranks in (1, 2):
            self.refused("mst", self.graph, "--forest", forest, "--ranks", ranks,
                         saying="g.wel is directed: a spanning forest needs an undirected graph")
            self.refused("verify", self.graph, "--forest", forest, "--ranks", ranks,
                         saying="g.wel is directed: a spanning forest needs an undirected graph")
        for name in ("f.tsv", "f.npy", "f.mtx", "f.cairn", "f", "f.gz"):
            for command in (("mst", "-g", 40), ("verify", "-g", 40)):
                self.refused(*command, "--forest", self.folder / name,
                             saying=f"{name}: an edge list's name ends in .el, .txt, .wel or .csv")
        self.refused("mst", "-g", 40, "--forest", self.folder / "none" / "f.el",
                     saying="f.el: cannot be written")
        self.refused("mst", "-g", 40, "--forest", forest, "--trace", forest, saying="f.el")
        self.refused("mst", self.graph, "-s", "--forest", self.graph, saying="is the input")
        self.refused("mst", "-g", 6, "--forest", "", saying="--forest: name the file to write")
        self.refused("verify", "-g", 6, "--forest", "", saying="--forest")
        self.refused("bfs", "-g", 6, "--forest", forest, saying="--forest")
        values = self.file("v.csv", "id,depth\n")
        self.refused("verify", self.graph, values, "--forest", forest, saying="only one of")
        for option in (("--order", "degree"), ("--key", 3), ("--source", 0)):
            self.refused("verify", self.graph, "-s", "--forest", forest, *option,
                         saying=f"{option[0]} has no effect on a result of mst")
        self.assertEqual(forest.read_text(), before)

    def test_reports_and_generated_graphs(self):
        forest = self.folder / "f.el"
        trials = report("mst", "-g", 9, "--trials", 2, "--forest", forest, "--verify")
        self.assertEqual(len(forest.read_text().splitlines()),
                         trials["result"]["trials"][1]["edges"])
        for place in JUDGES:
            found = report("verify", "-g", 9, "--forest", forest, *place)
            self.assertEqual((found["verified"], found["result"]),
                             (True, {"file": str(forest), "command": "mst", "values": "forest",
                                     "broken": ""}))


if __name__ == "__main__":
    cli_test.CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
