#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documentation against the tree. Prints each fault as `file:line: sentence`.

Reads README.md, CONTRIBUTING.md and docs/. Code: a ```cpp block follows a line with its origin,

    <!-- from examples/02_messages.cpp -->       the whole file
    <!-- part of examples/02_messages.cpp -->    consecutive lines of it, indented or not

and equals it. Links: a relative link leads to a file, and to a heading if it names one. Names: a
path in backticks exists, as does a test (`Suite.Name`). Keys: docs/papers.md has each [KEY12] that
the code cites. Pages: each layer of tools/layers.txt has one. Drawings: `layer/name` in a fence
without a language is a header or source of that layer. Sentences: on the page whose text has
"begins with the message", the quoted texts occur in the sources, with … for the variable parts.
Tables: the table of counters has all counters. If the program is given, the tables of commands and
settings have all that it offers, and `cairn COMMAND --option` in fences and quotes is an option of
that command.

    check_docs.py [--cairn PROGRAM]   checks the tree this file is in
    check_docs.py --self-test         checks that each rule catches its faults
"""

import functools
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

OTHER_PAGES = ["tutorial", "cli", "choose-a-mechanism", "run-on-a-cluster", "troubleshooting",
               "architecture", "write-an-algorithm", "write-an-operator", "bench", "papers",
               "guidelines"]
FENCE = re.compile(r"^```(\w*)\s*$")
ORIGIN = re.compile(r"^<!-- (from|part of) (\S+) -->$")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
QUOTED = re.compile(r"`([^`]+)`")
FOLDERS = r"(?:include|src|cli|tests|bench|examples|docs|tools|cmake|python|fuzz)/"
TREE_PATH = re.compile(r"^" + FOLDERS + r"[\w./*-]*$")
TEST_NAME = re.compile(r"^([A-Z]\w+)\.([A-Z]\w+)$")
LITERALS = re.compile(r'"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*')
CITED = re.compile(r"\[([A-Z][A-Za-z]+\d\d)\]")
TEST = re.compile(r"\b(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)")


def pages(root):
    first = [root / "README.md", root / "CONTRIBUTING.md"]
    return [file for file in first if file.exists()] + sorted((root / "docs").rglob("*.md"))


def prose(text):
    """Its lines outside fences, numbered."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            yield number, line


def blocks(text):
    """Its fenced blocks: number of the first line, language, the line before, the code."""
    lines = text.splitlines()
    start = None
    for i, line in enumerate(lines):
        if not FENCE.match(line):
            continue
        if start is None:
            start = i
        else:
            before = next((l for l in reversed(lines[:start]) if l.strip()), "")
            yield start + 1, FENCE.match(lines[start])[1], before, lines[start + 1:i]
            start = None


def headings(text):
    """What #fragments of links may name, as GitHub forms them."""
    for _, line in prose(text):
        if match := re.match(r"#+ +(.*)", line):
            words = re.sub(r"[^\w\- ]", "", match[1].strip().lower())
            yield words.replace(" ", "-")


def code_faults(root, text):
    for number, language, before, code in blocks(text):
        if language != "cpp":
            continue
        origin = ORIGIN.match(before)
        if not origin:
            yield number, "C++ that no line `<!-- from FILE -->` says the origin of"
            continue
        file = root / origin[2]
        if not file.exists():
            yield number, f"there is no {origin[2]}"
            continue
        wanted = textwrap.dedent("\n".join(code)).strip("\n")
        there = file.read_text().strip("\n")
        if origin[1] == "from":
            if wanted != there:
                yield number, f"the code is not that of {origin[2]}"
            continue
        lines, length = there.splitlines(), len(wanted.splitlines())
        parts = (textwrap.dedent("\n".join(lines[i:i + length])) for i in range(len(lines)))
        if not wanted or wanted not in parts:
            yield number, f"the code is not part of {origin[2]}"


def link_faults(root, file, text):
    lines = list(prose(text))
    whole = "\n".join(line for _, line in lines)
    for link in LINK.finditer(whole):  # its words may stand on two lines
        number, target = lines[whole.count("\n", 0, link.end())][0], link[1]
        if re.match(r"[a-z]+:", target):
            continue
        path, _, fragment = target.partition("#")
        to = (file.parent / path).resolve() if path else file
        if not to.is_relative_to(root.resolve()) or not to.exists():
            yield number, f"the link to {target} leads nowhere"
        elif fragment and fragment not in headings(to.read_text()):
            yield number, f"the link to {target} names no heading there"


