"""The cells of an audit, chosen from batches: those that all documents at once would give."""

import numpy as np
import pytest

from manylabel.insight import cell_stream
from manylabel.insight.cell_stream import CellStream


@pytest.mark.parametrize("size", [1, 7, 60])
def test_batches_of_any_size_give_the_nearest_documents(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_stream, "LEAST_PENDING", 20)
    random = np.random.default_rng(4)
    scores, by_labels = random.random((60, 5)), random.random((60, 5))
    has, quota = random.random((60, 5)) < 0.2, np.array([4, 0, 9, 60, 1])
    stream = CellStream(quota)
    for start in range(0, 60, size):
        batch = slice(start, start + size)
        stream.add(np.arange(60)[batch], scores[batch], by_labels[batch], has[batch])
    found = stream.cells()
    expected = set()
    for label in np.flatnonzero(quota).tolist():
        absent = [row for row in range(60) if not has[row, label]]
        chosen = set(np.flatnonzero(has[:, label]).tolist())
        for table in (scores, by_labels):
            chosen |= set(sorted(absent, key=lambda row: -table[row, label])[: quota[label]])
        expected |= {(label, row) for row in chosen}
    assert list(zip(found.columns.tolist(), found.rows.tolist(), strict=True)) == sorted(expected)
    np.testing.assert_array_equal(found.has, has[found.rows, found.columns])
    np.testing.assert_array_equal(found.scores, scores[found.rows, found.columns])
    np.testing.assert_array_equal(found.by_labels, by_labels[found.rows, found.columns])
