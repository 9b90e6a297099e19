"""Makes of installed folders what Debian's policy asks of packages: compressed man pages and changelogs,
a copyright file, libraries without debug information, modes that do not follow the builder's umask.

    finish.py --folder FOLDER --version VERSION --maintainer WHO

FOLDER has a folder for each package: `server`, `dev`, `lib`. The time of the changelog is
SOURCE_DATE_EPOCH's.
"""

import argparse
import email.utils
import gzip
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PACKAGES = {"server": "seendb", "dev": "libseendb-dev", "lib": "libseendb1"}
ENTRY = """seendb (%s) unstable; urgency=medium

  * Built from the project's sources; changelog.gz says what changed.

 -- %s  %s
"""


def compress(data, path):
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(data)


def compress_file(path):
    with open(path, "rb") as file:
        compress(file.read(), path + ".gz")
    os.remove(path)


def write_papers(folder, package, entry):
    documents = os.path.join(folder, "usr", "share", "doc", package)
    os.makedirs(documents, exist_ok=True)
    shutil.copyfile(os.path.join(HERE, "copyright"), os.path.join(documents, "copyright"))
    with open(os.path.join(ROOT, "CHANGELOG.md"), "rb") as file:
        compress(file.read(), os.path.join(documents, "changelog.gz"))
    compress(entry.encode(), os.path.join(documents, "changelog.Debian.gz"))


def finish(folder):
    zsh = os.path.join(folder, "usr", "share", "zsh")
    if os.path.isdir(zsh):  # Debian's zsh reads packages' completions elsewhere
        os.rename(os.path.join(zsh, "site-functions"), os.path.join(zsh, "vendor-completions"))
    for path, folders, names in os.walk(folder):
        for name in folders:
            os.chmod(os.path.join(path, name), 0o755)
        for name in names:
            file = os.path.join(path, name)
            if os.path.islink(file):
                continue
            os.chmod(file, 0o755 if os.path.basename(path) == "bin" else 0o644)
            if os.path.basename(path) == "man1":
                compress_file(file)
            elif name.endswith(".a"):
                subprocess.run(["strip", "--strip-debug", "--enable-deterministic-archives", file], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--folder", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--maintainer", required=True)
    given = parser.parse_args()
    os.umask(0o022)
    when = email.utils.formatdate(int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    for name in sorted(os.listdir(given.folder)):
        folder = os.path.join(given.folder, name)
        if name in PACKAGES and os.path.isdir(folder):
            finish(folder)
            write_papers(folder, PACKAGES[name], ENTRY % (given.version, given.maintainer, when))


if __name__ == "__main__":
    main()
