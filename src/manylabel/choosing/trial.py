"""One trial: a model learns in one fold, and several decision rules answer from the same scores."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.choosing.fold_work import FoldData, FoldWork
from manylabel.decisions.base import DecisionRule
from manylabel.decisions.decided import DecidedModel
from manylabel.estimator import Csr, Estimator, Floats
from manylabel.metrics import LabelRanks, label_ranks
from manylabel.models.base import MultiLabelModel, row_batches
from manylabel.models.out_of_fold import Fit, fit_anew, out_of_fold_scores
from manylabel.progress import stage
from manylabel.recipe import Recipe

INNER_FOLDS = 3
"""Parts of the training documents on which decision rules are learned in a trial; a final model takes five."""

Rules = Mapping[str, Mapping[str, Any]]
"""Decision rules by any name: each the [decision] section of a recipe."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What one model and one rule answered to the tested documents of a fold.

    `given` is documents × all labels, 0/1; `ranks` where the true labels stand by the scores, if that was asked for.
    `fit_seconds` includes the out-of-fold scores and the rule; `size` is what was learned, in bytes.
    """

    given: Csr
    ranks: LabelRanks | None
    fit_seconds: float
    predict_seconds: float
    size: int


def run_trial(
    work: FoldWork,
    recipe: Recipe,
    rules: Rules,
    number: int,
    *,
    inner_folds: int = INNER_FOLDS,
    with_ranks: bool = False,
    fit: Fit = fit_anew,
) -> dict[str, Answers]:
    """The answers of every rule in fold `number`; the recipe's own [decision] is not looked at.

    The model learns once from all training documents and, where a rule learns, once more in each inner fold; all rules
    learn from these out-of-fold scores. A rule that has a say in how the model is fitted gets a model of its own. What
    comes out is what `TextClassifier` with the same recipe, seed and number of folds would answer. `fit` makes the
    fitted models that are shared.
    """
    fold = work.fold(recipe, number)
    model, options = _ready(work, recipe, fold)
    built = {name: Recipe.of(recipe.method, {"decision": decision}).build_rule() for name, decision in rules.items()}
    apart = {name: rule for name, rule in built.items() if rule and _wants_its_own_model(rule, model, fold)}
    found = {
        name: _run_apart(DecidedModel(model, rule, inner_folds, work.seed), fold, options, with_ranks)
        for name, rule in apart.items()
    }
    shared = {name: rule for name, rule in built.items() if name not in apart}
    if shared:
        found |= _run_together(model, shared, fold, options, inner_folds, work.seed, with_ranks, fit)
    return {name: found[name] for name in rules}


def _wants_its_own_model(rule: DecisionRule, model: MultiLabelModel, fold: FoldData) -> bool:
    """Whether the rule has a say in how the model is fitted: which settings it has, which documents it may see."""
    return bool(rule.held_out_share) or sum(map(len, rule.model_settings(model, fold.X, fold.Y))) > 1


def _run_apart(decided: DecidedModel, fold: FoldData, options: Mapping[str, Any], with_ranks: bool) -> Answers:
    """The answers of a model and a rule that cannot share their work with others."""
    began = time.perf_counter()
    with stage("Learning"):
        decided.fit(fold.X, fold.Y, **options)
    learned = time.perf_counter() - began
    with stage("Answering"):
        given, ranks, seconds = _answer(decided.model_, {"": decided.rule_}, fold, with_ranks)
    return Answers(given[""], ranks, learned, seconds[""], learned_bytes(decided))


def _run_together(
    model: MultiLabelModel,
    rules: Mapping[str, DecisionRule | None],
    fold: FoldData,
    options: Mapping[str, Any],
    inner_folds: int,
    seed: int,
    with_ranks: bool,
    fit: Fit,
) -> dict[str, Answers]:
    """The answers of rules that read the scores of one model."""
    began = time.perf_counter()
    with stage("Learning"):
        learned, rule_seconds = _learn_rules(rules, model, fold, options, inner_folds, seed, fit)
        fitted = fit(model, fold.X, fold.Y, options)
    shared = time.perf_counter() - began - sum(rule_seconds.values())
    with stage("Answering"):
        given, ranks, seconds = _answer(fitted, learned, fold, with_ranks)
    return {
        name: Answers(
            given[name],
            ranks,
            shared + rule_seconds[name],
            seconds[name],
            learned_bytes(fitted) + (0 if (rule := learned[name]) is None else learned_bytes(rule)),
        )
        for name in rules
    }


def _ready(work: FoldWork, recipe: Recipe, fold: FoldData) -> tuple[MultiLabelModel, dict[str, Any]]:
    model = recipe.build_model()
    threaded = [name for name in model.get_params() if name.rpartition("__")[2] == "n_jobs"]
    model.set_params(**dict.fromkeys(threaded, work.n_jobs))
    return model, {name: fact for name, fact in fold.facts.items() if name in model.wants}


def _learn_rules(
    rules: Mapping[str, DecisionRule | None],
    model: MultiLabelModel,
    fold: FoldData,
    options: Mapping[str, Any],
    inner_folds: int,
    seed: int,
    fit: Fit,
) -> tuple[dict[str, DecisionRule | None], dict[str, float]]:
    """The fitted rules, None for the model's own, and the seconds each took to learn."""
    scores, truth = np.zeros((0, fold.Y.shape[1])), Csr(fold.Y[:0])
    if any(rule is not None and rule.learns for rule in rules.values()):
        scores, rows = out_of_fold_scores(model, fold.X, fold.Y, inner_folds, seed, options=options, fit=fit)
        truth = Csr(fold.Y[rows])
    learned: dict[str, DecisionRule | None] = {}
    seconds = {}
    for name, rule in rules.items():
        began = time.perf_counter()
        learned[name] = None if rule is None else rule.fit(scores, truth, model.score_kind)
        seconds[name] = time.perf_counter() - began
    return learned, seconds


