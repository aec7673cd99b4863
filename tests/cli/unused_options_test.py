#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Options that a command would ignore: unused_options_test.py PATH_OF_CAIRN [unittest options]."""
import os
import sys
import unittest

import cli_test
from cli_test import InAFolder, cairn, report
from commands_test import GRAPH
from trace_test import mpi, run_mpi


class OptionsWithoutEffect(InAFolder):
    def test_they_are_refused(self):
        for arguments in (("pagerank", "--mechanism", "stm"), ("triangles", "--grain", 4),
                          ("pagerank", "--variant", "push", "--mechanism", "locks"),
                          ("cc", "--method", "afforest", "--mechanism", "locks"),
                          ("cc", "--ranks", 2, "--threads", 1, "--mechanism", "atomics"),
                          ("bfs", "--direction", "bottom-up", "--mechanism", "htm"),
                          ("bfs", "--mechanism", "atomics", "--grain", 4),
                          ("bfs", "--mechanism", "locks", "--retry", "hle"),
                          ("mst", "--mechanism", "locks", "--costs", "none"),
                          ("mst", "--mechanism", "htm", "--grain", 4, "--costs", "none"),
                          ("coloring", "--ranks", 2, "--filter", 0),
                          ("mst", "--ranks", 2, "--filter", 0),
                          *((command, "--ranks", 2, "--threads", 1, "--routing", "grid")
                            for command in ("pagerank", "cdlp", "coloring", "st-connectivity",
                                            "info")),
                          ("kcore", "--layout", "none"),
                          ("bfs", "--progress", "thread"), ("bfs", "--filter", 0),
                          ("bfs", "--routing", "grid"), ("bfs", "--transport", "ring"),
                          ("bfs", "--quiet", "--stats"), ("bfs", "--coalesce", 64),
                          ("cc", "--ranks", 1, "--partition", "edges"),
                          ("cc", "--sim", "ranks=1", "--coalesce", 640),
                          ("bfs", "--ranks", 1, "--routing", "grid"),
                          ("bfs", "--ranks", 1, "--filter", 0),
                          ("bfs", "--ranks", 1, "--transport", "ring"),
                          ("cc", "--ranks", 1, "--progress", "thread"),
                          ("cc", "--ranks", 1, "--pending", "1M"),
                          ("sssp", "--ranks", 1, "--frequency", 3),
                          ("sssp", "--threads", 1, "--ranks", 2, "--grain", 4),
                          ("bfs", "--sim", "ranks=2", "--retry", "hle"),
                          ("bfs", "--sim", "ranks=2", "--costs", "none"),
                          ("cc", "--coalesce-age", 3), ("mst", "--pending", "1M"),
                          ("bfs", "--threads", 1, "--grain", 4),
                          ("mst", "--threads", 1, "--retry", "hle"),
                          ("sssp", "--frequency", 4), ("bfs", "--lead", 1),
                          ("bfs", "--ranks", 2, "--frequency", 4),
                          ("bfs", "--algorithm", "chaotic", "--direction", "top-down"),
                          ("bfs", "--threads", 2, "--algorithm", "chaotic", "--lead", 1),
                          ("sssp", "--threads", 1, "--lead", "any"),
                          ("sssp", "--threads", 2, "--algorithm", "delta", "--lead", 1),
                          ("sssp", "--threads", 2, "--algorithm", "chaotic", "--lead", 1),
                          ("sssp", "--sim", "ranks=3", "--threads", 1, "--lead", 1),
                          ("bfs", "--values", "depth")):
            option = next(a for a in reversed(arguments) if str(a).startswith("--"))
            self.refused(arguments[0], *GRAPH, *arguments[1:], saying=option)

    def test_others_are_taken(self):
        for arguments in (("cc", "--method", "propagation", "--ranks", 2, "--threads", 1, "--mechanism",
                           "atomics"),
                          ("sssp", "--threads", 2, "--lead", 0),
                          ("bfs", "--threads", 2, "--algorithm", "distributed-control", "--lead", 0),
                          ("bfs", "--ranks", 2, "--algorithm", "chaotic", "--frequency", 2),
                          ("sssp", "--ranks", 3, "--threads", 1, "--lead", 2),
                          ("sssp", "--sim", "ranks=3,machines=1", "--threads", 1, "--lead", 1),
                          ("bfs", "--sim", "ranks=2", "--mechanism", "htm", "--grain", 4,
                           "--retry", "hle"),
                          ("bfs", "--sim", "ranks=2", "--threads", 2, "--grain", 4),
                          ("mst", "--ranks", 2, "--threads", 1, "--merge", "transactions",
                           "--grain", 4),
                          ("mst", "--mechanism", "stm", "--grain", 4, "--retry", "hle"),
                          ("mst", "--ranks", 2, "--threads", 1, "--coalesce", 640),
                          ("pagerank", "--variant", "push", "--ranks", 2, "--threads", 1,
                           "--routing", "grid"),
                          ("cc", "--ranks", 2, "--threads", 1, "--partition", "edges")):
            self.assertEqual(cairn(arguments[0], *GRAPH, *arguments[1:]).returncode, 0, arguments)

    def test_the_reason_holds_on_any_number_of_ranks(self):
        for ranks in (1, 2):
            self.refused("kcore", *GRAPH, "--ranks", ranks, "--filter", 0,
                         saying="kcore drops and combines no messages")

    def test_variables_may_have_none(self):
        for option, value in (("routing", "grid"), ("filter", "0"), ("progress", "thread")):
            variable = {**os.environ, f"CAIRN_{option.upper()}": value}
            run = cairn("bfs", *GRAPH, "--ranks", 1, environment=variable)
            self.assertEqual(run.returncode, 0, run.stderr)

    def test_groups_need_hardware_transactions(self):
        transactions = report("machine")["machine"]["hardware_transactions"]
        for arguments in (("--mechanism", "htm", "--grain", 4), ("--retry", "hle")):
            run = cairn("bfs", *GRAPH, "--threads", 2, *arguments)
            self.assertEqual(run.returncode, 0 if transactions else 2, run.stderr)
        self.assertEqual(cairn("bfs", *GRAPH, "--threads", 2, "--grain", 4).returncode, 0)

    def test_they_are_refused_on_one_rank_of_mpi(self):
        for launcher in filter(None, map(mpi, ("mpich", "openmpi"))):
            for option in (("--routing", "grid"), ("--transport", "ring"), ("--mpi", "auto"),
                           ("--partition", "edges")):
                run = run_mpi(launcher, 1, "bfs", *GRAPH, *option)
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn(f"{option[0]} has no effect here: there is one rank", run.stderr)
            run = run_mpi(launcher, 1, "bfs", *GRAPH, "--transport", "mpi", "--mpi", "auto")
            self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_an_option_makes_a_contradicting_variable_void(self):
        for variable, value, option in (("RANKS", "3", ("--sim", "ranks=2")),
                                        ("SIM", "ranks=3", ("--ranks", 2, "--threads", 1))):
            found = report("bfs", "-g", 6, *option,
                           environment=dict(os.environ, **{f"CAIRN_{variable}": value}))
            self.assertEqual(found["ranks"], 2, variable)
        both = dict(os.environ, CAIRN_RANKS="3", CAIRN_SIM="ranks=2")
        self.assertEqual(report("bfs", "-g", 6, environment=both)["ranks"], 2)

    def test_wrong_variables_are_named_where_they_matter(self):
        for name, value, saying in (("SIM", "foo", "CAIRN_SIM has the item 'foo'"),
                                    ("SIM", "ranks=x", "CAIRN_SIM: ranks is 'x'"),
                                    ("TIMEOUT", "x", "CAIRN_TIMEOUT is 'x'")):
            here = dict(os.environ, **{f"CAIRN_{name}": value})
            run = cairn("bfs", "-g", 6, environment=here)
            self.assertEqual(run.returncode, 2)
            self.assertIn(saying, run.stderr)
            self.assertEqual(cairn("--version", environment=here).returncode, 0)

    def test_flags_take_no_values(self):
        for flag in ("--json=maybe", "--symmetrize=-1", "--verify=2"):
            self.refused("bfs", "-g", 6, flag, saying=flag[:flag.index("=")] + " takes no value")


if __name__ == "__main__":
    cli_test.CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
