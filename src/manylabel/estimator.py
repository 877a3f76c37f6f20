"""scikit-learn's estimator interface, implemented without importing scikit-learn.

Importing scikit-learn takes over a second, and predicting with a stored model does not need it. So the interface
(`get_params`, `set_params`, `clone`, tags) is implemented here, and scikit-learn is imported only where it is needed:
when it inspects our tags, or when dense arrays must be validated as scikit-learn validates them. The reasons are in
docs/decisions/0003-estimators-without-scikit-learn.md.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, NoReturn, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.exceptions import DataError, ParameterError, UnknownNameError, UnknownParameterError
from manylabel.parameters import Constraint, check_parameter
from manylabel.stored import Sizes, Stored, check_state

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Csr = sparse.csr_array
Table = TypeVar("Table")
AnyEstimator = TypeVar("AnyEstimator")
LEARNING = (
    "fit",
    "fit_transform",
    "fit_weighted",
    "fit_after",
    "fit_documents",
    "fit_table",
    "partial_fit",
    "_partial_fit",
    "update",
)
"""The methods by which estimators learn."""


def as_csr(X: Any, name: str = "A sparse matrix") -> Csr:
    """X as a `csr_array`, checked by `check_sparse`; a dense array may be one row.

    >>> as_csr([0, 2]).toarray().tolist()
    [[0, 2]]
    """
    if not sparse.issparse(X):
        return Csr(np.atleast_2d(np.asarray(X)))
    check_sparse(X, name)
    table: Csr = X if isinstance(X, Csr) else Csr(cast(Any, X))
    if len(table.indices) > table.nnz or len(table.data) > table.nnz:  # room that SciPy keeps for more cells
        table = table.copy()
        table.prune()
    return table


def rows_of_cells(table: Csr) -> Ints:
    """The row of each stored cell of a table.

    >>> rows_of_cells(Csr([[1, 0, 2], [0, 0, 0], [0, 3, 0]])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))


def check_sparse(X: Any, name: str = "A sparse matrix") -> None:
    """Raise `DataError` unless the arrays of a sparse matrix fit together and name cells inside it.

    SciPy accepts any arrays, and its own conversions write out of bounds where they are wrong.

    >>> X = Csr((2, 3))
    >>> X.indices, X.data, X.indptr = np.array([7]), np.array([1.0]), np.array([0, 1, 1])
    >>> check_sparse(X)
    Traceback (most recent call last):
    ...
    manylabel.exceptions.DataError: A sparse matrix names columns 7 to 7, but its columns count from 0 to 2.
    """
    if X.format in ("lil", "dok"):
        X = X.tocoo()
    if X.ndim != 2 or X.format not in ("csr", "csc", "bsr", "coo"):
        return
    if X.format == "coo":
        sides = dict(zip(("rows", "columns"), X.coords, strict=True))
        if any(len(numbers) != len(X.data) for numbers in sides.values()):
            raise DataError(f"{name} holds {len(X.data)} values, but other numbers of rows or columns.")
        extents = {"rows": X.shape[0], "columns": X.shape[1]}
    else:
        height, width = X.blocksize if X.format == "bsr" else (1, 1)
        sizes = X.shape[0] // height, X.shape[1] // width
        inner = "rows" if X.format == "csc" else "columns"
        extents = {inner: sizes[0] if X.format == "csc" else sizes[1]}
        sides = {inner: X.indices}
        _check_starts(X, sizes[1] if X.format == "csc" else sizes[0], name)
    for side, numbers in sides.items():
        if numbers.ndim != 1 or numbers.dtype.kind != "i":
            raise DataError(f"{name} numbers its {side} by {numbers.dtype}, not by whole numbers of 32 or 64 bits.")
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= extents[side]):
            raise DataError(
                f"{name} names {side} {numbers.min()} to {numbers.max()}, but its {side} count from 0 to "
                f"{extents[side] - 1}."
            )


def _check_starts(X: Any, n_parts: int, name: str) -> None:
    """Raise `DataError` unless `indptr` divides the stored cells into as many parts as there are rows (or columns)."""
    starts = X.indptr
    if starts.ndim != 1 or starts.dtype.kind != "i" or len(starts) != n_parts + 1:
        raise DataError(f"{name} needs an indptr of {n_parts + 1} whole numbers; this one has {starts.shape}.")
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any() or not starts[-1] <= min(len(X.indices), len(X.data)):
        raise DataError(
            f"{name} has an indptr that does not rise from 0 to at most {min(len(X.indices), len(X.data))}, the number "
            "of its stored cells."
        )


