"""Made by generate_async.py of bulk.py: change that."""

from . import answers, times
from .events import EXPOSURE, PLAY, event_of
from .forms import BINARY, IDS, LINES, NDJSON, NUMBERS, WRITERS, form_of, frame_names, listed

BYTES_MOST = 1 << 20
REFUSALS_MOST = 100


def note_recorded(caller, answer, users):
    """What became of events; their users' reads see them."""
    position = answer.headers.get("seendb-position")
    if position is not None:
        caller.positions.note(users, position)
    return answers.recorded_of_json(answers.load(answer, needs=("accepted",)), answer.status == 202)


class AsyncBulk:
    """Takes events one by one and sends them in batches: in binary as long as all are plays that say no more than user,
    item and at, from the first other one on as NDJSON.

        with c.bulk() as bulk:
            for row in rows:
                bulk.add(row)
        bulk.accepted, bulk.refused

    `add` waits while a batch is on its way: whoever reads faster than the server writes is slowed down, and no
    more than a batch is in memory. A batch that is refused for now (429, 503) or whose connection breaks is sent
    again until the patience is over; then `add` raises, and keeps it: `flush` sends it again. Each event has its
    time from the first try on, so that it counts once. For one thread; more of them take a Bulk each.
    """

    def __init__(self, caller, kind, collection, batch, patience, binary):
        if kind not in ("plays", "impressions", "exposures"):
            raise ValueError("kind is plays, impressions or exposures")
        self._kind = EXPOSURE if kind == "exposures" else PLAY
        self._caller, self._path, self._query = caller, "/" + kind, {"collection": collection} if collection else None
        self._batch, self._patience = batch, patience
        self._form = NUMBERS if binary and kind == "plays" else LINES
        self._lines, self._users, self._bytes, self._sent = [], [], 0, 0
        self.accepted = self.refused = 0
        self.refusals = []  #: at most 100 of them; `index`: the how many-th event that was added

    async def add(self, event):
        """(user, item), (user, item, at), or a dict, as record_plays and record_exposures take them."""
        told = event_of(event, "/events/%d" % (self._sent + len(self._lines)), times.now_ms(), self._kind)
        form = max(self._form, form_of(told))
        line = WRITERS[form](told)
        if self._lines and (form > self._form or len(self._lines) >= self._batch or self._bytes + len(line) > BYTES_MOST):
            await self.flush()
        self._form = form
        self._lines.append(line)
        self._users.append(told["user"])
        self._bytes += len(line)

    async def add_frame(self, frame):
        """The rows of a pandas DataFrame or an Arrow table: columns user, item and, where they are there, at,
        progress_s, duration_s, device, or surface. An empty place (None, NaN, NaT) says nothing."""
        known = (*self._kind[1], *self._kind[2])
        names = [name for name in known if name != "fields" and name in frame_names(frame)]
        for row in zip(*[listed(frame[name]) for name in names]):
            told = {name: value for name, value in zip(names, row) if value is not None and value == value}
            for name in ("progress_s", "duration_s"):  # a column with empty places has floats
                if isinstance(told.get(name), float) and told[name].is_integer():
                    told[name] = int(told[name])
            await self.add(told)

    async def flush(self):
        """Sends what has not been sent."""
        if not self._lines:
            return
        query, kind = self._query, NDJSON
        if self._form != LINES:
            query, kind = dict(query or {}, ids=IDS[self._form], count=len(self._lines)), BINARY
        answer = await self._caller.ask("POST", self._path, query=query, body=b"".join(self._lines), content_type=kind,
                                  timeout=self._patience, name="bulk", patient=True)
        recorded = note_recorded(self._caller, answer, self._users)
        self.accepted += recorded.accepted
        self.refused += recorded.refused
        for one in recorded.refusals[:REFUSALS_MOST - len(self.refusals)]:
            self.refusals.append(answers.Refusal(self._sent + one.index, one.code, one.message, one.field))
        self._sent += len(self._lines)
        self._lines, self._users, self._bytes = [], [], 0

    async def __aenter__(self):
        return self

    async def __aexit__(self, kind, *_):
        if kind is None:
            await self.flush()
