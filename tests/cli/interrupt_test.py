#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What SIGINT, SIGTERM and a time limit do, whenever they come:
interrupt_test.py PATH_OF_CAIRN [unittest options]."""
import contextlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import unittest

import cli_test
from cli_test import InAFolder, cairn

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
GRAPH = ("--kronecker", 16)
# Parts of the processor time of a command, for another try.
EARLIER = [0.51 * 0.75**i for i in range(12)]


def children_of(pid):
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return [int(p) for p in children.split()]
    except OSError:
        return []


def nanoseconds_of_threads(pid):
    """What its living threads have used; 0 if the system does not say. A short command uses less
    than the ticks of /proc/PID/stat."""
    used = 0
    for thread in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):
            used += int(thread.read_text().split()[0])
    return used


def cpu_seconds(pid):
    """What a process and its children have used so far; None once it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    if fields[0] == "Z":
        return None
    ticks = (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND
    own = max(ticks, nanoseconds_of_threads(pid) * 1e-9)
    return own + sum(cpu_seconds(c) or 0 for c in children_of(pid))


class started:
    """A command that runs, in a process group of its own."""

    def __init__(self, *arguments, cwd=None):
        self.process = subprocess.Popen([cli_test.CAIRN, *map(str, arguments)], cwd=cwd,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        start_new_session=True)
        self.pid = self.process.pid

    def wait_for_cpu(self, seconds):
        """Returns when the command has used so much processor time, or has ended."""
        while True:
            used = cpu_seconds(self.pid)
            if used is None or used >= seconds:
                return self
            os.sched_yield()

    def end(self):
        out, err = self.process.communicate(timeout=100)
        return self.process.returncode, out, err


class Interrupts(InAFolder):
    def cpu_of(self, *arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = cairn(*arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(run.returncode, 0, run.stderr)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def interrupt_everywhere(self, *arguments, moments=12, send=os.kill, number=signal.SIGINT,
                             check=lambda status: None):
        """Interrupts the command at moments that go through all of its phases."""
        name = signal.Signals(number).name
        all_of_it = self.cpu_of(*arguments)
        check(0)
        cancelled = 0
        # The time that a command takes varies with the load: if all ended too soon, earlier ones
        # follow.
        for moment in [(i + 0.5) / moments for i in range(moments)] + EARLIER:
            if moment == EARLIER[0] and cancelled > 0:
                break
            run = started(*arguments, cwd=self.folder).wait_for_cpu(all_of_it * moment)
            if cpu_seconds(run.pid) is not None:
                with contextlib.suppress(ProcessLookupError):  # it has ended just now
                    send(run.pid, number)
            status, out, err = run.end()
            check(status)
            if status in (0, -number):
                # It had ended; or the signal came beside the run, while the process begins or ends.
                self.assertEqual(err, "", arguments)
                if status == 0 and out:
                    json.loads(out)  # a signal beside the run may cut it off
                continue
            self.assertEqual((status, out, err),
                             (128 + number, "", f"cairn: cancelled by {name}\n"), arguments)
            cancelled += 1
        self.assertGreater(cancelled, 0, arguments)

    def test_a_search_ends_with_one_sentence_at_any_moment(self):
        self.interrupt_everywhere("bfs", *GRAPH, "--trials", 10, "--verify", "--json", "--quiet",
                                  moments=20)

    def test_sigterm_as_sigint(self):
        for more in ((), ("--ranks", 2, "--threads", 1)):
            self.interrupt_everywhere("bfs", *GRAPH, "--trials", 5, "--verify", "--json", *more,
                                      moments=5, number=signal.SIGTERM)

    def test_a_second_signal_soon_after_belongs_to_the_first(self):
        # As timeout(1) does: one to the process, one to its group.
        def twice(pid, number):
            os.kill(pid, number)
            os.killpg(pid, number)

        for number in (signal.SIGINT, signal.SIGTERM):
            self.interrupt_everywhere("bfs", *GRAPH, "--trials", 5, "--json", moments=5, send=twice,
                                      number=number)

    def test_a_time_limit(self):
        limited = ("bfs", *GRAPH, "--trials", 10**6, "--json", "--timeout", 0.3)
        # Blocks that wait for long do not hold it.
        old = ("--ranks", 2, "--threads", 1, "--progress", "specialised", "--queue-age", 10**9)
        for more in ((), ("--ranks", 2, "--threads", 1), ("--sim", "ranks=4"), old):
            run = cairn(*limited, *more)
            self.assertEqual((run.returncode, run.stdout), (124, ""), more)
            self.assertEqual(run.stderr,
                             "cairn: cancelled after 0.3 s, the limit set by --timeout\n")
        self.assertIn(" 100000 ", cairn("settings", "--timeout", 100000).stdout)
        run = cairn("bfs", "--kronecker", 10, "--timeout", 1000, "--quiet")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        for bad in ("0", "-1", "1e3", "soon", ""):
            run = cairn("bfs", "--kronecker", 10, "--timeout", bad)
            self.assertEqual(run.returncode, 2, bad)
            self.assertIn(f"is '{bad}', expected off|0.001..1000000000", run.stderr)

    def test_a_measurement_of_costs(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            run = started("bench", "model", "--passes", 10**6).wait_for_cpu(0.3)
            os.kill(run.pid, number)
            name = signal.Signals(number).name
            self.assertEqual(run.end(), (128 + number, "", f"cairn: cancelled by {name}\n"))

    def test_of_all_local_ranks(self):
        def to_all(pid, number):
            os.killpg(pid, number)

        def to_one_rank(pid, number):
            ranks = children_of(pid)
            os.kill(ranks[-1] if ranks else pid, number)

        for send in (os.kill, to_all, to_one_rank):
            self.interrupt_everywhere("bfs", *GRAPH, "--trials", 5, "--verify", "--json",
                                      "--ranks", 2, "--threads", 1, moments=6, send=send)

    def test_of_a_simulated_cluster(self):
        self.interrupt_everywhere("bfs", "--kronecker", 14, "--verify", "--json", "--sim",
                                  "ranks=4", moments=6)

    def test_reading_a_text_file_and_every_other_command(self):
        text = self.folder / "g.el"
        cairn("generate", *GRAPH, text)
        for command in ("cc", "pagerank", "coloring"):
            self.interrupt_everywhere(command, text, "--symmetrize", "--verify", "--json",
                                      moments=5)

    def write_all_or_nothing(self, out, *command):
        beside = os.listdir(self.folder)
        whole = []

        def check(status):
            if out.exists():  # also if the signal came after it
                whole.append(out.read_bytes())
                self.assertEqual(whole[0], whole[-1])
                out.unlink()
            else:
                self.assertNotEqual(status, 0)
            self.assertEqual(os.listdir(self.folder), beside)

        self.interrupt_everywhere(*command, out, "--quiet", moments=6, check=check)

    def test_writers_leave_nothing_behind(self):
        graph = self.folder / "g.cairn"
        # Copying a graph takes so little that it must be large: else all copies may have ended
        # before the signal.
        for name, scale in (("out.el", 16), ("out.el.gz", 16), ("out.cairn", 19),
                            ("out.cairn.zst", 18)):
            cairn("generate", "--kronecker", scale, graph)
            self.write_all_or_nothing(self.folder / name, "convert", graph)
        graph.unlink()
        for more in (("--order", "hash"), ("--ranks", 2, "--threads", 1)):
            self.write_all_or_nothing(self.folder / "out.el.gz", "mst", "--grid", "300x400", *more,
                                      "--forest")

    def test_a_pipe_without_a_reader_does_not_hold_it(self):
        pipe = self.folder / "pipe.csv"
        os.mkfifo(pipe)
        for writing in (("generate", "--grid", "300x300", pipe),
                        ("cc", "--grid", "300x300", "--output", pipe),
                        ("mst", "--grid", "300x300", "--forest", pipe)):
            for more in ((), ("--ranks", 2, "--threads", 1)):
                run = cairn(*writing, "--quiet", "--timeout", 0.3, *more)
                self.assertEqual((run.returncode, run.stderr),
                                 (124, "cairn: cancelled after 0.3 s, the limit set by "
                                       "--timeout\n"), more)
                reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # which does not read
                run = cairn(*writing, "--quiet", "--timeout", 0.3, *more)
                self.assertEqual(run.returncode, 124, run.stderr)
                os.close(reader)

    def test_nor_one_for_a_trace_or_costs(self):
        pipe = self.folder / "pipe.json"
        os.mkfifo(pipe)
        for writing in (("bfs", "-g", 6, "--trace", pipe),
                        ("bfs", "-g", 6, "--trace", pipe, "--ranks", 2, "--threads", 1),
                        ("bfs", "-g", 6, "--trace", pipe, "--sim", "ranks=2"),
                        ("bench", "sim", "--passes", 1, "--output", pipe)):
            run = cairn(*writing, "--quiet", "--timeout", 1)
            self.assertEqual((run.returncode, run.stderr),
                             (124, "cairn: cancelled after 1 s, the limit set by --timeout\n"),
                             writing)
        for _ in range(5):  # measured costs may fit no line while the machine is busy
            run = cairn("bench", "model", "--passes", 11, "--output", pipe,
                        environment={**os.environ, "CAIRN_TIMEOUT": "1"})
            if "no costs are written" not in run.stderr:
                break
        self.assertEqual(run.returncode, 124, run.stderr)

    def test_killed_writers_leave_nothing_behind(self):
        try:
            os.close(os.open(self.folder, os.O_TMPFILE | os.O_WRONLY))
        except OSError as e:
            reason = f"{self.folder} has no files without a name: {e.strerror}"
            print(reason, file=sys.stderr)
            self.skipTest(reason)
        graph, out = self.folder / "g.cairn", self.folder / "out.el.gz"
        cairn("generate", *GRAPH, graph)
        all_of_it = self.cpu_of("convert", graph, out)
        whole = out.read_bytes()
        for moment in EARLIER:
            out.unlink(missing_ok=True)
            run = started("convert", graph, out).wait_for_cpu(all_of_it * moment)
            os.kill(run.pid, signal.SIGKILL)
            status = run.end()[0]
            self.assertIn(status, (0, -signal.SIGKILL))
            if not out.exists():
                self.assertEqual(status, -signal.SIGKILL)
                break
            self.assertEqual(out.read_bytes(), whole)  # too late
        self.assertEqual(os.listdir(self.folder), ["g.cairn"])


if __name__ == "__main__":
    # Also if this program was started where it is ignored: what it starts gets the default.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    cli_test.CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
