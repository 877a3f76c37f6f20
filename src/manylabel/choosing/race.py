"""A race of pipelines over the folds of a cross-validation, planned to keep a budget of time.

The plan is made of declared costs (`manylabel.catalog.method.Cost`) and of what earlier folds showed, never of the
clock: with the same documents, seed and budget the same trials are run, whatever the number of threads and the speed
of the machine.

1. Entrants run in the first fold: the default method and `svm`, ensembles of the better of the two with other methods
   and its variants (other features, the rule that is best for the metric) until two fifths of the plan are spent; then
   all other methods, by cost, until half of it is. Of methods that the user named, variants do not run yet.
2. Those that are not hopelessly behind the leader run in the other folds: the better of the first two, then the most
   promising; after each fold the hopeless are stopped. Hopeless: the leader's lead on the same documents exceeds
   `MARGIN` at the low end of its 95 % bootstrap interval. Methods that the user named are not stopped, as long as all
   their folds fit into the plan.
3. Leaders that did not do so yet run with other features, and in ensembles unless methods were named.

The plan takes three fifths of the budget, since machines differ in speed, and reading and tests take time too. If even
that is too much, the race ends at the deadline: finished trials count, and the report names the rest. Where training
the winner on all documents will take long, plan and deadline are earlier (`share_for_race`). If the time that is left
is still too short for all documents, the winner is trained on some of them (`documents_in_time`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from manylabel.catalog import DEFAULT_METHOD, find_method
from manylabel.choosing.candidates import FIRST, Entrant, Option, Traits, ensembles, variants
from manylabel.choosing.fold_work import FoldWork
from manylabel.choosing.trial import run_trial
from manylabel.deadline import Deadline, OutOfTime
from manylabel.estimator import Csr
from manylabel.evaluation.bootstrap import paired_difference
from manylabel.evaluation.statistics import DocumentStatistics
from manylabel.metrics.targets import TargetMetric
from manylabel.progress import interim_figure, stage
from manylabel.wording import counted

MARGIN = 0.01
PLANNED = 0.6
"""The share of the budget that the plan may take, in nominal seconds."""
LEADER, FIRST_FOLD, ALL_FOLDS = 0.4, 0.5, 0.9
"""The shares of the plan that may be spent when the first fold of the leader and of what is made of it is over, of all
others, and when all folds are; the rest is for 3."""
LEADERS = 2
"""How many leading methods are tried with other features."""
LONGEST = 0.15
"""The largest share of the plan that one trial may take; a longer one could not be stopped in time and is not run."""
QUICK_RESAMPLES = 200
FOR_RACE = 0.8
"""The share of the budget after which the clock ends the race; the rest is for tests and for training the winner."""
LEAST_FOR_RACE = 0.5
"""That share where training takes long."""
TRAINING = 1.5
"""The time of training divided by that of a trial on the same documents: six fits instead of four."""
SURE = 0.5
"""The share of the time that is left which training the winner is planned to take."""


@dataclass(slots=True, eq=False)
class Runner:
    """A pipeline in the race: the statistics of its predictions per fold, its times and its size."""

    option: Option
    entrant: Entrant
    folds: dict[int, DocumentStatistics] = field(default_factory=dict)
    fit_seconds: list[float] = field(default_factory=list)
    predict_seconds: list[float] = field(default_factory=list)
    size: int = 0

    def pooled(self, folds: Iterable[int] | None = None) -> DocumentStatistics:
        """The statistics of the documents of some folds (default: all it ran), in the order of the folds."""
        return DocumentStatistics.concatenate(self.folds[number] for number in sorted(folds or self.folds))

    def gain(self, metric: TargetMetric, folds: Iterable[int] | None = None) -> float:
        """The metric's value on these folds, negated for a loss: the greater, the better."""
        return metric.gain(self.pooled(folds).value(metric))


@dataclass(slots=True, eq=False)
class Race:
    """The result of a race: what ran, and what was left out."""

    metric: TargetMetric
    n_folds: int
    """The number of folds, of all repetitions together."""
    repeats: int = 1
    runners: list[Runner] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    """Entrants that did not run in all folds, and why."""
    nominal_seconds: float = 0.0
    clock_ended_it: bool = False

    @property
    def finishers(self) -> list[Runner]:
        """The pipelines that ran in the most folds (in all, unless the race ended at the deadline), best first."""
        most = max((len(runner.folds) for runner in self.runners), default=0)
        done = [runner for runner in self.runners if len(runner.folds) == most > 0]
        return sorted(done, key=lambda one: (-one.gain(self.metric), one.entrant.seconds, one.option.name))

    def best_value(self, entrant: Entrant) -> float:
        """The metric of an entrant's best pipeline on the folds it ran."""
        return self.metric.gain(max(runner.gain(self.metric) for runner in self.runners_of(entrant)))

    def runners_of(self, entrant: Entrant) -> list[Runner]:
        """The pipelines of an entrant; its name identifies it."""
        return [runner for runner in self.runners if runner.entrant.name == entrant.name]

    def best_of(self, entrant: Entrant, folds: Iterable[int] | None = None) -> Runner:
        """The entrant's best pipeline; the first of equals."""
        return max(self.runners_of(entrant), key=lambda one: one.gain(self.metric, folds))


