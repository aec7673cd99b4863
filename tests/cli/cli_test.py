#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line's contract, seen from outside: cli_test.py PATH_OF_CAIRN [unittest options]."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CAIRN = ""
# What this user has saved and set is not to matter.
os.environ["XDG_CACHE_HOME"] = "/nonexistent"
for setting in [name for name in os.environ if name.startswith("CAIRN_") and name != "CAIRN_DATA"]:
    del os.environ[setting]


def cairn(*arguments, cwd=None, environment=None):
    return subprocess.run([CAIRN, *map(str, arguments)], capture_output=True, text=True, cwd=cwd,
                          timeout=100, env=environment)


def report(*arguments, **options):
    for _ in range(20):  # measured costs may fit no line while the machine is busy
        run = cairn(*arguments, "--json", **options)
        if "no costs are written" not in run.stderr:
            break
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


LAUNCHERS = ("mpiexec.mpich", "mpiexec.openmpi")


def skip(test, reason):
    """Skips the test, or its part, and tells tools/skipped_tests."""
    print(f"\nskipped: {reason}", file=sys.stderr)
    test.skipTest(reason)


def under_mpi(test, launcher, ranks, *command):
    """The finished command; skips the test, or its part, where this MPI cannot run Cairn."""
    if not shutil.which(launcher):
        skip(test, f"there is no {launcher}")
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1")
    run = subprocess.run([launcher, "-n", str(ranks), *map(str, command)], capture_output=True,
                         text=True, timeout=120, env=environment)
    if "no plugin for" in run.stderr:
        skip(test, f"this Cairn has no plugin for {launcher}")
    return run


