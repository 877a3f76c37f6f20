"""manylabel's own dialect: ``POST /v1/models/{model}/predict`` and ``/explain``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from manylabel.server.operations import Call, Operation, Reply, encode
from manylabel.server.problems import RequestError
from manylabel.tasks.serving import Scored, ServedModel, Text, TextPrediction, Wanted

Fields = Annotated[dict[str, str], Meta(description="A document of several fields, such as title and body.")]
MOST_EXPLAINED = 32
Count = Annotated[int, Meta(ge=1, le=1_000_000)]


class Document(Struct, forbid_unknown_fields=True):
    """A document with a name of its own, which its prediction repeats."""

    text: str | Fields
    id: str | None = None


class PredictRequest(Struct, forbid_unknown_fields=True):
    """One document (`text`) or several (`documents`), and which labels are wanted.

    By default the model's decision rule decides; `threshold` and `top` replace it.
    """

    text: str | Fields | UnsetType = UNSET
    documents: list[str | Document] | UnsetType = UNSET
    top: Count | None = None
    threshold: float | None = None
    runners_up: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    language: str | None = None
    thresholds: bool = False


class LabelScore(Struct, omit_defaults=True):
    """A label and its score; its address and threshold where it has them."""

    label: str
    score: float
    uri: str | None = None
    threshold: float | None = None


class Prediction(Struct, omit_defaults=True):
    """The predicted labels of one document, best first."""

    labels: list[LabelScore]
    id: str | None = None
    runners_up: list[LabelScore] | None = None


class PredictResponse(Struct):
    """The predictions, and the model, version and hash that made them."""

    model: str
    version: str
    sha256: str
    predictions: list[Prediction]


class ExplainRequest(Struct, forbid_unknown_fields=True):
    """One document (`text`) or several (`documents`), and the labels to explain.

    By default those that are predicted, and the next best ones (`runners_up`).
    """

    text: str | Fields | UnsetType = UNSET
    documents: Annotated[list[str | Document], Meta(max_length=MOST_EXPLAINED)] | UnsetType = UNSET
    labels: Annotated[list[str], Meta(min_length=1, max_length=100)] | None = None
    runners_up: Annotated[int, Meta(ge=0, le=100)] = 2


class ExplainedDocument(Struct, omit_defaults=True):
    """The evidence for each label of one document: terms, what they add to its score, and where they stand."""

    explanation: dict[str, Any]
    id: str | None = None


class ExplainResponse(Struct):
    """The explanations, and the model, version and hash that made them."""

    model: str
    version: str
    sha256: str
    explanations: list[ExplainedDocument]


_decoder = msgspec.json.Decoder(PredictRequest)
_explain = msgspec.json.Decoder(ExplainRequest)


def documents_of(request: PredictRequest | ExplainRequest) -> tuple[list[Text], list[str | None]]:
    """The texts of a request and their ids."""
    if isinstance(request.documents, UnsetType):
        if isinstance(request.text, UnsetType):
            raise RequestError(422, "The request has neither 'text' (one document) nor 'documents' (a list).")
        return [request.text], [None]
    if not isinstance(request.text, UnsetType):
        raise RequestError(422, "The request has both 'text' and 'documents'. Give one of them.")
    given = [Document(one) if isinstance(one, str) else one for one in request.documents]
    return [one.text for one in given], [one.id for one in given]


async def predict(call: Call) -> Reply:
    """Label documents."""
    request = call.json(_decoder)
    model = call.model
    texts, ids = documents_of(request)
    wanted = Wanted(request.threshold, request.top, request.runners_up)
    names = model.names(request.language)
    answers = await call.predict(model, texts, wanted)
    thresholds = model.thresholds if request.thresholds and wanted.by_rule else None
    shown = [
        shown_answer(model, names, answer, identifier, thresholds)
        for answer, identifier in zip(answers, ids, strict=True)
    ]
    return Reply(encode(PredictResponse(model.name, model.version, model.sha256, shown)), model)


def shown_answer(
    model: ServedModel,
    names: Sequence[str],
    answer: TextPrediction,
    identifier: str | None,
    thresholds: Sequence[float] | None,
) -> Prediction:
    """One prediction as the response has it."""

    def shown(scored: list[Scored]) -> list[LabelScore]:
        return [
            LabelScore(names[column], score, model.uris[column], None if thresholds is None else thresholds[column])
            for column, score in scored
        ]

    runners_up = shown(answer.runners_up) if answer.runners_up else None
    return Prediction(shown(answer.labels), identifier, runners_up)


async def explain(call: Call) -> Reply:
    """Explain predictions."""
    request = call.json(_explain)
    model = call.model
    texts, ids = documents_of(request)
    found = await call.each_aside(texts, lambda text: model.explain(text, request.labels, request.runners_up))
    shown = [ExplainedDocument(one, identifier) for one, identifier in zip(found, ids, strict=True)]
    return Reply(encode(ExplainResponse(model.name, model.version, model.sha256, shown)), model)


OPERATIONS = (
    Operation(
        "/v1/models/{model}/predict",
        "predict",
        "Label one document or a batch",
        predict,
        "manylabel",
        request=PredictRequest,
        response=PredictResponse,
    ),
    Operation(
        "/v1/models/{model}/explain",
        "explain",
        "Explain the predictions for one document or a few",
        explain,
        "manylabel",
        request=ExplainRequest,
        response=ExplainResponse,
        is_quick=False,
    ),
)
