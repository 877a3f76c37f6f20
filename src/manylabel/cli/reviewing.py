"""Commands of ``manylabel corpora`` that find documents and decide: search, decide, bulk, undo, labels, rules …"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from manylabel.cli import options as o
from manylabel.cli.corpora import By, Corpus, Directory, reading, writing
from manylabel.cli.display import show, show_json
from manylabel.reports.page import Column, Note, Table
from manylabel.wording import counted

SHOWN = 60
"""Characters of a document that lists show."""
Documents = Annotated[
    str, typer.Option("--filter", help="Which documents, as JSON of the API; `search --json` prints it.")
]


def parsed_filter(text: str) -> dict[str, Any]:
    """The conditions of ``--filter``."""
    import json

    from manylabel.exceptions import ParameterError

    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"--filter is not JSON: {error}.") from None
    if not isinstance(found, dict):
        raise ParameterError(f'--filter is a JSON object such as {{"split": "test"}}, not {text}.')
    return found


def option(name: str, help: str) -> Any:
    """An option that is left out by default."""
    return typer.Option(name, help=help, show_default=False)


def search(
    folder: Directory,
    name: Corpus,
    text: Annotated[str | None, option("--text", 'Words, "phrases", begin*, -without.')] = None,
    rule: Annotated[str | None, option("--rule", "The query of a keyword rule.")] = None,
    split: Annotated[str | None, option("--split", "A split.")] = None,
    state: Annotated[str | None, option("--state", "not reviewed, reviewed or no label applies.")] = None,
    reviewed_by: Annotated[str | None, option("--reviewed-by", "Who reviewed the documents.")] = None,
    any_label: Annotated[
        str | None,
        option("--any-label", "no true label, disagreement, false positive, false negative or suggested."),
    ] = None,
    queue: Annotated[bool, typer.Option("--queue", help="Documents that `suggest` chose.")] = False,
    label: Annotated[list[str] | None, option("--label", "A label to compare by; may be repeated.")] = None,
    relation: Annotated[
        list[str] | None,
        option("--relation", "true, predicted, false positive, accepted …: one per --label, in the same order."),
    ] = None,
    filter: Documents = "{}",
    order: Annotated[
        str,
        typer.Option(
            "--order", help="id, score, uncertainty, disagreement, suggestion or queue; of the first --label."
        ),
    ] = "id",
    descending: Annotated[bool, typer.Option("--descending", help="The highest first.")] = False,
    limit: Annotated[int, typer.Option("--documents", min=1, max=500, help="How many documents to list.")] = 20,
    cursor: Annotated[str | None, option("--cursor", "What `next` was on the page before.")] = None,
    json: o.Json = False,
) -> None:
    """Find documents by words, keyword rules, labels, mistakes, split and state."""
    from manylabel.exceptions import ParameterError

    if len(relation or []) > len(label or []):
        raise ParameterError("Every --relation belongs to a --label: give as many labels, in the same order.")
    relations = [*(relation or []), *[None] * len(label or [])]
    named = {"text": text, "rule": rule, "split": split, "state": state}
    named |= {"reviewed_by": reviewed_by, "any_label": any_label, "queue": "suggest" if queue else None}
    asked = {key: value for key, value in named.items() if value is not None}
    conditions = [
        {"label": one, "relation": how} for one, how in zip(label or [], relations, strict=False) if how is not None
    ]
    wanted = {**parsed_filter(filter), **asked, **({"labels": conditions} if conditions else {})}
    with reading(folder, name) as database:
        from manylabel.server.store.bodies import SearchRequest, checked
        from manylabel.server.store.documents import count, page

        request = {"filter": wanted, "order": order, "descending": descending, "limit": limit, "cursor": cursor}
        request |= {"label": label[0]} if label else {}
        checked_request = checked(SearchRequest, request)
        found, following = page(
            database, checked_request.filter, checked_request.order, checked_request.label,
            descending=descending, cursor=cursor, limit=limit,
        )  # fmt: skip
        total = count(database, checked_request.filter)
    if json:
        show_json({"filter": wanted, "total": total, "documents": found, "next": following})
        return
    rows = [(one["number"], one["id"], one["state"], _true_labels(one), one["beginning"][:SHOWN]) for one in found]
    columns = [Column("document", "count"), Column("id"), Column("state"), Column("true labels"), Column("text")]
    show([Note(counted(total, "document")), Table(columns, rows)])


def _true_labels(document: dict[str, Any]) -> str:
    return ", ".join(one["label"] for one in document["labels"] if one["is_true"])


def decide(
    folder: Directory,
    name: Corpus,
    decisions: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Decisions, one JSON object per line: document (number or id), accept, reject, clear, state, "
            "revision; or document, label and action (add or remove).",
            show_default=False,
        ),
    ],
    by: By,
    json: o.Json = False,
) -> None:
    """Accept and reject labels of documents by a file; either all decisions are kept or none.

    A decision without a revision is about the document as it is now.
    """
    with writing(folder, name) as database:
        from manylabel.server.store import decisions as store
        from manylabel.server.store.filling import read_decisions

        given = read_decisions(database, decisions)
        event, revisions = store.decide(database, by, given)
    if json:
        show_json({"event": event, "revisions": revisions})
    else:
        show([Note(f"{counted(len(given), 'document')} decided, event {event}.")])


def bulk(
    folder: Directory,
    name: Corpus,
    by: By,
    filter: Documents = "{}",
    do: Annotated[str | None, option("--do", "accept, reject, clear or 'take suggestions'.")] = None,
    label: Annotated[str | None, option("--label", "The label to accept, reject or clear.")] = None,
    most: Annotated[int | None, option("--most", "How many suggestions to take.")] = None,
    state: Annotated[str | None, option("--state", "The state to set: reviewed, no label applies …")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Carry it out; without, only a preview is printed.")] = False,
    json: o.Json = False,
) -> None:
    """Preview one action on all documents of a filter, or carry it out."""
    with writing(folder, name) as database:
        from manylabel.server.store.bodies import PreviewRequest, checked
        from manylabel.server.store.bulk import apply_to_all, preview

        action = {"do": do, "label": label, "most": most, "state": state}
        asked = checked(PreviewRequest, {"filter": parsed_filter(filter), "action": action})
        found = preview(database, asked.filter, asked.action.model_dump())
        event = None
        if yes:
            event, _ = apply_to_all(database, by, asked.filter, asked.action.model_dump(), found["revision"])
    if json:
        show_json({**found, "event": event})
        return
    done = f"Done, event {event}." if yes else "Nothing was changed yet: add --yes."
    changes, documents = counted(found["changes"], "change"), counted(found["documents"], "document")
    show([Note(f"{changes} in {documents} of the filter. {done}")])


def undo(
    folder: Directory,
    name: Corpus,
    by: By,
    event: Annotated[int | None, option("--event", "The event to undo; your latest one by default.")] = None,
    json: o.Json = False,
) -> None:
    """Take back a decision of your own."""
    with writing(folder, name) as database:
        from manylabel.server.store.decisions import undo as work

        made, undone = work(database, by, event)
    show_json({"event": made, "undone": undone}) if json else show([Note(f"Event {undone} is undone.")])


def events(
    folder: Directory,
    name: Corpus,
    by: Annotated[str | None, option("--by", "Events of one user.")] = None,
    after: Annotated[int | None, option("--after", "Events after this one.")] = None,
    rows: Annotated[int, typer.Option("--rows", min=1, max=500, help="How many events to list.")] = 20,
    json: o.Json = False,
) -> None:
    """List who changed what, the newest first."""
    with reading(folder, name) as database:
        from manylabel.server.store.labels import events as work

        found, latest = work(database, by, None, after, rows)
    if json:
        show_json({"events": found, "latest": latest})
        return
    columns = [Column("event", "count"), Column("by"), Column("kind"), Column("changes", "count"), Column("undone by")]
    table = [(one["number"], one["by"], one["kind"], one["changes"], str(one["undone"] or "")) for one in found]
    show([Table(columns, table)])


def rules(
    folder: Directory,
    name: Corpus,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="Keyword rules to try; without, those of the corpus are printed.", show_default=False
        ),
    ] = None,
    save: Annotated[bool, typer.Option("--save", help="Keep them in the corpus; requires --by.")] = False,
    by: Annotated[str | None, option("--by", "Your name, with --save.")] = None,
    json: o.Json = False,
) -> None:
    """Print the keyword rules of a corpus, or try others: what each matches, its precision and recall."""
    from manylabel.exceptions import ParameterError

    if (save and (by is None or file is None)) or (by is not None and not save):
        raise ParameterError("To keep keyword rules, give a file of them, --save and --by NAME.")
    with reading(folder, name) as database:
        from manylabel.server.store import rules as store

        saved = store.saved(database)
        if file is None:
            show_json(saved) if json else sys.stdout.write(saved["rules"])
            return
        text = _text_of(file)
        found = store.study(database, text, seconds=float("inf"))
    if by is not None:
        with writing(folder, name) as database:
            found["event"] = store.save(database, by, text, saved["revision"])
    if json:
        show_json(found)
        return
    kinds = [Column("line", "count"), Column("label"), Column("documents", "count"), Column("precision", "share")]
    rows = [(one["line"], one["label"], one["documents"], one["precision"], one["recall"]) for one in found["rules"]]
    problems = [Note(f"{file}, line {one['line']}: {one['problem']}", "warning") for one in found["problems"]]
    show([Table([*kinds, Column("recall", "share")], rows), *problems])


def _text_of(file: Path) -> str:
    from manylabel.exceptions import DataError

    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"The file is not UTF-8 text (byte {error.start}).", path=file) from None
