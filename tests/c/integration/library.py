"""What the tests of libseendb.so share: where it is, and whether others can load it."""

import glob
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.path.dirname(os.environ.get("SEENDB_BIN", os.path.join(ROOT, "build", "dev", "bin")))
LIBRARY = os.path.join(BUILD, "engine", "libseendb.so")
SKIPPED = 77


def unusable():
    """Why a program that is not instrumented can't load it; None: it can."""
    if not glob.glob(LIBRARY):
        return "%s is not built (target seendb_c)" % LIBRARY
    shown = subprocess.run(["nm", "-D", LIBRARY], capture_output=True, text=True, check=True).stdout
    if "__asan_" in shown or "__tsan_" in shown or "__gcov_" in shown:
        return "the library is instrumented, and its callers here are not"
    return None
