"""Acknowledged plays: through Kafka and the node's own reading of it, beside a server by itself."""

from .world import long_id, post

PLAYS = 5_000
# Brokers that have just begun take several times as long: their code is not compiled yet.
WARM_S = 6.0


def run(world, figures, quick, brokers=1):
    partitions = {p for p, held in enumerate(world.lists()) if held[0] == "n1"}
    users = world.users_of(partitions, 500, "w")
    plays = [post("/plays", {"events": [{"user": users[i % len(users)], "item": long_id(i)}]})
             for i in range(PLAYS)]
    ways = {"leader": world.nodes["n1"], "through another": world.nodes["n2"]}
    if brokers == 1:
        ways = {"one node": world.alone, **ways}
    world.load(world.nodes["n1"], plays, WARM_S, 16)
    for connections in (1, 16):
        for way, server in ways.items():
            world.load(server, plays, 0.3, connections)
            result = world.load(server, plays, 1.0 if quick else 2.5, connections)
            case = {"brokers": brokers, "clients": connections}
            figures.add("writes", case, way, "more", plays_per_s=result["per_s"])
            figures.add("writes", case, way, p50_ms=result["p50_us"] / 1e3,
                        p99_ms=result["p99_us"] / 1e3)
