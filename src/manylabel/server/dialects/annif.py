"""Annif's dialect: projects are models, suggestions are the labels with the highest scores.

Annif's suggestions are ranked labels, not decided ones, so that a limit and a threshold replace the model's rule.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from manylabel.server.operations import Call, Operation, Reply, encode
from manylabel.server.problems import RequestError, too_many_documents
from manylabel.tasks.serving import ServedModel, Text, TextPrediction, Wanted, detect_languages, made_address

MOST_DOCUMENTS = 32
"""Annif's own limit on the documents of a batch."""


class AnnifDocument(Struct):
    """A document with an optional id and metadata; metadata are read as further text."""

    text: str
    document_id: str | None = None
    metadata: dict[str, str] = {}


class SuggestBatchRequest(Struct):
    """Up to 32 documents."""

    documents: Annotated[list[AnnifDocument], Meta(max_length=MOST_DOCUMENTS)]


class Suggestion(Struct):
    """A suggested label."""

    uri: str
    label: str
    score: float
    notation: str | None = None


class Suggestions(Struct):
    """The suggestions for one document, best first."""

    results: list[Suggestion]


class DocumentSuggestions(Struct):
    """The suggestions for one document of a batch."""

    results: list[Suggestion]
    document_id: str | None = None


class DetectRequest(Struct):
    """A text and the languages it may be in, as ISO 639-1 codes."""

    text: str
    languages: Annotated[list[Annotated[str, Meta(min_length=2, max_length=3)]], Meta(min_length=1, max_length=5)]


class LanguageShare(Struct):
    """A language, or null for none of them, and its share in the stop words of the text."""

    language: str | None
    score: float


class DetectResponse(Struct):
    """The languages, most likely first."""

    results: list[LanguageShare]


class Backend(Struct):
    """The method of a model."""

    backend_id: str


class Vocabulary(Struct):
    """The labels of a model."""

    vocab_id: str
    languages: list[str]
    size: int
    loaded: bool = True


class Project(Struct):
    """A model as Annif describes a project."""

    project_id: str
    name: str
    language: str
    backend: Backend
    vocab: Vocabulary
    vocab_language: str
    modification_time: str
    is_trained: bool = True


class Projects(Struct):
    """All models."""

    projects: list[Project]


class Vocabularies(Struct):
    """The label sets of all models."""

    vocabs: list[Vocabulary]


_batch = msgspec.json.Decoder(SuggestBatchRequest)
_detect = msgspec.json.Decoder(DetectRequest)
LIMIT: dict[str, Any] = {"type": "integer", "format": "int32", "default": 10, "minimum": 0, "maximum": 1_000_000}
THRESHOLD: dict[str, Any] = {"type": "number", "default": 0.0, "minimum": 0.0, "maximum": 1.0}
LANGUAGE: dict[str, Any] = {"type": "string"}
SUGGEST_FORM: dict[str, Any] = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string"}, "limit": LIMIT, "threshold": THRESHOLD, "language": LANGUAGE},
    "additionalProperties": {"type": "string"},
}


def project_of(model: ServedModel) -> Project:
    """A model as Annif describes a project."""
    return Project(
        model.name,
        model.name,
        model.language or "und",
        Backend(model.method),
        vocabulary_of(model),
        label_language(model),
        model.version,
    )


def label_language(model: ServedModel) -> str:
    """The language of the labels that are suggested where a request names none; "und" where it is not known."""
    return model.label_language or "und"


def languages_of(model: ServedModel) -> list[str]:
    """The languages in which labels can be suggested, the model's own among them."""
    return sorted({*model.languages, label_language(model)})


def names_in(model: ServedModel, language: str | None) -> list[str]:
    """The names of the labels in one of the languages that are reported; in its own, those of the model."""
    own = language is not None and language.lower() == label_language(model)
    return model.names(None if own else language)


def vocabulary_of(model: ServedModel) -> Vocabulary:
    """The labels of a model as Annif describes a vocabulary."""
    return Vocabulary(model.name, languages_of(model), len(model.labels))


async def projects(call: Call) -> Reply:
    """List all models as projects."""
    return Reply(encode(Projects([project_of(model) for model in call.models.all])))


async def vocabularies(call: Call) -> Reply:
    """List the label sets of all models."""
    return Reply(encode(Vocabularies([vocabulary_of(model) for model in call.models.all])))


async def project(call: Call) -> Reply:
    """Describe a model as a project."""
    model = call.model
    return Reply(encode(project_of(model)), model)


