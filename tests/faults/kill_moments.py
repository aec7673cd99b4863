#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills ranks of running commands at random moments: kill_moments.py CAIRN MOMENTS [MPIEXEC ...]

Without MPIEXEC the ranks are local. After each SIGKILL the job must end within 20 s with a status
other than 0, name the rank, and leave no process and no shared memory of Cairn. Where the MPI
library ends the job first, in MPI_Init, its own sentence stands for the name. The seed is printed.
"""
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

RANKS = 3
LIMIT = 20.0
# Of segments of the MPIs, as in src/core/killed_rank_cleanup.cpp. Local ranks give no memory a name.
SEGMENTS = ("open_mpi.", "vader_segment.", "mpich_shar_", "ucx_shm_")
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1")


def children_of(pid):
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return [int(p) for p in children.split()]
    except OSError:
        return []


def tree(pid):
    return [p for c in children_of(pid) for p in [c, *tree(c)]]


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def runs(pid):
    """False for a zombie, which only its parent or process 1 can remove."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def environment_of(pid):
    try:
        entries = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    return dict(e.decode(errors="replace").split("=", 1) for e in entries if b"=" in e)


class victims:
    """The processes of ranks of a job, each with the number of its rank."""

    def __init__(self, first, launched):
        self.found = []
        if not launched:
            ranks = children_of(first)
            if len(ranks) == RANKS:  # else a place in the list is not the number of a rank
                self.found = [(pid, rank) for rank, pid in enumerate(ranks)]
            return
        for pid in tree(first):
            # What the launcher starts for a rank has one child, in which the rank runs.
            if name_of(pid) != "cairn" or not any(name_of(c) == "cairn" for c in children_of(pid)):
                continue
            known = environment_of(pid)
            rank = known.get("PMI_RANK", known.get("OMPI_COMM_WORLD_RANK"))
            if rank is not None:
                self.found += [(p, int(rank)) for p in [pid, *children_of(pid)]]


def shared_memory():
    """The names in /dev/shm that may be of this job: other programs of the machine have files there."""
    try:
        return {name for name in os.listdir("/dev/shm") if name.startswith(SEGMENTS)}
    except FileNotFoundError:
        return set()


def in_use(segment):
    """Whether a process has mapped the segment: then it is of another job."""
    for maps in pathlib.Path("/proc").glob("[0-9]*/maps"):
        try:
            if f"/dev/shm/{segment}" in maps.read_text(errors="replace"):
                return True
        except OSError:
            pass
    return False


def start(command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=ENVIRONMENT, start_new_session=True)


def seconds_of(command):
    before = time.monotonic()
    run = start(command)
    out, _ = run.communicate(timeout=300)
    assert run.returncode == 0, (command, run.returncode, out)
    return time.monotonic() - before


def kill_once(command, launched, moment, chance):
    """Returns None if this moment tells nothing, because the job ended before; else a list of what
    is wrong."""
    files = shared_memory()
    run = start(command)
    try:
        run.wait(moment)
        run.communicate()
        return None
    except subprocess.TimeoutExpired:
        pass
    found = victims(run.pid, launched).found
    while not found and run.poll() is None:
        found = victims(run.pid, launched).found
    if not found:
        run.communicate()
        return None
    pid, rank = chance.choice(found)
    processes = [run.pid, *tree(run.pid)]
    killed = time.monotonic()
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        run.communicate()
        return None
    try:
        out, _ = run.communicate(timeout=2 * LIMIT)
    except subprocess.TimeoutExpired:
        left = [(p, name_of(p)) for p in tree(run.pid) if runs(p)]
        for p in [*tree(run.pid), run.pid]:
            os.kill(p, signal.SIGKILL)
        run.communicate()
        if left:
            return [f"the job lives on: {left}"]
        return ["the launcher waits although no process of the job is left"]
    took = time.monotonic() - killed
    if run.returncode == 0 and "killed" not in out:
        return None  # the rank had done its work
    wrong = []
    if run.returncode == 0:
        wrong.append("the status is 0")
    if took > LIMIT:
        wrong.append(f"it took {took:.1f} s")
    named = set(re.findall(r"rank (\d+) was killed", out))
    if launched and not named and "MPI_Init" in out:
        # In MPI_Init the library itself notices the loss and may end the job, all processes of it,
        # before the one beside the lost rank has a core to run on.
        print(f"the MPI library ended the job first: {out.splitlines()[-1]}", flush=True)
    elif named != {str(rank)}:
        wrong.append(f"it names {named}, not rank {rank}: {out!r}")
    # A process may need a moment to die; another job may have files now.
    until = time.monotonic() + 10
    left = processes
    while (left or shared_memory() - files) and time.monotonic() < until:
        left = [p for p in left if runs(p)]
        time.sleep(0.01)
    if left:
        wrong.append(f"processes are left: {[(p, name_of(p)) for p in left]}")
    segments = {s for s in shared_memory() - files if not in_use(s)}
    if segments:
        wrong.append(f"shared memory is left: {segments}")
    return wrong


def main():
    cairn, moments, launcher = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    seed = int(os.environ.get("CAIRN_TEST_SEED", time.time_ns() % 1_000_000))
    print(f"seed {seed}", flush=True)
    chance = random.Random(seed)
    ranks = ["--threads", "1"] if launcher else ["--threads", "1", "--ranks", str(RANKS)]
    start_command = [*launcher, *(["-n", str(RANKS)] if launcher else []), cairn]
    with tempfile.TemporaryDirectory() as folder:
        text = f"{folder}/g.el"
        subprocess.run([cairn, "generate", "--kronecker", "15", text, "--quiet"], check=True)
        inputs = [["bfs", text, "--symmetrize", "--trials", "20", "--verify"],
                  ["pagerank", "--kronecker", "16", "--verify"],
                  ["mst", "--kronecker", "15", "--verify"]]
        commands = [[*start_command, *c, *ranks, "--quiet"] for c in inputs]
        lengths = [seconds_of(c) for c in commands]
        failures = done = tries = 0
        while done < moments:
            tries += 1
            if tries > 20 * moments:
                print(f"only {done} of {tries} moments were during a run", flush=True)
                return 1
            at = done % len(commands)
            wrong = kill_once(commands[at], bool(launcher), chance.uniform(0, lengths[at]), chance)
            if wrong is None:
                continue
            done += 1
            if wrong:
                failures += 1
                print(f"{' '.join(commands[at])}: {'; '.join(wrong)}", flush=True)
    print(f"{done - failures} of {done} moments")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
