"""Serves pages without repeats from a generated catalogue, with FastAPI:

    GET /feed?user=U            {"items": [...]}: the next page, best first
    POST /watched?user=U&item=I
"""

import contextlib
import logging
import os
import random
import socket

import fastapi
import seendb
import uvicorn

CATALOGUE_SIZE, PAGE_SIZE = 5_000, 20
PAGE_S = 0.2  # for the whole page; a feed that answers late is of no use


def told(name, seconds, status, tries):
    """A metric, in a real service."""
    if status != 200 or tries > 1:
        logging.warning("%s: %d after %d tries, %.3f s", name, status, tries, seconds)


@contextlib.asynccontextmanager
async def running(app):
    """One client for the process; 16 connections to each server."""
    url = os.environ.get("SEENDB_URL", "http://127.0.0.1:7373")
    async with seendb.AsyncClient(url, timeout=PAGE_S, connections=16, on_call=told) as app.state.seen:
        yield


app = fastapi.FastAPI(lifespan=running)


def candidates(user):
    """Stands for a recommender: the same for a user each time, best first."""
    for number in random.Random(user).sample(range(CATALOGUE_SIZE), CATALOGUE_SIZE):
        yield "video-%04d" % number


@app.get("/feed")
async def feed(user: str):
    # last_known: where SeenDB does not answer in time, a page all the same, without what was served just before.
    return {"items": await app.state.seen.fill_page(user, candidates(user), PAGE_SIZE, when_degraded="last_known")}


@app.post("/watched")
async def watched(user: str, item: str):
    await app.state.seen.record_plays([(user, item)])
    return {}


@app.exception_handler(seendb.Error)
async def refused(_, error):
    """`invalid_argument` is the browser's own fault."""
    return fastapi.responses.JSONResponse({"error": str(error)}, 400 if error.code == "invalid_argument" else 503)


def main():
    door = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", 0))))
    print("listening on http://127.0.0.1:%d" % door.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[door])


if __name__ == "__main__":
    main()
