"""scikit-learn's estimator contract, kept to the letter without importing scikit-learn.

Importing scikit-learn takes over a second, and a deployed model needs none of it to answer. So the contract
(`get_params`, `set_params`, `clone`, tags) is implemented here, and scikit-learn is imported only where it is asked
for: when it inspects our tags, or when dense arrays must be validated the way it validates them.
docs/decisions/0003-estimators-without-scikit-learn.md has the reasons.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.exceptions import ParameterError, UnknownNameError
from manylabel.parameters import Constraint, check_parameter

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Csr = sparse.csr_array


class Estimator:
    """A constructor that only stores, parameters that can be read and set, learned attributes that end in ``_``."""

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {}

    @classmethod
    def parameter_names(cls) -> list[str]:
        """The constructor's keyword arguments, in order."""
        signature = inspect.signature(cls.__init__)
        return [
            name for name, kind in signature.parameters.items() if name != "self" and kind.kind is not kind.VAR_KEYWORD
        ]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep`, those of nested estimators as ``name__parameter`` too."""
        params: dict[str, Any] = {}
        for name in self.parameter_names():
            value = getattr(self, name)
            params[name] = value
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params.update({f"{name}__{key}": inner for key, inner in value.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, nested ones as ``name__parameter``."""
        known = self.parameter_names()
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in known:
                raise UnknownNameError(f"parameter of {type(self).__name__}", name, known)
            if rest:
                getattr(self, name).set_params(**{rest: value})
            else:
                setattr(self, name, value)
        return self

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

    def learned_state(self) -> dict[str, Any]:
        """What `fit` learned: every public attribute that ends in an underscore."""
        return {name: value for name, value in vars(self).items() if name.endswith("_") and not name.startswith("_")}

    def restore(self, state: Mapping[str, Any]) -> Self:
        """Put back what `learned_state` gave."""
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
        return any(name.endswith("_") and not name.startswith("_") for name in vars(self))

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
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if not _is_default(value, defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def _is_default(value: object, default: object) -> bool:
    return value is default or (isinstance(value, (str, int, float, tuple)) and value == default)
