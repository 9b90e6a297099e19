"""The server of an installed package in a tree, run as its unit of systemd would run it."""

import os
import re
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import unit_filter
from seendb_client import Client

UNIT = "usr/lib/systemd/system/seendb.service"
START_S = 60


def unit(tree):
    """The unit's settings: {key: [values]}."""
    with open(tree.path(UNIT), encoding="utf-8") as file:
        return unit_filter.settings_of(file.read())


def variables(tree, path):
    """The lines of an EnvironmentFile that may be absent."""
    try:
        with open(tree.path(path.lstrip("-")), encoding="utf-8") as file:
            return dict(line.strip().split("=", 1) for line in file if "=" in line)
    except FileNotFoundError:
        return {}


class Service:
    """What `systemctl start seendb` begins and `systemctl stop seendb` ends: the unit's command, as its
    user, without capabilities, with its variables and its umask. Begun once it says READY=1."""

    def __init__(self, tree):
        settings = unit(tree)
        assert settings["Type"] == ["notify"], settings
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = tree.path("run/seendb-notify")
        if os.path.exists(path):
            os.unlink(path)
        self.notify.bind(path)
        os.chmod(path, 0o777)
        self.notify.settimeout(START_S)
        user = settings["User"][0]
        as_user = ["setpriv", "--reuid=" + user, "--regid=" + user, "--init-groups", "--no-new-privs",
                   "--inh-caps=-all", "--bounding-set=-all"]
        environment = tree.environment(NOTIFY_SOCKET="/run/seendb-notify",
                                       **variables(tree, settings["EnvironmentFile"][0]))
        command = " ".join(settings["ExecStart"])
        self.process = subprocess.Popen(
            tree.command("sh", "-c", "umask %s && exec %s %s" % (settings["UMask"][0], " ".join(as_user), command)),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=environment)
        try:
            while not (told := self.notify.recv(4096).decode()).startswith("READY=1"):
                pass
        except TimeoutError:
            raise RuntimeError("the server did not start:\n" + self.kill()) from None
        self.address = re.search(r"serving at (\S+)", told)[1]
        host, port = self.address.rsplit(":", 1)
        self.client = Client(host, int(port))

    def call(self, method, path, body=None):
        answer = self.client.request(method, path, body)
        assert answer.status == 200, answer
        return answer.json

    def pid(self):
        """Of the server itself, which the tree's own first process became."""
        with open("/proc/%d/task/%d/children" % (self.process.pid, self.process.pid), encoding="ascii") as file:
            return int(file.read().split()[0])

    def status(self, key):
        with open("/proc/%d/status" % self.pid(), encoding="ascii") as file:
            return next(line.split()[1:] for line in file if line.startswith(key + ":"))

    def stop(self):
        """(exit code of the server, its output)"""
        self.client.close()
        os.kill(self.pid(), signal.SIGTERM)
        output = self.process.communicate(timeout=START_S)[0]
        self.notify.close()
        return self.process.returncode, output

    def kill(self):
        self.process.kill()
        self.notify.close()
        return self.process.communicate()[0]
