"""The addresses of jobs and uploaded data, for the control plane."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import FileResponse, PlainTextResponse, StreamingResponse

from manylabel.exceptions import MissingDataError
from manylabel.server.jobs.bodies import (
    ID_PATTERN,
    DataList,
    Job,
    JobList,
    JobRequest,
    Kinds,
    MethodList,
    States,
    Uploaded,
    check_request,
)
from manylabel.server.jobs.store import OVER, RESUMABLE, JobStore
from manylabel.server.operations import ROUTE
from manylabel.server.problems import RequestError
from manylabel.server.settings import Limits
from manylabel.tasks.previewing import file_formats, is_vocabulary_data
from manylabel.tasks.serving import methods_and_metrics
from manylabel.wording import counted

LOOK = 0.2
"""Seconds between two looks at a job whose events are sent."""
MOST_LOG = 1 << 20
WaitForModels: TypeAlias = Callable[[Iterable[dict[str, Any]]], Awaitable[None]]
"""Waits until the models that some jobs wrote are served: a job is reported as done when its model can be used."""
JobId = Annotated[str, Path(pattern=ID_PATTERN, description="The id of a job.")]
LINKS: dict[str, Any] = {
    name: {"operationId": name, "parameters": {"job": "$response.body#/id"}}
    for name in ("show_job", "job_log", "cancel_job", "resume_job")
}
"""What can be asked of a job that was accepted."""


def job_routes(store: JobStore, limits: Limits, wait: WaitForModels, is_stopping: Callable[[], bool]) -> APIRouter:
    """The routes of jobs and of data; events end when the server is stopping."""
    router = APIRouter(tags=["jobs"])
    _add_methods(router)
    _add_jobs(router, store, limits, wait)
    _add_changes(router, store)
    _add_events(router, store, wait, is_stopping)
    _add_data(router, store, limits)
    _add_model_files(router, store)
    return router


def known(store: JobStore, identifier: str) -> dict[str, Any]:
    """The job of an identifier; 404 where there is none."""
    found = store.get(identifier)
    if found is None:
        raise RequestError(404, f"There is no job {identifier!r}. /v1/jobs lists all.")
    return found


@contextmanager
def missing_is_404() -> Iterator[None]:
    """Answer 404 where the address names a model or data that are not there."""
    try:
        yield
    except MissingDataError as error:
        raise RequestError(404, str(error)) from None


def _add_methods(router: APIRouter) -> None:
    @router.get("/v1/methods", summary="List the methods and metrics that jobs can name")
    async def methods(request: Request) -> MethodList:
        request.scope[ROUTE] = "jobs"
        return MethodList(**methods_and_metrics())


def _add_jobs(router: APIRouter, store: JobStore, limits: Limits, wait: WaitForModels) -> None:
    """Routes read and write the store in threads: a write waits for the disk."""

    @router.post("/v1/jobs", status_code=202, summary="Accept a job", responses={202: {"links": LINKS}})
    def add(request: Request, asked: JobRequest) -> Job:
        request.scope[ROUTE] = "jobs"
        check_request(store, asked)
        found = store.add(asked.kind, asked.model_dump(exclude_none=True), limits.queue)
        if found is None:
            waiting = f"{counted(limits.queue, 'job')} {'waits' if limits.queue == 1 else 'wait'} already."
            raise RequestError(429, f"{waiting} Try again later.", {"Retry-After": "60"})
        return Job(**found)

    @router.get("/v1/jobs", summary="List jobs")
    async def jobs(
        request: Request,
        state: States | None = None,
        kind: Kinds | None = None,
        corpus: Annotated[str | None, Query(max_length=64)] = None,
        limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    ) -> JobList:
        request.scope[ROUTE] = "jobs"
        found = await asyncio.to_thread(store.list, state, limit, kind=kind, corpus=corpus)
        await wait(found)
        return JobList(jobs=[Job(**one) for one in found])

    @router.get("/v1/jobs/{job}", summary="Describe a job, with its result", operation_id="show_job")
    async def show(request: Request, job: JobId) -> Job:
        request.scope[ROUTE] = "jobs"
        found = await asyncio.to_thread(known, store, job)
        await wait([found])
        return Job(**found)

    @router.get(
        "/v1/jobs/{job}/log", summary="What a job printed", response_class=PlainTextResponse, operation_id="job_log"
    )
    def log(request: Request, job: JobId) -> PlainTextResponse:
        request.scope[ROUTE] = "jobs"
        known(store, job)
        path = store.log_of(job)
        return PlainTextResponse(path.read_bytes()[-MOST_LOG:] if path.exists() else b"")


def _add_changes(router: APIRouter, store: JobStore) -> None:
    @router.post("/v1/jobs/{job}/cancel", summary="Stop a job", operation_id="cancel_job")
    def cancel(request: Request, job: JobId) -> Job:
        request.scope[ROUTE] = "jobs"
        known(store, job)
        store.cancel(job)
        return Job(**known(store, job))

    @router.post(
        "/v1/jobs/{job}/resume", status_code=202, summary="Run an interrupted job again", operation_id="resume_job"
    )
    def resume(request: Request, job: JobId) -> Job:
        request.scope[ROUTE] = "jobs"
        state = known(store, job)["state"]
        if state not in RESUMABLE:
            raise RequestError(409, f"The job is {state}. Only {', '.join(RESUMABLE)} jobs can be resumed.")
        store.resume(job)
        return Job(**known(store, job))


def _add_events(router: APIRouter, store: JobStore, wait: WaitForModels, is_stopping: Callable[[], bool]) -> None:
    @router.get(
        "/v1/jobs/{job}/events",
        summary="Progress as server-sent events",
        response_class=StreamingResponse,
    )
    async def events(request: Request, job: JobId) -> StreamingResponse:
        request.scope[ROUTE] = "job-events"
        await asyncio.to_thread(known, store, job)

        async def stream() -> AsyncIterator[str]:
            last = None
            while not is_stopping() and not await request.is_disconnected():
                now = await asyncio.to_thread(store.get, job)
                if now is None:
                    return
                await wait([now])
                shown = json.dumps({key: now[key] for key in ("state", "attempt", "progress", "error")})
                if shown != last:
                    yield f"event: {'end' if now['state'] in OVER else 'progress'}\ndata: {shown}\n\n"
                    last = shown
                if now["state"] in OVER:
                    return
                await asyncio.sleep(LOOK)

        return StreamingResponse(stream(), media_type="text/event-stream")


def _add_model_files(router: APIRouter, store: JobStore) -> None:
    @router.get("/v1/models/{model}/file", tags=["models"], summary="The file of a model", response_class=FileResponse)
    def model_file(request: Request, model: Annotated[str, Path(max_length=200)]) -> FileResponse:
        request.scope[ROUTE] = "control"
        with missing_is_404():
            path = store.found_model(model)
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)


def _add_data(router: APIRouter, store: JobStore, limits: Limits) -> None:
    @router.get("/v1/data", summary="List uploaded data")
    def data(request: Request) -> DataList:
        request.scope[ROUTE] = "data"
        names = list(store.upload_names())
        vocabularies = [name for name in names if is_vocabulary_data(store.data_path(name))]
        return DataList(data=names, vocabularies=vocabularies, formats=file_formats())

    @router.delete(
        "/v1/data/{name}",
        status_code=204,
        response_model=None,
        summary="Delete uploaded data; corpora keep their own copy",
    )
    def delete(request: Request, name: Annotated[str, Path(max_length=64)]) -> None:
        request.scope[ROUTE] = "data"
        with missing_is_404():
            store.delete_upload(name)

    @router.put(
        "/v1/data/{file}",
        summary="Upload data; the ending of the name shows the format",
        openapi_extra={
            "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string"}}}}
        },
    )
    async def upload(request: Request, file: Annotated[str, Path(max_length=100)]) -> Uploaded:
        request.scope[ROUTE] = "data"
        name, written, place = store.new_upload(file)
        try:
            size = await _receive(request, written, limits.upload)
            store.keep_upload(written, place)
        finally:
            written.unlink(missing_ok=True)
        return Uploaded(data=name, bytes=size)


async def _receive(request: Request, written: FilePath, limit: int) -> int:
    """Write the body of a request to a new file on the disk, and return its size."""
    size = 0
    with written.open("xb") as stream:
        async for piece in request.stream():
            size += len(piece)
            if size > limit:
                message = f"The data are larger than {limit:,} bytes (--limit upload=…)."
                raise RequestError(413, message, {"Connection": "close"})
            stream.write(piece)
        stream.flush()
        os.fsync(stream.fileno())
    return size
