"""Laws of co-training that hold for all inputs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB

from corpora import corpora
from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes
from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.co_training import CoTraining
from manylabel.strategies.co_training_views import LinearView, Rules, take_turns

PLAIN = ValueWeightedNaiveBayes("categorical", refine="none", n_bins=3)
STRATEGIES: list[Any] = [
    CoTraining(ValueWeightedNaiveBayes(steps=3), folds=2),
    CoTraining(PLAIN, fc="separate", use_dc=True, labels="true", update="synchronous"),
    CoTraining(PLAIN, use_dc=True, order="FC-DC", on_cycle="best", labels="true"),
    CoTraining(BernoulliNB(), use_dc=True, labels="true"),
]
each_strategy = pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)


@each_strategy
@given(corpora())
@settings(max_examples=15)
def test_predictions_are_zeros_and_ones_and_constant_labels_constant(strategy: Any, corpus: Any) -> None:
    X, Y = corpus
    fitted = clone(strategy).fit(X, Y)
    scores, (predicted, report) = fitted.scores(X), fitted.predict_with_report(X)
    assert not np.isnan(scores).any()
    np.testing.assert_array_equal(predicted, scores > 0)
    np.testing.assert_array_equal(predicted, fitted.predict(X))
    np.testing.assert_array_equal(predicted[:, ~Y.any(axis=0)], 0)
    np.testing.assert_array_equal(predicted[:, Y.all(axis=0)], 1)
    assert report.iterations.max() <= 20


@given(corpora(), st.randoms(use_true_random=False), st.sampled_from(["synchronous", "sequential"]))
@settings(max_examples=30)
def test_permuting_labels_with_their_sweep_permutes_columns(corpus: Any, random: Any, update: Any) -> None:
    """Column j of the permuted problem is label p[j]; a sequential pass must visit the same labels in order."""
    X, Y = corpus
    p, sweep = (random.sample(range(Y.shape[1]), Y.shape[1]) for _ in range(2))
    there = CoTraining(PLAIN, sweep=sweep, labels="true", update=update).fit(X, Y).scores(X)
    moved = CoTraining(PLAIN, sweep=[p.index(label) for label in sweep], labels="true", update=update)
    np.testing.assert_allclose(moved.fit(X, Y[:, p]).scores(X), there[:, p], atol=1e-9)


@each_strategy
@given(corpora())
@settings(max_examples=8)
def test_one_label_is_binary_relevance(strategy: Any, corpus: Any) -> None:
    X, Y = corpus
    alone = BinaryRelevance(strategy.model).fit(X, Y[:, :1])
    np.testing.assert_array_equal(clone(strategy).fit(X, Y[:, :1]).scores(X), alone.scores(X))


# --- taking turns -----------------------------------------------------------------------------------------------

TABLES = hnp.arrays(np.float64, (4, 4), elements=st.integers(-6, 6).map(float))
STARTS = hnp.arrays(np.bool_, st.tuples(st.integers(1, 6), st.just(4)))


def _turns(start: np.ndarray, table: np.ndarray, **settings: Any) -> tuple[Any, LinearView, Rules]:
    np.fill_diagonal(table, 0.0)
    view = LinearView(np.array([-1.0, 1.5, -0.5, 0.5]), table)
    known = {"update": "synchronous", "max_rounds": 20, "best_of_cycle": False, "sweep": np.arange(4), "judge": 0}
    rules = Rules(**(known | settings))
    return take_turns(start, [view], rules), view, rules


@given(STARTS, TABLES, st.sampled_from(["synchronous", "sequential"]))
def test_a_settled_state_stays_and_a_period_brings_it_back(start: Any, table: Any, update: Any) -> None:
    """16 states: 20 rounds always find a state that was seen before. Applied `period` times, the round returns it."""
    outcome, view, rules = _turns(start, table, update=update)
    assert (outcome.periods > 0).all()
    assert (outcome.iterations <= 16).all()
    for document, period in enumerate(outcome.periods.tolist()):
        state = outcome.state[[document]]
        for _ in range(period):
            if update == "synchronous":
                state = view.all_at_once(state, np.array([0])) > 0
            else:
                state = view.one_by_one(state.copy(), np.array([0]), rules.sweep) > 0
        np.testing.assert_array_equal(state, outcome.state[[document]])


@given(STARTS, TABLES)
def test_the_best_of_a_cycle_is_at_least_as_sure_as_the_last(start: Any, table: Any) -> None:
    last = _turns(start, table.copy())[0]
    best = _turns(start, table.copy(), best_of_cycle=True)[0]
    assert (np.abs(best.scores).sum(axis=1) >= np.abs(last.scores).sum(axis=1)).all()
    settled = last.periods == 1
    np.testing.assert_array_equal(best.scores[settled], last.scores[settled])


@given(STARTS, TABLES, st.permutations(range(4)))
def test_a_sequential_pass_is_what_it_says(start: Any, table: Any, sweep: list[int]) -> None:
    """Against scores computed anew for every label in its turn."""
    np.fill_diagonal(table, 0.0)
    view = LinearView(np.array([-1.0, 1.5, -0.5, 0.5]), table)
    rows, state, expected = np.arange(len(start)), start.copy(), np.empty(start.shape)
    for label in sweep:
        expected[:, label] = view.all_at_once(state, rows)[:, label]
        state[:, label] = expected[:, label] > 0
    np.testing.assert_array_equal(view.one_by_one(start.copy(), rows, np.array(sweep)), expected)
