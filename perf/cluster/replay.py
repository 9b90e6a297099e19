"""A node that lost its disk: its shards from a peer's checkpoint; from the log, of records that hold
many plays; and from the log with single plays behind them."""

import json
import os
import random
import subprocess
import time

from seendb_client import eventually

from .world import NAME, long_id, now_ms

USERS = 20_000
REBUILT = "n3"
LOOK_S = 0.02


def _plays(count):
    chance = random.Random(5)
    at_ms = now_ms() - 1_000
    return [("r%d" % chance.randrange(USERS), long_id(chance.randrange(1 << 40)), at_ms)
            for _ in range(count)]


def _single_plays(world, count):
    """A message each, as the business's own producers write them."""
    lines = "".join(json.dumps({"user": user, "item": item, "at": at}) + "\n"
                    for user, item, at in _plays(count))
    subprocess.run([os.path.join(world.build, "bin", "seendb"), "produce", "-", "--format",
                    "ndjson", "--brokers", world.brokers.address, "--topic", NAME + ".log",
                    "--json"], input=lines.encode(), stdout=subprocess.DEVNULL, check=True)


def _ends(world):
    """The next offset of each of its partitions, once nothing is left to apply."""
    def settled():
        mine, others = world.state(REBUILT), world.state(REBUILT, seen_by="n1")
        same = all(mine[p]["next_offset"] == others[p]["next_offset"] for p in mine)
        return same and all(one["behind_ms"] < 1_500 for one in mine.values())
    eventually(settled, 120, 0.2)
    return {p: one["next_offset"] for p, one in world.state(REBUILT).items()}


def _count(node):
    return node.get("/admin/stats").json["ingested"]["plays_accepted"]


def _rebuild(world, ends):
    """Seconds since its start, and since it had a first record; plays since then, and in all."""
    world.replace(REBUILT)
    node, began = world.nodes[REBUILT], time.monotonic()
    first = None
    while True:
        at = world.state(REBUILT)
        if first is None and any(one.get("next_offset", 0) > 0 for one in at.values()):
            first = (time.monotonic(), _count(node))
        if all(p in at and at[p].get("next_offset", 0) >= end for p, end in ends.items()):
            break
        time.sleep(LOOK_S)
    now, plays = time.monotonic(), _count(node)
    return now - began, now - first[0], plays - first[1], plays


def run(world, figures, quick):
    world.load_plays(_plays(200_000 if quick else 1_000_000), "default", [world.nodes["n1"]])
    ends = _ends(world)
    seconds, _, _, plays = _rebuild(world, ends)
    figures.add("replay", {"from": "a peer's checkpoint"}, "cluster", "more",
                plays_per_s=plays / seconds)
    figures.add("replay", {"from": "a peer's checkpoint"}, "cluster", seconds=seconds)
    singles = 100_000 if quick else 400_000
    rates = []
    for what in ("the log, many plays a record", "the log, single plays"):
        if rates:
            _single_plays(world, singles)
            ends = _ends(world)
        others = [node for name, node in world.nodes.items() if name != REBUILT]
        for node in others:  # nobody has a copy to give
            node.kill()
        whole, seconds, since, plays = _rebuild(world, ends)
        if rates:
            since, seconds = plays - rates[0][0], max(whole - rates[0][1], LOOK_S)
        rates.append((plays, whole))
        figures.add("replay", {"from": what}, "cluster", "more", plays_per_s=since / seconds)
        figures.add("replay", {"from": what}, "cluster", seconds=whole)
        for node in others:
            node.start(port=node.fixed_port)
        world.wait_serving()
