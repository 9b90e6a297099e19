"""What is in the image, and what is not."""

import json
import os
import re

from report import expect, note

BUILD_TOOLS = re.compile(r"^(c89|c99|cc|gcc|g\+\+|c\+\+|cpp|clang|clang\+\+|as|ld|ld\.bfd|ld\.gold|make|"
                         r"ninja|cmake|ccache|git|python|strip|objcopy)[-.0-9]*$")
VOLUME = "/var/lib/seendb"


def size_bytes(folder):
    """Bytes of all files, hard links counted once."""
    seen, total = set(), 0
    for path, _, names in os.walk(folder):
        for name in names:
            about = os.lstat(os.path.join(path, name))
            if (about.st_dev, about.st_ino) not in seen:
                seen.add((about.st_dev, about.st_ino))
                total += about.st_size
    return total


def packages(files):
    with open(files + "/var/lib/dpkg/status", encoding="utf-8") as status:
        return re.findall(r"^Package: (.*)$", status.read(), re.M)


def versions(files):
    """{package: version}"""
    with open(files + "/var/lib/dpkg/status", encoding="utf-8") as status:
        return dict(re.findall(r"^Package: (.*)$(?:\n.+)*?\nVersion: (.*)$", status.read(), re.M))


def check(engine):
    config = engine.config()
    expect(config["User"] not in ("", "0", "root"), "the user is not root: %s" % config["User"])
    expect(list(config["Volumes"]) == [VOLUME], "the data is a volume: " + VOLUME)
    expect(list(config["ExposedPorts"]) == ["7373/tcp"], "port 7373 is exposed")
    expect(config["Healthcheck"]["Test"][:3] == ["CMD", "seendb", "ready"],
           "the health check is the tool's")
    expect(config["StopSignal"] in ("SIGTERM", "15"), "it is stopped by SIGTERM")
    expect(config["Entrypoint"][0] == "seendb-server", "the server is process 1, no shell")
    expect(config["Labels"]["org.opencontainers.image.title"] == "SeenDB", "it has its labels")

    files = engine.files()
    found = [name for folder in ("bin", "sbin", "usr/bin", "usr/sbin", "usr/local/bin")
             for name in os.listdir(os.path.join(files, folder)) if BUILD_TOOLS.match(name)]
    expect(not found, "no compilers or build tools", found)
    held = packages(files)
    extra = [name for name in held if name.endswith("-dev") or name.startswith(("g++", "gcc-1"))
             and not name.endswith("-base")]
    expect(not extra, "no packages to build with", extra)
    owner = os.stat(files + VOLUME)
    expect(owner.st_uid != 0 and owner.st_mode & 0o007 == 0, "the data is the user's alone")
    expect(not os.path.exists(files + "/src") and not os.path.exists(files + "/out"),
           "nothing of the build is left")
    with open(files + "/usr/share/doc/seendb/sbom.cdx.json", encoding="utf-8") as bill:
        listed = {one["name"]: one["version"] for one in json.load(bill)["components"]
                  if {"name": "seendb:use", "value": "linked"} in one.get("properties", [])}
    expect(listed and listed.items() <= versions(files).items(), "the bill of materials is of these libraries")
    expect("seendb" in held, "the programs are of the package seendb")
    programs = sum(os.path.getsize(os.path.join(files, "usr/bin", name)) for name in ("seendb", "seendb-server"))
    note("%d packages, %.0f MB unpacked, of which the programs %.0f MB" % (
        len(held), size_bytes(files) / 1e6, programs / 1e6))
