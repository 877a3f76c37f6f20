"""``manylabel train``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json
from manylabel.reports.model_page import chosen_text, guarantee_text
from manylabel.reports.page import Block, Heading, Note


def train(
    data: o.Data,
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="The model file to write; DATA.manylabel by default.", show_default=False),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option("--method", help="A method; `manylabel methods` lists them.", show_default=False),
    ] = None,
    recipe: o.RecipeFile = None,
    setting: o.Setting = None,
    metric: o.TargetMetric = None,
    guarantee: o.Guarantee = None,
    probabilities: o.Probabilities = None,
    rules: o.Rules = None,
    hierarchy: o.Hierarchy = None,
    part: o.SplitName = None,
    format: o.Format = None,
    text_column: o.TextColumn = None,
    label_column: o.LabelColumn = None,
    label_separator: o.LabelSeparator = None,
    encoding: o.Encoding = None,
    on_error: o.OnError = o.OnErrorChoice.RAISE,
    option: o.ReaderOption = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    json: o.Json = False,
) -> None:
    """Learn from labelled documents and write a model file.

    Where the data have a training split only that is used; --split all uses everything.
    """
    from manylabel.catalog import DEFAULT_METHOD
    from manylabel.data.atomic import check_target
    from manylabel.tasks.models import Trained
    from manylabel.tasks.models import train as task

    source = o.make_source(
        data, format, text_column, label_column, label_separator, encoding, on_error, option, hierarchy
    )
    target = model or default_model_path(data)
    check_target(target, [data, recipe, rules])
    method, overrides = o.with_recipe(
        recipe, method, o.with_guarantee(o.make_overrides(setting, rules, metric), guarantee, probabilities)
    )
    with progress():
        trained: Trained = task(
            source,
            target,
            method=method or DEFAULT_METHOD,
            overrides=overrides,
            part=part,
            seed=seed,
            n_jobs=jobs,
        )
    if json:
        show_json(trained.as_dict())
    else:
        show(_page(trained.as_dict(), target, data))


def default_model_path(data: str) -> Path:
    """Where the model of some data goes unless the user says otherwise: beside the user, named after the data."""
    name = Path(data.rstrip("/")).name
    for ending in (".gz", ".tar"):
        name = name.removesuffix(ending)
    return Path(f"{name.partition('.')[0] or 'model'}.manylabel")


def _page(facts: dict[str, object], target: Path, data: str) -> list[Block]:
    recipe = facts["recipe"]
    stems = "" if facts["stemmer"] is None else f" ({str(facts['stemmer']).title()} stems)"
    blocks: list[Block] = [
        Heading(f"Trained {recipe['method']} on {facts['data']}"),  # type: ignore[index]
        Note(
            f"{facts['documents']:,} documents ({facts['unlabelled']:,} without a label), {facts['labels']:,} labels, "
            f"{facts['terms']:,} terms{stems}, {facts['seconds']:.2f} s."
        ),
        *([Note(chosen_text(facts["chosen"]))] if facts["chosen"] is not None else []),  # type: ignore[arg-type]
        *([Note(guarantee_text(facts["guarantee"]))] if facts["guarantee"] is not None else []),  # type: ignore[arg-type]
        *skipped_notes(facts["skipped"]),  # type: ignore[arg-type]
        Note(f"The model is in {target}."),
        Note(
            f"Next: manylabel evaluate {data} --model {target}   or   manylabel predict {target} FILE",
            "quiet",
        ),
    ]
    return blocks


def skipped_notes(skipped: list[str], shown: int = 10) -> list[Block]:
    """A warning that lists the lines that were left out."""
    if not skipped:
        return []
    more = f"\n… and {len(skipped) - shown:,} more" if len(skipped) > shown else ""
    return [Note(f"{len(skipped):,} bad lines were skipped:\n" + "\n".join(skipped[:shown]) + more, "warning")]
