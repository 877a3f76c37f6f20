"""The default method: cost, averaging and rule chosen on out-of-fold scores that are handed on."""

from itertools import product
from typing import Any, Self

import numpy as np
import pytest
from benchmarks.defaults import table
from scipy import sparse
from sklearn.exceptions import NotFittedError

from manylabel.catalog import DEFAULT_METHOD
from manylabel.classifier import TextClassifier
from manylabel.data import load
from manylabel.data.splits import iterative_stratification
from manylabel.deadline import Deadline, OutOfTime
from manylabel.decisions import auto as auto_module
from manylabel.decisions import search_sample
from manylabel.decisions.auto import AutoModel
from manylabel.decisions.best_rule import BestRule
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.threshold import Threshold
from manylabel.estimator import Csr, Ints, unfitted_copy
from manylabel.features import Weighting
from manylabel.features.facts import Facts
from manylabel.features.views import OfferedViews
from manylabel.models.base import MultiLabelModel
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.out_of_fold import OutOfFold, out_of_fold_scores
from manylabel.models.score_kinds import ScoreKind
from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.ensemble import Ensemble
from manylabel.strategies.stacking import combined_out_of_fold, of_unseen_documents
from manylabel.strategies.viewed_member import ViewedMember
from manylabel.strategies.weighted_member import WeightedMember

RNG = np.random.default_rng(0)
X = Csr(RNG.poisson(0.6, (60, 12)).astype(np.float64))
Y = Csr((np.asarray(X[:, :4].todense()) + RNG.poisson(0.3, (60, 4)) > 1).astype(np.int8))
SVM, BAYES = WeightedMember(LinearSVM(), Weighting(tf="log", idf="smooth")), WeightedMember(BinaryNaiveBayes())


class LongerIsBetter(BestRule):
    """Prefers whatever was scored last: the gain grows with each fit."""

    fitted = 0

    def learn_crossed(self, scores, Y, kind):
        crossed = super().learn_crossed(scores, Y, kind)
        type(self).fitted += 1
        self.order_ = type(self).fitted
        return crossed

    @property
    def gain(self) -> float:
        return float(self.order_)


class ShorterIsBetter(LongerIsBetter):
    """Prefers whatever was scored first."""

    @property
    def gain(self) -> float:
        return -super().gain


class LittleIsLost(ShorterIsBetter):
    """Prefers whatever was scored first, by half a unit."""

    @property
    def gain(self) -> float:
        return super().gain / 2


def test_without_a_rule_that_compares_it_is_the_first_model() -> None:
    auto = AutoModel(SVM, (BAYES,), Threshold(), costs=(1.0, 0.5)).fit(X, Y)
    alone = DecidedModel(SVM, Threshold()).fit(X, Y)
    assert not auto.searches
    assert auto.score_kind is ScoreKind.MARGIN
    np.testing.assert_array_equal(auto.scores(X), alone.scores(X))


def test_a_fixed_cost_is_not_searched() -> None:
    auto = AutoModel(SVM, (), BestRule(), costs=(1.0, 0.25), C=0.5).fit(X, Y)
    alone = DecidedModel(WeightedMember(LinearSVM(C=0.5), SVM.weighting), BestRule()).fit(X, Y)
    assert auto.choice_ is not None
    assert auto.choice_["settings"] == {}
    np.testing.assert_array_equal(auto.scores(X), alone.scores(X))
    np.testing.assert_array_equal(auto.predict(X).toarray(), alone.predict(X).toarray())


def test_costs_are_tried_as_long_as_each_is_better() -> None:
    assert AutoModel(SVM, (), LongerIsBetter(), costs=(2.0, 1.0, 0.5)).fit(X, Y).choice_["settings"] == {"C": 0.5}
    before = ShorterIsBetter.fitted
    assert AutoModel(SVM, (), ShorterIsBetter(), costs=(2.0, 1.0, 0.5)).fit(X, Y).choice_["settings"] == {"C": 2.0}
    assert ShorterIsBetter.fitted - before == 2  # the second cost was worse, so the third was not tried


