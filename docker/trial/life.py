"""A server's life in a container: it comes up healthy, takes plays, ends well, and remembers."""

import json

import http_client as http
from report import eventually, expect

PLAYED = ["v%d" % i for i in range(500)]
UNPLAYED = ["w%d" % i for i in range(500)]
UNAVAILABLE = 7  # the tool's exit code


def remembers(server, what):
    expect(http.unseen(server.url, "u1", PLAYED + UNPLAYED) == UNPLAYED, what)


def end(server):
    code = server.terminate()
    expect(code == 0, "SIGTERM: exit code 0", code)
    events = [json.loads(line)["event"] for line in server.log().splitlines()
              if line.startswith("{")]
    expect(events[-2:] == ["stopping", "stopped"], "its log says it stopped in order", events[-3:])


def check(engine):
    data = engine.make_data("data")
    server = engine.serve(data)
    eventually(lambda: server.healthy() == 0, "the health check says it is ready")
    ids = server.user_ids()
    expect("0" not in ids, "the process is not root: user ids %s" % " ".join(ids))
    answer = http.post(server.url, "/plays", {"events": [{"user": "u1", "item": item}
                                                         for item in PLAYED]})
    expect(answer["accepted"] == len(PLAYED), "%d plays go in" % len(PLAYED), answer)
    remembers(server, "/filter knows exactly those")
    copied = http.post(server.url, "/admin/checkpoint", {"name": "first"})
    expect(copied["files_copied"] + copied["files_linked"] > 0, "a checkpoint is taken", copied)
    http.post(server.url, "/plays", {"events": [{"user": "u2", "item": "later"}]})
    end(server)
    expect(server.healthy() == UNAVAILABLE, "the health check says it is not there any more")

    server = engine.serve(data)
    eventually(lambda: server.healthy() == 0, "started again on the same data, it is ready")
    remembers(server, "it knows the plays still")
    expect(http.unseen(server.url, "u2", ["later", "new"]) == ["new"], "the last of them too")
    end(server)

    server = engine.serve(data, ["--db", "/var/lib/seendb/checkpoints/first"])
    remembers(server, "started on the checkpoint, it knows what was there then")
    expect(http.unseen(server.url, "u2", ["later"]) == ["later"], "and nothing later")
    end(server)
