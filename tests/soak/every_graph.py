#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs algorithms with verification on every graph of the data folder: each mechanism with 1 and 2
workers, up to 8 ranks as local processes and up to 4 under both MPIs, and simulated clusters with
many seeds (breadth-first search) or a few. Prints a line per graph; ends with 1 if any run failed.

    tests/soak/every_graph.py build/release/bin/cairn [--folder FOLDER] [ALGORITHM...]
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALGORITHMS = ["bfs", "sssp", "pagerank", "cc", "mst", "st-connectivity", "coloring", "maxflow",
              "kcore", "triangles", "cdlp", "lcc", "walk"]
MECHANISMS = ["auto", "plain", "atomics", "htm", "locks", "one-lock", "stm"]
SEEDS_BELOW_A_MILLION, SEEDS_ABOVE, SIM_RANKS = 100, 5, 4
# What an algorithm can do in several ways; the first of them is run over ranks too.
VARIANTS = {"bfs": [[], ["--direction", "top-down"], ["--algorithm", "distributed-control"],
                    ["--algorithm", "chaotic"]],
        "pagerank": [["--variant", "push"], [], ["--variant", "edge"],
                     ["--convention", "networkx", "--precision", "double"]],
        "cc": [[], ["--method", "propagation"]],
        "mst": [["--symmetrize"]],
        "sssp": [[], ["--algorithm", "distributed-control"], ["--algorithm", "chaotic"]]}
MULTI_CELL = ["mst", "maxflow"]
WITHOUT_OPERATORS = ["triangles", "cdlp", "lcc", "walk"]  # no mechanism has an effect on them
# Why these refuse a graph, however they are run.
REFUSALS = {"maxflow": ["that is a 32-bit integer", "of at least 0"], "sssp": ["of at least 0"]}


def mechanisms(algorithm, threads):
    if algorithm in WITHOUT_OPERATORS:
        yield []
        return
    for mechanism in MECHANISMS:
        if mechanism == "plain" and threads > 1:
            continue  # refused: an element would have several writers
        if mechanism == "atomics" and algorithm in MULTI_CELL:
            continue  # refused: it cannot change several elements at once
        if mechanism == "stm" and algorithm not in MULTI_CELL:
            continue  # refused: for several elements
        yield ["--mechanism", mechanism]


def settings_of_runs(algorithm, edges):
    variants = VARIANTS.get(algorithm, [[]])
    for threads in (1, 2):
        for mechanism in mechanisms(algorithm, threads):
            for variant in variants:
                yield [], ["--threads", str(threads)] + mechanism + variant
    for ranks in (2, 3, 4, 8):
        for variant in variants:
            yield [], ["--ranks", str(ranks), "--threads", "1"] + variant
    for mpi in ("mpich", "openmpi"):
        if not shutil.which("mpiexec." + mpi):
            continue
        for ranks in (1, 2, 4):
            yield ["mpiexec." + mpi, "-n", str(ranks)], ["--threads", "1"] + variants[0]
    seeds = SEEDS_BELOW_A_MILLION if edges < 1_000_000 else SEEDS_ABOVE
    if algorithm != "bfs":
        seeds = 1 + seeds // 20
    for variant in variants:
        operators = ["--mechanism", "htm"]
        if algorithm in WITHOUT_OPERATORS or (algorithm == "cc" and not variant):
            operators = []
        yield [], ["--threads", "2", *operators,
                   "--sim", f"ranks={SIM_RANKS},seed=1..{seeds}"] + variant


def edges_of(cairn, graph):
    import json
    out = subprocess.run([cairn, "info", graph, "--json"], capture_output=True, text=True)
    if out.returncode != 0:
        return None, out.stderr.strip()
    return json.loads(out.stdout)["graph"]["edges"], ""


def main():
    arguments = argparse.ArgumentParser(description=__doc__,
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("cairn")
    arguments.add_argument("algorithms", nargs="*", default=ALGORITHMS, metavar="ALGORITHM",
                           help=" ".join(ALGORITHMS))
    folder = pathlib.Path(os.environ.get("CAIRN_DATA", ROOT.parent / "shared" / "data")) / "graphs"
    arguments.add_argument("--folder", type=pathlib.Path, default=folder)
    given = arguments.parse_intermixed_args()
    cairn, data = given.cairn, given.folder
    if not data.is_dir():
        print(f"skipped: there is no folder {data} (CAIRN_DATA names another)")
        return 0
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1")
    passed = failed = 0
    for graph in sorted(data.iterdir()):
        edges, fault = edges_of(cairn, graph)
        if edges is None:
            print(f"{graph.name}: {fault}")
            failed += 1
            continue
        start, runs = time.time(), 0
        for algorithm in given.algorithms:
            for launcher, options in settings_of_runs(algorithm, edges):
                command = launcher + [cairn, algorithm, str(graph), "--verify", "--quiet"] + options
                run = subprocess.run(command, env=environment, capture_output=True, text=True,
                                     timeout=3600)
                if any(words in run.stderr for words in REFUSALS.get(algorithm, [])):
                    break
                runs += 1
                if run.returncode == 0:
                    passed += 1
                    continue
                failed += 1
                print(f"FAILED with status {run.returncode}: {' '.join(command)}\n  "
                      f"{run.stderr.strip()}")
        print(f"{graph.name}: {edges} edges, {runs} runs, {time.time() - start:.1f} s", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