def _answer(
    model: MultiLabelModel, rules: Mapping[str, DecisionRule | None], fold: FoldData, with_ranks: bool
) -> tuple[dict[str, Csr], LabelRanks | None, dict[str, float]]:
    """The label sets by each rule, the ranks of the true labels, and the seconds each rule's answers took."""
    parts: dict[str, list[Csr]] = {name: [] for name in rules}
    ranks: list[LabelRanks] = []
    seconds = dict.fromkeys(rules, 0.0)
    X = model.features(fold.X_test)
    for name in [name for name, rule in rules.items() if rule is None]:
        began = time.perf_counter()
        parts[name].append(Csr(model.predict(X)))
        seconds[name] = time.perf_counter() - began
    read = {name: rule for name, rule in rules.items() if rule is not None}
    for rows in row_batches(X.shape[0], model.n_labels_) if read or with_ranks else ():
        began = time.perf_counter()
        scores = model.score_batch(X[rows])
        scoring = time.perf_counter() - began
        for name, rule in read.items():
            began = time.perf_counter()
            parts[name].append(rule.decide(scores, model.score_kind))
            seconds[name] += scoring + time.perf_counter() - began
        if with_ranks:
            ranks.append(label_ranks(fold.Y_test[rows], _widened(scores, fold)))
    given = {name: _in_all_labels(batches, fold) for name, batches in parts.items()}
    return given, LabelRanks.concatenate(ranks) if ranks else None, seconds


def _widened(scores: Floats, fold: FoldData) -> Floats:
    """Scores of all labels: those that training never saw come last."""
    wide = np.full((scores.shape[0], fold.Y_test.shape[1]), -np.inf)
    wide[:, fold.labels] = scores
    return wide


def _in_all_labels(batches: list[Csr], fold: FoldData) -> Csr:
    """Label sets in the columns of all labels instead of those of training."""
    below: Any = sparse.vstack(batches, format="csr")
    given = below.data.astype(np.int8), fold.labels[below.indices], below.indptr
    return Csr(given, shape=(below.shape[0], fold.Y_test.shape[1]))


def learned_bytes(value: object) -> int:
    """How many bytes the numbers and words take that an estimator learned.

    >>> class Mean(Estimator):
    ...     pass
    >>> mean = Mean()
    >>> mean.values_, mean.name_ = np.zeros(4), "mean"
    >>> learned_bytes(mean)
    36
    """
    if isinstance(value, Estimator):
        return sum(learned_bytes(one) for one in value.learned_state().values())
    if sparse.issparse(value):
        matrix: Any = Csr(value)  # type: ignore[call-overload]
        return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, Mapping):
        return sum(learned_bytes(key) + learned_bytes(one) for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return sum(map(learned_bytes, value))
    return 8
