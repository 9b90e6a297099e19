#!/usr/bin/env python3
"""Counts the results in JUnit files of ctest: names what failed or was skipped, then one line
"P passed, F failed, S skipped".

    tools/lint/summary.py FILE...
"""

import sys
import xml.etree.ElementTree as ElementTree


def last_line(case):
    """The last line a test printed that says something: why it was skipped."""
    output = (case.findtext("system-out") or "").strip().splitlines()
    telling = [line for line in output if line.strip() and not line.startswith("[")]
    return telling[-1].strip() if telling else ""


def main(paths):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for path in paths:
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            if case.get("status") == "run":
                counts["passed"] += 1
            elif case.find("skipped") is not None or case.get("status") == "disabled":
                counts["skipped"] += 1
                print(f"SKIPPED {case.get('name')}: {last_line(case)}")
            else:
                counts["failed"] += 1
                print(f"FAILED {case.get('name')}")
    print(", ".join(f"{number} {what}" for what, number in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