class InAFolder(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def refused(self, *arguments, saying=""):
        run = cairn(*arguments)
        self.assertEqual(run.returncode, 2, (arguments, run.stdout, run.stderr))
        self.assertEqual(run.stdout, "")
        self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
        self.assertIn(saying, run.stderr)


class Reports(InAFolder):
    def test_json_is_one_object_with_the_contract_s_keys(self):
        o = report("bfs", "--kronecker", 8, "--verify", "--trials", 3, "--threads", 2)
        self.assertLessEqual({"command", "graph", "settings", "machine", "ranks", "threads",
                              "seconds", "teps", "result", "counters", "counters_load",
                              "counters_verify", "verified", "version"}, set(o))
        self.assertEqual(len(o["seconds"]["run"]), 3)
        self.assertEqual((o["command"], o["threads"], o["verified"]), ("bfs", 2, True))
        self.assertGreater(o["teps"], 0)

    def test_packets_tell_block_sizes_and_steps_of_each_way(self):
        self.assertNotIn("packets", report("bfs", "--kronecker", 6))
        on_ranks = ("bfs", "--kronecker", 6, "--ranks", 3, "--threads", 1)
        rings = {"block_bytes": 8160, "slot_bytes": 64, "steps": [], "ranks": 2}
        self.assertEqual(report(*on_ranks)["packets"], [rings])
        self.assertEqual(report(*on_ranks, "--coalesce", 1000)["packets"],
                         [{**rings, "block_bytes": 1000}])

    def test_without_verify_nothing_is_claimed(self):
        self.assertIsNone(report("bfs", "--kronecker", 6)["verified"])

    def test_people_get_graph_time_teps_mechanism_and_aborts(self):
        text = cairn("bfs", "--kronecker", 8, "--stats").stdout
        for word in ("graph", "time", "TEPS", "mechanism", "grain", "aborts", "counted"):
            self.assertIn(word, text)

    def test_quiet_says_nothing(self):
        run = cairn("bfs", "--kronecker", 6, "--quiet")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    def test_results_do_not_depend_on_ranks_workers_mechanism_or_direction(self):
        def reached(*options):
            o = report("bfs", "--kronecker", 9, "--source", 5, "--verify", *options)
            self.assertTrue(o["verified"])
            return [(t["reached"], t["edges"], t["levels"]) for t in o["result"]["trials"]]
        expected = reached("--threads", 1)
        for options in (["--threads", 2], ["--ranks", 3, "--threads", 1],
                        ["--ranks", 2, "--threads", 2, "--direction", "top-down"],
                        ["--threads", 2, "--mechanism", "locks"],
                        ["--threads", 2, "--mechanism", "one-lock"],
                        ["--threads", 2, "--mechanism", "htm"],
                        ["--sim", "ranks=2,seed=2", "--threads", 2, "--mechanism", "htm",
                         "--retry", "bgq"],
                        ["--sim", "ranks=4,seed=3"]):
            self.assertEqual(reached(*options), expected, options)

    def test_the_same_seed_is_the_same_simulated_run(self):
        def counters(seed):
            return report("bfs", "--kronecker", 8, "--source", 5, "--direction", "top-down",
                          "--sim", f"ranks=5,seed={seed}")["counters"]
        self.assertEqual(counters(7), counters(7))
        self.assertEqual([o["counters"] for o in report(
            "bfs", "--kronecker", 8, "--source", 5, "--direction", "top-down", "--sim",
            "ranks=5,seed=7..7")], [counters(7)])
        self.assertNotEqual([counters(s)["waves"] for s in range(1, 9)],
                            [counters(1)["waves"]] * 8)

    def test_components_do_not_depend_on_ranks_workers_mechanism_or_method(self):
        def found(*options):
            o = report("cc", "--erdos-renyi", "3000:0.0004", "--verify", *options)
            self.assertTrue(o["verified"])
            return [o["result"]["trials"][0][k] for k in ("components", "largest")]
        expected = found("--threads", 1)
        self.assertGreater(expected[0], 500)
        for options in (["--threads", 2], ["--ranks", 3, "--threads", 1],
                        ["--ranks", 2, "--threads", 2, "--method", "propagation"],
                        ["--threads", 2, "--method", "propagation", "--mechanism", "htm"],
                        ["--method", "afforest"], ["--sim", "ranks=4,seed=3"]):
            self.assertEqual(found(*options), expected, options)

    def test_components_are_named_by_the_input_s_smallest_ids(self):
        graph = self.file("g.el", "30 20\n7 9\n20 30\n41 41\n9 8\n")
        out = self.folder / "o.csv"
        for options in ([], ["--verify"], ["--ranks", 2], ["--method", "propagation"]):
            run = cairn("cc", graph, "--output", out, "--quiet", *options)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(out.read_text().split(),
                             ["id,component", "7,7", "8,7", "9,7", "20,20", "30,20", "41,41"])
        self.assertIsNone(report("cc", graph)["verified"])

    def test_spanning_forests_do_not_depend_on_ranks_workers_or_mechanism(self):
        edges = "".join(f"{a} {(a * 7 + b) % 300} {(a * 13 + b) % 17}\n"
                        for a in range(300) for b in (1, 5))
        graph = self.file("g.wel", edges)
        def found(*options):
            o = report("mst", graph, "--symmetrize", "--verify", *options)
            self.assertTrue(o["verified"])
            return [o["result"]["trials"][0][k] for k in ("weight", "edges", "trees", "weighted")]
        expected = found("--threads", 1)
        self.assertEqual(expected[1:], [298, 2, True])  # two components
        for options in (["--threads", 2], ["--ranks", 3, "--threads", 1],
                        ["--threads", 2, "--mechanism", "locks"], ["--sim", "ranks=4,seed=3"],
                        ["--sim", "ranks=4,seed=3", "--merge", "transactions"],
                        ["--ranks", 2, "--threads", 2, "--merge", "transactions"]):
            self.assertEqual(found(*options), expected, options)
        def merge(*options):
            trial = report("mst", graph, "--symmetrize", *options)["result"]["trials"][0]
            self.assertTrue(trial["merge_chosen"])
            return trial["merge"]
        self.assertEqual(merge(), "activities")
        self.assertEqual(merge("--ranks", 2), "hooking")
        self.assertEqual(merge("--ranks", 2, "--merge", "transactions"), "transactions")
        graph = self.file("g.el", "1 2\n2 3\n3 1\n7 7\n")
        o = report("mst", graph, "--symmetrize")["result"]["trials"][0]
        self.assertEqual((o["weight"], o["edges"], o["trees"], o["weighted"]), (2, 2, 2, False))

    def test_paths_between_vertices_are_found_or_not(self):
        graph = self.file("g.el", "30 20\n7 9\n20 40\n9 8\n")
        for options in ([], ["--ranks", 2], ["--sim", "ranks=3,seed=2"]):
            for ends, connected in (((30, 40), True), ((40, 30), False), ((7, 40), False),
                                    ((8, 8), True)):
                o = report("st-connectivity", graph, "--from", ends[0], "--to", ends[1],
                           "--verify", *options)
                self.assertTrue(o["verified"])
                self.assertEqual(o["result"]["trials"][0]["connected"], connected, ends)
        run = cairn("st-connectivity", graph, "--from", 1, "--to", 7)
        self.assertEqual((run.returncode, "--from 1 is not a vertex" in run.stderr), (2, True))

    def test_colors_are_proper(self):
        out = self.folder / "o.csv"
        for options in ([], ["--ranks", 2], ["--threads", 2], ["--sim", "ranks=3,seed=2"]):
            o = report("coloring", "--kronecker", 8, "--verify", "--output", out, *options)
            self.assertTrue(o["verified"])
            rows = [row.split(",") for row in out.read_text().split()]
            self.assertEqual(rows[0], ["id", "color"])
            self.assertEqual(o["result"]["trials"][0]["colors"],
                             1 + max(int(color) for _, color in rows[1:]))

    def test_maxflow_finds_the_same_value_everywhere(self):
        graph = self.file("g.wel", "1 2 2\n1 3 3\n2 4 1\n3 4 4\n2 3 0\n5 1 9\n")
        for options in (["--threads", 2], ["--ranks", 3, "--threads", 1],
                        ["--threads", 2, "--mechanism", "locks"], ["--sim", "ranks=4,seed=3"]):
            o = report("maxflow", graph, "--from", 1, "--to", 4, "--verify", *options)
            self.assertTrue(o["verified"])
            self.assertEqual(o["result"]["trials"][0]["value"], 4, options)
        none = report("maxflow", graph, "--from", 4, "--to", 5, "--verify",
                      "--output", self.folder / "cut.csv")
        self.assertEqual(none["result"]["trials"][0]["value"], 0)
        self.assertEqual((self.folder / "cut.csv").read_text(),
                         "id,source_side\n1,1\n2,1\n3,1\n4,1\n5,0\n")
        flow = "p max 4 4\nn 1 s\nn 4 t\na 1 2 2\na 1 3 3\na 2 4 1\na 3 4 4\n"
        named, other_name = self.file("f.max", flow), self.file("f.gr", flow)
        cut = self.folder / "file.csv"
        for options in ((), ("--ranks", 2), ("--sim", "ranks=3,seed=1")):
            for file in (named, other_name):
                trial = report("maxflow", file, *options, "--output", cut)["result"]["trials"][0]
                self.assertEqual((trial["from"], trial["to"], trial["value"]), (1, 4, 4), options)
                self.assertTrue(report("verify", file, cut, *options)["verified"])
        self.refused("maxflow", named, "--seed", 3, saying="--seed has no effect here")
        unnamed = self.file("u.max", "p sp 3 2\na 1 2 3\na 2 3 3\n")
        self.assertEqual(cairn("maxflow", unnamed, "--seed", 3).returncode, 0)
        trial = report("maxflow", named, "--from", 2, "--to", 4)["result"]["trials"][0]
        self.assertEqual((trial["from"], trial["value"]), (2, 1))
        self.refused("maxflow", self.file("b.max", "p max 2 1\nn 3 s\nn 1 t\na 1 2 1\n"),
                     saying="b.max:2: expected an id from 1 to 2, found 3")
        late = self.file("late.max", "p max 3 2\nn 1 s\na 1 2 1\nn 3 t\na 2 3 1\n")
        wrong = self.file("wrong.max", "p max 3 1\nn 9 q\na 1 2 3\n")
        half = self.file("half.max", "p max 3 2\nn 1 s\na 1 2 5\na 2 3 4\n")
        self.assertEqual(report("maxflow", half, "--to", 3)["result"]["trials"][0]["value"], 4)
        self.refused("maxflow", half, saying=f"{half}: names the source, but no sink")
        self.refused("convert", half, cut.with_suffix(".max"), saying=f"{half}: names the source")
        self.assertTrue(report("convert", half, cut.with_suffix(".el"))["result"]
                        ["terminals_left_out"])
        lone = self.file("lone.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n")
        self.refused("maxflow", lone, saying=f"{lone}: has 1 vertex, expected at least 2")
        for command in ("maxflow", "st-connectivity", "info"):
            self.refused(command, late, saying=f"{late}:4: a line 'n ...' is allowed only before")
            self.refused(command, wrong, saying=f"{wrong}:2: expected 'n ID s' or 'n ID t'")
        self.refused("maxflow", graph, "--from", 4, "--to", 4, saying="same vertex")
        self.refused("maxflow", graph, "--from", 9, saying="not a vertex")
        negative, real = self.file("n.wel", "1 2 1\n3 4 -1\n"), self.file("r.wel", "1 2 0.5\n")
        self.refused("maxflow", negative, "--ranks", 2, saying=f"{negative}:2: expected a weight "
                     "of at least 0, found '-1' (edge from 3 to 4)")
        self.refused("maxflow", real, saying=f"{real}:1: expected a weight that is a 32-bit "
                     "integer, found '0.5' (edge from 1 to 2)")
        for source, problem in ((negative, "the edge from 3 to 4 has weight -1, expected a "
                                           "capacity of at least 0"),
                                (real, "the edge from 1 to 2 has the real weight 0.5, expected a "
                                       "capacity that is a 32-bit integer")):
            native = self.folder / "n.cairn"
            self.assertEqual(cairn("convert", source, native).returncode, 0)
            for options in ((), ("--ranks", 2)):
                self.refused("maxflow", native, *options, saying=f"{native}: {problem}")
            ids = sorted({v for row in source.read_text().split("\n") for v in row.split()[:2]})
            sides = self.file("s.csv", "id,source_side\n" + "".join(
                f"{v},{int(v == '1')}\n" for v in ids))
            self.refused("verify", source, sides, "--from", 1, "--to", 2,
                         saying=f"{source}: {problem}")

    def test_transactions_of_a_simulated_cluster_abort_and_retry_as_asked(self):
        def counted(*options):
            o = report("bfs", "-g", 12, "-n", 4, "--direction", "top-down", "--verify",
                       "--threads", 2, "--sim", "ranks=2,seed=3", *options)
            self.assertTrue(o["verified"])
            return o["counters"]
        rtm, hle, bgq = (counted("--mechanism", "htm", "--retry", retry)
                         for retry in ("rtm", "hle", "bgq"))
        self.assertGreater(rtm["aborts_conflict"], 0)
        self.assertGreater(hle["fallbacks"], rtm["fallbacks"])
        self.assertGreater(hle["fallbacks"], bgq["fallbacks"])
        self.assertEqual(counted("--mechanism", "htm"), counted("--mechanism", "htm"))
        self.assertGreater(counted()["attempts"], 0)

    def test_gap_s_short_forms_give_the_same_run(self):
        pairs = [
            (["-g", 8, "-k", 4, "-n", 2, "-r", 3, "-v"],
             ["--kronecker", "8:4", "--trials", 2, "--source", 3, "--verify"]),
            (["-u", 8], ["--uniform", 8]),
            (["-f", "E", "-s", "-r", 10], ["E", "--symmetrize", "--source", 10]),
        ]
        edges = self.file("e.el", "10 20\n20 30\n7 10\n")
        for short, long in pairs:
            one, other = (report("bfs", *[edges if x == "E" else x for x in form])
                          for form in (short, long))
            for key in ("graph", "result", "verified", "ranks", "threads"):
                self.assertEqual(one[key], other[key], (short, key))

    def test_environment_sets_what_the_line_does_not(self):
        environment = dict(os.environ, CAIRN_THREADS="2")
        self.assertEqual(report("bfs", "-g", 6, environment=environment)["threads"], 2)
        self.assertEqual(report("bfs", "-g", 6, "--threads", 1, environment=environment)["threads"],
                         1)


class Pagerank(InAFolder):
    GRAPH = "1 2\n2 3\n3 1\n3 4\n5 4\n1 1\n"

    def ranks(self, *options):
        out = self.folder / "ranks.csv"
        o = report("pagerank", self.file("g.el", self.GRAPH), "--precision", "double", "--verify",
                   "--output", out, *options)
        self.assertTrue(o["verified"])
        rows = [line.split(",") for line in out.read_text().split()]
        self.assertEqual(rows[0], ["id", "rank"])
        return {int(v): float(x) for v, x in rows[1:]}

    def test_ranks_do_not_depend_on_ranks_workers_variant_or_accumulation(self):
        for convention in ("gap", "graphalytics", "networkx"):
            limits = ["--convention", convention, "-i", 200]
            if convention != "graphalytics":
                limits += ["-t", 1e-13]
            expected = self.ranks(*limits, "--threads", 1)
            if convention != "gap":
                self.assertAlmostEqual(sum(expected.values()), 1)
            for options in (["--sweep", "jacobi"], ["--variant", "push"], ["--variant", "edge"],
                            ["--variant", "push", "--aggregate", "bins", "--threads", 2],
                            ["--layout", "always"], ["--layout", "none", "--ranks", 2],
                            ["--variant", "edge", "--aggregate", "off", "--ranks", 3],
                            ["--variant", "pull", "--ranks", 2, "--threads", 2]):
                for v, x in self.ranks(*limits, *options).items():
                    self.assertAlmostEqual(x, expected[v], 10, (convention, options))

    def test_gap_s_short_forms_are_limits(self):
        trial = report("pagerank", "-g", 8, "-i", 3, "-t", 0)["result"]["trials"][0]
        self.assertEqual(trial["iterations"], 3)
        trial = report("pagerank", "-g", 8, "-i", 20, "-t", 0)["result"]["trials"][0]
        self.assertEqual(trial["layout"], "groups")  # which 20 sweeps repay
        trial = report("pagerank", "-g", 8, "-t", 10)["result"]["trials"][0]
        self.assertEqual(trial["iterations"], 1)

    def test_a_native_file_may_have_the_layout(self):
        edges = self.file("g.el", self.GRAPH)
        for name in ("g.cairn", "g.cairn.zst"):
            native = self.folder / name
            for source in (["-g", 8], [edges]):
                options = ["--layout", "always"]
                run = cairn("convert", *source, native, *options)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertIn("pull-layout", cairn("info", native).stdout)
                def found(*options):
                    o = report("pagerank", native, "--verify", *options)
                    self.assertTrue(o["verified"])
                    trial = o["result"]["trials"][0]
                    return trial["layout"], trial["layout_from"]
                for wanted in ("auto", "always"):
                    self.assertEqual(found("--layout", wanted, "-n", 2), ("groups", "file"))
                self.assertEqual(found("--layout", "none"), ("none", "none"))
                self.assertEqual(found("--layout", "always", "--ranks", 2, "--threads", 1),
                                 ("groups", "in-edges"))
                self.assertEqual(found("--layout", "always", "--order", "degree"),
                                 ("groups", "in-edges"))
        plain = self.folder / "p.cairn"
        self.assertEqual(cairn("convert", native, plain).returncode, 0)
        self.assertNotIn("pull-layout", cairn("info", plain).stdout)
        self.refused("convert", native, self.folder / "o.el", "--layout", "always",
                     saying=".cairn files")

    def test_what_it_cannot_do_is_refused(self):
        self.refused("pagerank", "-g", 6, "--damping", 1, saying="damping")
        self.refused("pagerank", "-g", 6, "--tolerance", "nan", saying="tolerance is nan")
        self.refused("pagerank", "-g", 6, "-t", -1, saying="tolerance is -1")
        self.refused("pagerank", "-g", 6, "--convention", "graphalytics", "-t", 1,
                     saying="--tolerance has no effect")
        self.refused("pagerank", "-g", 6, "--aggregate", "bins", saying="--aggregate is for")
        self.refused("pagerank", "-g", 6, "--variant", "edge", "--layout", "none", saying="is for")
        self.refused("pagerank", "-g", 6, "-i", -3, saying="'-3' is not an integer")
        self.refused("pagerank", "-g", 6, "--variant", "push", "--sweep", "in-place",
                     saying="in-place")

    def test_delivery_to_the_owner_without_effect_is_refused(self):
        owner = ("--deliver", "owner")
        self.refused("coloring", "-g", 6, "--threads", 2, *owner, saying="answered")
        self.refused("bfs", "-g", 6, "--threads", 1, *owner, saying="one worker")
        self.refused("bfs", "-g", 6, "--threads", 2, *owner, "--grain", 8, saying="--grain")


class Facts(unittest.TestCase):
    def test_machine_says_why_there_are_no_transactions(self):
        m = report("machine")["machine"]
        self.assertIn("hardware_transactions", m)
        self.assertTrue(m["hardware_transactions_reason"])

    def test_settings_name_variable_and_value(self):
        o = report("settings")
        self.assertEqual(o["version"], report("machine")["version"])
        rows = {s["name"]: s for s in o["result"]}
        self.assertEqual(rows["threads"]["variable"], "CAIRN_THREADS")
        self.assertEqual(o["settings"], {name: row["value"] for name, row in rows.items()})
        self.assertEqual(report("settings", "--threads", 3)["settings"]["threads"], "3")


if __name__ == "__main__":
    CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
