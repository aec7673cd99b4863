#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files that convert writes, as other programs read them:
formats_test.py PATH_OF_CAIRN [unittest options].

The readers here follow the formats' descriptions and refuse what these do not allow."""
import collections
import csv
import gzip
import lzma
import os
import random
import re
import sys
import unittest

import cli_test
from cli_test import InAFolder, cairn, report

# edges: sorted (source, target, weight or None)
Graph = collections.namedtuple("Graph", "n directed edges")


def number(text):
    assert re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", text), text
    return float(text) if re.search(r"[.e]", text) else int(text)


def index(text, n):
    assert re.fullmatch(r"[1-9]\d*", text) and int(text) <= n, text
    return int(text)


def lines_of(path):
    opened = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opened(path, "rt", encoding="ascii") as file:
        text = file.read()
    assert text.endswith("\n")
    return text[:-1].split("\n")


def read_edge_list(path):
    rows = [line.split(" ") for line in lines_of(path)]
    edges = [(int(r[0]), int(r[1]), number(r[2]) if len(r) == 3 else None) for r in rows]
    return Graph(len({v for e in edges for v in e[:2]}), True, sorted(edges))


def read_csv(path):
    header, *rows = csv.reader(lines_of(path))
    assert header in (["source", "target"], ["source", "target", "weight"]), header
    assert all(len(row) == len(header) for row in rows)
    edges = [(int(r[0]), int(r[1]), number(r[2]) if len(r) == 3 else None) for r in rows]
    return Graph(len({v for e in edges for v in e[:2]}), True, sorted(edges))


def read_matrix_market(path):
    lines = lines_of(path)
    banner = lines[0].split()
    assert banner[:3] == ["%%MatrixMarket", "matrix", "coordinate"]
    field, symmetry = banner[3:]
    lines = [line for line in lines[1:] if not line.startswith("%")]
    n, columns, entries = map(int, lines[0].split())
    assert n == columns and entries == len(lines) - 1
    edges = []
    for line in lines[1:]:
        words = line.split()
        assert len(words) == (2 if field == "pattern" else 3)
        weight = None if field == "pattern" else number(words[2])
        assert not isinstance(weight, float) or field == "real"
        i, j = index(words[0], n), index(words[1], n)
        assert symmetry == "general" or i >= j
        edges.append((i, j, weight))
    return Graph(n, symmetry == "general", sorted(edges))


def read_dimacs(path, kind):
    n, declared, ends, edges = None, None, {}, []
    for line in lines_of(path):
        word = line.split()
        if word[0] == "c":
            continue
        if word[0] == "p":
            assert n is None and word[1] == kind, line
            n, declared = int(word[2]), int(word[3])
        elif word[0] == "n" and kind == "max":
            assert word[2] in "st" and word[2] not in ends
            ends[word[2]] = index(word[1], n)
        elif kind == "tw":
            assert len(word) == 2
            edges.append((index(word[0], n), index(word[1], n), None))
        elif kind == "edge":
            assert word[0] == "e" and len(word) == 3
            edges.append((index(word[1], n), index(word[2], n), None))
        else:
            assert word[0] == "a" and len(word) == 4, line
            assert re.fullmatch(r"\d+" if kind == "max" else r"-?\d+", word[3])
            edges.append((index(word[1], n), index(word[2], n), int(word[3])))
    assert len(edges) == declared
    assert (set(ends) == {"s", "t"}) == (kind == "max")
    return Graph(n, kind in ("sp", "max"), sorted(edges))


def read_metis(path):
    """As METIS' graphchk: each edge at both ends with the same weight, no loops, no parallel
    edges."""
    lines = lines_of(path)
    head = lines[0].split()
    n, m = int(head[0]), int(head[1])
    weighted = len(head) > 2
    assert head[2:] in ([], ["001"]) and len(lines) == n + 1
    seen = {}
    for u, line in enumerate(lines[1:], 1):
        words = line.split()
        step = 2 if weighted else 1
        assert len(words) % step == 0
        for i in range(0, len(words), step):
            v = index(words[i], n)
            assert v != u and (u, v) not in seen
            seen[u, v] = index(words[i + 1], 10**9) if weighted else None
    assert len(seen) == 2 * m and all(seen[v, u] == w for (u, v), w in seen.items())
    return Graph(n, False, sorted((u, v, w) for (u, v), w in seen.items() if u < v))


