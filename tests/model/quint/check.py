#!/usr/bin/env python3
"""Holds random traces of ring.qnt against the model in C++, action by action.

    check.py --follow build/dev/bin/follow [--quint PROGRAM] [--traces 100] [--steps 60] [--seed N]
    check.py --follow build/dev/bin/follow TRACE.itf.json ...

Quint makes the traces (without --quint: the one that `fetch` installed), and looks at the invariants
of the text meanwhile. `follow` does the same actions in the model. After each both must say the same:
the answer, the world, and which actions are possible.
"""

import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SPECIFICATION = os.path.join(HERE, "ring.qnt")
INSTALLED = os.path.join(HERE, "..", "..", "..", "build", "quint", "node_modules", ".bin", "quint")
SCOPE = "ring"
INVARIANTS = ("promised", "durable", "oneCurrent", "drainedLast")


def plain(value):
    """A value of ITF as JSON has it: sets in order, a map from 0 on as a list."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "#bigint" in value:
        return int(value["#bigint"])
    if "#set" in value:
        return sorted((plain(one) for one in value["#set"]), key=str)
    if "#map" in value:
        entries = sorted((plain(key), plain(one)) for key, one in value["#map"])
        if [key for key, _ in entries] != list(range(len(entries))):
            raise ValueError("a map whose keys are not 0, 1, ...: %r" % entries)
        return [one for _, one in entries]
    return {name: plain(one) for name, one in value.items()}


def text_of(action):
    """The action as scripts of `walk` have it."""
    name, user = action["name"], action["user"]
    if name == "play":
        return "play c0 u%d i0" % user
    if name in ("erase", "newcomer"):
        return "%s u%d" % (name, user)
    return name + " s0" if name in ("rotate", "begin-drain", "end-drain") else name


def said_by_quint(state):
    state = plain({name: value for name, value in state.items() if name != "#meta"})
    return {**state["world"], "answer": state["answer"],
            "possible": sorted(text_of(one) for one in state["possible"])}


def said_by_model(line):
    said = json.loads(line)
    said["possible"].sort()
    return said


def compare(trace, follow):
    """The actions of a trace of ITF, and the first difference; nothing: there is none."""
    with open(trace, encoding="utf-8") as file:
        states = json.load(file)["states"]
    script = [text_of(plain(state["taken"])) for state in states[1:]]
    done = subprocess.run([follow, SCOPE], input="".join(line + "\n" for line in script), capture_output=True,
                          text=True, check=False)
    lines = done.stdout.splitlines()
    for at, state in enumerate(states):
        way = "; ".join(script[:at])
        if at == len(lines):
            return script, "%s: %s" % (way, done.stderr.strip())
        quint, model = said_by_quint(state), said_by_model(lines[at])
        for name in sorted(quint.keys() | model.keys()):
            if quint.get(name) != model.get(name):
                return script, "%s: %s is %s in ring.qnt, %s in the model" % (
                    way or "at the beginning", name, quint.get(name), model.get(name))
    return script, None


def make(quint, traces, steps, seed, into):
    made = subprocess.run(
        [quint, "run", SPECIFICATION, "--backend", "typescript", "--max-samples", str(traces),
         "--n-traces", str(traces), "--max-steps", str(steps), "--seed", str(seed), "--verbosity", "1",
         "--out-itf", os.path.join(into, "trace_{seq}.itf.json"), "--invariants", *INVARIANTS],
        check=False, stdout=sys.stderr)
    if made.returncode:
        sys.exit("check.py: Quint failed, or an invariant of the text does not hold")
    return sorted(glob.glob(os.path.join(into, "*.itf.json")))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--follow", required=True)
    parser.add_argument("--quint", default=INSTALLED)
    parser.add_argument("--traces", type=int, default=100)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEENDB_SEED", "1")))
    parser.add_argument("given", nargs="*", metavar="TRACE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        traces = options.given or make(options.quint, options.traces, options.steps, options.seed, folder)
        steps, names = 0, set()
        for trace in traces:
            script, difference = compare(trace, options.follow)
            if difference:
                print("THEY DIFFER: " + difference)
                return 1
            steps += len(script)
            names.update(script)
    if not steps:
        print("no traces")
        return 1
    print("%d traces, %d steps, %d actions: they agree" % (len(traces), steps, len(names)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
