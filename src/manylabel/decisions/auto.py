"""The default method: a linear model whose cost is chosen for a metric, combined with others if that helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, ClassVar

from manylabel.decisions.base import DecisionRule
from manylabel.decisions.combined import combine, name_members
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.label_names import with_label_names
from manylabel.decisions.scored import Scored
from manylabel.decisions.search_sample import is_many, most_searched, searched_scores, spaced_labels
from manylabel.decisions.shown import Probabilities
from manylabel.decisions.vector_trial import VectorTrial
from manylabel.decisions.view_trials import ViewTrials
from manylabel.estimator import Csr, unfitted_copy
from manylabel.features.views import VIEWS
from manylabel.models.base import MultiLabelModel
from manylabel.models.out_of_fold import OutOfFold
from manylabel.parameters import AnyOf, Constraint, Number, OneOf, Satisfies
from manylabel.strategies.weighted_member import WeightedMember, reads_vectors

COST = Number(low=0, open_low=True)
GAIN = attrgetter("gain")
NEAR = 0.005
"""How much worse than one model an average may seem, in units of the metric, and still be chosen, with vectors."""
NEAR_STACK = 0.0025
"""How much worse than an average a stack may seem, in units of the metric, and still be chosen: it learned the weights,
and its scores of new documents are the better ones at equal values."""
NEAR_STACK_OF_FEW = 0.02
"""The same where documents are fewer than `LEAST_DOCUMENTS`, and there are vectors: chance decides which model seems
the best one of few documents, and a stack depends least on it."""
MORE_WORK = 3.0
"""How many times as much work the other models may take where a further view was kept: a stack gains from them."""
LEAST_DOCUMENTS = 1_000
"""The documents from which on further views are tried: with fewer, chance decides which of them gain."""
LEAST_GAIN = 0.005
"""How much a further view or a stack must gain, in units of the metric, on out-of-fold scores; a view half of it in the
first fold."""
LEAST_GAIN_OF_NAMES = 0.0025
"""The same of label names, which have hardly more to learn."""
LEAST_GAIN_WITH_VECTORS = 0.0
"""The same where there are vectors: the stack weighs the view, and knows names of labels, which no other model does."""


class AutoModel(DecidedModel):
    """A model whose cost `C`, further views, combination with others and decision rule are chosen by one metric.

    1. `model` is scored out of fold with each of `costs` in turn, as long as each cost improves the metric over the one
       before. Where there are more than 2²² scores of documents × labels, this and step 2 are done with some of the
       labels (`search_sample`), and on one fold if that has at least 4,096 documents; views are tried with the cost
       before the chosen one, too. The chosen model is then fitted to all documents and labels, and scored out of fold
       by copies that start from its solution, with its `trial_settings`.
       Where X has vectors of an encoder behind the terms, this is done with the terms alone, and with the vectors alone
       for steps 3 and 4; where nothing is stacked, with terms and vectors side by side, and the better one is kept.
       On larger data vectors are first tried in one fold, in a stack with the terms (`VectorTrial`). If they gain less
       than a quarter of a point there, or if no model that reads them is chosen in the end, the search goes on from the
       models of the terms as if X had no vectors; the model then reads X without its last columns.
    2. From 1,000 documents on, further `views` of texts are tried, each beside the terms and those chosen before it:
       runs of characters, word pairs (`manylabel.features.views`). One that gains half a point of the metric is kept.
       On larger data a view that gains less than half of that in the first fold is not tried in the others. Where X has
       vectors, the first view alone is tried, and kept unless it is worse: the stack of step 4 weighs it.
    3. On small data (terms in documents × labels ≤ `most_work`; on larger data they would take much longer than
       `model`) the `others` are scored out of fold too. The mean of the calibrated log-odds of all models (`Ensemble`,
       average) is chosen if it improves the metric further. Where further views were tried, so is the mean of the
       model without them, that with those kept (else with the first one) and the `others`; the better of both means
       counts. Models of counts take no part where X has negative values.
       Where a further view was kept, they may take three times that work, for step 4.
    4. From 1,000 documents on, with `stacked`, where a further view was kept or X has vectors, all models that were
       scored so far are combined by a logistic regression for each label (`Ensemble`, stacked): the model with every
       cost that was tried, with each further view that was kept, the `others`, and with `label_names` the words of
       label names (`NameWords`). The stack is chosen if it gains half a point over each single model, and an average is
       no more than a quarter of a point better.
       Where X has vectors, its members are the best model of the terms, that of the vectors, that with the view, the
       `others`, and label names by words and by vectors (`NameSimilarity`), and it is chosen if it is no worse than
       each single model. Fewer documents are stacked too, unless another model is two points better.
    5. With `label_names`, where documents and labels have words in common, the words of label names are added to the
       weights of the best single model (`with_label_names`). This is chosen if it gains a quarter of a point over all
       other models.

    The metric is the value that the rule reaches on out-of-fold scores (`DecisionRule.gain`); with a rule that does not
    compare, `model` is used as it is. `C` fixes the cost.

    >>> from manylabel.decisions.best_rule import BestRule
    >>> from manylabel.models.binary_nb import BinaryNaiveBayes
    >>> from manylabel.models.linear_svm import LinearSVM
    >>> X, Y = Csr([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]] * 3), Csr([[1, 0], [0, 1], [1, 1], [0, 0]] * 3)
    >>> bayes = BinaryNaiveBayes(smoothing="laplace", unlabelled="negative")
    >>> model = AutoModel(LinearSVM(), (bayes,), BestRule("exact-match"), costs=(1.0, 0.25)).fit(X, Y)
    >>> model.choice_["settings"], model.predict(X[:2]).toarray().tolist()
    ({'C': 1.0}, [[1, 0], [0, 1]])
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        **DecidedModel.parameter_constraints,
        "others": Satisfies(
            "a list of models",
            lambda value: (
                isinstance(value, (list, tuple)) and all(isinstance(member, MultiLabelModel) for member in value)
            ),
        ),
        "costs": Satisfies(
            "a list of numbers above 0",
            lambda value: isinstance(value, (list, tuple)) and all(COST.allows(cost) for cost in value),
        ),
        "C": AnyOf(OneOf(None), COST),
        "views": Satisfies(
            "a list of views: " + ", ".join(VIEWS),
            lambda value: isinstance(value, (list, tuple)) and all(name in VIEWS for name in value),
        ),
        "stacked": OneOf(True, False),
        "label_names": OneOf(True, False),
        "most_work": Number(low=0),
        "n_jobs": AnyOf(OneOf(None, -1), Number(low=1, whole=True)),
    }

    def __init__(
        self,
        model: MultiLabelModel,
        others: Sequence[MultiLabelModel] = (),
        rule: DecisionRule | None = None,
        costs: Sequence[float] = (),
        C: float | None = None,
        views: Sequence[str] = (),
        stacked: bool = False,
        label_names: bool = False,
        most_work: float = 1e7,
        folds: int = 5,
        seed: int = 0,
        probabilities: Probabilities = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(model, rule, folds, seed, probabilities)
        self.others = others
        self.costs = costs
        self.C = C
        self.views = views
        self.stacked = stacked
        self.label_names = label_names
        self.most_work = most_work
        self.n_jobs = n_jobs

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """The facts that any of the models wants, further views, vectors of label names, and a deadline."""
        asked = {"views": bool(self.views), "name_terms": self.label_names}
        own = {"label_vectors", *(name for name, is_asked in asked.items() if is_asked)}
        return super().wants.union(own, *(model.wants for model in self.others))

    def counts_of_counts(self, counts: Csr, Y: Csr) -> dict[int, int] | None:
        """The counts of counts for the first of the models that wants them."""
        found = (model.counts_of_counts(counts, Y) for model in (self.model, *self.others))
        return next((counted for counted in found if counted is not None), None)

    @property
    def searches(self) -> bool:
        """Whether `fit` chooses the cost and the averaging: True if the rule compares by a metric."""
        return self.rule is not None and self.rule.compares

    def unfitted_model(self) -> MultiLabelModel:
        """A copy of `model` with the fixed cost, if there is one."""
        return _with_cost(self.model, self.C)

    def score_out_of_fold(self, rule: DecisionRule | None, Y: Csr, documents: OutOfFold) -> Scored:
        """The best of all models tried: one per cost and reading, with further views, with label names, and combined
        with the others.
        """
        if rule is None or not self.searches:
            return super().score_out_of_fold(rule, Y, documents)
        further = "vectors" if self._can_stack(Y.shape[1], documents) else "both"
        terms, *readings = self._readings("terms", further)
        tried = self._search(terms, rule, Y, documents)
        if not readings:
            return self._choose([tried], rule, Y, documents)
        trial = VectorTrial(rule, Y, documents, self._vectors)
        can_go_on = trial.can_go_on and not is_many(Y.shape)  # else views were left out of the search
        if can_go_on and further == "vectors" and trial.is_much:
            vectors = _with_cost(readings[0], self._costs()[0])
            if trial.gain_in_first_fold(max(tried, key=GAIN), vectors) < LEAST_GAIN / 2:
                return self._go_on_without_vectors(tried, trial)
        found = self._choose(
            [tried, *(self._search(model, rule, Y, documents) for model in readings)], rule, Y, documents
        )
        return found if reads_vectors(found.model) or not can_go_on else self._go_on_without_vectors(tried, trial)

    def _go_on_without_vectors(self, tried: Sequence[Scored], trial: VectorTrial) -> Scored:
        """The best of all models where X has no vectors; `tried` are those that read terms alone."""
        plain = unfitted_copy(self).set_everywhere("vectors", 0)
        terms, documents = trial.without_vectors(tried)
        found = plain._choose([terms], trial.rule, trial.Y, documents)
        return found if found.X is not None else replace(found, X=documents.X)

    def _choose(self, searched: Sequence[Sequence[Scored]], rule: DecisionRule, Y: Csr, documents: OutOfFold) -> Scored:
        """The best of all models, with further views, and combined with the others; `searched` has the models of each
        reading, one per cost.
        """
        tried, firsts = [one for models in searched for one in models], [max(models, key=GAIN) for models in searched]
        tried_before = is_many(Y.shape)  # then views were tried with some of the labels
        viewed, kept = ([], []) if tried_before else self._try_views(firsts[0], rule, Y, documents, Y.shape[1])
        terms = kept[-1] if kept else firsts[0]
        best = max((terms, *firsts), key=GAIN)  # the terms alone where vectors gain nothing
        named = with_label_names(best, rule, Y, documents)
        others = self._score_others(terms, Y, documents)
        averages = list[Scored]()
        if others:
            averages.append(self._average([terms], others, rule, Y, documents))
            if self._vectors:
                averages.append(self._average(firsts, others, rule, Y, documents))
            elif viewed:  # a view that gains little by itself may gain in an average: its model errs elsewhere
                wider = self._average([firsts[0], kept[-1] if kept else viewed[0]], others, rule, Y, documents)
                if not kept:
                    worth = dict.fromkeys(viewed[0].settings["views"], wider.gain - averages[0].gain)
                    wider = replace(wider, settings={**wider.settings, "views": worth})
                averages.append(wider)
            average = max(averages, key=GAIN)
            # With vectors several averages are compared, and by chance one of few documents seems the worse.
            if average.gain > best.gain - (NEAR if self._vectors else 0):
                best = average
        members = [*(firsts if self._vectors else tried), *kept, *others]
        stacks = self._stacks(members, rule, Y, documents) if kept or self._vectors else []
        least = max(max(map(GAIN, (*tried, *kept))) + self._least_gain, best.gain - NEAR_STACK)
        if documents.X.shape[0] < LEAST_DOCUMENTS:
            least = best.gain - NEAR_STACK_OF_FEW
        best = next((stack for stack in stacks if stack.gain >= least), best)
        if named is not None and named.gain >= best.gain + LEAST_GAIN_OF_NAMES:
            best = named
        compared = (*tried, *viewed, *averages, *stacks, *([] if named is None else [named]))
        decided = [one for scored in compared for one in scored.crossed]
        return replace(best, crossed=tuple(decided))

    @property
    def _vectors(self) -> int:
        """The number of columns of X that hold vectors."""
        return max((one.vectors for one in self.model.walk() if isinstance(one, WeightedMember)), default=0)

    @property
    def _least_gain(self) -> float:
        """How much a further view or a stack must gain."""
        return LEAST_GAIN_WITH_VECTORS if self._vectors else LEAST_GAIN

    def _readings(self, *readings: str) -> list[MultiLabelModel]:
        """The model, or where X has vectors one that reads each of these."""
        if not self._vectors:
            return [self.model]
        return [unfitted_copy(self.model).set_everywhere("reads", reads) for reads in readings]

    def _can_stack(self, n_labels: int, documents: OutOfFold) -> bool:
        """Whether models may be stacked: all documents are scored, and scores are not too many."""
        shape = documents.X.shape[0], n_labels
        return self.stacked and not is_many(shape) and shape[0] * n_labels <= documents.most_scores

    def _term_cells(self, X: Csr) -> int:
        """The number of terms in all documents."""
        return int(X.nnz - X.shape[0] * self._vectors)

    def _search(self, model: MultiLabelModel, rule: DecisionRule, Y: Csr, documents: OutOfFold) -> list[Scored]:
        """The model with each cost that was tried on all labels."""
        costs = self._costs()
        if is_many(Y.shape):
            return [self._try_many(model, costs, rule, Y, documents)]
        return self._try_costs(model, costs, rule, Y, documents)

    def _others_for(self, documents: OutOfFold) -> list[MultiLabelModel]:
        """The `others` that can learn from these documents, which may have negative values or weights."""
        X, weighted = documents.X, "sample_weight" in documents.facts
        is_counts = not X.nnz or X.data.min() >= 0
        return [
            model
            for model in self.others
            if (is_counts or not model.needs_counts) and (model.weighs_documents or not weighted)
        ]

    def _try_costs(
        self,
        model: MultiLabelModel,
        costs: Sequence[float | None],
        rule: DecisionRule,
        Y: Csr,
        documents: OutOfFold,
        trial: bool = False,
    ) -> list[Scored]:
        """The model with each of the costs, as long as each is better than the one before; `trial` is that of
        `_try_cost`.
        """
        tried = [self._try_cost(model, costs[0], rule, Y, documents, trial)]
        for cost in costs[1:]:
            tried.append(self._try_cost(model, cost, rule, Y, documents, trial))
            if not tried[-1].gain > tried[-2].gain:
                break
        return tried

    def _try_many(
        self, model: MultiLabelModel, costs: Sequence[float | None], rule: DecisionRule, Y: Csr, documents: OutOfFold
    ) -> Scored:
        """The model with the cost and the further views that are best for some of the labels, fitted to all of them,
        then scored.
        """
        settings, X = self._settings(model, costs[0]), None
        if len(costs) > 1 or documents.facts.get("views") is not None:
            some = Csr(Y[:, spaced_labels(Y, most_searched(Y.shape[0]))])
            most = searched_scores(Y.shape, some.shape[1], documents.most_scores, documents.folds)
            fewer = replace(documents, most_scores=most)
            tried = self._try_costs(model, costs, rule, some, fewer, trial=True)
            place = max(range(len(tried)), key=lambda number: tried[number].gain)
            best = tried[place]
            starts = [best]
            if place:  # with more terms the cost before may be the better one
                starts.append(replace(best, model=tried[place - 1].model, settings=tried[place - 1].settings))
            views = [one for start in starts for one in self._try_views(start, rule, some, fewer, Y.shape[1])[1]]
            best = max((best, *views), key=GAIN)
            model, settings, X, documents = best.model, dict(best.settings), best.X, best.seen(documents)
        else:
            model = _with_cost(model, costs[0])
        whole, initial = documents.fit_keeping(model, Y)
        scored = Scored.out_of_fold(model, rule, Y, documents, initial is not None, initial)
        return replace(scored, settings=settings, whole=whole, X=X)

    def _costs(self) -> Sequence[float | None]:
        """The costs to try; None means the model's own."""
        has_cost = any("C" in one.parameter_names() for one in self.model.walk())
        return self.costs if self.C is None and self.costs and has_cost else (self.C,)

    def _try_cost(
        self,
        model: MultiLabelModel,
        cost: float | None,
        rule: DecisionRule,
        Y: Csr,
        documents: OutOfFold,
        trial: bool = False,
    ) -> Scored:
        """The model with one cost, its out-of-fold scores, and the rule learned on them.

        With `trial` the folds are fitted with `trial_settings`.
        """
        found = Scored.out_of_fold(_with_cost(model, cost), rule, Y, documents, trial)
        return replace(found, settings=self._settings(model, cost))

    def _settings(self, model: MultiLabelModel, cost: float | None) -> dict[str, Any]:
        """The settings that are chosen with a model: its cost unless that is fixed, and whether it reads vectors."""
        settings: dict[str, Any] = {} if cost is None or cost == self.C else {"C": float(cost)}
        if any(isinstance(one, WeightedMember) and one.reads_vectors for one in model.walk()):
            settings["vectors"] = True
        return settings

    def _try_views(
        self, first: Scored, rule: DecisionRule, Y: Csr, documents: OutOfFold, n_labels: int
    ) -> tuple[list[Scored], list[Scored]]:
        """The models with further views that were scored, and those of them that improve the metric; none with few
        documents.

        Y holds all `n_labels` labels, or some of them where there are many scores.
        """
        offered, n_documents = documents.facts.get("views"), documents.X.shape[0]
        if offered is None or n_documents < LEAST_DOCUMENTS:
            return [], []
        if self._vectors and not self._can_stack(n_labels, documents):
            return [], []
        names = self.views[:1] if self._vectors else self.views  # for the sake of time
        trials = ViewTrials(rule, Y, documents, offered, n_labels, self._least_gain, self._vectors)
        return trials.run(names, first)

    def _score_others(self, best: Scored, Y: Csr, documents: OutOfFold) -> list[Scored]:
        """The other models and their out-of-fold scores; none where they would take much longer than `model`."""
        if not self.others:  # from disk there are none, and X is not in memory
            return []
        others = self._others_for(documents)
        most = self.most_work * (MORE_WORK if best.X is not None and self.stacked else 1.0)
        is_small = self._term_cells(documents.X) * Y.shape[1] <= most
        if not is_small or len(best.rows) < documents.X.shape[0]:
            return []
        models = [unfitted_copy(other).set_everywhere("n_jobs", self.n_jobs) for other in others]
        return [Scored(model, *documents(model, Y)) for model in models]

    def _average(
        self, firsts: Sequence[Scored], others: Sequence[Scored], rule: DecisionRule, Y: Csr, documents: OutOfFold
    ) -> Scored:
        """The average of all models, and the rule learned on its out-of-fold scores."""
        found = combine([*firsts, *others], "average", rule, Y, documents, self.n_jobs)
        return replace(found, settings={**firsts[-1].settings, **firsts[0].settings, "averaged": True})

    def _stacks(self, members: Sequence[Scored], rule: DecisionRule, Y: Csr, documents: OutOfFold) -> list[Scored]:
        """The stack of models that were scored, and of label names; none with few documents, or many scores."""
        is_small = documents.X.shape[0] < LEAST_DOCUMENTS and not self._vectors
        if is_small or not self._can_stack(Y.shape[1], documents):
            return []
        first = members[0].model
        names = name_members(first, documents) if isinstance(first, WeightedMember) and self.label_names else []
        members = [*members, *(Scored(name, *documents(name, Y)) for name in names)]
        found = combine(members, "stacked", rule, Y, documents, self.n_jobs)
        settings = {name: value for one in members for name, value in one.settings.items() if name != "C"}
        return [replace(found, settings={**settings, "stacked": len(members)})]


def _with_cost(model: MultiLabelModel, cost: float | None) -> MultiLabelModel:
    copied = unfitted_copy(model)
    return copied if cost is None else copied.set_everywhere("C", float(cost))
