"""Lies in the folder of a database, as a copy that was damaged on its way, or that somebody made. Damage
by chance is found by checksums (tests/engine/rot, tests/recovery); here the tool has to live."""

import os
import random
import shutil
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from player import MB, ProgramPlayer, Row

from fresh_seed import seed_of

SEED = seed_of("lies")
FILES = ("SEENDB", "COLLECTIONS", "shard-0000/CURRENT", "shard-0000/FILES", "shard-0000/SYNCED",
         "shard-0000/IDENTITY", "shard-0000/MANIFEST", "shard-0000/OPTIONS", "shard-0000/log")
AS_JSON = ("SEENDB", "COLLECTIONS")


class Folder(ProgramPlayer):
    reader = "folders of databases"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.sound = os.path.join(self.folder, "sound")
        rows = "".join("u%d,i%d,%d\n" % (i % 30, i, time.time() * 1_000 - i) for i in range(300))
        said = self.run_tool("load", "-", "--format", "csv", "--no-header", "--db", self.sound,
                             stdin=rows.encode())
        self.assertRegex(said, "^exit 0\n")

    def honest(self):
        self.assertRegex(self.run_tool("inspect", "u1", "--db", self.sound), "^exit 0\n")

    def lied_to(self, name, damage, commands=(("inspect", "u1"), ("verify",))):
        """What the tool says of a copy in which `damage` has changed the bytes of a file."""
        db = os.path.join(self.folder, "db")
        shutil.rmtree(db, ignore_errors=True)
        shutil.copytree(self.sound, db)
        path = os.path.join(db, name)
        if not os.path.exists(path):  # it has a number in its name
            folder, kind = os.path.split(path)
            path = os.path.join(folder, max(one for one in os.listdir(folder) if kind in one and
                                            one != kind.upper()))
        with open(path, "rb") as file:
            data = file.read()
        os.unlink(path)
        with open(path, "wb") as file:
            file.write(damage(data))
        said, peaks = "", []
        for command in commands:
            said += self.run_tool(*command, "--db", db)
            peaks.append(self.peak)
        self.peak = max(peaks)
        return said

    def rows(self):
        """Each lie in some of the files: the tree's seed chooses."""
        lies = {}
        for row in self.all_rows():
            lies.setdefault(row.lie, []).append(row)
        pick = random.Random(SEED)
        yield Row("twice", "a log, named", lambda: self.lied_to("shard-0000/log", lambda data: data * 2),
                  r"exit [1-9].*\.log has records again behind byte", 60 * MB)
        for rows in lies.values():
            yield from pick.sample(rows, min(len(rows), 3))

    def all_rows(self):
        noise = random.Random(SEED).randbytes
        for name in FILES:
            def row(lie, what, damage, name=name, most=60 * MB):
                return Row(lie, name + ": " + what, lambda: self.lied_to(name, damage), "exit ", most)
            yield row("cut", "half of it", lambda data: data[:len(data) // 2])
            yield row("cut", "nothing", lambda data: b"")
            yield row("twice", "itself again", lambda data: data * 2)
            yield row("out_of_order", "backwards", lambda data: data[::-1])
            yield row("noise", "bytes", lambda data: noise(len(data)))
            yield Row("cut", name + ": repaired", lambda name=name: self.lied_to(
                name, lambda data: data[:len(data) // 2], [("repair",)]), "exit ", 60 * MB)
            yield row("too_long", "ten megabytes behind it", lambda data: data + b" " * 10 * MB, most=90 * MB)
            yield row("wrong_type", "a text", lambda data: b"<html>\n")
            yield row("huge_length", "all ones", lambda data: data[:4] + b"\xff" * 64 + data[68:])
            yield row("negative_length", "a minus before each number", lambda data: b"".join(
                b"-" + data[i:i + 1] if data[i:i + 1].isdigit() else data[i:i + 1]
                for i in range(len(data))))
        for name in AS_JSON:
            yield Row("too_deep", name, lambda name=name: self.lied_to(
                name, lambda data: b'{"a":' * MB + b"1" + b"}" * MB), "exit ", 140 * MB)
            yield Row("dense", name, lambda name=name: self.lied_to(
                name, lambda data: b'{"shards":[' + b"[]," * 3 * MB + b"[]]}"), "exit ", 400 * MB,
                      within_s=60)  # by the instrumented program, beside five other tests


if __name__ == "__main__":
    print("SEENDB_SEED=%d" % SEED, flush=True)
    unittest.main()