def share_for_race(whole: Traits, budget: float) -> float:
    """The share of a budget that the race may take, so that the default method can be trained on `whole` in the rest.

    >>> share_for_race(Traits(1000, 50_000, 10, 20), 60.0), share_for_race(Traits(10**5, 10**7, 10**4, 20), 60.0)
    (0.8, 0.5)
    """
    cost = find_method(DEFAULT_METHOD).cost.seconds(whole.documents, whole.nonzeros, whole.labels)
    return min(FOR_RACE, max(LEAST_FOR_RACE, 1 - TRAINING * cost / budget))


@dataclass(frozen=True, slots=True)
class Taken:
    """The seconds that a method took to be trained on some documents with some labels."""

    documents: float
    labels: int
    seconds: float

    @classmethod
    def by_trials(cls, winner: Runner, compared: Traits, n_folds: int) -> Taken:
        """What training takes on as many documents as a trial learned from, by the time of the trials."""
        documents = (1 - 1 / n_folds) * compared.documents
        return cls(documents, compared.labels, TRAINING * float(np.mean(winner.fit_seconds)))


def documents_in_time(method: str, taken: Taken, whole: Traits, seconds: float) -> int:
    """On how many of the documents of `whole` a method can be trained in the seconds that are left; at least one.

    The time is that of an earlier training, times what the declared cost says of the other number of documents. Labels
    are taken to grow with a power of the number of documents.
    """
    cost, more_labels = find_method(method).cost, max(0.0, math.log(whole.labels / taken.labels))
    growth = more_labels / math.log(max(whole.documents / taken.documents, math.e))

    def nominal(number: float) -> float:
        labels = taken.labels * (number / taken.documents) ** growth
        return cost.seconds(round(number), round(number / whole.documents * whole.nonzeros), round(labels))

    allowed = SURE * seconds / taken.seconds * nominal(taken.documents)
    low, high = 1, whole.documents
    if nominal(high) <= allowed:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if nominal(middle) <= allowed else (low, middle)
    return low


