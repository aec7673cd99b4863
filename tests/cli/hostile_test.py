#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that lie, though their checksums are right: hostile_test.py PATH_OF_CAIRN [unittest options]."""
import os
import struct
import sys
import unittest

import cli_test
from cli_test import InAFolder

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

    def test_wrong_counts_and_targets_are_refused(self):
        for file, said in ((native([[1], [0]], edges=2), "the header counts 2 edges"),
                           (native([[1], [2]], directed=True), "a target is not a vertex"),
                           (native([[1, 0], [0]], directed=True), "do not ascend")):
            for ranks in (1, 2):
                self.refused("bfs", self.file("g.cairn", file), "--ranks", ranks, saying=said)


if __name__ == "__main__":
    cli_test.CAIRN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
