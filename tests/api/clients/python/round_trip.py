"""What an application does with the Python client: round_trip.py URL USER AT_MS."""

import sys

from seendb_client import Client
from seendb_client.api.admin import put_collection
from seendb_client.api.read import filter_, get_collection, read_history
from seendb_client.api.write import record_plays
from seendb_client.models import Error, Event, FilterRequest, HistoryPolicy, PlaysRequest, PolicyPatch


def main():
    url, user, at = sys.argv[1], sys.argv[2], int(sys.argv[3])
    client = Client(base_url=url)

    policy = put_collection.sync("default", client=client,
                                 body=PolicyPatch(history=HistoryPolicy(enabled=True)))
    assert policy.history.enabled, policy

    recorded = record_plays.sync(client=client, body=PlaysRequest(events=[
        Event(user=user, item=7, at=at, progress_s=12), Event(user=user, item="film", at=at + 1)]))
    assert recorded.accepted == 2, recorded

    filtered = filter_.sync(client=client, body=FilterRequest(
        user=user, items=[7, "film", 8, "18446744073709551615", "new"]))
    assert filtered.unseen == [8, "18446744073709551615", "new"], filtered
    assert filtered.seen == 2, filtered

    entries = read_history.sync(user, client=client, limit=10).entries
    assert [entry.item for entry in entries] == ["film", "7"], entries
    assert entries[1].at == at and entries[1].progress_s == 12, entries

    refused = record_plays.sync_detailed(client=client, body=PlaysRequest(
        events=[Event(user=user, item=9, at=0)]))
    assert refused.status_code == 422, refused
    assert refused.parsed.refusals[0].error.field == "/at", refused
    absent = get_collection.sync_detailed("absent", client=client)
    assert absent.status_code == 404 and isinstance(absent.parsed, Error), absent
    assert absent.parsed.error.code == "not_found", absent


if __name__ == "__main__":
    main()
