"""What became of a guarantee on documents whose labels are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from manylabel.estimator import Csr
from manylabel.metrics.counts import document_counts


def with_measured_guarantee(remarks: Mapping[str, Any], T: Csr, S: Csr) -> dict[str, Any]:
    """The remarks, a guarantee among them with what was measured: the mean, and over how many documents.

    ``recall``: the mean of |S∩T|/|T| over documents with a label. ``fdr``: the mean of |S∖T|/max(|S|, 1) over all. nan
    over no documents. Labels that training never saw count as missed.

    >>> T, S = Csr([[1, 1], [0, 1], [0, 0]]), Csr([[1, 0], [1, 1], [0, 0]])
    >>> with_measured_guarantee({"guarantee": {"metric": "recall"}}, T, S)["guarantee"]
    {'metric': 'recall', 'measured': 0.75, 'measured_on': 2}
    >>> with_measured_guarantee({"guarantee": {"metric": "fdr"}}, T, S)["guarantee"]["measured"]
    0.16666666666666666
    """
    guarantee = remarks.get("guarantee")
    if guarantee is None:
        return dict(remarks)
    counts = document_counts(T, S)
    if guarantee["metric"] == "recall":
        rows = counts.true > 0
        values = counts.right[rows] / counts.true[rows]
    else:
        values = (counts.predicted - counts.right) / np.maximum(counts.predicted, 1)
    mean = float(values.mean()) if len(values) else float("nan")
    return {**remarks, "guarantee": {**guarantee, "measured": mean, "measured_on": len(values)}}
