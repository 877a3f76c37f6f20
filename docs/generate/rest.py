"""The reference of the REST API, from its OpenAPI document: one page for each tag."""

import re
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from docs.build import table
from docs.generate.api import linker
from docs.generate.prose import code, inline
from manylabel.server.control import control_plane
from manylabel.server.metrics import Metrics
from manylabel.server.models import Models
from manylabel.server.openapi import PROBLEMS, openapi_document
from manylabel.server.settings import Settings
from manylabel.server.worker import OPERATIONS, ROUTES

FOLDER = "reference/rest/"
ADDRESS = linker("../../")
INTRO = """\
# REST API

The addresses of `manylabel serve`. [Serving models](../../serving.md) shows how to use them, with commands.
The same as one file for generators of clients: [openapi.json](../openapi.json); a running server has it at
`/v1/openapi.json`. Where the server was started with a token, every request needs the
header `Authorization: Bearer TOKEN`.

"""
ERRORS = """
## Errors

Errors are objects of `application/problem+json` (RFC 9457) with `title`, `status` and `detail`; the other dialects
answer in their own form.

"""


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document of a server with a data directory, which has all addresses."""
    with tempfile.TemporaryDirectory() as folder, Metrics.new_file(1) as counters:
        metrics = Metrics(counters.fileno(), ROUTES, 1, 0)
        app = control_plane(Models([], can_train=True), Settings({}, data=folder), metrics)
        return openapi_document(app, OPERATIONS, [])


def pages() -> dict[str, str]:
    """One page for each tag, and the table of all addresses."""
    tags: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, operations in document()["paths"].items():
        for method, operation in operations.items():
            tags.setdefault(operation["tags"][0], []).append((method.upper(), path, operation))
    order = sorted(tags, key=lambda tag: (tag != "manylabel", tag[0].isupper(), list(tags).index(tag)))
    problems = table(["status", "meaning"], [[code(status), text] for status, text in PROBLEMS.items()])
    index = INTRO + "".join(_listed(tag, tags[tag]) for tag in order) + ERRORS + problems
    found = {f"{FOLDER}index.md": index}
    for tag in order:
        found[f"{FOLDER}{file_name(tag)}"] = _page(tag, tags[tag])
    return found


def file_name(tag: str) -> str:
    """The file of a tag's page."""
    return re.sub(r"\W+", "-", tag.lower()) + ".md"


def _listed(tag: str, operations: list[tuple[str, str, dict[str, Any]]]) -> str:
    rows = [
        [f"[`{method} {path}`]({file_name(tag)}#{anchor(one)})", _prose(one["summary"])]
        for method, path, one in operations
    ]
    return f"## {title(tag)}\n\n" + table(["address", "what it does"], rows) + "\n"


def title(tag: str) -> str:
    """The heading of a tag."""
    return {"manylabel": "Predictions"}.get(tag, tag[0].upper() + tag[1:])


def anchor(operation: Mapping[str, Any]) -> str:
    """The anchor of an operation on its page."""
    return str(operation["operationId"]).replace("_", "-")


def _page(tag: str, operations: list[tuple[str, str, dict[str, Any]]]) -> str:
    parts = [f"# {title(tag)}\n"]
    for method, path, one in operations:
        heading = f"## {_prose(one['summary'])} {{ #{anchor(one)} }}\n"
        parts += [heading, f"```text\n{method} {path}\n```\n", *_operation(one)]
    used = sorted(set(re.findall(r"\(#schema-(\w+)\)", "\n".join(parts))))
    if used:
        parts.append("## Objects\n")
    waiting, done = used, set()
    while waiting:
        name = waiting.pop(0)
        if name not in done:
            done.add(name)
            parts.append(_object(name))
            waiting += re.findall(r"\(#schema-(\w+)\)", parts[-1])
    return "\n".join(parts)


def _operation(one: Mapping[str, Any]) -> Iterator[str]:
    if one.get("description"):
        yield _prose(one["description"]) + "\n"
    rows = [
        [code(given["name"]), given["in"], _kind(given["schema"]), _facts(given, given["schema"])]
        for given in one.get("parameters", ())
    ]
    yield table(["parameter", "in", "type", "meaning"], rows)
    for media, content in one.get("requestBody", {}).get("content", {}).items():
        yield f"Request: `{media}`, {_kind(content.get('schema', {}))}.\n"
    for status, answer in one["responses"].items():
        if status.startswith("2"):
            kinds = [
                f"`{media}`, {_kind(content.get('schema', {}))}" for media, content in answer.get("content", {}).items()
            ]
            yield f"Response {status}: {'; or '.join(kinds) or 'without a body'}.\n"


def _facts(given: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    parts = ["Required."] if given.get("required") and given.get("in") != "path" else []
    if schema.get("default") is not None:
        parts.append(f"Default: {code(str(schema['default']))}.")
    return " ".join([_prose(given.get("description", schema.get("description", ""))), *parts]).strip()


def _object(name: str) -> str:
    schema = document()["components"]["schemas"][name]
    head = f"### {name} {{ #schema-{name} }}\n\n{_prose(schema.get('description', ''))}\n"
    required = schema.get("required", [])
    rows = [
        [code(field), _kind(inside), _facts({"required": field in required}, inside)]
        for field, inside in schema.get("properties", {}).items()
    ]
    return f"{head}\n{table(['field', 'type', 'meaning'], rows) if rows else _kind(schema) + chr(10)}"


def _kind(schema: Any) -> str:
    """The type of a value in words, with links to objects."""
    if not isinstance(schema, dict) or not schema:
        return "any value"
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#schema-{name})"
    for alternatives in ("anyOf", "oneOf"):
        if alternatives in schema:
            return " or ".join(dict.fromkeys(_kind(one) for one in schema[alternatives]))
    if "enum" in schema:
        return " or ".join(code(str(one)) for one in schema["enum"])
    if "const" in schema:
        return code(str(schema["const"]))
    kind = schema.get("type", "any value")
    if kind == "array":
        return f"list of {_kind(schema['items'])}" if schema.get("items") else "list"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict) and schema["additionalProperties"]:
        return f"object with values {_kind(schema['additionalProperties'])}"
    bounds = [f"{word} {schema[key]}" for key, word in BOUNDS.items() if key in schema]
    return " ".join([str(kind), *bounds])


BOUNDS = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "up to", "exclusiveMaximum": "below"}


def _prose(text: str) -> str:
    return inline(" ".join(text.split()), ADDRESS)
