#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/peers and bench/figures/report.py, with programs that stand in for the real ones."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class InAFolder(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = Path(kept.name)

    def program(self, name, code):
        file = self.folder / name
        file.write_text(f"#!{sys.executable}\n{code}\n")
        file.chmod(0o755)
        return str(file)

    def run_script(self, script, *arguments):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PEER_")}
        return subprocess.run([sys.executable, ROOT / script, *map(str, arguments)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean)


class Peers(InAFolder):
    def cairn(self, seconds, verified=True):
        report = {"seconds": {"run": [seconds]}, "verified": verified}
        return self.program("cairn", f"print({json.dumps(json.dumps(report))})")

    def peers(self, *arguments):
        done = self.run_script("bench/peers", "--pairs", 3, "--json", *arguments)
        return done.returncode, {r["peer"]: r for r in map(json.loads, done.stdout.splitlines())}

    def test_gives_the_ratio_and_says_who_is_missing(self):
        gap = self.program("gap", "print('Trial Time: 0.5\\nTrial Time: 0.3\\nTrial Time: 0.4\\n"
                           "Average Time: 9')")
        status, said = self.peers("--cairn", self.cairn(0.1), "--gap", gap)
        self.assertEqual(status, 0)
        self.assertAlmostEqual(said["GAP"]["ratio"], 4)
        self.assertEqual(said["GAP"]["mad"], 0)
        for name in ("Galois", "Graph500", "PBGL"):
            self.assertIn("not given", said[name]["missing"])

    def test_times_each_algorithm_that_a_command_can_run(self):
        gap = self.program("gap", "import sys; print('Trial Time:', {'bfs': 0.5, 'pr': 0.3}"
                           "[sys.argv[1]])")
        done = self.run_script("bench/peers", "--pairs", 1, "--json", "--cairn", self.cairn(0.1),
                               "--gap", gap + " {algorithm}", "--pbgl", gap + " bfs",
                               "--algorithms", "bfs", "pr")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [(r["peer"], r.get("algorithm"), round(r.get("ratio", 0)))
                for r in map(json.loads, done.stdout.splitlines())]
        self.assertEqual(said, [("GAP", "bfs", 5), ("GAP", "pr", 3), ("Galois", None, 0),
                                ("Graph500", None, 0), ("PBGL", "bfs", 5)])

    def test_does_not_time_what_fails_or_prints_no_time(self):
        broken = self.program("broken", "raise SystemExit('no graph')")
        silent = self.program("silent", "print('done')")
        status, said = self.peers("--cairn", self.cairn(0.1), "--gap", broken, "--pbgl", silent)
        self.assertEqual(status, 1)
        self.assertIn("no graph", said["GAP"]["failed"])
        self.assertIn("has a time", said["PBGL"]["failed"])
        gap = self.program("gap", "print('Trial Time: 0.5')")
        status, said = self.peers("--cairn", self.cairn(0.1, False), "--gap", gap)
        self.assertIn("wrong", said["GAP"]["failed"])

    def test_a_report_of_another_form_is_a_failure(self):
        gap = self.program("gap", "print('Trial Time: 0.5')")
        for text in ("not JSON", "{}", "[]"):
            status, said = self.peers("--cairn", self.program("cairn", f"print({text!r})"),
                                      "--gap", gap)
            self.assertEqual(status, 1)
            self.assertIn("no report of the known form", said["GAP"]["failed"])

    def test_refuses_commands_that_it_cannot_fill_in_before_any_runs(self):
        trace = self.folder / "ran"
        gap = self.program("gap", f"open({str(trace)!r}, 'w'); print('Trial Time: 0.5')")
        for wrong in ("pbgl {graph}", "pbgl {}", "pbgl {scale", "pbgl {scale.x}", "pbgl 'x", " "):
            done = self.run_script("bench/peers", "--pairs", 1, "--cairn", self.cairn(0.1),
                                   "--gap", gap, "--pbgl", wrong)
            self.assertEqual((done.returncode, done.stdout), (2, ""), wrong)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn("--pbgl", done.stderr)
        self.assertFalse(trace.exists())

    def test_prints_each_result_as_it_comes(self):
        gap = self.program("gap", "print('Trial Time: 0.5')")
        later = self.program("later", f"""
text = open({str(self.folder / "out")!r}).read()
if 'GAP' in text: print('Trial Time: 0.5')""")
        with (self.folder / "out").open("w") as out:
            done = subprocess.run([sys.executable, ROOT / "bench/peers", "--pairs", "1", "--cairn",
                                   self.cairn(0.1), "--gap", gap, "--pbgl", later],
                                  stdout=out, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr + (self.folder / "out").read_text())


class PeerTable(InAFolder):
    FAKE_CAIRN = '''
import json, sys
if sys.argv[1] == "convert":
    name = [a for a in sys.argv if a.endswith(("el", ".wel"))][-1]
    edges = [f"{3 - v % 2} {v}\\n" for v in range(4, 54)]
    if {"--drop-self-loops", "--drop-duplicates"} <= set(sys.argv):
        open(name, "w").write("".join(edges))
    else:  # a loop, and each edge twice
        open(name, "w").write("3 3\\n" + "".join(2 * e for e in edges))
else:
    print(json.dumps({"graph": {"directed": True, "edges": 20000}, "verified": VERIFIED,
                      "seconds": {"run": [0.1]}}))
'''

    def table(self, gap, *arguments, verified=True, edges=20000):
        cairn = self.program("cairn", self.FAKE_CAIRN.replace("VERIFIED", str(verified))
                             .replace("20000", str(edges)))
        self.program("bfs", gap)
        graphs = self.folder / "graphs"
        graphs.mkdir(exist_ok=True)
        (graphs / "g.el").touch()
        return self.run_script("bench/peer_table", self.folder, "--graphs", graphs, "--cairn",
                               cairn, "--algorithms", "bfs", "--threads", 1, "--pairs", 3,
                               *arguments)

    def test_each_cell_is_verified_and_timed(self):
        done = self.table("import sys; assert sys.argv[-1] in ('3', '-v'); "
                          "print('Verification: PASS'); print('Trial Time: 0.2')")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"g +2.00")
        self.assertRegex(done.stdout, r"geometric mean +2.00")

    def test_gap_is_given_the_edges_that_it_would_keep(self):
        done = self.table("import sys; "
                          "lines = open(sys.argv[sys.argv.index('-f') + 1]).readlines()\n"
                          "assert len(set(lines)) == len(lines) == 50 and '3 3\\n' not in lines\n"
                          "print('Verification: PASS'); print('Trial Time: 0.2')")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_generated_graphs_are_converted_as_they_are(self):
        self.table("print('Trial Time: 0.2')")
        cairn = self.program("cairn", self.FAKE_CAIRN.replace("VERIFIED", "True") + """
generated = any(a in sys.argv for a in ("--kronecker", "--uniform", "--grid"))
if generated and "--drop-duplicates" in sys.argv: sys.exit("for files")
""")
        done = self.run_script("bench/peer_table", self.folder, "--cairn", cairn, "--algorithms",
                               "bfs", "--threads", 1, "--pairs", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"kronecker16 +2.00")

    def test_shortest_paths_are_given_weights_and_gap_its_best_delta(self):
        self.program("sssp", "import sys; given = dict(zip(sys.argv, sys.argv[1:]))\n"
                     "weights = [int(line.split()[2]) for line in open(given['-f'])]\n"
                     "assert len(weights) == 50 and len(set(weights)) > 9\n"
                     "assert min(weights) > 0 and max(weights) < 256\n"
                     "print('Trial Time:', 0.5 if given.get('-d') == '8' else 0.9)")
        done = self.table("", "--algorithms", "sssp", "sssp-layout")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"g +5.00 .* 5.00")

    def test_cells_near_one_take_more_pairs(self):
        done = self.table("print('Trial Time: 0.1')", "--json")
        pairs = [json.loads(line)["pairs"] for line in done.stdout.splitlines()]
        self.assertEqual(pairs, [31])

    def test_short_runs_take_more_trials(self):
        done = self.table("import sys; assert sys.argv[-1] in ('3', '20', '-v')\n"
                          "print('Trial Time: 0.01' if sys.argv[-1] == '3' else 'Trial Time: 0.2')")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"g +2.00")

    def test_searches_too_short_for_the_clock_of_gap_are_avoided(self):
        gap = "import sys; source = sys.argv[sys.argv.index('-r') + 1]\n"
        done = self.table(gap + "print('Trial Time:', 0.2 if source == '3' else 0.0004)")
        self.assertRegex(done.stdout, r"g +2.00 .0.00")
        done = self.table(gap + "print('Trial Time:', 0.0004 if source == '3' else 0.0003)")
        self.assertRegex(done.stdout, r"g +0.00", "there are no others")

    def test_large_lists_are_read_as_binary_files(self):
        self.program("converter", "import sys\n"
                     "open(sys.argv[sys.argv.index('-b') + 1], 'w').write('a graph')")
        done = self.table("import sys; read = sys.argv[sys.argv.index('-f') + 1]\n"
                          "assert read.endswith('.sg') and open(read).read() == 'a graph'\n"
                          "print('Trial Time: 0.2')", edges=6_000_000)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"g +2.00")

    def test_wrong_results_have_no_cell(self):
        done = self.table("print('Verification: FAIL\\nTrial Time: 0.1')")
        self.assertEqual(done.returncode, 1)
        self.assertIn("GAP's result is wrong", done.stderr)
        done = self.table("print('Trial Time: 0.1')", verified=False)
        self.assertIn("Cairn's result is wrong", done.stderr)

    def test_one_fault_leaves_the_other_cells(self):
        graphs = self.folder / "graphs"
        graphs.mkdir()
        (graphs / "a.mtx").touch()
        self.FAKE_CAIRN = self.FAKE_CAIRN.replace("import json, sys", """import json, sys
if any(a.endswith("a.mtx") for a in sys.argv): sys.exit("no matrix")""")
        done = self.table("print('Trial Time: 0.2')", "--algorithms", "tc", "bfs")
        self.assertEqual(done.returncode, 2, "there is no tc")
        self.program("tc", "print('no time')")
        done = self.table("print('Trial Time: 0.2')", "--algorithms", "tc", "bfs")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a: ", done.stderr)
        self.assertIn("no matrix", done.stderr)
        self.assertIn("g tc T=1: no line", done.stderr)
        self.assertIn("g bfs T=1: 2.00 ±0.00, 3 pairs", done.stderr)
        self.assertRegex(done.stdout, r"g +- +2.00")
        self.assertNotIn("Traceback", done.stderr)

    def test_each_source_is_verified(self):
        done = self.table("import sys; source = sys.argv[sys.argv.index('-r') + 1]\n"
                          "print('Verification:', 'FAIL' if source == '2' else 'PASS')\n"
                          "print('Trial Time: 0.2')")
        self.assertEqual(done.returncode, 1, "the sources are 2 and 3")
        self.assertIn("GAP's result is wrong", done.stderr)

    def test_reports_of_another_form_are_a_sentence(self):
        gap = "print('Trial Time: 0.2')"
        self.FAKE_CAIRN = self.FAKE_CAIRN.replace('"run"', '"ran"')
        done = self.table(gap)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
        self.assertIn("no report of the known form", done.stderr)

    def test_what_is_missing_is_refused(self):
        for folder in (self.folder, self.folder / "none"):
            done = self.run_script("bench/peer_table", folder)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)


