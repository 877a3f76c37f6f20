"""The OpenAPI document: what FastAPI knows of the control plane, and the operations of the dialects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from fastapi import FastAPI

from manylabel.server.operations import Operation
from manylabel.server.problems import PROBLEM_JSON, ProblemBody, form_of, problem_json

REF = "#/components/schemas/{name}"
PROBLEMS = {
    "400": "The request is not valid",
    "401": "The token is missing or wrong",
    "403": "A page of another site sent the request, which was not allowed with --origin",
    "404": "There is no such model, job, corpus or document",
    "405": "The address does not take this method",
    "408": "The request did not arrive in time",
    "409": "The model file cannot be loaded, or someone changed what the request is about (`conflicts`)",
    "413": "The body, the number of documents or a document is too large",
    "415": "The content type is not the one expected, or the body has a content encoding",
    "421": "The request came to an address that is not the server's own",
    "422": "The request has another form than expected",
    "429": "The server is busy, or the work took too long",
    "503": "No model can be asked for predictions, or a database of the data directory is damaged",
    "507": "The disk of the server's data folder is full",
}


def openapi_document(app: FastAPI, operations: Sequence[Operation], models: Sequence[str]) -> dict[str, Any]:
    """The document of all addresses; `models` are the names that may stand in them, where these are fixed."""
    document: dict[str, Any] = app.openapi()
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    kinds = [kind for one in operations for kind in (one.request, *_alternatives(one.response), one.problem)]
    types = [kind for kind in kinds if kind is not None and not isinstance(kind, dict)]
    _, found = msgspec.json.schema_components(dict.fromkeys([*types, ProblemBody]), ref_template=REF)
    schemas.update(found)
    for path in document["paths"].values():
        for described in path.values():
            conflict = described["responses"].get("409")
            described["responses"] = {**described["responses"], **_problems(ProblemBody, problem_json)}
            if conflict is not None:  # declared by the route, which knows more about it
                content = conflict["content"]["application/json"]
                described["responses"]["409"]["content"] = {PROBLEM_JSON.decode(): content}
    for one in operations:
        document["paths"].setdefault(one.path, {})[one.method.lower()] = _described(one)
    for path in document["paths"].values():
        for described in path.values():
            for parameter in described.get("parameters", ()):
                if models and (parameter["in"], parameter["name"]) == ("path", "model"):
                    parameter["schema"]["enum"] = list(models)
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{}, {"token": []}]
    return document


def _alternatives(kind: Any) -> tuple[Any, ...]:
    return kind if isinstance(kind, tuple) else (kind,)


def _schema(kind: Any) -> dict[str, Any]:
    if isinstance(kind, dict):
        return kind
    if isinstance(kind, tuple):
        return {"anyOf": [_schema(one) for one in kind]}
    (schema,), _ = msgspec.json.schema_components([kind], ref_template=REF)
    return schema


def _problems(kind: Any, form: Any) -> dict[str, Any]:
    media = "application/problem+json" if form is problem_json else "application/json"
    return {
        status: {"description": text, "content": {media: {"schema": _schema(kind)}}}
        for status, text in PROBLEMS.items()
    }


def _described(one: Operation) -> dict[str, Any]:
    """One operation of a dialect."""
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", one.path)
    ]
    parameters += [
        {"name": name, "in": "query", "required": False, "schema": dict(schema)} for name, schema in one.query.items()
    ]
    success = {"description": "Success", "content": {"application/json": {"schema": _schema(one.response)}}}
    described: dict[str, Any] = {
        "tags": [one.dialect],
        "summary": one.summary,
        "operationId": one.name,
        "parameters": parameters,
        "responses": {"200": success, **_problems(one.problem, form_of(one.path))},
    }
    if one.request is not None:
        is_form = one.path.endswith("/suggest")
        media = "application/x-www-form-urlencoded" if is_form else "application/json"
        described["requestBody"] = {"required": True, "content": {media: {"schema": _schema(one.request)}}}
    return described
