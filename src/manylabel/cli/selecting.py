"""``manylabel select``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json
from manylabel.cli.training import skipped_notes

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


def select(
    data: o.Data,
    function: Annotated[
        list[str] | None,
        typer.Option(
            "--function",
            "-f",
            help="A function that scores terms: df, dia, ig, mi, chi2, ngl, rs, rs_printed, or, gss; or all. "
            f"May be given several times; {', '.join(DEFAULT_FUNCTIONS)} by default.",
            show_default=False,
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", "-l", help="A label to show; may be given several times.", show_default=False),
    ] = None,
    labels: Annotated[
        str, typer.Option("--labels", help="How many labels to show, the most frequent first: a number or 'all'.")
    ] = "5",
    top: Annotated[int, typer.Option("--top", "-k", help="How many terms to show.")] = 10,
    scope: Annotated[
        Scope, typer.Option("--scope", help="A list for each label, or one for all labels together.")
    ] = Scope.LABEL,
    combine: Annotated[
        Combine | None,
        typer.Option(
            "--combine",
            help="With --scope global: how scores are put together over labels; each function's own way by default.",
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
    part: o.SplitName = None,
    format: o.Format = None,
    text_column: o.TextColumn = None,
    label_column: o.LabelColumn = None,
    label_separator: o.LabelSeparator = None,
    encoding: o.Encoding = None,
    on_error: o.OnError = o.OnErrorChoice.RAISE,
    option: o.ReaderOption = None,
    jobs: o.Jobs = None,
    json: o.Json = False,
) -> None:
    """Show the best terms of each label by several functions, side by side.

    To learn from the best terms only: manylabel train DATA --set selection.function=chi2 --set selection.k=1000
    """
    from manylabel.exceptions import ParameterError
    from manylabel.features.term_scores import Options
    from manylabel.recipe import parse_settings
    from manylabel.reports.data_page import select_page
    from manylabel.tasks.select import select_terms

    source = o.make_source(data, format, text_column, label_column, label_separator, encoding, on_error, option)
    settings = parse_settings(setting or [])
    if other := [section for section in settings if section != "features"]:
        raise ParameterError(f"select takes settings of features alone, not of {other[0]}.")
    if not (eps >= 0 and d > 0 and base > 1):
        raise ParameterError("--eps must be 0 or above, --d above 0 and --base above 1.")
    with progress():
        found = select_terms(
            source,
            function or DEFAULT_FUNCTIONS,
            labels=label,
            most=o.label_limit(labels),
            scope=scope.value,
            combine=None if combine is None else combine.value,
            top=top,
            min_df=min_df,
            options=Options(base=base, eps=eps, d=d),
            features=settings.get("features"),
            part=part,
            n_jobs=jobs,
        )
    facts = found.as_dict()
    if json:
        show_json(facts)
    else:
        show([*select_page(facts), *skipped_notes(facts["skipped"])])
