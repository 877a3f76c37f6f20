"""``manylabel rules``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show_json


def rules(
    data: o.Data,
    words: Annotated[int, typer.Option("--words", min=1, help="How many words a rule may have.")] = 6,
    min_documents: Annotated[
        int, typer.Option("--min-documents", min=1, help="In how many documents of its label a word must occur.")
    ] = 2,
    part: o.SplitName = None,
    format: o.Format = None,
    text_column: o.TextColumn = None,
    label_column: o.LabelColumn = None,
    label_separator: o.LabelSeparator = None,
    encoding: o.Encoding = None,
    on_error: o.OnError = o.OnErrorChoice.RAISE,
    option: o.ReaderOption = None,
    json: o.Json = False,
) -> None:
    """Suggest a keyword rule for each label, as a file to edit: manylabel rules DATA > rules.txt

    Then: manylabel train DATA --method rules --rules rules.txt   or another method, which the rules come before.
    """
    from manylabel.tasks.keyword_rules import rules_file, suggest_rules

    source = o.make_source(data, format, text_column, label_column, label_separator, encoding, on_error, option)
    with progress():
        found = suggest_rules(source, part=part, words=words, min_documents=min_documents)
    if json:
        show_json([one.as_dict() for one in found])
    else:
        sys.stdout.write(rules_file(found, data))
