"""Looks through a play log: its newest time, and a user to ask about. Standard library only."""

import collections
import csv
import datetime
import gzip
import itertools
import json
import subprocess
import time

# Column names tried where none is given; the tool's own guesses (`seendb load --help`).
USER_NAMES = ("user", "user_id", "userid", "uid", "customer_id", "customer")
ITEM_NAMES = ("item", "item_id", "itemid", "video_id", "stock_code", "article_id", "comic_id",
              "product_id", "sku")
TIME_NAMES = ("at", "time_ms", "at_ms", "timestamp_ms", "ts", "timestamp", "time", "event_time",
              "date")

ASKED_PLAYS = range(8, 4000)  # plays of a user worth asking about


def to_ms(text):
    """A time as milliseconds: a number of seconds, ms or us since 1970, or ISO 8601 (UTC)."""
    try:
        number = float(text)
    except ValueError:
        moment = datetime.datetime.fromisoformat(str(text).replace("Z", "+00:00"))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=datetime.timezone.utc)
        return int(moment.timestamp() * 1000)
    if number >= 1e14:
        return int(number / 1000)
    return int(number if number >= 1e11 else number * 1000)


def lines_of(path):
    """The log's lines, decompressed."""
    if path.endswith(".gz"):
        with gzip.open(path, "rt", encoding="utf-8", errors="replace", newline="") as file:
            yield from file
        return
    if not path.endswith(".zst"):
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            yield from file
        return
    with subprocess.Popen(["zstd", "-dcq", path], stdout=subprocess.PIPE, encoding="utf-8",
                          errors="replace") as process:
        yield from process.stdout


def pick(names, given, usual):
    """The key of a column: the given name, or the first usual one that is there."""
    folded = {name.strip(" ").lower().replace(" ", "_").replace("-", "_"): name for name in names}
    if given:
        folded = {name.strip(" "): name for name in names}
    for name in [given] if given else usual:
        if name in names or name.strip(" ") in folded:
            return name if name in names else folded[name.strip(" ")]
    raise SystemExit(f"quickstart: no column {given or ' / '.join(usual)} among {', '.join(names)}")


def objects_of(lines):
    """The JSON objects among the lines; the loader counts and shows the others."""
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def rows_of(path, columns):
    """(user, item, ms) of each row that is a play. `columns`: names given for user, item, time."""
    bare = path[:-4] if path.endswith(".zst") else path.removesuffix(".gz")
    lines = lines_of(path)
    if bare.endswith((".csv", ".tsv")):
        records = csv.DictReader(lines, delimiter="\t" if bare.endswith(".tsv") else ",")
        names = records.fieldnames or []
    else:
        records = objects_of(lines)
        first = next(records, None)
        if first is None:
            raise SystemExit(f"quickstart: no JSON objects in {path}")
        names = list(first)
        records = itertools.chain([first], records)
    user, item, at = (pick(names, given, usual) for given, usual in
                        zip(columns, (USER_NAMES, ITEM_NAMES, TIME_NAMES)))
    for record in records:
        try:
            yield str(record[user]), str(record[item]), to_ms(record[at])
        except (KeyError, ValueError, TypeError):
            continue  # the loader counts and shows bad rows


class Log:
    """What a demonstration needs to know of a log."""

    def __init__(self, path, columns=("", "", "")):
        self.rows = 0
        self.newest_ms = 0
        self.in_month = collections.defaultdict(set)  # label -> distinct (user, item)
        items_of = collections.defaultdict(dict)
        popularity = collections.Counter()
        for user, item, at_ms in rows_of(path, columns):
            self.rows += 1
            self.newest_ms = max(self.newest_ms, at_ms)
            month = "%04d-%02d" % time.gmtime(at_ms / 1000)[:2]
            self.in_month[month].add(hash((user, item)))
            items_of[user][item] = at_ms
            popularity[item] += 1
        if not self.rows:
            raise SystemExit(f"quickstart: no plays in {path}")
        self.users = list(items_of)
        self.popular = [item for item, _ in popularity.most_common(2000)]
        self.user = next((user for user in reversed(self.users)
                          if len(items_of[user]) in ASKED_PLAYS), self.users[-1])
        newest_first = sorted(items_of[self.user].items(), key=lambda pair: -pair[1])
        self.played = [item for item, _ in newest_first]
        self.unplayed = [item for item in self.popular if item not in items_of[self.user]]
        if not self.unplayed:  # a small log: the user has played all there is
            self.unplayed = ["not-played"]
