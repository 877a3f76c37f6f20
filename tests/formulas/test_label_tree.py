"""Label trees: the path's product of probabilities, balanced clusters, candidates, and what pruning loses."""

import copy
import math

import numpy as np
import pytest
from scipy import sparse

from manylabel.decisions.base import DecisionRule
from manylabel.decisions.candidates import dense_candidates
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.guarantee import Guarantee
from manylabel.decisions.per_label import PerLabelThreshold
from manylabel.decisions.proportional import Proportional
from manylabel.decisions.scored import Scored
from manylabel.decisions.threshold import GlobalThreshold, Threshold
from manylabel.decisions.top_k import TopK
from manylabel.estimator import Csr
from manylabel.models.out_of_fold import OutOfFold
from manylabel.models.score_kinds import ScoreKind
from manylabel.strategies import LabelTree
from manylabel.strategies.label_clusters import arranged, bisected, divided, label_vectors, level_sizes

X = Csr(sparse.csr_array(np.array([[1.0, 2.0], [0.0, 1.0]])))


def by_hand(combine: str, beam: int, path: float = 1.0) -> LabelTree:
    """A tree with two leaves of two labels: the root's margins are x₀ and 0.5 x₁, the leaves' x₀ − 1, 1; 0 and x₁."""
    state = {
        "n_features_in_": 2,
        "n_labels_": 4,
        "classes_": np.arange(4),
        "label_form_": "sparse",
        "roots_": np.array([0]),
        "node_starts_": np.array([0, 2, 4, 6]),
        "targets_": np.array([1, 2, -1, -2, -3, -4]),
        "bias_": np.array([0.0, 0.0, -1.0, 1.0, 0.0, 0.0]),
        "node_rows_": np.array([0, 2, 3, 4]),
        "row_terms_": np.array([0, 1, 0, 1], dtype=np.int32),
        "cells_": Csr((np.array([1, 0.5, 1, 1], dtype=np.float32), np.array([0, 1, 0, 1]), np.arange(5)), shape=(4, 2)),
    }
    model = LabelTree(combine=combine, beam=beam, path=path)  # type: ignore[arg-type]
    model.check_learned(state)
    return model.restore(state)


def log_odds(p: float) -> float:
    return math.log(p / (1 - p))


def test_products_along_the_paths() -> None:
    """LibMultiLabel 0.10: p = 1/(1 + exp(−3m)); Parabel: exp(−max(0, 1 − m)²); PECOS: exp(−max(0, 1 − m)³)."""

    def s(m: float) -> float:
        return 1 / (1 + math.exp(-3 * m))

    # document 1: x = (0, 1); root 0 and 0.5; leaves −1, 1 and 0, 1
    expected = [s(0) * s(-1), s(0) * s(1), s(0.5) * s(0), s(0.5) * s(1)]
    np.testing.assert_allclose(by_hand("sigmoid", 2).scores(X)[1], [log_odds(p) for p in expected])
    for combine, power in (("squared-hinge", 2), ("cubed-hinge", 3)):

        def h(m: float, power: int = power) -> float:
            return math.exp(-(max(0.0, 1 - m) ** power))

        expected = [h(0) * h(-1), h(0) * h(1), h(0.5) * h(0), h(0.5) * h(1)]
        np.testing.assert_allclose(by_hand(combine, 2).scores(X)[1], [log_odds(p) for p in expected])


def test_the_path_has_a_weight() -> None:
    """Label 3 of document 1: log P = 0.2 log s(0.5) + log s(1)."""
    log_p = -0.2 * math.log1p(math.exp(-1.5)) - math.log1p(math.exp(-3))
    assert by_hand("sigmoid", 2, path=0.2).scores(X)[1, 3] == pytest.approx(log_odds(math.exp(log_p)))


