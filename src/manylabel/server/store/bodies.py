"""The bodies of requests about documents and decisions of corpora under review, and of their responses."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from manylabel.exceptions import ParameterError
from manylabel.server.store.documents import Order
from manylabel.server.store.filters import DocumentState, Filter, LabelName

User = Annotated[str, Field(min_length=1, max_length=100, description="The name of the user who decides.")]
Names = Annotated[list[LabelName], Field(max_length=5_000)]
Whole = Annotated[int, Field(ge=0, lt=1 << 53)]


class Asked(BaseModel):
    """A request body: what is not known is refused."""

    model_config = ConfigDict(extra="forbid")


Given = TypeVar("Given", bound=BaseModel)


def checked(kind: type[Given], given: Any) -> Given:
    """A body of plain data; a `ParameterError` that names what is wrong with it."""
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        found = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise ParameterError(f"{found.removeprefix(': ')}.") from None


class Suggestion(BaseModel):
    """What an audit suggests for a label of a document."""

    action: Literal["add", "remove"]
    probability: float
    source: str


class DocumentLabel(BaseModel):
    """A label of a document: whether it is true, predicted, suggested or rejected, and who decided it when."""

    label: str
    state: Literal["imported", "accepted", "rejected", "suggested"] | None
    is_true: bool
    is_predicted: bool
    score: float | None
    threshold: float | None
    by: str | None
    at: float | None
    suggestion: Suggestion | None


class Document(BaseModel):
    """A document under review; `fields` is given where one document is asked for."""

    number: int
    id: str
    split: str
    revision: int
    state: DocumentState
    reviewed_by: str | None
    reviewed_at: float | None
    false_positives: int
    false_negatives: int
    beginning: str
    fields: dict[str, str] | None
    labels: list[DocumentLabel]


class CorpusSummary(BaseModel):
    """How many documents a corpus has, by split and state, and what its scores are."""

    name: str
    format: str
    scores: str | None
    splits: dict[str, int]
    states: dict[DocumentState, int]
    documents: int
    labels: int
    event: int
    scores_are_probabilities: bool | None
    """Whether thresholds lie between 0 and 1; None where an earlier version scored the documents, or nobody has."""
    saved_thresholds: int
    """How many labels have a threshold that a user saved since the documents were scored."""


class CorpusList(BaseModel):
    """The names of all corpora under review."""

    corpora: list[str]


class SearchRequest(Asked):
    """Which documents, in which order, and which page of them."""

    filter: Filter = Filter()
    order: Order = "id"
    label: LabelName | None = None
    descending: bool = False
    cursor: Annotated[str, Field(max_length=200)] | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    count: bool = True


class DocumentPage(BaseModel):
    """One page of documents, how many there are in all, and the cursor of the next page."""

    total: int | None
    documents: list[Document]
    next: str | None


class Decision(Asked):
    """What a user decides about one document, and the revision of it that was seen."""

    document: Whole
    revision: Whole
    accept: Names = []
    reject: Names = []
    clear: Names = []
    state: DocumentState | None = None


class DecideRequest(Asked):
    """Decisions that are all kept or none."""

    by: User
    decisions: Annotated[list[Decision], Field(min_length=1, max_length=500)]


class Decided(BaseModel):
    """The event that keeps the decisions, and the new revision of each document."""

    event: int
    revisions: list[int]


class BulkAction(Asked):
    """One thing to do with all documents of a filter: a label to accept, reject or clear, or a state to give.

    ``take suggestions`` accepts labels that an audit suggests to add and rejects those that it suggests to remove, of
    `label` or of any, the `most` probable ones.
    """

    do: Literal["accept", "reject", "clear", "take suggestions"] | None = None
    label: LabelName | None = None
    most: Annotated[int, Field(ge=1, lt=1 << 53)] | None = None
    state: DocumentState | None = None

    @model_validator(mode="after")
    def _is_one_thing(self) -> BulkAction:
        takes = self.do == "take suggestions"
        if (self.do is None) == (self.state is None) or (not takes and (self.do is None) != (self.label is None)):
            raise ValueError("give 'do' with 'label', or 'state' alone")
        if self.most is not None and not takes:
            raise ValueError("'most' is a number of suggestions to take")
        return self


class PreviewRequest(Asked):
    """A filter and what is to be done with its documents."""

    filter: Filter
    action: BulkAction


class SuggestedChange(BaseModel):
    """A suggestion that would be taken."""

    number: int
    id: str
    label: str
    action: Literal["add", "remove"]
    probability: float


class Preview(BaseModel):
    """How many documents the filter finds, how many changes there would be, and some of the documents."""

    documents: int
    changes: int
    sample: list[Document]
    suggestions: list[SuggestedChange]
    revision: str


class BulkRequest(PreviewRequest):
    """The same as in the preview, and the revision that it gave."""

    by: User
    revision: Annotated[str, Field(max_length=64)]


class BulkDone(BaseModel):
    """The event and how many documents it changed."""

    event: int
    changes: int


class UndoRequest(Asked):
    """Whose decision to take back: the latest one, or that of an event."""

    by: User
    event: Whole | None = None


class Undone(BaseModel):
    """The event of the undo and the one that it took back."""

    event: int
    undone: int


class Change(BaseModel):
    """What an event changed; without a label, whether the document is reviewed."""

    document: int
    id: str
    label: str | None
    was: str | None
    now: str | None


class Event(BaseModel):
    """Who did what, when; `undone` is the event that took it back."""

    number: int
    at: float
    by: str
    kind: str
    detail: dict[str, Any]
    undone: int | None
    changes: int
    documents: list[int]
    """The numbers of the first 1,000 documents that it changed."""
    first: list[Change]


class EventList(BaseModel):
    """Events, the newest first, and the number of the latest one of all."""

    events: list[Event]
    latest: int


class Done(BaseModel):
    """The event that keeps a change."""

    event: int


class Formats(BaseModel):
    """The formats that a corpus can be written in, first the one that it was read from."""

    formats: list[str]


class ConflictChange(BaseModel):
    """What someone changed in a document after it was seen; without a label, whether it is reviewed."""

    event: int
    by: str
    at: float
    kind: str
    label: str | None
    was: str | None
    now: str | None


class Conflict(BaseModel):
    """A document as it is now, and what others changed in it."""

    document: Document
    changes: list[ConflictChange]


class ConflictProblem(BaseModel):
    """An error: someone changed what the request is about. Nothing was saved."""

    type: str
    title: str
    status: int
    detail: str
    conflicts: list[Conflict] = []


CONFLICTS: dict[int | str, dict[str, Any]] = {409: {"model": ConflictProblem}}
"""How routes declare that they answer with conflicts."""
