#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command graphalytics: graphalytics_test.py PATH_OF_CAIRN [unittest options].

The data sets of LDBC are those in validation/graphalytics of the data folder; tests that need them
are skipped without it."""
import itertools
import json
import os
import pathlib
import subprocess
import sys
import unittest

import cli_test
from cli_test import LAUNCHERS, InAFolder, cairn, under_mpi

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("CAIRN_DATA", ROOT.parent / "shared" / "data"))
LDBC = DATA / "validation" / "graphalytics"
needs_data = unittest.skipUnless(LDBC.is_dir(), f"there is no folder {LDBC} (CAIRN_DATA)")

# 5 stands alone; 2 -> 30, 30 -> 2, 30 -> 400.
FILES = {
    "tiny.properties": """# A comment
graph.tiny.vertex-file = tiny.v
graph.tiny.edge-file = tiny.e
graph.tiny.meta.vertices = 4
graph.tiny.meta.edges = 3
graph.tiny.directed = true
graph.tiny.edge-properties.names = weight
graph.tiny.edge-properties.types = real
graph.tiny.algorithms = bfs, cdlp, lcc, pr, sssp, wcc
graph.tiny.bfs.source-vertex = 2
graph.tiny.cdlp.max-iterations = 1
graph.tiny.pr.damping-factor = 0.85
graph.tiny.pr.num-iterations = 0
graph.tiny.sssp.weight-property = weight
graph.tiny.sssp.source-vertex = 2
""",
    "tiny.v": "2\n5\n30\n400\n",
    "tiny.e": "2 30 0.5\n30 2 1.5\n30 400 2.25\n",
    "tiny-BFS": "400 2\n2 0\n5 9223372036854775807\n30 1\n",
    "tiny-CDLP": "2 30\n5 5\n30 2\n400 30\n",
    "tiny-LCC": "2 0.0\n5 0.0\n30 0\n400 0e0\n",
    "tiny-PR": "2 0.25\n5 0.25\n30 2.5e-1\n400 0.25001\n",
    "tiny-SSSP": "2 0\n5 infinity\n30 0.5\n400 2.75\n",
    "tiny-WCC": "2 30\n5 5\n30 30\n400 30\n",
}


class Tiny(InAFolder):
    places = itertools.cycle((["--threads", 1], ["--ranks", 2, "--threads", 1]))

    def dataset(self, **changed):
        """A copy of the files, in which some are changed: PROPERTIES=(old, new), or None to leave
        one out."""
        for name, text in FILES.items():
            key = name.replace("tiny.", "").replace("tiny-", "")
            change = changed.get(key, ("", ""))
            if change is None:
                (self.folder / name).unlink(missing_ok=True)
                continue
            if isinstance(change, str):
                text = change
            else:
                self.assertIn(change[0], text)
                text = text.replace(*change)
            self.file(name, text)
        return self.folder

    def test_every_algorithm_is_compared(self):
        for options in (["--threads", 1], ["--threads", 2], ["--ranks", 3, "--threads", 1],
                        ["--sim", "ranks=8"]):
            run = cairn("graphalytics", "--dataset", self.dataset(), "--json", *options)
            self.assertEqual(run.returncode, 0, run.stderr)
            report = json.loads(run.stdout)
            self.assertIs(report["verified"], True)
            self.assertEqual(report["graph"]["name"], "tiny")
            self.assertEqual(report["graph"]["vertices"], 4)
            runs = report["result"]["runs"]
            self.assertEqual([r["algorithm"] for r in runs],
                             ["bfs", "cdlp", "lcc", "pr", "sssp", "wcc"])
            self.assertEqual(len(report["seconds"]["run"]), 6)
            for r in runs:
                self.assertEqual((r["vertices"], r["correct"], r["wrong"]), (4, True, None))

    def test_counters_are_of_the_runs_alone(self):
        run = cairn("graphalytics", "--dataset", self.dataset(), "--json", "--ranks", 2,
                    "--threads", 1)
        found = json.loads(run.stdout)
        for name in ("counters", "counters_load", "counters_verify"):
            self.assertGreater(found[name]["collectives"], 0)

    def test_a_graph_may_have_no_edges(self):
        self.dataset(e="", properties=("meta.edges = 3", "meta.edges = 0"),
                     BFS="".join(f"{v} {0 if v == 2 else 2**63 - 1}\n" for v in (2, 5, 30, 400)),
                     CDLP="2 2\n5 5\n30 30\n400 400\n", WCC="2 2\n5 5\n30 30\n400 400\n",
                     SSSP="2 0\n5 infinity\n30 infinity\n400 infinity\n")
        for options in (["--threads", 1], ["--ranks", 2, "--threads", 1]):
            run = cairn("graphalytics", "--dataset", self.folder, *options)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_the_file_itself_may_be_named_and_the_edge_file_misnamed(self):
        self.dataset(properties=("edge-file = tiny.e", "edge-file = tiny.v"))
        run = cairn("graphalytics", "--dataset", self.folder / "tiny.properties", "--stats")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("verified     yes", run.stdout)
        self.assertEqual(run.stdout.count("correct"), 6)

    def test_files_may_begin_with_a_byte_order_mark(self):
        self.dataset(**{name.replace("tiny.", "").replace("tiny-", ""): "\ufeff" + text
                        for name, text in FILES.items()})
        run = cairn("graphalytics", "--dataset", self.folder)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_both_lists_may_have_comments(self):
        self.dataset(v=("5\n", "# five\n5\n % and more\n"), e=("30 2", "# back\n30 2"))
        run = cairn("graphalytics", "--dataset", self.folder)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_settings_that_no_algorithm_uses_are_refused(self):
        for listed, options in (("pr", ("--mechanism", "locks")), ("lcc, cdlp", ("--grain", 4)),
                                ("pr, lcc", ("--ranks", 2, "--filter", 0)),
                                ("bfs", ("--ranks", 2, "--frequency", 4)),
                                ("bfs, wcc", ("--ranks", 2, "--lead", 1)),
                                ("pr", ("--threads", 2, "--deliver", "owner"))):
            self.dataset(properties=("bfs, cdlp, lcc, pr, sssp, wcc", listed))
            self.refused("graphalytics", "--dataset", self.folder, *options,
                         saying=f"{options[-2]} has no effect here")
        self.dataset()
        for options in (("--mechanism", "atomics"), ("--ranks", 2, "--filter", 0),
                        ("--threads", 2, "--lead", 1), ("--threads", 2, "--deliver", "owner")):
            run = cairn("graphalytics", "--dataset", self.folder, *options)
            self.assertEqual(run.returncode, 0, run.stderr)

    def test_a_folder_that_cannot_be_read_is_not_an_empty_one(self):
        self.folder.chmod(0o711)
        data = self.folder / "data"
        data.mkdir(mode=0o111)
        user = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}  # root reads all
        try:
            run = subprocess.run([cli_test.CAIRN, "graphalytics", "--dataset", data],
                                 capture_output=True, text=True, timeout=100, cwd="/", **user)
        except PermissionError:
            self.skipTest("the program is in a folder of root")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("data: cannot be read (Permission denied)", run.stderr)

    def test_a_wrong_value_is_named_and_ends_with_1(self):
        for key, old, new, says in (
                ("BFS", "400 2", "400 3", "tiny bfs: vertex 400 has 2, expected 3"),
                ("BFS", "9223372036854775807", "1", "vertex 5 has 9223372036854775807, expected 1"),
                ("CDLP", "30 2\n", "30 30\n", "tiny cdlp: vertex 30 has 2, expected 30"),
                ("LCC", "30 0\n", "30 0.5\n", "tiny lcc: vertex 30 has 0, expected 0.5"),
                ("PR", "5 0.25\n", "5 0.2501\n", "tiny pr: vertex 5 has 0.25, expected 0.2501"),
                ("SSSP", "5 infinity", "5 1e9", "vertex 5 has infinity, expected 1e+09"),
                ("SSSP", "30 0.5", "30 infinity", "vertex 30 has 0.5, expected infinity"),
                ("WCC", "5 5", "5 30", "tiny wcc: vertex 5 has 5, expected 30"),
                ("WCC", "400 30", "400 400", "vertex 400 has 2, expected 400")):
            run = cairn("graphalytics", "--dataset", self.dataset(**{key: (old, new)}), "--json",
                        *next(self.places))
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertIn(says, run.stderr)
            report = json.loads(run.stdout)
            self.assertIs(report["verified"], False)
            wrong = [r["wrong"] for r in report["result"]["runs"] if not r["correct"]]
            self.assertEqual(len(wrong), 1)
            self.assertIn(f"vertex {wrong[0]['vertex']} has {wrong[0]['found']}, "
                          f"expected {wrong[0]['expected']}", run.stderr)

    def refuses(self, says, **changed):
        self.refused("graphalytics", "--dataset", self.dataset(**changed), *next(self.places),
                     saying=says)

    def test_broken_properties_are_refused(self):
        for key in ("vertex-file", "edge-file", "directed", "algorithms", "bfs.source-vertex",
                    "cdlp.max-iterations", "pr.damping-factor", "pr.num-iterations",
                    "sssp.weight-property", "sssp.source-vertex"):
            self.refuses(f"tiny.properties: has no property 'graph.tiny.{key}'",
                         properties=(f"graph.tiny.{key} =", f"graph.tiny.other.{key} ="))
        for old, new, says in (
                ("directed = true", "directed = maybe",
                 "tiny.properties:6: graph.tiny.directed: expected true or false, found 'maybe'"),
                ("max-iterations = 1", "max-iterations = many",
                 "tiny.properties:11: graph.tiny.cdlp.max-iterations: expected an integer"),
                ("max-iterations = 1", "max-iterations =", "found the end of the line"),
                ("num-iterations = 0", "num-iterations = -3", "expected an integer"),
                ("factor = 0.85", "factor = 1.5", "expected 0 <= damping < 1, found '1.5'"),
                ("factor = 0.85", "factor = nan", "expected a number, found 'nan'"),
                ("bfs.source-vertex = 2", "bfs.source-vertex = 3",
                 "graph.tiny.bfs.source-vertex: expected a vertex of"),
                ("bfs, cdlp", "bfs, cldp", "sssp or wcc, found 'bfs, cldp, lcc, pr, sssp, wcc'"),
                ("bfs, cdlp, lcc, pr, sssp, wcc", " ,", "expected bfs, cdlp, lcc, pr, sssp or wcc"),
                ("names = weight", "names = weight, color", "expected one property, the weight"),
                ("weight-property = weight", "weight-property = color", "found 'color'"),
                ("meta.vertices = 4", "meta.vertices = 5",
                 "tiny.properties:4: graph.tiny.meta.vertices: expected 4 as in"),
                ("meta.edges = 3", "meta.edges = 2", "graph.tiny.meta.edges: expected 3 as in"),
                ("# A comment", "what is this", "tiny.properties:1: expected 'key = value'"),
                ("# A comment", "graph.tiny.directed = true",
                 "tiny.properties:6: graph.tiny.directed is given twice"),
                ("vertex-file = tiny.v", "vertex-file = none.v", "none.v: cannot be opened")):
            self.refuses(says, properties=(old, new))
        self.refuses("contains no file NAME.properties", properties=None)
        self.refuses("tiny.properties: is empty", properties="")
        self.refused("graphalytics", "--dataset", self.folder / "nowhere",
                     saying="expected a folder")
        self.refused("graphalytics", saying="--dataset")
        self.refused("graphalytics", "--dataset", "", saying="--dataset: the value is empty")

    def test_broken_graphs_are_refused(self):
        self.refuses("tiny.v: cannot be opened", v=None)
        self.refuses("tiny.e: cannot be opened", e=None)
        self.refuses("tiny.v: is empty: expected lines 'VERTEX'", v="")
        self.refuses("tiny.e: is empty: expected lines 'SOURCE TARGET WEIGHT'", e="")
        self.refuses("tiny.v:2: expected an id (an integer), found 'five'", v=("5", "five"))
        self.refuses("tiny.v:2: expected the end of the line after the vertex, found '6'",
                     v=("5", "5 6"))
        self.refuses("tiny.v: vertex 2 occurs twice", v=("5", "2"))
        self.refuses("tiny.e:3: expected a vertex of", e=("400", "401"))
        self.refuses("tiny.e:2: expected a vertex of", e=("30 2", "30 3"))
        self.refuses("tiny.e:2: expected a vertex of", e=("30 2 1.5", "30;3;1.5"))
        self.refuses("tiny.e: has no weights, expected 'weight'", e="2 30\n30 2\n30 400\n")
        self.refuses("tiny.e:1: ", e=("0.5", "half"))
        self.refuses("tiny.e:1: expected a weight of at least 0, found '-0.5' (edge from",
                     e=("0.5", "-0.5"))
        self.refuses("tiny.e: the edge from", e=("0.5", "1e308"))

    def test_broken_reference_outputs_are_refused(self):
        self.refuses("tiny-LCC: there is no reference output of lcc", LCC=None)
        self.refuses("tiny-BFS: is empty", BFS="")
        self.refuses("tiny-BFS: has no row for vertex 400, expected one for each of 4 vertices",
                     BFS=("400 2\n", ""))
        self.refuses("tiny-BFS:5: expected one row per vertex, found '30'",
                     BFS=("30 1\n", "30 1\n30 1\n"))
        self.refuses("tiny-BFS:5: expected a vertex of the graph, found '31'",
                     BFS=("30 1\n", "30 1\n31 1\n"))
        self.refuses("tiny-BFS:5: expected an id", BFS=("30 1\n", "30 1\nthe end\n"))
        self.refuses("tiny-BFS:4: expected the end of the line, found '7'", BFS=("30 1", "30 1 7"))
        self.refuses("tiny-BFS:4: expected", BFS=("30 1", "30"))
        self.refuses("tiny-CDLP:1: expected the end of the line, found '.5'",
                     CDLP=("2 30", "2 30.5"))
        self.refuses("tiny-CDLP:1: expected an id", CDLP=("2 30", "2 infinity"))
        self.refuses("tiny-PR:2: expected a value (a number), found 'm'", PR=("5 0.25", "5 m"))
        self.refuses("tiny-PR:2: the value '1e999' is beyond", PR=("5 0.25", "5 1e999"))
        self.refuses("tiny-SSSP:2: expected the end of the line", SSSP=("infinity", "infinityx"))


@needs_data
class Ldbc(unittest.TestCase):
    def check(self, run, datasets):
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        report = json.loads(run.stdout)
        self.assertIs(report["verified"], True)
        self.assertEqual(len(report["result"]["datasets"]), datasets)
        return report

    def test_all_data_sets_agree(self):
        for options in (["--threads", 1], ["--threads", 2], ["--sim", "ranks=4,seed=3"],
                        *(["--ranks", n, "--threads", 1] for n in (2, 3, 4, 8))):
            report = self.check(cairn("graphalytics", "--dataset", LDBC, "--json", *options), 14)
            self.assertEqual(len(report["result"]["runs"]), 24)
            self.assertIsNone(report["graph"])

    def test_both_mpis_agree(self):
        for launcher in LAUNCHERS:
            with self.subTest(launcher):
                for ranks in (1, 2, 3, 4, 8):
                    run = under_mpi(self, launcher, ranks, cli_test.CAIRN, "graphalytics",
                                    "--dataset", LDBC / "example-directed.properties", "--json",
                                    "--threads", 1)
                    report = self.check(run, 1)
                    self.assertEqual(report["ranks"], ranks)
                    self.assertEqual(len(report["result"]["runs"]), 6)


if __name__ == "__main__":
    cli_test.CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