READERS = {".el": read_edge_list, ".wel": read_edge_list, ".csv": read_csv,
           ".mtx": read_matrix_market,
           ".max": lambda path: read_dimacs(path, "max"),
           ".col": lambda path: read_dimacs(path, "edge"),
           ".graph": read_metis}


def write_matrix(path, g):
    """The graph as a file that does not come from cairn."""
    kinds = {type(w) for _, _, w in g.edges}
    field = "real" if float in kinds else "integer" if int in kinds else "pattern"
    with open(path, "w", encoding="ascii") as file:
        print(f"%%MatrixMarket matrix coordinate {field} "
              f"{'general' if g.directed else 'symmetric'}\n"
              f"{g.n} {g.n} {len(g.edges)}", file=file)
        for u, v, w in g.edges:
            print(*([u, v] if g.directed else [max(u, v), min(u, v)]),
                  *([] if w is None else [w]), file=file)
    return path


def random_graph(draw, kind):
    """kind: directed, weights, simple."""
    directed, weights, simple = kind
    n = draw.randint(2, 30)
    used = draw.randint(2, n)  # the last vertices may be isolated
    edges, wanted = [], draw.randint(1, 30)
    for _ in range(1000):
        if len(edges) == wanted:
            break
        u, v = draw.randint(1, used), draw.randint(1, used)
        w = {"none": None, "positive": draw.randint(1, 9), "integer": draw.randint(-10**6, 10**6),
             "real": draw.randint(-9999, 9999) / 64}[weights]
        if not directed:
            u, v = min(u, v), max(u, v)
        if simple and (u == v or any(e[:2] == (u, v) for e in edges)):
            continue
        edges.append((u, v, w))
    return Graph(n, directed, sorted(edges))


