"""The leaderboard of a race: the methods by figure, their distances from the winner, and significance tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from manylabel.choosing.race import Race, Runner
from manylabel.estimator import Floats
from manylabel.evaluation.bootstrap import Difference, Interval, interval, paired_difference
from manylabel.evaluation.paired_tests import (
    holm,
    mcnemar_exact_match,
    mcnemar_labels,
    permutation_test,
    sign_test_labels,
)
from manylabel.evaluation.repeated_splits import repeated_test
from manylabel.metrics.targets import TargetMetric
from manylabel.progress import track
from manylabel.reports.choosing_records import CostRow, Discordant, DiscordantLabel, LeaderboardRow, RunnerUp, Signs

LEVEL = 0.05
TESTED = 12
"""How many leading methods are tested against the winner; more tests would cost time and, corrected, power."""


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """A method's best rule on one kind of terms: its figure and its difference from the winner, over the folds it ran.

    `p` is that of the permutation test, corrected by Holm over all tests; None if it was not tested.
    """

    runner: Runner
    figure: Interval
    difference: Difference | None
    p: float | None
    p_repeated: float | None = None
    """The p of the test over repeated folds, corrected in the same way; None where folds were not repeated."""

    @property
    def level_with_winner(self) -> bool:
        """Whether no significant difference from the winner was found."""
        return self.difference is None or (self.p is not None and self.p >= LEVEL)

    def row(self, reason: str | None = None) -> LeaderboardRow:
        """The row of the leaderboard; `reason` tells why it was stopped."""
        option, figure = self.runner.option, self.figure
        return LeaderboardRow(
            method=option.method,
            features=option.features,
            rule=option.rule,
            value=figure.value,
            low=figure.low,
            high=figure.high,
            folds=len(self.runner.folds),
            difference=self.difference,
            p=self.p,
            p_repeated=self.p_repeated,
            no_difference_shown=self.level_with_winner,
            reason=reason,
            recipe=option.recipe.as_dict(),
        )

    def cost(self, on_front: bool) -> CostRow:
        """The row of the table of times and sizes; `on_front` if no other method is better in everything."""
        runner = self.runner
        return CostRow(
            name=runner.option.name,
            value=self.figure.value,
            train_seconds=float(np.mean(runner.fit_seconds)),
            seconds_per_document=float(np.mean(runner.predict_seconds)),
            bytes=runner.size,
            on_front=on_front,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Leaderboard:
    """The pipelines that ran in all folds, best first, and those that were stopped earlier."""

    metric: TargetMetric
    finishers: list[Standing]
    stopped: list[Standing]

    @property
    def winner(self) -> Runner:
        """The pipeline with the best figure over all folds."""
        return self.finishers[0].runner


def leaderboard(race: Race, seed: int) -> Leaderboard:
    """The leaderboard: each method's best rule per kind of terms, its interval and its difference from the winner."""
    metric = race.metric
    done = _best_of_each(race.finishers)
    winner = done[0]
    finished = {runner.entrant.name for runner in race.finishers}
    others = [race.best_of(one) for one in {r.entrant.name: r.entrant for r in race.runners}.values()]
    behind = sorted((one for one in others if one.entrant.name not in finished), key=lambda one: -one.gain(metric))
    tested = done[1 : TESTED + 1]
    raw = [
        permutation_test(winner.pooled(), one.pooled(), metric, seed).p for one in track("Testing differences", tested)
    ]
    corrected: list[float | None] = [*holm(raw).tolist(), *[None] * (len(done) - 1 - len(tested))] if raw else []
    repeated = _over_repetitions(race, winner, done[1:])
    others_done = [
        replace(_standing(one, winner, metric, seed, p), p_repeated=p_repeated)
        for one, p, p_repeated in zip(done[1:], corrected, repeated, strict=True)
    ]
    return Leaderboard(
        metric,
        [Standing(winner, interval(winner.pooled(), metric, seed), None, None), *others_done],
        [_standing(one, winner, metric, seed, None) for one in behind],
    )


def _over_repetitions(race: Race, winner: Runner, others: Sequence[Runner]) -> list[float | None]:
    """The p of each pipeline against the winner over repeated folds, corrected by Holm; None without repetitions."""
    numbers = range(race.n_folds)
    if race.repeats == 1 or not others or set(winner.folds) != set(numbers):
        return [None] * len(others)
    values = [[one.folds[number].value(race.metric) for number in numbers] for one in (winner, *others)]
    best, *rest = np.array(values).reshape(len(values), race.repeats, -1)
    corrected: list[float | None] = holm([repeated_test(best - one).p for one in rest]).tolist()
    return corrected


def _standing(runner: Runner, winner: Runner, metric: TargetMetric, seed: int, p: float | None) -> Standing:
    folds = set(runner.folds) & set(winner.folds)
    difference = paired_difference(runner.pooled(folds), winner.pooled(folds), metric, seed)
    return Standing(runner, interval(runner.pooled(), metric, seed), difference, p)


def _best_of_each(runners: Sequence[Runner]) -> list[Runner]:
    """The first pipeline of every method and kind of terms, in the order of `runners`."""
    found: dict[tuple[str, str], Runner] = {}
    for runner in runners:
        found.setdefault((runner.entrant.method, runner.entrant.features), runner)
    return list(found.values())


def against_runner_up(board: Leaderboard, label_names: Sequence[str], folds: Sequence[int]) -> RunnerUp | None:
    """The winner against the next method: McNemar's test of label sets and of labels, sign test of F1 per label.

    `folds` are those of one repetition, in which every document is tested once.
    `labels` names those whose decisions differ by McNemar's exact test, corrected by Holm over all labels.
    """
    rivals = [one.runner for one in board.finishers[1:] if one.runner.option.method != board.winner.option.method]
    if not rivals:
        return None
    ran = [number for number in folds if number in board.winner.folds]
    first, second = board.winner.pooled(ran), rivals[0].pooled(ran)
    sets, signs, labels = mcnemar_exact_match(first, second), sign_test_labels(first, second), []
    tests = mcnemar_labels(first, second)
    for name, test, p in zip(label_names, tests, holm([test.p for test in tests]).tolist(), strict=True):
        if p < LEVEL:
            labels.append(DiscordantLabel(test.first_only, test.second_only, p, name))
    return RunnerUp(
        rivals[0].option.name,
        Discordant(sets.first_only, sets.second_only, sets.p),
        Signs(signs.wins, signs.losses, signs.ties, signs.p),
        labels,
    )


def pareto_front(standings: Sequence[Standing], metric: TargetMetric) -> list[bool]:
    """Whether each standing is on the Pareto front: no other is better in quality, times and size at once."""
    table = np.array([_costs(one, metric) for one in standings])
    return [not any(_beats(other, one) for other in table) for one in table]


def _costs(standing: Standing, metric: TargetMetric) -> list[float]:
    runner = standing.runner
    times = float(np.mean(runner.fit_seconds)), float(np.mean(runner.predict_seconds))
    return [-metric.gain(standing.figure.value), *times, float(runner.size)]


def _beats(one: Floats, other: Floats) -> bool:
    return bool((one <= other).all() and (one < other).any())
