#!/usr/bin/env python3
"""Numbers, types and names of the fields of proto/ are for ever: what clients were made of reads what
newer servers write. fields.json beside the file has them; a new field is a new row there, and a field
that goes leaves its number and name `reserved`.

    SEENDB_WRITE_FIELDS=1 python3 -B tests/lint/proto_test.py    writes fields.json with what is new
"""

import json
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "proto", "seendb", "v1")
KEPT = os.path.join(FOLDER, "fields.json")
LABELS = ("repeated", "optional")


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def fields_of(text):
    """What a .proto says: {"Message.number": "label type name", "Service/Method": ..., ...}."""
    tokens = re.findall(r"[\w.]+|[^\s\w]", re.sub(r"\"[^\"]*\"", "text", re.sub(r"//.*", "", text)))
    found, at = {}, 0

    def block(name, kind):
        nonlocal at
        at += 1  # {
        while tokens[at] != "}":
            word = tokens[at]
            if word == "oneof":
                inner, at = tokens[at + 1], at + 2
                block(name, "oneof " + inner)
                continue
            end = tokens.index(";", at)
            row, at = tokens[at:end], end + 1
            if word == "rpc":
                found["%s/%s" % (name, row[1])] = "".join(row[2:])
            elif word == "reserved":
                for one in row[1:]:
                    if one.isdigit():
                        found["%s.%s" % (name, one)] = "reserved"
            elif word != "option":
                split = row.index("=")
                label = kind if kind.startswith("oneof") else ""
                said = "".join(row[:split - 1]) if "<" in row else " ".join(row[:split - 1])
                found["%s.%s" % (name, row[split + 1])] = " ".join(
                    part for part in (label, said, row[split - 1]) if part)
        at += 1

    while at < len(tokens):
        if tokens[at] in ("message", "enum", "service"):
            kind, name = tokens[at], tokens[at + 1]
            at += 2
            block(name, kind)
        else:
            end = tokens.index(";", at)
            if tokens[at] in ("package", "syntax"):
                found[tokens[at]] = "".join(tokens[at + 1:end])
            at = end + 1
    return found


def broken(kept, now):
    """What a newer file does to those that have the older one."""
    faults = []
    for key, said in kept.items():
        if key not in now:
            faults.append("%s (%s) is gone: leave it reserved" % (key, said))
        elif now[key] not in (said, "reserved"):
            faults.append("%s was `%s` and is `%s`" % (key, said, now[key]))
    return faults


class ProtoTest(unittest.TestCase):

    def test_nothing_is_broken(self):
        now = fields_of(text_of(os.path.join(FOLDER, "seendb.proto")))
        kept = json.loads(text_of(KEPT)) if os.path.exists(KEPT) else {}
        self.assertEqual(broken(kept, now), [])
        if os.environ.get("SEENDB_WRITE_FIELDS"):
            with open(KEPT, "w", encoding="utf-8") as file:
                file.write(json.dumps(now, indent=1, sort_keys=True) + "\n")
            return
        self.assertEqual(now, kept, "new fields: run it with SEENDB_WRITE_FIELDS=1")

    def test_it_sees_what_breaks(self):
        text = text_of(os.path.join(FOLDER, "seendb.proto"))
        kept = fields_of(text)
        self.assertGreater(len(kept), 60)
        self.assertEqual(kept["FilterRequest.2"], "oneof who fixed64 user_number")
        self.assertEqual(kept["FilterResponse.12"], "optional bool recorded")
        self.assertEqual(kept["RecordResponse.4"], "map<string,uint32> refused_by")
        self.assertEqual(kept["OnError.2"], "ON_ERROR_FAIL")
        self.assertEqual(kept["SeenDB/Filter"], "(FilterRequest)returns(FilterResponse)")
        for before, after in [("uint32 limit = 9;", "uint64 limit = 9;"),
                              ("uint32 limit = 9;", "uint32 limit = 19;"),
                              ("uint32 limit = 9;", "uint32 most = 9;"),
                              ("uint32 limit = 9;", ""),
                              ("optional bool recorded", "bool recorded"),
                              ("repeated string items = 3;", "string items = 3;"),
                              ("ON_ERROR_FAIL = 2", "ON_ERROR_FAIL = 3"),
                              ("returns (HistoryResponse)", "returns (stream HistoryResponse)"),
                              ("package seendb.v1;", "package seendb.v2;"),
                              ("rpc Filter(FilterRequest) returns (FilterResponse);", "")]:
            self.assertIn(before, text)
            self.assertTrue(broken(kept, fields_of(text.replace(before, after))), after)
        self.assertEqual(broken(kept, fields_of(text.replace("uint32 limit = 9;", "reserved 9;"))), [])
        more = text.replace("message FilterResponse {", "message FilterResponse {\n  bool x = 99;")
        self.assertEqual(broken(kept, fields_of(more)), [])


if __name__ == "__main__":
    unittest.main()
