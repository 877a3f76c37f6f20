"""The addresses of corpora under review, for the control plane.

Documents are named by their numbers and labels in bodies and queries, so that ids and names with slashes or quotes need
no care. Whoever decides gives a name; there are no accounts.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath
from typing import Annotated, TypeVar

from fastapi import APIRouter, Body, Path, Query, Request
from fastapi.responses import FileResponse, StreamingResponse
from starlette.background import BackgroundTask

from manylabel.server.operations import ROUTE
from manylabel.server.problems import RequestError
from manylabel.server.store import decisions, documents, filling, labels, thresholds
from manylabel.server.store.bodies import (
    BulkDone,
    BulkRequest,
    CorpusList,
    CorpusSummary,
    Curve,
    Decided,
    DecideRequest,
    Document,
    DocumentPage,
    Done,
    Event,
    EventList,
    Formats,
    LabelRequest,
    LabelRow,
    LabelRows,
    Preview,
    PreviewRequest,
    SaveThresholds,
    SearchRequest,
    Study,
    StudyRequest,
    ThresholdFigures,
    Undone,
    UndoRequest,
)
from manylabel.server.store.files import CorpusFile, CorpusFiles, about
from manylabel.tasks.reviewing import written_formats

Given = TypeVar("Given")
CorpusName = Annotated[str, Path(description="The name of a corpus.", max_length=64)]


class CorpusRoutes:
    """What the routes of corpora have in common: a corpus by name, within one transaction."""

    def __init__(self, files: CorpusFiles) -> None:
        self.files = files

    def get(self, request: Request, name: str) -> CorpusFile:
        """The corpus that an address names; 404 where there is none."""
        request.scope[ROUTE] = "corpora"
        if name not in self.files.names():
            known = ", ".join(self.files.names()) or "none"
            raise RequestError(404, f"There is no corpus {name!r}. Known: {known}. Import one: POST /v1/jobs.")
        return self.files.get(name)

    def read(self, request: Request, name: str, work: Callable[[sqlite3.Connection], Given]) -> Given:
        """What `work` finds in a corpus."""
        with self.get(request, name).reading() as database:
            return work(database)

    def write(self, request: Request, name: str, work: Callable[[sqlite3.Connection], Given]) -> Given:
        """What `work` returns after what it did is on the disk."""
        try:
            with self.get(request, name).writing() as database:
                return work(database)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            raise RequestError(
                429, "A longer change of this corpus is under way. Nothing was saved. Try again.", {"Retry-After": "5"}
            ) from None


def corpus_routes(files: CorpusFiles) -> APIRouter:
    """The routes of corpora. They run in threads: a write waits for the disk."""
    router, corpora = APIRouter(tags=["corpora"]), CorpusRoutes(files)
    _add_lists(router, corpora)
    _add_decisions(router, corpora)
    _add_labels(router, corpora)
    _add_thresholds(router, corpora)
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


def _add_decisions(router: APIRouter, corpora: CorpusRoutes) -> None:
    @router.post("/v1/corpora/{corpus}/decisions", summary="Accept and reject labels of documents")
    def decide(request: Request, corpus: CorpusName, asked: DecideRequest) -> Decided:
        given = [one.model_dump() for one in asked.decisions]
        event, revisions = corpora.write(request, corpus, lambda one: decisions.decide(one, asked.by, given))
        return Decided(event=event, revisions=revisions)

    @router.post("/v1/corpora/{corpus}/bulk/preview", summary="Preview an action on all documents of a filter")
    def preview(request: Request, corpus: CorpusName, asked: PreviewRequest) -> Preview:
        action = asked.action.model_dump()
        return Preview(**corpora.read(request, corpus, lambda one: decisions.preview(one, asked.filter, action)))

    @router.post("/v1/corpora/{corpus}/bulk", summary="Carry out an action on all documents of a filter")
    def bulk(request: Request, corpus: CorpusName, asked: BulkRequest) -> BulkDone:
        action = asked.action.model_dump()
        event, changes = corpora.write(
            request, corpus, lambda one: decisions.apply_to_all(one, asked.by, asked.filter, action, asked.revision)
        )
        return BulkDone(event=event, changes=changes)

    @router.post("/v1/corpora/{corpus}/undo", summary="Take back a decision")
    def undo(request: Request, corpus: CorpusName, asked: UndoRequest) -> Undone:
        event, undone = corpora.write(request, corpus, lambda one: decisions.undo(one, asked.by, asked.event))
        return Undone(event=event, undone=undone)

    @router.get("/v1/corpora/{corpus}/events", summary="List who did what, the newest first")
    def events(
        request: Request,
        corpus: CorpusName,
        by: Annotated[str | None, Query(max_length=100)] = None,
        before: Annotated[int | None, Query(ge=0, lt=1 << 53)] = None,
        limit: Annotated[int, Query(ge=1, le=500)] = 20,
    ) -> EventList:
        found = corpora.read(request, corpus, lambda one: labels.events(one, by, before, limit))
        return EventList(events=[Event(**{**one, "detail": json.loads(one["detail"])}) for one in found])


def _add_labels(router: APIRouter, corpora: CorpusRoutes) -> None:
    @router.get("/v1/corpora/{corpus}/labels", summary="List labels, those that hold what was typed")
    def listed(
        request: Request,
        corpus: CorpusName,
        typed: Annotated[str, Query(max_length=200)] = "",
        offset: Annotated[int, Query(ge=0, le=1 << 40)] = 0,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 50,
    ) -> LabelRows:
        total, found = corpora.read(request, corpus, lambda one: documents.labels(one, typed, offset, limit))
        return LabelRows(total=total, labels=[LabelRow(**one) for one in found])

    @router.post("/v1/corpora/{corpus}/labels", summary="Add, rename, merge or retire a label")
    def change(request: Request, corpus: CorpusName, asked: LabelRequest) -> Done:
        if (asked.to is None) == (asked.do in ("rename", "merge")):
            raise RequestError(422, "'to' is given where a label is renamed or merged, and only there.")
        work = {"rename": labels.rename, "merge": labels.merge}
        if asked.to is not None:
            target = asked.to
            event = corpora.write(request, corpus, lambda one: work[asked.do](one, asked.by, asked.label, target))
        else:
            single = labels.add if asked.do == "add" else labels.retire
            event = corpora.write(request, corpus, lambda one: single(one, asked.by, asked.label))
        return Done(event=event)


def _add_thresholds(router: APIRouter, corpora: CorpusRoutes) -> None:
    @router.post("/v1/corpora/{corpus}/thresholds/study", summary="What other thresholds would lead to")
    def study(request: Request, corpus: CorpusName, asked: Annotated[StudyRequest, Body()]) -> Study:
        work = thresholds.study
        return Study(**corpora.read(request, corpus, lambda one: work(one, asked.label, asked.wanted, asked.documents)))

    @router.get("/v1/corpora/{corpus}/thresholds/curve", summary="The figures of a label by threshold")
    def curve(
        request: Request,
        corpus: CorpusName,
        label: Annotated[str, Query(min_length=1, max_length=2_000)],
        points: Annotated[int, Query(ge=2, le=1_000)] = 100,
    ) -> Curve:
        found = corpora.read(request, corpus, lambda one: thresholds.curve(one, label, points))
        return Curve(points=[ThresholdFigures(**one) for one in found])

    @router.put("/v1/corpora/{corpus}/thresholds", summary="Save thresholds of labels")
    def save(request: Request, corpus: CorpusName, asked: SaveThresholds) -> Done:
        work = thresholds.save
        return Done(
            event=corpora.write(request, corpus, lambda one: work(one, asked.by, asked.thresholds, asked.revision))
        )


def _add_exports(router: APIRouter, corpora: CorpusRoutes) -> None:
    @router.get("/v1/corpora/{corpus}/formats", summary="The formats that a corpus can be written in")
    def formats(request: Request, corpus: CorpusName) -> Formats:
        known = corpora.read(request, corpus, about)
        return Formats(formats=list(written_formats(known["is_counts"])))

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
