"""Training, comparison, evaluation, audit and previews as jobs: plain data in, a record of plain data out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manylabel.catalog import DEFAULT_METHOD
from manylabel.data.strict_json import dumps as dumps
from manylabel.exceptions import ParameterError, UnknownNameError
from manylabel.metrics import DEFAULT_METRIC
from manylabel.recipe import with_metric
from manylabel.setting_values import with_tuples
from manylabel.tasks.audit import audit
from manylabel.tasks.compare import compare
from manylabel.tasks.corpora import Source
from manylabel.tasks.evaluate import evaluate_methods, evaluate_model
from manylabel.tasks.labels import report
from manylabel.tasks.models import train
from manylabel.tasks.previewing import preview

MOST_LISTED, MOST_CURVES = 5_000, 200
"""Entries of each list in a label report, and labels with a curve of thresholds."""
KINDS = ("train", "compare", "evaluate", "audit", "labels", "preview")


def asked_method(request: Mapping[str, Any]) -> tuple[str, dict[str, dict[str, Any]]]:
    """The method of a job and the settings that differ from its own: those of a recipe, where one is given.

    >>> asked_method({"recipe": {"method": "svm", "features": {"ngrams": [1, 2]}}})
    ('svm', {'features': {'ngrams': (1, 2)}})
    """
    recipe = with_tuples(request.get("recipe", {}))
    settings = {section: values for section, values in recipe.items() if section != "method"}
    name = recipe.get("method") or request.get("method") or DEFAULT_METHOD
    return name, with_metric(settings, request.get("metric"))


def run_job(kind: str, source: Source, model: Path | None, request: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a job; `source` and `model` are the data and the model file that the request names.

    ``train`` writes the model, ``compare`` that of the winner where one is named, ``evaluate`` measures the model, or
    a method on the test split where none is named, ``audit`` judges the labels of the data, ``labels`` reports on
    them, with the quality of a model where one is named, ``preview`` tells how the data are read. None of them keeps
    partial results: a job that is run again starts over.
    """
    seed, n_jobs = int(request.get("seed") or 0), request.get("threads")
    metric, method = request.get("metric"), request.get("method")
    if kind == "train":
        if model is None:
            raise ParameterError(
                'A job of the kind \'train\' needs the name of the model to write: "model": "letters".'
            )
        name, overrides = asked_method(request)
        trained = train(source, model, method=name, overrides=overrides, seed=seed, n_jobs=n_jobs)
        return trained.record.as_dict() | {"model": model.stem}
    if kind == "compare":
        methods = request.get("methods")
        found = compare(
            source, model, methods=methods, metric=metric or DEFAULT_METRIC, budget=request.get("budget"), seed=seed,
            n_jobs=n_jobs,
        )  # fmt: skip
        return found.record.as_dict() | {"model": None if model is None else model.stem}
    if kind == "evaluate":
        if model is not None:
            evaluated = evaluate_model(source, model)
        else:
            evaluated = evaluate_methods(
                source, [method or DEFAULT_METHOD], overrides=with_metric({}, metric), seed=seed, n_jobs=n_jobs
            )
        return {"split": evaluated.split, "results": [result.as_dict() for result in evaluated.results]}
    if kind == "audit":
        return audit(source, seed=seed, n_jobs=n_jobs).as_dict()
    if kind == "labels":
        return _label_report(source, model)
    if kind == "preview":
        return preview(source)
    raise UnknownNameError("kind of job", kind, KINDS)


def _label_report(source: Source, model: Path | None) -> dict[str, Any]:
    """The label report, of a size that a page can show; `shortened` has the true lengths of the lists that were cut."""
    found = report(source, model).as_dict()
    lengths: dict[str, int] = {}
    if (measured := found["model"]) is not None and model is not None:
        found["model"] = _shortened({**measured, "model": model.stem}, "model.", lengths)
    return {**_shortened(found, "", lengths), "shortened": lengths}


def _shortened(plain: Mapping[str, Any], place: str, lengths: dict[str, int]) -> dict[str, Any]:
    """Plain data with long lists cut, whose true lengths are noted in `lengths`."""
    short = dict(plain)
    for name, value in plain.items():
        most = MOST_CURVES if name == "thresholds" else MOST_LISTED
        if isinstance(value, (list, tuple)) and len(value) > most:
            lengths[f"{place}{name}"] = len(value)
            short[name] = value[:most]
    return short
