"""The addresses of labels, thresholds, mistakes and keyword rules of corpora, for the control plane."""

from __future__ import annotations

import sqlite3
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request

from manylabel.server.problems import RequestError
from manylabel.server.store import documents, figures, labels, rules, thresholds
from manylabel.server.store.access import CorpusName, CorpusRoutes
from manylabel.server.store.bodies import CONFLICTS, Done
from manylabel.server.store.concepts import find_concepts
from manylabel.server.store.label_bodies import (
    Confusions,
    Curve,
    FoundConcept,
    FoundConcepts,
    LabelRequest,
    LabelRow,
    LabelRows,
    RuleStudy,
    SavedRules,
    SaveRules,
    SaveThresholds,
    Study,
    StudyRequest,
    StudyRules,
    ThresholdFigures,
)


def add_label_routes(router: APIRouter, corpora: CorpusRoutes) -> None:
    """Add the routes of labels, thresholds and mistakes to those of corpora."""
    _add_labels(router, corpora)
    _add_concepts(router, corpora)
    _add_thresholds(router, corpora)
    _add_rules(router, corpora)


def _add_labels(router: APIRouter, corpora: CorpusRoutes) -> None:
    @router.get("/v1/corpora/{corpus}/labels", summary="List labels, those that hold what was typed")
    def listed(
        request: Request,
        corpus: CorpusName,
        typed: Annotated[str, Query(max_length=200)] = "",
        order: Annotated[figures.LabelOrder | None, Query(description="With figures, in this order.")] = None,
        descending: bool = False,
        offset: Annotated[int, Query(ge=0, le=1 << 40)] = 0,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 50,
    ) -> LabelRows:
        def work(database: sqlite3.Connection) -> tuple[int, list[dict[str, Any]]]:
            if order is None:
                return documents.labels(database, typed, offset, limit)
            return figures.label_table(database, typed, order, descending, offset, limit)

        total, found = corpora.read(request, corpus, work)
        near = [] if total else corpora.read(request, corpus, lambda one: documents.near_labels(one, typed))
        return LabelRows(total=total, labels=[LabelRow(**one) for one in found], near=[LabelRow(**one) for one in near])

    @router.post("/v1/corpora/{corpus}/labels", summary="Add, rename, merge or retire a label", responses=CONFLICTS)
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

    @router.get("/v1/corpora/{corpus}/confusions", summary="Pairs of labels where one is missed and another is wrong")
    def confusions(
        request: Request,
        corpus: CorpusName,
        typed: Annotated[str, Query(max_length=200)] = "",
        label: Annotated[str | None, Query(min_length=1, max_length=2_000)] = None,
        limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    ) -> Confusions:
        work = figures.confusions
        return Confusions(**corpora.read(request, corpus, lambda one: work(one, typed, label, limit)))


def _add_concepts(router: APIRouter, corpora: CorpusRoutes) -> None:
    @router.get("/v1/corpora/{corpus}/concepts", summary="Find concepts of the vocabulary by a name or by their URI")
    def concepts(
        request: Request,
        corpus: CorpusName,
        typed: Annotated[str, Query(min_length=1, max_length=2_000)],
        limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    ) -> FoundConcepts:
        folder = corpora.get(request, corpus).folder
        found = corpora.read(request, corpus, lambda one: find_concepts(folder, one, typed, limit))
        return FoundConcepts(concepts=None if found is None else [FoundConcept(**one) for one in found])


def _add_thresholds(router: APIRouter, corpora: CorpusRoutes) -> None:
    @router.post("/v1/corpora/{corpus}/thresholds/study", summary="What other thresholds would lead to")
    def study(request: Request, corpus: CorpusName, asked: Annotated[StudyRequest, Body()]) -> Study:
        work = thresholds.study
        return Study(**corpora.read(request, corpus, lambda one: work(one, asked.label, asked.trial, asked.documents)))

    @router.get("/v1/corpora/{corpus}/thresholds/curve", summary="The figures of a label by threshold")
    def curve(
        request: Request,
        corpus: CorpusName,
        label: Annotated[str, Query(min_length=1, max_length=2_000)],
        points: Annotated[int, Query(ge=2, le=1_000)] = 100,
    ) -> Curve:
        found = corpora.read(request, corpus, lambda one: thresholds.curve(one, label, points))
        return Curve(points=[ThresholdFigures(**one) for one in found])

    @router.put("/v1/corpora/{corpus}/thresholds", summary="Save thresholds of labels", responses=CONFLICTS)
    def save(request: Request, corpus: CorpusName, asked: SaveThresholds) -> Done:
        work = thresholds.save
        return Done(
            event=corpora.write(request, corpus, lambda one: work(one, asked.by, asked.thresholds, asked.revision))
        )


def _add_rules(router: APIRouter, corpora: CorpusRoutes) -> None:
    @router.get("/v1/corpora/{corpus}/rules", summary="The keyword rules that were saved last")
    def saved(request: Request, corpus: CorpusName) -> SavedRules:
        return SavedRules(**corpora.read(request, corpus, rules.saved))

    @router.put("/v1/corpora/{corpus}/rules", summary="Save keyword rules", responses=CONFLICTS)
    def save(request: Request, corpus: CorpusName, asked: SaveRules) -> Done:
        return Done(
            event=corpora.write(request, corpus, lambda one: rules.save(one, asked.by, asked.rules, asked.revision))
        )

    @router.post("/v1/corpora/{corpus}/rules/study", summary="What keyword rules match, and how often they are right")
    def study(request: Request, corpus: CorpusName, asked: Annotated[StudyRules, Body()]) -> RuleStudy:
        return RuleStudy(**corpora.read(request, corpus, lambda one: rules.study(one, asked.rules)))
