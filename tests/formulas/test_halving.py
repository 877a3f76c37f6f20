"""Successive halving on figures that can be followed by hand, and its verdict where no setting is better."""

import math
import time
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from manylabel.choosing.halving import Rung, Search, Step, Trial, halve, plan_rungs
from manylabel.choosing.tuning import judge
from manylabel.deadline import Deadline, OutOfTime, seconds_of
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.threshold import GlobalThreshold
from manylabel.estimator import Csr
from manylabel.evaluation.statistics import DocumentStatistics, document_statistics
from manylabel.exceptions import ParameterError
from manylabel.metrics.targets import find_target_metric
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.recipe import Recipe
from manylabel.strategies.weighted_member import WeightedMember

EXACT, HAMMING = find_target_metric("exact-match"), find_target_metric("hamming-loss")


def trials(count: int) -> list[Trial]:
    recipe = Recipe.of("svm")
    return [Trial(number, {}, recipe) for number in range(count)]


def right(share: int) -> DocumentStatistics:
    """Ten documents, the first `share` of which are predicted correctly."""
    Y_true = np.ones((10, 1), dtype=np.int8)
    Y_pred = (np.arange(10) < share).astype(np.int8)[:, np.newaxis]
    return document_statistics(Y_true, Y_pred)


class Figures:
    """Runs trials with the given numbers of correct documents, and records which trials ran on which rung."""

    def __init__(self, figures: Sequence[int], stop_at: int | None = None) -> None:
        self.figures, self.stop_at = figures, stop_at
        self.seen: list[list[int]] = []

    def __call__(self, left: Sequence[Trial], rung: Rung) -> Iterator[tuple[Trial, DocumentStatistics]]:
        self.seen.append([])
        for trial in left:
            if self.stop_at is not None and sum(map(len, self.seen)) == self.stop_at:
                raise OutOfTime
            self.seen[-1].append(trial.number)
            yield trial, right(self.figures[trial.number])


def test_each_rung_keeps_the_best_third_and_the_settings_to_beat() -> None:
    run = Figures([1, 5, 9, 4, 8, 2, 7, 6, 3])
    search = halve(trials(9), plan_rungs(9, 3, 6000), run, EXACT)
    assert run.seen == [list(range(9)), [2, 4, 6, 0]]
    assert [trial.number for trial in search.steps[-1].ranking] == [2, 4, 6, 0]
    assert search.steps[-1].values == (0.9, 0.8, 0.7, 0.1)
    assert search.best.number == 2
    assert not search.stopped


def test_the_settings_to_beat_are_the_best_of_equals() -> None:
    assert halve(trials(3), plan_rungs(3, 3, 600), Figures([5, 5, 5]), EXACT).best.number == 0


def test_less_is_better_for_a_loss() -> None:
    assert halve(trials(3), plan_rungs(3, 3, 600), Figures([5, 7, 9]), HAMMING).best.number == 2
    assert halve(trials(3), plan_rungs(3, 3, 600), Figures([5, 7, 9]), HAMMING).steps[-1].values[0] == pytest.approx(
        0.1
    )


def test_work_grows_by_documents_then_by_folds() -> None:
    assert plan_rungs(27, 3, 6000) == [Rung(27, pytest.approx(1 / 3), 1), Rung(9, 1.0, 1), Rung(3, 1.0, 3)]
    assert [rung.folds for rung in plan_rungs(27, 9, 6000)] == [1, 3, 9]
    # 5 folds / 9 of one: 5/9 of its documents; 5 / 3 = 1.67 folds: two
    assert plan_rungs(27, 5, 6000) == [Rung(27, pytest.approx(5 / 9), 1), Rung(9, 1.0, 2), Rung(3, 1.0, 5)]
    assert plan_rungs(10, 3, 6000)[0].trials == 10
    assert [rung.trials for rung in plan_rungs(10, 3, 6000)] == [10, 4, 2]


def test_few_documents_are_not_divided_further() -> None:
    assert plan_rungs(27, 3, 250)[0].share == 200 / 250
    assert plan_rungs(27, 3, 100)[0].share == 1


