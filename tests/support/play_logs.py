"""The real play logs, and what a replay of one does again and again: post plays, prove that what
was played is filtered, measure how much else is. Python 3 standard library and `zstd` only.

The logs lie in ../shared/data beside the project, or where SEENDB_DATA says; a test that needs
them calls `require_logs` first and is skipped loudly where they are absent.

A play is a tuple (at_ms, user, item) of texts and an integer. A collection's facts are a
dictionary user -> {item: newest at_ms}.
"""

import collections
import datetime
import json
import os
import random
import shutil
import subprocess
import sys
import time

from seendb_client import ROOT, server_binary

DAY_MS = 86_400_000
SKIPPED = 77
# A body stays below what the sockets hold: a streamed answer comes while the request still goes.
FILTER_BODY_BYTES = 64 << 10
PLAYS_PER_BODY = 50_000


def tool_binary():
    """The admin tool under test: SEENDB_TOOL, or the one beside the server."""
    return (os.environ.get("SEENDB_TOOL") or
            os.path.join(os.path.dirname(server_binary()), "seendb"))


def data_folder():
    return os.environ.get("SEENDB_DATA") or os.path.join(os.path.dirname(ROOT), "shared", "data")


def require_logs(*names):
    """Ends the test as skipped unless the logs and `zstd` are there."""
    missing = [name for name in names if not os.path.exists(os.path.join(data_folder(), name))]
    if missing:
        print("SKIPPED: %s absent from %s (../shared/data beside the project, or SEENDB_DATA)" %
              (", ".join(missing), data_folder()))
        sys.exit(SKIPPED)
    if not shutil.which("zstd"):
        print("SKIPPED: zstd is not installed, so %s can't be read" % ", ".join(names))
        sys.exit(SKIPPED)


def lines_of(name):
    """The lines of a compressed log without its heading, as texts."""
    path = os.path.join(data_folder(), name)
    text = subprocess.run(["zstd", "-dc", path], stdout=subprocess.PIPE, check=True).stdout
    return text.decode().splitlines()[1:]


def utc_ms(year, month, day=1, hour=0):
    moment = datetime.datetime(year, month, day, hour, tzinfo=datetime.timezone.utc)
    return int(moment.timestamp()) * 1000


KUAIRAND_BEGIN_MS = utc_ms(2022, 4, 24, 16)  # 25 April 2022 in China


def kuairand_plays(history_days=17):
    """History, spread evenly over the days before the events, and the events; by time."""
    plays = []
    for line in lines_of("kuairand_history.tsv.zst"):
        fields = line.split("\t")
        items = fields[3].split()
        for i, item in enumerate(items):
            before = (len(items) - i) * history_days * DAY_MS // (len(items) + 1)
            plays.append((KUAIRAND_BEGIN_MS - before, fields[0], item))
    for line in lines_of("kuairand_events.csv.zst"):
        fields = line.split(",", 3)
        plays.append((int(fields[0]), fields[1], fields[2]))
    plays.sort()
    return plays


def retail_plays():
    """A year of purchases, by time."""
    plays = []
    for line in lines_of("online_retail.csv.zst"):
        at_s, user, item = line.split(",", 2)
        plays.append((int(at_s) * 1000, user, item.strip().strip('"')))
    plays.sort()
    return plays


def month_index(at_ms):
    moment = datetime.datetime.fromtimestamp(at_ms / 1000, datetime.timezone.utc)
    return moment.year * 12 + moment.month - 1


def month_begin_ms(index):
    return utc_ms(index // 12, index % 12 + 1)


def month_label(index):
    return "%04d-%02d" % (index // 12, index % 12 + 1)


def days_label(index, days):
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=index * days)).isoformat()


class Facts:
    """What a log says up to now: per user and item the newest time."""

    def __init__(self):
        self.users = collections.defaultdict(dict)

    def add(self, plays):
        for at_ms, user, item in plays:
            self.users[user][item] = at_ms  # plays come by time

    def since(self, begin_ms):
        """user -> items whose newest play is at `begin_ms` or later."""
        return {user: [item for item, at_ms in items.items() if at_ms >= begin_ms]
                for user, items in self.users.items()}

    def only_before(self, begin_ms):
        """user -> items never played from `begin_ms` on."""
        return {user: [item for item, at_ms in items.items() if at_ms < begin_ms]
                for user, items in self.users.items()}


def quote(text):
    return json.dumps(text)


def plays_bodies(plays):
    """The plays as NDJSON bodies, each with its number of plays."""
    for begin in range(0, len(plays), PLAYS_PER_BODY):
        part = plays[begin:begin + PLAYS_PER_BODY]
        body = "".join(['{"user":%s,"item":%s,"at":%d}\n' % (quote(user), quote(item), at_ms)
                        for at_ms, user, item in part])
        yield len(part), body.encode()


NDJSON = {"Content-Type": "application/x-ndjson"}


