"""Whether the documents to be tested are later than those to learn from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from manylabel.data import Corpus
from manylabel.data.dates import read_dates
from manylabel.exceptions import ManylabelError
from manylabel.tasks.corpora import TIME

DATE_COLUMNS = ("date", "time", "datetime", "timestamp", "year")


def in_order_of_time(train: Corpus, test: Corpus | None) -> Corpus:
    """The training documents, to be divided by time where the test documents are all later.

    New documents are then later ones too, and stretches of time tell what they will be like; random folds, in which a
    document is tested beside others of its day, are too hopeful. What the test documents say is not looked at, only
    when they were written. A column that the user or the data set names to split by comes first.
    """
    if test is None or train.split_by:
        return train
    for name in DATE_COLUMNS:
        if name in train.metadata and name in test.metadata:
            try:
                before, after = (read_dates(corpus.metadata[name], name) for corpus in (train, test))
            except ManylabelError:
                continue  # a column of that name that holds no dates
            if np.max(before) <= np.min(after):
                return replace(train, split_names=None, split_by=f"{TIME}{name}")
    return train
