"""What fitted estimators learned about some of their labels, and what two of them learned about theirs, as one.

The declarations of learned attributes (`manylabel.stored`) name the axes of arrays. Along the axis ``labels``, cells
are taken or put side by side; everything else stays as the first estimator learned it. This is right wherever a label
is scored or decided by its own cells alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self, TypeAlias, TypeVar, cast

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Estimator, Ints
from manylabel.stored import Array, Each, Either, Matrix, Maybe, Part, Scalar, Sometimes, Starts, Stored, Values

LABELS = "labels"
AnyEstimator = TypeVar("AnyEstimator", bound=Estimator)
Axes: TypeAlias = dict[str, Ints]
"""The cells to take along each axis."""


class Labelled(Protocol):
    """An estimator that learned something about each label."""

    def of_labels(self, columns: Ints) -> Self:
        """The same estimator for some of its labels, in this order."""

    def beside(self, other: Any) -> Self:
        """The same estimator for its own labels and, behind them, those of another one."""


def of_labels(estimator: AnyEstimator, columns: Ints) -> AnyEstimator:
    """The same estimator with what it learned about some of its labels, in this order."""
    declared, state = estimator.declared(), estimator.learned_state()
    axes: Axes = {LABELS: columns}
    for name, value in state.items():
        if (starts := _starts(declared[name])) is not None:
            ranges = [np.arange(value[column], value[column + 1]) for column in columns.tolist()]
            axes[starts.length] = np.concatenate([np.zeros(0, dtype=np.int64), *ranges])
    return _restored(estimator, {name: _taken(declared[name], value, axes) for name, value in state.items()})


def beside(first: AnyEstimator, second: AnyEstimator) -> AnyEstimator:
    """The first estimator with what both learned about their labels, those of the second behind its own."""
    declared, state, other = first.declared(), first.learned_state(), second.learned_state()
    axes = {LABELS, *(starts.length for name in state if (starts := _starts(declared[name])) is not None)}
    return _restored(
        first,
        {
            name: _joined(declared[name], value, other[name], axes) if name in other else value
            for name, value in state.items()
        },
    )


def _restored(estimator: AnyEstimator, state: Mapping[str, Any]) -> AnyEstimator:
    return type(estimator)(**estimator.get_params(deep=False)).restore(state)


def _starts(stored: Stored) -> Starts | None:
    """The declaration of parts of arrays that belong to one label each; None for all others."""
    return stored if isinstance(stored, Starts) and stored.things == LABELS else None


def _axis(stored: Stored, value: Any, axes: Any) -> tuple[int, str] | None:
    """Which dimension of a value runs along one of some axes, and that axis."""
    sizes: tuple[Any, ...] = ()
    if isinstance(stored, Array):
        sizes = stored.sizes
    elif isinstance(stored, Matrix):
        sizes = (stored.rows, stored.columns)
    elif isinstance(stored, Values):
        sizes = (stored.size,)
    found = [(place, size) for place, size in enumerate(sizes) if isinstance(size, str) and size in axes]
    return found[0] if found else None


def _taken(stored: Stored, value: Any, axes: Axes) -> Any:
    """The cells of a learned attribute."""
    if value is None:
        return None
    if isinstance(stored, (Maybe, Sometimes)):
        return _taken(stored.stored, value, axes)
    if isinstance(stored, Either):
        return _taken(_fitting(stored, value), value, axes)
    if isinstance(stored, Part):
        return value if stored.labels != LABELS else cast(Labelled, value).of_labels(axes[LABELS])
    if isinstance(stored, Each):
        return [_taken(stored.item, one, axes) for one in value]
    if isinstance(stored, Scalar):
        return len(axes[LABELS]) if stored.size == LABELS else value
    if _starts(stored) is not None:
        return np.concatenate([[0], np.cumsum(np.diff(value)[axes[LABELS]])]).astype(np.int64)
    found = _axis(stored, value, axes)
    if found is None:
        return value
    place, axis = found
    if isinstance(stored, Values) and np.array_equal(value, np.arange(len(value))):
        return np.arange(len(axes[axis]))  # columns of Y are numbered from 0
    if isinstance(value, Csr):
        return _canonical(value[:, axes[axis]] if place else value[axes[axis]])
    return np.ascontiguousarray(np.take(value, axes[axis], axis=place))


def _joined(stored: Stored, first: Any, second: Any, axes: set[str]) -> Any:
    """The cells of one learned attribute of two estimators."""
    if first is None or second is None:
        return first
    if isinstance(stored, (Maybe, Sometimes)):
        return _joined(stored.stored, first, second, axes)
    if isinstance(stored, Either):
        return _joined(_fitting(stored, first), first, second, axes)
    if isinstance(stored, Part):
        return first if stored.labels != LABELS else cast(Labelled, first).beside(second)
    if isinstance(stored, Each) and not isinstance(stored.item, Part):
        return first
    if isinstance(stored, Each):
        return [_joined(stored.item, *pair, axes) for pair in zip(first, second, strict=True)]
    if isinstance(stored, Scalar):
        return first + second if stored.size == LABELS else first
    if _starts(stored) is not None:
        return np.concatenate([first, first[-1] + second[1:]])
    found = _axis(stored, first, axes)
    if found is None:
        return first
    if isinstance(stored, Values) and np.array_equal(first, np.arange(len(first))):
        return np.arange(len(first) + len(second))
    if isinstance(first, Csr):
        return _canonical((sparse.hstack if found[0] else sparse.vstack)([first, second], format="csr"))
    return np.concatenate([first, second], axis=found[0])


def _fitting(stored: Either, value: Any) -> Stored:
    """The one of two declarations that a value keeps."""
    return stored.one if stored.one.problem(value, {}) is None else stored.other


def _canonical(table: Any) -> Csr:
    found = Csr(table)
    found.sort_indices()
    return found
