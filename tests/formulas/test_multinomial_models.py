"""The multinomial models by hand: A-1 to A-4, A-6, A-8, A-9, B-3 and B-4."""

import numpy as np
import pytest

from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.count_model import count
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.smoothing import counts_of_counts, discount
from manylabel.strategies.label_powerset import LabelPowerset

X = np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]])
Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])

# Chinese, Beijing, Shanghai, Macao, Tokyo, Japan (Manning, Raghavan & Schütze 2008, table 13.1)
LECTURE = np.array([[2, 1, 0, 0, 0, 0], [2, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 1, 1]])
CHINA = np.array([[1, 0], [1, 0], [1, 0], [0, 1]])
QUERY = np.array([[3, 0, 0, 0, 1, 1]])


def test_replication() -> None:
    """A-1: the document with both labels counts twice, the unlabelled one vanishes."""
    table = count(Csr(X.astype(float)), Csr(Y))
    assert table.label_documents.tolist() == [2, 2]
    assert table.label_terms.toarray().tolist() == [[3, 1, 1], [1, 3, 1]]
    assert (table.labelled_documents, table.unlabelled_documents) == (3, 1)
    assert table.unlabelled_terms.tolist() == [0, 0, 3]
    np.testing.assert_allclose(np.exp(MultinomialNaiveBayes().fit(X, Y).intercept_), [0.5, 0.5])


def test_posteriors_with_laplace() -> None:
    """A-2: p(w|0) = (4, 2, 2)/8; first document (4/8)² 2/8 against (2/8)² 2/8: 4 to 1."""
    model = MultinomialNaiveBayes(smoothing="laplace").fit(X, Y)
    expected = [[0.8, 0.2], [0.2, 0.8], [0.5, 0.5], [0.5, 0.5]]
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)
    assert model.predict(X).tolist() == [[1, 0], [0, 1], [1, 0], [1, 0]]  # ties: lowest index


def test_lecture_example() -> None:
    """B-3: joint .75 · (3/7)³ (1/14)² = 3.0121e-4 and .25 · (2/9)⁵ = 1.3548e-4; posterior .68975861."""
    model = MultinomialNaiveBayes(smoothing="laplace").fit(LECTURE, CHINA)
    probabilities = np.exp(model.term_log_probabilities())
    np.testing.assert_allclose(probabilities[0], np.array([6, 2, 2, 2, 1, 1]) / 14)
    np.testing.assert_allclose(probabilities[1], np.array([2, 1, 1, 1, 2, 2]) / 9)
    joint = np.exp(model.log_joint(QUERY))
    np.testing.assert_allclose(joint, [[0.75 * (3 / 7) ** 3 / 14**2, 0.25 * (2 / 9) ** 5]], rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(QUERY)[0, 0], 0.68975861, atol=5e-9)


@pytest.mark.parametrize("alpha", [0.1, 2.0])
def test_lidstone(alpha: float) -> None:
    """B-4: (N_cw + α)/(N_c+ + α V) with N_c+ = 8 and 3."""
    model = MultinomialNaiveBayes(smoothing="lidstone", alpha=alpha).fit(LECTURE, CHINA)
    expected = (np.array([[5, 1, 1, 1, 0, 0], [1, 0, 0, 0, 1, 1]]) + alpha) / (np.array([[8], [3]]) + 6 * alpha)
    np.testing.assert_allclose(np.exp(model.term_log_probabilities()), expected, rtol=1e-12)


def test_add_one_prior() -> None:
    """B-4: (N_c + 1)/(N + L) = 4/6 and 2/6; uniform 1/2."""
    added = MultinomialNaiveBayes(prior="add-one").fit(LECTURE, CHINA)
    np.testing.assert_allclose(np.exp(added.intercept_), [4 / 6, 2 / 6])
    uniform = MultinomialNaiveBayes(prior="uniform").fit(LECTURE, CHINA)
    np.testing.assert_allclose(np.exp(uniform.intercept_), [0.5, 0.5])


