"""What the project aims at, beside what a run measured; and Bloom beside exact ids."""

import statistics


class Figures:
    """The medians of a run, by what they are."""

    def __init__(self, run):
        self.figures = run["figures"]

    def all(self, scenario, metric, peer, **case):
        """Medians of every case that agrees with `case`."""
        return [f["median"] for f in self.figures
                if (f["scenario"], f["metric"], f["peer"]) == (scenario, metric, peer)
                and all(f["case"].get(name) == value for name, value in case.items())]

    def one(self, scenario, metric, peer="seendb", **case):
        """The median of the medians; None where nothing was measured."""
        found = self.all(scenario, metric, peer, **case)
        return statistics.median(found) if found else None


def ratio(above, below):
    return above / below if above is not None and below else None


def _best_redis(figures):
    rates = [figures.one("http", "requests_per_s", peer)
             for peer in ("redis-zset-range", "redis-zset-scores")]
    return max((rate for rate in rates if rate), default=None)


def _filter_rows(f):
    case = {"candidates": 5000, "seen_percent": 20}
    yield "Filter, 5,000 candidates, every month sealed, us", "<=", 60, f.one(
        "filter", "latency_us", "seendb-sealed", **case)
    yield "the current month a list, us", "<=", 110, f.one("filter", "latency_us", **case)
    yield "8 operands unmerged, us", "<=", 110, f.one(
        "filter", "latency_us", "seendb-operands", **case)


def _http_rows(f):
    json = f.one("http", "requests_per_s", form="json")
    yield "POST /filter, JSON, a server thread, requests/s", ">=", 3000, json
    yield "the same, times the faster ZSET peer", ">=", 5, ratio(json, _best_redis(f))
    for form in ("u64", "string"):
        yield f"the same in binary, ids={form}, requests/s", ">=", 10000, f.one(
            "http", "requests_per_s", form=f"binary-{form}")


def _write_rows(f):
    for batch in (10, 100):
        yield f"plays in, embedded, 2 threads, batches of {batch}, plays/s", ">=", 1.5e6, f.one(
            "plays", "plays_per_s", batch=batch, threads=2)
    yield "plays in, NDJSON over HTTP, plays/s", ">=", 5e5, f.one(
        "http", "plays_per_s", form="ndjson")
    ours, theirs = (f.one("drain", "plays_per_s", peer) for peer in ("seendb", "rocksdb-rmw"))
    yield "drain, plays/s", ">=", 2e6, ours
    yield "the same, times read-modify-write", ">=", 8, ratio(ours, theirs)
    rmw = f.one("drain", "drain_log_bytes_a_play", "rocksdb-rmw")
    yield "WAL bytes of read-modify-write over the drain's", ">=", 40, ratio(
        rmw, f.one("drain", "drain_log_bytes_a_play"))
    yield "the same, journal and drain together", ">=", 10, ratio(
        rmw, f.one("drain", "log_bytes_a_play"))


def _space_rows(f):
    for plays, aim in (("3,300 a month", 2.2), ("KuaiRand-1K tail", 2.4), ("30 a month", 8)):
        yield f"bytes an item, {plays}", "<=", aim, f.one("space", "bytes_an_item", plays=plays)
        yield f"window FPR, {plays}", "<=", 0.01, f.one("space", "window_fpr", plays=plays)


def _other_rows(f):
    yield "reopen after a kill, batches of 10, plays/s", ">=", 3e6, f.one(
        "recovery", "plays_per_s", batch=10)
    yield "the same, single plays", ">=", 8e5, f.one("recovery", "plays_per_s", batch=1)
    users = [g["case"]["users"] for g in f.figures if g["scenario"] == "growth"]
    if users:
        small, large = (f.one("growth", "hot_p99_us", users=n) for n in (min(users), max(users)))
        yield f"Filter p99, {max(users):,} users over {min(users):,}", "<=", 1.5, ratio(large, small)
    yield "cold: disk reads a question of 4 sealed months", "<=", 4, f.one(
        "cold", "reads_a_question", "seendb-sealed")
    quiet = f.one("stalls", "p999_us", beside="nothing")
    for beside in ("drain", "rotation", "seal", "drop"):
        yield f"Filter p99.9 beside {beside}, times quiet", "<=", 3, ratio(
            f.one("stalls", "p999_us", beside=beside), quiet)


def _watching_rows(f):
    yield "heartbeats, embedded, 2 threads, batches of 100, heartbeats/s", ">=", 5e5, f.one(
        "heartbeats", "heartbeats_per_s", batch=100, threads=2)
    for entries, aim in ((100, 1000), (10000, 2000)):
        yield f"page of 20 of {entries:,} entries, p99, us", "<=", aim, f.one(
            "timeline", "page_p99_us", entries=entries)
    yield "look-up of 100 items among 10,000, us", "<=", 300, f.one(
        "timeline", "look_up_us", entries=10000)


def rows(run):
    """(work, relation, aim, measured or None, met or None) of every aim."""
    figures = Figures(run)
    for part in (_filter_rows, _http_rows, _write_rows, _space_rows, _other_rows, _watching_rows):
        for work, relation, aim, measured in part(figures):
            met = None
            if measured is not None:
                met = measured <= aim if relation == "<=" else measured >= aim
            yield work, relation, aim, measured, met


WHY_PEERS = (("seendb", "Bloom, SeenDB's"), ("seendb-exact", "exact list of fingerprints"),
             ("rocksdb-delta", "exact ids, delta-coded"), ("redis-zset-range", "exact ids, ZSET"))


def why_bloom(run):
    """(items a user, [(name, bytes a user, us)]) by history."""
    figures = Figures(run)
    histories = sorted({f["case"]["items_a_user"] for f in run["figures"]
                        if f["scenario"] == "history"})
    for items in histories:
        yield items, [(name, figures.one("history", "bytes_a_user", peer, items_a_user=items),
                       figures.one("history", "latency_us", peer, items_a_user=items))
                      for peer, name in WHY_PEERS]
