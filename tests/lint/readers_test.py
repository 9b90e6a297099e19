#!/usr/bin/env python3
"""Every source that reads from outside the process is named by a row of READERS (tests/lies/table.py),
so that the harness lies to it, or below with the reason why none does. And each row is played."""

import functools
import glob
import os
import re
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "lies"))

from table import LIES, READERS  # noqa: E402

# What a source does that reads from outside.
MARKS = {
    "parses JSON": re.compile(r"\bParseOutside\b|\bsax_parse\(|(?:json|Json)::(?:parse|accept)\(|"
                              r"\bondemand::(?:parser|document|object|value|array)\b"),
    "reads protobuf": re.compile(r"\bParseFrom\w+\(|\bJsonTo\w+\("),
    "reads replies of Redis": re.compile(r"\bredisReader(?:Create|Feed|GetReply)\b|\bredisReply\*? const "),
    "reads from Kafka": re.compile(r"\brd_kafka_(?:consume|consumer_poll|consume_\w+|metadata|"
                                   r"query_watermark_offsets|DescribeConfigs_result_\w+|"
                                   r"ListOffsets_result_\w+|header_get_last|message_headers)\("),
    "parses HTTP": re.compile(r"\bbasic_parser<|\bresponse_parser<|\brequest_parser<|\basync_read\w*\("),
    "reads a socket": re.compile(r"\brecv\(|\bread_some\(|(?<![\w>.])::read\("),
    "decompresses": re.compile(r"\bZSTD_decompress\w*\(|\binflate\("),
    "reads certificates": re.compile(r"\bSSL_CTX_(?:use|load)_\w+\(|->(?:load_verify|use)_\w*file\(|\bPEM_read"),
    "reads a file": re.compile(r"\bifstream\b|\bfopen\(|\bReadFileToString\(|\bNewSequentialFile\(|"
                               r"\bNewRandomAccessFile\(|\bRead(?:WholeFile|FirstLine)\(|\bOpenToRead\(|"
                               r"\bO_RDONLY\b(?! \| O_DIRECTORY)"),
}
HOUSES = ("engine", "common", "server", "tools/backup", "tools/seendb")

# Sources that no lie reaches, and why.
VALUE = "a value of the database, under RocksDB's checksum: tests/engine/rot and the poison tests damage it"
OWN_FILE = "a file that the program wrote into the database's folder, which is trusted"
REPORT = "a report that the program has just made"
OWN_COPY = "a file of a copy that this node made for another, or fetches: `copies of a shard` lies about those"
BROKERS = "librdkafka's answers about topics: no bytes are read here"
BACKUPS = "a file of a folder of backups, by its SHA-256: tests/backup/unit lies about lists and files"
EXCEPTIONS = {
    "engine/c/open_options.cc": "the caller's own settings: tests/c/unit/open_options_test.cc",
    "engine/c/record.cc": "the caller's own fields of a play: tests/c/unit/misuse_test.cc",
    "engine/c/user.cc": VALUE,
    "engine/base/disk_file.cc": "whoever reads by it has a row",
    "engine/base/disk_file.h": "whoever reads by it has a row",
    "engine/base/report_json.cc": REPORT,
    "engine/store/placeholder.cc": VALUE,
    "engine/store/shard_open.cc": VALUE,
    "engine/store/sources.cc": VALUE,
    "engine/tables/data_loss.cc": VALUE,
    "engine/tables/meta_keys.cc": VALUE,
    "engine/tables/outbox_row.cc": VALUE,
    "engine/tables/rows.cc": VALUE,
    "server/connect/errors.cc": "the error that this process has just made",
    "server/connect/history_method.cc": "the answer of a route of this process",
    "server/api/openapi_30.cc": "the document that is part of the program",
    "server/cluster/meta_cache.cc": OWN_FILE,
    "server/migration/affected_users.cc": OWN_FILE,
    "server/ops/last_backup.cc": OWN_FILE,
    "server/ops/last_checkpoint.cc": OWN_FILE,
    "server/ops/process_metrics.cc": "the system's figures of the process",
    "server/transfer/backup_routes.cc": OWN_FILE,
    "server/transfer/snapshots.cc": OWN_COPY,
    "tools/backup/file_lock.cc": "a lock: nothing is read of it",
    "tools/backup/folder.cc": BACKUPS,
    "tools/backup/local_source.cc": OWN_FILE,
    "tools/backup/restore.cc": BACKUPS,
    "tools/backup/verify.cc": BACKUPS,
    "tools/seendb/cluster.cc": REPORT,
    "tools/seendb/produce.cc": BROKERS,
    "tools/seendb/report_json.h": REPORT,
    "tools/seendb/scratch_redis.cc": "the log of a Redis that the tool has started",
    "tools/seendb/topic_keys.cc": "keys of messages, which become keys of Redis as they are",
}


