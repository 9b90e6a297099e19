#!/usr/bin/env python3
"""Makes the pictures of the console that README.md shows, in server/doc/console/, from a server with invented data.

    SEENDB_SERVER=build/dev/bin/seendb-server python3 -B tests/console/pictures.py

Look at them before they are committed. The file made_from names the state of server/console that they show;
tests/console/integration/pages_test.py fails when that has changed."""

import hashlib
import os
import random
import sys
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import browser  # noqa: E402
from seendb_client import Server  # noqa: E402

FOLDER = os.path.join(ROOT, "server", "doc", "console")
SIZE = (900, 560)
DAY_MS = 86_400_000
TITLES = ["The Long Walk Home", "Night Train", "A House by the Sea", "Winter Light", "Paper Boats", "The Lamplighter",
          "Nine Rivers", "Salt", "Harbour Lights", "The Clockmaker's Son"]
CANDIDATES = ["film-000", "film-005", "film-040", "film-062", "film-200", "trailer-1", "tonight", "film-201"]


def sources():
    """What the pages are made of: bytes by name."""
    folder = os.path.join(ROOT, "server", "console")
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found


def state():
    """A checksum over the sources."""
    digest = hashlib.sha256()
    for name, text in sources().items():
        digest.update(name.encode() + b"\0" + text + b"\0")
    return digest.hexdigest()


def check(server):
    """Ends the script where the program was built from other sources."""
    for name, text in sources().items():
        if server.get("/console/" + name).body != text:
            sys.exit("%s of the server is not that of server/console: build it" % name)


def fill(server, dice, now):
    server.put("/collections/video", {"history": {"enabled": True}, "impression_ids": True})
    server.post("/plays", {"collection": "video", "events": [
        {"user": "anna", "item": "film-%03d" % i, "at": now - i * DAY_MS, "progress_s": dice.choice([-1, 300, 1200]),
         "duration_s": 5400, "device": dice.choice(["tv", "phone"]), "fields": {"title": TITLES[i % 10]}}
        for i in range(80)]})
    server.post("/plays", {"collection": "video", "events": [
        {"user": "anna", "item": "clip-%d" % i, "at": now - 45 * DAY_MS} for i in range(6000)]})
    for _ in range(5):
        server.post("/plays", {"events": [
            {"user": "reader-%d" % dice.randrange(9000), "item": "story-%d" % dice.randrange(5000),
             "at": now - dice.randrange(100) * DAY_MS} for _ in range(8000)]})
    server.post("/impressions", {"collection": "video", "user": "anna", "items": ["trailer-1", "trailer-2"]})
    server.post("/admin/drain")
    server.post("/plays", {"collection": "video", "events": [{"user": "anna", "item": "tonight"}]})
    server.post("/plays", {"events": [{"user": "reader-%d" % dice.randrange(9000), "item": "story-%d" % i}
                                      for i in range(4000)]})


def load(server, dice, seconds):
    """Traffic for the charts, which goes up and down."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for _ in range(dice.randrange(5, 60)):
            server.post("/filter", {"user": "reader-%d" % dice.randrange(9000),
                                    "items": ["story-%d" % dice.randrange(400) for _ in range(300)]})
        server.post("/plays", {"events": [{"user": "reader-%d" % dice.randrange(9000), "item": "story-%d" % i}
                                          for i in range(dice.randrange(300))]})
        time.sleep(0.4)


def main():
    browser.require()
    os.makedirs(FOLDER, exist_ok=True)
    dice, now = random.Random(1), int(time.time() * 1000)
    with Server() as server, browser.Browser() as window:
        check(server)
        fill(server, dice, now)
        window.view(*SIZE)
        candidates = urllib.parse.quote("\n".join(CANDIDATES))
        for name, fragment, text, below in (
                ("try", "#/try?user=anna&collection=video&items=" + candidates, "unseen, ", "[role=status].said"),
                ("user", "#/user?user=anna", "newest entries read", "h2"),
                ("overview", "#/overview", "Buckets, all collections", None)):
            window.open("about:blank")
            window.open(server.url + "/console" + fragment)
            window.wait(text)
            if below:
                window.js("scrollTo(0, document.querySelector(arguments[0]).getBoundingClientRect().top - 16)", below)
            else:
                load(server, dice, 100)
            path = os.path.join(FOLDER, name + ".png")
            window.screenshot(path)
            print("%s: %d bytes" % (os.path.relpath(path, ROOT), os.path.getsize(path)))
    with open(os.path.join(FOLDER, "made_from"), "w", encoding="ascii") as file:
        file.write(state() + "\n")


if __name__ == "__main__":
    main()