class Written(InAFolder):
    def expected(self, g, ending):
        """What a reader of this format has to find; None if the format cannot hold the graph."""
        weights = [w for _, _, w in g.edges]
        whole = all(isinstance(w, int) for w in weights)
        arcs = sorted(g.edges +
                      ([] if g.directed else [(v, u, w) for u, v, w in g.edges if u != v]))
        touched = len({v for e in arcs for v in e[:2]})
        bare = sorted(e[:2] + (None,) for e in arcs)
        simple = not g.directed and len({e[:2] for e in g.edges}) == len(g.edges) and all(
            u != v for u, v, _ in g.edges)
        has_weights = weights[0] is not None
        if ending == ".el":
            return Graph(touched, True, bare) if arcs else None
        if ending == ".wel":
            return Graph(touched, True, arcs) if has_weights else None
        if ending == ".csv":
            return Graph(touched, True, arcs)
        if ending == ".mtx":
            return g if g.directed else Graph(g.n, False, sorted((v, u, w) for u, v, w in g.edges))
        if ending == ".gr":
            if not has_weights:
                return None if g.directed else g
            return Graph(g.n, True, arcs) if whole else None
        if ending == ".max":
            return Graph(g.n, True, arcs) if has_weights and whole and min(weights) >= 0 else None
        if ending == ".col":
            return g if simple and not has_weights else None
        return g if simple and (not has_weights or whole and min(weights) > 0) else None

    def check(self, source, g, ending, suffix=""):
        out = self.folder / ("out" + ending + suffix)
        out.unlink(missing_ok=True)
        options = ["--from", 1, "--to", 2] if ending == ".max" else []
        expected = self.expected(g, ending)
        if expected is None:
            self.refused("convert", source, out, *options)
            self.assertFalse(out.exists())
            return
        run = cairn("convert", source, out, "--quiet", *options)
        self.assertEqual((run.returncode, run.stderr), (0, ""), (ending, g))
        if ending == ".gr":
            found = read_dimacs(out, "sp" if expected.directed else "tw")
        else:
            found = READERS[ending](out)
        self.assertEqual(found, expected, ending)

    def test_other_programs_read_the_same_graph(self):
        draw = random.Random(7)
        kinds = [(d, w, s) for d in (True, False) for w in ("none", "positive", "integer", "real")
                 for s in (True, False) if not (d and s)]
        for i, kind in enumerate(kinds):
            g = random_graph(draw, kind)
            source = write_matrix(self.folder / "in.mtx", g)
            if i % 2 == 1:  # the same graph from a file that has its vertices in another order
                native = self.folder / "in.cairn"
                run = cairn("convert", source, native, "--order", "degree")
                self.assertEqual(run.returncode, 0)
                source = native
            for ending in (*READERS, ".gr"):
                self.check(source, g, ending, ("", ".gz", ".xz")[i % 3])

    def test_one_vertex_and_no_edges(self):
        for n in (1, 3):
            source = self.file("in.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n"
                                         f"{n} {n} 0\n")
            for ending in (".gr", ".col", ".graph", ".mtx"):
                out = self.folder / ("out" + ending)
                self.assertEqual(cairn("convert", source, out).returncode, 0)
                found = read_dimacs(out, "tw") if ending == ".gr" else READERS[ending](out)
                self.assertEqual(found, Graph(n, False, []))
                self.assertEqual(report("info", out)["graph"]["vertices"], n)
            for ending in (".el", ".csv"):
                self.refused("convert", source, self.folder / ("out" + ending), saying="only edges")

    def test_isolated_vertices_that_a_list_leaves_out_are_reported(self):
        source = self.file("in.mtx", "%%MatrixMarket matrix coordinate pattern general\n"
                                     "9 9 2\n2 1\n3 3\n")
        result = report("convert", source, self.folder / "o.csv")["result"]
        self.assertEqual(result["isolated_left_out"], 6)
        self.assertIn("6 vertices without edges",
                      cairn("convert", source, self.folder / "o.el").stdout)
        self.assertEqual(report("convert", source, self.folder / "o.mtx")["result"]
                         ["isolated_left_out"], 0)

    def test_weights_that_a_list_leaves_out_are_reported(self):
        source = self.file("in.wel", "1 2 5\n2 3 6\n3 4 0\n")
        for ending, count in ((".el", 3), (".txt.gz", 3), (".wel", 0), (".csv", 0)):
            run = cairn("convert", source, self.folder / ("o" + ending))
            self.assertEqual("the weights of 3 edges" in run.stdout, count == 3, run.stdout)
            result = report("convert", source, self.folder / ("o" + ending))["result"]
            self.assertEqual(result["weights_left_out"], count)
        self.assertEqual(report("convert", source, self.folder / "o.mtx")["result"]
                         ["weights_left_out"], 0)
        result = report("convert", self.folder / "o.el", self.folder / "again.el")["result"]
        self.assertEqual(result["weights_left_out"], 0)

    def test_texts(self):
        source = self.file("in.el", "bob alice\nalice eve\n")
        out = self.folder / "o.csv"
        self.assertEqual(cairn("convert", source, out, "--ids", "text").returncode, 0)
        self.assertEqual(sorted(lines_of(out)), ["alice,eve", "bob,alice", "source,target"])
        self.assertEqual(report("info", out, "--ids", "text")["graph"]["edges"], 2)
        for ending in (".gr", ".col", ".graph", ".mtx"):
            self.refused("convert", source, self.folder / ("o" + ending), "--ids", "text", "-s",
                         saying="the vertex ids 1 to n")
            run = cairn("convert", source, self.folder / ("o" + ending), "--ids", "text", "-s",
                        "--renumber")
            self.assertEqual(run.returncode, 0, run.stderr)

    def test_once_and_ends(self):
        both = self.file("in.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n"
                                   "3 3 2\n2 1 4\n3 1 5\n")
        out = self.folder / "o.gr"
        self.assertEqual(cairn("convert", both, out, "--once").returncode, 0)
        self.assertEqual(read_dimacs(out, "sp").edges, [(1, 2, 4), (1, 3, 5)])
        self.assertEqual(cairn("convert", both, self.folder / "o.csv", "--once").returncode, 0)
        self.assertEqual(report("info", self.folder / "o.csv", "-s")["graph"]["edges"], 2)
        flow = self.folder / "o.max"
        self.assertEqual(cairn("convert", both, flow, "--from", 3, "--to", 2).returncode, 0)
        self.assertEqual(lines_of(flow)[1:3], ["n 3 s", "n 2 t"])
        for options, saying in (([flow], "--from ID"),
                                ([flow, "--from", 1, "--to", 7], "7 is not a vertex"),
                                ([flow, "--from", 1, "--to", 1], "differ"),
                                ([flow, "--from", 1, "--to", 2, "--once"], "both directions"),
                                ([out, "--from", 1, "--to", 2], "--from and --to"),
                                ([self.folder / "o.graph", "--once"], "--once"),
                                ([self.folder / "o.csv", "--layout", "always"], "--layout")):
            self.refused("convert", both, *options, saying=saying)
        self.refused("generate", "--grid", "2x2", out, "--renumber", "--once", saying="--once")

    def test_ends_are_those_of_the_input_unless_given(self):
        flow = self.file("in.max", "p max 3 2\nn 3 s\nn 1 t\na 3 2 4\na 2 1 5\n")
        out = self.folder / "o.max.gz"
        for ends, lines in (((), ["n 3 s", "n 1 t"]), (("--to", 2), ["n 3 s", "n 2 t"])):
            self.assertEqual(cairn("convert", flow, out, *ends).returncode, 0)
            self.assertEqual(lines_of(out)[1:3], lines)
        self.refused("convert", flow, out, "--from", 1, saying="differ")
        plain = self.file("plain.max", "p max 3 1\na 3 2 4\n")
        self.refused("convert", plain, out, saying="--from ID")
        for name, left_out in ((out, False), (self.folder / "o.gr", True)):
            self.assertIs(report("convert", flow, name)["result"]["terminals_left_out"], left_out)
        self.assertIn("the source and the sink of the flow",
                      cairn("convert", flow, self.folder / "o.cairn").stdout)

    def test_a_layout_that_is_left_out_is_reported(self):
        native, out = self.folder / "in.cairn", self.folder / "o.cairn"
        self.assertEqual(cairn("generate", "-g", 6, native, "--layout", "always").returncode, 0)
        for output in (out, self.folder / "o.el"):
            self.assertIn("the layout for pagerank", cairn("convert", native, output).stdout)
        for input, options in ((native, ("--layout", "always")), (out, ())):
            result = report("convert", input, self.folder / "p.cairn", *options)["result"]
            self.assertIs(result["layout_left_out"], False)

    def test_ends_of_a_flow_are_ids_of_the_input(self):
        flow = self.folder / "o.max"
        numbers = self.file("in.wel", "2 3 4\n3 5 1\n5 7 2\n7 2 1\n")
        native = self.folder / "in.cairn"
        self.assertEqual(cairn("convert", numbers, native, "--order", "hash").returncode, 0)
        for source in (numbers, native):
            run = cairn("convert", source, flow, "--renumber", "--from", 2, "--to", 7)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertEqual(lines_of(flow)[1:3], ["n 1 s", "n 4 t"])
        self.refused("convert", numbers, flow, "--renumber", "--from", 2, "--to", 1,
                     saying="1 is not a vertex")
        texts = self.file("texts.wel", "bob alice 1\nalice eve 2\n")
        run = cairn("convert", texts, flow, "--ids", "text", "--renumber", "--from", "bob", "--to",
                    "eve")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(lines_of(flow)[1:3], ["n 2 s", "n 3 t"])

    def test_an_order_that_the_output_does_not_keep_is_refused(self):
        for ending in (".mtx", ".gr", ".max", ".col", ".graph"):
            self.refused("generate", "--grid", "2x2", self.folder / ("o" + ending), "--renumber",
                         "--order", "hash", saying="--order has no effect here")
        for ending in (".el", ".csv", ".cairn"):
            run = cairn("generate", "--grid", "2x2", self.folder / ("o" + ending), "--order", "hash")
            self.assertEqual(run.returncode, 0, run.stderr)

    def test_a_partition_needs_ranks(self):
        edges = self.file("e.el", "1 2\n")
        for command in ("info", "cc"):
            for ranks in ((), ("--ranks", 1), ("--sim", "ranks=1")):
                self.refused(command, edges, "--partition", "edges", *ranks, saying="--ranks")
            run = cairn(command, edges, "--partition", "edges", "--ranks", 2)
            self.assertEqual(run.returncode, 0)


if __name__ == "__main__":
    cli_test.CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