def marks_of(text):
    code = re.sub(r"//[^\n]*", "", text)
    return sorted(name for name, pattern in MARKS.items() if pattern.search(code))


@functools.lru_cache(maxsize=None)
def sources_of_project():
    return sources(ROOT)


def sources(root):
    """{path: what it does} of those that read from outside."""
    found = {}
    for house in HOUSES:
        for folder, _, names in os.walk(os.path.join(root, house)):
            for name in names:
                path = os.path.join(folder, name)
                if not name.endswith((".cc", ".h")):
                    continue
                with open(path, encoding="utf-8") as file:
                    marks = marks_of(file.read())
                if marks:
                    found[os.path.relpath(path, root)] = marks
    return found


def without_row(root):
    """What is wrong with the sources at `root`: one line each."""
    named = {path for reader in READERS for path in reader.files}
    found = sources_of_project() if root == ROOT else sources(root)
    wrong = ["%s %s: no row of READERS (tests/lies/table.py) names it" % (path, ", ".join(marks))
             for path, marks in sorted(found.items()) if path not in named and path not in EXCEPTIONS]
    return wrong


class ReadersTest(unittest.TestCase):

    def test_each_source_has_a_row(self):
        self.assertEqual(without_row(ROOT), [])

    def test_each_row_names_sources_that_are_there(self):
        for path in [path for reader in READERS for path in reader.files] + list(EXCEPTIONS):
            self.assertTrue(os.path.isfile(os.path.join(ROOT, path)), path)

    def test_an_exception_has_no_row_and_still_reads(self):
        named = {path for reader in READERS for path in reader.files}
        self.assertEqual(named & set(EXCEPTIONS), set())
        self.assertEqual(set(EXCEPTIONS) - set(sources_of_project()), set(), "reads nothing any more")

    def test_each_row_is_played_once(self):
        played = []
        for script in glob.glob(os.path.join(ROOT, "tests", "lies", "*", "*_test.py")):
            with open(script, encoding="utf-8") as file:
                played += re.findall(r'^    reader = "([^"]+)"$', file.read(), re.MULTILINE)
        self.assertEqual(sorted(played), sorted(reader.name for reader in READERS if not reader.by))

    def test_a_test_in_cpp_tells_every_lie(self):
        for reader in READERS:
            if not reader.by:
                continue
            told = set()
            for path in reader.by:
                with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                    told |= set(re.findall(r'"(%s)"' % "|".join(LIES), file.read()))
            self.assertEqual(told | set(reader.cannot), set(LIES), reader.name)
            self.assertEqual(told & set(reader.cannot), set(), reader.name)

    def test_what_cannot_be_told_is_a_lie(self):
        for reader in READERS:
            self.assertEqual(set(reader.cannot) - set(LIES), set(), reader.name)

    def test_a_new_source_without_a_row_is_found(self):
        with tempfile.TemporaryDirectory() as root:
            for number, line in enumerate((
                    "const auto json = ParseOutside(text);", "ondemand::document document;",
                    "message->ParseFromArray(data, size);",
                    "redisReaderFeed(reader, data, size);", "rd_kafka_consumer_poll(consumer, 100);",
                    "http::response_parser<http::string_body> parser;", "stream.async_read_some(to, done);",
                    "ZSTD_decompressStream(stream, &out, &in);", "inflate(&stream, Z_NO_FLUSH);",
                    "SSL_CTX_use_certificate_chain_file(context, path);", "std::ifstream file(path);",
                    "auto text = ReadWholeFile(path, most);", "recv(socket, to, size, 0);")):
                path = os.path.join(root, "server", "api", "new%d.cc" % number)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(line + "\n")
                self.assertEqual(len(without_row(root)), number + 1, line)
            with open(os.path.join(root, "server", "api", "new.cc"), "w", encoding="utf-8") as file:
                file.write("// ParseOutside(text) is what others do.\n")
            self.assertEqual(len(without_row(root)), 13)


if __name__ == "__main__":
    unittest.main()
