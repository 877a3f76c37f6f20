"""Splits: sizes, seeds, stratification, groups, dates, and what is refused."""

import datetime
import time

import numpy as np
import pytest
from scipy import sparse

from manylabel.data import Corpus, splits
from manylabel.exceptions import DataError, ParameterError


def skewed(documents=600, labels=30, seed=1):
    """Label l on about 1/(l+1) of the documents, so that the last labels are rare."""
    random = np.random.default_rng(seed)
    return sparse.csr_array((random.random((documents, labels)) < 0.6 / np.arange(1, labels + 1)).astype(np.int8))


def unevenness(Y, tests):
    """How far each label's count in a split is from its even share, on average."""
    even = Y.sum(axis=0) / len(tests)
    return float(np.mean([np.abs(Y[test].sum(axis=0) - even) for test in tests]))


def test_holdout_sizes():
    train, test = splits.holdout(9603, 0.2, seed=3)
    assert (train.size, test.size) == (7682, 1921)
    assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(9603))
    assert train.dtype == np.int64
    assert (np.diff(train) > 0).all()


def test_a_corpus_is_indexed_by_rows_or_by_a_mask():
    """A mask was read as the rows 0 and 1, and a row that is not there was an IndexError of a list."""
    corpus = Corpus(["a", "b", "c"])
    assert corpus.subset(np.array([True, False, True])).ids == ["a", "c"]
    assert corpus.subset([-1, 0]).ids == ["c", "a"]
    assert corpus.subset([]).ids == []
    with pytest.raises(DataError, match="There is no row 3: the corpus has 3 documents, counted from 0"):
        corpus.subset([0, 3])
    with pytest.raises(DataError, match="The mask has 2 values, but the corpus 3 documents"):
        corpus.subset([True, False])


def test_repeated_random_in_shares_and_in_numbers():
    """D-6: 70-30 ten times; five draws of 2000 and 3000 documents."""
    ten = splits.repeated_random(1000, 0.7, 0.3, 10, 0)
    assert [(a.size, b.size) for a, b in ten] == [(700, 300)] * 10
    assert len({tuple(test) for _, test in ten}) == 10
    five = splits.repeated_random(6000, 2000, 3000, 5, 0)
    assert all(a.size == 2000 and b.size == 3000 and not np.intersect1d(a, b).size for a, b in five)
    assert [b.size for _, b in splits.repeated_random(10, 4, None, 1, 0)] == [6]
    # rounded one by one, 2.5 and 2.5 would give four of five documents, 1.5 and 3.5 would give six
    for share in (0.5, 0.3):
        assert [a.size + b.size for a, b in splits.repeated_random(5, share, 1 - share, 1, 0)] == [5]


def test_more_repeats_leave_the_first_ones():
    short, long = (splits.repeated_random(50, 0.5, 0.5, repeats, 7) for repeats in (2, 4))
    for a, b in zip(short, long, strict=False):
        assert np.array_equal(a[0], b[0])


def test_k_fold_spreads_strata():
    """D-6: stratified on label cardinality."""
    strata = np.repeat([0, 1, 2, 3], [13, 50, 22, 1])
    for _, test in splits.k_fold(86, 5, 0, strata=strata):
        counts = np.bincount(strata[test], minlength=4)
        assert (np.abs(counts - np.array([13, 50, 22, 1]) / 5) < 1).all()
        assert test.size in (17, 18)


