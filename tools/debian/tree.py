"""A Debian in a folder, made by debootstrap from the mirror of this machine's apt, to install packages in
and to run their programs. Needs root; the folder is an ordinary one, nothing stays mounted in it.

    with Tree("bookworm", os.path.join(scratch, "tree")) as tree:     # raises Unavailable
        tree.run("apt-get", "-y", "install", "hello")
"""

import glob
import os
import platform
import shutil
import subprocess

APT = """APT::Install-Recommends "false";
Acquire::Languages "none";
Dpkg::Use-Pty "false";
"""
PROXIES = ("Acquire::http::Proxy", "Acquire::https::Proxy")


class Unavailable(Exception):
    """A tree can't be had on this machine: who reads it, and why."""


def release():
    """The code name of this machine's Debian."""
    with open("/etc/os-release", encoding="utf-8") as file:
        fields = dict(line.strip().split("=", 1) for line in file if "=" in line)
    return fields.get("VERSION_CODENAME", "").strip('"')


def archives(suite, here=None, targets=None):
    """(URI, suite) of each of Debian's archives that this machine's apt reads, as they are for `suite`:
    that of the release itself is the first. `targets` stands in for what apt says."""
    here = here or release()
    if targets is None:
        targets = subprocess.run(["apt-get", "indextargets", "--format",
                                  "$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)", "Created-By: Packages"],
                                 capture_output=True, text=True, check=True).stdout
    found = {}
    for line in targets.splitlines():
        uri, name, component, *origin = line.split()
        if component == "main" and origin in ([], ["Debian"]):
            for ending in ("", "-updates", "-security"):
                if name == here + ending:
                    found.setdefault(ending, uri)
    if "" not in found:
        raise Unavailable("this machine's apt names no archive of Debian %s" % here)
    return [(uri, suite + ending) for ending, uri in sorted(found.items())]


def proxies():
    """This machine's proxies, as lines of apt's settings: {key: URL}."""
    said = subprocess.run(["apt-config", "dump", *PROXIES], capture_output=True, text=True, check=True).stdout
    pairs = (line.rstrip(";").split(" ", 1) for line in said.splitlines())
    return {key: value.strip('"') for key, value in pairs if value.strip('"')}


def cached(suite):
    """Where base() keeps its tar."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(cache, "seendb", "debian-%s-minbase-%s.tar" % (suite, platform.machine()))


def check(suite):
    """Raises Unavailable where it is plain at once that no tree can be made."""
    if os.geteuid() != 0:
        raise Unavailable("a tree wants root")
    if not os.path.exists(cached(suite)) and shutil.which("debootstrap") is None:
        raise Unavailable("there is no debootstrap: tools/setup test")


def base(suite, mirror=None):
    """A tar of the smallest Debian `suite`, made at the first call; raises Unavailable."""
    check(suite)
    tar = cached(suite)
    if os.path.exists(tar):
        return tar
    os.makedirs(os.path.dirname(tar), exist_ok=True)
    folder = tar + ".tree-%d" % os.getpid()
    environment = dict(os.environ)
    for key, value in proxies().items():
        environment.setdefault(key.split("::")[1] + "_proxy", value)
    try:
        done = subprocess.run(["debootstrap", "--variant=minbase", suite, folder, mirror or archives(suite)[0][0]],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=environment, check=False)
        if done.returncode != 0:
            raise Unavailable("debootstrap: " + done.stdout.decode(errors="replace")[-2000:])
        for pattern in ("var/cache/apt/archives/*.deb", "var/cache/apt/*.bin", "var/lib/apt/lists/*"):
            for path in glob.glob(os.path.join(folder, pattern)):
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        subprocess.run(["tar", "--numeric-owner", "-C", folder, "-cf", folder + ".tar", "."], check=True)
        os.rename(folder + ".tar", tar)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return tar


class Tree:
    """See the head of this file."""

    def __init__(self, suite, folder):
        tar = base(suite)
        self.folder = folder
        os.mkdir(folder, 0o755)
        subprocess.run(["tar", "--numeric-owner", "-C", folder, "-xf", tar], check=True)
        self.write("etc/apt/sources.list", "".join("deb %s %s main\n" % one for one in archives(suite)))
        self.write("etc/apt/apt.conf.d/99seendb", APT + "".join('%s "%s";\n' % one for one in proxies().items()))
        self.write("etc/dpkg/dpkg.cfg.d/seendb", "force-unsafe-io\n")
        for name in ("etc/resolv.conf", "etc/hosts"):
            if os.path.exists("/" + name):
                shutil.copyfile("/" + name, self.path(name))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def path(self, name):
        """What the tree calls `name`, as this machine does."""
        return os.path.join(self.folder, name.lstrip("/"))

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def command(self, *words):
        """The words that run a command in the tree, with a /proc and processes of its own: what it leaves
        running ends with it."""
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc=" + self.path("proc"),
                "chroot", self.folder, *words]

    def environment(self, **more):
        """What a command in the tree sees."""
        return {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
                "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", **more}

    def run(self, *words, check=True, **more):
        """Runs a command to its end; its output and errors are `stdout`."""
        done = subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env=self.environment(**more), check=False)
        if check and done.returncode != 0:
            raise RuntimeError("%s: exit code %d\n%s" % (" ".join(words), done.returncode, done.stdout[-4000:]))
        return done
