"""A race of pipelines over the folds of a cross-validation, planned to keep a budget of time.

The plan is made of declared costs (`manylabel.catalog.method.Cost`) and of what earlier folds showed, never of the
clock: with the same documents, seed and budget the same trials are run, however many threads there are and however
fast the machine is.

1. Entrants run in the first fold as long as two fifths of the plan last: the default method, `svm`, then by cost.
2. Those that are not hopelessly behind the leader run in the other folds, the most promising first; after each fold the
   hopeless are stopped. Hopeless: the leader's lead on the same documents exceeds `MARGIN` at the low end of its 95 %
   bootstrap interval.
3. The leaders run with other features and with the rule that is best for the metric.

The plan takes three fifths of the budget, for machines differ, and reading and tests take time too. Where even that
is not enough the clock ends the race at the deadline: what was finished counts, and it is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from manylabel.choosing.candidates import Entrant, Option, Traits, variants
from manylabel.choosing.fold_work import FoldWork
from manylabel.choosing.trial import run_trial
from manylabel.deadline import Deadline, OutOfTime
from manylabel.estimator import Csr
from manylabel.evaluation.bootstrap import paired_difference
from manylabel.evaluation.statistics import DocumentStatistics
from manylabel.metrics.targets import TargetMetric
from manylabel.progress import stage

MARGIN = 0.01
PLANNED = 0.6
"""The share of the budget that the plan may take, in nominal seconds."""
FIRST_FOLD, ALL_FOLDS = 0.4, 0.9
"""The shares of the plan that may be spent when the first fold is over, and when all folds are; the rest is for 3."""
LEADERS = 2
"""How many leading methods are tried with other features."""
LONGEST = 0.15
"""A single trial may take so much of the plan, or else it is not run: the clock could not stop it in time."""
QUICK_RESAMPLES = 200


@dataclass(slots=True, eq=False)
class Runner:
    """A pipeline in the race and what it has done so far: its answers, fold by fold, and what they cost."""

    option: Option
    entrant: Entrant
    folds: dict[int, DocumentStatistics] = field(default_factory=dict)
    fit_seconds: list[float] = field(default_factory=list)
    answer_seconds: list[float] = field(default_factory=list)
    size: int = 0

    def pooled(self, folds: Iterable[int] | None = None) -> DocumentStatistics:
        """The answers to the documents of some folds (default: all it ran), one fold after the other."""
        return DocumentStatistics.concatenate(self.folds[number] for number in sorted(folds or self.folds))

    def gain(self, metric: TargetMetric, folds: Iterable[int] | None = None) -> float:
        """The metric's value, greater the better."""
        return metric.gain(self.pooled(folds).value(metric))


@dataclass(slots=True, eq=False)
class Race:
    """How a race went."""

    metric: TargetMetric
    n_folds: int
    runners: list[Runner] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    """What was not run, or not to the end, and why."""
    nominal_seconds: float = 0.0
    clock_ended_it: bool = False

    @property
    def finishers(self) -> list[Runner]:
        """Those with the most folds behind them (all folds, unless the clock ended the race), best first."""
        most = max((len(runner.folds) for runner in self.runners), default=0)
        done = [runner for runner in self.runners if len(runner.folds) == most > 0]
        return sorted(done, key=lambda one: (-one.gain(self.metric), one.entrant.seconds, one.option.name))

    def best_of(self, entrant: Entrant, folds: Iterable[int] | None = None) -> Runner:
        """An entrant's best pipeline; the first of equals."""
        own = [runner for runner in self.runners if runner.entrant is entrant]
        return max(own, key=lambda one: one.gain(self.metric, folds))


