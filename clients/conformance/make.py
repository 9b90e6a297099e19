"""Makes the scenarios of this folder: plays what scenarios.py lists against a real server, by plain HTTP and
without any client, and writes down what it answered.

    SEENDB_SERVER=build/dev/bin/seendb-server make.py [--check]

--check   writes nothing; exit code 1 where a file is not what would be written
"""

import hashlib
import json
import os
import re
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

import scenarios

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "support"))
import seendb_client  # noqa: E402

# Headers of an answer that are kept: the others differ from one answer to the next.
HEADERS = ("content-type", "retry-after", "seendb-retry-after-ms", "seendb-seen", "seendb-examined",
           "seendb-degraded", "seendb-missing", "seendb-excluded", "seendb-duplicates", "seendb-recorded")


def text_of(one):
    """The text of an id as scenarios write it, which names the same; a candidate with groups, with the text of its id."""
    if isinstance(one, dict) and "id" in one:
        return dict(one, id=text_of(one["id"]))
    return one["u64"] if isinstance(one, dict) else one


def id_of(one):
    """The id of a candidate, as it was given."""
    return one["id"] if isinstance(one, dict) and "id" in one else one


def exact(value):
    """Turns a value of an item from the way scenarios write it into the one of JSON."""
    if isinstance(value, dict):
        return int(value["i64"]) if set(value) == {"i64"} else {name: exact(one) for name, one in value.items()}
    return [exact(one) for one in value] if isinstance(value, list) else value


def spelled(value):
    """Does the reverse: whole numbers that some languages round become {"i64": text}."""
    if isinstance(value, dict):
        return {name: spelled(one) for name, one in value.items()}
    if isinstance(value, list):
        return [spelled(one) for one in value]
    return {"i64": str(value)} if isinstance(value, int) and abs(value) >= 2**53 else value


