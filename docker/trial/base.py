"""The image to begin with: a Debian 13 as small as debootstrap makes it, kept as a tar."""

import glob
import os
import platform
import shutil
import subprocess

from report import Failure, note

SUITE = "trixie"


def find(options, scratch):
    """A tar for buildah, the name of an image otherwise; "" for the Dockerfile's own."""
    if options.base or options.engine != "buildah":
        return options.base
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                         "seendb")
    tar = os.path.join(cache, "debian-%s-minbase-%s.tar" % (SUITE, platform.machine()))
    if not os.path.exists(tar):
        note("making %s" % tar)
        os.makedirs(cache, exist_ok=True)
        _make(tar, options.mirror, os.path.join(scratch, "base"))
    return tar


def _make(tar, mirror, folder):
    if shutil.which("debootstrap") is None:
        raise Failure("there is no debootstrap: tools/setup docker")
    log = folder + ".log"
    with open(log, "wb") as output:
        done = subprocess.run(["debootstrap", "--variant=minbase", SUITE, folder,
                               *([mirror] if mirror else [])],
                              stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False)
    if done.returncode != 0:
        with open(log, encoding="utf-8", errors="replace") as text:
            raise Failure("debootstrap: " + text.read()[-2000:])
    for pattern in ("var/cache/apt/archives/*.deb", "var/cache/apt/*.bin", "var/lib/apt/lists/*"):
        for path in glob.glob(os.path.join(folder, pattern)):
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    subprocess.run(["tar", "--numeric-owner", "-C", folder, "-cf", tar + ".part", "."], check=True)
    os.rename(tar + ".part", tar)
    shutil.rmtree(folder)
