"""Writes what the programs tell of themselves: man pages, by help2man from each --help, and the
completions of shells.

    manual.py FOLDER_OF_THE_PROGRAMS SHARE

SHARE is the folder "share" of an installation. There is a page of each program and of each command
of the tool. Without help2man there are no pages.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

COMMANDS = re.compile(r"^Subcommands:\n((?:  .*\n)+)", re.M)
COMMAND = re.compile(r"^  (\w[\w-]*)  ", re.M)


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def commands_of(program, words=()):
    """The program itself and its commands, each as the words behind its name."""
    yield words
    for block in COMMANDS.findall(run(program, *words, "--help")):
        for name in COMMAND.findall(block):
            yield from commands_of(program, (*words, name))


def write_page(program, words, into):
    text = run(program, *words, "--help")
    name = "-".join((os.path.basename(program), *words))
    what = re.split(r"[.:;]\s", text, maxsplit=1)[0]
    page = run("help2man", "--no-info", "--name", what, "--help-option", " ".join((*words, "--help")),
               os.path.join(".", os.path.basename(program)))  # its path goes through a shell
    # help2man takes the program's name for the page's.
    page = re.sub(r'^\.TH \S+', lambda _: ".TH " + name.upper(), page, count=1, flags=re.M)
    page = re.sub(r'(^\.SH NAME\n)\S+', lambda match: match.group(1) + name, page, count=1, flags=re.M)
    with open(os.path.join(into, name + ".1"), "w", encoding="utf-8") as file:
        file.write(page)


def write_completion(tool, shell, *path):
    os.makedirs(os.path.join(*path[:-1]), exist_ok=True)
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        file.write(run(tool, "completion", shell))


def main():
    programs, share = map(os.path.abspath, sys.argv[1:])
    os.umask(0o022)
    os.chdir(programs)
    tool = os.path.join(programs, "seendb")
    write_completion(tool, "bash", share, "bash-completion", "completions", "seendb")
    write_completion(tool, "zsh", share, "zsh", "site-functions", "_seendb")
    if not shutil.which("help2man"):
        print("no man pages: help2man is not there", file=sys.stderr)
        return
    pages = os.path.join(share, "man", "man1")
    os.makedirs(pages, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        written = [pool.submit(write_page, program, words, pages)
                   for program in (os.path.join(programs, "seendb-server"), tool)
                   for words in commands_of(program)]
        for page in written:
            page.result()


if __name__ == "__main__":
    main()
