"""The scenarios of clients/conformance: those of a server against the one that SEENDB_URL names, the others against
liar.py."""

import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request
import uuid

from support import Blocking, seendb

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.environ.get("SEENDB_CONFORMANCE", os.path.join(HERE, "..", "..", "conformance"))


DOUBLED = ("facts.json", "ids.json", "items.json", "pages.json", "sets.json")  # what the double plays, too


def scenarios(lying, files=None):
    for name in sorted(files or os.listdir(FOLDER)):
        if name.endswith(".json") and name != "answers.json":
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                yield from (row for row in json.load(file) if ("servers" in row) == lying)


def given(value):
    """An argument, or a part of one."""
    if isinstance(value, list):
        return [given(one) for one in value]
    if isinstance(value, dict) and "id" in value:
        return seendb.Candidate(**{name: given(one) for name, one in value.items()})
    return int(value["u64"]) if isinstance(value, dict) and "u64" in value else value


def exact(value):
    """A value of an item."""
    if isinstance(value, dict):
        return int(value["i64"]) if "i64" in value else {name: exact(one) for name, one in value.items()}
    return [exact(one) for one in value] if isinstance(value, list) else value


def spelled(value):
    """The reverse."""
    if isinstance(value, (dict, list)):
        return [spelled(one) for one in value] if isinstance(value, list) else {name: spelled(one) for name, one in value.items()}
    return {"i64": str(value)} if isinstance(value, int) and abs(value) >= 2**53 else value


def told(ids):
    return [{"u64": str(one)} if isinstance(one, int) else one for one in ids]


class Playing:
    """A scenario with a client."""

    def __init__(self, client, token_file=None):
        self.c, self.token_file = client, token_file
        self.run, self.now = uuid.uuid4().hex[:12], int(time.time() * 1000)

    def play(self, row):
        """What differs; None: nothing."""
        for step in json.loads(json.dumps(row["steps"]).replace("$run", self.run)):
            if "sleep_ms" in step:
                time.sleep(step["sleep_ms"] / 1000)
            elif "write_token" in step:
                with open(self.token_file, "w", encoding="ascii") as file:
                    file.write(step["write_token"] + "\n")
                os.utime(self.token_file, (1, 1))
            else:
                try:
                    args = {"not_" if name == "not" else name: exact(value) if name == "where" else value if name == "updates" else given(value)
                            for name, value in step["args"].items()}
                    outcome = {"answer": getattr(self, step["call"])(**args)}
                except seendb.Error as error:
                    outcome = {"error": {"code": error.code, "field": error.field}}
                    if "status" in step.get("error", {}):
                        outcome["error"]["status"] = error.status
                except Exception as error:  # a client raises nothing else
                    outcome = repr(error)
                expected = {name: step[name] for name in ("answer", "error") if name in step}
                if expected and outcome != expected:
                    return "%s: %s: %s, not %s" % (row["name"], json.dumps(step)[:500], outcome, expected)
        return None

    def events(self, told):
        events = [{name: given(value) for name, value in one.items() if name != "ago_ms"} for one in told]
        for event, one in zip(events, told):
            if "ago_ms" in one:
                event["at"] = self.now - one["ago_ms"]
        return events

    def record_plays(self, plays, **more):
        return self.recorded(self.c.record_plays(self.events(plays), **more))

    def record_exposures(self, exposures, **more):
        return self.recorded(self.c.record_exposures(self.events(exposures), **more))

    def put_items(self, updates):
        recorded = self.c.put_items([dict(exact(one), id=given(one["id"])) for one in updates])
        return dict(self.recorded(recorded), stale=recorded.stale)

    def get_items(self, **args):
        return {"items": [{"id": told([one.id])[0], "version": one.version, "fields": spelled(one.fields)}
                          for one in self.c.get_items(args.pop("ids"), **args)]}

    def marks(self, **args):
        page = self.c.marks(**args)
        pairs = lambda marks: [[one.group, one.until] for one in marks]
        following = {"next": pairs(self.c.marks(cursor=page.cursor, **args).marks)} if page.cursor else {}
        return dict(following, marks=pairs(page.marks), more=bool(page.cursor), degraded=page.degraded)

    def unmark(self, **args):
        return {"deleted": self.c.unmark(**args)}

    def put_set(self, **args):
        made = self.c.put_set(**args)
        return {"name": made.name, "count": made.count}

    def get_set(self, **args):
        page = self.c.get_set(**args)
        following = {"next": self.c.get_set(cursor=page.cursor, **args).items} if page.cursor else {}
        return dict(following, name=page.name, count=page.count, items=page.items, more=bool(page.cursor))

    def sets(self, prefix):
        return {"sets": [[one.name, one.count] for one in self.c.sets() if one.name.startswith(prefix)]}

    def counts(self, **args):
        page = self.c.counts(**args)
        return {"counts": [[one.key, one.served, one.exposed, one.played, one.at_least] for one in page.counts], "more": page.more, "degraded": page.degraded}

    def reserve(self, **args):
        made = self.c.reserve(**args)
        return {"reserved": told(made.reserved), "refused": told(made.refused)}

    def record_impressions(self, **args):
        return self.recorded(self.c.record_impressions(**args))

    @staticmethod
    def recorded(one):
        return {"accepted": one.accepted, "refused": one.refused, "pending": one.pending,
                "refusals": [[part.index, part.code, part.field] for part in one.refusals]}

    def bulk(self, plays, collection=None, **more):
        bulk = self.c.bulk(collection=collection, **more)
        for event in self.events(plays):
            self.waited(bulk.add(event))
        self.waited(bulk.flush())
        return {"accepted": bulk.accepted, "refused": bulk.refused,
                "refusals": [[one.index, one.code, one.field] for one in bulk.refusals]}

    def waited(self, done):
        """What waits of an AsyncClient's bulk."""
        return self.c.run(done) if inspect.iscoroutine(done) else done

    def filter(self, **args):
        found = self.c.filter(**args)
        answer = {name: getattr(found, name) for name in ("seen", "examined", "degraded", "missing", "excluded", "duplicates")}
        for name, asked in (("recorded", "record"), ("reasons", "explain"), ("coarse", "not_"), ("beyond", "not_")):
            if args.get(asked):
                answer[name] = getattr(found, name)
        if args.get("when_short"):
            answer.update(unseen_share=found.unseen_share, repeats=told(found.repeats))
        if args.get("fields"):
            answer["fields"] = spelled(found.fields)
        if any(isinstance(one, seendb.Candidate) for one in args["items"]):
            answer["undated"] = found.undated
        return dict(answer, unseen=told(found.unseen))

    def fill_page(self, **args):
        return {"ids": told(self.c.fill_page(**args))}

    def search_unseen(self, best, **args):
        return {"ids": told(self.c.search_unseen(lambda count: best[:count], **args))}

    def entries(self, listed):
        return [{"collection": one.collection, "item": str(one.item), "ago_ms": self.now - one.at, "progress_s": one.progress_s,
                 "duration_s": one.duration_s, "device": one.device, "fields": one.fields} for one in listed]

    def history_page(self, **args):
        page = self.c.history_page(**args)
        return {"entries": self.entries(page.entries), "more": bool(page.cursor), "kept": page.kept, "degraded": page.degraded}

    def history(self, **args):
        return {"entries": self.entries(self.c.history(**args))}

    def look_up_history(self, **args):
        return {"entries": self.entries(self.c.look_up_history(**args).values())}

    def clear_history(self, collection=None, **args):
        self.c.clear_history(collections=collection and [collection], **args)
        return {"done": True}

    def inspect(self, **args):
        return {"user": str(self.c.inspect(**args)["user"])}

    def export(self, **args):
        return {"types": list(dict.fromkeys(one["type"] for one in self.c.export(**args)))}

    def erase(self, **args):
        return {"known": self.c.erase(**args)["known"]}

    def collections(self):
        return {"names": [one["name"] for one in self.c.collections() if one["name"].startswith("conf-x")]}

    def call(self, only, **args):
        answer = self.c.call(**args)
        return {name: answer[name] for name in only}

    def __getattr__(self, name):
        return lambda **args: (getattr(self.c, name)(**args), {"done": True})[1]