def wanted_of(fields: dict[str, str]) -> Wanted:
    """The limit and threshold of a request."""
    limit, threshold = fields.get("limit", "10"), fields.get("threshold", "0")
    if not limit.isascii() or not limit.isdigit() or len(limit) > 7 or int(limit) > LIMIT["maximum"]:
        raise RequestError(400, f"'limit' is a whole number from 0 to {LIMIT['maximum']:,}, not {limit[:40]!r}.")
    try:
        least = float(threshold)
    except ValueError:
        least = math.nan
    if not 0 <= least <= 1 or "_" in threshold:
        raise RequestError(400, f"'threshold' is a number from 0 to 1, not {threshold[:40]!r}.")
    return Wanted(least, int(limit))


def suggestions(model: ServedModel, names: list[str], answer: TextPrediction) -> list[Suggestion]:
    """The labels of an answer as Annif lists them: scores up to 1, none that is 0."""
    return [
        Suggestion(uri_of(model, column), names[column], min(score, 1.0))
        for column, score in answer.labels
        if score > 0
    ]


def uri_of(model: ServedModel, column: int) -> str:
    """The address of a label; one made of its name where it is none itself and no vocabulary gives it one."""
    return model.uris[column] or made_address(model.labels[column])


async def _suggest(call: Call, texts: list[Text], fields: dict[str, str]) -> tuple[ServedModel, list[list[Suggestion]]]:
    model = call.model
    names, wanted = names_in(model, fields.get("language")), wanted_of(fields)
    if wanted.top == 0:
        return model, [[] for _ in texts]
    answers = await call.predict(model, texts, wanted)
    return model, [suggestions(model, names, answer) for answer in answers]


async def suggest(call: Call) -> Reply:
    """Suggest labels for one text."""
    fields = call.form()
    if "text" not in fields:
        raise RequestError(400, "The form has no field 'text'.")
    metadata = [value for name, value in fields.items() if name.startswith("metadata_")]
    model, [found] = await _suggest(call, ["\n".join([fields["text"], *metadata])], fields)
    return Reply(encode(Suggestions(found)), model)


async def suggest_batch(call: Call) -> Reply:
    """Suggest labels for up to 32 documents."""
    fields = call.query(("limit", "threshold", "language"))
    request = call.json(_batch, wrong=400)
    if len(request.documents) > MOST_DOCUMENTS:
        raise too_many_documents(len(request.documents), MOST_DOCUMENTS)
    texts: list[Text] = ["\n".join([one.text, *one.metadata.values()]) for one in request.documents]
    model, found = await _suggest(call, texts, fields)
    listed = [DocumentSuggestions(one, document.document_id) for one, document in zip(found, request.documents)]
    return Reply(encode(listed), model)


async def detect_language(call: Call) -> Reply:
    """The language of a text, among some."""
    request = call.json(_detect, wrong=400)
    [shares] = await call.each([request.text], lambda text: detect_languages(str(text), request.languages))
    known = [LanguageShare(code, share) for code, share in shares.items()]
    results = [*known, LanguageShare(None, 1.0 - min(1.0, sum(shares.values())))]
    return Reply(encode(DetectResponse(sorted(results, key=lambda one: -one.score))))


QUERY = {"limit": LIMIT, "threshold": THRESHOLD, "language": LANGUAGE}
OPERATIONS = (
    Operation("/v1/projects", "annif-projects", "List models as projects", projects, "Annif", "GET", None, Projects),
    Operation("/v1/vocabs", "annif-vocabs", "List label sets", vocabularies, "Annif", "GET", None, Vocabularies),
    Operation("/v1/projects/{model}", "annif-project", "Describe a project", project, "Annif", "GET", None, Project),
    Operation(
        "/v1/projects/{model}/suggest",
        "annif-suggest",
        "Suggest labels for a text",
        suggest,
        "Annif",
        request=SUGGEST_FORM,
        response=Suggestions,
    ),
    Operation(
        "/v1/projects/{model}/suggest-batch",
        "annif-suggest-batch",
        "Suggest labels for up to 32 documents",
        suggest_batch,
        "Annif",
        request=SuggestBatchRequest,
        response=list[DocumentSuggestions],
        query=QUERY,
    ),
    Operation(
        "/v1/detect-language",
        "annif-detect-language",
        "Detect the language of a text",
        detect_language,
        "Annif",
        request=DetectRequest,
        response=DetectResponse,
    ),
)
