"""Audit the labels of some data: doubted labels with evidence, conflicting copies, labels that may be one or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manylabel.data import Corpus
from manylabel.data.duplicates import near_duplicates
from manylabel.estimator import Csr
from manylabel.features.pipeline import FeaturePipeline
from manylabel.insight.audit import COST, Doubts, doubted_documents, doubts, judge
from manylabel.insight.cells import LEAST_DOCUMENTS, Judged
from manylabel.insight.label_halves import division
from manylabel.insight.label_report import similar_names
from manylabel.models.base import MultiLabelModel
from manylabel.progress import stage, track
from manylabel.recipe import Recipe
from manylabel.reports.audit_records import (
    AlikeLabels,
    AuditRecord,
    ConflictingCopies,
    DividedLabel,
    DoubtedLabel,
    ImpliedLabel,
)
from manylabel.tasks.choices import report_unlabelled
from manylabel.tasks.corpora import Source, beginnings, documents_of, load_source, split_of

Overrides = Mapping[str, Mapping[str, Any]]
METHOD = "svm"
ACTIONS = {True: "add", False: "remove"}
"""What corrects a label that is missing, and one that is not."""
MOST_LISTED = 1000
SAME_DOCUMENTS = 0.8
"""The least Jaccard similarity of the documents of two labels that look like one."""


@dataclass(frozen=True, slots=True)
class Audited:
    """The record of an audit and the lines that were skipped in reading."""

    record: AuditRecord
    skipped: list[str]

    def as_dict(self) -> dict[str, Any]:
        """The audit as plain data."""
        return {**self.record.as_dict(), "skipped": self.skipped}


def audit(
    source: Source,
    *,
    split: str | None = None,
    most: int = 200,
    overrides: Overrides | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Audited:
    """Judge every label of the documents of a split (default: all); list up to `most` doubted ones with evidence.

    `overrides` changes settings of the method that judges, such as ``{"features": {"markup": "strip"}}``.
    """
    loaded = load_source(source)
    corpus = loaded.corpus if split is None else split_of(loaded.corpus, split, "train")
    report_unlabelled(corpus, source.data)
    Y = Csr(corpus.label_matrix())
    recipe = judging_recipe(overrides)
    pipeline = FeaturePipeline(recipe.vectorizer_settings, recipe.selection, recipe.weighting, n_jobs)
    with stage("Reading words"):
        learned = pipeline.fit_transform(documents_of(corpus), Y, labels=list(corpus.label_names))
    if not learned.is_counts:
        recipe = recipe.for_any_numbers()
    found = judge(recipe.build_model().set_everywhere("n_jobs", n_jobs), learned.X, Y, seed)
    record = _record(corpus, Y, learned.X, pipeline, found, doubts(found, Y), most, source.data)
    return Audited(record, [str(problem) for problem in loaded.skipped])


def judging_recipe(overrides: Overrides | None = None) -> Recipe:
    """The method by whose scores labels are judged, with some settings changed."""
    changed = dict(overrides or {})
    return Recipe.of(METHOD, {**changed, "model": {"C": COST, **changed.get("model", {})}})


def _record(
    corpus: Corpus, Y: Csr, X: Csr, pipeline: FeaturePipeline, judged: Judged, found: Doubts, most: int, data: str
) -> AuditRecord:
    names, ids = list(corpus.label_names), list(corpus.ids)
    copies = _copies(corpus)
    implied = _implied(corpus)
    documents = np.bincount(Y.indices, minlength=Y.shape[1])
    return AuditRecord(
        corpus.name or data,
        len(corpus),
        int((documents > 0).sum()),
        int(Y.nnz),
        int((documents >= LEAST_DOCUMENTS).sum()),
        tuple(_doubted(corpus, X, pipeline, judged, found.first(most))),
        len(found),
        tuple(copies[:MOST_LISTED]),
        len(copies),
        tuple(implied[:MOST_LISTED]),
        len(implied),
        tuple(ids[row] for row in doubted_documents(found, Y).tolist()),
        tuple(alike_labels(Y, names)),
        tuple(_divided(Y, X, names, ids, pipeline)),
    )


def _doubted(corpus: Corpus, X: Csr, pipeline: FeaturePipeline, judged: Judged, found: Doubts) -> list[DoubtedLabel]:
    names, terms = list(corpus.label_names), pipeline.get_feature_names_out().tolist()
    rows, columns = found.rows.tolist(), found.columns.tolist()
    doubted = []
    for row, column, missing, probability, text in zip(
        rows, columns, found.missing.tolist(), found.probability.tolist(), beginnings(corpus, rows), strict=True
    ):
        model = judged.models[judged.fold_of[row]]
        evidence = evidence_for(model, Csr(X[[row]]), column, missing, terms)
        doubted.append(DoubtedLabel(corpus.ids[row], names[column], ACTIONS[missing], probability, evidence, text))
    return doubted


def evidence_for(
    model: MultiLabelModel, x: Csr, column: int, missing: bool, terms: Sequence[str], most: int = 5
) -> tuple[tuple[str, float], ...]:
    """The terms of one document, a row of X, that speak most for a label that is missing, or against one it has.

    Terms that add nothing, such as those of no training document, are left out.
    """
    table = model.evidence(x, [column])
    order = np.argsort(-table.data if missing else table.data, kind="stable")
    order = order[table.data[order] != 0][:most]
    return tuple((str(terms[table.indices[place]]), float(table.data[place])) for place in order.tolist())


def _copies(corpus: Corpus) -> list[ConflictingCopies]:
    """Near-duplicates with different labels, the most similar first; of identical documents the first is compared."""
    with stage("Comparing documents"):
        found = near_duplicates(documents_of(corpus))
    sets, ids = [frozenset(names) for names in corpus.label_sets], list(corpus.ids)
    first_of: dict[int, int] = {}
    pairs = []
    for row, kind in enumerate(found.kind_of.tolist()):
        if kind in first_of:
            pairs.append((first_of[kind], row, 1.0))
        else:
            first_of[kind] = row
    pairs += [
        (min(first_of[a], first_of[b]), max(first_of[a], first_of[b]), similarity)
        for a, b, similarity in zip(found.first.tolist(), found.second.tolist(), found.similarity.tolist(), strict=True)
    ]
    return [
        ConflictingCopies(
            ids[one],
            ids[other],
            similarity,
            tuple(sorted(sets[one] - sets[other])),
            tuple(sorted(sets[other] - sets[one])),
        )
        for one, other, similarity in sorted(pairs, key=lambda pair: -pair[2])
        if sets[one] != sets[other]
    ]


def _implied(corpus: Corpus) -> list[ImpliedLabel]:
    """Ancestors in use that documents lack."""
    if corpus.hierarchy is None:
        return []
    used = {name for names in corpus.label_sets for name in names}
    above = {name: [one for one in corpus.hierarchy.ancestors(name) if one in used] for name in used}
    return [
        ImpliedLabel(identifier, ancestor, name)
        for identifier, names in zip(corpus.ids, corpus.label_sets, strict=True)
        for name in names
        for ancestor in above[name]
        if ancestor not in names
    ]


def alike_labels(Y: Csr, names: Sequence[str]) -> list[AlikeLabels]:
    """Pairs of labels with nearly the same documents, or nearly the same name."""
    documents = np.bincount(Y.indices, minlength=Y.shape[1])
    Z: Any = Y.astype(np.int64)
    table = (Z.T @ Z).tocoo()
    union = documents[table.row] + documents[table.col] - table.data
    same = (table.row < table.col) & (table.data >= SAME_DOCUMENTS * union) & (table.data >= LEAST_DOCUMENTS)
    found = [
        AlikeLabels(names[a], names[b], f"{both:,} of {either:,} documents have both")
        for a, b, both, either in zip(
            table.row[same].tolist(),
            table.col[same].tolist(),
            table.data[same].tolist(),
            union[same].tolist(),
            strict=True,
        )
    ]
    used = np.flatnonzero(documents)
    similar = similar_names([names[label] for label in used.tolist()], documents[used].tolist())
    return found + [AlikeLabels(one.first, one.second, one.reason) for one in similar]


def _divided(Y: Csr, X: Csr, names: Sequence[str], ids: Sequence[str], pipeline: FeaturePipeline) -> list[DividedLabel]:
    """Labels whose documents fall into two groups, the clearest first."""
    by_label, terms = Y.tocsc(), pipeline.get_feature_names_out()
    found = []
    for label in track("Dividing labels", range(Y.shape[1])):
        rows = by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]].astype(np.int64)
        if (one := division(X, rows)) is not None:
            first, second = (tuple(str(terms[term]) for term in side.tolist()) for side in one.terms)
            sizes = len(one.groups[0]), len(one.groups[1])
            examples = ids[one.groups[0][0]], ids[one.groups[1][0]]
            found.append(DividedLabel(names[label], one.ratio, sizes, first, second, examples))
    return sorted(found, key=lambda one: -one.ratio)
