"""Probabilities of any method's scores: shown, kept, and without a say in the label sets."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manylabel.classifier import TextClassifier
from manylabel.data import load as load_corpus
from manylabel.decisions.calibration import Calibration, open_scores
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.per_label import PerLabelThreshold
from manylabel.decisions.shown import shown_thresholds
from manylabel.estimator import Csr
from manylabel.exceptions import DecisionError, ParameterError, UnknownNameError
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.out_of_fold import out_of_fold_scores
from manylabel.models.score_kinds import ScoreKind
from manylabel.recipe import Recipe
from manylabel.tasks.models import inspect

MARGIN, SIMILARITY, POSTERIOR, LOG_ODDS, OWN = "svm", "rocchio", "nb-app", "nb-binary", "knn-majority"
METHODS = (MARGIN, SIMILARITY, POSTERIOR, LOG_ODDS, OWN)


@pytest.fixture(scope="module")
def letters() -> Any:
    return load_corpus("townhall").corpus.subset(range(200))


@pytest.mark.parametrize("curve", ["logistic", "isotonic"])
@pytest.mark.parametrize("method", METHODS)
def test_every_kind_of_score_is_shown_as_a_probability(method: str, curve: str, letters: Any, tmp_path: Path) -> None:
    texts = [*letters.texts[:30], "", "zzz"]
    plain = TextClassifier(method, folds=3).fit(letters.texts, letters.label_sets)
    model = TextClassifier(method, decision={"probabilities": curve}, folds=3).fit(letters.texts, letters.label_sets)
    assert model.scores_are_probabilities
    shown = model.predict_scores(texts)
    assert shown.shape == (len(texts), len(model.labels_))
    assert ((shown >= 0) & (shown <= 1)).all()
    np.testing.assert_array_equal(model.predict_proba(texts), shown)
    np.testing.assert_array_equal(model.decided_.predict_proba(model.transform(texts)), shown)
    # The label sets are those of the model without probabilities, by the long way, the short way and after loading.
    assert model.predict(texts) == plain.predict(texts) == [model.predict([text])[0] for text in texts]
    model.save(tmp_path / "m.manylabel")
    loaded = TextClassifier.load(tmp_path / "m.manylabel")
    np.testing.assert_array_equal(loaded.predict_scores(texts), shown)
    assert loaded.predict(texts) == model.predict(texts)
    assert loaded.thresholds == model.thresholds
    found = inspect(tmp_path / "m.manylabel").thresholds
    assert ({} if found is None else dict(zip(model.labels_, found, strict=True))) == model.thresholds


@pytest.mark.parametrize("method", [MARGIN, LOG_ODDS])
def test_what_is_given_is_shown_at_or_above_its_threshold(method: str, letters: Any) -> None:
    decision = {"rule": "per-label", "probabilities": "logistic"}
    model = TextClassifier(method, decision=decision, folds=3).fit(letters.texts, letters.label_sets)
    given = 0
    for answer in model.iter_predictions(letters.texts[:50]):
        assert answer.thresholds is not None
        chosen = np.isin(model.labels_, answer.labels)
        assert (answer.scores[chosen] >= answer.thresholds[chosen]).all()
        # A flat curve shows scores below the cut as what the cut itself is shown as, never as more.
        assert (answer.scores[~chosen] <= answer.thresholds[~chosen]).all()
        given += int(chosen.sum())
    assert given > 0


def test_the_curves_are_learned_on_the_out_of_fold_scores_of_the_rule() -> None:
    random = np.random.default_rng(0)
    X, Y = Csr(random.random((40, 6))), Csr((random.random((40, 3)) < 0.4).astype(np.int8))
    decided = DecidedModel(LinearSVM(), PerLabelThreshold(), folds=4, seed=3, probabilities="logistic").fit(X, Y)
    scores, rows = out_of_fold_scores(LinearSVM(), X, Y, 4, 3)
    curves = Calibration("logistic").fit(scores, Y[rows])
    np.testing.assert_array_equal(decided.predict_proba(X), curves.transform(decided.scores(X)))
    rule = PerLabelThreshold().fit(scores, Y[rows], ScoreKind.MARGIN)
    np.testing.assert_array_equal(decided.rule_.thresholds_, rule.thresholds_)  # type: ignore[union-attr]


@pytest.mark.parametrize("curve", ["logistic", "isotonic"])
def test_a_label_that_every_document_has(curve: Any) -> None:
    """Binary naive Bayes answers +∞ for it, out of fold too: (N + 1)/(N + 2), as for any label without a negative."""
    X = Csr(np.random.default_rng(0).poisson(1.0, (40, 6)))
    Y = Csr(np.column_stack([np.ones(40), np.arange(40) % 2, np.zeros(40)]).astype(np.int8))
    decided = DecidedModel(BinaryNaiveBayes(), folds=2, probabilities=curve).fit(X, Y)
    shown = decided.predict_proba(X)
    # Isotonic curves lean on the pooled one a little.
    assert shown[:, 0] == pytest.approx(np.full(40, 41 / 42), abs=1e-3)
    assert (shown[:, 2] == 0).all()


def test_thresholds_beyond_what_a_probability_can_show() -> None:
    """Log-odds of 40 and 50 are both shown as 1; the curve is asked for the cut itself. What is never given needs 1."""
    rule = PerLabelThreshold()
    rule.thresholds_ = np.array([40.0, 50.0, np.inf])
    calibration = Calibration()
    calibration.slopes_, calibration.intercepts_ = np.full(3, 0.1), np.full(3, -4.0)
    found = shown_thresholds(rule, 3, ScoreKind.LOG_ODDS, calibration)
    assert found == pytest.approx([0.5, 1 / (1 + np.exp(-1)), 1.0])
    rule.thresholds_ = np.array([0.0, 0.5, 1.5])  # posteriors: impossible, even odds, never
    calibration.intercepts_ = np.zeros(3)
    assert shown_thresholds(rule, 3, ScoreKind.POSTERIOR, calibration) == pytest.approx([0.0, 0.5, 1.0])
    assert open_scores(np.array([[0.0, 0.5]]), ScoreKind.POSTERIOR).tolist() == [[-np.inf, 0.0]]


def test_what_is_no_probability_says_so(letters: Any) -> None:
    model = TextClassifier("svm", decision={"probabilities": None}).fit(letters.texts, letters.label_sets)
    with pytest.raises(AttributeError, match=r"Train it with decision={'probabilities': 'logistic'}\.$"):
        model.predict_proba(letters.texts)
    with pytest.raises(AttributeError, match="margin"):
        model.decided_.predict_proba(model.transform(letters.texts))
    assert not hasattr(model, "predict_proba")


def test_probabilities_do_not_lead_back_to_scores(letters: Any) -> None:
    model = TextClassifier("svm", decision={"probabilities": "logistic"}).fit(letters.texts, letters.label_sets)
    with pytest.raises(DecisionError, match="Use predict"):
        model.decide(model.predict_scores(letters.texts))
    raw = model.predict_scores(letters.texts, raw=True)
    assert model.decide(raw, raw=True) == model.predict(letters.texts)


def test_the_setting_stands_in_the_recipe(letters: Any) -> None:
    recipe = Recipe.from_toml('method = "knn"\n[decision]\nprobabilities = "isotonic"\n')
    assert recipe.probabilities == "isotonic"
    assert Recipe.from_dict(recipe.as_dict()) == recipe
    assert Recipe.of("svm").probabilities == "auto"
    assert Recipe.from_toml('method = "svm"\n[decision]\nprobabilities = "none"\n').probabilities is None
    with pytest.raises(UnknownNameError, match="Did you mean 'probabilities'"):
        Recipe.of("svm", {"decision": {"probability": "logistic"}})
    with pytest.raises(ParameterError, match="probabilities must be one of None, 'auto', 'logistic', 'isotonic'"):
        TextClassifier("svm", decision={"probabilities": "linear"}).fit(letters.texts, letters.label_sets)
