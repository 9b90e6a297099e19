"""The client of SeenDB, which remembers what every user was served and watched.

    import seendb

    with seendb.Client("http://127.0.0.1:7373") as c:
        c.record_plays([("u1", "v1")])
        c.filter("u1", ["v1", "v2"]).unseen  # ["v2"]
"""

from .answers import Entry, Filtered, HistoryPage, Item, Mark, MarksPage, Recorded, Refusal
from .async_client import AsyncClient
from .client import Client
from .double import AsyncDouble, Double
from .engine import Engine
from .errors import Error, Refused
from .events import Candidate

__all__ = ["AsyncClient", "AsyncDouble", "Candidate", "Client", "Double", "Engine", "Entry", "Error", "Filtered", "HistoryPage",
           "Item", "Mark", "MarksPage", "Recorded", "Refusal", "Refused"]
__version__ = "0.1.0"