class Estimator:
    """The base class of estimators: parameters are stored by the constructor, learned attributes end in ``_``."""

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {}
    learned: ClassVar[Mapping[str, Stored]] = {}
    """The learned attributes that a class adds to those of its bases, as they are stored in a model file."""

    def __new__(cls, *arguments: Any, **parameters: Any) -> Self:
        """A new estimator; for a parameter that the constructor does not have, an error that names those it has.

        The constructor alone has the signature that `inspect` and scikit-learn read.
        """
        known = cls.parameter_names()
        for name in parameters:
            if name not in known:
                hint = cls.setting_hint(name, {**dict(zip(known, arguments, strict=False)), **parameters})
                raise UnknownParameterError(f"parameter of {cls.__name__}", name, known, hint)
        return super().__new__(cls)

    @classmethod
    def setting_hint(cls, name: str, arguments: Mapping[str, Any]) -> str:
        """How to set an argument that is not a parameter, as a sentence; empty where the nearest name is enough."""
        return ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in LEARNING:
            if inspect.isfunction(method := vars(cls).get(name)):
                setattr(cls, name, _learning_aside(method))

    @classmethod
    def parameter_defaults(cls) -> dict[str, Any]:
        """The default of each parameter of the constructor, in order; `inspect.Parameter.empty` if there is none."""
        return dict(_parameter_defaults(cls.__init__))

    @classmethod
    def parameter_names(cls) -> list[str]:
        """The constructor's keyword arguments, in order."""
        return list(cls.parameter_defaults())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep`, those of nested estimators as ``name__parameter`` too."""
        params: dict[str, Any] = {}
        for name in self.parameter_names():
            params[name] = getattr(self, name)
            if deep:
                params.update({f"{name}__{key}": inner for key, inner in self.nested_params(name).items()})
        return params

    def nested_params(self, name: str) -> Mapping[str, Any]:
        """The parameters inside one parameter: those of a nested estimator, otherwise none."""
        value = getattr(self, name)
        nested: Mapping[str, Any] = {}
        if hasattr(value, "get_params") and not isinstance(value, type):
            nested = value.get_params()
        return nested

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, nested ones as ``name__parameter``."""
        known, nested = self.parameter_names(), dict[str, dict[str, Any]]()
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in known:
                self._raise_unknown(name, known)
            if rest:
                nested.setdefault(name, {})[rest] = value
            else:
                setattr(self, name, value)
        for name, values in nested.items():
            self.set_nested(name, values)
        return self

    def _raise_unknown(self, name: str, known: list[str]) -> NoReturn:
        """Raise an error for a parameter that is not known, or is known only inside another one."""
        for outer in known:
            if name in self.nested_params(outer):
                raise ParameterError(f"{type(self).__name__} has no parameter {name!r}. Did you mean {outer}__{name}?")
        raise UnknownNameError(f"parameter of {type(self).__name__}", name, known)

    def set_nested(self, name: str, values: Mapping[str, Any]) -> None:
        """Set parameters inside one parameter, by default those of a nested estimator."""
        if not hasattr(getattr(self, name), "set_params"):
            found, wanted = getattr(self, name), next(iter(values))
            raise ParameterError(f"{type(self).__name__}: {name} is {found!r}, which has no parameter {wanted!r}.")
        getattr(self, name).set_params(**values)

    def set_everywhere(self, name: str, value: Any) -> Self:
        """Set a parameter of this estimator and of all estimators inside it, wherever they have it."""
        for one in self.walk():
            if name in one.parameter_names():
                setattr(one, name, value)
        return self

    def walk(self) -> Iterator[Estimator]:
        """Yield the estimator itself, then all estimators among its parameters, and theirs."""
        yield self
        for value in self.get_params(deep=False).values():
            for inside in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(inside, Estimator):
                    yield from inside.walk()

    def check_parameters(self) -> None:
        """Check every parameter against the class's table; `fit` calls it first."""
        for name, constraint in self.parameter_constraints.items():
            check_parameter(type(self).__name__, name, getattr(self, name), constraint)

    @classmethod
    def declared(cls) -> dict[str, Stored]:
        """The learned attributes of the class and its bases, as they are stored in a model file."""
        found: dict[str, Stored] = {}
        for base in reversed(cls.__mro__):
            if issubclass(base, Estimator):
                found |= vars(base).get("learned", {})
        return found

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """The sizes of a state read from a file; `ValueError` unless it has the declared types, shapes and ranges."""
        return check_state(type(self).__name__, self.declared(), state)

    def learned_state(self) -> dict[str, Any]:
        """The learned attributes by name: every public attribute that ends in an underscore."""
        return {name: value for name, value in vars(self).items() if name.endswith("_") and not name.startswith("_")}

    def restore(self, state: Mapping[str, Any]) -> Self:
        """Set the learned attributes to what `learned_state` returned."""
        for name, value in state.items():
            if not name.endswith("_") or name.startswith("_"):
                raise ParameterError(f"{type(self).__name__}: {name!r} is not a learned attribute.")
            setattr(self, name, value)
        return self

    def forget(self) -> None:
        """Delete every learned attribute, so that the estimator is as it was before the first `fit`."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)

    @property
    def is_fitted(self) -> bool:
        """Whether `fit` has learned anything yet."""
        # What was learned stands behind the parameters; this is asked for every document.
        return any(name[-1] == "_" and name[0] != "_" for name in reversed(vars(self)))

    def check_fitted(self) -> None:
        """Raise scikit-learn's `NotFittedError` before `fit`."""
        if not self.is_fitted:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"This {type(self).__name__} has not learned anything yet. Call fit first.")

    def __sklearn_is_fitted__(self) -> bool:
        return self.is_fitted

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(sparse=True),
        )

    def __repr__(self) -> str:
        changed = [f"{name}={value!r}" for name, value in self.changed_params().items()]
        return f"{type(self).__name__}({', '.join(changed)})"

    def changed_params(self) -> dict[str, Any]:
        """The parameters that differ from their defaults."""
        defaults = self.parameter_defaults()
        values = self.get_params(deep=False)
        return {name: value for name, value in values.items() if not _is_default(value, defaults[name])}


@functools.cache
def _parameter_defaults(constructor: Callable[..., None]) -> Mapping[str, Any]:
    """The default of each parameter; a loaded model reads the signatures of some constructors many times."""
    return {
        name: one.default
        for name, one in inspect.signature(constructor).parameters.items()
        if name != "self" and one.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    }


def _learning_aside(learn: Callable[..., Any]) -> Callable[..., Any]:
    """The method, made to learn in a copy of the estimator whose attributes replace the estimator's at the end.

    Whatever interrupts it, Ctrl-C included, leaves the estimator as it was: the replacement is one assignment.
    """

    @functools.wraps(learn)
    def learn_aside(self: Estimator, *given: Any, **options: Any) -> Any:
        aside = object.__new__(type(self))
        vars(aside).update(vars(self))
        found = learn(aside, *given, **options)
        self.__dict__ = aside.__dict__
        return self if found is aside else found

    return learn_aside


class Transformer(Estimator):
    """An estimator with `transform`, which returns a pandas DataFrame after ``set_output(transform="pandas")``."""

    _sklearn_output_config: Mapping[str, str] = {}
    """The setting of `set_output`, under the name by which scikit-learn's `clone` copies it."""

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns: "default" (a sparse matrix) or "pandas"; None changes nothing."""
        if transform not in (None, "default", "pandas"):
            raise ParameterError(f"{type(self).__name__}: transform must be 'default' or 'pandas', not {transform!r}.")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The names of the columns that `transform` returns."""
        raise NotImplementedError

    def framed(self, table: Table, given: object, columns: Iterable[str] | None = None) -> Table:
        """The table, as a DataFrame where this was set; `columns` are by default those of `get_feature_names_out`.

        The index is that of the documents `given`, if they are a Series or DataFrame.
        """
        if self._sklearn_output_config.get("transform") != "pandas":
            return table
        import pandas

        index = given.index if isinstance(given, (pandas.Series, pandas.DataFrame)) else None
        if columns is None:
            columns = self.get_feature_names_out(given.columns if isinstance(given, pandas.DataFrame) else None)
        build: Any = pandas.DataFrame.sparse.from_spmatrix if sparse.issparse(table) else pandas.DataFrame
        frame: Table = build(table, index=index, columns=list(columns))
        return frame

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        return tags


def _is_default(value: object, default: object) -> bool:
    return value is default or (isinstance(value, (str, int, float, tuple)) and value == default)


def unfitted_copy(estimator: AnyEstimator) -> AnyEstimator:
    """An estimator of the same class and parameters that has learned nothing; nested ones are copied too.

    Does what scikit-learn's `clone` does for our own estimators without importing it.
    """
    if not isinstance(estimator, Estimator):
        from sklearn.base import clone

        copied: AnyEstimator = clone(estimator)
        return copied
    return type(estimator)(**{name: _copied(value) for name, value in estimator.get_params(deep=False).items()})


def _copied(value: Any) -> Any:
    """A parameter for a copy of its estimator: estimators are copied, also those in a list or tuple."""
    if isinstance(value, (list, tuple)):
        return type(value)(_copied(one) for one in value)
    return unfitted_copy(value) if hasattr(value, "get_params") and not isinstance(value, type) else value
