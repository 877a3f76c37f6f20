"""Instance weights: what an error on a positive costs."""

from __future__ import annotations

import numpy as np

from manylabel.estimator import Floats, Ints
from manylabel.resampling.amounts import Bools


def positive_costs(label_documents: Ints, n_documents: int, ratio: float = 1.0) -> Floats:
    """For each label the weight J of a positive at which positives weigh `ratio` times what the negatives weigh.

    J = max(1, ratio · n₋ / n₊);  1 where a label has no positives or no negatives

    With ratio 1 each label's positives weigh as much as its negatives, which scikit-learn calls "balanced" (up to a
    common factor). J is the cost of a positive error in a support vector machine, the number a positive's counts are
    multiplied by in naive Bayes. Source: Morik, Brockhausen & Joachims 1999, the cost factor of
    SVM-light.

    >>> positive_costs(np.array([1, 50, 100, 0]), 100).tolist()
    [99.0, 1.0, 1.0, 1.0]
    """
    positive = np.asarray(label_documents, dtype=np.float64)
    negative = n_documents - positive
    return np.asarray(np.where(positive > 0, np.maximum(1.0, ratio * negative / np.maximum(positive, 1.0)), 1.0))


def sample_weights(positive: Bools, cost: float) -> Floats:
    """The weight of each document: `cost` for the positives, 1 for the rest.

    >>> sample_weights(np.array([True, False, False]), 10.0).tolist()
    [10.0, 1.0, 1.0]
    """
    return np.where(positive, float(cost), 1.0)
