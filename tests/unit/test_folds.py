"""Splits and folds by group, by time and by label, and dates in the forms data have them."""

import datetime
import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from manylabel.data import Corpus
from manylabel.data.dates import read_dates
from manylabel.data.splits import group_k_fold, stratified_group_k_fold, time_blocks
from manylabel.exceptions import DataError, ParameterError, UnknownNameError
from manylabel.progress import remarks_to
from manylabel.tasks.corpora import Source, load_source, split_anew
from manylabel.tasks.dividing import folds_of, train_and_test
from manylabel.wording import settings_worded_for


def corpus(n: int = 60) -> Corpus:
    random = np.random.default_rng(0)
    return Corpus(
        ids=[str(row) for row in range(n)],
        fields={"text": [f"text {row}" for row in range(n)]},
        labels=[["a"] if row % 3 else ["a", "b"] for row in range(n)],
        metadata={
            "author": [f"writer{row}" for row in random.integers(0, 15, n)],
            "day": [f"{1 + row % 28} {'Jan' if row % 2 else 'Feb'} 2020" for row in range(n)],
        },
        split_names=["train" if row % 4 else "test" for row in range(n)],
    )


def test_a_wish_goes_before_the_split_of_the_data() -> None:
    assert train_and_test(corpus(), 0.25, 0)[2] == "the split of the data"
    train, test, how = train_and_test(split_anew(corpus(), "author"), 0.25, 0)
    assert not set(train.metadata["author"]) & set(test.metadata["author"])
    assert "by author" in how


def test_unused_documents_stay_out() -> None:
    marked = corpus()
    marked.split_names[5] = "unused"  # type: ignore[index]
    assert "5" not in split_anew(marked, "author").ids


def test_time_splits_test_the_latest() -> None:
    train, test, how = train_and_test(split_anew(corpus(), "time:day"), 0.25, 0)
    assert read_dates(train.metadata["day"]).max() < read_dates(test.metadata["day"]).min()
    assert how == "a split by time (day), the latest 25 % for testing"


def test_folds_of_each_kind() -> None:
    plain = corpus()
    folds, how = folds_of(plain, 5, 0)
    assert how == "5 stratified folds, seed 0"
    assert sorted(row for _, test in folds for row in test.tolist()) == list(range(60))
    folds, how = folds_of(split_anew(plain, "author"), 5, 0)
    assert how == "5 stratified folds by author, seed 0"
    authors = np.array(plain.metadata["author"])
    for train, test in folds:
        assert not set(authors[train]) & set(authors[test])
    dates = read_dates(plain.metadata["day"])
    folds, how = folds_of(split_anew(plain, "time:day"), 4, 0)
    assert how == "4 time-ordered folds (day)"
    for (_, early), (_, late) in itertools.pairwise(folds):
        assert dates[early].max() < dates[late].min()
    folds, how = folds_of(split_anew(plain, "time:day"), 4, 0, forward=True)
    assert "each after training on earlier ones" in how
    assert len(folds) == 4
    for train, test in folds:
        assert dates[train].max() < dates[test].min()


def test_unknown_columns_are_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'author'"):
        split_anew(corpus(), "autor")
    with pytest.raises(UnknownNameError, match="Did you mean 'day'"):
        split_anew(corpus(), "time:days")


def test_stratified_groups_spread_a_label_that_plain_groups_bunch() -> None:
    """20 groups of 5; a rare label on one document in each of 10 groups: two in each of five folds."""
    groups = np.repeat(np.arange(20), 5)
    Y = np.zeros((100, 2), dtype=int)
    Y[:50:5, 0] = 1
    Y[:, 1] = groups % 2
    stratified = [int(Y[test, 0].sum()) for _, test in stratified_group_k_fold(Y, groups, 5, 0)]
    assert stratified == [2] * 5
    plain = [int(Y[test, 0].sum()) for _, test in group_k_fold(groups, 5, 0)]
    assert max(plain) > 2
    with pytest.raises(DataError, match="100 documents but 99 groups"):
        stratified_group_k_fold(Y, groups[1:], 5, 0)


def test_time_blocks_need_enough_dates() -> None:
    with pytest.raises(ParameterError, match="3 different dates cannot make 4 folds"):
        time_blocks([1, 2, 3], 4)
    with pytest.raises(ParameterError, match="3 different dates cannot make 4 folds"):
        time_blocks([1, 2, 3], 3, forward=True)


