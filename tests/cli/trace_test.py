#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What --trace writes, and the traffic between ranks:
trace_test.py PATH_OF_CAIRN [unittest options].

MPICH and Open MPI are tried where their mpiexec and Cairn's plugin exist."""
import gzip
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import unittest
from collections import defaultdict
from decimal import Decimal

import cli_test
from cli_test import InAFolder, cairn, report

COMMANDS = ("bfs", "cc", "sssp")
GRAPH = ("--kronecker", 10)
RANKS = ("--ranks", 3, "--threads", 1)


def mpi(name):
    """The start of a command line for mpiexec of this MPI, or None."""
    path = shutil.which(f"mpiexec.{name}")
    plugin = pathlib.Path(cli_test.CAIRN).parents[1] / f"lib/libcairn_mpi_{name}.so"
    if path is None or not plugin.exists():
        print(f"skipped: no {name} here", file=sys.stderr)
        return None
    return [path, *(["--oversubscribe"] if name == "openmpi" else [])]


def run_mpi(launcher, ranks, *arguments, environment=None):
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return subprocess.run([*launcher, "-n", str(ranks), cli_test.CAIRN, *map(str, arguments)],
                          capture_output=True, text=True, timeout=100,
                          env={**(environment or os.environ), **root})


class Trace:
    """A file that --trace wrote."""

    def __init__(self, path):
        # Times have three digits after the point; as decimals they are exact.
        whole = json.loads(path.read_text(), parse_float=Decimal)
        self.facts = whole["otherData"]
        self.events = whole["traceEvents"]
        self.threads = defaultdict(list)  # spans and moments, in the order of the file
        for e in self.events:
            if e["ph"] in "Xi":
                self.threads[e["pid"], e["tid"]].append(e)
        self.ranks = sorted({e["pid"] for e in self.events})

    def named(self, name, rank=None):
        return [e for e in self.events if e["ph"] in "Xi" and e["name"].startswith(name)
                and rank in (None, e["pid"])]

    def trials(self, rank):
        return [(e["ts"], e["ts"] + e["dur"]) for e in self.named("trial", rank)]

    def sent(self, rank):
        """Its sends in trials, outside which nothing is recorded: [(receiver, bytes, messages)]."""
        return [(e["args"]["to"], e["args"]["bytes"], e["args"]["messages"])
                for e in self.named("send", rank)
                if any(begin <= e["ts"] <= end for begin, end in self.trials(rank))]


