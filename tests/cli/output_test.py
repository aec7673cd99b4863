#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where output goes, and what it never replaces:
output_test.py PATH_OF_CAIRN [unittest options]."""
import os
import subprocess
import sys
import threading
import unittest

import cli_test
from cli_test import LAUNCHERS, InAFolder, cairn, report, under_mpi


class Outputs(InAFolder):
    def names_of(self, path):
        """The file, and other names of it."""
        soft, hard = self.folder / f"soft-{path.name}", self.folder / f"hard-{path.name}"
        soft.symlink_to(path.name)
        os.link(path, hard)
        return [path, soft, hard, f"{self.folder}/./../{self.folder.name}/{path.name}"]

    def test_the_input_is_not_replaced_whatever_its_name(self):
        for name in ("g.cairn", "g.cairn.gz", "g.el", "g.el.xz"):
            graph = self.folder / name
            cairn("generate", "--grid", "30x40", graph)
            before = graph.read_bytes()
            for other in self.names_of(graph):
                self.refused("convert", graph, other, saying="is the input")
                self.refused("convert", other, graph, saying="is the input")
                self.assertEqual(graph.read_bytes(), before)
        graph = self.file("g.csv", "source,target\n1,2\n2,3\n")
        for other in self.names_of(graph):
            for ranks in (1, 2):
                self.refused("bfs", graph, "--output", other, "--ranks", ranks,
                             saying="is the input")
                self.refused("mst", graph, "-s", "--forest", other, "--ranks", ranks,
                             saying="is the input")
        self.assertEqual(graph.read_text(), "source,target\n1,2\n2,3\n")

    def test_two_outputs_are_two_files(self):
        paths, other = self.folder / "p.csv", self.folder / "other.csv"
        other.symlink_to(paths.name)
        for exists in (False, True):
            for name in (paths, other, f"{self.folder}/./p.csv"):
                self.refused("walk", "-g", 6, "--output", paths, "--paths", name,
                             saying="the same file")
            self.assertEqual(paths.exists(), exists)
            paths.write_text("old\n")
        self.assertEqual(cairn("walk", "-g", 6, "--output", paths, "--paths",
                               self.folder / "q.csv").returncode, 0)

    def test_an_output_has_one_run(self):
        for command, option in (("bfs", "--output"), ("walk", "--paths"), ("mst", "--forest")):
            self.refused(command, "-g", 6, option, self.folder / "o.csv", "--sim",
                         "ranks=2,seed=1..3", saying=f"{option} writes one run")

    def test_times_and_rates_have_no_exponents_and_include_the_preparation(self):
        path = self.file("g.el", "1 2\n2 3\n3 4\n7 8\n")
        for latency in (142800, 1e6, 1e9):
            run = ("bfs", path, "--source", 1, "--sim",
                   f"ranks=2,clock=loggp,latency_us={latency:.0f}")
            text = cairn(*run).stdout
            self.assertIn("TEPS", text)
            self.assertNotRegex(text, r"\de[+-]\d")
            self.assertIn(f"build {report(*run)['seconds']['build']:.3g} s"
                          if latency == 1e6 else "build ", text)

    def test_names_that_are_not_utf_8_are_reported(self):
        edges = self.file(os.fsdecode(b"caf\xe9.el"), b"a\xff b\nb c\n")
        trace = self.folder / os.fsdecode(b"t\xe9.json")
        found = report("bfs", edges, "--ids", "text", "--source", os.fsdecode(b"a\xff"),
                       "--trace", trace)
        self.assertEqual(found["graph"]["name"], "caf\ufffd.el")
        self.assertEqual(found["result"]["trials"][0]["source"], "a\ufffd")
        self.assertTrue(found["trace"]["file"].endswith("t\ufffd.json"))
        here = dict(os.environ, CAIRN_PLUGINS=os.fsdecode(b"/caf\xe9"))
        self.assertIn("machine", report("machine", environment=here))
        self.assertEqual(report("settings", environment=here)["settings"]["plugins"],
                         "/caf\ufffd")

    def test_folders_that_cannot_be_examined_are_no_errors_of_the_program(self):
        loop = self.folder / "loop"
        loop.symlink_to(loop)
        found = report("machine", environment=dict(os.environ, CAIRN_PLUGINS=str(loop)))
        self.assertEqual(found["machine"]["mpi"], [])
        graph, gone = self.file("g.el", "1 2\n"), self.folder / "gone"
        gone.mkdir()
        run = subprocess.run(["sh", "-c", 'cd "$1" && rmdir "$1" && exec "$2" convert "$3" o.csv',
                              "sh", gone, cli_test.CAIRN, graph],
                             capture_output=True, text=True, timeout=100)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("o.csv: cannot be written", run.stderr)

    def test_a_failed_run_leaves_the_old_output_and_nothing_beside(self):
        out = self.file("out.csv", "old\n")
        bad = self.file("bad.el", "1 2\n2 x\n")
        self.refused("bfs", bad, "--output", out, saying="bad.el:2")
        self.refused("convert", bad, out.rename(self.folder / "out.el"), saying="bad.el:2")
        self.assertEqual((self.folder / "out.el").read_text(), "old\n")
        self.assertEqual(len(list(self.folder.iterdir())), 2)

    def test_pipes_and_standard_output_take_results(self):
        pipe = self.folder / "pipe.csv"
        os.mkfifo(pipe)
        read = []
        reader = threading.Thread(target=lambda: read.append(pipe.read_text()),
                                  daemon=True)
        reader.start()
        graph = self.file("g.el", "10 20\n20 30\n")
        run = cairn("bfs", graph, "--source", 10, "--output", pipe, "--quiet")
        reader.join(100)
        self.assertEqual((run.returncode, read), (0, ["id,depth\n10,0\n20,1\n30,2\n"]))
        self.assertTrue(pipe.is_fifo())
        out = self.folder / "stdout.csv"
        out.symlink_to("/dev/stdout")
        told = self.folder / "told"
        for mode in ("w", "a"):
            with open(told, mode) as file:
                subprocess.run([cli_test.CAIRN, "bfs", graph, "--source", "10", "--output", out,
                                "--quiet"], stdout=file, timeout=100, check=True)
        self.assertEqual(told.read_text(), "id,depth\n10,0\n20,1\n30,2\n" * 2)

    def test_a_report_that_cannot_be_written_is_a_failure(self):
        many = ["bfs", "-g", "6", "--json", "-n", "100"]  # more than a buffer of the C library
        for arguments in (["--help"], ["settings"], ["settings", "--json"], ["bfs", "-g", "6"],
                          ["bfs", "-g", "6", "--json"], ["bfs", "-g", "6", "--ranks", "2"],
                          many, [*many, "--ranks", "2"], [*many, "--sim", "ranks=2,seed=1..2"]):
            with open("/dev/full", "w") as full:
                run = subprocess.run([cli_test.CAIRN, *arguments], stdout=full, timeout=100,
                                     stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(run.returncode, 1, arguments)
            self.assertIn("cairn: standard output: cannot be written (No space left on device)",
                          run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)

    def test_a_name_that_is_too_long_is_refused_before_the_run(self):
        name = self.folder / ("x" * 300 + ".csv")
        for ranks in (1, 2):
            for option in (("bfs", "--output"), ("mst", "--forest")):
                self.refused(option[0], "-g", 40, option[1], name, "--ranks", ranks,
                             saying="cannot be written (File name too long)")
        self.assertEqual(cairn("bfs", "-g", 6, "--output",
                               self.folder / ("x" * 251 + ".csv")).returncode, 0)

    def test_the_rank_that_writes_is_named(self):
        full = self.folder / "full.csv"
        full.symlink_to("/dev/full")
        for command in (("cc", "--grid", "9x9", "--output"), ("generate", "--grid", "9x9"),
                        ("mst", "--grid", "9x9", "--forest")):
            run = cairn(*command, full, "--ranks", 4, "--threads", 1, "--quiet")
            self.assertEqual((run.returncode, run.stderr),
                             (1, f"cairn: rank 0 failed: {full}: cannot be written (No space left "
                                 "on device)\n"))

    def test_a_reader_that_leaves_is_a_failure(self):
        pipe = self.folder / "pipe.csv"
        os.mkfifo(pipe)

        def read_one_byte():
            with pipe.open("rb", 0) as file:
                file.read(1)

        for ranks, prefix in ((1, ""), (2, "rank 0 failed: ")):
            reader = threading.Thread(target=read_one_byte)
            reader.start()
            run = cairn("generate", "--grid", "300x300", pipe, "--quiet", "--ranks", ranks,
                        "--threads", 1)
            reader.join(100)
            self.assertEqual((run.returncode, run.stderr),
                             (1, f"cairn: {prefix}{pipe}: cannot be written (Broken pipe)\n"))

    def test_under_mpiexec_too(self):
        command = f'exec "{cli_test.CAIRN}" bfs -g 6 --threads 1 --json > /dev/full'
        for launcher in LAUNCHERS:
            with self.subTest(launcher):
                run = under_mpi(self, launcher, 2, "sh", "-c", command)
                self.assertNotEqual(run.returncode, 0)
                self.assertIn("standard output: cannot be written", run.stderr)

    def test_an_unread_pipe_does_not_keep_bad_usage_from_being_refused(self):
        pipe = self.folder / "pipe.csv"
        os.mkfifo(pipe)
        self.refused("bfs", self.folder / "none.el", "--output", pipe, saying="none.el")

    def test_costs_are_written_in_place_of_old_ones(self):
        file = self.file("costs.json", "old")
        report("bench", "model", "--passes", 11, "--output", file)
        self.assertIn("locks_per_vertex_ns", file.read_text())
        self.assertEqual(len(list(self.folder.iterdir())), 1)


if __name__ == "__main__":
    cli_test.CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