class ConformanceTest(unittest.TestCase):
    make = seendb.Client

    @unittest.skipUnless("SEENDB_URL" in os.environ, "SEENDB_URL names no server")
    def test_scenarios_on_a_server(self):
        c = self.make(os.environ["SEENDB_URL"], timeout=30)
        self.addCleanup(c.close)
        self.played([Playing(c).play(row) for row in scenarios(False)], 180)

    def test_scenarios_on_a_double(self):
        self.played([Playing(self.double()).play(row) for row in scenarios(False, DOUBLED)], 80)

    def double(self):
        return seendb.Double()

    def test_scenarios_on_a_liar(self):
        liar = subprocess.Popen([sys.executable, os.path.join(FOLDER, "liar.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(liar.communicate)
        control = liar.stdout.readline().strip()
        self.played([self.lied_to(control, row) for row in scenarios(True)], 120)

    def lied_to(self, control, row):
        def ask(path, data=None):
            with urllib.request.urlopen(control + path, data) as answer:
                return json.load(answer)
        begun, options = ask("/" + urllib.parse.quote(row["name"]), b""), dict(row["client"])
        for name in {"timeout_ms", "hedge_ms"} & set(options):
            options[name[:-3]] = options.pop(name) / 1000
        if options.pop("ca", False):
            options["ca"] = begun["ca"]
        if "dns" in begun:
            options["dns"] = begun["dns"]
        with tempfile.TemporaryDirectory() as folder:
            if "token_file" in options:
                path, text = os.path.join(folder, "token"), options["token_file"]
                with open(path, "w", encoding="ascii") as file:
                    file.write(text + "\n")
                options["token_file"] = path
            c = self.make(begun["urls"][:row.get("only")], **options)
            try:
                wrong = Playing(c, options.get("token_file")).play(row)
            finally:
                c.close()
        return wrong or "; ".join("%s: %s" % (row["name"], one) for one in ask("/differences")) or None

    def played(self, outcomes, least):
        self.assertGreater(len(outcomes), least)
        wrong = [one for one in outcomes if one]
        self.assertEqual(len(wrong), 0, "\n".join(wrong))


class AsyncConformanceTest(ConformanceTest):
    make = Blocking

    def double(self):
        c = Blocking(made=seendb.AsyncDouble)
        self.addCleanup(c.close)
        return c


if __name__ == "__main__":
    unittest.main()
