#!/usr/bin/env python3
"""Counts the results in a JUnit file of ctest: names what failed or was skipped, then one line
"P passed, F failed, S skipped".

    tools/lint/summary.py FILE [AGAIN]   AGAIN: results of a second try of some that failed
    tools/lint/summary.py --again FILE   instead: the failed tests that may be tried once more, as a
                                         regular expression for ctest -R; nothing where one may not
"""

import os
import re
import sys
import xml.etree.ElementTree as ElementTree

# Scripts talk to processes with limits of time, which a machine that does other things may miss. A
# script that starts a broker, a store or a cluster gets a second try where it only waited too long
# (`eventually` of tests/support) or met incomplete answers (cluster_load.py); a wrong answer, or a lost
# play, gets none. Other scripts that kill processes prove the promises: whatever fails there has to be
# looked at.
MAY_BE_TRIED_AGAIN = re.compile(r"(api|http|lies|ops|server|tool)\.\w+\.py")
WITH_OTHERS = re.compile(r"(cluster|replica|router|((ingest|migration|transfer)(?!\.kill)))\.\w+\.py")
NOT_WRONG = ("AssertionError: still not so after ", "AssertionError: not answered in full: ")
NEVER = re.compile(r".*kill.*")
MOST_AGAIN = 3  # more at once have one cause
SHOWN_LINES = 15  # of what a failed test printed, its last


def last_line(case):
    """The last line a test printed that says something: why it was skipped."""
    output = (case.findtext("system-out") or "").strip().splitlines()
    telling = [line for line in output if line.strip() and not line.startswith("[")]
    return telling[-1].strip() if telling else ""


def print_end(case):
    """The last lines that a test printed: they are read where the whole output is cut."""
    for line in (case.findtext("system-out") or "").strip().splitlines()[-SHOWN_LINES:]:
        print("    " + line[:300])


def results(path):
    """{name: (result, test case)}"""
    def result(case):
        if case.get("status") == "run":
            return "passed"
        skipped = case.find("skipped") is not None or case.get("status") == "disabled"
        return "skipped" if skipped else "failed"
    cases = ElementTree.parse(path).getroot().iter("testcase")
    return {case.get("name"): (result(case), case) for case in cases}


def again(path):
    """The names of those to be tried once more, or nothing."""
    failed = {name: case for name, (result, case) in results(path).items() if result == "failed"}
    may = all(may_be_tried_again(name, case) for name, case in failed.items())
    return list(failed) if may and len(failed) <= MOST_AGAIN else []


def may_be_tried_again(name, case):
    if WITH_OTHERS.fullmatch(name):
        told = re.findall(r"^\w*Error: .*", case.findtext("system-out") or "", re.MULTILINE)
        return bool(told) and all(line.startswith(NOT_WRONG) for line in told)
    return bool(MAY_BE_TRIED_AGAIN.fullmatch(name) and not NEVER.fullmatch(name))


def main(args):
    if args[0] == "--again":
        names = again(args[1])
        print("^(%s)$" % "|".join(re.escape(name) for name in names) if names else "")
        return 0
    first = results(args[0])
    second = results(args[1]) if len(args) > 1 and os.path.exists(args[1]) else {}
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for name, (result, case) in first.items():
        if result == "failed" and name in second:
            result, case = second[name]
            print(f"SECOND TRY {name}: failed beside others, {result} alone")
        counts[result] += 1
        if result == "skipped":
            print(f"SKIPPED {name}: {last_line(case)}")
        elif result == "failed":
            print(f"FAILED {name}")
            print_end(case)
    print(", ".join(f"{number} {what}" for what, number in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
