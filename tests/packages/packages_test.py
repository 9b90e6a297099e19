"""Debian's packages: what is in them, and a life in a tree of this machine's Debian: installed, run as the
unit runs it, upgraded, removed, purged, installed again.

Packs the build that SEENDB_SERVER is of, twice. SEENDB_PACKAGES names a folder of packages that are there
instead, and SEENDB_PACKAGES_AGAIN another that must have the same bytes; SEENDB_RELEASE the Debian they are
for (tools/torture packages).
"""

import concurrent.futures
import filecmp
import glob
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tools", "debian"), os.path.join(ROOT, "tests", "support")]
import tree as debian
from installed import UNIT, Service
from seendb_client import server_binary

LINK = re.compile(r"\[[^\[\]]*\]\(([^()\s#]+\.md)\b")
EXPOSURE_MOST = 2.0
HOME = "var/lib/seendb"
SETTINGS = "etc/seendb/seendb.json"
DEFAULTS = "etc/default/seendb"


def run(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def pack(build, folder):
    done = subprocess.run(["cpack", "-G", "DEB", "-B", folder], cwd=build, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stdout[-3000:] + done.stderr[-3000:])
    shutil.rmtree(os.path.join(folder, "_CPack_Packages"))


def one(folder, name):
    found = glob.glob(os.path.join(folder, name + "_*.deb"))
    assert len(found) == 1, (folder, name, found)
    return found[0]


def lower_revision(package, folder):
    """The same package under a lower revision."""
    content = os.path.join(folder, "content")
    run("dpkg-deb", "-R", package, content)
    path = os.path.join(content, "DEBIAN", "control")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"(?m)^(Version: .*-).*$", r"\g<1>0", text))
    lower = os.path.join(folder, "lower.deb")
    run("dpkg-deb", "--root-owner-group", "-Znone", "-b", content, lower)
    shutil.rmtree(content)
    return lower


class PackagesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        suite = os.environ.get("SEENDB_RELEASE") or debian.release()
        try:
            debian.check(suite)  # before it packs
        except debian.Unavailable as why:
            cls.leave(why)
        cls.scratch = tempfile.mkdtemp(prefix="seendb-packages-")
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        os.chmod(cls.scratch, 0o755)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            tree = pool.submit(debian.Tree, suite, os.path.join(cls.scratch, "tree"))
            first, again = os.environ.get("SEENDB_PACKAGES"), os.environ.get("SEENDB_PACKAGES_AGAIN")
            if not first:
                build = os.path.dirname(os.path.dirname(os.path.abspath(server_binary())))
                first, again = (os.path.join(cls.scratch, name) for name in ("first", "again"))
                for folder in (first, again):
                    pack(build, folder)
            cls.packages, cls.again = first, again
            try:
                cls.tree = tree.result()
            except debian.Unavailable as why:
                cls.leave(why)
        cls.server = one(first, "seendb")
        cls.unpacked = os.path.join(cls.scratch, "unpacked")
        for package in glob.glob(os.path.join(first, "*.deb")):
            run("dpkg-deb", "-x", package, cls.unpacked)

    @classmethod
    def leave(cls, why):
        print("NO PACKAGES TESTED: %s" % why)
        cls.doClassCleanups()  # unittest does not, where the process exits
        sys.exit(77)

    def test_two_packings_have_the_same_bytes(self):
        names = sorted(os.listdir(self.packages))
        self.assertEqual(names, sorted(os.listdir(self.again)))
        self.assertGreaterEqual(len(names), 2)
        same = filecmp.cmpfiles(self.packages, self.again, names, shallow=False)[0]
        self.assertEqual(same, names)

    def test_fields(self):
        def field(name, package=self.server):
            return run("dpkg-deb", "-f", package, name).strip()

        self.assertEqual(field("Package"), "seendb")
        self.assertRegex(field("Version"), r"^\d+\.\d+\.\d+-\d+~deb\d+$")
        for library in ("librocksdb", "librdkafka", "libssl", "libc6", "libstdc++6"):
            self.assertRegex(field("Depends"), r"(^|, )%s\S* \(>= " % re.escape(library))
        self.assertIn("systemd-sysusers", field("Depends"))
        development = one(self.packages, "libseendb-dev")
        self.assertIn("librocksdb-dev", field("Depends", development))
        self.assertEqual(field("Version", development), field("Version"))

    def test_everything_is_in_them(self):
        documents = os.path.join(self.unpacked, "usr/share/doc/seendb")
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            linked = {link for link in LINK.findall(file.read()) if "://" not in link}
        self.assertGreater(len(linked), 10)
        wanted = {os.path.join("usr/share/doc/seendb", link) for link in linked}
        wanted |= {"usr/bin/seendb", "usr/bin/seendb-server", UNIT, SETTINGS, "usr/lib/sysusers.d/seendb.conf",
                   "usr/lib/tmpfiles.d/seendb.conf", "usr/share/man/man1/seendb.1.gz",
                   "usr/share/man/man1/seendb-server.1.gz", "usr/share/man/man1/seendb-redis-import.1.gz",
                   "usr/share/bash-completion/completions/seendb", "usr/share/zsh/vendor-completions/_seendb",
                   "usr/include/seendb/engine.h", "usr/lib/libseendb_engine.a", "usr/lib/libseendb_recovery.a",
                   "usr/lib/libseendb_items.a",
                   "usr/include/seendb/seendb.h", "usr/lib/libseendb.so", "usr/lib/libseendb.so.1",
                   "usr/lib/pkgconfig/seendb-c.pc",
                   "usr/lib/pkgconfig/seendb.pc", "usr/lib/cmake/seendb/seendbConfig.cmake"}
        for package in ("seendb", "libseendb-dev"):
            wanted |= {"usr/share/doc/%s/%s" % (package, name)
                       for name in ("copyright", "changelog.gz", "changelog.Debian.gz")}
        for name in ("openapi.json", "openapi_admin.json", "alerts.yml", "grafana/overview.json"):
            wanted.add("usr/share/doc/seendb/examples/" + name)
        self.assertEqual([path for path in sorted(wanted)
                          if not os.path.exists(os.path.join(self.unpacked, path))], [])
        self.assertTrue(os.path.exists(os.path.join(documents, "sbom.cdx.json")))
        self.assertEqual(run("dpkg-deb", "-I", self.server, "conffiles").split(), ["/" + SETTINGS])

    def test_nothing_in_them_tells_where_they_were_built(self):
        for path, folders, names in os.walk(self.unpacked):
            for name in folders + names:
                file = os.path.join(path, name)
                about = os.lstat(file)
                writable = not stat.S_ISLNK(about.st_mode) and about.st_mode & 0o022
                self.assertEqual((about.st_uid, writable), (0, 0), file)
                self.assertFalse(about.st_mode & (stat.S_ISUID | stat.S_ISGID), file)
        for name in ("usr/lib/pkgconfig/seendb.pc", "usr/lib/cmake/seendb/seendbTargets.cmake", UNIT):
            with open(os.path.join(self.unpacked, name), encoding="utf-8") as file:
                text = file.read()
            for elsewhere in (ROOT, "/usr/local", "/src/"):
                self.assertNotIn(elsewhere, text, name)

    @unittest.skipIf(shutil.which("systemd-analyze") is None, "no systemd-analyze")
    def test_systemd_takes_the_unit(self):
        path = os.path.join(self.unpacked, UNIT)
        with open(path, encoding="utf-8") as file:
            runs = re.search(r"(?m)^ExecStart=(\S+)", file.read())[1]
        self.assertTrue(os.access(os.path.join(self.unpacked, runs.lstrip("/")), os.X_OK), runs)
        told = subprocess.run(["systemd-analyze", "security", "--offline=yes", path], capture_output=True,
                              text=True, check=False).stdout
        level = re.search(r"Overall exposure level for seendb.service: ([\d.]+)", told)
        self.assertLess(float(level[1]), EXPOSURE_MOST, told)

    def test_a_life(self):
        tree = self.tree
        shutil.copyfile(lower_revision(self.server, self.scratch), tree.path("opt/lower.deb"))
        shutil.copyfile(self.server, tree.path("opt/seendb.deb"))
        tree.run("apt-get", "update")

        def install(name):
            return tree.run("apt-get", "-y", "install", "/opt/" + name).stdout

        def mode(path):
            return stat.S_IMODE(os.stat(tree.path(path)).st_mode)

        install("lower.deb")
        self.assertEqual(tree.run("dpkg", "--verify", "seendb").stdout, "")
        self.assertEqual(tree.run("stat", "-c", "%U:%G", "/" + HOME).stdout, "seendb:seendb\n")
        self.assertEqual(mode(HOME), 0o750)
        self.assertEqual(tree.run("getent", "passwd", "seendb").stdout.split(":")[5:], ["/" + HOME, "/usr/sbin/nologin\n"])
        told = tree.run("seendb-server", "--config", "/" + SETTINGS, "--print-config").stdout
        self.assertRegex(told, r'"listen": "127\.0\.0\.1:7373"')

        # Tests share a machine: the port is any that is free.
        tree.write(DEFAULTS, "SEENDB_LISTEN=127.0.0.1:0\n")
        service = Service(tree)
        self.addCleanup(service.kill)
        self.assertNotIn("0", service.status("Uid"))
        self.assertEqual(service.status("CapBnd"), ["0" * 16])
        service.call("POST", "/plays", {"events": [{"user": "u", "item": "a"}]})
        self.assertEqual(service.call("POST", "/admin/checkpoint", {"name": "before"})["name"], "before")
        tree.run("seendb", "ready", "--url", "http://" + service.address)
        self.stop(service)
        owners = {(os.stat(path).st_uid != 0, os.stat(path).st_mode & 0o007)
                  for path in glob.glob(tree.path(HOME + "/**"), recursive=True)}
        self.assertEqual(owners, {(True, 0)})

        with open(tree.path(SETTINGS), encoding="utf-8") as file:
            own = file.read().replace("{\n", '{\n  "log_level": "debug",\n', 1)
        tree.write(SETTINGS, own)
        install("seendb.deb")
        self.assertEqual(tree.run("dpkg-query", "-W", "-f", "${Version}", "seendb").stdout,
                         run("dpkg-deb", "-f", self.server, "Version").strip())
        with open(tree.path(SETTINGS), encoding="utf-8") as file:
            self.assertEqual(file.read(), own)
        self.remembers("a")

        tree.run("apt-get", "-y", "remove", "seendb")
        self.assertFalse(os.path.exists(tree.path("usr/bin/seendb-server")))
        for path in (HOME + "/db/SEENDB", HOME + "/checkpoints/before/SEENDB", SETTINGS, DEFAULTS):
            self.assertTrue(os.path.exists(tree.path(path)), path)
        self.assertEqual(tree.run("getent", "passwd", "seendb").returncode, 0)

        told = tree.run("apt-get", "-y", "purge", "seendb").stdout
        self.assertIn("/%s still has its databases" % HOME, told)
        for path in ("etc/seendb", DEFAULTS):
            self.assertFalse(os.path.exists(tree.path(path)), path)
        for database in ("passwd", "group"):
            self.assertEqual(tree.run("getent", database, "seendb", check=False).returncode, 2)
        self.assertTrue(os.path.exists(tree.path(HOME + "/db/SEENDB")))
        self.assertEqual(os.stat(tree.path(HOME + "/db/SEENDB")).st_uid, 0)

        # Who has the package again has the data again, under whatever number the user has now.
        tree.run("useradd", "--system", "another")
        install("seendb.deb")
        tree.write(DEFAULTS, "SEENDB_LISTEN=127.0.0.1:0\n")
        self.remembers("a")
        shutil.rmtree(tree.path(HOME + "/db"))
        shutil.rmtree(tree.path(HOME + "/checkpoints"))
        told = tree.run("apt-get", "-y", "purge", "seendb").stdout
        self.assertNotIn("still has", told)
        self.assertFalse(os.path.exists(tree.path(HOME)))

    def stop(self, service):
        code, output = service.stop()
        self.assertEqual(code, 0, output)
        self.assertIn('"event":"stopped"', output)

    def remembers(self, item):
        service = Service(self.tree)
        self.addCleanup(service.kill)
        answer = service.call("POST", "/filter", {"user": "u", "items": [item, "new"]})
        self.assertEqual(answer["unseen"], ["new"])
        self.stop(service)

    def test_the_libraries_can_be_installed(self):
        shutil.copyfile(one(self.packages, "libseendb-dev"), self.tree.path("opt/dev.deb"))
        shutil.copyfile(one(self.packages, "libseendb1"), self.tree.path("opt/lib.deb"))
        self.tree.run("apt-get", "update")
        told = self.tree.run("apt-get", "-s", "install", "/opt/dev.deb", "/opt/lib.deb").stdout
        self.assertIn("Inst libseendb-dev", told)
        self.assertIn("Inst libseendb1", told)
        self.assertIn("Inst librocksdb-dev", told)


if __name__ == "__main__":
    unittest.main()
