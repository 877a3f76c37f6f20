"""Documents to measure on have the columns of the training documents."""

import numpy as np
import pytest

from manylabel.data import Corpus
from manylabel.data.corpus import numbered_terms, with_columns_of
from manylabel.estimator import Csr
from manylabel.exceptions import DataError


def counts(width: int, terms: list[str] | None = None) -> Corpus:
    values = Csr(np.arange(1, width + 1, dtype=float)[None])
    return Corpus(ids=["1"], counts=values, terms=numbered_terms(width) if terms is None else terms)


def test_columns_without_names_are_as_many_as_in_training() -> None:
    """A sparse file is as wide as the last column that occurs in it."""
    for width, values in {2: [1, 2, 0], 5: [1, 2, 3]}.items():
        found = with_columns_of(counts(width), counts(3))
        assert found.counts is not None
        assert found.counts.toarray().tolist() == [values]
        assert found.terms == ["t0", "t1", "t2"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["bus", "late"], "column 1 is 'bus', in training it was 'late'"),
        (["late", "road"], "column 2 is 'road', in training it was 'bus'"),
        (["late", "bus", "road"], "column 3 is 'road', in training it was 'nothing'"),
        (["late"], "column 2 is 'nothing', in training it was 'bus'"),
    ],
)
def test_named_columns_must_be_those_of_the_training(given: list[str], said: str) -> None:
    with pytest.raises(DataError, match=said):
        with_columns_of(counts(len(given), given), counts(2, ["late", "bus"]))


def test_texts_are_not_measured_as_counts() -> None:
    texts = Corpus(ids=["1"], fields={"text": ["late bus"]})
    assert with_columns_of(texts, texts) is texts
    with pytest.raises(DataError, match="The file holds texts, but the training documents are counts"):
        with_columns_of(texts, counts(2))
    with pytest.raises(DataError, match="The file holds counts, but the training documents are texts"):
        with_columns_of(counts(2), texts)
