"""The shared libraries that programs load, by readelf and ldd."""

import re

from debian import output


def needed(path):
    """Names of the libraries that a program or library names itself."""
    return re.findall(r"\(NEEDED\)\s+Shared library: \[([^\]]+)\]", output("readelf", "-d", path))


def loaded(program):
    """{name: path} of all that it loads; raises RuntimeError where one is missing."""
    text = output("ldd", program)
    missing = re.findall(r"^\s*(\S+) => not found", text, re.M)
    if missing:
        raise RuntimeError("%s lacks %s" % (program, ", ".join(missing)))
    found = dict(re.findall(r"^\s*(\S+) => (/\S+) \(", text, re.M))
    for path in re.findall(r"^\s*(/\S+) \(", text, re.M):  # the loader
        found[path.rpartition("/")[2]] = path
    return found