def test_absolute_discounting() -> None:
    """A-3: lecture corpus, b = .5, M = (.25, .5): the class flips against Laplace."""
    model = MultinomialNaiveBayes(b=0.5).fit(LECTURE, CHINA)
    probabilities = np.exp(model.term_log_probabilities())
    china = [0.698864, 0.085227, 0.085227, 0.085227, 0.022727, 0.022727]
    other = [0.439394, 0.045455, 0.045455, 0.045455, 0.212121, 0.212121]
    np.testing.assert_allclose(probabilities, [china, other], atol=5e-7)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(np.exp(model.log_joint(QUERY)), [[1.3223e-4, 9.5427e-4]], rtol=5e-5)
    np.testing.assert_allclose(model.predict_proba(QUERY), [[0.121704, 0.878296]], atol=5e-7)


def test_fractional_counts_sum_to_one() -> None:
    """A-3: M_c = Σ min(b, N_cw)/N_c+, the mass really taken."""
    model = MultinomialNaiveBayes(b=0.5).fit([[0.2, 3.0, 0.7], [0.1, 0.0, 0.3]], [[1, 0], [0, 1]])
    np.testing.assert_allclose(np.exp(model.term_log_probabilities()).sum(axis=1), 1.0, rtol=1e-14)


def test_words_of_unlabelled_documents() -> None:
    """A-3: a word seen only there is p(w) M_c with `all`, and left out of every document with `labelled`."""
    counts = np.array([[2, 1, 0], [0, 3, 0], [0, 0, 4]])
    labels = np.array([[1, 0], [0, 1], [0, 0]])
    with_all = MultinomialNaiveBayes(b=0.5, unigram_docs="all").fit(counts, labels)
    # p(w) = 4/10; M = (.5 · 2/3, .5 · 1/3)
    np.testing.assert_allclose(np.exp(with_all.term_log_probabilities())[:, 2], [0.4 / 3, 0.4 / 6])
    labelled = MultinomialNaiveBayes(b=0.5).fit(counts, labels)
    np.testing.assert_allclose(labelled.predict_proba([[0, 0, 9]]), [[0.5, 0.5]])


def test_unigram_of_documents() -> None:
    """A-3: each document once gives (3, 3, 2)/8 for the data of A-1, replicated (4, 4, 2)/10; n_r follows."""
    once = MultinomialNaiveBayes(b=1.0, unigram="documents").fit(X, Y)
    # b = 1: p(0|class 0) = (3 − 1)/5 + p(0) · 3/5
    assert np.exp(once.term_log_probabilities())[0, 0] == pytest.approx(2 / 5 + 3 / 8 * 3 / 5)
    twice = MultinomialNaiveBayes(b=1.0).fit(X, Y)
    assert np.exp(twice.term_log_probabilities())[0, 0] == pytest.approx(2 / 5 + 4 / 10 * 3 / 5)


N_R = {1: 10, 2: 4, 3: 2, 4: 1}


@pytest.mark.parametrize(
    ("method", "b"),
    [
        ("upper", 10 / 18),
        ("printed23", 10 / 14),
        ("lower_printed", 10 / 21),
        ("lower_safe", 10 / 28),
        ("loo", 0.478873),
    ],
)
def test_discounts(method: str, b: float) -> None:
    """A-4: n = {1: 10, 2: 4, 3: 2, 4: 1}."""
    assert discount(N_R, method).b == pytest.approx(b, abs=5e-7)  # type: ignore[arg-type]


def test_leaving_one_out_solves_its_equation() -> None:
    """A-4: n_1/b = Σ r n_r/(r − 1 − b)."""
    b = discount(N_R, "loo").b
    assert 10 / b == pytest.approx(2 * 4 / (1 - b) + 3 * 2 / (2 - b) + 4 * 1 / (3 - b), rel=1e-9)


def test_printed_lower_bound_is_none() -> None:
    """A-4: n_1 = 1, n_3 = 100: the root .006645 lies below the printed bound .009901."""
    n = {1: 1, 3: 100}
    assert discount(n, "loo").b == pytest.approx(0.006645, abs=5e-7)
    assert discount(n, "lower_printed").b == pytest.approx(0.009901, abs=5e-7)
    assert discount(n, "lower_safe").b < discount(n, "loo").b


