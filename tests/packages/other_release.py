"""Builds Debian's packages of the commit that is checked out, inside a tree of another Debian, and tests
them there: `tools/torture packages SUITE`.

    other_release.py SUITE INTO

Two builds in two folders have to give the same bytes. A program is compiled against libseendb-dev. The
packages are left in the folder INTO. Needs root, 6 GB, and 20 minutes or more.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "debian"))
import tree as debian

# Folders of different length: a path that gets into a package changes its size.
SOURCES = ("src/seendb", "src/a-folder-of-another-name/seendb")
BUILD = """cd /%s && cmake --preset release -DSEENDB_PERF=OFF && cmake --build build/release -j %d -- --quiet &&
cd build/release && cpack -G DEB -B %s && rm -rf %s/_CPack_Packages"""
CONSUMER = """apt-get -y install pkg-config %s/libseendb*.deb && cd /%s/tests/consumer &&
c++ -std=c++20 main.cc -o /opt/consumer $(pkg-config --cflags --libs seendb) && /opt/consumer /opt/database"""


def build(tree, into):
    """Packages of two builds, in the folders `into`/0 and `into`/1."""
    tree.run("apt-get", "update")
    for number, source in enumerate(SOURCES):
        subprocess.run(["git", "clone", "-q", "--depth", "1", "file://" + ROOT, tree.path(source)], check=True)
        print("building in /%s of the tree" % source, flush=True)
        if number == 0:
            tree.run("/%s/tools/setup" % source, "packages")
        packages = "/opt/packages-%d" % number
        tree.run("sh", "-ec", BUILD % (source, os.cpu_count(), packages, packages))
        shutil.copytree(tree.path(packages), os.path.join(into, str(number)))
        shutil.rmtree(os.path.join(tree.path(source), "build"))
    tree.run("sh", "-ec", CONSUMER % (packages, source))


def main():
    suite, into = sys.argv[1:]
    shutil.rmtree(into, ignore_errors=True)
    os.makedirs(into)
    scratch = tempfile.mkdtemp(prefix="seendb-release-")
    try:
        with debian.Tree(suite, os.path.join(scratch, "tree")) as tree:
            build(tree, scratch)
        for package in glob.glob(os.path.join(scratch, "0", "*.deb")):
            shutil.copy(package, into)
        environment = dict(os.environ, SEENDB_RELEASE=suite, SEENDB_PACKAGES=os.path.join(scratch, "0"),
                           SEENDB_PACKAGES_AGAIN=os.path.join(scratch, "1"))
        test = os.path.join(ROOT, "tests", "packages", "packages_test.py")
        return subprocess.run([sys.executable, "-B", test], env=environment, check=False).returncode
    except debian.Unavailable as why:
        print("NO PACKAGES OF %s: %s" % (suite, why))
        return 1
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    sys.exit(main())
