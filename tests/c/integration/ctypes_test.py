"""libseendb.so through Python's ctypes, which knows nothing of the header: from one thread and from many."""

import concurrent.futures
import ctypes
import os
import shutil
import sys
import tempfile
import unittest

from library import LIBRARY, SKIPPED, unusable

TEXT, NUMBER = 1, 2
SIZE, P = ctypes.c_size_t, ctypes.c_void_p


class Id(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char_p), ("number", ctypes.c_uint64), ("size", ctypes.c_uint32),
                ("kind", ctypes.c_uint32)]


class Play(ctypes.Structure):
    _fields_ = [("user", Id), ("item", Id), ("at_ms", ctypes.c_int64), ("says", ctypes.c_uint32),
                ("progress_s", ctypes.c_int32), ("duration_s", ctypes.c_int32), ("reserved", ctypes.c_uint32),
                ("device", ctypes.c_char_p), ("fields", ctypes.c_char_p)]


def text(value):
    return Id(value.encode(), 0, len(value.encode()), TEXT)


def number(value):
    return Id(None, value, 0, NUMBER)


class CtypesTest(unittest.TestCase):

    def setUp(self):
        self.lib = ctypes.CDLL(LIBRARY)
        self.lib.seendb_error_message.restype = self.lib.seendb_error_field.restype = ctypes.c_char_p
        self.lib.seendb_record_plays.argtypes = [P, ctypes.c_char_p, P, SIZE, P, P, P]
        self.lib.seendb_filter_u64.argtypes = [P, Id, P, SIZE, P, P, SIZE, P, P]
        self.lib.seendb_filter.argtypes = [P, Id, P, SIZE, P, P, SIZE, P, P]
        folder = tempfile.mkdtemp(prefix="seendb-ctypes-")
        self.addCleanup(shutil.rmtree, folder)
        self.db = P()
        self.assertEqual(self.lib.seendb_open(os.path.join(folder, "db").encode(), None,
                                              ctypes.byref(self.db), None), 0)

    def close(self):
        db, self.db = self.db, None
        return self.lib.seendb_close(db, None)

    def record(self, user, items):
        plays = (Play * len(items))(*[Play(user, item) for item in items])
        self.assertEqual(self.lib.seendb_record_plays(self.db, None, plays, len(items), None, None, None), 0)

    def unseen(self, user, numbers):
        bits = (ctypes.c_uint8 * ((len(numbers) + 7) // 8))()
        items = (ctypes.c_uint64 * len(numbers))(*numbers)
        self.assertEqual(self.lib.seendb_filter_u64(self.db, user, items, len(numbers), None, bits, len(bits),
                                                    None, None), 0)
        return [item for at, item in enumerate(numbers) if bits[at // 8] >> at % 8 & 1]

    def test_play_and_ask(self):
        self.record(text("u1"), [text("7"), number(2**64 - 1)])
        self.assertEqual(self.unseen(text("u1"), [6, 7, 2**53 + 1, 2**64 - 1]), [6, 2**53 + 1])
        error = P()
        self.assertEqual(self.lib.seendb_filter(self.db, text("u1"), (Id * 1)(), 1, None, (ctypes.c_uint8 * 1)(), 1,
                                                None, ctypes.byref(error)), 1)
        self.assertEqual(self.lib.seendb_error_field(error), b"/items/0")
        self.assertTrue(self.lib.seendb_error_message(error))
        self.lib.seendb_error_free(error)
        self.assertEqual(self.close(), 0)

    def test_from_a_pool_of_threads(self):
        def work(thread):
            for item in range(100):
                self.record(number(thread), [number(item)])
                self.assertEqual(self.unseen(number(thread), [item, item + 1]), [item + 1])
                self.assertEqual(self.lib.seendb_drain(self.db, None) if item == 50 else 0, 0)
            return self.unseen(number(thread), list(range(200)))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(list(pool.map(work, range(8))), [list(range(100, 200))] * 8)
        self.assertEqual(self.close(), 0)


if __name__ == "__main__":
    if unusable():
        print("SKIPPED: " + unusable())
        sys.exit(SKIPPED)
    unittest.main()