def name_faults(root, text, tests):
    for number, line in prose(text):
        for name in QUOTED.findall(line):
            if TREE_PATH.match(name):
                placeholder = re.search(r"(?:^|/)(?:L|x|x_test|NNNN[\w-]*)(?:/|\.|$)", name)
                if not placeholder and not any(root.glob(name.rstrip("/"))):
                    yield number, f"there is no {name}"
            elif match := TEST_NAME.match(name):
                if match.groups() not in tests:
                    yield number, f"there is no test {name}"


def drawing_faults(root, text, layers):
    drawn = re.compile(r"(?<![\w/.])((?:%s)/\w+)" % "|".join(layers or ["-"]))
    for number, language, _, code in blocks(text):
        for name in [] if language else drawn.findall("\n".join(code)):
            if not any(root.glob(f"include/cairn/{name}*")) and not any(root.glob(f"src/{name}*")):
                yield number, f"the drawing names {name}, and there is no such file"


def literals(root):
    """The texts in quotation marks of each source file; those that follow each other are one."""
    for top in ("include", "src", "cli"):
        for file in sorted((root / top).rglob("*.[ch]*")):
            whole = [re.sub(r'"\s*"', "", found)[1:-1].replace('\\"', '"')
                     for found in LITERALS.findall(file.read_text())]
            yield whole


def items(text):
    """The items of its lists, each on one line, numbered by their first."""
    item = None
    for number, line in prose(text):
        if item and line.startswith("  "):
            item = item[0], f"{item[1]} {line.strip()}"
            continue
        if item:
            yield item
        item = (number, line) if line.startswith("* ") else None
    if item:
        yield item


def sentence_faults(text, texts):
    """The sentences that a page says Cairn prints and that no source file has."""
    for number, item in items(text) if "begins with the message" in text else []:
        for sentence in QUOTED.findall(re.match(r"\* (?:`[^`]+`,? ?)*", item)[0]):
            parts = [part.strip() for part in sentence.split("…") if part.strip(" .:,'()")]
            if not any(all(any(part in text for text in of_file) for part in parts)
                       for of_file in texts):
                yield number, f"no source says '{sentence}'"


def option_faults(text, run):
    """`cairn COMMAND --option` in fences and between backticks that the command does not offer."""
    shown = [(number, line) for number, _, _, code in blocks(text) for line in code]
    shown += [(number, name) for number, line in prose(text) for name in QUOTED.findall(line)]
    for number, line in shown:
        if call := re.search(r"(?:^|[\s/])cairn ((?:bench )?[a-z-]+)(?= )(.*)", line):
            for option in re.findall(r"(?<=\s)--[a-z-]+", call[2].partition("#")[0]):
                if option not in re.findall(r"--[a-z-]+", run(*call[1].split(), "--help")):
                    yield number, f"cairn {call[1]} has no {option}"


def table_names(text, heading):
    """The words in the tables under a heading: of each row, in the first cell of quoted ones."""
    under = False
    for number, line in prose(text):
        if line.startswith("#"):
            under = line.strip("# ") == heading
        elif under and line.startswith("|"):
            cells = (c for c in line.split("|") if re.fullmatch(r"[\s,]*", QUOTED.sub("", c)))
            for name in next((found for c in cells if (found := QUOTED.findall(c))), []):
                yield number, name.split()[0]


def runner(program):
    @functools.cache
    def run(*arguments):
        return subprocess.run([program, *arguments], capture_output=True, text=True, check=True,
                              timeout=60).stdout
    return run


def table_faults(root, program):
    """What the tables name and the tree or the program lacks, or the other way round."""

    if not program:
        return
    _, _, listed = runner(program)("--help").partition("Subcommands:")
    offered = {("README.md", "Commands"): set(re.findall(r"^  ([a-z][\w-]*)", listed, re.M))}
    for (page, heading), names in offered.items():
        if not (root / page).exists():
            continue
        named = {name: number for number, name in table_names((root / page).read_text(), heading)}
        for name in sorted(named.keys() - names):
            yield page, named[name], f"there is no {name}"
        for name in sorted(names - named.keys()):
            yield page, 1, f"the table under '{heading}' leaves out {name}"


def cited_keys(root):
    """Each [KEY12] of a comment in the code, and where it stands first."""
    found = {}
    for top in ("include", "src"):
        for file in sorted((root / top).rglob("*.[ch]pp")):
            for number, line in enumerate(file.read_text().splitlines(), 1):
                for key in CITED.findall(line):
                    found.setdefault(key, f"{file.relative_to(root).as_posix()}:{number}")
    return found


