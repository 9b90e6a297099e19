"""Debian's packages, as components of CycloneDX."""

import functools
import os
import re
import subprocess
import urllib.parse

FIELDS = ("Package", "Version", "Architecture", "source:Package", "source:Version", "Depends")
# Names of licences in Debian's copyright files that SPDX calls otherwise; in lower case.
SPDX = {"expat": "MIT", "mit": "MIT", "apache-2.0": "Apache-2.0", "bsl-1.0": "BSL-1.0", "zlib": "Zlib", "isc": "ISC",
        "0bsd": "0BSD", "bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause", "openssl": "OpenSSL",
        "bsd-4-clause": "BSD-4-Clause", "cc0-1.0": "CC0-1.0", "gpl-2": "GPL-2.0-only", "gpl-2+": "GPL-2.0-or-later",
        "gpl-3": "GPL-3.0-only", "gpl-3+": "GPL-3.0-or-later", "lgpl-2.1": "LGPL-2.1-only",
        "lgpl-2.1+": "LGPL-2.1-or-later", "lgpl-3+": "LGPL-3.0-or-later"}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True,
                          env=dict(os.environ, LC_ALL="C")).stdout


@functools.lru_cache(None)
def installed():
    """{package: {field: value}} of all that is installed; a package of this machine's architecture wins."""
    asked = "${db:Status-Status}" + "".join("\\t${%s}" % field for field in FIELDS) + "\\n"
    found, native = {}, output("dpkg", "--print-architecture").strip()
    for line in output("dpkg-query", "-W", "-f", asked).splitlines():
        status, *values = line.split("\t")
        fields = dict(zip(FIELDS, values))
        if status == "installed" and (fields["Package"] not in found or fields["Architecture"] == native):
            found[fields["Package"]] = fields
    return found


def fields_of(package):
    """{field: value} of an installed package; None where it is not installed."""
    return installed().get(package)


@functools.lru_cache(None)
def distribution():
    """Such as "debian-12"."""
    with open("/etc/os-release", encoding="utf-8") as file:
        known = dict(line.rstrip("\n").replace('"', "").split("=", 1) for line in file if "=" in line)
    return "%s-%s" % (known["ID"], known["VERSION_ID"])


def reference(package):
    """The package URL, by which the bill names the component."""
    fields = fields_of(package)
    return "pkg:deb/%s/%s@%s?arch=%s&distro=%s" % (
        distribution().partition("-")[0], urllib.parse.quote(fields["Package"]),
        urllib.parse.quote(fields["Version"]), fields["Architecture"], distribution())


def licences(package):
    """Those that the package's copyright file names; empty where it is for people alone."""
    try:
        with open("/usr/share/doc/%s/copyright" % package, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return []
    if not re.match(r"Format(-Specification)?:", text):
        return []
    names = set()
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.startswith("Files:"):
            found = re.search(r"^License: *(\S.*)$", paragraph, re.M)
            names |= {found[1].strip()} if found else set()
    known = {SPDX.get(name.lower(), name) for name in names}
    return [{"license": {"id" if name in SPDX.values() else "name": name}} for name in sorted(known)]


def component(package, use, scope, libraries=()):
    """`libraries`: of the package, that the programs load."""
    fields = fields_of(package)
    said = [("seendb:use", use),
            ("debian:source", "%s %s" % (fields["source:Package"], fields["source:Version"]))]
    said += [("seendb:library", name) for name in sorted(libraries)]
    made = {"type": "library" if use != "build" else "application", "bom-ref": reference(package),
            "name": fields["Package"], "version": fields["Version"], "scope": scope, "purl": reference(package),
            "properties": [{"name": name, "value": value} for name, value in said]}
    if found := licences(package):
        made["licenses"] = found
    return made


def with_headers(packages):
    """These and the other -dev packages that they bring: code of any may be compiled in."""
    found, look = set(), list(packages)
    while look:
        package = look.pop()
        fields = fields_of(package)
        if fields is None or fields["Package"] in found:
            continue
        found.add(fields["Package"])
        for alternatives in fields["Depends"].split(","):
            name = alternatives.split("|")[0].split("(")[0].strip()
            if name.endswith("-dev"):
                look.append(name)
    return found


def owners(paths):
    """{path: package} of files; None: of no package."""
    # /lib is /usr/lib: a package may have its file under either name.
    names = {path: (path, "/usr" + path, path.removeprefix("/usr"), os.path.realpath(path)) for path in paths}
    done = subprocess.run(["dpkg-query", "-S", *sorted({name for four in names.values() for name in four})],
                          capture_output=True, text=True, check=False)  # exit code 1: some are of none
    known = {}
    for line in done.stdout.splitlines():
        if not line.startswith("diversion "):
            packages, _, name = line.partition(": ")
            known[name] = packages.split(",")[0].partition(":")[0]
    return {path: next((known[name] for name in four if name in known), None) for path, four in names.items()}
