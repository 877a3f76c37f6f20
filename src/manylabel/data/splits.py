"""Ways to split documents for training and testing: index arrays in, index arrays out.

A `Split` is a pair (train, test) of increasing row numbers; functions that take `shares` return one array of row
numbers per share. The arrays of one split are disjoint, none is empty, and the same seed gives the same arrays. What
is learned from data (vocabulary, idf, thresholds) is learned from the training split alone; a held-out split for
validation is a further split of the training split.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from manylabel.data.stratification import stratify
from manylabel.estimator import Csr, Ints
from manylabel.exceptions import DataError, ParameterError
from manylabel.metrics.counts import LabelMatrix, indicator
from manylabel.parameters import AnyOf, Number, check_parameter
from manylabel.wording import COUNTED, counted, there_are

Split: TypeAlias = tuple[Ints, Ints]


def holdout(n: int, share: float, seed: int) -> Split:
    """One random split of n documents, the given share (rounded to whole documents) for testing.

    >>> train, test = holdout(10, 0.3, seed=0)
    >>> len(train), len(test)
    (7, 3)
    """
    check_parameter("holdout", "share", share, Number(low=0, high=1, open_low=True, open_high=True))
    test = round(share * n)
    return _draws(n, n - test, test, 1, seed)[0]


def repeated_random(n: int, train: float, test: float | None, repeats: int, seed: int) -> list[Split]:
    """Independent random draws of training and test documents, without overlap within a draw.

    `train` and `test` are numbers of documents (whole numbers) or shares of n (fractions below 1); with
    `test` None, all documents not drawn for training are tested. More repeats with the same seed do not change the
    first ones.

    Source: ten 70-30 splits in Godbole & Sarawagi 2004; five draws of 2000 and 3000 documents in Ueda & Saito
    2002.

    >>> [(len(a), len(b)) for a, b in repeated_random(10, 0.7, 0.3, repeats=2, seed=0)]
    [(7, 3), (7, 3)]
    >>> [(len(a), len(b)) for a, b in repeated_random(10, 2, 3, repeats=1, seed=0)]
    [(2, 3)]
    """
    check_parameter("repeated_random", "repeats", repeats, Number(low=1, whole=True))
    first = _size(n, train, "train")
    if test is None or (_is_share(train) and _is_share(test) and abs(train + test - 1) < 1e-9):
        return _draws(n, first, n - first, repeats, seed)  # two rounded shares could miss a document or overlap
    return _draws(n, first, _size(n, test, "test"), repeats, seed)


def k_fold(n: int, k: int, seed: int, strata: npt.ArrayLike | None = None) -> list[Split]:
    """The k splits in which each document is tested once; fold sizes differ by at most one.

    With `strata` (one key per document, for example its number of labels), the documents of each key are
    spread evenly too: their number in two folds differs by at most one.

    >>> [(len(train), len(test)) for train, test in k_fold(7, 3, seed=0)]
    [(4, 3), (5, 2), (5, 2)]
    >>> strata = [1, 1, 1, 2, 2, 2]
    >>> [sorted(strata[i] for i in test) for _, test in k_fold(6, 3, seed=0, strata=strata)]
    [[1, 2], [1, 2], [1, 2]]
    """
    _check_folds(k, n, "document")
    order = _generator(seed).permutation(n)
    if strata is not None:
        keys = _one_per_document(strata, "strata")
        if keys.size != n:
            raise DataError(
                f"strata must have one key per document: {counted(n, 'document')}, but {counted(keys.size, 'key')}."
            )
        order = order[np.argsort(_codes(keys, "strata")[order], kind="stable")]
    fold = np.empty(n, dtype=np.int64)
    fold[order] = np.arange(n) % k  # dealt like cards across strata, so that folds are even in size and in strata
    return _as_splits(fold, k)


def iterative_stratification(Y: LabelMatrix, k: int, seed: int) -> list[Split]:
    """The k splits in which each label's documents are spread as evenly as possible.

    Source: Sechidis, Tsoumakas & Vlahavas 2011. See `iterative_split`.

    >>> Y = [[1, 0], [1, 0], [1, 0], [1, 0], [0, 1], [1, 1], [0, 0], [0, 0]]
    >>> [np.asarray(Y)[test].sum(axis=0).tolist() for _, test in iterative_stratification(Y, 2, seed=0)]
    [[3, 1], [2, 1]]
    """
    matrix = indicator(Y)
    _check_folds(k, matrix.shape[0], "document")
    return _as_splits(stratify(matrix, [1 / k] * k, _generator(seed)), k)


def iterative_split(Y: LabelMatrix, shares: Sequence[float] = (0.8, 0.2), seed: int = 0) -> list[Ints]:
    """One array of rows per share, in which every label has about that share of its documents.

    Take the label with the fewest documents left; give each of them to the array that still needs most documents of
    this label, then most documents, then at random; repeat. Documents without labels go where most documents are
    needed.

    Source: Sechidis, Tsoumakas & Vlahavas 2011, algorithm 1. Sizes follow from the labels and may be off by a few
    documents. Deviation: an array left empty gets one document of the array with the greatest surplus.

    >>> Y = [[1, 0], [1, 0], [1, 0], [1, 0], [0, 1], [1, 1], [0, 0], [0, 0]]
    >>> [rows.size for rows in iterative_split(Y, (0.75, 0.25), seed=0)]
    [6, 2]
    """
    matrix = indicator(Y)
    _check_shares(shares, matrix.shape[0], "document")
    return _as_rows(stratify(matrix, list(shares), _generator(seed)), len(shares))


def group_k_fold(groups: npt.ArrayLike, k: int, seed: int) -> list[Split]:
    """The k splits in which no group (author, thread, source) is in training and test at once.

    Groups are dealt out largest first, equally large ones in random order, each to the fold with the fewest
    documents.

    >>> [test.tolist() for _, test in group_k_fold(["a", "a", "b", "c", "c", "c"], 2, seed=0)]
    [[3, 4, 5], [0, 1, 2]]
    """
    codes = _codes(_one_per_document(groups, "groups"), "groups")
    sizes = np.bincount(codes)
    _check_folds(k, sizes.size, "group")
    shuffled = _generator(seed).permutation(sizes.size)
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    return _as_splits(_fill(sizes, order, [1 / k] * k)[codes], k)


def group_split(groups: npt.ArrayLike, shares: Sequence[float], seed: int) -> list[Ints]:
    """One array of rows per share, of about that share of the documents, no group in two of them.

    Groups come in random order, so that any may be tested; each goes to the array that still needs most documents. An
    array may miss its share by the size of a group.

    >>> train, test = group_split(["a", "a", "b", "b", "c", "c", "d", "d"], (0.75, 0.25), seed=0)
    >>> [train.size, test.size]
    [6, 2]
    """
    codes = _codes(_one_per_document(groups, "groups"), "groups")
    sizes = np.bincount(codes)
    _check_shares(shares, sizes.size, "group")
    order = _generator(seed).permutation(sizes.size)
    return _as_rows(_fill(sizes, order, list(shares))[codes], len(shares))


def stratified_group_k_fold(Y: LabelMatrix, groups: npt.ArrayLike, k: int, seed: int) -> list[Split]:
    """The k splits in which no group is in training and test at once and labels are spread as evenly as groups allow.

    Iterative stratification of groups instead of documents: see `stratify`. With one document per group it is
    `iterative_stratification`.

    >>> Y, groups = [[1, 0], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0]], ["a", "a", "b", "c", "d", "e"]
    >>> [np.asarray(Y)[test].sum(axis=0).tolist() for _, test in stratified_group_k_fold(Y, groups, 2, seed=0)]
    [[2, 1], [2, 1]]
    """
    group_of, counts, sizes = _group_counts(Y, groups)
    _check_folds(k, sizes.size, "group")
    return _as_splits(stratify(counts, [1 / k] * k, _generator(seed), sizes.tolist())[group_of], k)


def stratified_group_split(Y: LabelMatrix, groups: npt.ArrayLike, shares: Sequence[float], seed: int) -> list[Ints]:
    """One array of rows per share, of about that share of the documents and of every label, no group in two of them.

    >>> Y, groups = [[1, 0], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0]], ["a", "a", "b", "c", "d", "e"]
    >>> [np.asarray(Y)[rows].sum(axis=0).tolist() for rows in stratified_group_split(Y, groups, (0.5, 0.5), seed=0)]
    [[2, 1], [2, 1]]
    """
    group_of, counts, sizes = _group_counts(Y, groups)
    _check_shares(shares, sizes.size, "group")
    return _as_rows(stratify(counts, list(shares), _generator(seed), sizes.tolist())[group_of], len(shares))


def time_blocks(dates: npt.ArrayLike, k: int, *, forward: bool = False) -> list[Split]:
    """The k splits whose test documents are time-ordered folds, no two of which share a date.

    Each fold is tested once with training on all others; with `forward` with training on earlier folds only, as in
    use, and then the first of k + 1 folds is never tested. `by_date` explains what dates may be.

    >>> [(train.tolist(), test.tolist()) for train, test in time_blocks([4, 1, 2, 3], 2)]
    [([0, 3], [1, 2]), ([1, 2], [0, 3])]
    >>> [(train.tolist(), test.tolist()) for train, test in time_blocks([3, 1, 2], 2, forward=True)]
    [([1], [2]), ([1, 2], [0])]
    """
    array = _one_per_document(dates, "dates")
    n_folds = k + 1 if forward else k
    _check_folds(n_folds, _codes(array, "dates", blank_is_missing=True).max() + 1, "different date")
    folds = by_date(array, [1 / n_folds] * n_folds)
    if not forward:
        return _as_splits(_numbered(folds), k)
    return [(np.sort(np.concatenate(folds[:fold])), folds[fold]) for fold in range(1, n_folds)]


def by_date(dates: npt.ArrayLike, shares: Sequence[float]) -> list[Ints]:
    """One array of rows per share, in the order of time: all its dates are later than those of the array before.

    Documents of one date stay together, so each border is moved to the nearest change of date (the earlier of two
    equally near ones). Dates are anything that sorts by time: datetime64, date objects, numbers, or text such as
    1987-02-26.

    >>> by_date(["1987-03-01", "1987-02-26", "1987-02-27", "1987-04-01"], (0.5, 0.5))
    [array([1, 2]), array([0, 3])]
    """
    codes = _codes(_one_per_document(dates, "dates"), "dates", blank_is_missing=True)
    ends = np.cumsum(np.bincount(codes))  # documents up to and including each date
    _check_shares(shares, ends.size, "date")
    wanted = np.cumsum(shares)[:-1] * codes.size
    last, borders = -1, []
    for position, target in enumerate(wanted):
        # each later array must keep a date of its own
        latest = ends.size - (len(shares) - position)
        candidates = np.arange(last + 1, latest + 1)
        last = int(candidates[np.argmin(np.abs(ends[candidates] - target))])
        borders.append(last)
    return _as_rows(np.searchsorted(borders, codes, side="left"), len(shares))


def _group_counts(Y: LabelMatrix, groups: npt.ArrayLike) -> tuple[npt.NDArray[np.intp], Csr, npt.NDArray[np.intp]]:
    """The group of each document, how many documents of each group have each label, and the size of each group."""
    matrix = indicator(Y)
    codes = _codes(_one_per_document(groups, "groups"), "groups")
    if codes.size != matrix.shape[0]:
        raise DataError(
            f"{there_are(matrix.shape[0], 'document').capitalize()} but {counted(codes.size, 'group')}: give one group "
            "per document."
        )
    documents = np.arange(codes.size)
    membership = Csr((np.ones(codes.size, dtype=np.int64), (codes, documents)), shape=(codes.max() + 1, codes.size))
    return codes, Csr(membership @ matrix), np.bincount(codes)


def _numbered(folds: Sequence[Ints]) -> Ints:
    """The number of the fold each document is in."""
    fold_of = np.empty(sum(rows.size for rows in folds), dtype=np.int64)
    for number, rows in enumerate(folds):
        fold_of[rows] = number
    return fold_of


def _fill(sizes: npt.NDArray[np.intp], order: npt.NDArray[np.intp], shares: list[float]) -> Ints:
    """The split of each group: in the given order, to the split that needs most documents, none left empty."""
    room = [share * float(sizes.sum()) for share in shares]
    empty = set(range(len(shares)))
    split_of = np.empty(sizes.size, dtype=np.int64)
    for done, group in enumerate(order.tolist()):
        # the last groups are kept for splits that have none yet
        candidates = sorted(empty) if sizes.size - done <= len(empty) else range(len(shares))
        chosen = max(candidates, key=room.__getitem__)
        split_of[group] = chosen
        room[chosen] -= float(sizes[group])
        empty.discard(chosen)
    return split_of


def _as_rows(split_of: npt.NDArray[np.integer[Any]], count: int) -> list[Ints]:
    return [np.flatnonzero(split_of == number).astype(np.int64) for number in range(count)]


def _as_splits(fold: Ints, k: int) -> list[Split]:
    return [
        (np.flatnonzero(fold != number).astype(np.int64), np.flatnonzero(fold == number).astype(np.int64))
        for number in range(k)
    ]


def _codes(values: npt.NDArray[Any], what: str, *, blank_is_missing: bool = False) -> npt.NDArray[np.intp]:
    """The rank of each value among the distinct values."""
    missing = values != values  # nan and NaT are the values that differ from themselves
    if values.dtype == object:
        missing = np.array([value is None or value != value for value in values.tolist()], dtype=np.bool_)
    if blank_is_missing and values.dtype.kind in "OU":
        missing = missing | (values == "")
    if np.any(missing):
        raise DataError(
            f"{what}: document {int(np.flatnonzero(missing)[0])} has none {COUNTED}.",
            remedy="Leave such documents out, or give them a value.",
        )
    try:
        return np.unique(values, return_inverse=True)[1].reshape(-1)
    except TypeError as error:
        raise DataError(f"{what} must be of one kind, so that they can be sorted ({error}).") from error


def _one_per_document(values: npt.ArrayLike, what: str) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1 or not array.size:
        raise DataError(f"{what} must be a list of one value per document, not an array of shape {array.shape}.")
    return array


def _generator(seed: int) -> np.random.Generator:
    check_parameter("split", "seed", seed, Number(low=0, whole=True))
    return np.random.default_rng(seed)


def _draws(n: int, train: int, test: int, repeats: int, seed: int) -> list[Split]:
    if min(train, test) < 1 or train + test > n:
        raise ParameterError(
            f"{counted(n, 'document')} cannot give {train} for training and {test} for testing: each needs at least "
            "one, "
            f"and both together at most {n}. Change the sizes or shares."
        )
    random = _generator(seed)
    draws = [random.permutation(n) for _ in range(repeats)]
    return [(np.sort(draw[:train]), np.sort(draw[train : train + test])) for draw in draws]


def _is_share(size: float) -> bool:
    return not isinstance(size, numbers.Integral)


def _size(n: int, size: float, name: str) -> int:
    """A number of documents, given as such or as a share of n."""
    allowed = AnyOf(Number(low=1, whole=True), Number(low=0, high=1, open_low=True, open_high=True))
    check_parameter("repeated_random", name, size, allowed)
    return round(size * n) if _is_share(size) else int(size)


def _check_folds(k: int, n: int, what: str) -> None:
    check_parameter("split", "k", k, Number(low=2, whole=True))
    if k > n:
        remedy = f"Take {'2' if n == 2 else f'2 to {n}'} folds." if n > 1 else "At least two are needed."
        raise ParameterError(f"{counted(n, what)} cannot make {counted(k, 'fold')}: one would be empty. {remedy}")


def _check_shares(shares: Sequence[float], n: int, what: str) -> None:
    given = list(shares)
    positive = Number(low=0, open_low=True)
    if len(given) < 2 or not all(positive.allows(share) for share in given) or abs(sum(given) - 1) > 1e-6:
        raise ParameterError(f"shares must be two or more numbers above 0 that add up to 1, not {given!r}.")
    if n < len(given):
        raise ParameterError(
            f"{counted(n, what)} cannot make {counted(len(given), 'split')}: one would be empty. Ask for fewer."
        )