class Server:
    """One that is asked without a client."""

    def __init__(self, url):
        self.url = url
        self.begin()

    def begin(self):
        """A scenario: its users are its own."""
        self.run, self.now = uuid.uuid4().hex[:12], int(time.time() * 1000)

    def ask(self, method, path, body=None, headers=None, content_type="application/json"):
        """Status, headers and body."""
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, dict(headers or {}), method=method)
        if data is not None:
            request.add_header("Content-Type", content_type)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, dict(answer.headers.items()), answer.read()
        except urllib.error.HTTPError as answer:
            return answer.code, dict(answer.headers.items()), answer.read()

    # ---- A step of a scenario ----

    def play(self, step):
        """Puts the step's outcome into it."""
        if "sleep_ms" in step:
            time.sleep(step["sleep_ms"] / 1000)
            return
        call, args = step["call"], json.loads(json.dumps(step.get("args", {})).replace("$run", self.run))
        method, path, body = self.request_of(call, args)
        status, _, answer = self.ask(method, path, body)
        if step.get("any_outcome"):
            return
        lines = [json.loads(line) for line in answer.splitlines() if line.strip()] if call == "export" else None
        told = lines if lines is not None else json.loads(answer)
        if status == 422 and call != "bulk":
            first = told["refusals"][0]
            where = "" if call in ("mark", "put_items") else "/events/%d" % first["index"]
            step["error"] = {"code": first["error"]["code"], "field": where + first["error"].get("field", "")}
        elif status >= 300 and status != 422:
            step["error"] = {"code": told["error"]["code"], "field": told["error"].get("field", "")}
        else:
            step["answer"] = getattr(self, "told_" + call, self.done)(told, args)
        if self.run in json.dumps(step):
            step.update(json.loads(json.dumps(step).replace(self.run, "$run")))

    @staticmethod
    def done(_told, _args):
        return {"done": True}

    def request_of(self, call, args):
        """Of a call the request that says the same: ids as text, all in JSON."""
        body = {name: exact(args[name]) for name in (
            "collection", "limit", "record", "verify", "explain", "facts", "not", "deadline_ms", "on_error", "caps", "exclude_sets",
            "when_short", "where", "at_most", "unknown", "fields", "expires_ms", "collections", "same_as") if name in args}
        for name in ("items", "exclude"):
            if name in args:
                body[name] = [text_of(one) for one in args[name]]
        if call == "call":
            return args["method"], args["path"], args.get("body")
        if call in ("put_collection", "delete_collection"):
            path = "/collections/" + urllib.parse.quote(args["name"], safe="")
            if call == "put_collection":
                return "PUT", path, args["policy"]
            return "DELETE", path + "?confirm=" + urllib.parse.quote(args["name"], safe=""), None
        if call == "collections":
            return "GET", "/collections", None
        if call in ("record_plays", "record_exposures", "bulk"):
            kind = args.get("kind", "exposures" if call == "record_exposures" else "plays")
            body["events"] = [self.event_of(one) for one in args["plays" if call == "bulk" else kind]]
            return "POST", "/" + kind, body
        if call == "put_item_schema":
            return "PUT", "/items/schema", {"fields": args["fields"]}
        if call == "put_items":
            return "POST", "/items", {"items": [dict(exact(one), id=text_of(one["id"])) for one in args["updates"]]}
        if call == "get_items":
            fields = {"fields": args["fields"]} if "fields" in args else {}
            return "POST", "/items/get", dict(fields, ids=[text_of(one) for one in args["ids"]])
        if call == "sets":
            return "GET", "/sets", None
        if call in ("put_set", "get_set", "delete_set"):
            path = "/sets/" + urllib.parse.quote(args["name"], safe="")
            if call == "get_set":
                return "GET", path + "?limit=%d" % args.get("limit", 1_000), None
            return call[:-4].upper(), path, body if call == "put_set" else None
        user = text_of(args["user"])
        if call in ("filter", "record_impressions", "reserve"):
            return "POST", {"record_impressions": "/impressions"}.get(call, "/" + call), dict(body, user=user)
        if call == "fill_page":  # one filter decides what clients decide in pieces
            listed = [text_of(one) for one in args["candidates"]]
            return "POST", "/filter", dict(body, user=user, items=listed, limit=args["need"], record=True)
        if call == "search_unseen":
            return "POST", "/filter", dict(body, user=user, items=[text_of(one) for one in args["best"]])
        of_user = "/users/" + urllib.parse.quote(user, safe="")
        if call == "mark":
            return "POST", of_user + "/marks", {name: args[name] for name in ("group", "until", "at") if name in args}
        if call == "marks":
            return "GET", of_user + "/marks?" + urllib.parse.urlencode({"limit": args.get("limit", 100)}), None
        if call == "unmark":
            return "DELETE", of_user + "/marks/" + urllib.parse.quote(args["group"], safe=""), None
        if call == "counts":
            query = {name: args[name] for name in ("of", "collection") if name in args}
            return "GET", of_user + "/counts?" + urllib.parse.urlencode(query, quote_via=urllib.parse.quote), None
        if call in ("history_page", "history"):
            query = {name: args[name] for name in ("limit", "collection") if name in args}
            if call == "history":
                query["limit"] = 1000
            return "GET", of_user + "/history?" + urllib.parse.urlencode(query), None
        if call == "clear_history":
            return "POST", of_user + "/history/clear", {"collections": [args["collection"]]} if "collection" in args else {}
        if call == "set_recording":
            return "PUT", of_user + "/recording", {"paused": not args["recording"]}
        method, rest = {"look_up_history": ("POST", "/history/lookup"), "delete_history": ("POST", "/history/delete"),
                        "inspect": ("GET", ""), "export": ("GET", "/export"), "erase": ("DELETE", "")}[call]
        return method, of_user + rest, body if method == "POST" else None

    def event_of(self, play):
        event = {name: value for name, value in play.items() if name != "ago_ms"}
        if "ago_ms" in play:
            event["at"] = self.now - play["ago_ms"]
        return dict(event, user=text_of(play["user"]), item=text_of(play["item"]))

    # ---- What the answers say, in the words of clients ----

    @staticmethod
    def told_record_plays(told, _args):
        return {"accepted": told["accepted"], "refused": told["refused"], "pending": False,
                "refusals": [[one["index"], one["error"]["code"], one["error"].get("field", "")]
                             for one in told["refusals"]]}

    told_record_impressions = told_record_exposures = told_record_plays

    def told_put_items(self, told, args):
        return dict(self.told_record_plays(told, args), stale=told["stale"])

    @staticmethod
    def told_get_items(told, args):
        given = {text_of(one): one for one in reversed(args["ids"])}
        return {"items": [{"id": given[str(one["id"])], "version": one["version"], "fields": spelled(one["fields"])}
                          for one in told["items"]]}

    def told_marks(self, told, args):
        answer = {"marks": [[one["group"], one["until"]] for one in told["marks"]], "more": bool(told.get("cursor")),
                  "degraded": told.get("degraded", False)}
        if told.get("cursor"):  # the next page stands beside it
            query = {"limit": args["limit"], "cursor": told["cursor"]}
            path = "/users/%s/marks?" % urllib.parse.quote(text_of(args["user"]), safe="")
            told = json.loads(self.ask("GET", path + urllib.parse.urlencode(query, quote_via=urllib.parse.quote))[2])
            answer["next"] = [[one["group"], one["until"]] for one in told["marks"]]
        return answer

    @staticmethod
    def told_put_set(told, _args):
        return {"name": told["name"], "count": told["count"]}

    def told_get_set(self, told, args):
        answer = dict(self.told_put_set(told, args), items=told["items"], more="cursor" in told)
        if "cursor" in told:
            path = "/sets/%s?limit=%d&cursor=%s" % (urllib.parse.quote(args["name"], safe=""), args["limit"], urllib.parse.quote(told["cursor"], safe=""))
            answer["next"] = json.loads(self.ask("GET", path)[2])["items"]
        return answer

    @staticmethod
    def told_sets(told, args):
        """Those whose names begin so: others may have sets, too."""
        return {"sets": [[one["name"], one["count"]] for one in told["sets"] if one["name"].startswith(args["prefix"])]}

    @staticmethod
    def told_counts(told, _args):
        return {"counts": [[one["key"], one["served"], one["exposed"], one["played"], one.get("at_least", False)] for one in told["counts"]],
                "more": told.get("more", False), "degraded": told.get("degraded", False)}

    @staticmethod
    def told_reserve(told, args):
        given = {text_of(id_of(one)): id_of(one) for one in reversed(args["items"])}
        return {name: [given[one] for one in told[name]] for name in ("reserved", "refused")}

    @staticmethod
    def told_unmark(told, _args):
        return {"deleted": told["deleted"]}

    def told_bulk(self, told, args):
        """No part of it raises."""
        return {name: one for name, one in self.told_record_plays(told, args).items() if name != "pending"}

    @staticmethod
    def told_filter(told, args):
        """Candidates come back as they were given, those with groups as their ids."""
        given = {text_of(id_of(item)): id_of(item) for item in reversed(args["items"])}
        answer = {"unseen": [given[one] for one in told["unseen"]], "seen": told["seen"], "examined": told["examined"],
                  "degraded": told["degraded"], "missing": told.get("missing", []),
                  "excluded": told.get("excluded", 0), "duplicates": told.get("duplicates", 0)}
        if args.get("record"):
            answer["recorded"] = told.get("recorded", True)
        if args.get("explain"):
            answer["reasons"] = told["reasons"]
        if any(id_of(item) is not item for item in args["items"]):
            answer["undated"] = told.get("undated", 0)
        if args.get("not"):
            answer.update(coarse=told.get("coarse", []), beyond=told.get("beyond", []))
        if args.get("when_short"):
            answer.update(unseen_share=told["unseen_share"], repeats=[given[one] for one in told["repeats"]])
        if args.get("fields"):
            answer["fields"] = spelled(told["fields"])
        return answer

    @staticmethod
    def told_fill_page(told, args):
        given = {text_of(id_of(one)): id_of(one) for one in reversed(args["candidates"])}
        return {"ids": [given[one] for one in told["unseen"]]}

    @staticmethod
    def told_search_unseen(told, args):
        given = {text_of(id_of(one)): id_of(one) for one in reversed(args["best"])}
        return {"ids": [given[one] for one in told["unseen"]][:args["k"]]}

    def entry_of(self, told):
        return {"collection": told.get("collection", ""), "item": str(told["item"]), "ago_ms": self.now - told["at"],
                "progress_s": told.get("progress_s", 0), "duration_s": told.get("duration_s", 0),
                "device": told.get("device", ""), "fields": told.get("fields")}

    def told_history_page(self, told, _args):
        return {"entries": [self.entry_of(one) for one in told["entries"]], "more": bool(told.get("cursor")),
                "kept": told.get("kept", True), "degraded": told["degraded"]}

    def told_history(self, told, _args):
        return {"entries": [self.entry_of(one) for one in told["entries"]]}

    def told_look_up_history(self, told, _args):
        return {"entries": [self.entry_of(one) for one in told["entries"] if one]}

    @staticmethod
    def told_erase(told, _args):
        return {"known": told["known"]}

    @staticmethod
    def told_inspect(told, _args):
        return {"user": str(told["user"])}

    @staticmethod
    def told_export(told, _args):
        return {"types": list(dict.fromkeys(one["type"] for one in told))}

    @staticmethod
    def told_collections(told, _args):
        return {"names": [one["name"] for one in told["collections"] if one["name"].startswith("conf-x")]}

    @staticmethod
    def told_call(told, args):
        return {name: told[name] for name in args["only"]}


