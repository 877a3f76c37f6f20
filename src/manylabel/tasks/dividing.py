"""Documents divided into splits or folds, and checked for near-duplicates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from manylabel.data import Corpus
from manylabel.data.dates import read_dates
from manylabel.data.description import DuplicateFacts
from manylabel.data.duplicates import near_duplicates, straddling
from manylabel.data.splits import (
    Split,
    by_date,
    group_split,
    holdout,
    iterative_split,
    iterative_stratification,
    k_fold,
    stratified_group_k_fold,
    stratified_group_split,
    time_blocks,
)
from manylabel.estimator import Ints
from manylabel.exceptions import DataError, ManylabelError
from manylabel.progress import remark, stage
from manylabel.reports.records import Straddle
from manylabel.tasks.corpora import DUPLICATES, RANDOM, TIME, documents_of
from manylabel.wording import counted, is_worded_for

DATE_COLUMNS = ("date", "time", "datetime", "timestamp", "year")
TEST_SHARE = 0.25
"""The share of documents for testing where none is given."""
MANY_SINGLE = 0.1
"""The share of labels with a single document above which the user is told what a stratified split does to them."""


def train_and_test(
    corpus: Corpus, test_share: float | None, seed: int, *, quiet: bool = False
) -> tuple[Corpus, Corpus, str]:
    """The training and the test split of a corpus, and a phrase that describes how they were made.

    A corpus without a train and a test split is divided at random by iterative stratification; one that names a column
    to split by (`split_by`), by whole groups of documents, or by time where that is a column of dates. Unless `quiet`,
    it is reported where many labels have a single document. A `test_share` that is not used is reported.
    """
    splits = corpus.splits
    if "train" in splits and "test" in splits:
        report_unused_share(test_share)
        return corpus.split("train"), corpus.split("test"), "the split of the data"
    if splits and set(splits) != {"unused"} and len(splits) > 1:
        raise DataError(
            f"The data have the splits {', '.join(sorted(splits))} but not both train and test.",
            path=corpus.name or corpus.source,
            remedy="Name the splits train and test.",
        )
    train, test, how = _divided(corpus, TEST_SHARE if test_share is None else test_share, seed)
    if not quiet and not corpus.split_by:
        _report_single_documents(corpus)
    return corpus.subset(np.sort(train)), corpus.subset(np.sort(test)), how


def report_unused_share(test_share: float | None) -> None:
    """Report a share for testing that was given for data with splits of their own."""
    if test_share is not None:
        name = "--test-share" if is_worded_for("command line") else "test_share"
        remark(f"The data have a training and a test split, so that {name} {test_share:g} is not used.")


def _divided(corpus: Corpus, test_share: float, seed: int) -> tuple[Ints, Ints, str]:
    """The rows of the training and of the test split, and how they were drawn."""
    shares = (1 - test_share, test_share)
    kept = f"{100 * test_share:.0f} % for testing"
    if dates := time_column(corpus):
        train, test = by_date(dates_of(corpus, dates), shares)
        how = f"a split by time ({dates}), the latest {kept}"
    elif _keeps_duplicates(corpus):
        train, test = stratified_group_split(corpus.label_matrix(), _groups(corpus), shares, seed=seed)
        how = f"a random stratified split that keeps near-duplicates together, {kept}, seed {seed}"
    elif ignores_labels(corpus):
        train, test = holdout(len(corpus), test_share, seed)
        how = f"a random split, {kept}, seed {seed}"
    elif corpus.split_by:
        train, test = group_split(_groups(corpus), shares, seed=seed)
        how = f"a random split by {corpus.split_by}, {kept}, seed {seed}"
    else:
        train, test = iterative_split(corpus.label_matrix(), shares, seed=seed)
        how = f"a random stratified split, {kept}, seed {seed}"
    return train, test, how


def _report_single_documents(corpus: Corpus) -> None:
    """Report labels with a single document where they are many: stratification keeps all of these in training."""
    documents = np.asarray(corpus.label_matrix().sum(axis=0)).ravel()
    used, single = int((documents > 0).sum()), int((documents == 1).sum())
    if single > MANY_SINGLE * used:
        advice = " Use --split-by random to draw the test documents without regard to their labels."
        advice = advice if is_worded_for("command line") else ""
        remark(
            f"{single:,} of {counted(used, 'label')} have a single document. The stratified split keeps these in "
            f"training, so quality on new documents will be lower than on the test documents.{advice}"
        )


def stratified_sample(corpus: Corpus, size: int, seed: int) -> Corpus:
    """About `size` documents with the labels of all, in their order; all of them if there are no more."""
    if size >= len(corpus):
        return corpus
    share = size / len(corpus)
    return corpus.subset(np.sort(iterative_split(corpus.label_matrix(), (share, 1 - share), seed=seed)[0]))


def folds_of(corpus: Corpus, k: int, seed: int, *, forward: bool = False) -> tuple[list[Split], str]:
    """The k folds of a cross-validation, and a phrase that describes how they were made.

    By default iterative stratification. Where the corpus names a column to split by, its documents stay together and
    labels are spread as evenly as that allows (``duplicates``: near-duplicates stay together); ``random`` draws folds
    without regard to labels. Where the column is one of dates (``time:date``), the folds are time-ordered, and with
    `forward` each is predicted by a model trained on earlier ones alone.
    """
    if dates := time_column(corpus):
        folds = time_blocks(dates_of(corpus, dates), k, forward=forward)
        earlier = ", each after training on earlier ones" if forward else ""
        return folds, f"{k} time-ordered folds ({dates}){earlier}"
    if ignores_labels(corpus):
        return k_fold(len(corpus), k, seed), f"{counted(k, 'random fold')}, seed {seed}"
    if corpus.split_by:
        folds = stratified_group_k_fold(corpus.label_matrix(), _groups(corpus), k, seed)
        kept = "that keep near-duplicates together" if _keeps_duplicates(corpus) else f"by {corpus.split_by}"
        return folds, f"{counted(k, 'stratified fold')} {kept}, seed {seed}"
    return iterative_stratification(corpus.label_matrix(), k, seed), f"{counted(k, 'stratified fold')}, seed {seed}"


def dates_of(corpus: Corpus, column: str) -> np.ndarray[Any, Any]:
    """The dates in a column of the corpus; an error names the file and the line."""
    return read_dates(corpus.metadata[column], column, path=corpus.source or None, lines=corpus.lines)


def time_column(corpus: Corpus) -> str | None:
    """The column of dates by which the corpus is to be divided in the order of time; None where it is not."""
    if not corpus.split_by.startswith(TIME) or corpus.split_by in corpus.metadata:
        return None
    return corpus.split_by.removeprefix(TIME)


def _keeps_duplicates(corpus: Corpus) -> bool:
    return corpus.split_by == DUPLICATES and DUPLICATES not in corpus.metadata


def ignores_labels(corpus: Corpus) -> bool:
    """Whether documents are to be divided at random, without regard to their labels."""
    return corpus.split_by == RANDOM and RANDOM not in corpus.metadata


def _groups(corpus: Corpus) -> np.ndarray[Any, Any]:
    """The documents that stay together, as a group number or name for each document."""
    if _keeps_duplicates(corpus):
        return near_duplicates(documents_of(corpus)).groups()
    return np.array([str(value) for value in corpus.metadata[corpus.split_by]])


def in_order_of_time(train: Corpus, test: Corpus | None) -> Corpus:
    """The training documents, to be divided by time where the test documents are all later.

    New documents are then later ones too, and time-ordered folds estimate the quality on them; random folds, in which
    a document is tested beside others of its day, are too optimistic. Only the dates of the test documents are used. A
    column that the user or the data set names to split by takes precedence.
    """
    if test is None or train.split_by:
        return train
    for name in DATE_COLUMNS:
        if name in train.metadata and name in test.metadata:
            try:
                before, after = (dates_of(corpus, name) for corpus in (train, test))
            except ManylabelError:
                continue  # a column of that name that holds no dates
            if np.max(before) <= np.min(after):
                return replace(train, split_names=None, split_by=f"{TIME}{name}")
    return train


def find_straddling(train: Corpus, test: Corpus) -> Straddle:
    """The test documents with a near-duplicate in training; see `manylabel.data.duplicates`."""
    with stage("Looking for near-duplicates"):
        found = straddling(documents_of(train), documents_of(test))
    first = (test.ids[found.test[0]], train.ids[found.train[0]]) if found.test.size else None
    return Straddle(int(found.test.size), len(test), int((found.similarity == 1).sum()), first)


def drop_straddling(train: Corpus, test: Corpus) -> tuple[Corpus, Straddle]:
    """The training documents without those that are near-duplicates of test documents; the test stays as it is, so
    that figures with and without them are of the same documents.
    """
    before = find_straddling(train, test)
    if not before.documents:
        return train, before
    seen = straddling(documents_of(test), documents_of(train)).test
    kept = np.setdiff1d(np.arange(len(train)), seen)
    return train.subset(kept), Straddle(0, len(test), 0, None, dropped=int(seen.size))


def duplicate_facts(corpus: Corpus) -> DuplicateFacts:
    """How many pairs of documents are near-duplicates, and how many documents have one."""
    with stage("Looking for near-duplicates"):
        found = near_duplicates(documents_of(corpus))
    return DuplicateFacts(pairs=found.n_pairs, documents=found.n_documents)
