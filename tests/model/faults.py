#!/usr/bin/env python3
"""Puts known faults (tests/mutants) into the tree, one at a time, and says which the models notice.

    tests/model/faults.py --cluster             those below that are of a cluster
    tests/model/faults.py --seconds 60 x1 m21   these, on the engine's model, a minute each
    tests/model/faults.py --build build/torture x1

Each fault is written into the sources, `explore_cluster` or `walk` is built in the folder of --build
(build/dev), run, and the sources are as before. Ends with 1 where one was not noticed.
"""

import argparse
import glob
import importlib.machinery
import importlib.util
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Faults in functions that the models of the cluster call, and the scopes that might notice them.
CLUSTER = {
    "c01": ["moves"], "c02": ["moves"], "c03": ["moves"], "c04": ["moves"], "c07": ["lead"],
    "c08": ["cut-off"], "c09_silence_taken_for_none": ["empty", "past"],
    "c10_former_nodes_not_asked": ["empty"], "c10_leads_without_the_log": ["cut-off"],
    "c11_empty_in_a_cluster_with_a_past": ["past"],
}
# Scopes of the engine's model that a fault concerns; of others all.
ENGINE = {
    "x1": ["log"], "x6": ["replaced"], "m21": ["ring"], "s02": ["log"],
}


def mutants_tool():
    path = os.path.join(ROOT, "tools", "mutants")
    loader = importlib.machinery.SourceFileLoader("mutants", path)
    spec = importlib.util.spec_from_loader("mutants", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def run(command):
    done = subprocess.run(command, cwd=ROOT, text=True, errors="replace", check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def what_was_found(output):
    for line in output.splitlines():
        for word in ("VIOLATED", "THE ENGINE DIFFERS", "NOT EXECUTED"):
            if line.strip().startswith(word) or f": {word}" in line:
                return line.strip()
    return output.strip().splitlines()[-1] if output.strip() else "nothing was said"


def judge(mutant, build, program, arguments):
    """Whether it was noticed, and what was said."""
    contents = mutant.mutated()
    if isinstance(contents, str):
        return False, "does not apply: " + contents
    before = {}
    for path in contents:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            before[path] = file.read()
    try:
        for path, text in contents.items():
            write(os.path.join(ROOT, path), text)
        code, output = run(["cmake", "--build", build, "--target", program])
        if code != 0:
            errors = [line for line in output.splitlines() if "error:" in line]
            return False, "does not compile: " + "; ".join(errors[:2])
        code, output = run([os.path.join(build, "bin", program), *arguments])
        return code == 1, what_was_found(output) if code == 1 else ""
    finally:
        for path, text in before.items():
            write(os.path.join(ROOT, path), text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--build", default="build/dev")
    arguments = parser.parse_args()
    tool = mutants_tool()
    mutants = [tool.Mutant(path) for path in
               sorted(glob.glob(os.path.join(ROOT, "tests", "mutants", "*.patch")))]
    names = list(arguments.names) + (list(CLUSTER) if arguments.cluster else [])
    missed = 0
    for name in names:
        for mutant in mutants:
            if not (mutant.name == name or mutant.name.split("_")[0] == name):
                continue
            known = [scopes for key, scopes in CLUSTER.items() if mutant.name.startswith(key)]
            if known:
                program, given = "explore_cluster", known[0]
            else:
                scopes = ENGINE.get(mutant.name.split("_")[0], [])
                program, given = "walk", ["--seconds", str(arguments.seconds), *scopes]
            noticed, said = judge(mutant, arguments.build, program, given)
            missed += not noticed
            print(f"{mutant.name:40} {'noticed' if noticed else 'NOT NOTICED'}  {said}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
