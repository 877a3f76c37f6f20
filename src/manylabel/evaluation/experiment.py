"""Measure a fitted classifier on labelled documents."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from manylabel import __version__
from manylabel.data.labels import LabelSets, label_matrix, stack
from manylabel.estimator import Csr
from manylabel.evaluation.result import LabelRow, PartCounts, Result
from manylabel.metrics import conventions, label_counts, measure_all


class Labeller(Protocol):
    """What an evaluation needs of a fitted classifier."""

    method: str
    seed: int
    labels_: list[str]
    label_counts_: Any

    @property
    def recipe(self) -> Any:
        """The resolved settings."""

    @property
    def thresholds(self) -> dict[str, float] | None:
        """The least score each label needs."""

    def iter_label_matrices(self, documents: Any) -> Iterator[Csr]:
        """Predicted label sets, batch by batch."""

    def remarks(self, documents: Any) -> dict[str, Any]:
        """What the method has to say of how it came to its answers."""


def evaluate(
    classifier: Labeller,
    documents: Any,
    label_sets: LabelSets,
    *,
    ids: Sequence[str],
    data: str,
    part: str,
    train: PartCounts | None = None,
    fit_seconds: float | None = None,
) -> Result:
    """Predict, compare with the given labels and measure.

    Labels that the documents carry and training never saw cannot be predicted: they are counted as misses and named
    in `unseen_labels`.
    """
    known = list(classifier.labels_)
    unseen = Counter(name for names in label_sets for name in names if name not in set(known))
    names = known + sorted(unseen)
    began = time.perf_counter()
    batches = list(classifier.iter_label_matrices(documents))
    seconds = {"predict": time.perf_counter() - began}
    if fit_seconds is not None:
        seconds["fit"] = fit_seconds
    T = label_matrix(label_sets, names)
    S = stack(batches, len(names))
    return Result(
        method=classifier.method,
        data=data,
        part=part,
        test=PartCounts.of(label_sets),
        train=train,
        measures=_measures(T, S),
        labels=_label_rows(classifier, names, T, S),
        unseen_labels=dict(sorted(unseen.items())),
        conventions=conventions(),
        recipe=classifier.recipe.as_dict(),
        seed=classifier.seed,
        seconds=seconds,
        gold_sha256=_fingerprint(ids, label_sets),
        remarks=classifier.remarks(documents),
        versions={"manylabel": __version__, "python": platform.python_version(), "numpy": np.__version__},
    )


def _measures(T: Csr, S: Csr) -> dict[str, dict[str, float]]:
    measures = {"all": measure_all(T, S)}
    labelled = np.flatnonzero(np.diff(T.indptr))
    if len(labelled) < T.shape[0]:
        measures["labelled"] = measure_all(T[labelled], S[labelled])
    return measures


def _label_rows(classifier: Labeller, names: Sequence[str], T: Csr, S: Csr) -> list[LabelRow]:
    counts = label_counts(T, S)
    trained = dict(zip(classifier.labels_, np.asarray(classifier.label_counts_).tolist(), strict=True))
    thresholds = classifier.thresholds or {}
    rows = []
    columns = zip(names, counts.tp.tolist(), counts.fp.tolist(), counts.fn.tolist(), strict=True)
    for name, hits, false, missed in columns:
        precision = hits / (hits + false) if hits + false else 0.0
        recall = hits / (hits + missed) if hits + missed else 0.0
        f1 = 2 * hits / (2 * hits + false + missed) if hits else 0.0
        rows.append(
            LabelRow(
                label=name,
                trained=trained.get(name, 0),
                true=hits + missed,
                predicted=hits + false,
                hits=hits,
                precision=precision,
                recall=recall,
                f1=f1,
                threshold=thresholds.get(name),
            )
        )
    return rows


def _fingerprint(ids: Sequence[str], label_sets: LabelSets) -> str:
    """SHA-256 of the ids and their labels: two results with the same one were measured against the same truth."""
    digest = hashlib.sha256()
    for identifier, names in zip(ids, label_sets, strict=True):
        digest.update(json.dumps([identifier, sorted(names)], ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()
