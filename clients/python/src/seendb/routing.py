"""Which node has a user: murmur2, as Kafka's producers in Java partition."""

from .recent import LastUsers

_MASK = 0xFFFFFFFF
_M = 0x5BD1E995


def murmur2(data):
    """Of bytes, 32 bits (Austin Appleby's MurmurHash2 with Kafka's seed)."""
    size = len(data)
    value = (0x9747B28C ^ size) & _MASK
    whole = size & ~3
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at:at + 4], "little") * _M & _MASK
        k = (k ^ k >> 24) * _M & _MASK
        value = (value * _M & _MASK) ^ k
    if size & 3:
        value = (value ^ int.from_bytes(data[whole:], "little")) * _M & _MASK
    value = (value ^ value >> 13) * _M & _MASK
    return value ^ value >> 15


def partition_of(user, partitions):
    """`user`: an id, as text or an int."""
    return (murmur2(str(user).encode()) & 0x7FFFFFFF) % partitions


class Map:
    """What GET /cluster says: of each partition the nodes' URLs, the primary first."""

    def __init__(self, answer):
        urls = {one["node"]: one["url"] for one in answer["nodes"]}
        away = {one["node"] for one in answer["nodes"] if one.get("state", "up") != "up"}
        self.partitions = answer["partitions"]
        self.offset = answer["placement_offset"]
        self._urls = [[] for _ in range(self.partitions)]
        for shard in answer["shards"]:
            nodes = [one["node"] for one in shard["replicas"] if one["node"] in urls]
            nodes.sort(key=away.__contains__)  # those that are up first, the primary before others
            self._urls[shard["partition"]] = [urls[node] for node in nodes]
        self.urls = sorted(urls.values())

    def urls_of(self, user):
        return self._urls[partition_of(user, self.partitions)]


class Positions(LastUsers):
    """Of users, the position behind their newest write here ("3:1042": partition and offset; of several
    partitions with commas): reads send it, and see that write."""

    PARTS = 8  # a batch of more users than that is not read back user by user

    def note(self, users, position):
        told = dict(part.split(":") for part in position.split(",") if ":" in part)
        if not told or len(told) > self.PARTS:
            return
        with self._lock:
            for user in {str(user) for user in users}:
                known = dict(self._of.get(user, {}))
                for partition, offset in told.items():  # answers may come in another order
                    known[partition] = max(known.pop(partition, "0"), offset, key=int)
                newest = list(known.items())[-self.PARTS:]  # what was noted last comes last
                self._put(user, dict(newest))

    def of(self, user):
        known = self._of.get(str(user))
        return known and ",".join("%s:%s" % part for part in sorted(known.items()))
