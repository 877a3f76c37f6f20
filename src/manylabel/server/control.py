"""The control plane: models, health, metrics and the OpenAPI document, with FastAPI."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manylabel import __version__
from manylabel.exceptions import ManylabelError
from manylabel.server.damage import DamagedStoreError
from manylabel.server.jobs.bodies import PATTERNS
from manylabel.server.jobs.routes import job_routes
from manylabel.server.jobs.store import WRITE_MODELS, JobStore
from manylabel.server.metrics import Metrics
from manylabel.server.models import Models
from manylabel.server.operations import ROUTE
from manylabel.server.problems import (
    RequestError,
    body_too_large,
    form_of,
    method_not_allowed,
    not_ready,
    unexpected,
)
from manylabel.server.settings import Settings
from manylabel.server.store.files import CorpusFiles
from manylabel.server.store.routes import corpus_routes
from manylabel.tasks.serving import ServedModel

RELOAD_SECONDS = 60
ModelName = Annotated[str, Path(description="The name of a model.")]


class Service(BaseModel):
    """The server and its version."""

    title: str
    version: str


class Health(BaseModel):
    """Whether the server runs."""

    status: str


OF_DATA = ("/v1/data", "/v1/jobs", "/v1/corpora")
"""Addresses that exist where the server was started with --data."""


class Readiness(BaseModel):
    """Whether predictions can be asked for, how many workers answer, and which model files could not be loaded."""

    ready: bool
    workers: int
    failures: dict[str, str]


class ModelSummary(BaseModel):
    """A model: which version of it is served."""

    name: str
    version: str
    sha256: str
    method: str
    labels: int
    language: str | None
    probabilities: bool


class ModelDetails(ModelSummary):
    """A model with what its file says of its training."""

    languages: list[str]
    details: dict[str, Any]


class ModelList(BaseModel):
    """All models."""

    models: list[ModelSummary]


class Label(BaseModel):
    """A label, with its address and threshold where it has them."""

    label: str
    uri: str | None
    threshold: float | None


class LabelList(BaseModel):
    """Labels of a model, in the order of its scores."""

    total: int
    labels: list[Label]


def summary(model: ServedModel) -> dict[str, Any]:
    """What is always told of a model."""
    return {
        "name": model.name,
        "version": model.version,
        "sha256": model.sha256,
        "method": model.method,
        "labels": len(model.labels),
        "language": model.language,
        "probabilities": model.probabilities,
    }


def control_plane(models: Models, settings: Settings, metrics: Metrics) -> FastAPI:
    """The application that answers what the dialects do not."""
    app = FastAPI(title="manylabel", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.router.redirect_slashes = False  # a redirect has no explanation, and behind a proxy leads from https to http
    app.add_middleware(LimitedBodies, limit=settings.limits.body)
    _add_errors(app, settings.data)
    _add_operations(app, models, settings, metrics)
    _add_models(app, models)
    _add_reload(app, models, metrics)
    if settings.data is not None:
        store = JobStore(FilePath(settings.data), settings.models)
        wait = partial(wait_for_models, metrics)
        app.include_router(job_routes(store, settings.limits, wait, lambda: not metrics.get("ready")))
        app.include_router(corpus_routes(CorpusFiles(FilePath(settings.data)), store))
    return app


class LimitedBodies:
    """An ASGI application around another one that refuses bodies over a limit; uploads have a limit of their own."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app, self.limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, and count the bytes of its body as they are read."""
        size = 0

        async def limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self.limit:
                problem = body_too_large(self.limit)
                raise HTTPException(problem.status, problem.detail, problem.headers)
            return message

        is_upload = scope["type"] == "http" and scope["path"].startswith("/v1/data/")
        await self.app(scope, receive if is_upload else limited, send)


def _wrong(found: Mapping[str, Any]) -> str:
    """What is wrong with a value, by Pydantic; in words where it would show a pattern."""
    meaning = PATTERNS.get(found["ctx"]["pattern"]) if found["type"] == "string_pattern_mismatch" else None
    return str(found["msg"]) if meaning is None else f"{meaning}; found: {str(found['input'])[:80]!r}"