def test_discount_edge_cases() -> None:
    """A-4: no singletons → .5 and flagged; n_2 = 0 → 1; nothing above 1 → 1; clipped at .001."""
    fallback = discount({2: 5}, "upper")
    assert (fallback.b, fallback.is_fallback) == (0.5, True)
    assert discount({1: 3, 5: 9}, "upper").b == discount({1: 3, 5: 9}, "printed23").b == 1.0
    assert discount({1: 3}, "loo").b == 1.0
    assert discount({1: 1, 2: 10_000}, "upper").b == 1e-3
    assert discount({}, 0.7).b == 0.7
    with pytest.raises(ParameterError, match="b must be a number above 0 and at most 1"):
        discount(N_R, "uper")  # type: ignore[arg-type]


def test_counts_of_counts_options() -> None:
    """A-4: marginal totals of the lecture corpus are (6, 1, 1, 1, 1, 1); by class (5, 1, 1, 1) and (1, 1, 1)."""
    assert counts_of_counts([6, 1, 1, 1, 1, 1]) == {1: 5, 6: 1}
    assert counts_of_counts([0.4, 1.2, 1.6]) == {1: 1, 2: 1}  # fractions are rounded
    counts = np.array([[2, 1, 0], [1, 0, 2]])  # totals (3, 1, 2); by class 2, 1 and 1, 2
    marginal = MultinomialNaiveBayes().fit(counts, np.eye(2))
    assert marginal.discount_ == pytest.approx(1 / 3)
    by_class = MultinomialNaiveBayes(counts="class").fit(counts, np.eye(2))
    assert by_class.discount_ == pytest.approx(2 / 6)


def test_counts_of_counts_from_before_pruning() -> None:
    """A-4: after pruning there are no singletons; n_r counted before is used instead, and kept in pieces."""
    counts = np.array([[2, 2], [2, 4]])
    assert MultinomialNaiveBayes().fit(counts, np.eye(2)).discount_is_fallback_
    model = MultinomialNaiveBayes().fit(counts, np.eye(2), counts_of_counts=N_R)
    assert model.discount_ == pytest.approx(10 / 18)
    assert not model.discount_is_fallback_
    assert model.partial_fit(counts, np.eye(2)).discount_ == pytest.approx(10 / 18)
    in_pieces = MultinomialNaiveBayes().partial_fit(counts, np.eye(2), counts_of_counts=N_R)
    assert in_pieces.partial_fit(counts, np.eye(2)).discount_ == pytest.approx(10 / 18)
    other = MultinomialNaiveBayes().fit(counts, np.eye(2), counts_of_counts=N_R)
    assert model.merge(other).discount_ == pytest.approx(10 / 18)
    with pytest.raises(DataError, match="different counts of counts"):
        model.merge(MultinomialNaiveBayes().fit(counts, np.eye(2)))


def test_learning_one_class_a_document_in_pieces() -> None:
    """The classes of a 1-D y are named with the first piece; a class no piece has keeps its column."""
    model = MultinomialNaiveBayes(smoothing="laplace").partial_fit(X[:2], ["b", "a"], classes=["a", "b", "c"])
    model.partial_fit(X[2:], ["a", "b"])
    whole = MultinomialNaiveBayes(smoothing="laplace").fit(X, ["b", "a", "a", "b"])
    np.testing.assert_array_equal(model.predict_proba(X)[:, :2], whole.predict_proba(X))
    assert model.predict_proba(X)[:, 2].tolist() == [0, 0, 0, 0]
    with pytest.raises(DataError, match="classes must be passed on the first call"):
        MultinomialNaiveBayes().partial_fit(X, ["b", "a", "a", "b"])
    with pytest.raises(DataError, match="not in `classes`"):
        model.partial_fit(X[:1], ["d"])


def test_discount_must_be_positive() -> None:
    """A-3: b = 0 would give zero probabilities."""
    with pytest.raises(ParameterError, match="b must be"):
        MultinomialNaiveBayes(b=0.0).fit(X, Y)