class Replay:
    """Feeds a server and keeps the totals."""

    def __init__(self, server, names):
        self.server = server
        self.names = names
        self.plays = 0  # posted, all collections together
        self.posting_s = 0.0
        self.moving_s = 0.0
        self.moves = 0

    def post(self, plays):
        """Posts plays to every collection; all must be accepted."""
        for count, body in plays_bodies(plays):
            for name in self.names:
                begin = time.monotonic()
                answer = self.server.post("/plays?collection=" + name, body, NDJSON)
                self.posting_s += time.monotonic() - begin
                assert answer.status == 200, answer
                said = answer.json
                assert (said["accepted"], said["refused"]) == (count, 0), (name, count, said)
                self.plays += count

    def move_clock(self, now_ms):
        begin = time.monotonic()
        self.server.move_clock(now_ms)
        self.moving_s += time.monotonic() - begin
        self.moves += 1

    def restart(self, how):
        """By "SIGTERM" or "kill -9"; says how long it took."""
        self.server.local.client.close()
        begin = time.monotonic()
        if how == "SIGTERM":
            code = self.server.terminate()
            assert code == 0, code
        else:
            self.server.kill()
        gone = time.monotonic()
        self.server.start()
        return "%s: gone in %.2f s, ready again in %.2f s" % (how, gone - begin,
                                                              time.monotonic() - gone)

    def admin(self, path, body=None):
        answer = self.server.post("/admin/" + path, body)
        assert answer.status == 200, (path, answer)
        return answer.json


def ask(server, collection, candidates, options=""):
    """Filters many users' candidates; yields (user, items, answer). `options`: further fields."""
    def flush():
        answer = server.post("/filter", "".join(lines), NDJSON)
        assert answer.status == 200, answer
        answers = answer.lines
        assert len(answers) == len(asked), (len(answers), len(asked))
        return zip(asked, answers)

    lines, asked, size = [], [], 0
    for user, items in candidates:
        if not items:
            continue
        line = '{"collection":"%s","user":%s,"items":[%s]%s}\n' % (
            collection, quote(user), ",".join(map(quote, items)), options)
        lines.append(line)
        asked.append((user, items))
        size += len(line)
        if size >= FILTER_BODY_BYTES:
            for (one, its), answer in flush():
                yield one, its, answer
            lines, asked, size = [], [], 0
    if lines:
        for (one, its), answer in flush():
            yield one, its, answer


def check_answer(user, items, answer):
    """What holds for every answer of a healthy server."""
    assert "error" not in answer, (user, answer)
    assert not answer["degraded"], (user, answer)
    assert answer["examined"] == len(items), (user, answer)
    assert answer["seen"] + len(answer["unseen"]) == len(items), (user, answer)


def count_misses(server, collection, candidates, options=""):
    """(candidates asked, [(user, item) not filtered though they must be])."""
    asked, missed = 0, []
    for user, items, answer in ask(server, collection, candidates, options):
        check_answer(user, items, answer)
        asked += len(items)
        missed += [(user, item) for item in answer["unseen"]]
    return asked, missed


def count_seen(server, collection, candidates, options=""):
    """(candidates asked, those answered seen)."""
    asked = seen = 0
    for user, items, answer in ask(server, collection, candidates, options):
        check_answer(user, items, answer)
        asked += len(items)
        seen += answer["seen"]
    return asked, seen


def never_played(facts, seed, from_catalogue=40, synthetic=20):
    """(user, items the user never played): of the catalogue, and ids nobody ever played."""
    chance = random.Random(seed)
    catalogue = sorted({item for items in facts.users.values() for item in items})
    chance.shuffle(catalogue)
    catalogue += catalogue
    invented = ["never-%x" % chance.getrandbits(60) for _ in range(20_000)]
    half = len(catalogue) // 2
    for user, played in facts.users.items():
        at = chance.randrange(half)
        items = [item for item in catalogue[at:at + min(from_catalogue, half)]
                 if item not in played]
        at = chance.randrange(len(invented) - synthetic)
        yield user, items + invented[at:at + synthetic]


def bucket_labels(server, collection):
    """label -> the bucket's row of GET /admin/buckets."""
    rows = server.get("/admin/buckets").json["buckets"]
    return {row["bucket"]: row for row in rows if row["collection"] == collection}


def form_of(value):
    """What a line of `seendb scan` says a seen filter is: list, layers, sealed list, ..."""
    form = value.split(" ", 1)[0]
    if form != "sealed":
        return form
    has_bloom = "layer(blocks=" in value and "layer(blocks=0" not in value
    return "sealed Bloom" if has_bloom else "sealed list"


def representations(db, collection):
    """form -> [users, bytes of values] over a collection's seen filters, by `seendb scan`."""
    command = [tool_binary(), "scan", "--db", db, "--prefix", "seen/%s/" % collection, "--json"]
    forms = collections.defaultdict(lambda: [0, 0])
    with subprocess.Popen(command, stdout=subprocess.PIPE) as scan:
        for line in scan.stdout:
            row = json.loads(line)
            form = forms[form_of(row["value"])]
            form[0] += 1
            form[1] += row["bytes"]
    assert scan.returncode == 0, (command, scan.returncode)
    return dict(forms)


def forms_text(forms):
    users = sum(count for count, _ in forms.values()) or 1
    return ", ".join("%s %d (%.1f%%, %.0f bytes each)" %
                     (form, count, 100.0 * count / users, size / count)
                     for form, (count, size) in sorted(forms.items()))
