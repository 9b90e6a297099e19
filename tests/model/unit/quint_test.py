#!/usr/bin/env python3
"""A stored trace of the specification in Quint is a trace of the model (quint/check.py); another one is not."""

import json
import os
import sys
import tempfile
import unittest

QUINT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "quint")
sys.path.insert(0, QUINT)
import check  # noqa: E402

TRACE = os.path.join(QUINT, "trace.itf.json")
FOLLOW = os.path.join(os.environ.get("SEENDB_BIN", "build/dev/bin"), "follow")


class QuintTest(unittest.TestCase):

    def difference(self, change):
        """Of the stored trace, whose states were changed."""
        with open(TRACE, encoding="utf-8") as file:
            trace = json.load(file)
        change(trace["states"])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.itf.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(trace, file)
            return check.compare(path, FOLLOW)[1]

    def test_the_model_follows_the_trace(self):
        script, difference = check.compare(TRACE, FOLLOW)
        self.assertIsNone(difference)
        self.assertGreater(len(set(script)), 8)

    def test_another_answer_is_a_difference(self):
        def change(states):
            states[5]["answer"] = "io error"
        self.assertRegex(self.difference(change), "answer is io error in ring.qnt, ")

    def test_another_world_is_a_difference(self):
        def change(states):
            states[3]["world"]["owed"] = {"#set": [{"#bigint": "7"}]}
        self.assertRegex(self.difference(change), "owed is .7. in ring.qnt, ")

    def test_an_action_that_is_not_possible_is_a_difference(self):
        def change(states):
            states[1]["taken"] = {"name": "end-drain", "user": {"#bigint": "-1"}}
        self.assertRegex(self.difference(change), "not possible: end-drain s0")

    def test_an_action_that_is_possible_in_one_alone_is_a_difference(self):
        def change(states):
            del states[2]["possible"]["#set"][0]
        self.assertRegex(self.difference(change), "possible is ")


if __name__ == "__main__":
    unittest.main()
