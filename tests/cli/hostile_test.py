#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that lie, though their checksums are right:
hostile_test.py PATH_OF_CAIRN [unittest options]."""
import gzip
import os
import struct
import subprocess
import sys
import unittest

import cli_test
from cli_test import InAFolder

MIB = 2**20
BITS = 2**64 - 1
PAGE = 4096
COMMANDS = ("info", "bfs", "pagerank", "st-connectivity", "coloring", "cc", "mst", "maxflow")


def mix(x):
    x = x + 0x9e3779b97f4a7c15 & BITS
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & BITS
    x = (x ^ x >> 27) * 0x94d049bb133111eb & BITS
    return x ^ x >> 31


def checksum(data):
    """Of a section shorter than a chunk."""
    if not data:
        return 0
    lanes = [mix(0), mix(BITS), len(data), 0x9fb21c651e98df25]
    for at in range(0, len(data), 32):
        for i, word in enumerate(struct.unpack("<4Q", data[at:at + 32].ljust(32, b"\0"))):
            x = (lanes[i] ^ word) * 0x9fb21c651e98df25 & BITS
            lanes[i] = (x << 29 | x >> 35) & BITS
    h = 0
    for lane in lanes:
        h = mix(h ^ lane)
    return h


def native(rows, directed=False, weights=None, edges=None, vertices=None):
    """A .cairn file of those lists of targets; `vertices` that its header claims."""
    offsets = [0]
    for row in rows:
        offsets.append(offsets[-1] + len(row))
    loops = sum(row.count(v) for v, row in enumerate(rows))
    if edges is None:
        edges = offsets[-1] if directed else (offsets[-1] + loops) // 2
    sections = [struct.pack(f"<{len(offsets)}Q", *offsets),
                b"".join(struct.pack(f"<{len(row)}I", *row) for row in rows),
                struct.pack(f"<{len(weights)}i", *weights) if weights else b"", b""]
    n = len(rows) if vertices is None else vertices
    header = struct.pack("<8sIIIIQQQ", b"\x89cairn\r\n", 1, int(directed), 4, int(bool(weights)),
                         n, offsets[-1], edges)
    at, body = PAGE, b""
    for i, section in enumerate(sections):
        size = len(section) if i > 0 else 8 * (n + 1)
        header += struct.pack("<QQQ", at if size else 0, size, checksum(section))
        body = body.ljust(at - PAGE, b"\0") + section if section else body
        at += -(-size // PAGE) * PAGE
    return (header + struct.pack("<Q", checksum(header))).ljust(PAGE, b"\0") + body


class OneSided(InAFolder):
    def test_every_command_refuses_undirected_rows_that_are_not_symmetric(self):
        good = self.file("good.cairn", native([[1, 2], [0], [0, 3], [2]]))
        bad = self.file("bad.cairn", native([[1, 2], [0], [3], [2]]))
        heavy = self.file("heavy.cairn", native([[1, 2], [0], [0, 3], [2]],
                                                weights=[1, 2, 1, 2, 3, 4]))
        for command in COMMANDS:
            for ranks in (1, 2):
                run = cli_test.cairn(command, good, "--ranks", ranks, "--quiet")
                self.assertEqual((run.returncode, run.stderr), (0, ""), command)
                for file in (bad, heavy):
                    self.refused(command, file, "--ranks", ranks, saying="in its target's row")
        self.refused("convert", bad, self.folder / "out.el", saying="in its target's row")
        self.refused("verify", bad, self.file("r.csv", "id,depth\n"), saying="target's row")

    def test_a_source_is_found_where_hardly_any_vertex_has_edges(self):
        n = 5_000_000
        sparse = self.file("sparse.mtx", f"%%MatrixMarket matrix coordinate pattern general\n"
                                         f"{n} {n} 1\n{n - 5} 7\n")
        trials = cli_test.report("bfs", sparse, "--ranks", 2, "--threads", 1,
                                 "-n", 3)["result"]["trials"]
        self.assertEqual([t["reached"] for t in trials], [2] * 3)

    def test_wrong_counts_and_targets_are_refused(self):
        for file, said in ((native([[1], [0]], edges=2), "the header counts 2 edges"),
                           (native([[1], [2]], directed=True), "a target is not a vertex"),
                           (native([[1, 0], [0]], directed=True), "do not ascend")):
            for ranks in (1, 2):
                self.refused("bfs", self.file("g.cairn", file), "--ranks", ranks, saying=said)


class Bombs(InAFolder):
    """Files that are small while they are compressed. A run without a graph takes some 30 MiB."""
    def memory_of(self, *arguments, status, saying=""):
        with open(self.folder / "told", "w+") as told:
            process = subprocess.Popen([cli_test.CAIRN, *map(str, arguments), "--threads", "2"],
                                       stdout=told, stderr=told)
            _, left, usage = os.wait4(process.pid, 0)
            told.seek(0)
            text = told.read()
        process.returncode = os.waitstatus_to_exitcode(left)
        self.assertEqual(process.returncode, status, text)
        self.assertIn(saying, text)
        return usage.ru_maxrss * 1024

    def packed(self, name, head, pattern, size):
        path = self.folder / name
        with gzip.open(path, "wb", 1) as file:
            file.write(head)
            block = pattern * (MIB // len(pattern))
            for _ in range(size // len(block)):
                file.write(block)
        return path

    def test_comments_take_little_memory(self):
        comment = b"#" * 1023 + b"\n"
        bomb = self.packed("bomb.el.gz", b"", comment, 300 * MIB)
        self.assertLess(self.memory_of("info", bomb, status=2, saying="32 MiB"), 200 * MIB)
        later = self.packed("later.el.gz", b"1 2\n", comment, 300 * MIB)
        self.assertLess(self.memory_of("info", later, status=0), 200 * MIB)

    def test_a_line_of_blanks_takes_little_memory(self):
        bomb = self.packed("bomb.el.gz", b"1 2\n", b" ", 600 * MIB)
        self.assertLess(self.memory_of("info", bomb, status=2, saying="longer than"), 200 * MIB)

    def test_what_follows_a_native_graph_takes_no_memory(self):
        bomb = self.packed("bomb.cairn.gz", native([[1], [0]]), b"\0", 600 * MIB)
        self.assertLess(self.memory_of("info", bomb, status=2, saying="more than"), 200 * MIB)
        bomb = self.packed("zeros.cairn.gz", b"", b"\0", 600 * MIB)
        self.assertLess(self.memory_of("info", bomb, status=2, saying="signature"), 200 * MIB)

    def test_rows_of_no_vertex_take_little_memory(self):
        bomb = self.packed("bomb.csv.gz", b"id,depth\n", b"1,\n", 100 * MIB)
        self.assertLess(self.memory_of("verify", "-g", 6, bomb, status=2, saying="64 rows"),
                        200 * MIB)

    def test_a_forest_of_too_many_edges_takes_little_memory(self):
        bomb = self.packed("bomb.el.gz", b"", b"1 2\n", 100 * MIB)
        self.assertLess(self.memory_of("verify", "-g", 6, "--forest", bomb, status=2,
                                       saying="expected at most 1048576"), 200 * MIB)


if __name__ == "__main__":
    cli_test.CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
