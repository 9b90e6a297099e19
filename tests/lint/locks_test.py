#!/usr/bin/env python3
"""The tables of engine/doc/concurrency.md have a row for each lock, with its rank, and for each function
that holds the apply lock of a shard alone."""

import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join("engine", "doc", "concurrency.md")
LOCK = re.compile(r"^\s*(?:mutable |static )*(?:Mutex|ReadWriteMutex|SharedLock) (\w+)"
                  r"(?:[{(]LockRank::(k\w+)[^;]*)?;", re.MULTILINE)


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def locks():
    """(path, name, rank or None where it is given elsewhere) of every lock in the sources."""
    for house in ("engine", "common", "server"):
        for folder, _, names in os.walk(os.path.join(ROOT, house)):
            for name in sorted(names):
                if not name.endswith((".h", ".cc")):
                    continue
                path = os.path.relpath(os.path.join(folder, name), ROOT)
                for lock, rank in LOCK.findall(text_of(path)):
                    yield path, lock, rank or None


def rows():
    """(rank, cell of the locks, paths of the files) of every row of the table."""
    for line in text_of(TABLE).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not re.fullmatch(r"`k\w+`", cells[0]):
            continue
        files, folder = [], ""
        for file in re.findall(r"`([\w/.]+)`", cells[2]):
            folder = os.path.dirname(file) or folder
            files.append(os.path.join(folder, os.path.basename(file)))
        yield cells[0].strip("`"), cells[1], files


def exclusive_sections():
    """(file, function) of every section in which a thread holds the apply lock of a shard alone."""
    section = re.compile(r"WithRecordsOf<SharedLock::Exclusive>\(|"
                         r"SharedLock::Exclusive \w+\([\w.]*apply_lock\)")
    for name in sorted(os.listdir(os.path.join(ROOT, "engine", "shard"))):
        if not name.endswith(".cc"):
            continue
        function = None
        for line in text_of(os.path.join("engine", "shard", name)).splitlines():
            begins = re.match(r"[A-Za-z][\w:<>&* ]* (\w+)\(", line)
            function = begins.group(1) if begins else function
            if section.search(line):
                yield name, function


def exclusive_rows():
    """The same of the table of exclusive sections."""
    for line in text_of(TABLE).splitlines():
        row = re.match(r"\| ((?:`\w+`(?:, )?)+) \(`(\w+\.cc)`\)", line)
        for function in re.findall(r"\w+", row.group(1)) if row else []:
            yield row.group(2), function


class LocksTest(unittest.TestCase):

    def test_every_exclusive_section_has_a_row(self):
        self.assertEqual(sorted(set(exclusive_sections())), sorted(exclusive_rows()))

    def test_every_lock_has_a_row_with_its_rank(self):
        table = list(rows())
        for path, lock, rank in locks():
            of_lock = [row for row in table
                       if path in row[2] and re.search(r"\b%s`" % lock, row[1])]
            self.assertTrue(of_lock, "%s, %s: no row in %s" % (path, lock, TABLE))
            if rank is not None:
                self.assertIn(rank, [row[0] for row in of_lock], "%s, %s" % (path, lock))

    def test_every_row_names_files_with_such_locks(self):
        known = {}
        for path, lock, _ in locks():
            known.setdefault(path, set()).add(lock)
        for rank, cell, files in rows():
            for file in files:
                self.assertIn(file, known, "%s: %s" % (rank, cell))
                self.assertTrue(any(re.search(r"\b%s`" % lock, cell) for lock in known[file]) or
                                "inside a `SharedLock`" in cell, "%s: %s" % (file, cell))

    def test_no_other_types_of_locks_are_used(self):
        other = re.compile(r"std::(?:recursive_|shared_|timed_)*mutex\b|std::condition_variable")
        for house in ("engine", "common", "server"):
            for folder, _, names in os.walk(os.path.join(ROOT, house)):
                for name in names:
                    path = os.path.relpath(os.path.join(folder, name), ROOT)
                    if name.endswith((".h", ".cc")) and path != "engine/base/sync.h":
                        self.assertIsNone(other.search(text_of(path)), path)


if __name__ == "__main__":
    unittest.main()
