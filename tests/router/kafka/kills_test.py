"""Nodes killed and stopped under load, again and again: any_node_test.py's case with more rounds
(SEENDB_KILL_ROUNDS)."""

import os
import sys
import unittest

os.environ.setdefault("SEENDB_KILL_ROUNDS", "14")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from any_node_test import AnyNodeTest  # noqa: E402,F401
import real_kafka  # noqa: E402

if __name__ == "__main__":
    real_kafka.require()
    unittest.main(defaultTest="AnyNodeTest.test_nodes_are_killed_and_stopped_under_load")
