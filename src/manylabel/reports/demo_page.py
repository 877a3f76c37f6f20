"""The page of the demonstration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from manylabel.evaluation.result import Result
from manylabel.reports.page import Block, Cell, Column, Heading, Kind, Note, Table
from manylabel.reports.result_page import labels_blocks, result_page


class Labelled(Protocol):
    """A document's labels with their scores."""

    @property
    def labels(self) -> list[str]:
        """The labels given."""

    @property
    def scores(self) -> dict[str, float]:
        """The scores of those labels and of the best others."""

    @property
    def thresholds(self) -> dict[str, float]:
        """The least score of each label."""


def demo_page(
    result: Result,
    split: str,
    letters: Sequence[tuple[dict[str, str], Labelled]],
    model: str,
    *,
    probabilities: bool,
) -> list[Block]:
    """What was learned, how well, three letters labelled, and what to try next."""
    summary = [block for block in result_page([result], split, labels=0) if not _is_empty_table(block)]
    blocks: list[Block] = [
        Note(
            "Letters to a town hall, labelled with what they are about: the classifier learns from those of the first "
            f"year and labels the {result.test.documents} that came later."
        ),
        *summary[:4],
        *labels_blocks(result, None),
        Heading("Three new letters"),
    ]
    for letter, answer in letters:
        blocks.append(Note(f"“{letter['title']}” {letter['body']}"))
        blocks.append(_score_table(answer, probabilities))
    blocks.append(summary[-1])
    blocks.append(Heading("What to try next"))
    blocks.append(
        Note(
            f"manylabel inspect {model:<27} what the model is made of\n"
            "manylabel evaluate townhall --method nb-app   another method on the same letters\n"
            "manylabel train your.csv                      your own documents: a column text, a column labels\n"
            f'echo "My bin was not emptied" | manylabel predict {model} --scores'
        )
    )
    return blocks


def _is_empty_table(block: Block) -> bool:
    return isinstance(block, Table) and not block.rows


def _score_table(answer: Labelled, probabilities: bool) -> Table:
    kind: Kind = "share" if probabilities else "margin"
    rows: list[list[Cell]] = [
        [
            "✓" if name in answer.labels else "",
            name,
            score,
            score if probabilities else margin_bar(score),
            answer.thresholds.get(name),
        ]
        for name, score in answer.scores.items()
    ]
    columns = [Column(""), Column("label"), Column("score", kind), Column("", "bar"), Column("needs", kind)]
    return Table(columns, rows)


def margin_bar(margin: float) -> float:
    """A margin on the scale from −1, where a label is clearly out, to +1, where it is clearly in."""
    return (margin + 1) / 2
