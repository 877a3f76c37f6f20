"""``manylabel describe``, ``convert``, ``fetch``, ``select`` and ``rules``: what is in data, and their best terms."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json
from manylabel.cli.reading import DataOptions, takes_data_options
from manylabel.reports.page import Note, skipped_notes

DEFAULT_FUNCTIONS = ("chi2", "ig", "rs", "or")


class Scope(StrEnum):
    """What a list of best terms is for."""

    LABEL = "label"
    GLOBAL = "global"


class Combine(StrEnum):
    """How the scores of a term for all labels become one."""

    SUM = "sum"
    WEIGHTED = "weighted"
    MAX = "max"


@takes_data_options("hierarchy", "split_by")
def describe(
    data: o.Data,
    split: o.SplitName = None,
    labels: Annotated[
        int, typer.Option("--labels", min=1, help="How many of the most frequent and of the rarest labels to list.")
    ] = 10,
    *,
    reading: DataOptions,
    json: o.Json = False,
) -> None:
    """Describe data: documents, words and labels, which labels are frequent and rare, how unequal they are.

    The JSON lists every label that is in use.
    """
    from manylabel.reports.data_page import describe_page
    from manylabel.tasks.data_sets import describe as task

    with progress():
        found = task(reading.source(data), split=split)
    if json:
        show_json(found.as_dict())
        return
    asked = shlex.quote(data) + reading.arguments()
    show([*describe_page(found.facts, asked, labels), *skipped_notes([str(problem) for problem in found.skipped])])


@takes_data_options("hierarchy", "split_by")
def convert(
    data: o.Data,
    target: Annotated[
        Path | None,
        typer.Argument(help="The file to write; without it the data are only read and described.", show_default=False),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", help="The format to write; by default that of the file's ending.", show_default=False),
    ] = None,
    split: o.SplitName = None,
    *,
    reading: DataOptions,
    json: o.Json = False,
) -> None:
    """Read data of any known format, describe them, and write them in another format."""
    from manylabel.reports.data_page import sizes_page
    from manylabel.tasks.data_sets import convert as task

    with progress():
        found = task(reading.source(data), target, to=to, split=split)
    if json:
        show_json(found.as_dict())
        return
    blocks = sizes_page(found.sizes, found.format)
    blocks.extend(skipped_notes([str(problem) for problem in found.skipped]))
    if target is not None:
        blocks.append(Note(f"Written to {target}."))
    show(blocks)


def fetch(
    name: Annotated[
        str, typer.Argument(help="The data set to download, for example reuters21578.", show_default=False)
    ],
    source: Annotated[
        str | None,
        typer.Option("--from", help="A file you downloaded yourself, or another address.", show_default=False),
    ] = None,
    json: o.Json = False,
) -> None:
    """Download a data set into the cache and check it by the checksums of its files."""
    from manylabel.tasks.data_sets import fetch as task

    with progress():
        path = task(name, source)
    if json:
        show_json({"name": name, "path": str(path)})
    else:
        show([Note(f"{name} is in {path}."), Note(f"Next: manylabel evaluate {name}", "quiet")])


@takes_data_options("hierarchy", "split_by")
def select(
    data: o.Data,
    function: Annotated[
        list[str] | None,
        typer.Option(
            "--function",
            "-f",
            callback=o.several_names,
            help="A function that scores terms: df, dia, ig, mi, chi2, ngl, rs, rs_printed, or, gss; or all. "
            f"Separate several by commas, or repeat the option; {', '.join(DEFAULT_FUNCTIONS)} by "
            "default.",
            show_default=False,
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", "-l", help="A label to show; may be repeated.", show_default=False),
    ] = None,
    labels: Annotated[
        str, typer.Option("--labels", help="How many labels to show, the most frequent first: a number or 'all'.")
    ] = "5",
    top: Annotated[int, typer.Option("--top", "-k", help="How many terms to show.")] = 10,
    scope: Annotated[
        Scope, typer.Option("--scope", help="One list per label, or one for all labels together.")
    ] = Scope.LABEL,
    combine: Annotated[
        Combine | None,
        typer.Option(
            "--combine",
            help="With --scope global: how scores are combined over labels; each function has a default.",
            show_default=False,
        ),
    ] = None,
    min_df: Annotated[int, typer.Option("--min-df", help="Leave out terms of fewer documents.")] = 3,
    eps: Annotated[
        float, typer.Option("--eps", help="Added to each cell in mi and or; 0 takes the plain formula.")
    ] = 0.5,
    d: Annotated[float, typer.Option("--d", help="The d of rs and rs_printed.")] = 1.0,
    base: Annotated[float, typer.Option("--base", help="The base of logarithms.")] = 2.0,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", help="Change how texts become terms, as features.key=value.", show_default=False),
    ] = None,
    split: o.SplitName = None,
    *,
    reading: DataOptions,
    jobs: o.Jobs = None,
    json: o.Json = False,
) -> None:
    """Show the best terms of each label by several functions, side by side.

    To learn from the best terms only: manylabel train DATA --set selection.function=chi2 --set selection.k=1000
    """
    from manylabel.exceptions import ParameterError
    from manylabel.features.term_scores import Options
    from manylabel.reports.data_page import select_page
    from manylabel.setting_values import parse_settings
    from manylabel.tasks.select import select_terms

    settings = parse_settings(setting or [])
    if other := [section for section in settings if section != "features"]:
        raise ParameterError(f"select takes settings of features alone, not of {other[0]}.")
    if not (eps >= 0 and d > 0 and base > 1):
        raise ParameterError("--eps must be 0 or above, --d above 0 and --base above 1.")
    with progress():
        found = select_terms(
            reading.source(data),
            function or DEFAULT_FUNCTIONS,
            labels=label,
            most=o.label_limit(labels),
            scope=scope.value,
            combine=None if combine is None else combine.value,
            top=top,
            min_df=min_df,
            options=Options(base=base, eps=eps, d=d),
            features=settings.get("features"),
            split=split,
            n_jobs=jobs,
        )
    if json:
        show_json(found.as_dict())
    else:
        show([*select_page(found), *skipped_notes(found.skipped)])


@takes_data_options("hierarchy", "split_by")
def rules(
    data: o.Data,
    words: Annotated[int, typer.Option("--words", min=1, help="The most words a keyword rule may have.")] = 6,
    min_documents: Annotated[
        int, typer.Option("--min-documents", min=1, help="In how many documents of its label a word must occur.")
    ] = 2,
    split: o.SplitName = None,
    *,
    reading: DataOptions,
    json: o.Json = False,
) -> None:
    """Suggest a keyword rule per label, as a file to edit: manylabel rules DATA > rules.txt

    Then: manylabel train DATA --method rules --rules rules.txt   or another method, which the rules come before.
    """
    from manylabel.tasks.keyword_rules import rules_file, suggest_rules

    with progress():
        found = suggest_rules(reading.source(data), split=split, words=words, min_documents=min_documents)
    if json:
        show_json([one.as_dict() for one in found])
    else:
        sys.stdout.write(rules_file(found, shlex.join([data]) + reading.arguments()))
