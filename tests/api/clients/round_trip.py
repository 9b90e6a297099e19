"""What a program with the generated Python client does: records a play, asks what is unseen, reads
the history and the statistics, is refused. The first argument is the server's address."""

import sys

from seendb_client import Client
from seendb_client.api.admin import stats
from seendb_client.api.read import filter_, read_history
from seendb_client.api.write import record_plays
from seendb_client.models import Error, Event, FilterRequest, PlaysRequest, Recorded


def main():
    client = Client(base_url=sys.argv[1])
    now = int(sys.argv[2])
    play = Event(user="python", item="v1", at=now, progress_s=95)
    recorded = record_plays.sync(client=client, body=PlaysRequest(
        events=[play, Event(user="python", item=42)]))
    assert recorded.accepted == 2, recorded

    answer = filter_.sync(client=client, body=FilterRequest(
        user="python", items=["v1", "v2", 42, 43]))
    assert answer.unseen == ["v2", 43] and not answer.degraded, answer

    page = read_history.sync("python", client=client, limit=10)
    assert len(page.entries) == 2, page
    assert any((one.item, one.at, one.progress_s) == ("v1", now, 95) for one in page.entries), page
    assert stats.sync(client=client).plays_accepted >= 2

    refused = record_plays.sync_detailed(client=client, collection="nobody_made_it",
                                         body=PlaysRequest(events=[play]))
    assert refused.status_code == 404 and isinstance(refused.parsed, Error), refused
    assert refused.parsed.error.field == "/collection", refused
    play.at = now // 1000
    refused = record_plays.sync_detailed(client=client, body=PlaysRequest(events=[play]))
    assert refused.status_code == 422 and isinstance(refused.parsed, Recorded), refused
    assert refused.parsed.refusals[0].error.message.find("seconds") >= 0, refused


main()
