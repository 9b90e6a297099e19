"""The engine for C as it is installed: a program in C11, by pkg-config and by CMake, against the public
header and the shared library alone; and which symbols the library shows."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from library import BUILD, LIBRARY, ROOT, SKIPPED, unusable

HERE = os.path.dirname(os.path.abspath(__file__))
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-pthread"]
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES C)
find_package(seendb 0.1 REQUIRED COMPONENTS c)
if(TARGET seendb::engine)
  message(FATAL_ERROR "the component c brings the engine for C++ too")
endif()
find_package(Threads REQUIRED)
add_executable(app "%s")
set_target_properties(app PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
target_link_libraries(app PRIVATE seendb::c Threads::Threads)
"""


class InstalledTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="seendb-c-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = os.path.join(cls.folder, "prefix")
        for component in ("seendb_c", "seendb_engine"):
            cls.run_there(["cmake", "--install", BUILD, "--component", component, "--prefix", cls.prefix])
        # Debian's layout is lib/<triplet>, others' lib or lib64.
        cls.libraries = next(folder for folder, _, names in os.walk(cls.prefix) if "libseendb.so" in names)
        cls.environment = dict(os.environ, PKG_CONFIG_PATH=os.path.join(cls.libraries, "pkgconfig"),
                               LD_LIBRARY_PATH=cls.libraries)

    @classmethod
    def run_there(cls, command, environment=None):
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
        if done.returncode != 0:
            raise AssertionError("%s: %s" % (command, done.stdout + done.stderr))
        return done.stdout

    def play(self, program, name):
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        self.assertEqual(self.run_there([program, folder], self.environment), "all is so\n")

    @unittest.skipUnless(shutil.which("pkg-config"), "pkg-config is not there")
    def test_a_program_by_pkg_config(self):
        flags = self.run_there(["pkg-config", "--cflags", "--libs", "seendb-c"], self.environment).split()
        self.assertRegex(self.run_there(["pkg-config", "--modversion", "seendb-c"], self.environment), r"\d\.\d")
        program = os.path.join(self.folder, "by_pkg_config")
        self.run_there(["cc", *STRICT, os.path.join(HERE, "program.c"), "-o", program, *flags])
        self.play(program, "pkg_config")
        needed = self.run_there(["readelf", "-d", program])
        self.assertIn("[libseendb.so.1]", needed)
        self.assertNotIn("rocksdb", needed)
        self.assertNotIn("stdc++", needed)

    @unittest.skipUnless(shutil.which("pkg-config"), "pkg-config is not there")
    def test_the_program_of_the_document(self):
        with open(os.path.join(ROOT, "engine", "doc", "embedding.md"), encoding="utf-8") as file:
            text = re.search(r"```c\n(.*?)```", file.read(), re.S).group(1)
        source, program = os.path.join(self.folder, "document.c"), os.path.join(self.folder, "document")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        flags = self.run_there(["pkg-config", "--cflags", "--libs", "seendb-c"], self.environment).split()
        self.run_there(["cc", *STRICT, source, "-o", program, *flags])
        done = subprocess.run([program], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "unseen: 8\n"), done.stderr)

    def test_a_program_by_cmake(self):
        source, build = os.path.join(self.folder, "app"), os.path.join(self.folder, "app_build")
        os.mkdir(source)
        with open(os.path.join(source, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(PROJECT % os.path.join(HERE, "program.c"))
        self.run_there(["cmake", "-G", "Ninja", "-S", source, "-B", build, "-DCMAKE_PREFIX_PATH=" + self.prefix])
        self.run_there(["cmake", "--build", build])
        self.play(os.path.join(build, "app"), "cmake")

    def test_a_component_that_is_none_is_named(self):
        source = os.path.join(self.folder, "none")
        os.mkdir(source)
        with open(os.path.join(source, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write((PROJECT % "none.c").replace("COMPONENTS c", "COMPONENTS d"))
        done = subprocess.run(["cmake", "-G", "Ninja", "-S", source, "-B", source + "_build",
                               "-DCMAKE_PREFIX_PATH=" + self.prefix], capture_output=True, text=True,
                              timeout=600, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("components engine, c and client, not d", re.sub(r"\s+", " ", done.stderr))

    def test_the_header_is_cplusplus_too(self):
        source = os.path.join(self.folder, "program.cc")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <seendb/seendb.h>\nint main() { return seendb_abi_version() == 0; }\n")
        program = os.path.join(self.folder, "program_cc")
        self.run_there(["c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", source, "-o", program,
                        "-I", os.path.join(self.prefix, "include"), "-L", self.libraries, "-lseendb"])
        self.run_there([program], self.environment)

    def test_it_shows_its_own_symbols_alone(self):
        shown = self.run_there(["nm", "-D", "--defined-only", os.path.join(self.libraries, "libseendb.so")])
        names = {line.split()[-1] for line in shown.splitlines()} - {"SEENDB_0"}
        with open(os.path.join(ROOT, "engine", "include", "seendb", "seendb.h"), encoding="utf-8") as file:
            declared = set(re.findall(r"^SEENDB_API .*?\b(seendb_\w+)\(", file.read(), re.M))
        self.assertGreater(len(declared), 25)
        self.assertEqual({name.replace("@@SEENDB_0", "") for name in names}, declared)

    def test_its_name_has_a_version(self):
        told = self.run_there(["readelf", "-d", LIBRARY])
        self.assertIn("Library soname: [libseendb.so.1]", told)
        self.assertIn("[librocksdb.so", told)


if __name__ == "__main__":
    if unusable():
        print("SKIPPED: " + unusable())
        sys.exit(SKIPPED)
    unittest.main()
