"""The service put together: routes, how it declines, what starts and stops with it."""

import gc
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from multiprocessing import parent_process
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from midpoint import __version__
from midpoint.analyst.disclose.site import Site
from midpoint.analyst.service import logs
from midpoint.analyst.service.http.dispatch import Direct
from midpoint.analyst.service.http.error_responses import ErrorResponses
from midpoint.analyst.service.http.middleware import DELAY, Middleware
from midpoint.analyst.service.http.problems import DeclinedError
from midpoint.analyst.service.http.routes import Service
from midpoint.analyst.service.http.schema import described
from midpoint.analyst.service.http.static import Page, security_headers
from midpoint.analyst.service.limits import Rate
from midpoint.analyst.service.metrics import Metrics
from midpoint.analyst.service.settings import Settings
from midpoint.analyst.service.state.acceptance import Accepted
from midpoint.analyst.service.state.group_commit import Committer, Groups, Readers
from midpoint.analyst.service.state.publication import Publication
from midpoint.analyst.service.state.scoring import scores_of
from midpoint.analyst.storage import Storage, UnavailableError

ENVIRONMENT = "MIDPOINT_SERVICE"
"""Environment variable that holds a worker's settings."""
LISTS = 16
"""Lists of scores that are computed at once, at most: while some are sent, others are computed."""


def create() -> ASGIApp:
    """Make a worker's application, by what its environment says."""
    logs.set_up()
    _end_with_parent()
    threadpool_limits(1)  # a request is small: threads that share its sums only get in the way
    return create_app(Settings.from_json(os.environ[ENVIRONMENT]), opened=_spare)


def _spare() -> None:
    """Spare what a worker begins with from collections of garbage.

    It stays for good, and each time that all of it was looked through, all requests waited: 0.1 s.
    """
    gc.collect()
    gc.freeze()


def _end_with_parent() -> None:
    """Stop this worker when its parent is gone, however that ended: the port must come free."""
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def create_app(settings: Settings, opened: Callable[[], None] | None = None) -> ASGIApp:
    """Make an application; it opens its database and site when it starts, and then is `opened`."""
    metrics = Metrics()
    storage = Storage(settings.database)
    publication = Publication(Site(settings.root), settings.ask, settings.grace)
    service = Service(
        settings=settings,
        publication=publication,
        storage=storage,
        committer=Committer(
            storage,
            waiting=settings.waiting,
            patience=settings.patience,
            settle=partial(_settle, publication, metrics),
        ),
        scoring=Groups(
            partial(scores_of, storage),
            waiting=settings.waiting,
            patience=settings.patience,
            largest=LISTS,
        ),
        readers=Readers(waiting=settings.waiting, patience=settings.patience),
        metrics=metrics,
        rate=Rate(settings.rate),
        page=Page(),
    )
    errors = ErrorResponses(metrics)
    app = Direct(api(service, errors, opened), described(service), errors)
    headers = security_headers(settings.witnesses)
    requests = logs.Requests() if settings.log else None
    return Middleware(app, metrics, headers, requests, delay=DELAY if settings.rate else 0.0)


class Plain(APIRoute):
    """A route whose handler reads the request and makes the response itself."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler as it is: FastAPI describes the route, and adds nothing to it."""
        return self.endpoint


def api(
    service: Service, errors: ErrorResponses, opened: Callable[[], None] | None = None
) -> FastAPI:
    """Route requests to the service."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await service.publication.open()
        service.committer.start()
        service.scoring.start()
        if opened:
            opened()
        try:
            yield
        finally:
            service.committer.stop()
            service.scoring.stop()
            service.readers.stop()
            service.storage.close()

    app = FastAPI(
        title="Midpoint",
        version=__version__,
        summary="A recommender that cannot learn what you keep private.",
        lifespan=lifespan,
        openapi_url="/openapi.json",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
        },  # nothing leaves this machine
    )
    app.router.route_class = Plain
    for route in described(service):
        app.add_api_route(
            route.path,
            route.handler,
            methods=[route.method],
            response_class=Response,
            responses=route.responses,
            openapi_extra=route.extra,
            include_in_schema=route.shown,
            status_code=route.status,
        )
    for kind in (DeclinedError, UnavailableError, HTTPException):
        app.add_exception_handler(kind, errors.on_error)
    return app


def _settle(
    publication: Publication, metrics: Metrics, replies: Sequence[Any], seconds: float
) -> None:
    """Note a commit, and how well those are known now whose reports it kept."""
    metrics.batch.observe(len(replies))
    metrics.commit.observe(seconds)
    if publication.latest is None:
        return
    model = publication.latest.model
    kept = [reply.sums for reply in replies if isinstance(reply, Accepted)]
    sums = [sums for sums in kept if sums is not None and sums.model == model.key]
    if sums:
        for covariance in model.estimates(sums).covariance:
            metrics.error.observe(float(covariance.trace()))