def test_the_beam_leaves_the_rest_impossible() -> None:
    """Document 1 goes to the second leaf, whose margin 0.5 is larger: the labels of the first have −∞."""
    scores = by_hand("sigmoid", 1).scores(X)
    assert np.isneginf(scores[1, :2]).all()
    assert np.isfinite(scores[1, 2:]).all()
    # document 0, (1, 2), has the same margin 1 for both leaves: the lower number goes first
    assert np.isneginf(scores[0]).tolist() == [False, False, True, True]


def test_evidence_is_what_removal_loses_along_the_path() -> None:
    model = by_hand("squared-hinge", 1)
    found = model.evidence(X[[1]], [0, 3]).toarray()
    # label 0 of document 1 does not depend on term 1 but for the root of the other leaf; label 3 loses both margins
    with_it, without = math.exp(-0.25), math.exp(-1 - 1)
    np.testing.assert_allclose(found, [[0, 0], [0, log_odds(with_it) - log_odds(without)]], atol=1e-12)


def test_levels_and_clusters_are_balanced() -> None:
    assert level_sizes(17, arity=4, leaf_size=2) == [3, 3]
    assert level_sizes(100, 16, 100) == []
    assert level_sizes(101, 16, 100) == [2]
    assert divided(7, 3).tolist() == [0, 3, 5, 7]
    random = np.random.default_rng(0)
    topics = np.repeat(np.eye(4), 5, axis=0) + 0.01 * random.random((20, 4))
    order = arranged(Csr(sparse.csr_array(topics)), [2, 2], np.random.default_rng(1))
    assert sorted(order.tolist()) == list(range(20))
    assert {tuple(sorted({label // 5 for label in part})) for part in order.reshape(4, 5).tolist()} == {
        (0,), (1,), (2,), (3,)
    }  # fmt: skip
    assert bisected(Csr(sparse.csr_array(topics)), 7, np.random.default_rng(0)).sum() == 7


def test_label_vectors_are_sums_of_unit_vectors() -> None:
    """Label 0 has (3, 4) and (0, 2): (0.6, 0.8) + (0, 1), of length √(0.36 + 3.24)."""
    found = label_vectors(Csr(sparse.csr_array([[3.0, 4.0], [0.0, 2.0]])), Csr(sparse.csr_array([[1, 0], [1, 1]])))
    length = math.sqrt(0.36 + 3.24)
    np.testing.assert_allclose(found.toarray(), [[0.6 / length, 1.8 / length], [0, 1]], rtol=1e-6)


@pytest.fixture(scope="module")
def corpus() -> tuple[Csr, Csr]:
    """200 documents, 30 labels with a term each and noise."""
    random = np.random.default_rng(2)
    Y = (random.random((200, 30)) < 0.06).astype(float)
    noise = random.random((200, 60)) * (random.random((200, 60)) < 0.1)
    return Csr(sparse.csr_array(np.hstack([Y * 2, noise]))), Csr(sparse.csr_array(Y))


def test_without_clusters_it_is_one_vs_rest(corpus: tuple[Csr, Csr]) -> None:
    """As many labels as a leaf may have: log-odds 3m of the margins of `LinearSVM`."""
    from manylabel.models import LinearSVM

    found = LabelTree(prune=0, tol=1e-3).fit(*corpus).scores(corpus[0])
    np.testing.assert_allclose(found, 3 * LinearSVM(prune=0).fit(*corpus).scores(corpus[0]), atol=1e-4)


def test_pruning_loses_at_most_its_share_of_the_weights(corpus: tuple[Csr, Csr]) -> None:
    whole, pruned = (LabelTree(arity=3, leaf_size=5, prune=share).fit(*corpus) for share in (0.0, 0.3))
    assert pruned.cells_.nnz < whole.cells_.nnz
    np.testing.assert_array_equal(pruned.targets_, whole.targets_)

    def norms(model: LabelTree) -> np.ndarray:
        owner = np.repeat(np.arange(len(model.node_rows_) - 1), np.diff(model.node_rows_))
        child = model.node_starts_[np.repeat(owner, np.diff(model.cells_.indptr))] + model.cells_.indices
        return np.bincount(child, weights=model.cells_.data.astype(float) ** 2, minlength=len(model.targets_))

    assert (norms(pruned) >= (1 - 0.3**2) * norms(whole) - 1e-6).all()


@pytest.mark.parametrize(
    "rule",
    [GlobalThreshold(), PerLabelThreshold(), TopK(2), Threshold(0.4, fallback="argmax"), Proportional(),
     Guarantee(metric="recall", level=0.6)],
    ids=lambda rule: type(rule).__name__,
)  # fmt: skip
def test_rules_decide_on_candidates_as_on_all_labels(corpus: tuple[Csr, Csr], rule: object) -> None:
    """Thresholds, rankings and guarantees read the candidates; absent labels are impossible and never predicted."""
    X, Y = corpus
    model = DecidedModel(LabelTree(arity=3, leaf_size=5, beam=2, candidates=4), rule, folds=2).fit(X, Y)  # type: ignore[arg-type]
    scores = model.scores(X)
    expected = model.rule_.decide(scores, ScoreKind.LOG_ODDS)  # type: ignore[union-attr]
    found = model.predict(X)
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
    assert not (found.toarray().astype(bool) & np.isneginf(scores)).any()
    assert found.nnz


@pytest.mark.parametrize(
    "rule",
    [GlobalThreshold(), GlobalThreshold("exact-match"), GlobalThreshold("hamming-loss"), Guarantee("recall", 0.6),
     Guarantee("recall", 0.6, fallback="argmax"), Guarantee("fdr", 0.4)],
    ids=repr,
)  # fmt: skip
def test_rules_learn_on_candidates_what_they_learn_on_all_labels(corpus: tuple[Csr, Csr], rule: DecisionRule) -> None:
    """Half of the documents for the model; some true labels of the others are no candidates and count as missed."""
    X, Y = corpus
    tree = LabelTree(arity=3, leaf_size=5, beam=2, candidates=4).fit(X[:100], Y[:100])
    candidates, scores, Y_true = tree.score_candidates(Csr(X[100:])), tree.scores(X[100:]), Csr(Y[100:])
    assert np.isneginf(scores[Y_true.nonzero()]).any()
    rule.prepare(scores, Y_true, ScoreKind.LOG_ODDS)
    learned = [
        one.learned_state()
        for one in (
            rule.fit_candidates(candidates, Y_true, ScoreKind.LOG_ODDS),
            copy.deepcopy(rule).fit(scores, Y_true, ScoreKind.LOG_ODDS),
        )
    ]
    for name in learned[0].keys() - {"calibration_"}:
        assert learned[0][name] == pytest.approx(learned[1][name], abs=1e-15)


def test_a_threshold_is_learned_from_more_documents_than_have_scores_of_all_labels(corpus: tuple[Csr, Csr]) -> None:
    """600 scores are 20 documents with those of 30 labels, but 150 with those of 4 candidates."""
    X, Y = corpus
    tree = LabelTree(arity=3, leaf_size=5, beam=2, candidates=4)
    documents = OutOfFold(X, {}, None, folds=2, seed=0, most_scores=600)
    found = Scored.by_candidates(tree, documents, Y)
    assert found.candidates is not None
    scores, rows = found.candidates
    assert (found.scores.shape, scores.shape, len(rows)) == ((20, 30), (150, 30), 150)
    np.testing.assert_array_equal(dense_candidates(scores, -math.inf)[np.isin(rows, found.rows)], found.scores)
    model = DecidedModel(tree, GlobalThreshold(), folds=2).fit(X, Y, most_scores=600)
    expected = GlobalThreshold().fit_candidates(scores, Csr(Y[rows]), ScoreKind.LOG_ODDS)
    assert model.rule_.learned_state() == expected.learned_state()  # type: ignore[union-attr]
