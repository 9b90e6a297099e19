"""Networks that are cut, both ways and one way: the cases of faults_test.py that it leaves out."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from faults_test import SAMPLE, FaultsTest  # noqa: E402
import real_kafka  # noqa: E402

if __name__ == "__main__":
    real_kafka.require()
    names = ["FaultsTest." + name for name in unittest.defaultTestLoader.getTestCaseNames(FaultsTest)]
    unittest.main(defaultTest=[name for name in names if name not in SAMPLE])
