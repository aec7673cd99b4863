#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the figures, draws them, and writes a page: each claim, whether it holds here, the numbers.

    [GRAPHS=FOLDER] report.py BENCH_FOLDER [--out FOLDER] [--form short|long] [--only NAME...]
                              [--recorded]

BENCH_FOLDER is where the programs were built. Lines are added to FOLDER/<program>.jsonl, plots are
FOLDER/<program>.svg, the page is FOLDER/index.html. --recorded runs nothing and writes the page
from the lines that are there. A claim that does not hold is a result; a program that fails is
said on the page, and makes the status 1. NAME is that of a program, without its folder.
"""

import argparse
import html
import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import plot  # noqa: E402

CLAIMS = [  # figure of [AAM15], what it claims, the program, the arguments of its short form
    ("1", "level by level, the heavy middle levels gain by coarse hardware transactions",
     "aam15_1_phases", "--kronecker 18 --runs 7 --least-seconds 0.05"),
    ("2", "T = A N + B: B(htm) &gt; B(atomics), A(htm) &lt; A(atomics); the fitted crossing "
     "predicts the measured one", "aam15_2_model", "--passes 21"),
    ("3", "single-vertex htm costs more than compare-and-swap and hardly aborts on marks; its "
     "aborts explode on increments; an aggregator does not abort at all",
     "aam15_3_single", "--runs 7 --least-seconds 0.02"),
    ("4", "the time falls to a best M, then rises; the best M beats atomics; aborts by cause "
     "explain the rise; after aborts HLE serialises at once, BG/Q after ten retries, more often at "
     "large M; RTM beats HLE at small M and loses at large ones", "aam15_4_grain",
     "--kronecker 16 --grains 1 4 16 64 144 320 --runs 5 --least-seconds 0.05"),
    ("5a–b", "of the aborts at M = 2, conflict or capacity has the larger share for every T",
     "aam15_5_aborts", "--kronecker 16 --runs 5 --least-seconds 0.05"),
    ("5c–h", "uncoalesced activities lose to one-sided MPI, a crossing C exists, coalesced ones "
     "win by a factor", "aam15_5_remote", "--runs 3"),
    ("5i", "distributed transactions all commit; more remote elements cost more; without back-off "
     "they may livelock, with it they do not",
     "aam15_5i_distributed",
     "--ranks 2 --threads 1 --runs 5 --least-seconds 0"),
    ("6", "coarse htm is faster than atomics over vertices and degrees", "aam15_6_graphs",
     "--scales 12 14 16 18 --runs 5 --least-seconds 0.02"),
    ("Table 1", "the online choice is within 5 % of the best (mechanism, M) of a sweep; graphs of "
     "one kind like similar M", "aam15_t1_graphs",
     "--runs 3 --least-seconds 0.02 --graphs {graphs}"),
    ("7a–b", "each mechanism speeds up with the threads", "aam15_7_threads",
     "--kronecker 18 --runs 7 --least-seconds 0.05"),
    ("7c–e", "PageRank: coalesced messages win 3 to 10 times over uncoalesced ones",
     "aam15_7_pagerank", "--runs 3 --warm-ups 0"),
    ("Scaling", "the simulated cluster sends the messages and buffers of ranks that run here and "
     "ranks settings as measured (no figure of the paper)", "scaling",
     "--kronecker 14 --runs 3 --warm-ups 0"),
]
LONG = {"aam15_1_phases": "--kronecker 20 --runs 31", "aam15_2_model": "--passes 201",
        "aam15_3_single": "--runs 31", "aam15_4_grain": "--kronecker 20 --runs 15",
        "aam15_5_aborts": "--kronecker 20 --runs 15", "aam15_5_remote": "--runs 15",
        "aam15_5i_distributed": "--ranks 2 --threads 1 --runs 15",
        "aam15_6_graphs": "--scales 16 18 20 22 --to-memory --degrees 1 2 4 8 16 32 64 128 256 "
                          "--runs 15",
        "aam15_t1_graphs": "--runs 31 --graphs {graphs}",
        "aam15_7_threads": "--kronecker 20 --runs 31",
        "aam15_7_pagerank": "--runs 9 --vertices 4096 16384 65536 262144",
        "scaling": "--kronecker 16 --runs 15"}
# Real graphs: the folder GRAPHS, or the data beside the project.
GRAPHS = os.environ.get("GRAPHS") or Path(__file__).resolve().parents[2] / "../shared/data/graphs"
KINDS = {"holds": "holds", "does not hold": "fails"}
STYLE = """body{font:15px sans-serif;max-width:70em;margin:2em auto;padding:0 1em}
table{border-collapse:collapse;width:100%}td,th{border:1px solid #ccc;padding:.4em;text-align:left;
vertical-align:top}.holds{background:#dff3df}.fails{background:#f7dcd7}.open{background:#f3f0d8}
ul{margin:.3em 0;padding-left:1.2em}svg,img{max-width:100%}pre{overflow:auto;font-size:12px}"""


def run(program, arguments, folder, out):
    """Returns why it failed, or nothing."""
    words = [word.format(graphs=GRAPHS) for word in arguments.split()]
    command = [str(folder / program), *words, "--lines", str(out / f"{program}.jsonl")]
    print("+", " ".join(command), file=sys.stderr, flush=True)
    start = time.monotonic()
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    sys.stderr.write(done.stderr)
    print(f"  {time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)
    if done.returncode == 0:
        return None
    last = (done.stderr.strip().splitlines() or ["no word"])[-1]
    return f"the program ended with status {done.returncode}: {last}"


def short(value):
    if isinstance(value, dict) and set(value) == {"median", "mad", "runs"}:
        return f"{value['median']:.4g} ± {value['mad']:.2g}"
    if isinstance(value, dict):
        return ", ".join(f"{k} {short(v)}" for k, v in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def numbers(points):
    """A table of the points for each set of members that they have."""
    left_out = {"figure", "commit", "command", "machine"}
    tables = {}
    for p in points:
        tables.setdefault(tuple(k for k in p if k not in left_out), []).append(p)
    for columns, rows in tables.items():
        yield "<table><tr>" + "".join(f"<th>{html.escape(c)}</th>" for c in columns) + "</tr>"
        for p in rows:
            cells = (f"<td>{html.escape(short(p[c]))}</td>" for c in columns)
            yield f"<tr>{''.join(cells)}</tr>"
        yield "</table>"


def words_of(verdict):
    """The verdict with its reason, or that of each part of the claim."""
    words = f"<b>{verdict['verdict']}</b>"
    if "parts" not in verdict:
        return f"{words}: {html.escape(verdict['why'])}"
    parts = (f"<li class='{KINDS.get(p['verdict'], 'open')}'><b>{p['verdict']}</b>: "
             f"{html.escape(p['claim'])}: {html.escape(p['why'])}</li>" for p in verdict["parts"])
    return f"{words}<ul>{''.join(parts)}</ul>"


def section(name, program, failed, out):
    """The verdict's class, its words, and the part of the page with plot and numbers."""
    lines = out / f"{program}.jsonl"
    if failed:
        return "fails", failed, ""
    if not lines.exists():
        return "open", "not run", ""
    try:
        with lines.open() as file:
            points, verdict = plot.last_sweep(file)
    except SystemExit as unfinished:
        return "open", f"not measured: {unfinished}", ""
    svg = lines.with_suffix(".svg")
    drawn = verdict["figure"] in plot.FIGURES and plot.plot(lines, svg)  # a table is none
    picture = f"<p><img src='{svg.name}'></p>" if drawn else ""
    kind = KINDS.get(verdict["verdict"], "open")
    where = f"{verdict['commit']}, {html.escape(verdict['machine']['model'])}"
    body = (f"<h2 id='{program}'>Figure {name}</h2>{words_of(verdict)}"
            f"<p><code>{html.escape(verdict['command'])}</code>, {where}</p>{picture}"
            f"<details><summary>numbers (times in seconds)</summary>{''.join(numbers(points))}"
            "</details>")
    return kind, words_of(verdict), body


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--out", type=Path)
    arguments.add_argument("--form", choices=["short", "long"], default="short")
    arguments.add_argument("--only", nargs="+", default=[], metavar="NAME",
                           choices=[program for _, _, program, _ in CLAIMS])
    arguments.add_argument("--recorded", action="store_true")
    asked = arguments.parse_args()
    if not asked.folder.is_dir():
        print(f"report.py: {asked.folder} is no folder; it should be that of the programs, such as "
              "build/release/bench", file=sys.stderr)
        sys.exit(2)
    out = asked.out or asked.folder / "figures"
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as refused:
        print(f"report.py: the page's folder cannot be made: {refused}", file=sys.stderr)
        sys.exit(2)
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    rows, bodies, status = [], [], 0
    for name, claim, program, short_form in CLAIMS:
        failed = None
        if not asked.recorded and (not asked.only or program in asked.only):
            form = short_form if asked.form == "short" else LONG[program]
            failed = run(program, form, asked.folder, out)
            status = status or int(failed is not None)
        kind, words, body = section(name, program, failed, out)
        name = f"<a href='#{program}'>{name}</a>"
        rows.append(f"<tr class='{kind}'><td>{name}</td><td>{claim}</td><td>{words}</td></tr>")
        bodies.append(body)
    (out / "index.html").write_text(
        f"<!doctype html><meta charset='utf-8'><title>Cairn: figures</title><style>{STYLE}</style>"
        "<h1>[AAM15]: what was claimed and what holds on this machine</h1><table><tr><th>figure"
        f"</th><th>claim</th><th>here</th></tr>{''.join(rows)}</table>{''.join(bodies)}\n")
    print(out / "index.html")
    sys.exit(status)


if __name__ == "__main__":
    main()
