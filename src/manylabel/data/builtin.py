"""The corpus that comes with manylabel: letters to a town hall."""

from __future__ import annotations

import json
from importlib.resources import files

from manylabel.data.corpus import Corpus
from manylabel.data.hierarchy import Hierarchy

SEPARATOR = "/"


def read_townhall() -> Corpus:
    """605 letters to a town hall, labelled ``area/topic``, split by date; townhall/README.md tells how they were made.

    >>> corpus = read_townhall()
    >>> len(corpus), corpus.splits
    (605, {'train': 415, 'test': 190})
    """
    lines = files("manylabel.data").joinpath("townhall", "letters.jsonl").read_text(encoding="utf-8").splitlines()
    letters = [json.loads(line) for line in lines]
    labels = [letter["labels"] for letter in letters]
    return Corpus(
        ids=[letter["id"] for letter in letters],
        fields={name: [letter[name] for letter in letters] for name in ("title", "body")},
        labels=labels,
        split_names=[letter["split"] for letter in letters],
        metadata={"date": [letter["date"] for letter in letters]},
        hierarchy=Hierarchy.from_paths({name for names in labels for name in names}, SEPARATOR),
        name="townhall",
        source="manylabel",
        licence="CC0 1.0",
    )
