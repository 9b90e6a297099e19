#!/usr/bin/env python3
"""What each room can include at all: its include root has the rooms of tools/lint/rooms.py alone."""

import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "lint"))

import rooms  # noqa: E402

BUILD = os.path.dirname(os.environ.get("SEENDB_BIN", ""))
COMMANDS = os.path.join(BUILD, "compile_commands.json")
# Rooms whose headers lie beside their sources, which find them without an include root.
TOP = {("engine", "engine"), ("server", "main")}


ENGINE_HOUSE = rooms.ENGINE_ROOMS + [rooms.RECOVERY_ROOM, rooms.ITEMS_ROOM, rooms.SETS_ROOM,
                                     rooms.C_ROOM]


def headers():
    """A header of each room, as an #include names it, by (house, room)."""
    found = {("engine", "seams"): "seams.h"}
    for house, names in (("engine", ENGINE_HOUSE),
                         ("common", rooms.COMMON_ROOMS), ("server", rooms.SERVER_ROOMS)):
        for room in names:
            if (house, room) not in TOP:
                path = sorted(glob.glob(os.path.join(ROOT, house, room, "*.h")))[0]
                found[house, room] = f"{room}/{os.path.basename(path)}"
    return found


def allowed(house, room):
    """The rooms that a room of a house may include, apart from those of TOP."""
    common = rooms.COMMON_USERS.get(house, set()) | rooms.COMMON_USERS.get(f"{house}:{room}", set())
    if house == "common":
        engine, server, common = (rooms.COMMON_ENGINE_ROOMS.get(room, set()), set(),
                                  rooms.COMMON_ROOMS[room])
    elif house == "tools":
        engine, server = rooms.TOOLS_ENGINE_ROOMS, rooms.TOOLS_SERVER_ROOMS
    elif house == "server":
        engine, server = rooms.SERVER_ENGINE_ROOMS, rooms.SERVER_ROOMS[room]
    elif room == rooms.RECOVERY_ROOM:
        engine, server = rooms.RECOVERY_ROOMS, set()
    elif room == rooms.ITEMS_ROOM:
        engine, server = rooms.ITEMS_ROOMS, set()
    elif room == rooms.SETS_ROOM:
        engine, server = rooms.SETS_ROOMS, set()
    elif room == rooms.C_ROOM:
        engine, server = rooms.C_ROOMS, set()
    else:
        below = rooms.ENGINE_ROOMS[:rooms.ENGINE_ROOMS.index(room) + 1]
        engine, server = set(below) | ({"seams"} if room == "engine" else set()), set()
    return ({("engine", one) for one in engine} | {("common", one) for one in common} |
            {("server", one) for one in server}) - TOP


def sources_of(path):
    """The sources that are compiled with a file: itself, or all that a unity file includes."""
    if "/Unity/" not in path:
        return [path]
    with open(path, encoding="utf-8") as file:
        return re.findall(r'(?m)^#include "([^"]+)"', file.read())


def include_folders():
    """The folders in which a source of each room looks for headers, by (house, room)."""
    found = {}
    with open(COMMANDS, encoding="utf-8") as file:
        for entry in json.load(file):
            for source in sources_of(os.path.join(entry["directory"], entry["file"])):
                house, room = rooms.room_of(os.path.relpath(source, ROOT))
                if house in ("engine", "common", "server", "tools"):
                    arguments = shlex.split(entry["command"])
                    found[house, room] = [one for one in arguments if one.startswith("-I")]
    return found


def visible(folders, names):
    """Which of the headers `names` a source with these include folders finds."""
    text = "".join(f'#if __has_include("{name}")\nfound {house} {room}\n#endif\n'
                   for (house, room), name in names.items())
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as source:
        source.write(text)
        source.flush()
        done = subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-E", "-P", *folders,
                               source.name], capture_output=True, text=True, check=True)
    return {tuple(line.split()[1:]) for line in done.stdout.splitlines()
            if line.startswith("found ")}


class IncludeRootsTest(unittest.TestCase):
    def test_each_room_finds_what_it_may_include(self):
        names, folders = headers(), include_folders()
        every = {("engine", room) for room in ENGINE_HOUSE}
        self.assertLessEqual(every, set(folders))
        for (house, room), found in sorted(folders.items()):
            with self.subTest(house=house, room=room):
                self.assertEqual(visible(found, names), allowed(house, room))

    def test_a_forbidden_include_does_not_compile(self):
        folders = include_folders()["engine", "store"]
        for name, compiles in (("tables/table_set.h", True), ("ring/ring.h", True),
                               ("shard/shard.h", False),
                               ("recovery/check.h", False), ("c/handles.h", False)):
            done = subprocess.run(
                [os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", *folders, "-x", "c++",
                 "-"], input=f'#include "{name}"\n', capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode == 0, compiles, done.stderr)
            self.assertEqual(f"{name}: No such file" in done.stderr, not compiles, done.stderr)


if __name__ == "__main__":
    if not os.path.isfile(COMMANDS):
        print(f"no {COMMANDS}: configure with CMAKE_EXPORT_COMPILE_COMMANDS")
        sys.exit(77)
    unittest.main()
