#!/usr/bin/env python3
"""JSON that comes from outside the process is parsed by ParseOutside (engine/base/outside_json.h), which
judges how deep it is: deep JSON ends a process by its stack where it is written or copied."""

import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PARSES = re.compile(r"\b(?:nlohmann::(?:ordered_)?json|Json|OrderedJson)::(?:parse|accept)\(")

# Files of the houses below that parse by themselves, how often, and why nobody else wrote the text.
OWN = {
    "server/api/checkpoint.cc": (1, "a report of the engine"),
    "common/wire/json_read.cc": (1, "looks whether it is JSON, makes no value, and the depth is asked for"),
    "common/wire/history_json.cc": (1, "looks whether it is JSON, makes no value"),
    "server/api/openapi_30.cc": (1, "the document that is part of the program"),
    "server/cluster/meta_json.cc": (1, "a record that was just written"),
    "server/cluster/meta_record.cc": (2, "a part of a record, which was read by ParseOutside"),
    "server/files/json_keys.cc": (1, "its errors name the place; asks for the depth before, and the readers of these files limit the bytes"),
    "tools/seendb/cluster.cc": (1, "a report that the tool has just made"),
    "tools/seendb/report_json.h": (1, "a report of the engine"),
}


class OutsideJsonTest(unittest.TestCase):

    def test_parsed_where_the_depth_is_judged(self):
        found = {}
        for house in ("common", "server", "tools/seendb"):
            for folder, _, names in os.walk(os.path.join(ROOT, house)):
                for name in names:
                    path = os.path.join(folder, name)
                    if not name.endswith((".cc", ".h")):
                        continue
                    with open(path, encoding="utf-8") as file:
                        count = len(PARSES.findall(file.read()))
                    if count:
                        found[os.path.relpath(path, ROOT)] = count
        self.assertEqual(found, {path: count for path, (count, _) in OWN.items()})


if __name__ == "__main__":
    unittest.main()