def test_same_seed_same_split_other_seed_other_split():
    Y = skewed()
    makers = [
        lambda seed: splits.k_fold(600, 5, seed),
        lambda seed: splits.iterative_stratification(Y, 5, seed),
        lambda seed: splits.repeated_random(600, 0.7, 0.3, 5, seed),
        lambda seed: splits.group_k_fold(np.arange(600) // 3, 5, seed),
    ]
    for make in makers:
        one, again, other = make(4), make(4), make(5)
        assert all(np.array_equal(a[1], b[1]) for a, b in zip(one, again, strict=True))
        assert not all(np.array_equal(a[1], b[1]) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_iterative_stratification_is_evener_than_plain_folds(seed):
    Y = skewed()
    even = unevenness(Y, [test for _, test in splits.iterative_stratification(Y, 10, seed)])
    plain = unevenness(Y, [test for _, test in splits.k_fold(600, 10, seed)])
    assert even < plain / 2


def test_iterative_stratification_of_separate_labels_is_exact():
    """One label each, counts divisible by k: every fold must get the same number of each label."""
    Y = np.repeat(np.eye(3, dtype=int), [5, 10, 40], axis=0)
    for _, test in splits.iterative_stratification(Y, 5, 0):
        assert Y[test].sum(axis=0).tolist() == [1, 2, 8]


@pytest.mark.parametrize("seed", range(5))
def test_iterative_split_by_hand(seed):
    """Labels A, B, C with 7, 3, 5 documents: AB three times, A four times, C five times; shares .7 and .3.

    B, the rarest, wants (2.1, .9): two documents to split 0, one to split 1. A has four left, fewer than C, and
    wants (2.9, 1.1): 0, 0, 1, 0. Then C wants (3.5, 1.5) and the splits have room for (3.4, 1.6): 0, 0, then
    (1.5, 1.5) is settled by the room (1.4, 1.6): 1, then 0, then (.5, .5) by the room (.4, .6): 1. Taking C
    before A, or leaving the room out, gives another result.
    """
    Y = np.array([[1, 1, 0]] * 3 + [[1, 0, 0]] * 4 + [[0, 0, 1]] * 5)
    first, second = splits.iterative_split(Y, (0.7, 0.3), seed)
    assert Y[first].sum(axis=0).tolist() == [5, 2, 3]
    assert Y[second].sum(axis=0).tolist() == [2, 1, 2]


def test_labels_of_one_document_each_fill_folds_evenly():
    """Every fold wants the same quarter of a document, so the room decides."""
    assert [test.size for _, test in splits.iterative_stratification(np.eye(40), 4, 0)] == [10] * 4


def test_every_fold_sees_a_label_with_as_many_documents_as_folds():
    """The rarest label is dealt out first, so it is never missing where it need not be."""
    Y = np.zeros((200, 3), dtype=int)
    Y[:5, 0] = 1
    Y[:60, 1] = 1
    Y[3:150, 2] = 1
    for _, test in splits.iterative_stratification(Y, 5, 0):
        assert Y[test, 0].sum() == 1


def test_iterative_split_keeps_shares_per_label():
    Y = skewed(1000)
    big, small = splits.iterative_split(Y, (0.8, 0.2), 0)
    assert np.array_equal(np.sort(np.concatenate([big, small])), np.arange(1000))
    assert small.size == pytest.approx(200, abs=5)
    np.testing.assert_allclose(Y[small].sum(axis=0), 0.2 * Y.sum(axis=0), atol=3)


def test_iterative_split_with_unlabelled_documents_and_labels_of_one_document():
    Y = np.zeros((40, 12), dtype=int)
    Y[np.arange(10), np.arange(10)] = 1
    found = splits.iterative_split(Y, (0.5, 0.25, 0.25), 0)
    assert [rows.size for rows in found] == [20, 10, 10]
    assert [rows.size for rows in splits.iterative_split(np.zeros((8, 0)), (0.5, 0.5), 0)] == [4, 4]


def test_iterative_split_leaves_no_split_empty():
    """Each label's one document is needed most by the large split; the small one must get one all the same."""
    found = splits.iterative_split(np.eye(3, dtype=int), (0.98, 0.01, 0.01), 0)
    assert [rows.size for rows in found] == [1, 1, 1]


def test_iterative_stratification_does_not_slow_down_with_labels():
    """A search through all labels for each label would take 20,000² steps here."""
    random = np.random.default_rng(0)
    columns = random.integers(0, 20_000, 30_000)
    Y = sparse.csr_array((np.ones(30_000, dtype=np.int8), columns, np.arange(0, 30_001, 3)), shape=(10_000, 20_000))
    Y.sum_duplicates()
    Y.data[:] = 1
    start = time.process_time()
    splits.iterative_split(Y, (0.9, 0.1), 0)
    assert time.process_time() - start < 10  # seconds; a quarter of one is usual


def test_groups_do_not_straddle():
    groups = np.array(["ann", "bob", "ann", "cid", "bob", "dan", "eve", "eve"])
    for train, test in splits.group_k_fold(groups, 3, 0):
        assert not set(groups[train]) & set(groups[test])
    a, b = splits.group_split(groups, (0.5, 0.5), 1)
    assert not set(groups[a]) & set(groups[b])
    assert a.size + b.size == 8


def test_group_folds_are_filled_evenly():
    groups = np.repeat(np.arange(6), [6, 5, 4, 3, 2, 1])
    assert sorted(test.size for _, test in splits.group_k_fold(groups, 3, 0)) == [7, 7, 7]


def test_groups_of_a_split_come_in_random_order():
    groups = np.repeat(["large", "a", "b", "c"], [4, 2, 2, 2])
    tested = {"large" in groups[splits.group_split(groups, (0.6, 0.4), seed)[1]] for seed in range(20)}
    assert tested == {True, False}


def test_group_split_leaves_no_split_empty():
    assert [rows.size for rows in splits.group_split([1, 1, 2], (0.99, 0.01), 0)] in ([2, 1], [1, 2])


def test_by_date_is_chronological_and_keeps_days_together():
    dates = np.array(["1987-03-02", "1987-02-26", "1987-03-01", "1987-03-01", "1987-03-01"], dtype="datetime64[D]")
    early, late = splits.by_date(dates, (0.5, 0.5))
    assert dates[early].max() < dates[late].min()
    # a cut after one document misses 2.5 by 1.5, a cut after four as well: the earlier one is taken
    assert early.tolist() == [1]
    found = splits.by_date([datetime.date(2000 + i, 1, 1) for i in range(10)], (0.6, 0.2, 0.2))
    assert [rows.tolist() for rows in found] == [[0, 1, 2, 3, 4, 5], [6, 7], [8, 9]]


def test_by_date_gives_each_split_a_date():
    found = splits.by_date([1, 2, 3, 3, 3, 3, 3, 3], (0.1, 0.1, 0.8))
    assert [rows.size for rows in found] == [1, 1, 6]
    found = splits.by_date([1, 1, 1, 1, 1, 1, 2, 3], (0.1, 0.1, 0.8))
    assert [rows.size for rows in found] == [6, 1, 1]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: splits.k_fold(5, 6, 0), "5 documents cannot make 6 folds.*2 to 5 folds"),
        (lambda: splits.k_fold(5, 1, 0), "k must be a whole number of at least 2, not 1"),
        (lambda: splits.k_fold(5, 2.5, 0), "k must be a whole number"),
        (lambda: splits.k_fold(5, 2, -1), "seed must be a whole number of at least 0"),
        (lambda: splits.iterative_stratification(np.eye(2), 3, 0), "2 documents cannot make 3 folds"),
        (lambda: splits.iterative_split(np.eye(4), (0.8, 0.3), 0), r"add up to 1, not \[0.8, 0.3\]"),
        (lambda: splits.iterative_split(np.eye(4), (1.2, -0.2), 0), "above 0"),
        (lambda: splits.iterative_split(np.eye(4), (1.0,), 0), "two or more"),
        (lambda: splits.iterative_split(np.eye(1), (0.5, 0.5), 0), "1 document cannot make 2 splits"),
        (lambda: splits.group_k_fold(["a", "a", "b"], 3, 0), "2 groups cannot make 3 folds"),
        (lambda: splits.group_split(["a", "a"], (0.5, 0.5), 0), "1 group cannot make 2 splits"),
        (lambda: splits.time_blocks([1, 2], 3), "2 different dates cannot make 3 folds: .* Take 2 folds"),
        (lambda: splits.by_date([1, 1], (0.5, 0.5)), "1 date cannot make 2 splits"),
        (lambda: splits.holdout(10, 1.5, 0), "share must be a number above 0 and below 1, not 1.5"),
        (lambda: splits.holdout(3, 0.1, 0), "3 documents cannot give 3 for training and 0 for testing"),
        (lambda: splits.repeated_random(10, 8, 3, 1, 0), "both together at most 10"),
        (lambda: splits.repeated_random(10, 0, 3, 1, 0), "train must be"),
        (lambda: splits.repeated_random(10, 5, 5, 0, 0), "repeats must be"),
    ],
)
def test_what_cannot_be_split_is_refused_in_words(call, words):
    with pytest.raises(ParameterError, match=words):
        call()


@pytest.mark.parametrize(
    "dates", [["1987-01-01", ""], [None, "1987"], [1.0, float("nan")], np.array(["NaT", "2000"], "M8[D]")]
)
def test_missing_dates_are_refused(dates):
    with pytest.raises(DataError, match=r"dates: document \d"):
        splits.by_date(dates, (0.5, 0.5))


def test_wrong_lengths_and_shapes_are_refused():
    with pytest.raises(DataError, match="5 documents, but 2 keys"):
        splits.k_fold(5, 2, 0, strata=[1, 2])
    with pytest.raises(DataError, match="one value per document"):
        splits.group_split([], (0.5, 0.5), 0)
    with pytest.raises(DataError, match="one kind"):
        splits.by_date(np.array([1, "a"], dtype=object), (0.5, 0.5))