def test_the_cost_of_many_labels_is_searched_with_some_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both costs are tried with one label, the second is better; it is fitted to all labels once, then to the folds."""
    monkeypatch.setattr(search_sample, "MANY_SCORES", X.shape[0])
    monkeypatch.setattr(search_sample, "SEARCHED_LABELS", 1)
    seen: list[tuple[float, float, int, bool]] = []

    class Watched(LinearSVM):
        def fit(self, X: object, Y: object, **options: Any) -> Self:  # type: ignore[override]
            seen.append((float(self.C), self.tol, Csr(Y).shape[1], "initial" in options))  # type: ignore[arg-type]
            return super().fit(X, Y, **options)

    auto = AutoModel(Watched(), (), LongerIsBetter(), costs=(2.0, 1.0), folds=2).fit(X, Y)
    assert auto.choice_["settings"] == {"C": 1.0}
    labels, trial = Y.shape[1], LinearSVM.trial_settings["tol"]
    search = [(2.0, trial, 1, False)] * 2 + [(1.0, trial, 1, False)] * 2
    assert seen == [*search, (1.0, 1e-3, labels, False), *[(1.0, trial, labels, True)] * 2]


def test_labels_of_a_single_document_are_searched_where_there_are_no_others() -> None:
    """Four labels, on two, one, one and no documents."""
    assert search_sample.spaced_labels(Csr([[1, 1, 0, 0], [1, 0, 1, 0]]), 4).tolist() == [0]
    assert search_sample.spaced_labels(Csr([[0, 1, 0, 0], [0, 0, 1, 0]]), 4).tolist() == [1, 2]
    assert search_sample.spaced_labels(Csr(np.zeros((2, 3))), 4).tolist() == []


@pytest.mark.parametrize("model", [LinearSVM(), SVM], ids=["alone", "weighted"])
def test_folds_that_start_from_the_solution_on_all_documents_score_the_same(model: MultiLabelModel) -> None:
    exact = unfitted_copy(model).set_everywhere("tol", 1e-6)
    documents = OutOfFold(X, {}, None, 3, 0)
    solution = unfitted_copy(exact).fit_keeping(X, Y)
    assert solution is not None
    assert solution.shape == Y.shape
    cold, warm = documents(exact, Y)[0], documents(exact, Y, solution)[0]
    np.testing.assert_allclose(warm, cold, atol=1e-4)


def test_the_model_of_many_labels_is_the_one_fitted_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """It equals a fit of its own, and its file has no dual coefficients."""
    monkeypatch.setattr(search_sample, "MANY_SCORES", 1)
    auto = AutoModel(SVM, (BAYES,), BestRule(), C=0.5, most_work=0).fit(X, Y)
    alone = WeightedMember(LinearSVM(C=0.5), SVM.weighting).fit(X, Y)
    np.testing.assert_array_equal(auto.scores(X), alone.scores(X))
    inside: Any = auto.model_
    assert "dual_coef_" not in inside.model_.learned_state()
    weighted = AutoModel(SVM, (), BestRule(), C=0.5).fit(X, Y, sample_weight=np.ones(X.shape[0]))
    np.testing.assert_allclose(weighted.scores(X), alone.scores(X))


def test_a_model_that_is_asked_to_keep_its_solution_keeps_it() -> None:
    model = LinearSVM(keep_dual=True)
    solution = model.fit_keeping(X, Y)
    assert model.keep_dual
    np.testing.assert_array_equal(solution.toarray(), model.dual_coef_.toarray())
    assert unfitted_copy(BAYES).fit_keeping(X, Y) is None


def test_a_cost_inside_a_strategy_is_found() -> None:
    auto = AutoModel(BinaryRelevance(LinearSVM()), (), BestRule(), costs=(2.0,)).fit(X, Y)
    assert auto.choice_["settings"] == {"C": 2.0}
    assert auto.model_.get_params()["model__C"] == 2.0


def test_a_model_without_a_cost_is_scored_once() -> None:
    before = LongerIsBetter.fitted
    assert AutoModel(BAYES, (), LongerIsBetter(), costs=(1.0, 0.5)).fit(X, Y).choice_["settings"] == {}
    assert LongerIsBetter.fitted - before == 1


def test_the_average_is_an_ensemble_of_the_same_folds() -> None:
    auto = AutoModel(SVM, (BAYES,), LongerIsBetter(), folds=4, seed=2).fit(X, Y)
    ensemble = Ensemble((SVM, BAYES), folds=4, seed=2).fit(X, Y)
    assert auto.choice_["settings"] == {"averaged": True}
    assert auto.score_kind is ScoreKind.LOG_ODDS
    np.testing.assert_array_equal(auto.scores(X), ensemble.scores(X))
    np.testing.assert_array_equal(auto.evidence(X[[3]]).toarray(), ensemble.evidence(X[[3]]).toarray())


WORDS = ["".join(pair) for pair in product("abcd", repeat=2)][: X.shape[1]]
TEXTS = [" ".join(WORDS[term] + "xyz" for term in row.indices) for row in X]


def test_the_stack_is_an_ensemble_of_all_that_was_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto_module, "LEAST_DOCUMENTS", 60)
    offered = OfferedViews(TEXTS, {})
    settings = {"views": ("characters",), "stacked": True, "folds": 4, "seed": 2}
    auto = AutoModel(SVM, (BAYES,), LongerIsBetter(), (1.0, 0.25), **settings).fit(X, Y, views=offered)
    counts = offered.counts("characters")
    assert counts is not None
    wide, cheap = Csr(sparse.hstack([X, counts], format="csr")), unfitted_copy(SVM).set_everywhere("C", 0.25)
    beside = ViewedMember(cheap.model, cheap.weighting, widths=(12, counts.shape[1]))
    members = [ViewedMember(SVM, widths=(12,)), ViewedMember(cheap, widths=(12,)), beside]
    ensemble = Ensemble((*members, ViewedMember(BAYES, widths=(12,))), "stacked", ridge=10.0, folds=4, seed=2)
    assert auto.choice_["settings"].keys() == {"views", "stacked"}
    assert auto.choice_["settings"]["stacked"] == 4
    np.testing.assert_array_equal(auto.scores(wide), ensemble.fit(wide, Y).scores(wide))


@pytest.mark.parametrize(("less", "members"), [(0.0, 3), (1.0, 2)])
def test_a_stack_has_other_models_up_to_three_times_the_work(
    less: float, members: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto_module, "LEAST_DOCUMENTS", 60)
    work = X.nnz * Y.shape[1] / 3 - less
    auto = AutoModel(SVM, (BAYES,), LongerIsBetter(), views=("characters",), stacked=True, most_work=work)
    assert auto.fit(X, Y, views=OfferedViews(TEXTS, {})).choice_["settings"]["stacked"] == members


@pytest.mark.parametrize(("least", "views", "stacked"), [(61, True, True), (60, False, True), (60, True, False)])
def test_nothing_is_stacked(least: int, views: bool, stacked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few documents, without a further view, or where it is turned off."""
    monkeypatch.setattr(auto_module, "LEAST_DOCUMENTS", least)
    asked = ("characters",) if views else ()
    auto = AutoModel(SVM, (BAYES,), LongerIsBetter(), (1.0, 0.25), views=asked, stacked=stacked)
    assert "stacked" not in auto.fit(X, Y, views=OfferedViews(TEXTS, {})).choice_["settings"]