def test_binary_classifiers() -> None:
    """A-6: data of A-1, Laplace 1, the unlabelled document a negative of both; .5 recovers Y."""
    model = BinaryNaiveBayes(smoothing="laplace", unlabelled="negative").fit(X, Y)
    expected = [[0.901112, 0.201995], [0.201995, 0.901112], [0.771429, 0.771429], [0.083515, 0.083515]]
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=5e-7)
    np.testing.assert_array_equal(model.predict(X), Y)


def test_binary_first_number_by_hand() -> None:
    """A-6: label 0 has counts (3, 1, 1) of 5, the rest (0, 2, 4) of 6; V = 3."""
    yes = 0.5 * (4 / 8) ** 2 * (2 / 8)
    no = 0.5 * (1 / 9) ** 2 * (5 / 9)
    model = BinaryNaiveBayes(smoothing="laplace", unlabelled="negative").fit(X, Y)
    assert model.predict_proba(X)[0, 0] == pytest.approx(yes / (yes + no), rel=1e-12)


def test_binary_uses_of_unlabelled_documents() -> None:
    """A-6: they change the prior only as negatives (2 of 4), not otherwise (2 of 3)."""
    empty = [[0, 0, 0]]
    assert BinaryNaiveBayes().fit(X, Y).predict_proba(empty)[0, 0] == pytest.approx(2 / 3)
    assert BinaryNaiveBayes(unlabelled="ignore").fit(X, Y).predict_proba(empty)[0, 0] == pytest.approx(2 / 3)
    assert BinaryNaiveBayes(unlabelled="negative").fit(X, Y).predict_proba(empty)[0, 0] == pytest.approx(0.5)


def test_binary_constant_labels() -> None:
    """A-6: a label without positives has P = 0, one carried by all P = 1."""
    labels = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 1], [1, 0, 0]])
    for smoothing in ("absolute", "laplace"):
        shown = BinaryNaiveBayes(smoothing=smoothing).fit(X, labels).predict_proba([[1, 5, 0], [0, 0, 0]])
        assert shown[:, 0].tolist() == [1.0, 1.0]
        assert shown[:, 1].tolist() == [0.0, 0.0]
        assert 0 < shown[0, 2] < 1


def test_label_sets_as_classes() -> None:
    """A-8: sets {0}, {0,1}, {1}, {0,1}: three classes with priors 1/4, 1/2, 1/4; an empty document is {0,1}."""
    labels = Csr(np.array([[1, 0], [1, 1], [0, 1], [1, 1]]))
    strategy = LabelPowerset(MultinomialNaiveBayes()).fit(Csr(X.astype(float)), labels)
    assert strategy.sets_.toarray().tolist() == [[1, 0], [1, 1], [0, 1]]
    np.testing.assert_allclose(np.exp(strategy.model_.intercept_), [0.25, 0.5, 0.25])  # type: ignore[attr-defined]
    empty = Csr((1, 3))
    assert strategy.predict(empty).toarray().tolist() == [[1, 1]]
    np.testing.assert_allclose(strategy.predict_proba(empty), [[0.75, 0.75]])


def test_rare_and_empty_label_sets() -> None:
    """A-8: rarer sets are dropped or split into single labels; the empty set is a class only when asked for."""
    features = Csr(np.ones((5, 2)))
    labels = Csr(np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]]))

    def classes(**options: object) -> tuple[list[list[int]], list[int]]:
        fitted = LabelPowerset(MultinomialNaiveBayes(), **options).fit(features, labels)  # type: ignore[arg-type]
        return fitted.sets_.toarray().tolist(), fitted.model_.label_documents_.tolist()  # type: ignore[attr-defined]

    assert classes() == ([[1, 1, 0], [1, 0, 0], [0, 0, 1]], [1, 2, 1])
    assert classes(allow_empty=True) == ([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]], [1, 2, 1, 1])
    assert classes(min_count=2) == ([[1, 0, 0]], [2])
    assert classes(min_count=2, rare="split") == ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [3, 1, 1])
    with pytest.raises(DataError, match="no label set occurs in at least 3"):
        classes(min_count=3)


