"""A node that lost its disk: its shards from the log, and from a peer's checkpoint."""

import random
import time

from seendb_client import eventually

from .world import PARTITIONS, long_id, now_ms

USERS = 20_000


def run(world, figures, quick):
    chance = random.Random(5)
    at_ms = now_ms() - 1_000
    plays = 200_000 if quick else 1_000_000
    world.load_plays([("r%d" % chance.randrange(USERS), long_id(chance.randrange(1 << 40)), at_ms)
                      for _ in range(plays)], "default", [world.nodes["n1"]])
    world.wait_serving()
    name = "n3"
    ends = {partition: one["next_offset"] for partition, one in world.state(name).items()}
    figures.note("replay", "%d partitions of %d, %d plays of this case among them" %
                 (len(ends), PARTITIONS, plays * len(ends) // PARTITIONS))
    for way in ("peer's checkpoint", "log"):
        others = [node for node in world.nodes if node != name]
        if way == "log":  # nobody has a copy to give
            for other in others:
                world.nodes[other].kill()
        began = time.monotonic()
        world.replace(name)
        node = world.nodes[name]
        started_s = time.monotonic() - began

        def applied():
            at = world.state(name)
            return all(p in at and at[p]["next_offset"] >= end for p, end in ends.items())
        eventually(applied, 120, 0.05)
        seconds = time.monotonic() - began - started_s
        counted = node.get("/admin/stats").json
        figures.add("replay", {"from": way}, "cluster", seconds=seconds)
        figures.say(str({k: v for k, v in counted.items() if "play" in k or k == "ingested"}))
    for other in [node for node in world.nodes if node != name]:
        restarted = world.nodes[other]
        restarted.start(port=restarted.fixed_port)
    world.wait_serving()
