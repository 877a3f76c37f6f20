"""`Weighting`: its learned idf survives copying, pickling, model files and learning in batches."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from manylabel.estimator import Csr
from manylabel.features import Weighting
from manylabel.features.weighting import has_negative, norm_alone

COUNTS = Csr([[2, 1, 0, 0], [1, 0, 1, 0], [0, 2, 2, 0]])


@pytest.fixture(params=["none", "plain", "smooth"])
def fitted(request: pytest.FixtureRequest) -> Weighting:
    return Weighting(idf=request.param, tf="log", dtype="float32").fit(COUNTS)


def test_the_idf_survives_copies_and_pickles(fitted: Weighting) -> None:
    expected = fitted.transform(COUNTS).toarray()
    for again in (copy.copy(fitted), copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(again.transform(COUNTS).toarray(), expected)
        np.testing.assert_array_equal(again.idf_, fitted.idf_)


def test_the_idf_is_computed_when_a_stored_weighting_is_restored(fitted: Weighting) -> None:
    state = fitted.learned_state()
    assert set(state) == {"document_frequency_", "n_documents_", "weighed_before_"}
    again = Weighting(**fitted.get_params()).restore(state)
    np.testing.assert_array_equal(again.idf_, fitted.idf_)
    np.testing.assert_array_equal(again.transform(COUNTS).toarray(), fitted.transform(COUNTS).toarray())
    assert not Weighting().restore({}).is_fitted


def test_the_idf_follows_further_batches(fitted: Weighting) -> None:
    again = Weighting(**fitted.get_params()).partial_fit(COUNTS[:1])
    first = again.idf_
    again.partial_fit(COUNTS[1:])
    np.testing.assert_array_equal(again.idf_, fitted.idf_)
    assert again.idf_ is not first
    np.testing.assert_array_equal(again.transform(COUNTS).toarray(), fitted.transform(COUNTS).toarray())


def test_learning_on_does_not_change_a_shallow_copy() -> None:
    first = Weighting().fit(COUNTS[:2])
    expected = first.transform(COUNTS).toarray()
    copy.copy(first).partial_fit(COUNTS[2:])
    np.testing.assert_array_equal(first.transform(COUNTS).toarray(), expected)


def test_fitting_again_forgets_the_former_documents() -> None:
    again = Weighting().fit(COUNTS).fit(COUNTS[:, :2])
    np.testing.assert_array_equal(again.idf_, Weighting().fit(COUNTS[:, :2]).idf_)


@pytest.mark.parametrize("norm", [None, "l1", "l2"])
@pytest.mark.parametrize("tf", ["raw", "log", "binary"])
@pytest.mark.parametrize("idf", ["none", "plain", "smooth"])
def test_one_document_is_weighted_as_in_a_matrix(tf: str, idf: str, norm: str | None) -> None:
    weighting = Weighting(tf=tf, idf=idf, norm=norm, dtype="float32").fit(COUNTS)
    expected = weighting.transform(COUNTS).toarray()[0, :2]
    one = weighting.weigh_one(np.array([0, 1], dtype=np.int32), np.array([2.0, 1.0]))
    assert one.dtype == np.float32
    np.testing.assert_array_equal(one, expected)


def test_one_document_without_a_weighted_term_stays_as_it_is() -> None:
    weighting = Weighting().fit(Csr([[1, 0], [1, 0]]))
    nothing = np.array([], dtype=np.int32)
    assert weighting.weigh_one(nothing, np.array([])).tolist() == []
    assert weighting.weigh_one(np.array([0, 1], dtype=np.int32), np.array([2.0, 1.0])).tolist() == [0.0, 0.0]


def test_columns_keep_their_names() -> None:
    weighting = Weighting().fit(COUNTS)
    assert weighting.get_feature_names_out().tolist() == ["x0", "x1", "x2", "x3"]
    assert weighting.get_feature_names_out(["a", "b", "c", "d"]).tolist() == ["a", "b", "c", "d"]


def test_defaults() -> None:
    assert Weighting().get_params() == {
        "tf": "raw",
        "idf": "plain",
        "norm": "l2",
        "fractions": "weigh",
        "dtype": "float64",
    }
    for use in (Weighting().get_feature_names_out, lambda: Weighting().transform(COUNTS)):
        with pytest.raises(NotFittedError):
            use()


def test_counts_are_needed_unless_only_the_norm_is_left() -> None:
    needed = {(tf, idf): Weighting(tf=tf, idf=idf).needs_counts for tf in ("raw", "log") for idf in ("none", "plain")}
    assert [pair for pair, is_needed in needed.items() if not is_needed] == [("raw", "none")]
    assert has_negative(Csr([[1.0, -1.0]]))
    assert not has_negative(Csr([[0.0, 2.0]]))
    assert not has_negative(Csr((2, 2)))
    assert norm_alone(None) == {}
    assert norm_alone({"norm": "l1"}) == {"norm": "l1", "tf": "raw", "idf": "none"}


def test_absolute_values_add_up_to_one() -> None:
    weighting = Weighting(idf="none", norm="l1").fit(Csr([[3.0, -1.0]]))
    assert weighting.transform(Csr([[3.0, -1.0]])).toarray().tolist() == [[0.75, -0.25]]
    assert weighting.weigh_one(np.array([0, 1], dtype=np.int32), np.array([3.0, -1.0])).tolist() == [0.75, -0.25]


def test_a_stored_zero_is_no_occurrence() -> None:
    """The second term is in one document of two: ln 2; the first, in both, has the weight 0, which is not stored."""
    X = Csr((np.array([1.0, 0.0, 2.0, 5.0]), np.array([0, 1, 0, 1]), np.array([0, 2, 4])), shape=(2, 2))
    weighting = Weighting(norm=None).fit(X)
    assert weighting.document_frequency_.tolist() == [2, 1]
    found = weighting.transform(X)
    assert (found.nnz, found.toarray().tolist()) == (1, [[0, 0], [0, 5 * np.log(2)]])
    kept = Weighting(tf="log", idf="none", norm=None).fit(X).transform(X)
    assert kept.toarray().tolist() == [[1, 0], [1 + np.log(2), 1 + np.log(5)]]


def test_fractions_of_any_batch_are_remembered() -> None:
    weighting = Weighting(fractions="keep").partial_fit(Csr([[0.5, 1.0]])).partial_fit(Csr([[2.0, 1.0]]))
    assert weighting.weighed_before_
    assert weighting.n_documents_ == 2
    assert weighting.document_frequency_.tolist() == [2, 2]
    assert not Weighting(fractions="weigh").fit(Csr([[0.5, 1.0]])).weighed_before_


def test_terms_counted_in_several_entries_are_one_term() -> None:
    untidy = Csr((np.array([1.0, 1.0, 3.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    weighting = Weighting(tf="log", idf="none", norm=None).fit(untidy)
    assert weighting.document_frequency_.tolist() == [1, 1]
    np.testing.assert_allclose(weighting.transform(untidy).toarray(), [[1 + np.log(3), 1 + np.log(2)]])
    assert untidy.nnz == 3


def test_values_weighted_before_are_only_scaled_to_length_1() -> None:
    X = Csr([[0.3, 0.4], [0.0, 2.5]])
    assert Weighting(tf="log", idf="smooth", fractions="keep").fit_transform(X).toarray().tolist() == [
        [0.6, 0.8],
        [0.0, 1.0],
    ]
    weighting = Weighting(tf="log", idf="none", fractions="keep").fit(X)
    one = weighting.weigh_one(np.array([0, 1], dtype=np.int32), np.array([0.3, 0.4]))
    np.testing.assert_array_equal(one, weighting.transform(X).toarray()[0])
    assert not weighting.fit(Csr([[3.0, 4.0]])).weighed_before_


def test_counts_are_weighted_whatever_becomes_of_fractions() -> None:
    X = Csr([[1, 4], [0, 2]])
    kept, weighed = (Weighting(tf="log", fractions=what).fit_transform(X).toarray() for what in ("keep", "weigh"))
    np.testing.assert_array_equal(kept, weighed)
