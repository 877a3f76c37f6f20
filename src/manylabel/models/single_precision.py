"""Documents in single precision, as scikit-learn's trees and networks read them."""

from __future__ import annotations

import numpy as np

from manylabel.estimator import Csr


def single_precision(X: Csr) -> Csr:
    """X in single precision; what is beyond its range is cut to the range.

    >>> single_precision(Csr(np.array([[0.5, 1e300]]))).toarray().tolist()
    [[0.5, 3.4028234663852886e+38]]
    """
    limit = float(np.finfo(np.float32).max)
    return Csr((np.clip(X.data, -limit, limit).astype(np.float32), X.indices, X.indptr), shape=X.shape)