class RaceRunner:
    """Runs a race on the documents of `work`, within the budget and the deadline."""

    def __init__(
        self,
        work: FoldWork,
        traits: Traits,
        metric: TargetMetric,
        budget: float | None,
        deadline: Deadline,
        repeats: int = 1,
    ) -> None:
        self.work = work
        self.traits = traits
        self.metric = metric
        self.plan = float("inf") if budget is None else PLANNED * budget
        self.deadline = deadline
        self.race = Race(metric, len(work.splits), repeats)
        self.protected: set[str] = set()
        """The names of entrants that are neither left out nor stopped."""
        self.varied: set[str] = set()
        """The methods whose variants ran."""

    def run(self, field_: Sequence[Entrant], *, named: bool = False) -> Race:
        """Run the whole race; entrants that were `named` by the user run in all folds, if the plan has room."""
        if named:
            self._protect(field_)
        try:
            first = [entrant for entrant in field_ if named or entrant.method in FIRST]
            least = min(entrant.seconds for entrant in field_)
            running = self._first_fold(first, FIRST_FOLD if named else LEADER, least)
            to_beat = [] if named else self._in_order(running)[:1]
            running += self._first_fold(self._around(to_beat), LEADER, least)
            running += self._first_fold([entrant for entrant in field_ if entrant not in first], FIRST_FOLD, least)
            self._other_folds(running, to_beat)
            self._variants(with_ensembles=not named)
        except OutOfTime:
            self.race.clock_ended_it = True
            ran = {runner.entrant.name for runner in self.race.runners}
            for entrant in field_:
                if entrant.name not in ran:
                    self.race.left_out.setdefault(entrant.name, "the budget ended before it")
        return self.race

    def _protect(self, field_: Sequence[Entrant]) -> None:
        """Note the entrants that run in all folds whatever the others do: the first that fit into the plan together."""
        total = 0.0
        for entrant in field_:
            seconds = self.race.n_folds * entrant.seconds
            if total + seconds <= ALL_FOLDS * self.plan:
                self.protected.add(entrant.name)
                total += seconds

    def _first_fold(self, field_: Sequence[Entrant], share: float, least: float) -> list[Entrant]:
        """Run the first fold of the entrants that fit into a share of the plan; one that takes `least` in any case."""
        ran = []
        for entrant in field_:
            too_long = entrant.seconds > LONGEST * self.plan
            too_late = self._spent_with(entrant.seconds) > share * self.plan
            if (too_long or too_late) and entrant.seconds > least and entrant.name not in self.protected:
                reason = "too long for the budget" if too_long else "no room in the budget"
                self.race.left_out[entrant.name] = f"about {entrant.seconds:.2g} s per fold, {reason}"
            elif self._trial(entrant, 0):
                ran.append(entrant)
        return ran

    def _in_order(self, running: Sequence[Entrant]) -> list[Entrant]:
        """The entrants by their figure in the first fold, best first."""
        return sorted(running, key=lambda one: -self.race.best_of(one, [0]).gain(self.metric, [0]))

    def _around(self, leaders: Sequence[Entrant]) -> list[Entrant]:
        """The ensembles and variants of leaders in the first fold; those of a method are made once."""
        found = []
        for leader in leaders:
            option = self.race.best_of(leader, [0]).option
            self.varied.add(leader.method)
            found += [*ensembles(option, self.traits, self.metric), *variants(option, self.traits, self.metric)]
        return found

    def _other_folds(self, running: Sequence[Entrant], to_beat: Sequence[Entrant]) -> None:
        """Run the other folds of the entrants that can still win and fit into the plan, those `to_beat` first."""
        order = [*to_beat, *(one for one in self._in_order(running) if one not in to_beat)]
        chosen: list[Entrant] = []
        for entrant in self._hopeful(order):
            rest = (self.race.n_folds - 1) * sum(one.seconds for one in (*chosen, entrant))
            if chosen and entrant.name not in self.protected and self._spent_with(rest) > ALL_FOLDS * self.plan:
                self.race.left_out[entrant.name] = "stopped after the first fold: no room in the budget for the others"
            else:
                chosen.append(entrant)
        self._go_on(chosen)

    def _go_on(self, chosen: Sequence[Entrant]) -> None:
        for number in range(1, self.race.n_folds):
            chosen = [entrant for entrant in self._hopeful(chosen) if self._trial(entrant, number)]

    def _variants(self, *, with_ensembles: bool) -> None:
        """Run the best methods with other features, and in ensembles, unless that was done in the first fold."""
        best: dict[str, Runner] = {}
        for runner in self.race.finishers:
            best.setdefault(runner.entrant.method, runner)
        offered: dict[str, Entrant] = {}
        for runner in [one for method, one in best.items() if method not in self.varied][:LEADERS]:
            found = variants(runner.option, self.traits, self.metric)
            found += ensembles(runner.option, self.traits, self.metric) if with_ensembles else []
            offered |= {one.name: one for one in found if not self._ran(one)}
        for entrant in offered.values():
            if self._spent_with(self.race.n_folds * entrant.seconds) > self.plan:
                self.race.left_out[entrant.name] = "no room in the budget"
            elif self._trial(entrant, 0):
                self._go_on(self._hopeful([entrant]))

    def _ran(self, entrant: Entrant) -> bool:
        """Whether all pipelines of an entrant ran already, perhaps under another name."""
        recipes = [runner.option.recipe for runner in self.race.runners]
        return all(option.recipe in recipes for option in entrant.options)

    def _hopeful(self, entrants: Sequence[Entrant]) -> list[Entrant]:
        """The entrants that are not hopelessly behind the leader."""
        left = []
        for entrant in entrants:
            if entrant.name in self.protected:
                left.append(entrant)
                continue
            runner = self.race.best_of(entrant)
            rivals = [one for one in self.race.runners if set(one.folds) >= set(runner.folds)]
            leader = max(rivals, key=lambda one: one.gain(self.metric, runner.folds))
            if leader.entrant.name != entrant.name and self._behind(leader, runner):
                done = len(runner.folds)
                if done < self.race.n_folds:
                    self.race.left_out[entrant.name] = (
                        f"stopped after {done} of {counted(self.race.n_folds, 'fold')}: behind"
                    )
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
        """Run an entrant in a fold; False if the method failed."""
        race, metric = self.race, self.metric
        race.nominal_seconds += entrant.seconds
        rules = {option.name: option.recipe.decision for option in entrant.options}
        try:
            with stage(f"{entrant.name}, fold {number + 1} of {race.n_folds}"):
                found = run_trial(
                    self.work, entrant.recipe, rules, number, with_ranks=metric.k is not None, deadline=self.deadline
                )
        except (ValueError, ArithmeticError) as error:  # a method that cannot learn from these documents is out
            race.left_out[entrant.name] = f"could not learn from fold {number + 1}: {error}"
            race.runners = [runner for runner in race.runners if runner.entrant.name != entrant.name]
            return False
        tested = self.work.splits[number][1]
        Y_true = Csr(self.work.Y[tested])
        documents = None if race.repeats == 1 else np.asarray(tested, dtype=np.int64)
        if number == 0:
            race.runners += [Runner(option, entrant) for option in entrant.options]
        for runner in race.runners_of(entrant):
            predicted = found[runner.option.name]
            runner.folds[number] = DocumentStatistics(Y_true, predicted.Y_pred, predicted.ranks, documents)
            runner.fit_seconds.append(predicted.fit_seconds)
            runner.predict_seconds.append(predicted.predict_seconds / max(Y_true.shape[0], 1))
            runner.size = max(runner.size, predicted.size)
        interim_figure(entrant.name, lambda: race.best_value(entrant), len(race.runners_of(entrant)[0].folds))
        return True
