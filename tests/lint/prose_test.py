#!/usr/bin/env python3
"""Sentences of comments that take a second reading become fewer: a ratchet.

    python3 -B tests/lint/prose_test.py --list NAME     the sentences of one habit, by file

A comment says who does what. One that begins with a clause in place of its subject ("What is known
of an item, and can't be read, is covered.") is understood at the second reading. LIMITS has how
many there are of each habit; whoever takes some out lowers the number.
"""

import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Habits of sentences, and the most sentences that may have each.
HABITS = {
    "relative": r"^(?:What|Who|Whom|Whose|Whoever|Whatever|Whichever|Where|Wherever|Of|As)\b(?!.*\?$)",
    "is none": r"\bis none\b",
    "of before": r"\bof before\b",
    "continues": r"^(?:Likewise\b|The same as\b|Both,)",
}
LIMITS = {"relative": 1090, "is none": 108, "of before": 40, "continues": 4}

# Parts of sentences that had to be read twice, and were replaced.
REPLACED = (
    "where a user's history can be trusted to be all that the filters",
    "what a collection has lost for good with a part of the log",
    "The latest time of a play that the filters may know of and history does not",
    "Plays and impressions of before were forgotten",
    "Not found is what nothing tells",
    "Whoever may have met a first play claims its key",
    "So many items that, at the ceiling, some of them push others out",
    "Such an answer may call a seen item unseen and never the reverse",
    "A function that ends the wait and hands something over",
    "What waited in the thread's lane has its turn",
    "At the door: until a request comes that watches nothing",
    "A running clock may be set ahead by so much",
    "it keeps nobody waiting who does not wait for one himself",
    "Of `making`, what is there is not older",
    "While others are being read, one that gives no answer takes little of their time",
    "it may be another store by the next time",
    "The object it came as; what is none",
    "Offsets that were never given to a record may be missing",
    "A load that lasts is taken for a burst at first",
    "Is it wrong, set it right",
    "the node's answer is no cluster's",
)


def blocks(text):
    """The comments of a C++ source, each as one line of text."""
    lines = []
    for line in text.split("\n"):
        alone = re.match(r"\s*//[/!]?<?\s?(.*)$", line)
        behind = None if alone else re.search(r"\s//[/!]?<?\s(.*)$", line)
        if alone:
            lines.append(alone.group(1).strip())
            continue
        if lines:
            yield " ".join(lines)
            lines = []
        if behind:
            yield behind.group(1).strip()
    if lines:
        yield " ".join(lines)


def sentences(text):
    for block in blocks(text):
        yield from re.split(r"(?<=[.:;!?])\s+(?=[A-Z])", block)


def sources(*patterns):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", *patterns],
                            capture_output=True, text=True, check=True).stdout.splitlines()
    for path in listed:
        if os.path.isfile(os.path.join(ROOT, path)):
            with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
                yield path, file.read()


def found(habit):
    pattern = re.compile(HABITS[habit])
    return [(path, sentence) for path, text in sources("*.h", "*.cc", "*.def")
            for sentence in sentences(text) if pattern.search(sentence)]


class ProseTest(unittest.TestCase):

    def test_a_habit_becomes_rarer(self):
        for habit, limit in LIMITS.items():
            with self.subTest(habit=habit):
                count = len(found(habit))
                self.assertLessEqual(count, limit,
                                     "more sentences than before; prose_test.py --list %r" % habit)
                if count < limit:
                    print("%s: %d are left; LIMITS may be lowered to that" % (habit, count))

    def test_a_replaced_sentence_does_not_come_back(self):
        for path, text in sources("*.h", "*.cc", "*.def", "*.md", "*.py"):
            if path.startswith("tests/lint/"):
                continue
            plain = re.sub(r"\s+", " ", re.sub(r"\n\s*(?://[/!]?<?|#)", " ", text))
            for sentence in REPLACED:
                self.assertFalse(sentence in plain, "%s says again: %s" % (path, sentence))

    def test_the_search_finds_what_it_is_for(self):
        text = "/// What is known. The reader\n/// waits; of before.\nint x;  // Of a page.\n// Where is it?\n"
        self.assertEqual(list(sentences(text)),
                         ["What is known.", "The reader waits; of before.", "Of a page.", "Where is it?"])
        pattern = re.compile(HABITS["relative"])
        self.assertEqual([s for s in sentences(text) if pattern.search(s)], ["What is known.", "Of a page."])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--list"]:
        for where, what in found(sys.argv[2]):
            print("%s: %s" % (where, what))
    else:
        unittest.main()
