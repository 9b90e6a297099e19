"""What an export costs the server in memory: of a user with 60,000 items played and 10,000 entries of
history with fields, read slowly and by several at once.

    SEENDB_EXPORTS=1 tests/api/integration/export_memory_test.py    # prints the growth
"""

import os
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer
from process_memory import status_bytes

NOW = 1_700_000_000_000
ITEMS, ENTRIES = 60_000, 10_000
READERS = int(os.environ.get("SEENDB_EXPORTS", "8"))
SMALL = {"engine": {"block_cache_bytes": 8 << 20, "write_buffer_bytes": 16 << 20}}


class ExportMemoryTest(unittest.TestCase):

    def kilobytes(self, name):
        return status_bytes(self.server.process.pid, name) // 1024

    def sanitized(self):
        with open(self.server.binary, "rb") as file:
            binary = file.read()
        return b"__asan_init" in binary or b"__tsan_init" in binary

    def export(self):
        """Reads one export as it comes; how many entries there were."""
        entries, last, rest = 0, b"", b""
        with self.server.socket(timeout=120) as peer:
            peer.sendall(b"GET /users/u/export HTTP/1.0\r\n\r\n")
            while True:
                piece = peer.recv(16_384)
                if not piece:
                    break
                lines = (rest + piece).split(b"\n")
                rest = lines.pop()
                entries += sum(line.startswith(b'{"type":"history"') for line in lines)
                last = lines[-1] if lines else last
        self.assertIn(b'"type":"end"', last)
        return entries

    def test_memory_stays_where_it_was(self):
        self.server = CheckedServer(clock_ms=NOW, config=SMALL)
        self.addCleanup(self.server.close)
        answer = self.server.put("/collections/video", {"history": {"enabled": True}})
        self.assertEqual(answer.status, 200, answer)
        for begin in range(0, ITEMS, 10_000):
            rows = [{"user": "u", "item": "item-%08d" % i, "at": NOW - ITEMS + i, "progress_s": i,
                     "fields": {"pad": "x" * 900}} for i in range(begin, begin + 10_000)]
            said = self.server.ndjson("/plays?collection=video", rows).json
            self.assertEqual(said["accepted"], len(rows), said)
        self.assertEqual(self.server.post("/admin/drain").status, 200)
        self.assertEqual(self.export(), ENTRIES)  # what is made once is made: threads, caches
        before = self.kilobytes("VmRSS")
        counts = []
        readers = [threading.Thread(target=lambda: counts.append(self.export()))
                   for _ in range(READERS)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        self.assertEqual(counts, [ENTRIES] * READERS)
        grown = self.kilobytes("VmHWM") - before
        after = self.kilobytes("VmRSS") - before
        print("%d exports of %d entries at once: %.1f MB more at most, %.1f MB afterwards" %
              (READERS, ENTRIES, grown / 1024, after / 1024), flush=True)
        if self.sanitized():
            return  # what is freed is kept there
        # The answers are 11 MB each.
        self.assertLess(after, 1024 * (16 + 5 * READERS))


if __name__ == "__main__":
    unittest.main()
