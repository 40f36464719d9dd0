"""Bare endpoints to compare the service with: the same body, model and durability, nothing else.

`validate` reads and checks a report; `plain` also inserts it and commits, request by request;
`group` inserts what many requests bring and commits once. None of them knows a pseudonym, a round
or a disclosure, looks for an earlier report, estimates a profile, limits, counts or logs.
"""

import asyncio
import os
import queue
import threading
from typing import Any

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from sqlalchemy import Column, LargeBinary, MetaData, String, Table, insert

from midpoint.analyst.storage.connection import connect
from midpoint.wire import Report

KIND, URL = "MIDPOINT_BARE_KIND", "MIDPOINT_BARE_URL"
metadata = MetaData()
kept = Table(
    "bare_report",
    metadata,
    Column("token", LargeBinary(32), primary_key=True),
    Column("id", String(32), nullable=False),
    Column("report", LargeBinary, nullable=False),
)
Row = dict[str, Any]
DONE = JSONResponse({"kept": True}, status_code=201)


async def row_of(request: Request) -> Row:
    """Read and check a report, and make a row; the token stands for itself."""
    raw = await request.body()
    report = Report.model_validate_json(raw)
    token = bytes.fromhex(request.headers["authorization"].removeprefix("Bearer "))
    return {"token": token, "id": report.id, "report": raw}


class Group:
    """The least that a group commit needs."""

    def __init__(self, url: str) -> None:
        self._engine = connect(url, writing=True)
        self._queue: queue.SimpleQueue[tuple[Row, asyncio.Future[None]]] = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()

    async def add(self, row: Row) -> None:
        """Return once the row is on disk."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put((row, done))
        await done

    def _run(self) -> None:
        while True:
            batch = [self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get())
            with self._engine.begin() as connection:
                connection.execute(insert(kept), [row for row, _ in batch])
            batch[0][1].get_loop().call_soon_threadsafe(_finish, [done for _, done in batch])


def _finish(waiting: list["asyncio.Future[None]"]) -> None:
    for done in waiting:
        if not done.done():  # the client may have hung up
            done.set_result(None)


def create() -> FastAPI:
    """Make one of the bare applications, as the environment says."""
    app, kind, url = FastAPI(), os.environ[KIND], os.environ[URL]
    engine = connect(url, writing=True)
    group = Group(url) if kind == "group" else None

    def keep(row: Row) -> None:
        with engine.begin() as connection:
            connection.execute(insert(kept), row)

    @app.post("/v1/reports")
    async def report(request: Request) -> JSONResponse:
        row = await row_of(request)
        if group is not None:
            await group.add(row)
        elif kind == "plain":
            await run_in_threadpool(keep, row)
        return DONE

    return app
