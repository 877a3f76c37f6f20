"""MLflow's dialect: ``POST /invocations``, ``GET /ping``. The first model answers, with one list of labels per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from manylabel.server.operations import Call, Operation, Reply, encode
from manylabel.server.problems import MlflowError, RequestError
from manylabel.tasks.serving import ServedModel, Text, Wanted

Row = Annotated[
    dict[str, Any], Meta(description="The columns of a document, by name; those without texts are ignored.")
]


class Split(Struct):
    """A table: the names of its columns, and its rows."""

    columns: list[str]
    data: list[list[Any]]
    index: list[Any] = []


class Params(Struct):
    """Which labels are wanted; by default the model's rule decides."""

    top: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    threshold: float | None = None


class Invocations(Struct):
    """Documents in one of MLflow's forms."""

    inputs: list[str | Row] | dict[str, list[Any]] | UnsetType = UNSET
    instances: list[str | Row] | UnsetType = UNSET
    dataframe_split: Split | UnsetType = UNSET
    dataframe_records: list[Row] | UnsetType = UNSET
    params: Params | None = None


class Predictions(Struct):
    """The predicted labels of each document."""

    predictions: list[list[str]]


_decoder = msgspec.json.Decoder(Invocations)


def document(number: int, row: Row, fields: Mapping[str, str]) -> Text:
    """A row as a document: the text alone where there is one; numbers are read as their texts, and null as none."""
    texts = {}
    for name, field in fields.items():
        cell = row.get(name)
        if isinstance(cell, (dict, list, bool)):
            kind = {dict: "an object", list: "a list", bool: "true or false"}[type(cell)]
            raise RequestError(400, f"Row {number}: the column {name!r} holds {kind}, and needs a text.")
        if cell is not None:
            texts[field] = str(cell)
    if not texts:
        hold = f"{' and '.join(map(repr, fields))} {'holds' if len(fields) == 1 else 'hold'} null"
        raise RequestError(400, f"Row {number} has no text: {hold}. Leave the row out, or send a text.")
    return texts if len(texts) > 1 else next(iter(texts.values()))


def texts_of(rows: Sequence[str | Row], model: ServedModel) -> list[Text]:
    """The rows as documents: strings are texts, and of tables the columns of texts are read."""
    names = list(dict.fromkeys(name for row in rows if not isinstance(row, str) for name in row))
    columns = {name: [row.get(name) for row in rows if not isinstance(row, str)] for name in names}
    fields = model.text_fields(columns)
    if names and not fields:
        found = ", ".join(map(repr, names[:20]))
        raise RequestError(400, f"No column of the table holds texts. Found: {found}. Name the one that does 'text'.")
    return [row if isinstance(row, str) else document(number, row, fields) for number, row in enumerate(rows, 1)]


def rows_of(request: Invocations) -> Sequence[str | Row]:
    """The rows of a request, in whichever form they are."""
    given = [
        form
        for form in (request.inputs, request.instances, request.dataframe_split, request.dataframe_records)
        if not isinstance(form, UnsetType)
    ]
    if len(given) != 1:
        raise RequestError(
            400, "The request needs one of 'inputs', 'instances', 'dataframe_split' and 'dataframe_records'."
        )
    form = given[0]
    if isinstance(form, list):
        return form
    if isinstance(form, Split):
        columns, rows = form.columns, form.data
    else:
        columns, rows = list(form), [list(row) for row in zip(*form.values(), strict=False)]
        if len({len(column) for column in form.values()}) > 1:
            raise RequestError(400, "The columns of 'inputs' have different lengths.")
    if not columns or any(len(row) != len(columns) for row in rows) or len(set(columns)) < len(columns):
        raise RequestError(400, "The table needs columns of different names, and as many cells in each row as columns.")
    return [dict(zip(columns, row, strict=True)) for row in rows]


async def invocations(call: Call) -> Reply:
    """Label documents."""
    request = call.json(_decoder, wrong=400)
    model, params = call.model, request.params or Params()
    answers = await call.predict(model, texts_of(rows_of(request), model), Wanted(params.threshold, params.top))
    names = [[model.labels[column] for column, _ in one.labels] for one in answers]
    return Reply(encode(Predictions(names)), model)


async def ping(call: Call) -> Reply:
    """Answer that the server lives."""
    return Reply(b"{}")


OPERATIONS = (
    Operation(
        "/invocations",
        "mlflow-invocations",
        "Label the rows of a table",
        invocations,
        "MLflow",
        request=Invocations,
        response=Predictions,
        problem=MlflowError,
    ),
    Operation(
        "/ping",
        "mlflow-ping",
        "Whether the server answers",
        ping,
        "MLflow",
        "GET",
        None,
        dict[str, Any],
        problem=MlflowError,
    ),
)
