"""A shard goes to another node: MB/s, and what filters at the giving node feel of it."""

import json
import random
import threading

from seendb_client import eventually

from .world import long_id, now_ms, post

COLLECTION = "watched"
UNLIMITED = 100_000
QUIET_S, MOVE_S = 1.0, 2.5  # a node looks once a second whether it is to fetch
USERS = 2_000


def fill(world, partition, plays):
    """Watch history, whose ids can't be compressed to much: a large shard of few plays."""
    chance = random.Random(partition)
    users = world.users_of({partition}, USERS, "m")
    leader = world.nodes[world.lists()[partition][0]]
    at_ms = now_ms() - 1_000
    world.load_plays([(chance.choice(users), "%025x" % chance.getrandbits(100), at_ms + i % 1_000)
                      for i in range(plays)], COLLECTION, [leader])
    world.wait_serving()
    for node in world.nodes.values():
        for step in ("drain", "compact"):  # a copy of tables that are on the disk is a link
            node.post("/admin/" + step, {})
    return leader, users


def fetched(node):
    """The newest line of its log about a shard that came."""
    lines = [json.loads(line) for line in node.log_text().splitlines() if '"shard_fetched"' in line]
    return lines[-1] if lines else None


def run(world, figures, quick):
    plays = 250_000 if quick else 600_000
    world.nodes["n1"].put("/collections/" + COLLECTION, {"history": {"enabled": True}})
    for limit in (None, UNLIMITED):
        if limit:
            for node in list(world.nodes):
                world.replace(node, transfer_mb_per_s=limit)
                world.wait_serving()
        lists = world.lists()
        partition = next(p for p, held in enumerate(lists) if held[0] == "n1")
        target = next(name for name in world.nodes if name not in lists[partition])
        leader, users = fill(world, partition, plays)
        chance = random.Random(3)
        questions = [post("/filter", {"user": user, "items": [
            long_id(chance.randrange(1 << 40)) for _ in range(1_000)]}) for user in users[:20]]
        giver = world.nodes[lists[partition][1]]
        case = {"limit": "100 MB/s" if limit is None else "none"}
        _filters(world, figures, case, "quiet", leader, questions, QUIET_S)
        moved = threading.Thread(target=world.tool, args=(
            "move", "--partition", partition, "--from", giver.name, "--to", target, "--yes"))
        before = fetched(world.nodes[target])
        moved.start()
        _filters(world, figures, case, "during a move", leader, questions, MOVE_S)
        moved.join()
        told = eventually(lambda: fetched(world.nodes[target]) != before and
                          fetched(world.nodes[target]), 60)
        figures.add("moves", case, "cluster", "more", shard_mb=told["bytes"] / 1e6,
                    mb_per_s=told["bytes"] / 1e3 / told["took_ms"])
        world.wait_serving()


def _filters(world, figures, case, when, server, questions, seconds):
    result = world.load(server, questions, seconds, 1)
    figures.add("moves", {**case, "filters of 1,000": when}, "cluster",
                p50_us=result["p50_us"], p99_us=result["p99_us"])