class Steward:
    """Runs the race on some documents."""

    def __init__(
        self, work: FoldWork, traits: Traits, metric: TargetMetric, budget: float | None, deadline: Deadline
    ) -> None:
        self.work = work
        self.traits = traits
        self.metric = metric
        self.plan = float("inf") if budget is None else PLANNED * budget
        self.deadline = deadline
        self.race = Race(metric, len(work.splits))

    def run(self, field_: Sequence[Entrant]) -> Race:
        """The whole race."""
        try:
            running = self._first_fold(field_)
            self._other_folds(running)
            self._variants()
        except OutOfTime:
            self.race.clock_ended_it = True
            ran = {runner.entrant.name for runner in self.race.runners}
            for entrant in field_:
                if entrant.name not in ran:
                    self.race.left_out.setdefault(entrant.name, "the time was over")
        return self.race

    def _first_fold(self, field_: Sequence[Entrant]) -> list[Entrant]:
        """The first fold for all that fit into the plan, and for the cheapest in any case."""
        ran = []
        least = min(entrant.seconds for entrant in field_)
        for entrant in field_:
            too_long = entrant.seconds > LONGEST * self.plan
            too_late = self._spent_with(entrant.seconds) > FIRST_FOLD * self.plan
            if (too_long or too_late) and entrant.seconds > least:
                self.race.left_out[entrant.name] = f"about {entrant.seconds:.2g} s a fold, too long for the budget"
            elif self._trial(entrant, 0):
                ran.append(entrant)
        return ran

    def _other_folds(self, running: Sequence[Entrant]) -> None:
        """The other folds for those that still may win and fit into the plan."""
        order = sorted(running, key=lambda one: -self.race.best_of(one, [0]).gain(self.metric, [0]))
        chosen: list[Entrant] = []
        for entrant in self._hopeful(order):
            rest = (self.race.n_folds - 1) * sum(one.seconds for one in (*chosen, entrant))
            if chosen and self._spent_with(rest) > ALL_FOLDS * self.plan:
                self.race.left_out[entrant.name] = "stopped after the first fold: no room in the budget for the others"
            else:
                chosen.append(entrant)
        self._go_on(chosen)

    def _go_on(self, chosen: Sequence[Entrant]) -> None:
        for number in range(1, self.race.n_folds):
            chosen = [entrant for entrant in self._hopeful(chosen) if self._trial(entrant, number)]

    def _variants(self) -> None:
        """Other features for the best methods."""
        best: dict[str, Runner] = {}
        for runner in self.race.finishers:
            best.setdefault(runner.entrant.method, runner)
        offered = [
            entrant
            for runner in list(best.values())[:LEADERS]
            for entrant in variants(runner.option, self.traits, self.metric, runner.entrant.seconds)
        ]
        for entrant in offered:
            if self._spent_with(self.race.n_folds * entrant.seconds) > self.plan:
                self.race.left_out[entrant.name] = "no room in the budget"
            elif self._trial(entrant, 0):
                self._go_on(self._hopeful([entrant]))

    def _hopeful(self, entrants: Sequence[Entrant]) -> list[Entrant]:
        """Those of the entrants that are not hopelessly behind the leader."""
        left = []
        for entrant in entrants:
            runner = self.race.best_of(entrant)
            rivals = [one for one in self.race.runners if set(one.folds) >= set(runner.folds)]
            leader = max(rivals, key=lambda one: one.gain(self.metric, runner.folds))
            if leader.entrant is not entrant and self._behind(leader, runner):
                done = len(runner.folds)
                if done < self.race.n_folds:
                    self.race.left_out[entrant.name] = f"stopped after {done} of {self.race.n_folds} folds: behind"
            else:
                left.append(entrant)
        return left

    def _behind(self, leader: Runner, runner: Runner) -> bool:
        first, second = leader.pooled(runner.folds), runner.pooled()
        lead = paired_difference(first, second, self.metric, self.work.seed, QUICK_RESAMPLES)
        return (lead.low if self.metric.greater_is_better else -lead.high) > MARGIN

    def _spent_with(self, more: float) -> float:
        return self.race.nominal_seconds + more

    def _trial(self, entrant: Entrant, number: int) -> bool:
        """Run an entrant in a fold; whether it could."""
        race, metric = self.race, self.metric
        self.deadline.check()
        race.nominal_seconds += entrant.seconds
        rules = {option.name: option.recipe.decision for option in entrant.options}
        try:
            with stage(f"{entrant.name}, fold {number + 1} of {race.n_folds}"):
                found = run_trial(
                    self.work, entrant.recipe, rules, number, with_ranks=metric.k is not None, deadline=self.deadline
                )
        except (ValueError, ArithmeticError) as error:  # a method that cannot learn from these documents is out
            race.left_out[entrant.name] = f"could not learn from fold {number + 1}: {error}"
            race.runners = [runner for runner in race.runners if runner.entrant is not entrant]
            return False
        truth = Csr(self.work.Y[self.work.splits[number][1]])
        if number == 0:
            race.runners += [Runner(option, entrant) for option in entrant.options]
        for runner in race.runners:
            if runner.entrant is entrant:
                answers = found[runner.option.name]
                runner.folds[number] = DocumentStatistics(truth, answers.given, answers.ranks)
                runner.fit_seconds.append(answers.fit_seconds)
                runner.answer_seconds.append(answers.predict_seconds / max(truth.shape[0], 1))
                runner.size = max(runner.size, answers.size)
        return True
