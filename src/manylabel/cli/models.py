"""``manylabel methods`` and ``manylabel inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from manylabel.cli import options as o
from manylabel.cli.display import show, show_json
from manylabel.reports.model_page import chosen_text, guarantee_text
from manylabel.reports.page import Block, Cell, Column, Heading, Note, Table


def methods(json: o.Json = False) -> None:
    """List the methods, each with its source."""
    from manylabel.catalog import DEFAULT_METHOD, METHODS

    if json:
        show_json(
            [{"name": m.name, "title": m.title, "source": m.source, "decision": m.decision} for m in METHODS.values()]
        )
        return
    rows = [
        [m.name + (" *" if m.name == DEFAULT_METHOD else ""), m.title, m.decision, m.source] for m in METHODS.values()
    ]
    show(
        [
            Table([Column("method"), Column("what it does"), Column("decision rule"), Column("source")], rows),
            Note("* the default", "quiet"),
        ]
    )


def inspect(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    labels: Annotated[str, typer.Option("--labels", help="How many labels to list: a number or 'all'.")] = "20",
    json: o.Json = False,
) -> None:
    """Say what is in a model file: recipe, labels, thresholds, sizes, versions."""
    from manylabel.tasks.models import inspect as task

    limit = o.label_limit(labels)
    found = task(model)
    if json:
        show_json(found.as_dict())
    else:
        show(_page(found, limit))


def _page(found: Any, limit: int | None) -> list[Block]:
    facts = dict(found.facts)
    recipe = facts.pop("recipe", {})
    blocks: list[Block] = [
        Heading(found.path),
        Note(
            f"{found.bytes:,} bytes, written by manylabel {found.versions['manylabel']}; trained on "
            f"{facts.get('data', 'unknown data')}, {facts.get('documents', 0):,} documents, "
            f"{len(found.labels):,} labels."
        ),
        *([Note(f"Words are reduced to {found.language.title()} stems.")] if found.language else []),
        *([Note(chosen_text(found.chosen))] if found.chosen is not None else []),
        *([Note(guarantee_text(found.guarantee))] if found.guarantee is not None else []),
        Heading("Recipe"),
        Table([Column("section"), Column("setting"), Column("value")], _recipe_rows(recipe)),
        Heading("Labels"),
    ]
    order = sorted(range(len(found.labels)), key=lambda i: -found.label_counts[i])[:limit]
    has_thresholds = found.thresholds is not None
    columns = [
        Column("label"),
        Column("documents", "count"),
        *([Column("threshold", "number")] if has_thresholds else []),
    ]
    rows: list[list[Cell]] = [
        [found.labels[i], found.label_counts[i], *([found.thresholds[i]] if has_thresholds else [])] for i in order
    ]
    blocks.append(Table(columns, rows))
    if len(order) < len(found.labels):
        blocks.append(Note(f"{len(found.labels) - len(order)} more labels: --labels all.", "quiet"))
    blocks.append(Heading("Arrays"))
    sizes: list[list[Cell]] = [
        [name, entry["dtype"], " × ".join(f"{n:,}" for n in entry["shape"])] for name, entry in found.arrays.items()
    ]
    blocks.append(Table([Column("array"), Column("type"), Column("shape")], sizes))
    return blocks


def _recipe_rows(recipe: dict[str, Any]) -> list[list[Cell]]:
    rows: list[list[Cell]] = [["", "method", str(recipe.get("method", "unknown"))]]
    for section in ("features", "selection", "weighting", "model", "decision"):
        rows.extend([section, key, str(value)] for key, value in recipe.get(section, {}).items())
    return rows
