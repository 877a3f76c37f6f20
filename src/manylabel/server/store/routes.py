"""The addresses of corpora under review, for the control plane.

Documents are named by their numbers and labels in bodies and queries, so that ids and names with slashes or quotes need
no care. Whoever decides gives a name; there are no accounts.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Request
from fastapi.responses import FileResponse, StreamingResponse
from starlette.background import BackgroundTask

from manylabel.server.jobs.store import JobStore
from manylabel.server.operations import ROUTE
from manylabel.server.problems import RequestError
from manylabel.server.store import bulk, decisions, documents, filling, labels
from manylabel.server.store.access import CorpusName, CorpusRoutes
from manylabel.server.store.bodies import (
    CONFLICTS,
    BulkDone,
    BulkRequest,
    CorpusList,
    CorpusSummary,
    Decided,
    DecideRequest,
    Document,
    DocumentPage,
    Event,
    EventList,
    Formats,
    Preview,
    PreviewRequest,
    SearchRequest,
    Undone,
    UndoRequest,
)
from manylabel.server.store.files import CorpusFiles, about
from manylabel.server.store.label_routes import add_label_routes
from manylabel.tasks.reviewing import written_formats


def corpus_routes(files: CorpusFiles, jobs: JobStore) -> APIRouter:
    """The routes of corpora. They run in threads: a write waits for the disk."""
    router, corpora = APIRouter(tags=["corpora"]), CorpusRoutes(files)
    _add_lists(router, corpora)
    _add_deletion(router, corpora, jobs)
    _add_decisions(router, corpora)
    add_label_routes(router, corpora)
    _add_exports(router, corpora)
    return router


def _add_lists(router: APIRouter, corpora: CorpusRoutes) -> None:
    @router.get("/v1/corpora", summary="List the corpora under review")
    def names(request: Request) -> CorpusList:
        request.scope[ROUTE] = "corpora"
        return CorpusList(corpora=corpora.files.names())

    @router.get("/v1/corpora/{corpus}", summary="Describe a corpus")
    def summary(request: Request, corpus: CorpusName) -> CorpusSummary:
        return CorpusSummary(**corpora.read(request, corpus, lambda one: documents.summary(one, about(one))))

    @router.post("/v1/corpora/{corpus}/search", summary="Find documents by labels, scores, words, split and state")
    def search(request: Request, corpus: CorpusName, asked: Annotated[SearchRequest, Body()]) -> DocumentPage:
        def work(database: sqlite3.Connection) -> DocumentPage:
            found, following = documents.page(
                database, asked.filter, asked.order, asked.label,
                descending=asked.descending, cursor=asked.cursor, limit=asked.limit,
            )  # fmt: skip
            total = documents.count(database, asked.filter) if asked.count else None
            return DocumentPage(total=total, documents=[Document(**one) for one in found], next=following)

        return corpora.read(request, corpus, work)

    @router.get("/v1/corpora/{corpus}/documents/{number}", summary="Show a document with its texts and labels")
    def show(request: Request, corpus: CorpusName, number: Annotated[int, Path(ge=0, lt=1 << 53)]) -> Document:
        found = corpora.read(request, corpus, lambda one: documents.documents(one, [number], whole=True))
        if not found:
            raise RequestError(404, f"There is no document of the number {number}.")
        return Document(**found[0])


def _add_deletion(router: APIRouter, corpora: CorpusRoutes, jobs: JobStore) -> None:
    @router.delete("/v1/corpora/{corpus}", summary="Delete a corpus with all its decisions", responses=CONFLICTS)
    def delete(request: Request, corpus: CorpusName) -> CorpusList:
        one = corpora.get(request, corpus)
        for job in [*jobs.list("running", 1_000), *jobs.list("queued", 1_000)]:
            if job["request"].get("corpus") == corpus:
                raise decisions.ConflictError(
                    f"The job {job['id']} ({job['kind']}) on this corpus is {job['state']}. Cancel it or wait for it."
                )
        corpora.files.delete(one)
        return CorpusList(corpora=corpora.files.names())


def _add_decisions(router: APIRouter, corpora: CorpusRoutes) -> None:
    @router.post("/v1/corpora/{corpus}/decisions", summary="Accept and reject labels of documents", responses=CONFLICTS)
    def decide(request: Request, corpus: CorpusName, asked: DecideRequest) -> Decided:
        given = [one.model_dump() for one in asked.decisions]
        event, revisions = corpora.write(request, corpus, lambda one: decisions.decide(one, asked.by, given))
        return Decided(event=event, revisions=revisions)

    @router.post("/v1/corpora/{corpus}/bulk/preview", summary="Preview an action on all documents of a filter")
    def preview(request: Request, corpus: CorpusName, asked: PreviewRequest) -> Preview:
        action = asked.action.model_dump()
        return Preview(**corpora.read(request, corpus, lambda one: bulk.preview(one, asked.filter, action)))

    @router.post(
        "/v1/corpora/{corpus}/bulk", summary="Carry out an action on the documents of a filter", responses=CONFLICTS
    )
    def apply(request: Request, corpus: CorpusName, asked: BulkRequest) -> BulkDone:
        action = asked.action.model_dump()
        event, changes = corpora.write(
            request, corpus, lambda one: bulk.apply_to_all(one, asked.by, asked.filter, action, asked.revision)
        )
        return BulkDone(event=event, changes=changes)

    @router.post("/v1/corpora/{corpus}/undo", summary="Take back a decision", responses=CONFLICTS)
    def undo(request: Request, corpus: CorpusName, asked: UndoRequest) -> Undone:
        event, undone = corpora.write(request, corpus, lambda one: decisions.undo(one, asked.by, asked.event))
        return Undone(event=event, undone=undone)

    @router.get("/v1/corpora/{corpus}/events", summary="List who did what, the newest first")
    def events(
        request: Request,
        corpus: CorpusName,
        by: Annotated[str | None, Query(max_length=100)] = None,
        before: Annotated[int | None, Query(ge=0, lt=1 << 53)] = None,
        after: Annotated[int | None, Query(ge=0, lt=1 << 53)] = None,
        limit: Annotated[int, Query(ge=1, le=500)] = 20,
    ) -> EventList:
        found, latest = corpora.read(request, corpus, lambda one: labels.events(one, by, before, after, limit))
        return EventList(events=[Event(**one) for one in found], latest=latest)


def _add_exports(router: APIRouter, corpora: CorpusRoutes) -> None:
    @router.get("/v1/corpora/{corpus}/formats", summary="The formats that a corpus can be written in")
    def formats(request: Request, corpus: CorpusName) -> Formats:
        own = corpora.read(request, corpus, about)["format"]
        return Formats(formats=sorted(written_formats(own), key=lambda format: format != own))

    @router.get("/v1/corpora/{corpus}/export", summary="The corrected corpus as a file", response_class=FileResponse)
    def export(
        request: Request, corpus: CorpusName, format: Annotated[str | None, Query(max_length=50)] = None
    ) -> FileResponse:
        one = corpora.get(request, corpus)
        folder = FilePath(tempfile.mkdtemp(dir=one.folder))
        try:
            written = filling.export(one, folder, format)
        except BaseException:
            shutil.rmtree(folder)
            raise
        remove = BackgroundTask(shutil.rmtree, folder)
        return FileResponse(written, media_type="application/octet-stream", filename=written.name, background=remove)

    @router.get(
        "/v1/corpora/{corpus}/decisions",
        summary="How labels differ from the imported ones, one JSON object per line, for `manylabel audit --apply`",
        response_class=StreamingResponse,
    )
    def records(request: Request, corpus: CorpusName) -> StreamingResponse:
        found = corpora.read(request, corpus, lambda one: list(filling.decision_records(one)))

        def lines() -> Iterator[str]:
            for record in found:
                yield json.dumps(record) + "\n"

        return StreamingResponse(lines(), media_type="application/jsonl")