def test_a_rung_interrupted_by_the_deadline_does_not_count() -> None:
    run = Figures([1, 5, 9, 4, 8, 2, 7, 6, 3], stop_at=11)
    search = halve(trials(9), plan_rungs(9, 3, 6000), run, EXACT)
    assert search.stopped
    assert len(search.steps) == 1
    assert search.best.number == 2


def test_an_interrupted_first_rung_counts_if_the_settings_to_beat_were_run() -> None:
    run = Figures([1, 5, 9, 4, 8, 2, 7, 6, 3], stop_at=2)
    search = halve(trials(9), plan_rungs(9, 3, 6000), run, EXACT)
    assert [trial.number for trial in search.steps[0].ranking] == [1, 0]
    assert halve(trials(9), plan_rungs(9, 3, 6000), Figures([1] * 9, stop_at=0), EXACT).steps == ()


def noisy(random: np.random.Generator, Y_true: np.ndarray, error: float) -> np.ndarray:
    return np.where(random.random(Y_true.shape) < error, 1 - Y_true, Y_true)


def one_search(seed: int, errors: Sequence[float]) -> Search:
    """Settings that err at random with the given rates, all measured on the same 90 documents."""
    random = np.random.default_rng(seed)
    Y_true = (random.random((90, 4)) < 0.3).astype(np.int8)
    predictions = [document_statistics(Y_true, noisy(random, Y_true, error)) for error in errors]

    def run(left: Sequence[Trial], rung: Rung) -> Iterator[tuple[Trial, DocumentStatistics]]:
        return ((trial, predictions[trial.number]) for trial in left)

    return halve(trials(len(errors)), [Rung(len(errors), 1.0, 3)], run, find_target_metric("micro-f1"))


def test_a_gain_is_rarely_reported_if_no_setting_is_better() -> None:
    times, plain, corrected = 50, 0, 0
    for seed in range(times):
        verdict = judge(one_search(seed, [0.2] * 27), find_target_metric("micro-f1"), 27, seed)
        plain += verdict is not None and verdict.p / 27 < 0.05
        corrected += verdict is not None and verdict.shown
    allowed = times * 0.05 + 3 * math.sqrt(times * 0.05 * 0.95)
    assert corrected <= allowed
    assert plain > allowed  # the best of 27, without the correction


def test_a_real_gain_is_reported() -> None:
    verdict = judge(one_search(0, [0.3, 0.3, 0.3, 0.3, 0.1, 0.3, 0.3, 0.3, 0.3]), find_target_metric("micro-f1"), 9, 0)
    assert verdict is not None
    assert verdict.shown
    assert verdict.difference.low > 0


def test_there_is_no_verdict_if_the_settings_to_beat_are_best() -> None:
    step = Step(Rung(3, 1.0, 3), tuple(trials(3)), (0.9, 0.5, 0.5), {0: right(9), 1: right(5), 2: right(5)})
    assert judge(Search((step,), False), EXACT, 3, 0) is None


@pytest.mark.parametrize("text", ["abc", "", "2x", "-5", "0", "m2", "2 m 1"])
def test_an_invalid_time_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="90s, 2m"):
        seconds_of(text)


def test_a_deadline_is_checked_before_each_fold() -> None:
    X, Y = Csr(np.eye(8)), Csr(np.eye(2, dtype=np.int8)[np.arange(8) % 2])
    ticks = iter(range(100))
    late = Deadline(2, clock=lambda: float(next(ticks)))
    with pytest.raises(OutOfTime):
        DecidedModel(MultinomialNaiveBayes(), GlobalThreshold(), folds=4).fit(X, Y, deadline=late)
    # read when it was set, before the first two folds, and before the third, which was too late
    assert next(ticks) == 4


def test_a_deadline_ends_a_solver_between_two_epochs() -> None:
    """The labels of one fit would take far longer than the deadline; the threads of the solver stop with it."""
    random = np.random.default_rng(0)
    X, Y = Csr(random.random((300, 200))), Csr((random.random((300, 40)) < 0.5).astype(np.int8))
    late = Deadline(0.3)
    began = time.monotonic()
    inner = LinearSVM(loss="hinge", C=1e6, tol=1e-12, max_iter=10**9)
    with pytest.raises(OutOfTime):
        WeightedMember(inner).fit(X, Y, deadline=late)
    assert time.monotonic() - began < 10
