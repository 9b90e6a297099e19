#!/usr/bin/env python3
"""Checks the structure of the house: arrows, public headers, contracts, sizes, hygiene.

    tools/lint/structure.py [--root DIR] [--no-compile] [--compiler CXX]

Prints one line a violation and exits 1 when there is one. Without a git checkout every file
under the root is looked at (build/ apart).
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import contracts  # noqa: E402
import includes  # noqa: E402
import rooms  # noqa: E402

HOUSES = ("engine", "common", "server", "clients", "tools", "tests", "perf")
SOURCE = re.compile(r"\.(cc|h)$")
PUBLIC = re.compile(r"^(?:engine|clients/cpp)/include/seendb/[^/]+\.h$")
PUBLIC_LINES_MAX = 300
SOURCE_LINES_MAX = 500

# Text that ties a file to one machine or network: home folders, checkouts, package registries.
# Built from pieces, so that this file does not accuse itself.
HYGIENE = [
    (re.compile(r"(?<![\w.$}/-])/(?:wor" + r"k|home|root|Users)/\w"), "a path of one machine"),
    (re.compile(r"https?://[^\s\"'<>]*(?:pypi|registry\.npm|crates\.i|repo1?\.maven|conan\.i|"
                r"proxy\.golang|artifactor|nexus)", re.I), "the host of a package registry"),
]
TEXT = re.compile(r"(\.(cc|h|py|sh|md|txt|cmake|json|in|yaml|yml|supp)|/(run|test|quickstart|setup|check|Dockerfile))$")


def files_of(root):
    """The project's files, relative to the root: tracked and not yet tracked, never ignored."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"],
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0 and os.path.exists(os.path.join(root, ".git")):
        names = [name for name in listed.stdout.split("\0") if name]
    else:
        names = []
        for folder, folders, found in os.walk(root):
            folders[:] = [f for f in folders if f not in ("build", ".git", "__pycache__")]
            names += [os.path.relpath(os.path.join(folder, name), root) for name in found]
    return sorted(name for name in names if os.path.isfile(os.path.join(root, name)))


def check_size(path, text):
    lines = text.count("\n")
    if PUBLIC.match(path) and lines > PUBLIC_LINES_MAX:
        return [f"{path}:{lines}: a public header has at most {PUBLIC_LINES_MAX} lines"]
    if lines > SOURCE_LINES_MAX:
        return [f"{path}:{lines}: a file has at most {SOURCE_LINES_MAX} lines: it is one idea"]
    return []


def check_hygiene(path, text):
    messages = []
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, what in HYGIENE:
            if pattern.search(line):
                messages.append(f"{path}:{number}: {what}: {line.strip()[:80]}")
    return messages


def check_room(path):
    """A source file must lie in a room that the tables know."""
    house, room = rooms.room_of(path)
    if house == "engine" and room not in rooms.ENGINE_ROOMS + [
            rooms.RECOVERY_ROOM, rooms.ITEMS_ROOM, rooms.SETS_ROOM, rooms.C_ROOM,
            "public", "seams"]:
        return [f"{path}:1: engine/{room} is no room of the design (tools/lint/rooms.py)"]
    if house == "common" and room not in rooms.COMMON_ROOMS:
        return [f"{path}:1: common/{room} is no room of the design (tools/lint/rooms.py)"]
    if house == "server" and room not in rooms.SERVER_ROOMS:
        return [f"{path}:1: server/{room} is no room of the design (tools/lint/rooms.py)"]
    return []


def compile_alone(root, compiler, path):
    """Messages about a public header that does not compile by itself, twice in a row."""
    include = path[:path.index("/seendb/")]
    name = os.path.relpath(path, include)
    source = f'#include "{name}"\n#include "{name}"\n'
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wshadow",
               "-Wconversion", "-Werror", "-I", os.path.join(root, include), "-x",
               "c++", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return []
    first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)
    return [f"{path}:1: does not compile alone: {first.strip()}"]


def check_tree(root, compiler=None):
    """Every violation in the tree at `root`; headers are compiled when a compiler is given."""
    messages = []
    public = []
    for path in files_of(root):
        is_source = SOURCE.search(path) and path.split("/")[0] in HOUSES
        if not is_source and not TEXT.search(path):
            continue
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        messages += check_hygiene(path, text)
        if not is_source:
            continue
        messages += check_room(path) + check_size(path, text)
        messages += includes.check_file(root, path, text)
        if PUBLIC.match(path):
            public.append(path)
            messages += contracts.check_header(path, text)
    if compiler:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for found in pool.map(lambda path: compile_alone(root, compiler, path), public):
                messages += found
    if not public:
        messages.append("engine/include/seendb: no public header found")
    return messages


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(here)))
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    arguments = parser.parse_args()
    messages = check_tree(os.path.abspath(arguments.root),
                          None if arguments.no_compile else arguments.compiler)
    for message in messages:
        print(message)
    print(f"structure: {len(messages)} violations" if messages else "structure: in order")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
