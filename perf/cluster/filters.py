"""What it costs that another node has the user: filters in JSON and binary at a server by itself, at the
node that leads the user's partition, and through one that does not hold it."""

import random
import struct

from .world import DAY_MS, cpu_seconds, long_id, now_ms, post

SIZES = (100, 1_000, 5_000)
SEEN_SHARE = 0.2


def _question(form, user, numbers):
    if form == "binary u64":
        return post("/filter?user=%s&collection=numbers&ids=u64" % user,
                    struct.pack("<%dQ" % len(numbers), *numbers), "application/octet-stream",
                    "Accept: application/octet-stream\r\n")
    named = "SeenDB-User: %s\r\n" % user if form == "JSON, SeenDB-User" else ""
    return post("/filter", {"user": user, "items": [long_id(one) for one in numbers]},
                headers=named)


FORMS = {"JSON": SIZES, "JSON, SeenDB-User": SIZES[-1:], "binary u64": SIZES}


def pair(world):
    """(leader, node without the partition, partitions): of most partitions."""
    by_pair = {}
    for partition, held in enumerate(world.lists()):
        absent = next(name for name in world.nodes if name not in held)
        by_pair.setdefault((held[0], absent), []).append(partition)
    (leader, absent), partitions = max(by_pair.items(), key=lambda one: len(one[1]))
    return world.nodes[leader], world.nodes[absent], partitions


def run(world, figures, quick):
    leader, absent, partitions = pair(world)
    users = world.users_of(partitions, 20)
    played = 1_000 if quick else 3_300
    chance = random.Random(7)
    items = {user: [chance.randrange(1 << 40) for _ in range(played)] for user in users}
    at_ms = [now_ms() - chance.randrange(90) * DAY_MS for _ in range(played)]
    for server in (world.alone, leader):
        server.put("/collections/numbers", {})
    world.wait_serving()
    for name, named in (("default", long_id), ("numbers", int)):
        world.load_plays([(user, named(one), at) for user in users
                          for one, at in zip(items[user], at_ms)], name, (world.alone, leader))
    for server in (world.alone, *world.nodes.values()):
        server.post("/admin/drain", {})
        server.post("/admin/seal", {})
    ways = {"one node": (world.alone, ()), "leader": (leader, ()),
            "through another": (absent, (leader,))}
    seconds = 0.3 if quick else 1.0
    for form, sizes in FORMS.items():
        for size in sizes:
            questions = []
            for user in users:
                seen = chance.sample(items[user], int(size * SEEN_SHARE)) if \
                    size * SEEN_SHARE <= played else items[user]
                others = [chance.randrange(1 << 40) for _ in range(size - len(seen))]
                questions.append(_question(form, user, seen + others))
            for way, (server, others) in ways.items():
                world.load(server, questions, 0.1, 4)
                single = world.load(server, questions, seconds, 1)
                asked = (server, *others)
                before = [cpu_seconds(one) for one in asked]
                loaded = world.load(server, questions, seconds, 4)
                cpu_us = [(cpu_seconds(one) - since) / loaded["answers"] * 1e6
                          for one, since in zip(asked, before)]
                case = {"form": form, "ids": size}
                figures.add("filters", case, way, "more", requests_per_s=loaded["per_s"])
                figures.add("filters", case, way, p50_us=single["p50_us"],
                            p99_us=single["p99_us"], cpu_us=sum(cpu_us))
                if others:
                    figures.add("filters", case, way, cpu_of_the_asked_us=cpu_us[0])
