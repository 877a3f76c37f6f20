"""Laws every split keeps: parts are disjoint, cover all documents, and none is empty."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from manylabel.data import splits

FEW = settings(max_examples=60, deadline=None)
SEEDS = st.integers(0, 1000)


@st.composite
def shares(draw, most=4):
    weights = draw(st.lists(st.integers(1, 20), min_size=2, max_size=most))
    return [weight / sum(weights) for weight in weights]


def check_parts(parts, n):
    assert all(part.size for part in parts)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(n))
    assert all((np.diff(part) > 0).all() for part in parts)


def check_folds(folds, n):
    check_parts([test for _, test in folds], n)
    for train, test in folds:
        check_parts([train, test], n)


@FEW
@given(st.integers(2, 40), st.data(), SEEDS)
def test_k_fold(n, data, seed):
    k = data.draw(st.integers(2, n))
    strata = data.draw(st.none() | hnp.arrays(np.int64, n, elements=st.integers(0, 3)))
    folds = splits.k_fold(n, k, seed, strata)
    check_folds(folds, n)
    sizes = [test.size for _, test in folds]
    assert max(sizes) - min(sizes) <= 1
    if strata is not None:
        for key in set(strata.tolist()):
            counts = [int((strata[test] == key).sum()) for _, test in folds]
            assert max(counts) - min(counts) <= 1


@FEW
@given(
    hnp.arrays(np.int8, st.tuples(st.integers(2, 25), st.integers(0, 6)), elements=st.integers(0, 1)),
    st.data(),
    SEEDS,
)
def test_iterative_stratification(Y, data, seed):
    check_folds(splits.iterative_stratification(Y, data.draw(st.integers(2, len(Y))), seed), len(Y))
    parts = data.draw(shares(most=min(4, len(Y))))
    check_parts(splits.iterative_split(Y, parts, seed), len(Y))


@FEW
@given(st.lists(st.integers(0, 8), min_size=2, max_size=40), st.data(), SEEDS)
def test_groups(groups, data, seed):
    distinct = len(set(groups))
    if distinct < 2:
        groups, distinct = [*groups, 9], 2
    keys = np.array(groups)
    folds = splits.group_k_fold(groups, data.draw(st.integers(2, distinct)), seed)
    check_folds(folds, len(groups))
    parts = splits.group_split(groups, data.draw(shares(most=min(4, distinct))), seed)
    check_parts(parts, len(groups))
    for division in ([test for _, test in folds], parts):
        assert sum(len(set(keys[part].tolist())) for part in division) == distinct


@FEW
@given(
    hnp.arrays(np.int8, st.tuples(st.integers(2, 25), st.integers(0, 6)), elements=st.integers(0, 1)), st.data(), SEEDS
)
def test_stratified_groups(Y, data, seed):
    groups = data.draw(hnp.arrays(np.int64, len(Y), elements=st.integers(0, 8)))
    groups[0], groups[-1] = 0, 1
    distinct = len(set(groups.tolist()))
    folds = splits.stratified_group_k_fold(Y, groups, data.draw(st.integers(2, distinct)), seed)
    check_folds(folds, len(Y))
    parts = splits.stratified_group_split(Y, groups, data.draw(shares(most=min(4, distinct))), seed)
    check_parts(parts, len(Y))
    for division in ([test for _, test in folds], parts):
        assert sum(len(set(groups[part].tolist())) for part in division) == distinct


@FEW
@given(
    hnp.arrays(np.int8, st.tuples(st.integers(2, 25), st.integers(0, 6)), elements=st.integers(0, 1)), st.data(), SEEDS
)
def test_groups_of_one_document_are_stratified_as_documents(Y, data, seed):
    k = data.draw(st.integers(2, len(Y)))
    alone = splits.stratified_group_k_fold(Y, np.arange(len(Y)), k, seed)
    for (_, one), (_, other) in zip(alone, splits.iterative_stratification(Y, k, seed), strict=True):
        assert np.array_equal(one, other)


@FEW
@given(st.lists(st.integers(0, 30), min_size=3, max_size=40), st.data())
def test_time_blocks(dates, data):
    dates = [*dates, 31, 32, 33]
    values, distinct = np.array(dates), len(set(dates))
    k = data.draw(st.integers(2, distinct - 1))
    folds = splits.time_blocks(dates, k)
    check_folds(folds, len(dates))
    for (_, before), (_, after) in pairwise(folds):
        assert values[before].max() < values[after].min()
    forward = splits.time_blocks(dates, k, forward=True)
    assert len(forward) == k
    for (train, test), (later, _) in zip(forward, [*forward[1:], (np.arange(len(dates)), None)], strict=True):
        assert values[train].max() < values[test].min()
        assert np.array_equal(later, np.union1d(train, test))


@FEW
@given(st.lists(st.integers(0, 30), min_size=2, max_size=40), st.data())
def test_dates(dates, data):
    if len(set(dates)) < 2:
        dates = [*dates, 31]
    values = np.array(dates)
    parts = splits.by_date(dates, data.draw(shares(most=min(4, len(set(dates))))))
    check_parts(parts, len(dates))
    for before, after in pairwise(parts):
        assert values[before].max() < values[after].min()


@FEW
@given(st.integers(2, 60), st.data(), SEEDS)
def test_random_draws(n, data, seed):
    train = data.draw(st.integers(1, n - 1))
    test = data.draw(st.integers(1, n - train))
    for a, b in splits.repeated_random(n, train, test, 3, seed):
        assert (a.size, b.size) == (train, test)
        drawn = np.concatenate([a, b])
        assert np.unique(drawn).size == drawn.size
        assert drawn.min() >= 0
        assert drawn.max() < n
