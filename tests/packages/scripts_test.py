"""The scripts of Debian's package `seendb`, with folders of the test in place of the system's and with programs
that write down how they were called."""

import os
import shutil
import stat
import subprocess
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = os.path.join(ROOT, "cmake", "deb", "server")
CALLED = ("chown", "systemctl", "systemd-sysusers", "systemd-tmpfiles", "deb-systemd-helper", "getent", "userdel",
          "groupdel")
# What systemctl does while the server does not say that it serves: it waits, as a child of deb-systemd-invoke.
WAITS = """#!/bin/sh
echo "deb-systemd-invoke $*" >>"$CALLS"
sleep 90 &
echo $! >>"$CALLS.waiting"
wait
"""


def ends(process):
    """Whether it is gone, or a zombie that nobody waited for, within 10 s."""
    for _ in range(100):
        try:
            with open("/proc/%d/stat" % process, encoding="utf-8") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.1)
    return False


class ScriptsTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="seendb-scripts-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.home, self.calls = os.path.join(self.folder, "home"), os.path.join(self.folder, "calls")
        self.disk = os.path.join(self.folder, "disk")
        for name in ("bin", "system", "disk/db"):
            os.makedirs(os.path.join(self.folder, name))
        for name in CALLED:
            self.program(name, '#!/bin/sh\necho "%s $*" >>"$CALLS"\n' % name)
        self.program("deb-systemd-invoke", '#!/bin/sh\necho "deb-systemd-invoke $*" >>"$CALLS"\n')

    def program(self, name, text):
        path = os.path.join(self.folder, "bin", name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def run_script(self, name, *arguments):
        """What it says on stderr, and the calls it makes."""
        with open(os.path.join(SCRIPTS, name), encoding="utf-8") as file:
            text = file.read()
        for path, own in (("/var/lib/seendb", self.home), ("/run/systemd/system", os.path.join(self.folder, "system")),
                          ("/etc/default/seendb", os.path.join(self.folder, "default")), ("timeout 60 ", "timeout 1 ")):
            text = text.replace(path, own)
        environment = dict(os.environ, CALLS=self.calls, LC_ALL="C",
                           PATH=os.path.join(self.folder, "bin") + os.pathsep + os.environ["PATH"])
        open(self.calls, "w", encoding="utf-8").close()
        done = subprocess.run(["sh", "-c", text, name, *arguments], env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        with open(self.calls, encoding="utf-8") as file:
            return done.stderr, file.read().splitlines()

    def owner_given(self, calls):
        """Of the one call of chown: to whom, once it is known that -R walks through the folder."""
        [call] = [call for call in calls if call.startswith("chown ")]
        _, recursive, owner, path = call.split()
        self.assertEqual(recursive, "-R")
        self.assertTrue(stat.S_ISDIR(os.lstat(path).st_mode), call)
        self.assertEqual(os.path.realpath(path), os.path.realpath(self.disk))
        return owner

    def test_data_behind_a_link_change_hands_too(self):
        os.symlink(self.disk, self.home)
        told, calls = self.run_script("postrm", "purge")
        self.assertEqual(self.owner_given(calls), "root:root")
        self.assertIn("still has its databases", told)
        self.assertTrue(os.path.isdir(os.path.join(self.disk, "db")))
        self.assertEqual(self.owner_given(self.run_script("postinst", "configure")[1]), "seendb:seendb")

    def test_data_of_the_user_stay_as_they_are(self):
        self.program("stat", "#!/bin/sh\necho seendb\n")
        os.symlink(self.disk, self.home)
        self.assertFalse([call for call in self.run_script("postinst", "configure", "0.1.0-1")[1] if "chown" in call])

    def test_an_installation_starts_and_an_upgrade_restarts(self):
        for version, action in (((), "start"), (("0.1.0-1",), "restart")):
            told, calls = self.run_script("postinst", "configure", *version)
            self.assertEqual((told, calls[-1]), ("", "deb-systemd-invoke %s seendb.service" % action))

    def test_a_server_that_waits_does_not_hold_dpkg(self):
        self.program("deb-systemd-invoke", WAITS)
        told, calls = self.run_script("postinst", "configure", "0.1.0-1")
        self.assertIn("still starting", told)
        self.assertEqual(calls[-1], "deb-systemd-invoke restart seendb.service")
        with open(self.calls + ".waiting", encoding="utf-8") as file:
            self.assertTrue(ends(int(file.read())))

    def test_a_server_that_does_not_start_is_no_failed_installation(self):
        self.program("deb-systemd-invoke", "#!/bin/sh\necho failed >&2\nexit 1\n")
        self.assertEqual(self.run_script("postinst", "configure")[0], "failed\n")


if __name__ == "__main__":
    unittest.main()
