"""``manylabel corpora``: corpora under review in the data directory of a server, without the server."""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json
from manylabel.cli.reading import DataOptions, takes_data_options
from manylabel.reports.page import Column, Note, Table, skipped_notes
from manylabel.wording import counted

if TYPE_CHECKING:
    from manylabel.server.store.files import CorpusFile, CorpusFiles

Directory = Annotated[
    Path, typer.Argument(metavar="DIR", help="The directory of `manylabel serve --data DIR`.", show_default=False)
]
Corpus = Annotated[str, typer.Argument(metavar="NAME", help="The name of a corpus.", show_default=False)]
By = Annotated[str, typer.Option("--by", help="Your name, which is kept with the change.", show_default=False)]


def files_in(folder: Path) -> CorpusFiles:
    """The corpora of a data directory."""
    from manylabel.exceptions import MissingExtraError

    try:
        from manylabel.server.store.files import CorpusFiles
    except ModuleNotFoundError as error:
        raise MissingExtraError("manylabel corpora", "server") from error
    return CorpusFiles(folder)


@contextmanager
def explained() -> Iterator[None]:
    """Turn what the store refuses into errors of the command line."""
    from manylabel.exceptions import ParameterError
    from manylabel.server.problems import RequestError

    try:
        yield
    except RequestError as error:
        raise ParameterError(error.detail) from None
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        raise ParameterError("A longer change of this corpus is under way. Nothing was saved. Try again.") from None


@contextmanager
def reading(folder: Path, name: str) -> Iterator[sqlite3.Connection]:
    """A connection to a corpus that sees one state of it."""
    corpus = files_in(folder).get(name)
    with explained(), corpus.reading() as database:
        yield database


@contextmanager
def writing(folder: Path, name: str) -> Iterator[sqlite3.Connection]:
    """A connection to a corpus that alone may write; what it did is on the disk when the block ends."""
    corpus = files_in(folder).get(name)
    with explained(), corpus.writing() as database:
        yield database


def list_corpora(folder: Directory, json: o.Json = False) -> None:
    """List the corpora of a data directory."""
    names = files_in(folder).names()
    if json:
        show_json({"corpora": names})
    else:
        show([Note("\n".join(names) if names else f"{folder} has no corpus. Make one: manylabel corpora import")])


@takes_data_options("hierarchy", "split_by", "limit")
def import_data(
    folder: Directory,
    name: Corpus,
    data: o.Data,
    *,
    reading: DataOptions,
    no_label_applies: Annotated[
        bool,
        typer.Option(
            "--no-label-applies",
            help="No label applies to documents without one; otherwise they are not labelled yet, and retraining "
            "leaves them out.",
        ),
    ] = False,
    json: o.Json = False,
) -> None:
    """Make a corpus of a copy of some data."""
    files = files_in(folder)
    from manylabel.server.store.filling import import_corpus

    source = reading.source(data)
    options = dict(source.options or {})
    options |= {} if source.format is None else {"format": source.format}
    options |= {} if source.on_error == "raise" else {"on_error": source.on_error}
    options |= {"merge_labels": True} if source.merge_labels else {}
    options |= {"drop_unlabelled": True} if source.drop_unlabelled else {}
    with progress():
        found = import_corpus(files, name, data, options, source.vocabulary, source.label_language, no_label_applies)
    if json:
        show_json(found)
        return
    text = f"The corpus {name} has {counted(found['documents'], 'document')} and {counted(found['labels'], 'label')}."
    html = "Most documents contain HTML, which is removed here as it is in training."
    named = f"Labels are named by {found['vocabulary']}, of which the corpus keeps a copy."
    notes = [
        Note(text),
        *([Note(named)] if found["vocabulary"] else []),
        *([Note(html)] if found["html_removed"] else []),
    ]
    show([*notes, *skipped_notes(found["skipped"]), Note(f"Next: manylabel corpora score {folder} {name}", "quiet")])


def show_corpus(
    folder: Directory,
    name: Corpus,
    document: Annotated[
        int | None,
        typer.Option("--document", help="A document to show, by its number.", show_default=False),
    ] = None,
    json: o.Json = False,
) -> None:
    """Show how many documents a corpus has, by split and state; or one document with its labels."""
    with reading(folder, name) as database:
        if document is not None:
            _show_document(database, document, json)
            return
        from manylabel.server.store.documents import summary
        from manylabel.server.store.files import about

        found = summary(database, about(database))
    if json:
        show_json(found)
        return
    rows = [("documents", found["documents"]), ("labels", found["labels"])]
    rows += [(f"split {split}", n) for split, n in found["splits"].items() if split]
    rows += list(found["states"].items())
    show([Table([Column(name), Column("number", "count")], rows), Note(f"Scores: {found['scores'] or 'none yet'}.")])


