#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lab_test.py LAB RELAY CAIRN MPI: the network laboratory runs a command on two hosts, delays
what they send, and leaves no process behind. Where it cannot run, it says why and the test is
skipped."""
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

LAB, RELAY, CAIRN, MPI = sys.argv[1:]
CANNOT_RUN, TIMED_OUT = 77, 124
LIMIT_SECONDS = 50
# As long as no other process of the machine sleeps: who runs it is found by it.
SLEEP = ["sleep", f"{3000 + os.getpid()}.25"]
# An answer comes after the delay there and back: a port that nobody listens on refuses.
KNOCK = """
import socket, time
start = time.monotonic()
try:
    socket.create_connection(("lab1", 9), 10)
except ConnectionRefusedError:
    print(socket.gethostname(), time.monotonic() - start)
"""


def words(*options):
    return [LAB, "--relay", RELAY, "--timeout", "40", *options]


def lab(*options):
    return subprocess.run(words(*options), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=LIMIT_SECONDS)


def check(holds, what, said):
    if not holds:
        sys.exit(f"not so: {what}; it said:\n{said}")


def sleepers():
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if file.read_bytes().split(b"\0")[:2] == [word.encode() for word in SLEEP]:
                found.append(int(file.parent.name))
        except OSError:
            pass  # it has ended
    return found


def search_is_verified():
    done = lab("--mpi", MPI, "--", CAIRN, "bfs", "--kronecker", "12", "--threads", "1", "--verify")
    if done.returncode == CANNOT_RUN:
        print(done.stdout, end="")
        sys.exit(CANNOT_RUN)
    lines = [line.split() for line in done.stdout.splitlines()]
    check(done.returncode == 0 and ["verified", "yes"] in lines, "a verified search", done.stdout)
    check(any(line[:4] == ["ranks", "2", "x", "1"] for line in lines), "a rank on each host",
          done.stdout)


def frames_are_delayed():
    done = lab("--mpi", "none", "--delay-us", "20000", "--", sys.executable, "-c", KNOCK)
    host, seconds = (done.stdout.split() + ["", "0"])[:2]
    check(host == "lab0" and float(seconds) >= 0.04, "an answer after twice 20 ms", done.stdout)


def status_is_that_of_the_command():
    done = lab("--mpi", "none", "--", "sh", "-c", "exit 7")
    check(done.returncode == 7, "the status of the command", done.stdout)


def nothing_remains_after(options, stop, status):
    command = subprocess.Popen(words(*options, "--", *SLEEP), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    end = time.monotonic() + 20
    while not sleepers() and time.monotonic() < end and command.poll() is None:
        time.sleep(0.05)
    check(sleepers(), "the command runs", options)
    stop(command)
    check(command.wait(LIMIT_SECONDS) == status, f"status {status}", command.returncode)
    check(not sleepers(), "no process remains", sleepers())


search_is_verified()
frames_are_delayed()
status_is_that_of_the_command()
nothing_remains_after(["--mpi", MPI, "--timeout", "15"], lambda command: None, TIMED_OUT)
nothing_remains_after(["--mpi", MPI], lambda command: command.send_signal(signal.SIGTERM),
                      128 + signal.SIGTERM)