@pytest.mark.parametrize(
    "text",
    [
        "1987-02-26", "1987-02-26T00:00:00", "26-FEB-1987 00:00:00.00", "26 Feb 1987", "26 February 1987",
        "February 26, 1987", "26.02.1987", "1987/02/26", "26.02.1987 00:00", "26/02/1987",
        "2/26/1987 12:00 AM", "Thu, 26 Feb 1987 01:00:00 +0100",
        "26-FEB-1987 00:00:00.00&#5;&#5;F",
    ],
)  # fmt: skip
def test_dates_as_they_are_written(text: str) -> None:
    assert read_dates([text]).tolist() == [datetime.datetime(1987, 2, 26)]


def test_dates_that_are_numbers_or_objects() -> None:
    assert read_dates(["1999", "2001"]).tolist() == [1999, 2001]
    assert read_dates([datetime.date(2000, 1, 2)]).tolist() == [datetime.datetime(2000, 1, 2)]
    assert read_dates(np.array(["2000-01-02"], dtype="datetime64[D]")).tolist() == [datetime.datetime(2000, 1, 2)]


@pytest.mark.parametrize("bad", ["soon", "", None, "03/04/1987"])
def test_what_is_no_date_is_named(bad: object) -> None:
    with pytest.raises(DataError, match=r"document 1 has .*\(documents count from 0\)"):
        read_dates(["1987-02-26", bad], "day")
    with pytest.raises(DataError, match=r"document 1 has none \(documents count from 0\)"):
        time_blocks([1.0, float("nan")], 2)


def test_the_day_of_dates_with_slashes_is_found_in_the_others() -> None:
    for text, other, expected in (("4/3/1987", "12/25/1987", (4, 3)), ("04/03/1987 10:15", "25/12/1987", (3, 4))):
        assert read_dates([text, other]).astype("datetime64[D]").tolist()[0] == datetime.date(1987, *expected)
    for unclear in (["1987-02-26", "03/04/1987"], ["26/02/1987", "02/26/1987"]):
        with pytest.raises(DataError, match="in which the month is not clear"):
            read_dates(unclear)


def test_the_file_and_the_line_of_a_wrong_date_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mail.csv"
    path.write_text("text,labels,day\nx,a,1987-02-26\n\ny,b,soon\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"mail\.csv, line 4: The column 'day' has 'soon', which cannot be read as a date"
    ):
        train_and_test(load_source(Source(str(path), split_by="time:day")).corpus, 0.5, 0)


def test_reuters_by_time(data_folder: Path) -> None:
    train, test, _ = train_and_test(load_source(Source("reuters21578", split_by="time:date")).corpus, 0.25, 0)
    assert len(train) + len(test) == 12902
    assert read_dates(train.metadata["date"]).max() < read_dates(test.metadata["date"]).min()


def test_random_division_keeps_the_share_and_ignores_labels() -> None:
    train, test, how = train_and_test(split_anew(mostly_single(), "random"), 0.25, 0)
    assert how == "a random split, 25 % for testing, seed 0"
    assert (len(train), len(test)) == (45, 15)
    assert set(test.label_names) - {label for labels in train.label_sets for label in labels}
    folds, how = folds_of(split_anew(mostly_single(), "random"), 5, 0)
    assert how == "5 random folds, seed 0"
    assert [len(test) for _, test in folds] == [12] * 5


def test_a_column_named_random_is_a_column() -> None:
    named = mostly_single()
    named.metadata["random"] = [str(row % 6) for row in range(60)]
    train, test, _ = train_and_test(split_anew(named, "random"), 0.25, 0)
    assert not set(train.metadata["random"]) & set(test.metadata["random"])


def test_many_labels_with_a_single_document_are_reported() -> None:
    remarks: list[str] = []
    with remarks_to(remarks.append):
        train_and_test(corpus(), None, 0)  # has its own split
        train_and_test(replace(corpus(), split_names=None), 0.25, 0)  # two labels on many documents
        train_and_test(split_anew(mostly_single(), "random"), 0.25, 0)
        assert remarks == []
        train_and_test(mostly_single(), 0.25, 0)
        with settings_worded_for("command line"):
            train_and_test(mostly_single(), 0.25, 0)
    assert len(remarks) == 2
    assert remarks[0].startswith("40 of 41 labels have a single document. The stratified split keeps")
    assert [("--split-by random" in one) for one in remarks] == [False, True]


def mostly_single() -> Corpus:
    """Sixty documents: forty with a label of their own, twenty that share one."""
    labels = [[f"only{row}"] if row < 40 else ["shared"] for row in range(60)]
    return replace(
        corpus(), labels=labels, label_names=sorted({label for one in labels for label in one}), split_names=None
    )