def test_pseudo_label() -> None:
    """A-9: priors (1, 1, 2)/4; first: the row is 0; not first: taken out and scaled to 1."""
    counts = np.array([[3, 0, 1], [0, 3, 1], [0, 0, 4], [0, 0, 4]])
    labels = np.array([[1, 0], [0, 1], [0, 0], [0, 0]])
    model = MultinomialNaiveBayes(smoothing="laplace", no_class=True).fit(counts, labels)
    joint = np.exp(model.log_joint([[2, 1, 0], [0, 0, 2]]))
    np.testing.assert_allclose(joint[0], [1 / 4 * (4 / 7) ** 2 / 7, 1 / 4 * 4 / 7 / 49, 1 / 2 / 11**3], rtol=1e-12)
    shares = model.scores([[2, 1, 0], [0, 0, 2]])
    np.testing.assert_allclose(shares[0], [4 / 5, 1 / 5], rtol=1e-12)
    np.testing.assert_array_equal(shares[1], [0.0, 0.0])
    assert model.predict([[2, 1, 0], [0, 0, 2]]).tolist() == [[1, 0], [0, 0]]


def test_edge_cases_of_labels_and_documents() -> None:
    """A-2: unseen class: posterior 0; class without words: the unigram; empty document: the prior."""
    counts = np.array([[2, 1], [1, 2], [0, 0], [4, 0]])
    labels = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0]])
    model = MultinomialNaiveBayes().fit(counts, labels)
    np.testing.assert_allclose(model.predict_proba([[0, 0]]), [[3 / 4, 1 / 4, 0]])
    np.testing.assert_allclose(np.exp(model.term_log_probabilities(np.array([1]))), [[7 / 10, 3 / 10]])
    assert model.predict_proba([[5, 5]])[0, 2] == 0.0


def test_no_labelled_document_at_all() -> None:
    """Section 0: nothing to decide for, so nothing is."""
    model = MultinomialNaiveBayes().fit(X, np.zeros((4, 2), dtype=int))
    assert model.predict(X).sum() == 0
    assert BinaryNaiveBayes().fit(X, np.zeros((4, 2), dtype=int)).predict(X).sum() == 0


def test_wrong_inputs() -> None:
    """Section 0: zero documents, NaN or negative counts raise an error."""
    model = MultinomialNaiveBayes()
    with pytest.raises(DataError, match="Nothing to learn from"):
        model.fit(Csr((0, 3)), Csr((0, 2)))
    with pytest.raises(DataError, match="Negative values in data"):
        model.fit(Csr(-X.astype(float)), Y)
    with pytest.raises(DataError, match="NaN or infinity"):
        model.fit(Csr(np.array([[np.nan, 1.0]])), [[1]])
    with pytest.raises(DataError, match="only 0 and 1"):
        model.fit(X, 2 * Y)
    with pytest.raises(DataError, match="4 documents but Y has 3 rows"):
        model.fit(X, Y[:3])
    with pytest.raises(DataError, match="label_matrix"):
        model.fit(X, [["a"], ["b"], ["a", "b"], []])
    with pytest.raises(DataError, match="X has 2 features, but MultinomialNaiveBayes is expecting 3"):
        model.fit(X, Y).predict(Csr((1, 2)))


def test_one_label_has_the_documents_without_it_as_negatives() -> None:
    """A-6 with one label: "unlabelled" is all that is not the label, so P is not 1 for everything.

    X = (2, 0) with the label, (0, 2) without; Laplace: p(w|yes) = (3/4, 1/4), p(w|rest) = (1/4, 3/4), prior 1/2 each.
    """
    X, Y = np.array([[2, 0], [0, 2]]), np.array([[1], [0]])
    model = BinaryNaiveBayes(smoothing="laplace").fit(X, Y)
    np.testing.assert_allclose(model.scores([[1, 0], [0, 1], [0, 0]]).ravel(), [np.log(3), -np.log(3), 0], atol=1e-12)
    assert model.predict(X).tolist() == Y.tolist()
    assert (BinaryNaiveBayes(smoothing="laplace", unlabelled="ignore").fit(X, Y).scores(X) == np.inf).all()
