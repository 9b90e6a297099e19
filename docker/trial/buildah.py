"""The image by buildah, which needs no daemon: built and run in chroots, as root.

Storage is a folder of its own. Servers run on the host's network, so they are given port 0 and say
where they listen; a health check is told so by SEENDB_URL.
"""

import json
import os
import shutil
import signal
import subprocess

from report import Failure

IMAGE = "localhost/seendb:check"
BASE = "localhost/debian:base"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
POLICY = '{"default": [{"type": "insecureAcceptAnything"}]}'
START_S = 120


def processes():
    """{pid: (parent's pid, name)} of all processes."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % entry, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            continue  # it has ended
        name = text[text.index("(") + 1:text.rindex(")")]
        found[int(entry)] = (int(text[text.rindex(")") + 2:].split()[1]), name)
    return found


def descendants(pid):
    """The processes below `pid`: {pid: name}."""
    everybody = processes()
    below, look = {}, [pid]
    while look:
        parent = look.pop()
        for child, (of, name) in everybody.items():
            if of == parent:
                below[child] = name
                look.append(child)
    return below


class Server:
    """seendb-server in a container; started by Buildah.serve."""

    def __init__(self, engine, command, log_path):
        self.engine = engine
        self.log_path = log_path
        with open(log_path, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=engine.env,
                                            stdout=subprocess.PIPE, stderr=log)
        line = self.process.stdout.readline().decode().strip()
        if not line.startswith("listening on "):
            self.kill()
            raise Failure("the server did not start: %r\n%s" % (line, self.log()))
        self.url = line[len("listening on "):]

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def pid(self):
        pids = [pid for pid, name in descendants(self.process.pid).items()
                if name == "seendb-server"]
        if len(pids) != 1:
            raise Failure("not one server process: %s" % pids)
        return pids[0]

    def user_ids(self):
        """The real, effective, saved and file system's user ids of the process."""
        with open("/proc/%d/status" % self.pid(), encoding="utf-8") as file:
            return next(line.split()[1:] for line in file if line.startswith("Uid:"))

    def healthy(self):
        """What the image's health check says: its exit code."""
        return self.engine.run(self.engine.config()["Healthcheck"]["Test"][1:],
                               env={"SEENDB_URL": self.url}).returncode

    def terminate(self):
        """What `docker stop` does; the exit code."""
        os.kill(self.pid(), signal.SIGTERM)
        try:
            return self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure("SIGTERM did not end the server:\n" + self.log()) from None

    def kill(self):
        """Ends it somehow, if it has not."""
        if self.process.poll() is None:
            for pid in [*descendants(self.process.pid), self.process.pid]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        self.process.wait(60)
        self.process.stdout.close()


class Buildah:
    """See the head of this file."""

    def __init__(self, storage, scratch):
        for program in ("buildah", "debootstrap"):
            if shutil.which(program) is None:
                raise Failure("there is no %s: tools/setup docker" % program)
        if os.geteuid() != 0:
            raise Failure("buildah's chroots want root")
        self.scratch = scratch
        policy = os.path.join(scratch, "policy.json")
        with open(policy, "w", encoding="utf-8") as file:
            file.write(POLICY)
        self.policy = ["--signature-policy", policy]
        self.env = dict(os.environ, BUILDAH_ISOLATION="chroot")
        self.command = ["buildah", "--root", os.path.join(storage, "root"), "--runroot",
                        os.path.join(scratch, "runroot")]
        self.containers = {}
        self.servers = []
        self.config_ = None

    def call(self, *arguments, check=True):
        done = subprocess.run([*self.command, *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env,
                              check=False)
        if check and done.returncode != 0:
            raise Failure("buildah %s: exit code %d\n%s" % (
                " ".join(arguments), done.returncode, done.stderr.decode(errors="replace")[-4000:]))
        return done.stdout.decode(errors="replace").strip()

    def has_image(self):
        names = json.loads(self.call("images", "--json") or "[]") or []
        return any(IMAGE in (image.get("names") or []) for image in names)

    def build(self, base, jobs):
        """`base`: a tar of a root file system, or the name of an image."""
        if os.path.isfile(base):
            empty = self.call("from", *self.policy, "scratch")
            self.call("add", empty, base, "/")
            self.call("commit", *self.policy, "--rm", empty, BASE)
            base = BASE
        arguments = ["bud", *self.policy, "--network", "host", "--format", "docker", "-f",
                     os.path.join(ROOT, "docker", "Dockerfile"), "-t", IMAGE]
        if base:
            arguments += ["--build-arg", "BASE=" + base]
        if jobs:
            arguments += ["--build-arg", "JOBS=%d" % jobs]
        done = subprocess.run([*self.command, *arguments, ROOT], stdin=subprocess.DEVNULL,
                              env=self.env, check=False)
        if done.returncode != 0:
            raise Failure("the build: exit code %d" % done.returncode)

    def config(self):
        """The image's configuration, as `docker inspect` shows it."""
        if self.config_ is None:
            described = json.loads(self.call("inspect", "--type", "image", IMAGE))
            self.config_ = described["Docker"]["config"]
        return self.config_

    def _container(self, purpose):
        if purpose not in self.containers:
            self.containers[purpose] = self.call("from", *self.policy, "--pull-never", IMAGE)
        return self.containers[purpose]

    def files(self):
        """A folder with the files of the image."""
        return self.call("mount", self._container("files"))

    def make_data(self, name):
        """A fresh folder for the volume, with the owner that the image gives it."""
        path = os.path.join(self.scratch, name)
        owner = os.stat(self.files() + next(iter(self.config()["Volumes"])))
        os.mkdir(path, owner.st_mode & 0o777)
        os.chown(path, owner.st_uid, owner.st_gid)
        return path

    def _run(self, purpose, command, env, volumes):
        arguments = ["run"]
        for name, value in (env or {}).items():
            arguments += ["--env", "%s=%s" % (name, value)]
        for outside, inside in (volumes or {}).items():
            arguments += ["--volume", "%s:%s" % (outside, inside)]
        return [*self.command, *arguments, self._container(purpose), "--", *command]

    def run(self, command, env=None, volumes=None):
        """Runs a command in a container to its end."""
        return subprocess.run(self._run("commands", command, env, volumes),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=self.env, check=False)

    def serve(self, data, arguments=(), files=None):
        """A server on the data folder; `files`: {path here: path in the container}."""
        volumes = {data: next(iter(self.config()["Volumes"])), **(files or {})}
        command = [*self.config()["Entrypoint"], *arguments, "--listen", "127.0.0.1:0"]
        log = os.path.join(self.scratch, "server-%d.log" % len(self.servers))
        self.servers.append(Server(self, self._run("server", command, None, volumes), log))
        return self.servers[-1]

    def close(self, keep):
        for server in self.servers:
            server.kill()
        for container in self.containers.values():
            self.call("umount", container, check=False)
            self.call("rm", container, check=False)
        if not keep:
            self.call("rmi", "--all", "--force", check=False)
