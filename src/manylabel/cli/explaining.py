"""``manylabel explain``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manylabel.cli import encoders as e
from manylabel.cli import options as o
from manylabel.cli.display import progress_or_prompt, show, show_json, write_report
from manylabel.cli.reading import DataOptions, takes_data_options

if TYPE_CHECKING:
    from manylabel.classifier import TextClassifier
    from manylabel.explanation import Explanation
    from manylabel.tasks.explain import Question


@takes_data_options(
    "hierarchy", "vocabulary", "label_language", "split_by", "label_column", "label_separator", "merge_labels",
    "drop_unlabelled",
)  # fmt: skip
def explain(
    model: o.ModelFile,
    text: Annotated[
        str,
        typer.Argument(
            help="A text, a file, a data set's name, or - for standard input. Standard input and .txt files hold a "
            "text or a JSON object per line."
        ),
    ] = "-",
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            help="Explain this label, whether it is predicted or not; repeat it for several. By default all that are "
            "predicted.",
            show_default=False,
        ),
    ] = None,
    runners_up: Annotated[
        int,
        typer.Option(
            "--runners-up", min=0, help="How many labels to add that are not predicted, those with the highest scores."
        ),
    ] = 2,
    terms: Annotated[int, typer.Option("--terms", min=1, help="How many terms to list per label.")] = 8,
    documents: Annotated[
        int | None,
        typer.Option(
            "--documents", min=1, help="How many documents to explain; all with --json, else 5.", show_default=False
        ),
    ] = None,
    id: Annotated[
        str | None, typer.Option("--id", help="Explain only the document with this id.", show_default=False)
    ] = None,
    encoder: e.SameEncoder = None,
    report: o.HtmlReport = None,
    *,
    reading: DataOptions,
    json: o.Json = False,
) -> None:
    """Show why a model predicts labels: the words for and against each label, highlighted in the text."""
    from manylabel.classifier import TextClassifier
    from manylabel.cli.line_documents import standard_input_as_file
    from manylabel.data.atomic import check_targets
    from manylabel.exceptions import MissingDataError
    from manylabel.reports.explanation_page import explanation_blocks
    from manylabel.tasks.explain import Question

    check_targets([report], [model, text])
    classifier = TextClassifier.load(model, encoder=encoder)
    question = Question(label or None, runners_up, documents or (None if json else 5), id)
    with progress_or_prompt(text), standard_input_as_file(text, reading.format) as place:
        found = list(_explanations(classifier, place, question, reading))
    if not found:
        raise MissingDataError(f"There is no document to explain. Give a text: manylabel explain {model} 'A text'")
    titles = [f"Document {name}" if len(found) > 1 else None for name, _ in found]
    plain = [{"id": name, **one.as_dict()} for name, one in found]
    if report is not None:
        pages = [
            explanation_blocks(one, terms, title, shorten=False) for title, (_, one) in zip(titles, found, strict=True)
        ]
        write_report(report, f"Why: {model.name}", [block for blocks in pages for block in blocks], plain)
    if json:
        for record in plain:
            show_json(record)
    elif report is None:
        for title, (_, one) in zip(titles, found, strict=True):
            show(explanation_blocks(one, terms, title))


def _explanations(
    classifier: TextClassifier, text: str, question: Question, reading: DataOptions
) -> Iterator[tuple[str, Explanation]]:
    """The explanations of what the argument names: lines of standard input, a file, a data set, or a text."""
    from manylabel.cli.line_documents import LineDocuments, is_plain_text
    from manylabel.tasks.explain import explain_source, explain_texts, names_data

    is_data = names_data(text)
    if text == "-" or (is_data and reading.format is None and is_plain_text(Path(text))):
        lines = LineDocuments.of(text, reading, classifier.reading)
        return explain_texts(classifier, (pair for batch in lines.read(text) for pair in batch), question)
    if is_data:
        return explain_source(classifier, reading.source(text), question)
    return explain_texts(classifier, [("1", text)], question)