def _add_errors(app: FastAPI, data: str | None) -> None:
    def answer(request: Request, problem: RequestError) -> Response:
        kind, body = form_of(request.url.path)(problem)
        return Response(body, problem.status, problem.headers, kind.decode())

    async def problem(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestError)
        return answer(request, error)

    async def wrong_input(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        found = "; ".join(f"{'.'.join(map(str, one['loc'][1:]))}: {_wrong(one)}" for one in error.errors())
        return answer(request, RequestError(422, f"The request has another form than expected: {found}."))

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 405:
            return answer(
                request, method_not_allowed(request.method, (error.headers or {}).get("Allow", "other methods"))
            )
        if error.status_code == 404 and data is None and request.url.path.startswith(OF_DATA):
            return answer(
                request, RequestError(404, "This server keeps no data and runs no jobs. Start it with --data DIR.")
            )
        if error.status_code == 404:
            slash = " Leave out the slash at its end." if request.url.path.endswith("/") else ""
            remedy = f"{slash} /v1/openapi.json lists all addresses."
            return answer(request, RequestError(404, f"There is nothing at this address.{remedy}"))
        return answer(request, RequestError(error.status_code, str(error.detail), error.headers))

    async def mistaken(request: Request, error: Exception) -> Response:
        return answer(request, RequestError(422, str(error)))

    async def damaged(request: Request, error: Exception) -> Response:
        return answer(request, RequestError(503, str(error).replace(f"{data}{os.sep}", "")))

    async def broken(request: Request, error: Exception) -> Response:  # raised again then, so that the gate logs it
        return answer(request, unexpected(error))

    app.add_exception_handler(RequestError, problem)
    app.add_exception_handler(RequestValidationError, wrong_input)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(ManylabelError, mistaken)
    app.add_exception_handler(DamagedStoreError, damaged)
    app.add_exception_handler(Exception, broken)


def _add_operations(app: FastAPI, models: Models, settings: Settings, metrics: Metrics) -> None:
    @app.head("/health", include_in_schema=False)
    @app.get("/health", tags=["operations"], summary="Whether the server runs")
    async def health(request: Request) -> Health:
        request.scope[ROUTE] = "health"
        return Health(status="ok")

    @app.head("/ready", include_in_schema=False)
    @app.get(
        "/ready",
        tags=["operations"],
        summary="Whether predictions can be asked for, and which models could not be loaded",
    )
    async def ready(request: Request) -> Readiness:
        request.scope[ROUTE] = "health"
        found = Readiness(ready=True, workers=len(metrics.ready_workers()), failures=models.failures)
        if (why := models.why_not_ready) is not None:
            raise not_ready(why, {**found.model_dump(), "ready": False})
        return found

    @app.get("/metrics", tags=["operations"], summary="Counters for Prometheus", response_class=PlainTextResponse)
    async def report(request: Request) -> Response:
        request.scope[ROUTE] = "metrics"
        listed = [(model.name, model.version, model.sha256) for model in models.all]
        return PlainTextResponse(metrics.report(listed), media_type="text/plain; version=0.0.4")

    @app.get("/v1/", tags=["operations"], summary="The server and its version")
    async def service(request: Request) -> Service:
        request.scope[ROUTE] = "control"
        return Service(title="manylabel", version=__version__)


def _add_models(app: FastAPI, models: Models) -> None:
    @app.get("/v1/models", tags=["models"], summary="List the models")
    async def list_models(request: Request) -> ModelList:
        request.scope[ROUTE] = "control"
        return ModelList(models=[ModelSummary(**summary(model)) for model in models.all])

    @app.get("/v1/models/{model}", tags=["models"], summary="Describe a model")
    async def show_model(request: Request, response: Response, model: ModelName) -> ModelDetails:
        request.scope[ROUTE] = "control"
        found = models.get(model)
        name_model(response, models, found)
        return ModelDetails(**summary(found), languages=found.languages, details=found.details)

    @app.get("/v1/models/{model}/labels", tags=["models"], summary="List the labels of a model")
    async def labels(
        request: Request,
        response: Response,
        model: ModelName,
        offset: Annotated[int, Query(ge=0, le=1 << 40)] = 0,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
        language: str | None = None,
    ) -> LabelList:
        request.scope[ROUTE] = "labels"
        found = models.get(model)
        name_model(response, models, found)
        names = found.names(language)
        listed = [
            Label(label=names[one], uri=found.uris[one], threshold=found.thresholds[one] if found.thresholds else None)
            for one in range(offset, min(offset + limit, len(names)))
        ]
        return LabelList(total=len(names), labels=listed)


def _add_reload(app: FastAPI, models: Models, metrics: Metrics) -> None:
    @app.post("/v1/models/{model}/reload", tags=["models"], summary="Serve the file of a model as it is now")
    async def reload(request: Request, response: Response, model: ModelName) -> ModelSummary:
        request.scope[ROUTE] = "control"
        await ask_all_workers(metrics)
        if model in models.failures and models.serves(model):
            kept = models.get(model).version
            raise RequestError(409, f"The version {kept} is still served. {models.failures[model]}")
        name_model(response, models, models.get(model))
        return ModelSummary(**summary(models.get(model)))


async def ask_all_workers(metrics: Metrics) -> None:
    """Have every worker look at the model files again, and wait until all did."""
    asked = time.monotonic()  # one clock for all processes, which is never set back
    deadline = asked + RELOAD_SECONDS
    while metrics.least_generation() < asked:
        if metrics.get("generation", metrics.workers) < asked:  # not asked yet, or another worker asked for less
            metrics.set("generation", asked, metrics.workers)
        if time.monotonic() > deadline:
            raise RequestError(409, f"Some workers did not load the model within {RELOAD_SECONDS} seconds. Ask again.")
        await asyncio.sleep(0.01)


async def wait_for_models(metrics: Metrics, jobs: Iterable[Mapping[str, Any]]) -> None:
    """Wait until all workers serve what some jobs wrote, so that whoever reads that one is done can use its model."""
    ended = max((one["ended"] for one in jobs if one["state"] == "done" and one["kind"] in WRITE_MODELS), default=0.0)
    seconds_ago = time.time() - ended
    if metrics.least_generation() < time.monotonic() - seconds_ago:
        with contextlib.suppress(RequestError):  # a worker takes very long; what the job wrote is served later
            await ask_all_workers(metrics)


def name_model(response: Response, models: Models, model: ServedModel) -> None:
    """Name the model, its version and its hash in the headers of a response."""
    for name, value in models.headers(model):
        response.headers[name.decode()] = value.decode()


def openapi_route(app: FastAPI, document: dict[str, Any]) -> None:
    """Serve the OpenAPI document."""

    @app.get("/v1/openapi.json", include_in_schema=False)
    async def openapi(request: Request) -> JSONResponse:
        request.scope[ROUTE] = "control"
        return JSONResponse(document)
