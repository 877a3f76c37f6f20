"""Linear machines that start from the solution of the one before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manylabel.estimator import Csr
from manylabel.models.base import MultiLabelModel, unfitted_copy
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.out_of_fold import fit_anew


class WarmStarts:
    """Fits models; a `LinearSVM` starts from the solution that the last one found on the same documents.

    With C rising from one to the next, this saves about a quarter of the time. The solutions are the same within `tol`.

    >>> import numpy as np
    >>> X, Y = Csr(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])), Csr(np.array([[1, 0], [0, 1], [1, 1]]))
    >>> fit = WarmStarts()
    >>> first, again = (fit(LinearSVM(), X, Y, {}) for _ in range(2))
    >>> bool((again.n_iter_ <= first.n_iter_).all())
    True
    """

    def __init__(self) -> None:
        self._solutions: dict[object, Csr] = {}

    def __call__(self, model: MultiLabelModel, X: Csr, Y: Csr, options: Mapping[str, Any]) -> MultiLabelModel:
        """A fitted copy of the model."""
        if type(model) is not LinearSVM:
            return fit_anew(model, X, Y, options)
        # Where rows end tells one choice of documents from another; were it to mistake two, it would cost time alone.
        key = (X.shape, X.indptr.tobytes(), Y.shape)
        machine = unfitted_copy(model).set_params(keep_dual=True)
        machine.fit(X, Y, initial=self._solutions.get(key), **options)
        self._solutions[key] = machine.dual_coef_
        return machine
