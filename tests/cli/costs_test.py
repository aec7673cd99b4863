#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Costs that cairn bench measures, writes and saves: costs_test.py PATH_OF_CAIRN."""
import json
import os
import pathlib
import sys
import tempfile
import unittest

import cli_test
from cli_test import InAFolder, cairn, report
from trace_test import mpi, run_mpi


class Costs(InAFolder):
    def test_bench_model_writes_costs_from_which_a_run_begins(self):
        file = self.folder / "costs.json"
        report("bench", "model", "--passes", 11, "--output", file)
        mst = ["mst", "-g", 6, "--threads", 2, "--verify", "--costs"]
        r = report(*mst, file)
        if not r["machine"]["hardware_transactions"]:
            self.assertIn("fitted costs", r["result"]["trials"][0]["chosen"])
        for costs in ('{"stm_per_vertex_ns": 1, "locks_per_vertex_ns": "many"}', "{}",
                      file.read_text().replace('"stm_per_vertex_ns": ', '"stm_per_vertex_ns": -')):
            self.file("costs.json", costs)
            self.refused(*mst, file, saying="expected costs such as")
        pipe = self.folder / "pipe.json"
        os.mkfifo(pipe)
        for path, saying in ((self.folder, "is a directory"), (pipe, "is not a regular file")):
            self.refused(*mst, path, saying=saying)
            self.refused("bfs", "-g", 6, "--sim", f"ranks=2,clock={path}", saying=saying)

    def test_bench_model_saves_costs_that_every_command_finds_and_names(self):
        here = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        mst = ["mst", "-g", 6, "--threads", 2]
        self.assertEqual(report(*mst, environment=here)["settings"]["costs"], "auto")
        report("bench", "model", "--passes", 11, "--save", environment=here)
        file, = (self.folder / "cache" / "cairn").iterdir()
        self.assertEqual(report(*mst, environment=here)["settings"]["costs"], str(file))
        self.assertIn(str(file), cairn(*mst, environment=here).stdout)
        without = report(*mst, "--costs", "none", environment=here)
        self.assertEqual(without["settings"]["costs"], "none")
        self.assertNotIn("fitted", without["result"]["trials"][0]["chosen"])
        file.write_text("{}")
        run = cairn(*mst, environment=here)
        self.assertEqual(run.returncode, 0)
        self.assertIn(f"the saved costs are not used: {file}", run.stderr)
        self.assertEqual(cairn(*mst, "--quiet", environment=here).stderr, "")
        for launcher in filter(None, map(mpi, ("mpich", "openmpi"))):
            run = run_mpi(launcher, 3, *mst, environment=here)
            self.assertEqual(run.stderr.count("the saved costs are not used"), 1, run.stderr)

    def test_unusable_costs_are_reported_once_by_all_ranks(self):
        costs = self.file("none.json", "{}")
        for launcher in filter(None, map(mpi, ("mpich", "openmpi"))):
            run = run_mpi(launcher, 3, "bfs", "-g", 6, "--costs", costs)
            self.assertEqual(run.stderr.count("none.json"), 1, run.stderr)
            self.assertNotEqual(run.returncode, 0)
        nowhere = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
        run = cairn("bench", "model", "--save", environment=nowhere)
        self.assertEqual(run.returncode, 2)

    def test_costs_that_cannot_be_saved_are_refused_before_they_are_measured(self):
        for cache in (self.file("cache", ""), "/proc"):
            run = cairn("bench", "model", "--save", environment={**os.environ,
                                                                 "XDG_CACHE_HOME": str(cache)})
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn("cannot be written", run.stderr)

    def test_bench_refuses_what_it_would_take_no_notice_of_or_lose(self):
        for bench in ("model", "sim"):
            for option in (("--sim", "ranks=1"), ("--mechanism", "stm"), ("--filter", 0),
                           ("--routing", "grid")):
                self.refused("bench", bench, *option, saying=option[0])
            self.refused("bench", bench, "--quiet", "--stats", saying="--stats")
            nowhere = self.folder / "none" / "costs.json"
            self.refused("bench", bench, "--passes", 1 << 20, "--output", nowhere,
                         saying="cannot be written")
            self.refused("bench", bench, "--output", self.folder, saying="cannot be written")

    def test_bench_model_fits_a_line_to_each_mechanism(self):
        r = report("bench", "model", "--passes", 1, "--vertices", 256)
        self.assertIsNone(r["verified"])
        fitted = {m["mechanism"]: m for m in r["result"]["mechanisms"]}
        works = r["machine"]["hardware_transactions"]
        self.assertEqual(set(fitted), {"plain", "atomics", "locks", "one-lock", "stm"}
                         | ({"htm"} if works else set()))
        for name, m in fitted.items():
            self.assertLessEqual({"per_vertex_ns", "fixed_ns", "r_squared"}, set(m["start"]))
            self.assertLessEqual({"per_vertex_ns", "fixed_ns", "r_squared", "samples"}, set(m))
            self.assertEqual("crossing" in m, name != "atomics")
        for option in (("--ranks", 2), ("--threads", 2), ("--coalesce", 64)):
            self.refused("bench", "model", *option, saying=option[0])

    def test_bench_ignores_variables_of_other_commands(self):
        others = {**os.environ, "CAIRN_SIM": "ranks=2", "CAIRN_RANKS": "3", "CAIRN_THREADS": "2"}
        model = report("bench", "model", "--passes", 1, "--vertices", 256, environment=others)
        self.assertEqual((model["ranks"], model["settings"]["sim"]), (1, "off"))
        self.assertEqual(report("bench", "sim", "--passes", 1, environment=others)["ranks"], 2)

    def test_bench_sim_writes_costs_that_a_simulated_cluster_takes(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "costs.json"
            here = report("bench", "sim", "--passes", 1, "--output", file)
            self.assertEqual((here["ranks"], here["threads"]), (2, 1))
            self.assertEqual(json.loads(file.read_text()), here["result"])
            bfs = ["bfs", "-g", 8, "--source", 1, "--sim"]
            spec = f"ranks=4,clock={file}"
            runs = [report(*bfs, spec)["seconds"]["run"] for _ in range(2)]
            self.assertEqual(runs[0], runs[1])
            slow = report(*bfs, f"{spec},latency_us=1000000")["seconds"]["run"]
            self.assertGreater(min(slow), 1)
            self.assertLess(max(runs[0]), 1)


if __name__ == "__main__":
    cli_test.CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
