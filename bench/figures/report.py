#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the figures, judges their claims, and writes a page with the verdict on each claim.

    [GRAPHS=FOLDER] report.py [BENCH_FOLDER] [--out FOLDER] [--form short|long] [--only NAME...]
                              [--recorded] [--limit SECONDS]

BENCH_FOLDER (build/release/bench) contains the built programs. Points of program NAME are appended
to FOLDER/NAME.jsonl, its plots are FOLDER/NAME-1.svg, -2, ..., and the page is FOLDER/index.html.
--recorded judges the existing points without running programs. A claim that does not hold is a
result, not an error. A program that fails, or does not end within the limit, is reported on the
page, and the exit status is 1. Claims about real graphs are not decided without these graphs.
"""

import argparse
import html
import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
try:
    import plotting  # noqa: E402
except ImportError as missing:
    sys.exit(f"report.py: {missing}: tools/install_packages brings matplotlib to the Python of the "
             "distribution, /usr/bin/python3")
from judging import FAILS, HOLDS, OPEN, Unfinished, Verdict, last_sweep, whole  # noqa: E402

# A figure is a program with a Python file of the same name.
NAMES = sorted(file.stem for file in HERE.glob("*.cpp") if file.with_suffix(".py").exists())
# Folder of real graphs: GRAPHS, or the data beside the project.
GRAPHS = os.environ.get("GRAPHS") or HERE.parents[1] / "../shared/data/graphs"
CLASSES = {HOLDS: "holds", FAILS: "fails", OPEN: "open"}
STYLE = """body{font:15px sans-serif;max-width:75em;margin:2em auto;padding:0 1em}
table{border-collapse:collapse;width:100%}td,th{border:1px solid #ccc;padding:.4em;text-align:left;
vertical-align:top}.claims td:first-child{width:9em;font-weight:bold}
.claims td:last-child{width:40%}
.holds{background:#dff3df}.fails{background:#f7dcd7}.open{background:#f3f0d8}
details{margin:.5em 0 2em}img{max-width:100%}.numbers{font-size:12px;overflow:auto}"""


# What papers measure and no program here does.
NOT_MEASURED = [
    ("[RMA15]", "latency of put and get"), ("[RMA15]", "message rate"),
    ("[RMA15]", "synchronisation: fence, post/start/complete/wait, locks, flush"),
    ("[RMA15]", "ping-pong by notified access"), ("[RMA15]", "Cholesky factorisation"),
    ("[RMA15]", "pipelined stencil and tree reduction"),
    ("[RMA15]", "three-dimensional FFT and lattice conjugate gradient"),
    ("[RMA15]", "flags, counters and notifications by number of sources"),
    ("[RMA15]", "overlap of transfers and computation"),
    ("[AGGRO]", "figure 5: Delaunay triangulation"), ("[AGGRO]", "figure 5: Delaunay refinement"),
    ("[AGGRO]", "figure 5: k-means"), ("[AGGRO]", "figure 5: word count"),
    ("[AGGRO]", "figure 5: loopy belief propagation and stable matching"),
]
LIMITS = {"short": 3600, "long": 24 * 3600}  # seconds of a program


def end(program):
    """Ends the program and what it started; mpiexec has 5 s to end its ranks."""
    try:
        os.killpg(program.pid, signal.SIGTERM)
        until = time.monotonic() + 5
        while time.monotonic() < until:
            program.poll()
            os.killpg(program.pid, 0)  # fails if no process is left
            time.sleep(0.05)
        os.killpg(program.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    program.wait()


def run(name, arguments, folder, out, limit):
    """Returns why the program failed, or None."""
    words = [word.format(graphs=GRAPHS) for word in arguments.split()]
    command = [str(folder / name), *words, "--lines", str(out / f"{name}.jsonl")]
    print("+", " ".join(command), file=sys.stderr, flush=True)
    start = time.monotonic()
    try:
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True, errors="replace", start_new_session=True)
    except OSError as fault:
        return f"the program cannot be started: {fault}"
    last, within_limit = "no word", True

    def show():
        nonlocal last
        for line in program.stderr:
            print(line, end="", file=sys.stderr, flush=True)
            last = line.strip() or last

    shown = threading.Thread(target=show, daemon=True)
    shown.start()
    try:
        program.wait(limit)
    except subprocess.TimeoutExpired:
        within_limit = False
    finally:
        if program.poll() is None:  # also on an interrupt
            end(program)
    shown.join(5)
    print(f"  {time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)
    if not within_limit:
        return f"the program did not end within {limit:g} s: {last}"
    if program.returncode == 0:
        return None
    return f"the program ended with status {program.returncode}: {last}"


# What judging or drawing raises if the points are of another version or too few.
UNFIT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def sentence_of(fault, action):
    if isinstance(fault, KeyError):
        return f"the points are of another version: they have no {fault}"
    return f"the points cannot be {action}: {fault}"


def judge(figure, points):
    """The verdict on each claim of the figure."""
    for claim in figure.CLAIMS:
        try:
            yield claim.judge(points)
        except UNFIT as fault:
            yield Verdict(OPEN, sentence_of(fault, "judged"))


def short(value):
    if isinstance(value, dict) and {"median", "mad"} <= value.keys():
        return f"{value['median']:.4g} ± {value['mad']:.2g}"
    if isinstance(value, dict):
        return ", ".join(f"{k} {short(v)}" for k, v in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def tables_of(points):
    """Tables of the points, one per set of members."""
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


def row_of(verdict, text):
    return (f"<tr class='{CLASSES[verdict.word]}'><td>{verdict.word}</td><td>{html.escape(text)}"
            f"</td><td>{html.escape(verdict.number)}</td></tr>")


def folded(name, figure, points, last, verdicts, out):
    """Reasons, plots and numbers."""
    reasons = "".join(f"<p>{html.escape(claim.text)}: {html.escape(v.details)}</p>"
                      for claim, v in zip(figure.CLAIMS, verdicts) if v.details)
    images = ""
    for number, plot in enumerate(figure.PLOTS, 1):
        svg = out / f"{name}-{number}.svg"
        try:
            if plotting.draw(points, plot, svg):
                images += f"<p><img src='{svg.name}'></p>"
        except UNFIT as fault:
            images += f"<p>Plot {number}: {html.escape(sentence_of(fault, 'drawn'))}</p>"
    command, commit, machine = (last.get(k, "unknown") for k in ("command", "commit", "machine"))
    model = machine.get("model", "unknown") if isinstance(machine, dict) else machine
    return (f"<details><summary>plots, reasons and numbers</summary>{reasons}{images}"
            f"<p><code>{html.escape(str(command))}</code>, {html.escape(f'{commit}, {model}')}</p>"
            f"<div class='numbers'>times in seconds{''.join(tables_of(points))}</div></details>")


def section(name, failed, out, printed):
    """The section of a figure on the page; its verdicts are also printed."""
    figure = importlib.import_module(name)
    rows, details = [], ""
    try:
        if failed:
            raise Unfinished(failed)
        with (out / f"{name}.jsonl").open(encoding="utf-8", errors="replace") as lines:
            points, last = last_sweep(lines, name)
    except (FileNotFoundError, Unfinished) as why:
        words = "not run" if isinstance(why, FileNotFoundError) else str(why)
        verdicts = [Verdict(OPEN, words)] * len(figure.CLAIMS)
    else:
        verdicts = list(judge(figure, points))
        details = folded(name, figure, points, last, verdicts, out)
    if printed:
        print(f"{figure.TITLE}: {whole(v.word for v in verdicts)}")
    for claim, verdict in zip(figure.CLAIMS, verdicts):
        if printed:
            print(f"  {verdict.word}: {claim.text}: {verdict.number}")
        rows.append(row_of(verdict, claim.text))
    return (f"<h2 id='{name}'>{figure.TITLE}</h2><table class='claims'>{''.join(rows)}</table>"
            f"{details}")


def not_measured():
    rows = "".join(row_of(Verdict(OPEN, "not measured"), f"{paper} {what}")
                   for paper, what in NOT_MEASURED)
    return f"<h2 id='not_measured'>Not measured</h2><table class='claims'>{rows}</table>"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path, nargs="?", default=Path("build/release/bench"))
    arguments.add_argument("--out", type=Path)
    arguments.add_argument("--form", choices=["short", "long"], default="short")
    arguments.add_argument("--only", nargs="+", default=[], metavar="NAME", choices=NAMES)
    arguments.add_argument("--recorded", action="store_true")
    arguments.add_argument("--limit", type=float, metavar="SECONDS",
                           help="of a program; by default an hour, in the long form a day")
    options = arguments.parse_args()
    if not options.folder.is_dir():
        print(f"report.py: {options.folder} is not a folder, expected that of the programs, "
              "such as build/release/bench", file=sys.stderr)
        sys.exit(2)
    out = options.out or options.folder / "figures"
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as refused:
        print(f"report.py: the page's folder cannot be made: {refused}", file=sys.stderr)
        sys.exit(2)
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    sys.stdout.reconfigure(errors="replace")  # a locale may lack the ± of a number
    limit = options.limit or LIMITS[options.form]
    sections, status = [], 0
    for name in NAMES:
        failed = None
        chosen = not options.only or name in options.only
        if chosen and not options.recorded:
            figure = importlib.import_module(name)
            form = figure.SHORT if options.form == "short" else figure.LONG
            if "{graphs}" in form and not Path(GRAPHS).is_dir():
                failed = f"there are no real graphs in {GRAPHS}: name a folder by GRAPHS=FOLDER"
            else:
                failed = run(name, form, options.folder, out, limit)
                status = status or int(failed is not None)
        sections.append(section(name, failed, out, chosen))
    (out / "index.html").write_text(
        f"<!doctype html><meta charset='utf-8'><title>Cairn: figures</title><style>{STYLE}</style>"
        "<h1>[AAM15], [DC15], [GMT14]: claims, and whether they hold on this machine</h1>"
        f"{''.join(sections)}{not_measured()}\n", encoding="utf-8")
    print(out / "index.html")
    sys.exit(status)


if __name__ == "__main__":
    main()
