"""The WebAssembly module of the TypeScript client is what clients/local/wasm/build makes of clients/local."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

from language_case import ROOT, main

COMMITTED = os.path.join(ROOT, "clients", "typescript", "seendb_local.wasm")
BUILD = os.path.join(ROOT, "clients", "local", "wasm", "build")
HEADER = "/usr/include/xxhash.h"
VERSIONS = {"clang": "14.0.6", "lld": "14.0.6", "xxhash": "0.8.1"}  # those that made the committed file


def said(program):
    done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=True)
    return re.search(r"\d+\.\d+\.\d+", done.stdout).group()


def versions():
    """What is here; "" of what is not."""
    clang, lld, found = shutil.which("clang++-14"), shutil.which("wasm-ld-14"), ""
    if os.path.exists(HEADER):
        with open(HEADER, encoding="utf-8") as file:
            text = file.read()
        parts = [re.search(r"#define XXH_VERSION_%s\s+(\d+)" % part, text) for part in ("MAJOR", "MINOR", "RELEASE")]
        found = ".".join(part.group(1) for part in parts)
    return {"clang": said(clang) if clang else "", "lld": said(lld) if lld else "", "xxhash": found}


class WasmTest(unittest.TestCase):

    def test_the_committed_file_is_what_the_script_makes(self):
        if versions() != VERSIONS:
            self.skipTest("the module is built again by %s, and here is %s (tools/setup clients)" % (VERSIONS, versions()))
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, "made.wasm")
            subprocess.run([BUILD, made], check=True, timeout=120)
            with open(made, "rb") as fresh, open(COMMITTED, "rb") as committed:
                self.assertEqual(fresh.read(), committed.read(), "run clients/local/wasm/build")

    def test_it_is_small(self):
        self.assertLess(os.path.getsize(COMMITTED), 20_000)


if __name__ == "__main__":
    main()
