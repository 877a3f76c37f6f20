"""Model files: bytes changed, and forged files whose checksums are right."""

from __future__ import annotations

import json
import warnings
import zlib
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

from forging import CODES, model_bytes, parts_of
from fuzz.mutation import mutated
from fuzz.structures import changed_array, changed_json
from fuzz.targets.base import Target, file
from manylabel import TextClassifier
from manylabel.data.known import load
from manylabel.tasks.models import inspect

METHODS = (
    "nb", "nb-binary", "nb-bernoulli", "nb-powerset", "mnb-vw", "mnb-vw-cc", "svm", "svm-hf", "svm-top-down",
    "logistic", "knn", "ml-knn", "rocchio", "trees", "forest", "neural", "pmm1", "one-vs-one", "ensemble",
    "ensemble-stacked", "rules", "auto",
)  # fmt: skip
DOCUMENTS = 40
TEXTS = ("The bus was late and the road full of holes.", "", "bin bin bin not emptied, noise at night")
WORDS: tuple[Any, ...] = (
    "@array", "@csr", "@strings", "@tuple", "@object", "@float", "@words", "LinearSVM", "MultinomialNB",
    "TextClassifier", "model", "Ensemble", {"@float": "nan"}, {"@float": "x"}, {"@array": "model"}, {"@tuple": []},
    {"@csr": "model", "shape": [2, 2]}, {"@strings": "model", "count": 2},
)  # fmt: skip
"""Values of a header that the reader of model files gives a meaning to."""


def saved_models() -> list[bytes]:
    """A small model of each of several methods."""
    corpus = load("townhall").corpus.split("train").subset(range(DOCUMENTS))
    made = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in METHODS:
            features = {"rules": {"buses": "bus OR tram*"}} if method == "rules" else {}
            model = TextClassifier(method, features={"min_df": 2, **features})
            path = file("model-seed", method, b"")
            model.fit(corpus.joined_texts, corpus.label_sets).save(path)
            made.append(path.read_bytes())
    return made


@cache
def _parts(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    return parts_of(data)


def changed_model(rng: Random, data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """Another model file: mostly a forgery with correct checksums, else one with changed bytes."""
    if rng.random() < 0.15 or data not in seeds:
        return mutated(rng, data, seeds)
    header, arrays = _parts(data)
    arrays = dict(arrays)
    names = sorted(arrays)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        chance = rng.random()
        name = rng.choice(names)
        if chance < 0.6:
            arrays[name] = changed_array(rng, arrays[name])
        elif chance < 0.9:
            part = rng.choice(("tree", "tree", "tree", "facts"))
            header = {**header, part: changed_json(rng, header[part], WORDS)}
        elif chance < 0.95:
            other = rng.choice(names)
            arrays[name], arrays[other] = arrays[other], arrays[name]
        else:
            header = changed_json(rng, header)
            if not isinstance(header, dict):
                return mutated(rng, data, seeds)
        if any(array.dtype.str[1:] not in CODES for array in arrays.values()):
            return mutated(rng, data, seeds)
        if not isinstance(header.get("tree"), (dict, list)) or "facts" not in header:
            break
    return model_bytes(header, arrays)


def run_model(data: bytes) -> None:
    """Load the model and use it as commands do."""
    path = file("model", "model", data)
    if zlib.crc32(data) & 1:
        inspect(path)
    model = TextClassifier.load(path)
    model.predict(list(TEXTS))
    model.predict_scores(list(TEXTS[:2]))
    model.predict(list(TEXTS) * 6)
    json.dumps(str(model.reading))


MODELS: tuple[Target, ...] = (Target("model", run_model, saved_models, change=changed_model, share=0.25),)
