"""Whether fetched jars are those that were pinned: a file as sha256sum writes it, for a folder.

    python3 -B tools/demo/kafka/jars.py PINS FOLDER     exit code 1 where they are not
"""

import hashlib
import os
import sys


class Differs(Exception):
    """A jar is not the pinned one, is missing, or nobody knows it."""


def pinned(pins):
    """{name: SHA-256}"""
    with open(pins, encoding="ascii") as file:
        return {name: digest for digest, name in (line.split() for line in file)}


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(pins, folder):
    """Raises Differs unless the folder has exactly the pinned jars."""
    wanted = pinned(pins)
    for name in sorted(wanted.keys() | set(os.listdir(folder))):
        path = os.path.join(folder, name)
        if name not in wanted:
            raise Differs("%s is not in %s" % (path, pins))
        if not os.path.exists(path):
            raise Differs("%s is not there; %s has it" % (path, pins))
        if digest_of(path) != wanted[name]:
            raise Differs("%s is not the file that %s has the SHA-256 of" % (path, pins))


if __name__ == "__main__":
    try:
        check(*sys.argv[1:])
    except Differs as why:
        sys.exit("jars: " + str(why))