class Traces(InAFolder):
    def check(self, trace, ranks, workers):
        self.assertEqual(trace.ranks, list(range(ranks)))
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace.events
                 if e["ph"] == "M" and e["name"] == "thread_name"}
        self.assertEqual(names, {(r, k): f"worker {k}" for r in range(ranks)
                                 for k in range(workers)})
        for events in trace.threads.values():
            last, around = 0, []
            for e in events:
                self.assertGreaterEqual(e["ts"], last)
                last = e["ts"]
                end = e["ts"] + e.get("dur", 0)
                while around and around[-1] <= e["ts"] and end > around[-1]:
                    around.pop()
                if around:
                    self.assertLessEqual(end, around[-1], e)
                if e["ph"] == "X":
                    self.assertGreaterEqual(e["dur"], 0)
                    around.append(end)
        for rank in range(ranks):
            self.assertGreater(len(trace.trials(rank)), 0)
        begun = {e["id"] for e in trace.events if e["ph"] == "s"}
        for e in trace.events:
            if e["ph"] in "tf":
                self.assertIn(e["id"], begun)

    def check_amounts(self, trace, found):
        """Bytes and buffers of the trace, of the counters and of the matrix."""
        self.assertEqual(trace.facts["dropped"], "0")
        traffic, counters = found["traffic"], found["counters"]
        ranks = range(found["ranks"])
        sent = {r: trace.sent(r) for r in ranks}
        for r in ranks:
            for to in ranks:
                here = [s for s in sent[r] if s[0] == to]
                self.assertEqual(traffic["bytes"][r][to], sum(s[1] for s in here), (r, to))
                self.assertEqual(traffic["messages"][r][to], sum(s[2] for s in here), (r, to))
                self.assertEqual(traffic["buffers"][r][to], len(here), (r, to))
            self.assertEqual(traffic["bytes"][r][r], 0)
        self.assertEqual(sum(map(sum, traffic["bytes"])), counters["bytes_sent"])
        self.assertEqual(sum(map(sum, traffic["buffers"])), counters["buffers_sent"])

    def traced(self, command, *options):
        path = self.folder / f"{command}.json"
        found = report(command, *GRAPH, "--trials", 2, *options, "--trace", path)
        self.assertEqual(found["trace"]["file"], str(path))
        self.assertEqual(os.listdir(self.folder), [path.name])
        trace = Trace(path)
        self.assertEqual(found["trace"]["events"], len(trace.events))
        path.unlink()
        return trace, found

    def test_of_one_rank(self):
        for command in COMMANDS:
            for workers in (1, 2):
                trace, found = self.traced(command, "--threads", workers)
                self.check(trace, 1, workers)
                self.assertNotIn("traffic", found)
                self.assertEqual(trace.named("send"), [])
                self.assertGreater(len(trace.named("loop")), 0)
                self.assertEqual(len(trace.trials(0)), 2)

    def test_of_local_ranks(self):
        for command in COMMANDS:
            for options in (RANKS, ("--ranks", 2, "--threads", 2)):
                trace, found = self.traced(command, *options)
                self.check(trace, found["ranks"], found["threads"])
                self.check_amounts(trace, found)
                self.assertEqual(trace.facts["clock"], "of one machine")

    def test_of_a_progress_thread(self):
        trace, found = self.traced("bfs", *RANKS, "--progress", "thread")
        named = [e["pid"] for e in trace.events
                 if e["ph"] == "M" and e["args"]["name"] == "progress thread"]
        self.assertEqual(sorted(named), list(range(found["ranks"])))
        self.check_amounts(trace, found)

    def test_of_a_simulated_cluster(self):
        for command in COMMANDS:
            for sim in ("ranks=5,seed=3", "ranks=4,clock=loggp"):
                trace, found = self.traced(command, "--sim", sim)
                self.check(trace, found["ranks"], 1)
                self.check_amounts(trace, found)
                self.assertEqual(trace.facts["clock"], "simulated")
        # No arrow goes back in simulated time, which all ranks share.
        trace, _ = self.traced("bfs", "--sim", "ranks=4,clock=loggp", "--threads", 2)
        self.check(trace, 4, 2)
        sent = defaultdict(list)
        for e in trace.events:
            if e["ph"] == "s":
                sent[e["id"]].append(e["ts"])
            elif e["ph"] in "tf" and e["id"] in sent:
                self.assertGreaterEqual(e["ts"], min(sent[e["id"]]))

    def test_a_seed_gives_the_same_run_with_and_without_a_trace(self):
        for sim in ("ranks=4,seed=9", "ranks=3,clock=loggp"):
            options = ("--sim", sim, "--threads", 2)
            _, traced = self.traced("sssp", *options)
            plain = report("sssp", *GRAPH, "--trials", 2, *options)
            del traced["trace"]
            for found in (traced, plain):  # counts trial transactions, of which any may abort
                del found["machine"]["hardware_transactions_reason"]
            self.assertEqual(traced, plain)

    def test_what_is_recorded(self):
        trace, found = self.traced("bfs", *RANKS, "--direction", "top-down")
        levels = found["result"]["trials"][0]["levels"]
        supersteps = [e["args"] for e in trace.named("superstep", 0)
                      if e["ts"] < trace.trials(0)[0][1]]
        self.assertEqual([s["step"] for s in supersteps], list(range(1, levels + 1)))
        self.assertEqual({s["direction"] for s in supersteps}, {"push"})
        self.assertEqual(supersteps[0]["frontier"], 1)
        self.assertEqual(len(trace.named("epoch")), found["counters"]["epochs"])
        for word in ("handle visit<unsigned int>", "send visit<unsigned int>", "receive",
                     "wait for end of epoch", "reduce", "starts with plain"):
            self.assertGreater(len(trace.named(word)), 0, word)
        # The gathers make memory that the ranks share, in which they reduce.
        self.assertEqual({e["args"]["protocol"] for e in trace.named("send")
                          if "channel" not in e["args"]}, {"gather"})
        trace, _ = self.traced("bfs", "--threads", 2)
        self.assertTrue({"push", "pull", "none"} >= {e["args"]["direction"]
                                                     for e in trace.named("superstep")})
        path = self.folder / "grid.json"
        report("bfs", "--grid", "6x6", "--threads", 1, "--trials", 1, "--trace", path)
        directions = [e["args"]["direction"] for e in Trace(path).named("superstep")]
        self.assertEqual([i for i, way in enumerate(directions, 1) if way == "none"],
                         [len(directions)])  # the last vertex reaches nobody
        path.unlink()
        trace, _ = self.traced("sssp", "--threads", 2, "--algorithm", "distributed-control")
        self.assertGreater(len(trace.named("bucket")), 0)
        self.assertEqual(len(trace.named("width of buckets")), 2)
        trace, found = self.traced("pagerank", "--threads", 2)
        self.assertIn(found["result"]["trials"][0]["sweepers"], (1, 2))
        self.assertEqual(len(trace.named("all workers share a run") +
                             trace.named("one worker runs alone")), 2)
        self.assertEqual(len(trace.named("a layout repays") + trace.named("no layout repays")), 1)
        self.assertEqual(len(trace.named("build")), 1)

    def count(self, trace, *names):
        return sum(e["name"] in names for e in trace.events)

    def test_choices_of_shortest_paths_and_sums(self):
        path = self.folder / "t.json"
        report("sssp", *GRAPH, "--threads", 2, "--trials", 8, "--trace", path)
        trace = Trace(path)
        self.assertEqual(self.count(trace, "atomics", "tables of each worker"),
                         self.count(trace, "all workers share a run"))
        self.assertGreater(self.count(trace, "tables of each worker"), 0)
        sums = ("row sums: near", "row sums: even", "row sums: far")
        for ranks in (1, 2):  # by whole runs on one rank, else in the first sweep
            report("pagerank", *GRAPH, "--threads", 1, "--ranks", ranks, "--layout", "none",
                   "--trials", 2, "--trace", path)
            trace = Trace(path)
            self.assertEqual(self.count(trace, *sums), 2 * ranks)
        draw = random.Random(1)
        for n, trials, choice in ((40000, 4, "a layout repays"), (40000, 3, "no layout repays"),
                                  (200, 4, "no layout repays"), (200, 4, None)):
            graph = self.file("g.wel", "".join(
                f"{draw.randrange(n)} {draw.randrange(n)} {draw.randrange(9)}\n"
                for _ in range(6 * n)))
            layout = () if choice else ("--layout", "none")
            report("sssp", graph, "--threads", 1, "--trials", trials, "--trace", path, *layout)
            counts = [self.count(Trace(path), s) for s in ("a layout repays", "no layout repays")]
            self.assertEqual(counts, [choice == "a layout repays", choice == "no layout repays"])

    def test_a_worker_s_trials_of_other_choices(self):
        run = cairn("bfs", "--kronecker", 14, "--direction", "top-down", "--sim", "ranks=2,seed=1",
                    "--threads", 2, "--trials", 4, "--trace", self.folder / "t.json", "--json",
                    "--quiet")
        found, trace = json.loads(run.stdout), Trace(self.folder / "t.json")
        self.assertGreater(len(trace.named("starts with")), 0)
        tried = [t["chosen"] for t in found["result"]["trials"] if "tried" in t["chosen"]]
        self.assertEqual(bool(tried), bool(trace.named("takes", 0) + trace.named("rejects", 0)))

    def test_sizes_of_blocks_and_tables_and_the_choice_of_hops(self):
        trace, _ = self.traced("bfs", "--sim", "ranks=32,seed=1", "--direction", "top-down")
        self.assertGreater(len(trace.named("through hops")), 0)
        sizes = trace.named("size of blocks")
        self.assertGreater(len(sizes), 0)
        for e in sizes:
            self.assertGreater(e["args"]["amount"], 0)
            self.assertIn("channel_name", e["args"])
        trace, _ = self.traced("bfs", "--sim", "ranks=4,seed=1", "--direction", "top-down",
                               "--coalesce", 512)
        self.assertEqual(trace.named("size of blocks") + trace.named("through hops"), [])
        trace, _ = self.traced("sssp", "--sim", "ranks=4,seed=1")
        self.assertGreater(len({e["args"]["amount"] for e in trace.named("size of blocks")}), 1)

    def test_hops_of_routed_messages(self):
        trace, found = self.traced("bfs", "--sim", "ranks=9,seed=1", "--routing", "grid",
                                   "--direction", "top-down", "--filter", 0)
        forwarded = sum(e["args"]["messages"] for r in range(9) for e in trace.named("forward", r)
                        if any(b <= e["ts"] <= t for b, t in trace.trials(r)))
        self.assertGreater(forwarded, 0)
        self.assertEqual(forwarded, found["counters"]["messages_forwarded"])
        self.check_amounts(trace, found)
        self.assertEqual(sum(map(sum, found["traffic"]["messages"])),
                         found["counters"]["messages_sent"] + forwarded)

    def test_of_mpi_ranks(self):
        for launcher in filter(None, map(mpi, ("mpich", "openmpi"))):
            for command, more in zip(COMMANDS, ((), ("--transport", "mpi"), ("--machines", 2))):
                path = self.folder / "t.json"
                run = run_mpi(launcher, 3, command, *GRAPH, "--threads", 1, *more, "--json",
                              "--trace", path)
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.assertEqual(os.listdir(self.folder), [path.name])  # one file
                trace = Trace(path)
                self.check(trace, 3, 1)
                self.check_amounts(trace, json.loads(run.stdout))
                aligned = trace.facts["clock"].startswith("of several machines, aligned")
                self.assertEqual(aligned, more == ("--machines", 2))
                path.unlink()
            run = run_mpi(launcher, 2, "bfs", *GRAPH, "--trace", "/nowhere/t.json")
            self.assertEqual(run.returncode, 2)
            self.assertEqual(run.stderr.count("/nowhere/t.json: cannot be written"), 1, run.stderr)

    def test_a_full_buffer_drops_the_newest_and_says_so(self):
        path = self.folder / "t.json"
        found = report("bfs", "--kronecker", 6, "--trials", 12000, "--threads", 1, "--trace", path)
        trace = Trace(path)
        self.assertGreater(found["trace"]["dropped"], 0)
        self.assertEqual(trace.facts["dropped"], str(found["trace"]["dropped"]))
        self.assertIn("dropped by rank 0, the newest", trace.facts)
        self.check(trace, 1, 1)
        self.assertEqual(len(trace.threads[0, 0]), 1 << 17)
        self.assertEqual(trace.trials(0)[0], min(trace.trials(0)))

    def test_full_buffers_leave_no_arrow_without_its_send(self):
        path = self.folder / "t.json"
        report("bfs", "--kronecker", 6, "--trials", 4000, "--sim", "ranks=2,seed=1",
               "--trace", path)
        trace = Trace(path)
        self.assertIn("dropped by rank 0, the newest", trace.facts)
        self.assertIn("dropped by rank 1, the newest", trace.facts)
        self.check(trace, 2, 1)

    def test_traffic_of_many_ranks_is_a_sum_per_rank(self):
        found = report("bfs", "--kronecker", 8, "--sim", "ranks=65,seed=1")
        self.assertEqual(found["traffic"]["rows"], "by sender alone: over 64 ranks")
        self.assertEqual(len(found["traffic"]["bytes"]), 65)
        self.assertEqual(sum(found["traffic"]["bytes"]), found["counters"]["bytes_sent"])

    def test_a_compressed_trace(self):
        path = self.folder / "t.json.gz"
        report("bfs", *GRAPH, "--trace", path)
        with gzip.open(path) as file:
            self.assertGreater(len(json.load(file)["traceEvents"]), 0)

    def test_refusals_come_before_the_run(self):
        missing = self.folder / "none.el"
        for command in COMMANDS:
            self.refused(command, *GRAPH, "--trace", "/nowhere/t.json", saying="cannot be written")
        self.refused("bfs", *GRAPH, *RANKS, "--trace", "/nowhere/t.json",
                     saying="cannot be written")
        # The graph is not even looked for.
        self.refused("bfs", missing, "--trace", "/nowhere/t.json", saying="/nowhere/t.json")
        self.refused("bfs", *GRAPH, "--sim", "ranks=2,seed=1..3", "--trace",
                     self.folder / "t.json", saying="several seeds")
        graph = self.file("g.el", "1 2\n")
        link = self.folder / "link.json"
        link.symlink_to(graph)
        self.refused("bfs", graph, "--trace", link, saying="would replace")
        link.unlink()
        self.refused("info", graph, "--trace", self.folder / "t.json", saying="--trace")
        self.refused("bfs", graph, "--trace", "", saying="expected a name that ends in .json")
        self.refused("bfs", graph, "--trace", "t.txt", saying="t.txt")
        costs = self.file("c.json", '{"latency_us": 1}')
        self.refused("bfs", *GRAPH, "--sim", f"ranks=2,clock={costs}", "--trace", costs,
                     saying="would replace")
        costs.write_text(json.dumps({f"{m}_{x}_ns": 1 for x in ("per_vertex", "fixed")
                                     for m in ("atomics", "htm", "locks", "stm")}))
        before = costs.read_text()
        self.refused("bfs", *GRAPH, "--costs", costs, "--trace", costs, saying="would replace")
        self.assertEqual(costs.read_text(), before)
        costs.unlink()
        self.assertEqual(os.listdir(self.folder), ["g.el"])
        self.assertEqual(graph.read_text(), "1 2\n")

    def cancelled(self, path, limit, *more):
        """The trace of a run that was cancelled after `limit` seconds."""
        run = cairn("bfs", "--kronecker", 14, "--trials", 10**6, "--timeout", limit, "--trace",
                    path, *more)
        self.assertEqual((run.returncode, run.stdout), (124, ""), more)
        self.assertEqual(run.stderr,
                         f"cairn: cancelled after {limit} s, the limit set by --timeout\n")
        trace = Trace(path)
        path.unlink()
        return trace

    def test_a_cancelled_run_leaves_its_trace(self):
        path = self.folder / "t.json"
        for more in (("--threads", 2), RANKS, ("--sim", "ranks=4")):
            ranks = {"--ranks": 3, "--sim": 4}.get(more[0], 1)
            # On a busy machine a rank may not finish a trial within the first limit.
            for limit in (0.4, 4, 40):
                trace = self.cancelled(path, limit, *more)
                try:
                    self.check(trace, ranks, 2 if more[0] == "--threads" else 1)
                    break
                except AssertionError:
                    if limit == 40:
                        raise
        # Also before there is anything to record: one thread takes a second to build this graph.
        run = cairn("bfs", "--kronecker", 20, "--threads", 1, "--timeout", 0.1, "--trace", path)
        self.assertEqual(run.returncode, 124)
        self.assertEqual(Trace(path).named(""), [])


if __name__ == "__main__":
    cli_test.CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
