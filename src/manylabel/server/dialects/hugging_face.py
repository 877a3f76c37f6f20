"""The dialect of Hugging Face's Text Embeddings Inference (TEI): ``POST /predict`` and ``GET /info``.

As there, an answer lists every label with its score, best first; the model's decision rule plays no part.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from manylabel import __version__
from manylabel.server.operations import Call, Operation, Reply, encode
from manylabel.server.problems import RequestError, TeiError
from manylabel.tasks.serving import ServedModel, Text


class TeiPredictRequest(Struct):
    """A text, a pair of texts (two strings) or a batch of such, each in a list of its own.

    A pair is read as one document. Options for truncation are accepted and have no effect: nothing is truncated.
    """

    inputs: str | list[str | list[str]]
    raw_scores: bool = False
    truncate: bool | None = None
    truncation_direction: str | None = None


class TeiPrediction(Struct):
    """A label and its score."""

    score: float
    label: str


class ClassifierModel(Struct):
    """The labels by number."""

    id2label: dict[str, str]
    label2id: dict[str, int]


class ModelType(Struct):
    """The type of a model; always a classifier."""

    classifier: ClassifierModel


class Info(Struct):
    """The model and the limits of the server; the lengths of inputs are characters."""

    model_id: str
    model_sha: str
    model_dtype: str
    model_type: ModelType
    max_concurrent_requests: int
    max_input_length: int
    max_batch_tokens: int
    max_client_batch_size: int
    auto_truncate: bool
    tokenization_workers: int
    version: str


_decoder = msgspec.json.Decoder(TeiPredictRequest)
_SINGLE: dict[str, Any] = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1}
_PAIR: dict[str, Any] = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
REQUEST: dict[str, Any] = {
    "type": "object",
    "required": ["inputs"],
    "properties": {
        "inputs": {
            "anyOf": [{"type": "string"}, _PAIR, {"type": "array", "items": {"anyOf": [_SINGLE, _PAIR]}}],
        },
        "raw_scores": {"type": "boolean", "default": False},
        "truncate": {"type": ["boolean", "null"]},
        "truncation_direction": {"type": ["string", "null"]},
    },
}


def texts_of(inputs: str | list[str | list[str]]) -> tuple[list[Text], bool]:
    """The texts of a request, and whether they are a batch."""
    if isinstance(inputs, str):
        return [inputs], False
    pieces = [piece for piece in inputs if isinstance(piece, list)]
    if not pieces and len(inputs) == 2:
        return ["\n".join(map(str, inputs))], False
    if len(pieces) < len(inputs) or not all(len(piece) in (1, 2) for piece in pieces):
        raise RequestError(
            422,
            'A batch is a list of lists: {"inputs": [["one text"], ["another text"]]}. Two bare strings are a pair.',
        )
    return ["\n".join(piece) for piece in pieces], True


def listed(model: ServedModel, text: Text, raw: bool) -> list[TeiPrediction]:
    """Every label with its score, best first."""
    scores = np.nan_to_num(model.scores(text, raw=raw))
    return [TeiPrediction(float(scores[one]), model.labels[one]) for one in np.argsort(-scores, kind="stable").tolist()]


async def predict(call: Call) -> Reply:
    """The scores of all labels."""
    request = call.json(_decoder)
    model = call.model
    texts, batch = texts_of(request.inputs)
    found = await call.each(texts, lambda text: listed(model, text, request.raw_scores))
    return Reply(encode(found if batch else found[0]), model)


async def info(call: Call) -> Reply:
    """Describe the first model and the limits."""
    model, limits = call.model, call.limits
    labels = {str(column): label for column, label in enumerate(model.labels)}
    described = Info(
        model.name,
        model.sha256,
        "float64",
        ModelType(ClassifierModel(labels, {label: int(column) for column, label in labels.items()})),
        limits.requests,
        limits.characters,
        limits.body,
        limits.documents,
        False,
        0,
        __version__,
    )
    return Reply(encode(described), model)


OPERATIONS = (
    Operation(
        "/predict",
        "tei-predict",
        "Score all labels for a text or a batch",
        predict,
        "Hugging Face TEI",
        request=REQUEST,
        response=(list[TeiPrediction], list[list[TeiPrediction]]),
        problem=TeiError,
    ),
    Operation(
        "/info",
        "tei-info",
        "Describe the first model",
        info,
        "Hugging Face TEI",
        "GET",
        None,
        Info,
        problem=TeiError,
    ),
)
