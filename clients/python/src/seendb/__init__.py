"""The client of SeenDB, which remembers what every user was served and watched.

    import seendb

    with seendb.Client("http://127.0.0.1:7373") as c:
        c.record_plays([("u1", "v1")])
        c.filter("u1", ["v1", "v2"]).unseen  # ["v2"]
"""

from .answers import (CountsPage, Entry, Filtered, GroupCounts, HistoryPage, Item, ItemSet, Mark, MarksPage, Recorded, Refusal,
                      Reserved)
from .async_client import AsyncClient
from .client import Client
from .double import AsyncDouble, Double
from .engine import AsyncEngine, Engine
from .errors import Error, Refused
from .events import Candidate
from .local import AsyncLocalFilter, LocalFilter

__all__ = ["AsyncClient", "AsyncDouble", "AsyncEngine", "AsyncLocalFilter", "Candidate", "Client", "CountsPage", "Double", "Engine", "Entry", "Error", "Filtered",
           "GroupCounts", "HistoryPage", "Item", "ItemSet", "LocalFilter", "Mark", "MarksPage", "Recorded", "Refusal", "Refused", "Reserved"]
__version__ = "0.1.0"