def recorded(servers):
    """What servers say to requests that scenarios.ANSWERS names: status, headers and body by name."""
    told = {}
    for name, (which, method, path, body, headers) in scenarios.ANSWERS.items():
        kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        for _ in range(20):  # what is over a limit of a second is refused once that was used up
            status, said, answer = servers[which].ask(method, path, body, headers, kind)
            if status == scenarios.STATUS.get(name, 200):
                break
        else:
            sys.exit("%s: the server said %d: %s" % (name, status, answer[:200]))
        kept = {key: value for key, value in said.items() if key.lower() in HEADERS}
        for key in kept:  # it draws them
            if key.lower() in ("retry-after", "seendb-retry-after-ms"):
                kept[key] = {"retry-after": "1", "seendb-retry-after-ms": "60"}[key.lower()]
        body = re.sub(r'"at":[0-9]+', '"at":1', answer.decode("latin-1"))  # of the present
        told[name] = {"status": status, "headers": kept, "body": body}
    return told


def lines_of(rows):
    """A row a line, so that a change is a line."""
    return "[\n" + ",\n".join(json.dumps(row, sort_keys=True) for row in rows) + "\n]\n"


def narrow(folder):
    """A server with tokens and small limits, which refuses what the other takes."""
    tokens = os.path.join(folder, "tokens.json")
    with open(tokens, "w", encoding="utf-8") as file:
        json.dump([dict(entry, sha256=hashlib.sha256(name.encode()).hexdigest(), name=name)
                   for name, entry in scenarios.TOKENS.items()], file)
    os.chmod(tokens, 0o600)
    return seendb_client.Server(config={"tokens_file": tokens, "limits": {"inflight_bytes": 1 << 20}})


def made():
    """Names and texts of all files."""
    with tempfile.TemporaryDirectory() as folder, seendb_client.Server() as wide, narrow(folder) as other:
        server, files = Server(wide.url), {}
        for group, rows in scenarios.on_a_server().items():
            for row in rows:
                server.begin()
                for step in row["steps"]:
                    server.play(step)
            files[group + ".json"] = lines_of(rows)
        answers = recorded({"wide": server, "narrow": Server(other.url)})
    files["answers.json"] = json.dumps(answers, indent=1, sort_keys=True) + "\n"
    for group, rows in scenarios.on_a_liar().items():
        files[group + ".json"] = lines_of(rows)
    return files


def main():
    wrong = []
    for name, text in made().items():
        path = os.path.join(HERE, name)
        if sys.argv[1:] != ["--check"]:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            continue
        with open(path, encoding="utf-8") as file:
            if file.read() != text:
                wrong.append(name)
    for name in wrong:
        print("%s: not what make.py makes of this server" % name)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
