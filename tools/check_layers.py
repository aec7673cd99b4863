#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the source tree against the architecture. Prints each fault as `file:line: sentence`.

Includes: tools/layers.txt defines which layer may include which. Words: the rules below define
which files may use the environment, the console, MPI or transactional hardware, which functions
would break the simulated cluster in the layers above `task`, and that tests do not sleep.
Namespaces: a file's namespace is the path of its folder; x_test.cpp has x_test inside that.

    check_layers.py              checks the tree this file is in
    check_layers.py --self-test  checks that each rule catches its faults
"""

import re
import sys
import tempfile
from pathlib import Path

# Of a rule: what it says, the words it looks for, where it looks (None: in layers), files spared.
ABOVE_TASK = object()
TESTS = object()
SLEEPS = r"\bsleep_(?:for|until)\b|\b(?:nano|u)?sleep\s*\("
# What starts, watches and reaps processes, before and after there is a world.
STARTS_RANKS = (r"/core/(?:launch|local_ranks|mpi_ranks|interrupt|stop_cause|seconds|time_limit"
                r"|watchdog|supervisor|killed_rank_cleanup|watched_children)\.[ch]pp$")
RULES = [
    ("only the MPI plugin includes mpi.h",
     r'#\s*include\s*[<"](?:mpi|mpi_proto|mpicxx)\.h[>"]', None, r"src/net/mpi_plugin\.c$"),
    ("hardware transactions are begun only in hw and tm",
     r"\b_x(?:begin|end|abort|test)\b|#\s*include\s*<rtmintrin\.h>"
     r'|target\s*\(\s*"rtm"', None, r"/(?:hw|tm)/"),
    ("only core/settings and core/launch read the environment",
     r"\b(?:secure_)?getenv\b|\b(?:setenv|putenv|unsetenv)\b|\b_*environ\b",
     None, r"/core/(?:settings|launch)\w*\.[ch]pp$"),
    ("the library prints nothing",
     r"\bstd::(?:cout|cerr|clog)\b|\b(?:f|v|vf|d)?printf\s*\(|\b(?:f?puts|putchar|perror)\s*\("
     r"|#\s*include\s*<(?:iostream|fmt/[\w./]+)>|\bSTD(?:OUT|ERR)_FILENO\b",
     None, r"src/base/contract\.cpp$|" + STARTS_RANKS),
    ("the library never ends the process",
     r"(?:\bstd::|(?<![\w>])::|(?:^|[;{}()]|\belse|\breturn)\s*)"
     r"(?:exit|_exit|_Exit|abort|quick_exit|terminate|at_quick_exit|atexit)\s*\(",
     None, r"src/base/contract\.cpp$|" + STARTS_RANKS),
    ("above task nothing is per thread: under sim one thread runs every worker",
     r"\bthread_local\b|\b__thread\b|\bpthread_\w+", ABOVE_TASK, STARTS_RANKS),
    ("above task nothing sleeps or starts a thread",
     SLEEPS + r"|\bstd::(?:this_thread\b|j?thread\b|async\b)", ABOVE_TASK, STARTS_RANKS),
    # The others test programs of several processes.
    ("tests do not sleep", SLEEPS, TESTS, r"^tests/(?:faults|mpi)/"),
    ("above task nothing waits for a mutex, only pool.wait_until waits",
     r"\bstd::(?:(?:recursive_|shared_|timed_)*mutex|condition_variable(?:_any)?|call_once|future"
     r"|promise|barrier|latch|counting_semaphore|binary_semaphore)\b", ABOVE_TASK, STARTS_RANKS),
    ("above task time is world.clock()",
     r"\b__?_?rdtscp?\b|\b__builtin_ia32_rdtscp?\b"
     r"|(?<!hw::)\b(?:steady|system|high_resolution)_clock\b"
     r"|\bclock_gettime\b|\bgettimeofday\b|#\s*include\s*<(?:chrono|ctime|time\.h|sys/time\.h)>",
     ABOVE_TASK, STARTS_RANKS),
]

# Of a public header, or of a private one, where the folder may be one of the system.
INCLUDE = re.compile(r'#\s*include\s*[<"](cairn/)?(\w+)/[\w/]+\.(?:hpp|def)[>"]')
NAMESPACE = re.compile(r"namespace (cairn[\w:]*) \{")
# A comment or a literal: words in them are about the code, not code.
SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(text):
    """The text without comments and literals, every line still at its number."""

    def keep(match):
        found = match[0]
        line_start = text.rfind("\n", 0, match.start()) + 1
        # The quoted name of an include or of an attribute is what some rules look for.
        before = text[line_start:match.start()]
        if found[0] == '"' and re.match(r"\s*#\s*include|.*target\s*\($", before):
            return found
        # Digit separators (1'000'000) are no character literals.
        if found[0] == "'" and text[match.start() - 1:match.start()].isalnum():
            return found
        return re.sub(r"[^\n]", " ", found)

    return SKIPPED.sub(keep, text)


def read_layers(file):
    named = {}
    for line in file.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            layer, _, below = line.partition(":")
            named[layer.strip()] = below.split()
            for name in below.split():
                if name not in named:  # hence the order of the file is one, and nothing is cyclic
                    sys.exit(f"{file}: {layer.strip()} names {name}, which is not above it")
    return named


def reach(named, layer):
    return {layer}.union(*(reach(named, name) for name in named[layer]))


def namespaces_of(parts, named):
    """A pattern of the namespaces that a file of a layer opens."""
    inside = parts[:-1][parts[0] in ("base", "core"):]  # these two put their names in cairn
    own = "::".join(("cairn", *inside))
    if parts[-1].endswith("_test.cpp"):
        return rf"cairn|{own}(?:::detail)?::{Path(parts[-1]).stem}"
    return rf"cairn|{own}(?:::(?!(?:{'|'.join(named)})\b)\w+)*"


def faults(root):
    named = read_layers(root / "tools/layers.txt")
    below = {layer: reach(named, layer) for layer in named}
    above_task = {layer for layer in named if "task" in below[layer] and layer != "task"}
    for top in ("include/cairn", "src", "tests"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in (".hpp", ".cpp", ".c", ".h"):
                continue
            name = file.relative_to(root).as_posix()
            parts = file.relative_to(root / top).parts
            layer = parts[0]
            if top != "tests" and (len(parts) < 2 or layer not in named):
                yield f"{name}:1: no layer of tools/layers.txt is named {layer}"
                continue
            namespaces = namespaces_of(parts, named) if layer in named else ""
            for number, line in enumerate(blank(file.read_text()).splitlines(), 1):
                for opened in NAMESPACE.findall(line) if namespaces else ():
                    if not re.fullmatch(namespaces, opened):
                        yield f"{name}:{number}: {opened} is not the namespace of this file"
                for public, other in INCLUDE.findall(line) if top != "tests" else ():
                    if other not in below[layer] and (public or other in named):
                        yield f"{name}:{number}: {layer} may not include {other}"
                for sentence, words, where, spared in RULES:
                    if (where is TESTS) != (top == "tests"):
                        continue
                    if where is ABOVE_TASK and layer not in above_task:
                        continue
                    if spared and re.search(spared, name):
                        continue
                    if re.search(words, line):
                        yield f"{name}:{number}: {sentence}"


def self_test():
    """A tree that breaks each rule once, beside lines that look alike and are allowed."""
    wrong = {
        "include/cairn/base/up.hpp": "#include <cairn/core/world.hpp>\n",
        "src/net/side.cpp": '#include "cairn/task/pool.hpp"\n',
        "src/net/private.cpp": '#include "task/fiber.hpp"\n',
        "src/net/private2.cpp": "#include <task/fiber.hpp>\n",
        "src/net/mpi.cpp": "#include <mpi.h>\n",
        "src/am/begin.cpp": "void f() { if (_xbegin() == 1) g(); }\n",
        "src/am/attribute.cpp": '__attribute__((target("rtm"))) void f();\n',
        "src/net/env.cpp": 'auto* s = std::getenv("HOME");\n',
        "src/graph/print.cpp": 'void f() { std::printf("x"); }\n',
        "src/graph/stream.cpp": "#include <iostream>\n",
        "src/hw/leave.cpp": "void f() { std::abort(); }\n",
        "src/hw/leave2.cpp": "void f() {\n  exit(1);\n}\n",
        "src/core/local.cpp": "thread_local int x;\n",
        "src/algo/sleep.cpp": "void f() { sleep_for(1ms); }\n",
        "src/am/lock.cpp": "std::mutex m;\n",
        "src/activity/time.cpp": "auto t = __rdtsc();\n",
        "src/activity/time2.cpp": "auto t = steady_clock::now();\n",
        "src/core/launcher.cpp": "void f() { _exit(1); }\n",
        "src/other/x.cpp": "\n",
        "src/graph/io/names.cpp": "namespace cairn::graph_io {\n",
        "src/core/names.cpp": "namespace cairn::task {\n",
        "tests/core/names_test.cpp": "namespace cairn::doubling::names_test {\n",
        "tests/pgas/sleep_test.cpp": "void f() { std::this_thread::sleep_for(1ms); }\n",
    }
    right = {
        "src/core/settings.cpp": 'auto* s = std::getenv("HOME");\n',
        "src/core/local_ranks.cpp": "void f() { if (fork() == 0) _exit(1); }\n",
        "src/net/mpi_plugin.c": "#include <mpi.h>\n",
        "src/tm/begin.cpp": "void f() { if (_xbegin() == 1) g(); }\n",
        "src/net/mixed.cpp": "#include <net/if.h>\n#include <hw/x.hpp>\n",
        "src/graph/io/x.cpp": "namespace cairn {\n}\nnamespace cairn::graph::io::detail {\n",
        "tests/core/x_test.cpp": "namespace cairn::x_test {\n std::thread t; exit(1);\n",
        "tests/mpi/x.cpp": "void f() { sleep_for(1ms); }\n",
        "src/task/local.cpp": "thread_local int x;\nstd::mutex m;\n",
        "src/am/words.cpp": "// thread_local would break sim; so would\n/* a\nstd::mutex */\n"
                            'const char* s = "std::abort(); // getenv";\n'
                            "void f(section& s) { s.abort(1); snprintf(b, 1, f); n = 1'000'000; }\n"
                            "#include <cairn/base/types.hpp>\nstd::lock_guard hold(spin_lock);\n"
                            "const hw::steady_clock real_time;\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "tools").mkdir()
        (root / "tools/layers.txt").write_text((Path(__file__).parent / "layers.txt").read_text())
        for name, text in (wrong | right).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        caught = {fault.split(":")[0] for fault in faults(root)}
    missed = sorted(set(wrong) - caught)
    wrongly = sorted(caught - set(wrong))
    for name in missed:
        print(f"not caught: {name}")
    for name in wrongly:
        print(f"caught, but allowed: {name}")
    return not (missed or wrongly)


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(0 if self_test() else 1)
    found = list(faults(Path(__file__).resolve().parent.parent))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
