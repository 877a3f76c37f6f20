"""A model alone or averaged with another: what is handed on between scoring out of fold and learning."""

import numpy as np
import pytest
from benchmarks.defaults import table

from manylabel.catalog import DEFAULT_METHOD
from manylabel.classifier import TextClassifier
from manylabel.data import load
from manylabel.estimator import Csr
from manylabel.features import Weighting
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.out_of_fold import out_of_fold_scores
from manylabel.models.score_kinds import ScoreKind
from manylabel.strategies.blend import Blend
from manylabel.strategies.ensemble import Ensemble
from manylabel.strategies.weighted_member import WeightedMember

RNG = np.random.default_rng(0)
X = Csr(RNG.poisson(0.6, (60, 12)).astype(np.float64))
Y = Csr((np.asarray(X[:, :4].todense()) + RNG.poisson(0.3, (60, 4)) > 1).astype(np.int8))
SVM, BAYES = WeightedMember(LinearSVM(), Weighting(tf="log", idf="smooth")), WeightedMember(BinaryNaiveBayes())


def test_alone_it_is_the_first_model() -> None:
    blend = Blend((SVM, BAYES), C=0.5).fit(X, Y)
    alone = WeightedMember(LinearSVM(C=0.5), Weighting(tf="log", idf="smooth")).fit(X, Y)
    assert blend.score_kind is ScoreKind.MARGIN
    np.testing.assert_array_equal(blend.scores(X), alone.scores(X))
    scores, rows = out_of_fold_scores(Blend((SVM, BAYES), C=0.5), X, Y, 5, 3)
    expected, same = out_of_fold_scores(alone, X, Y, 5, 3)
    np.testing.assert_array_equal(scores, expected)
    np.testing.assert_array_equal(rows, same)


def test_blended_it_is_a_committee_that_averages() -> None:
    blend = Blend((SVM, BAYES), blended=True, folds=4, seed=2).fit(X, Y)
    ensemble = Ensemble((SVM, BAYES), folds=4, seed=2).fit(X, Y)
    assert blend.score_kind is ScoreKind.LOG_ODDS
    np.testing.assert_array_equal(blend.scores(X), ensemble.scores(X))


def test_what_was_learned_out_of_fold_is_kept_for_the_same_documents_alone() -> None:
    blend = Blend((SVM, BAYES), blended=True, folds=3, seed=0)
    scores, rows = out_of_fold_scores(blend, X, Y, 4, 2)
    assert rows.tolist() == list(range(60))
    handed_on = blend.fit(X, Y).scores(X)
    np.testing.assert_array_equal(handed_on, Ensemble((SVM, BAYES), folds=4, seed=2).fit(X, Y).scores(X))
    out_of_fold_scores(blend, X, Y, 4, 2)
    other = blend.fit(X.copy(), Y.copy()).scores(X)
    np.testing.assert_array_equal(other, Ensemble((SVM, BAYES), folds=3, seed=0).fit(X, Y).scores(X))
    assert np.corrcoef(scores.ravel(), handed_on.ravel())[0, 1] > 0.5


def test_the_blend_is_offered_for_small_data_only() -> None:
    work = X.nnz * Y.shape[1]
    assert Blend((SVM, BAYES), most_work=work).settings_to_try(X, Y) == [{"blended": True}]
    assert Blend((SVM, BAYES), most_work=work - 1).settings_to_try(X, Y) == []
    assert Blend((SVM,)).settings_to_try(X, Y) == []


def test_one_document_is_scored_as_in_a_batch() -> None:
    blend = Blend((SVM, BAYES), blended=True).fit(X, Y)
    score = blend.document_scorer()
    assert score is not None
    for row in (0, 7, 31):
        one = X[[row]]
        np.testing.assert_allclose(score(one.indices.astype(np.int32), one.data), blend.scores(one)[0], rtol=1e-12)


def test_the_default_answers_single_texts_by_the_short_way() -> None:
    letters = load("townhall").corpus
    model = TextClassifier(n_jobs=1).fit(letters.texts[:120], letters.label_sets[:120])
    assert model.method == DEFAULT_METHOD
    assert model._short_way() is not None
    texts = letters.texts[120:150]
    assert [model.predict([text])[0] for text in texts] == model.predict(texts)


def test_the_table_of_defaults_tells_the_best_and_the_gap() -> None:
    rows = {
        ("mail", "auto", "micro-f1"): {"value": 0.75},
        ("mail", "svm", "micro-f1"): {"value": 0.76},
        ("mail", "knn", "micro-f1"): {"value": None},
        ("mail", "svm", "macro-f1"): {"value": 0.9},
    }
    assert table(rows, ["mail"], ["auto", "svm", "knn"], "micro-f1").splitlines() == [
        "| Micro F1 | mail |",
        "|---|---|",
        "| `auto` (default) | 75.0 |",
        "| `svm` | **76.0** |",
        "| `knn` | – |",
        "| the default behind the best | 1.0 |",
    ]


@pytest.mark.parametrize("blended", [False, True])
def test_evidence_is_the_models(blended: bool) -> None:
    blend = Blend((SVM, BAYES), blended=blended).fit(X, Y)
    np.testing.assert_array_equal(blend.evidence(X[[3]]).toarray(), blend.model_.evidence(X[[3]]).toarray())


def test_labels_of_a_single_document_are_not_foretold() -> None:
    """Where every label has one document, no model can know it: out-of-fold scores must not tell them either."""
    rng = np.random.default_rng(0)
    X, Y = Csr(rng.integers(0, 3, (8, 12))), Csr(np.eye(8, dtype=np.int8))
    members = (LinearSVM(max_iter=100_000), BinaryNaiveBayes(smoothing="laplace", unlabelled="negative"))
    scores, rows = Blend(members, blended=True).scores_out_of_fold(X, Y, 4, 0, {})
    own = scores[np.arange(8), rows]
    assert (own[:, np.newaxis] <= scores + 1e-9).mean() > 0.5  # the true label is no likelier than the others
