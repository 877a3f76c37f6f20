"""MLflow's dialect: ``POST /invocations``, ``GET /ping``. The first model answers, with one list of labels per row."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from manylabel.server.operations import Call, Operation, Reply, encode
from manylabel.server.problems import MlflowError, RequestError
from manylabel.tasks.serving import Text, Wanted

Row = Annotated[dict[str, str], Meta(description="The columns of a document, by name.")]


class Split(Struct):
    """A table: the names of its columns, and its rows."""

    columns: list[str]
    data: list[list[str]]
    index: list[Any] = []


class Params(Struct):
    """Which labels are wanted; by default the model's rule decides."""

    top: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    threshold: float | None = None


class Invocations(Struct):
    """Documents in one of MLflow's forms."""

    inputs: list[str | Row] | dict[str, list[str]] | UnsetType = UNSET
    instances: list[str | Row] | UnsetType = UNSET
    dataframe_split: Split | UnsetType = UNSET
    dataframe_records: list[Row] | UnsetType = UNSET
    params: Params | None = None


class Predictions(Struct):
    """The predicted labels of each document."""

    predictions: list[list[str]]


_decoder = msgspec.json.Decoder(Invocations)


def document(row: str | Row) -> Text:
    """A row as a document: the text alone where it is the only column."""
    return row if isinstance(row, str) or len(row) != 1 else next(iter(row.values()))


def texts_of(request: Invocations) -> list[Text]:
    """The documents of a request, in whichever form they are."""
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
        return [document(row) for row in form]
    if isinstance(form, Split):
        columns, rows = form.columns, form.data
    else:
        columns, rows = list(form), [list(row) for row in zip(*form.values(), strict=False)]
        if len({len(column) for column in form.values()}) > 1:
            raise RequestError(400, "The columns of 'inputs' have different lengths.")
    if not columns or any(len(row) != len(columns) for row in rows) or len(set(columns)) < len(columns):
        raise RequestError(400, "The table needs columns of different names, and as many cells in each row as columns.")
    return [document(dict(zip(columns, row, strict=True))) for row in rows]


async def invocations(call: Call) -> Reply:
    """Label documents."""
    request = call.json(_decoder, wrong=400)
    model, params = call.model, request.params or Params()
    answers = await call.predict(model, texts_of(request), Wanted(params.threshold, params.top))
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