def _show_document(database: sqlite3.Connection, number: int, json: bool) -> None:
    from manylabel.exceptions import ParameterError
    from manylabel.server.store.documents import documents

    found = documents(database, [number], whole=True)
    if not found:
        raise ParameterError(f"There is no document of the number {number}.")
    if json:
        show_json(found[0])
        return
    one = found[0]
    rows = [(label["label"], label["state"] or "", label["score"], label["by"] or "") for label in one["labels"]]
    columns = [Column("label"), Column("state"), Column("score", "number"), Column("by")]
    head = Note(f"Document {number} ({one['id']}), revision {one['revision']}, {one['state']}")
    show([head, *(Note(text) for text in one["fields"].values()), Table(columns, rows)])


def score(
    folder: Directory,
    name: Corpus,
    method: Annotated[
        str | None,
        typer.Option("--method", help="The method that scores out of fold.", show_default=False),
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", "-m", help="A model file that scores instead.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Write the method, trained on all documents, to a file.", show_default=False),
    ] = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    json: o.Json = False,
) -> None:
    """Score all documents, and report what the scores gain on the former ones."""
    corpus = files_in(folder).get(name)
    from manylabel.data.atomic import check_targets
    from manylabel.exceptions import ParameterError
    from manylabel.server.store.scoring import score_corpus

    check_targets([output])
    if model is not None and (method is not None or output is not None):
        raise ParameterError("A model scores as it is: give --model, or --method and --output.")
    with explained(), progress():
        found = score_corpus(corpus, model, {"method": method, "seed": seed, "threads": jobs}, output)
    show_json(found) if json else show([Note(f"{counted(found['scores'], 'score')}: {found['how']}.")])


def audit(folder: Directory, name: Corpus, seed: o.Seed = 0, jobs: o.Jobs = None, json: o.Json = False) -> None:
    """Find doubtful labels, and keep them in the corpus as suggestions."""
    corpus = files_in(folder).get(name)
    from manylabel.server.store.filling import corrected_source, keep_suggestions
    from manylabel.tasks.jobs import run_job

    with explained(), progress():
        found = run_job("audit", corrected_source(corpus), None, {"seed": seed, "threads": jobs})
        with corpus.writing() as database:
            kept = keep_suggestions(database, found["doubted"])
    if json:
        show_json({"suggestions": kept})
    else:
        show([Note(f"{counted(kept, 'suggestion waits', 'suggestions wait')} in the corpus {name}.")])


def suggest(
    folder: Directory,
    name: Corpus,
    documents: Annotated[int, typer.Option("--documents", min=1, help="How many documents to choose.")] = 100,
    seed: o.Seed = 0,
    json: o.Json = False,
) -> None:
    """Choose the documents to label next, and keep them in the corpus as a queue."""
    corpus = files_in(folder).get(name)
    from manylabel.server.store.scoring import suggest_documents

    with explained(), progress():
        found = suggest_documents(corpus, {"count": documents, "seed": seed})
    if json:
        show_json(found)
        return
    chosen = counted(len(found["documents"]), "document is", "documents are")
    text = f"{chosen} in the queue: manylabel corpora search {folder} {name} --queue --order queue"
    show([Note(text)])


def export(
    folder: Directory,
    name: Corpus,
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)],
    to: Annotated[
        str | None,
        typer.Option("--to", help="The format to write; by default that of the file's ending.", show_default=False),
    ] = None,
    json: o.Json = False,
) -> None:
    """Write the corrected corpus to a file: a zip archive where a format requires several."""
    corpus = files_in(folder).get(name)
    from manylabel.data.atomic import atomic_write, check_target
    from manylabel.server.store.files import about
    from manylabel.server.store.filling import export as written
    from manylabel.tasks.reviewing import written_formats

    check_target(target)
    with corpus.reading() as database:
        formats = written_formats(about(database)["format"])
    chosen = to or next((known for known, ending in formats.items() if ending and target.name.endswith(ending)), None)
    with tempfile.TemporaryDirectory(dir=corpus.folder) as place, progress():
        made = written(corpus, Path(place), chosen or target.suffix.lstrip(".") or target.name)
        with made.open("rb") as source, atomic_write(target) as stream:
            shutil.copyfileobj(source, stream)
    show_json({"written": str(target)}) if json else show([Note(f"Written to {target}.")])


def decisions(folder: Directory, name: Corpus) -> None:
    """Print how labels differ from the imported ones, one JSON object per line, for `manylabel audit --apply`."""
    from manylabel.data.strict_json import dumps

    with reading(folder, name) as database:
        from manylabel.server.store.filling import decision_records

        for record in decision_records(database):
            sys.stdout.write(dumps(record) + "\n")


def delete(
    folder: Directory,
    name: Corpus,
    yes: Annotated[bool, typer.Option("--yes", help="Delete it; all decisions in it are lost.")] = False,
) -> None:
    """Delete a corpus with all decisions in it."""
    from manylabel.exceptions import ParameterError

    files = files_in(folder)
    corpus: CorpusFile = files.get(name)
    if not yes:
        raise ParameterError(f"All decisions in the corpus {name!r} would be lost. Add --yes to delete it.")
    files.delete(corpus)
    show([Note(f"The corpus {name} is deleted.")])