def faults(root, program=None):
    tests = {match for file in (root / "tests").rglob("*.cpp")
             for match in TEST.findall(file.read_text())}
    layers = re.findall(r"^(\w+):", (root / "tools/layers.txt").read_text(), re.M)
    texts = list(literals(root))
    for file in pages(root):
        text = file.read_text()
        found = [*code_faults(root, text), *link_faults(root, file, text),
                 *name_faults(root, text, tests), *drawing_faults(root, text, layers),
                 *sentence_faults(text, texts),
                 *(option_faults(text, runner(program)) if program else [])]
        for number, sentence in sorted(found):
            yield f"{file.relative_to(root).as_posix()}:{number}: {sentence}"
    for page in layers + OTHER_PAGES:
        if not (root / f"docs/{page}.md").exists():
            yield f"docs/{page}.md:1: there is no such page"
    for page, number, sentence in table_faults(root, program):
        yield f"{page}:{number}: {sentence}"
    papers = root / "docs/papers.md"
    keys = re.findall(r"^\* \*\*(\w+)\*\*:", papers.read_text(), re.M) if papers.exists() else []
    for key, place in cited_keys(root).items():
        if key not in keys:
            yield f"{place}: docs/papers.md has no {key}"


def self_test():
    """A tree that breaks each rule once, beside pages that break none."""
    code = "int main() {\n  return 0;\n}\n"
    wrong = {
        "docs/whole.md": f"<!-- from examples/a.cpp -->\n```cpp\n// old\n{code}```\n",
        "docs/part.md": "<!-- part of examples/a.cpp -->\n```cpp\nreturn 1;\n```\n",
        "docs/unsaid.md": "words\n\n```cpp\nreturn 0;\n```\n",
        "docs/gone.md": "<!-- from examples/b.cpp -->\n```cpp\nreturn 0;\n```\n",
        "docs/link.md": "see [over\nthere](gone_away.md)\n",
        "docs/outside.md": "see [there](../../etc)\n",
        "docs/fragment.md": "see [there](right.md#no-such-words)\n",
        "docs/path.md": "`src/core/gone.cpp`\n",
        "docs/test.md": "`Suite.IsNotThere`\n",
        "docs/drawing.md": "```\nbase/gone\n```\n",
        "docs/sentence.md": "begins with the message\n"
                            "* `no … here or there`, `no\n  word`: `x`\n",
        "docs/option.md": "```\n$ cairn there --gone 1\n```\n",
        "docs/tm.md": None,  # a layer without its page
        "README.md": "## Commands\n\n| `gone` | x |\n",
        "src/tm/cites.cpp": "// as in [Gone99]\n",
    }
    right = {
        "docs/right.md": f"# Some words, here\n\n<!-- from examples/a.cpp -->\n```cpp\n{code}```\n"
                         "<!-- part of examples/a.cpp -->\n\n```cpp\nreturn 0;\n```\n"
                         "`examples/a.cpp` `tests/*/a_test.cpp` `docs/L.md` `Suite.Holds`\n"
                         "[a](right.md#some-words-here) [b](https://example.org) [c](#more)\n"
                         "```\n[x](nowhere) base/cites\n```\n## More\n"
                         "Each item begins with the message:\n* `no … here or there`: `no word`\n"
                         "```\n$ cairn there --there 1  # not --gone\n```\n",
    }
    other = {
        "examples/a.cpp": code,
        "tests/am/a_test.cpp": "TEST(Suite, Holds) {}\n",
        "tools/layers.txt": "# what\nbase:\ntm: base\n",
        "src/base/cites.cpp": '// as in [There99]\nthrow x("no " + w + " here or "\n "there");\n',
        "program": "#!/bin/sh\nprintf 'Subcommands:\\n  there  --there\\n'\n",
    }
    pages_there = {f"docs/{name}.md": "* **There99**: x\n" for name in ["base", *OTHER_PAGES]}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in (wrong | right | other | pages_there).items():
            if text is not None:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
        (root / "program").chmod(0o755)
        found = list(faults(root, root / "program"))
    caught = {fault.split(":")[0] for fault in found}
    left_out = [f for f in found if f.endswith("leaves out there")]
    problems = [f"not caught: {name}" for name in sorted(set(wrong) - caught)]
    problems += [f"caught, but allowed: {name}" for name in sorted(caught - set(wrong))]
    problems += ["not caught: what a table leaves out"] * (len(left_out) != 1)
    print(*problems, sep="\n", end="\n" if problems else "")
    return not problems


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        sys.exit(0 if self_test() else 1)
    program = arguments[1] if arguments[:1] == ["--cairn"] else None
    found = list(faults(Path(__file__).resolve().parent.parent, program))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
