"""Copies the documents into a folder as they are installed: with the text alone of each link to what
is not among them, such as a source file or a test.

    documents.py SOURCE INTO
"""

import os
import re
import shutil
import sys

DOCUMENTS = ("LICENSE", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md",
             "SECURITY.md", "clients/README.md", "clients/cpp/README.md", "clients/go/README.md", "clients/java/README.md", "clients/python/README.md",
             "clients/typescript/README.md", "docker/README.md", "engine/doc", "perf/README.md", "perf/results",
             "server/README.md", "server/doc", "tests/consumer", "tools/doc/from-redis.md", "tools/doc/moving-in.md",
             "tools/doc/tool.md")
LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s]+)\)")


def files_of(source):
    """Relative paths of all documents."""
    for name in DOCUMENTS:
        path = os.path.join(source, name)
        if not os.path.isdir(path):
            yield name
            continue
        for folder, _, files in os.walk(path):
            yield from (os.path.relpath(os.path.join(folder, file), source) for file in files)


def installed(text, name, known):
    """The text of the document `name` without links that lead to none of `known`."""
    def link(match):
        target = match.group(2).split("#")[0]
        if "://" in target or not target:
            return match.group(0)
        path = os.path.normpath(os.path.join(os.path.dirname(name), target))
        return match.group(0) if path in known else match.group(1)
    return LINK.sub(link, text)


def main():
    source, into = sys.argv[1:]
    os.umask(0o022)
    names = sorted(files_of(source))
    known = set(names)
    for name in names:  # a link may lead to a folder of documents
        while os.path.dirname(name):
            name = os.path.dirname(name)
            known.add(name)
    for name in names:
        path = os.path.join(into, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not name.endswith(".md"):
            shutil.copyfile(os.path.join(source, name), path)
            continue
        with open(os.path.join(source, name), encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(installed(text, name, known))


if __name__ == "__main__":
    main()
