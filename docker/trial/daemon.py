"""The image by docker, or podman, which take the same commands: built and run in real containers,
locked up as compose.yaml does it. On the host's network, as with buildah."""

import json
import os
import subprocess
import tempfile

from buildah import ROOT, Server
from report import Failure

LOCKED = ["--network", "host", "--read-only", "--cap-drop", "ALL", "--security-opt",
          "no-new-privileges"]


class Contained(Server):
    """seendb-server in a container of its own; started by Daemon.serve."""

    def __init__(self, engine, name, command, log_path):
        self.name = name
        super().__init__(engine, command, log_path)

    def user_ids(self):
        status = self.engine.call("exec", self.name, "cat", "/proc/1/status")
        return next(line.split()[1:] for line in status.splitlines() if line.startswith("Uid:"))

    def healthy(self):
        if self.process.poll() is not None:
            return super().healthy()
        return subprocess.run(
            [self.engine.program, "exec", "--env", "SEENDB_URL=" + self.url, self.name,
             *self.engine.config()["Healthcheck"]["Test"][1:]],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            check=False).returncode

    def terminate(self):
        self.engine.call("stop", "-t", "120", self.name)
        code = self.process.wait(120)
        self.engine.call("rm", "--force", "--volumes", self.name, check=False)
        return code

    def kill(self):
        self.engine.call("rm", "--force", "--volumes", self.name, check=False)
        super().kill()


class Daemon:
    """See the head of this file."""

    def __init__(self, program, scratch):
        self.program = program
        self.scratch = scratch
        self.tag = "seendb-check-%d" % os.getpid()
        self.image = self.tag + ":check"
        self.env = dict(os.environ)
        self.servers, self.volumes, self.files_ = [], [], ""
        self.config_ = None
        self.call("version")

    def call(self, *arguments, check=True):
        done = subprocess.run([self.program, *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if check and done.returncode != 0:
            raise Failure("%s %s: exit code %d\n%s" % (
                self.program, " ".join(arguments), done.returncode,
                done.stderr.decode(errors="replace")[-4000:]))
        return done.stdout.decode(errors="replace").strip()

    def has_image(self):
        return False  # what has not changed, the daemon does not build again

    def build(self, base, jobs):
        """`base`: the name of an image, or ""."""
        arguments = ["build", "-f", os.path.join(ROOT, "docker", "Dockerfile"), "-t", self.image]
        if self.program == "podman":
            arguments += ["--format", "docker"]  # the other one has no health checks
        if base:
            arguments += ["--build-arg", "BASE=" + base]
        if jobs:
            arguments += ["--build-arg", "JOBS=%d" % jobs]
        done = subprocess.run([self.program, *arguments, ROOT], stdin=subprocess.DEVNULL,
                              check=False)
        if done.returncode != 0:
            raise Failure("the build: exit code %d" % done.returncode)

    def config(self):
        if self.config_ is None:
            described = json.loads(self.call("image", "inspect", self.image))[0]
            self.config_ = dict(described["Config"])
            if "Healthcheck" in described:  # where podman has it
                self.config_["Healthcheck"] = described["Healthcheck"]
        return self.config_

    def files(self):
        if not self.files_:
            self.files_ = tempfile.mkdtemp(dir=self.scratch)
            name = self.tag + "-files"
            self.call("create", "--name", name, self.image)
            tar = self.files_ + ".tar"
            self.call("export", "-o", tar, name)
            self.call("rm", "--force", "--volumes", name)
            subprocess.run(["tar", "-C", self.files_, "-xpf", tar, "--numeric-owner",
                            "--exclude", "dev/*"], check=True)
            os.remove(tar)
        return self.files_

    def make_data(self, name):
        """A fresh volume, which begins as what the image has there."""
        self.volumes.append("%s-%s" % (self.tag, name))
        self.call("volume", "create", self.volumes[-1])
        return self.volumes[-1]

    def run(self, command, env=None, volumes=None):
        """Runs a command in a container to its end."""
        arguments = ["run", "--rm", *LOCKED, "--tmpfs", "/tmp", "--entrypoint", command[0]]
        for name, value in (env or {}).items():
            arguments += ["--env", "%s=%s" % (name, value)]
        for outside, inside in (volumes or {}).items():
            arguments += ["--volume", "%s:%s" % (outside, inside)]
        return subprocess.run([self.program, *arguments, self.image, *command[1:]],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)

    def serve(self, data, arguments=(), files=None):
        """A server on the volume; `files`: {path here: path in the container}."""
        name = "%s-server-%d" % (self.tag, len(self.servers))
        command = [self.program, "run", "--name", name, *LOCKED]
        volumes = {data: next(iter(self.config()["Volumes"])), **(files or {})}
        for outside, inside in volumes.items():
            command += ["--volume", "%s:%s" % (outside, inside)]
        command += [self.image, *arguments, "--listen", "127.0.0.1:0"]
        log = os.path.join(self.scratch, name + ".log")
        self.servers.append(Contained(self, name, command, log))
        return self.servers[-1]

    def close(self, keep):
        for server in self.servers:
            server.kill()
        for volume in self.volumes:
            self.call("volume", "rm", "--force", volume, check=False)
        if not keep:
            self.call("rmi", "--force", self.image, check=False)
