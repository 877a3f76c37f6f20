"""The bodies of requests about jobs and uploaded data, what each kind of job needs, and the bodies of responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from manylabel.exceptions import UnknownNameError
from manylabel.server.jobs.store import LEARN_MODELS, WRITE_MODELS, JobStore
from manylabel.server.problems import RequestError
from manylabel.server.store.files import CorpusFiles
from manylabel.tasks.serving import check_methods

NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
ID_PATTERN = "^[0-9a-f]{16}$"
PATTERNS = {
    NAME_PATTERN: "letters, digits, - and _ only, up to 64 of them, without the ending of a file",
    ID_PATTERN: "16 digits and letters from a to f",
}
"""What the patterns of names and ids mean."""
Name = Annotated[str, Field(pattern=NAME_PATTERN)]
EXAMPLES: list[JsonValue] = [
    {"kind": "train", "data": "townhall", "model": "letters", "method": "nb-binary"},
    {"kind": "evaluate", "data": "townhall", "model": "letters"},
    {"kind": "compare", "data": "townhall", "methods": ["nb-binary", "rocchio"], "budget": 30},
    {"kind": "audit", "data": "townhall"},
]
Column = Annotated[str, Field(min_length=1, max_length=500)]
Columns = Annotated[list[Column], Field(min_length=1, max_length=1_000)]
Kinds = Literal[
    "train", "compare", "evaluate", "audit", "labels", "preview", "import", "score", "retrain", "thresholds",
    "suggest",
]  # fmt: skip
States = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]


class ReadOptions(BaseModel):
    """How jobs read uploaded data; what is not given is recognised."""

    model_config = ConfigDict(extra="forbid")
    format: Annotated[str, Field(min_length=1, max_length=50)] | None = None
    text_column: Column | Columns | None = None
    title_column: Column | None = None
    label_column: Column | Columns | None = None
    label_separator: Annotated[str, Field(min_length=1, max_length=20)] | None = None
    labels: bool | None = None
    """Whether to look for labels."""
    label_count: Annotated[int, Field(ge=-(10**9), le=10**9)] | None = None
    """How many of the first attributes of ARFF are labels; a negative number counts from the last one."""
    id_column: Column | None = None
    split_column: Column | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    header: bool | None = None
    quoting: bool | None = None
    encoding: Annotated[str, Field(max_length=50)] | None = None
    sheet: Column | None = None
    merge_labels: bool | None = None
    """Whether labels that differ only in case, blanks or Unicode form become one."""
    drop_unlabelled: bool | None = None
    """Whether documents without a label are left out, instead of examples to which no label applies."""
    on_error: Literal["raise", "skip"] | None = None
    """Whether bad lines are left out."""


class JobRequest(BaseModel):
    """A job: what to do, with which data, and which model to write or measure."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": EXAMPLES})
    kind: Kinds
    data: Annotated[Name, Field(description="'townhall', or the name of uploaded data.")] | None = None
    corpus: Annotated[Name, Field(description="A corpus under review, instead of data.")] | None = None
    options: ReadOptions | None = None
    model: Name | None = None
    name: Annotated[Name, Field(description="The new model of a job of the kind 'thresholds'.")] | None = None
    method: Annotated[str, Field(max_length=100)] | None = None
    methods: Annotated[list[Annotated[str, Field(max_length=100)]], Field(min_length=1, max_length=50)] | None = None
    comparison: Annotated[
        str, Field(pattern=ID_PATTERN, description="The job of a comparison; its winner is trained.")
    ] | None = None  # fmt: skip
    pipeline: Annotated[
        str, Field(max_length=300, description="Another row of its leaderboard, such as 'svm · stems · per-label'.")
    ] | None = None  # fmt: skip
    metric: Annotated[str, Field(max_length=100)] | None = None
    count: Annotated[int, Field(ge=1, le=1_000, description="The length of the queue of a job 'suggest'.")] | None = (
        None
    )
    rules: Annotated[bool, Field(description="Put the saved keyword rules of the corpus before the method.")] | None = (
        None
    )
    no_label_applies: Annotated[
        bool, Field(description="Documents without a label are examples of no label, not documents to label yet.")
    ] | None = None  # fmt: skip
    keep_thresholds: Annotated[
        bool, Field(description="Keep the thresholds that users saved, in the corpus and in the model that is written.")
    ] | None = None  # fmt: skip
    budget: Annotated[float, Field(gt=0, le=1e9)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    threads: Annotated[int, Field(ge=1, le=1024)] | None = None


class Job(BaseModel):
    """A job and how far it is; times are seconds since 1970."""

    id: str
    kind: str
    state: States
    created: float
    started: float | None
    ended: float | None
    attempt: int
    remark: str | None
    error: str | None
    request: dict[str, Any]
    progress: dict[str, Any] | None
    result: dict[str, Any] | None


class JobList(BaseModel):
    """Jobs, the newest first."""

    jobs: list[Job]


class MethodRow(BaseModel):
    """A method of the catalogue."""

    name: str
    title: str
    source: str
    decision: str


class MetricRow(BaseModel):
    """A metric that methods can be optimised for."""

    name: str
    title: str
    greater_is_better: bool


class MethodList(BaseModel):
    """The methods and metrics that jobs can name, and those of jobs that name none."""

    methods: list[MethodRow]
    metrics: list[MetricRow]
    default_method: str
    default_metric: str


class DataList(BaseModel):
    """The names of uploaded data, those of them that are vocabularies, and the formats that data can be read in."""

    data: list[str]
    vocabularies: list[str]
    """They name the labels of the other data, and hold no documents."""
    formats: list[str]


class Uploaded(BaseModel):
    """Data that were uploaded."""

    data: str
    bytes: int


NEEDED: dict[str, dict[str, str]] = {
    "train": {"model": "the name of the model to write"},
    "preview": {"data": "the name of uploaded data"},
    "import": {"data": "the name of uploaded data", "corpus": "the name of the new corpus"},
    "score": {"corpus": "the corpus whose documents are scored"},
    "retrain": {"corpus": "the corpus to learn from", "model": "the name of the model to write"},
    "suggest": {"corpus": "the corpus whose documents are chosen"},
    "thresholds": {"corpus": "the corpus whose thresholds are written", "model": "the model that gets them"},
}
"""By kind of job, what it needs besides data or a corpus, and what that is."""
ONLY_FOR = {
    "name": ("thresholds",),
    "count": ("suggest",),
    "rules": ("score", "retrain"),
    "keep_thresholds": ("score", "retrain"),
    "no_label_applies": ("import",),
    "comparison": ("train", "retrain"),
    "pipeline": ("train", "retrain"),
}
"""What only some kinds of jobs take."""


def chosen_recipe(store: JobStore, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """The recipe of a row on the leaderboard of the comparison that a job names; None where it names none."""
    if "comparison" not in request:
        return None
    found = store.get(request["comparison"])
    if found is None or found["kind"] != "compare" or found["state"] != "done":
        raise RequestError(404, f"There is no comparison {request['comparison']!r} that is done. /v1/jobs lists all.")
    rows = {f"{row['method']} · {row['features']} · {row['rule']}": row for row in found["result"]["leaderboard"]}
    name = request.get("pipeline", next(iter(rows)))
    if name not in rows:
        raise UnknownNameError("pipeline of the comparison", name, rows)
    return dict(rows[name]["recipe"])


def check_request(store: JobStore, asked: JobRequest) -> None:
    """Raise an error for a job that lacks what its kind needs, or names data or a corpus that are not there."""
    needed = NEEDED.get(asked.kind, {})
    given = asked.model_dump(exclude_none=True)
    if missing := {name: what for name, what in needed.items() if name not in given}:
        listed = " and ".join(f"{name!r}, {what}" for name, what in missing.items())
        raise RequestError(422, f"A job of the kind {asked.kind!r} needs {listed}.")
    for name, kinds in ONLY_FOR.items():
        if name in given and asked.kind not in kinds:
            listed = " and ".join(map(repr, kinds))
            raise RequestError(422, f"Only a job of the kind {listed} takes {name!r}.")
    if (asked.data is None) == (asked.corpus is None) and asked.kind != "import":
        raise RequestError(422, "A job needs either 'data', uploaded data, or 'corpus', a corpus under review.")
    if asked.options is not None and asked.data is None:
        raise RequestError(422, "'options' are for 'data': a corpus is read when it is imported.")
    check_methods([*([] if asked.method is None else [asked.method]), *(asked.methods or [])])
    chosen_recipe(store, given)
    corpora = CorpusFiles(store.folder)
    if asked.corpus is not None and asked.kind == "import":
        corpora.check_free(asked.corpus)
    elif asked.corpus is not None:
        corpora.get(asked.corpus)
    if asked.data is not None:
        store.data_path(asked.data)
    if asked.model is not None and asked.kind not in LEARN_MODELS and not store.is_awaited(asked.model):
        store.found_model(asked.model)
    written = asked.name or asked.model
    if written is not None and asked.kind in WRITE_MODELS:
        store.writable_model(written)