@pytest.mark.parametrize(
    ("average", "stack", "is_chosen"),
    [(0.72, 0.718, True), (0.72, 0.717, False), (0.702, 0.7049, False), (0.69, 0.705, True)],
)
def test_a_stack_must_gain_over_single_models_and_come_near_the_average(
    average: float, stack: float, is_chosen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Given(BestRule):
        """Reaches these values in the order of its fits: one model, with a view, two averages, the stack."""

        values = iter((0.6, 0.7, average, 0.6, stack))

        def learn_crossed(self, scores, Y, kind):
            self.given_ = next(type(self).values)
            return super().learn_crossed(scores, Y, kind)

        @property
        def gain(self) -> float:
            return self.given_

    monkeypatch.setattr(auto_module, "LEAST_DOCUMENTS", 60)
    auto = AutoModel(SVM, (BAYES,), Given(), views=("characters",), stacked=True, folds=3)
    chosen = auto.fit(X, Y, views=OfferedViews(TEXTS, {})).choice_["settings"]
    assert ("stacked" in chosen) == is_chosen


@pytest.mark.parametrize(("alone", "is_chosen"), [(0.702, True), (0.71, False)])
def test_a_view_that_gains_too_little_may_gain_in_an_average(
    alone: float, is_chosen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Given(BestRule):
        """Reaches these values: one model, with a view, the average without and the one with that model."""

        values = iter((0.7, 0.704, alone, 0.708))

        def learn_crossed(self, scores, Y, kind):
            self.given_ = next(type(self).values)
            return super().learn_crossed(scores, Y, kind)

        @property
        def gain(self) -> float:
            return self.given_

    monkeypatch.setattr(auto_module, "LEAST_DOCUMENTS", 60)
    offered = OfferedViews(TEXTS, {})
    auto = AutoModel(SVM, (BAYES,), Given(), views=("characters",), stacked=True, folds=3).fit(X, Y, views=offered)
    if not is_chosen:
        assert auto.choice_["settings"] == {"averaged": True}
        return
    assert auto.choice_["settings"] == {"averaged": True, "views": {"characters": pytest.approx(0.006)}}
    counts = offered.counts("characters")
    assert counts is not None
    wide, widths = Csr(sparse.hstack([X, counts], format="csr")), (12, counts.shape[1])
    members = (
        ViewedMember(SVM, widths=(12,)),
        ViewedMember(SVM.model, SVM.weighting, widths=widths),
        ViewedMember(BAYES, widths=(12,)),
    )
    np.testing.assert_array_equal(auto.scores(wide), Ensemble(members, folds=3).fit(wide, Y).scores(wide))


def test_an_average_that_is_worse_is_not_chosen() -> None:
    assert AutoModel(SVM, (BAYES,), LittleIsLost()).fit(X, Y).choice_["settings"] == {}


def test_the_average_is_tried_on_small_data_only() -> None:
    work = X.nnz * Y.shape[1]
    small = AutoModel(SVM, (BAYES,), LongerIsBetter(), most_work=work).fit(X, Y)
    large = AutoModel(SVM, (BAYES,), LongerIsBetter(), most_work=work - 1).fit(X, Y)
    assert (small.choice_["settings"], large.choice_["settings"]) == ({"averaged": True}, {})


def test_one_document_is_scored_as_in_a_batch() -> None:
    auto = AutoModel(SVM, (BAYES,), LongerIsBetter()).fit(X, Y)
    score = auto.document_scorer()
    assert score is not None
    for row in (0, 7, 31):
        one = X[[row]]
        np.testing.assert_allclose(score(one.indices.astype(np.int32), one.data), auto.scores(one)[0], rtol=1e-12)


def test_the_default_predicts_single_texts_by_the_short_way() -> None:
    letters = load("townhall").corpus
    model = TextClassifier(n_jobs=1).fit(letters.texts[:120], letters.label_sets[:120])
    assert model.method == DEFAULT_METHOD
    assert model.short_way() is not None
    texts = letters.texts[120:150]
    assert [model.predict([text])[0] for text in texts] == model.predict(texts)


def test_the_table_of_defaults_names_the_best_and_the_gap() -> None:
    rows = {
        ("mail", "auto", "micro-f1"): {"value": 0.75, "figures": {"micro-f1": 0.75, "macro-f1": 0.5}},
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
        "| Macro F1 of this default | 50.0 |",
    ]


def test_labels_of_a_single_document_are_not_foretold() -> None:
    """Where every label has one document, no model can know it: out-of-fold averages must not tell them either."""
    rng = np.random.default_rng(0)
    X, Y = Csr(rng.integers(0, 3, (8, 12))), Csr(np.eye(8, dtype=np.int8))
    members = (LinearSVM(max_iter=100_000), BinaryNaiveBayes(smoothing="laplace", unlabelled="negative"))
    scores = [of_unseen_documents(out_of_fold_scores(one, X, Y, 4, 0)[0], one.score_kind) for one in members]
    tests = [test for _, test in iterative_stratification(Y, 4, 0)]
    averaged = combined_out_of_fold(np.stack(scores), Y, tests, 1.0, "average")
    own = averaged[np.arange(8), np.arange(8)]
    assert (own[:, np.newaxis] <= averaged + 1e-9).mean() > 0.5  # the true label is no likelier than the others


@pytest.mark.parametrize("rule", [None, BestRule()])
def test_single_label_data_are_left_to_the_first_model(rule: BestRule | None) -> None:
    y = np.asarray(Y.sum(axis=1)).ravel() > 1
    auto = AutoModel(SVM, (BAYES,), rule, costs=(1.0, 0.5)).fit(X, y)
    np.testing.assert_array_equal(auto.predict(X), WeightedMember(SVM.model, SVM.weighting).fit(X, y).predict(X))


def test_costs_of_members_in_a_tuple_are_tried_on_copies() -> None:
    svm = LinearSVM()
    auto = AutoModel(Ensemble((svm,)), (), ShorterIsBetter(), costs=(1.0, 0.25)).fit(X, Y)
    assert auto.choice_ is not None
    assert auto.choice_["settings"] == {"C": 1.0}
    assert svm.C == 1.0
    assert [member.C for member in auto.model_.members_] == [1.0]  # type: ignore[attr-defined]


def test_facts_reach_only_the_models_that_want_them() -> None:
    letters = load("townhall").corpus.subset(range(100))
    settings: dict[str, Any] = {"model": {"members": ("svm", "nb-binary")}, "features": {"min_df": 5}}
    model = TextClassifier(decision={"rule": "top-k", "k": 1}, **settings).fit(letters.texts, letters.label_sets)
    assert {len(labels) for labels in model.predict(letters.texts[:20])} == {1}


def test_a_model_that_ran_out_of_time_is_as_it_was() -> None:
    ticks = iter(range(100))
    auto = AutoModel(SVM, (BAYES,), BestRule(), costs=(1.0, 0.5))
    with pytest.raises(OutOfTime):
        auto.fit(X, Y, deadline=Deadline(2, clock=lambda: float(next(ticks))))
    assert not auto.is_fitted
    assert auto.score_kind is ScoreKind.MARGIN
    with pytest.raises(NotFittedError):
        auto.predict(X)
    before = auto.fit(X, Y).scores(X)
    with pytest.raises(OutOfTime):
        auto.fit(X[::2], Y[::2], deadline=Deadline(2, clock=lambda: float(next(ticks))))
    np.testing.assert_array_equal(auto.scores(X), before)


def test_out_of_fold_scores_among_some_documents_are_those_of_these_documents() -> None:
    rows = np.arange(0, X.shape[0], 2)
    weights = np.linspace(0.5, 2.0, X.shape[0])

    def features(train: Ints, test: Ints) -> tuple[Csr, Csr, Facts]:
        return X[train], X[test], {}

    some = OutOfFold(X, {"sample_weight": weights}, features, 3, 0).among(rows)
    alone = OutOfFold(X[rows], {"sample_weight": weights[rows]}, None, 3, 0)
    for found, expected in zip(some(SVM, Y[rows]), alone(SVM, Y[rows]), strict=True):
        np.testing.assert_array_equal(found, expected)
