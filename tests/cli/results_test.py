#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What reports count, and which results are wrong: results_test.py PATH_OF_CAIRN."""
import os
import sys
import unittest

import cli_test
from cli_test import InAFolder, cairn, report


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


if __name__ == "__main__":
    cli_test.CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