class CompareBuilds(InAFolder):
    def build(self, name, seconds, verified=True):
        """A `cairn` that times no trial unless it is asked for several."""
        report = {"seconds": {"run": [seconds]}, "verified": verified}
        return self.program(name, "import sys\nif 'mst' in sys.argv: sys.exit('no mst here')\n"
                            "assert ('--verify' in sys.argv) != ('--trials' in sys.argv)\n"
                            f"print({json.dumps(json.dumps(report))})")

    def test_gives_ratios_and_names_what_failed(self):
        done = self.run_script("bench/compare_builds", self.build("earlier", 0.3), "--cairn",
                               self.build("cairn", 0.1), "--pairs", 3, "--jobs", "bfs", "mst")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"^bfs +3\.00 ±0\.00\n$")
        self.assertRegex(done.stderr, r"^mst: .*no mst here\n$")

    def test_a_wrong_result_is_not_timed(self):
        done = self.run_script("bench/compare_builds", self.build("earlier", 0.3), "--cairn",
                               self.build("cairn", 0.1, verified=False), "--jobs", "bfs")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("Cairn's result is wrong", done.stderr)


class Report(InAFolder):
    def record(self, seconds, finished=True):
        """Times on 1, 2, ... threads; hardware transactions could not be measured."""
        provenance = {"figure": "aam15_7_threads", "commit": "abc", "command": "run me",
                      "machine": {"model": "some <cores>"}}
        points = [{"mechanism": "atomics", "threads": t,
                   "seconds": {"median": s, "mad": 0.0001, "runs": 3}}
                  for t, s in enumerate(seconds, 1)]
        points.append({"no_htm": "none < one"})
        lines = [*points, *([{"points": len(points)}] if finished else [])]
        (self.folder / "aam15_7_threads.jsonl").write_text(
            "".join(json.dumps({**line, **provenance}) + "\n" for line in lines))

    def report(self, *arguments):
        done = self.run_script("bench/figures/report.py", self.folder, "--out", self.folder,
                               *arguments)
        page = self.folder / "index.html"
        return done, page.read_text(encoding="utf-8") if page.exists() else ""

    def test_writes_a_line_for_each_claim_and_folds_the_rest(self):
        self.record((0.004, 0.0021))
        done, page = self.report("--recorded")
        self.assertEqual(done.returncode, 0, done.stderr)
        shown, folded = page.split("<details>", 1)
        self.assertIn("<tr class='holds'><td>holds</td><td>each mechanism in software", shown)
        self.assertIn("atomics 1.90 times as fast on 2 threads", shown)
        self.assertIn("<tr class='open'><td>not decided here</td>", shown)
        self.assertIn("no hardware transactions: none &lt; one", shown)
        self.assertIn("0.0021 ± 0.0001", folded)
        self.assertIn("some &lt;cores&gt;", folded)
        self.assertIn("<img src='aam15_7_threads-1.svg'>", folded)
        self.assertIn("</svg>", (self.folder / "aam15_7_threads-1.svg").read_text())
        self.assertIn("not run", page)
        self.record((0.004, 0.0041))
        self.assertIn("<tr class='fails'><td>does not hold</td>", self.report("--recorded")[1])

    def test_says_that_a_sweep_was_not_finished(self):
        self.record((0.004, 0.002), finished=False)
        done, page = self.report("--recorded")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no sweep was finished", page)

    def test_says_that_points_are_of_another_version(self):
        for member in ("seconds", "mechanism"):
            self.record((0.004, 0.002))
            lines = self.folder / "aam15_7_threads.jsonl"
            lines.write_text(lines.read_text().replace(f'"{member}"', '"other"'))
            done, page = self.report("--recorded")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("<td>holds</td>", page)

    def test_says_that_points_cannot_be_drawn(self):
        provenance = {"figure": "aam15_2_model", "commit": "abc", "command": "run me"}
        points = [{"mechanism": m, "vertices": 8, "seconds": {"median": 1e-6, "mad": 0}}
                  for m in ("atomics", "locks")]
        (self.folder / "aam15_2_model.jsonl").write_text("".join(
            json.dumps({**line, **provenance}) + "\n" for line in [*points, {"points": 2}]))
        done, page = self.report("--recorded")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Plot 1: the points cannot be drawn: a line needs two different sizes", page)

    def test_says_that_a_program_is_missing(self):
        done, page = self.report("--only", "aam15_7_threads")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("the program cannot be started", page)

    def test_refuses_folders_and_names_that_are_not_there(self):
        for arguments, word in (([self.folder / "none"], "is not a folder"),
                                ([self.folder, "--only", "aam15_9_none"], "aam15_7_threads")):
            done = self.run_script("bench/figures/report.py", *arguments, "--recorded")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(word, done.stderr)
            self.assertNotIn("Traceback", done.stderr)
        self.assertFalse((self.folder / "none").exists())

    def test_says_that_there_are_no_real_graphs(self):
        with unittest.mock.patch.dict("os.environ", GRAPHS=str(self.folder / "none")):
            done, page = self.report("--only", "aam15_t1_graphs")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("name a folder by GRAPHS=FOLDER", page)

    def test_runs_programs_and_says_that_one_failed(self):
        self.record((0.004, 0.002))
        made = (self.folder / "aam15_7_threads.jsonl").rename(self.folder / "made")
        self.program("aam15_7_threads", f"""import sys
with open(sys.argv[-1], "a") as out: out.write(open({str(made)!r}).read())""")
        done, page = self.report("--only", "aam15_7_threads")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("<td>holds</td>", page)
        self.program("aam15_7_threads", "raise SystemExit('it is broken')")
        done, page = self.report("--only", "aam15_7_threads")
        self.assertEqual(done.returncode, 1)
        self.assertIn("it is broken", page)

    def test_ends_a_program_that_hangs_and_what_it_started(self):
        self.program("aam15_7_threads", f"""import os, signal, sys
child = os.fork()
if child:
    open({str(self.folder / "child")!r}, "w").write(str(child))
    print("it waits", file=sys.stderr, flush=True)
signal.pause()""")
        done, page = self.report("--only", "aam15_7_threads", "--limit", 5)
        self.assertEqual(done.returncode, 1)
        self.assertIn("did not end within 5 s: it waits", page)
        child = Path("/proc", (self.folder / "child").read_text(), "stat")
        self.assertTrue(not child.exists() or child.read_text().rsplit(")", 1)[1].split()[0] == "Z")

    def test_the_page_does_not_depend_on_the_locale(self):
        self.record((0.004, 0.0021))
        with unittest.mock.patch.dict("os.environ", LC_ALL="C", PYTHONUTF8="0",
                                      PYTHONCOERCECLOCALE="0"):
            done, _ = self.report("--recorded")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0.0021 ± 0.0001", (self.folder / "index.html").read_text(encoding="utf-8"))

    def test_says_which_figures_are_not_measured(self):
        page = self.report("--recorded")[1]
        for words in ("[RMA15] message rate", "[AGGRO] figure 5: k-means"):
            self.assertIn(f"<td>not decided here</td><td>{words}</td><td>not measured</td>", page)


if __name__ == "__main__":
    unittest.main()
