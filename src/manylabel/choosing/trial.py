"""One trial: a model learns in one fold, and several decision rules predict from the same scores."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.catalog import find_method
from manylabel.choosing.fold_work import FoldData, FoldWork
from manylabel.deadline import Deadline
from manylabel.decisions.base import DecisionRule, decidable_scores, unlabelled_if_empty
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.single_label import has_one_label_each, one_label_decision
from manylabel.estimator import Csr, Estimator, Floats, unfitted_copy
from manylabel.memory import table_bytes
from manylabel.metrics import LabelRanks, label_ranks
from manylabel.models.base import MultiLabelModel, row_batches
from manylabel.models.out_of_fold import MOST_SCORES, Fit, OutOfFold, fit_anew
from manylabel.models.score_kinds import Bools
from manylabel.progress import stage
from manylabel.recipe import Recipe

INNER_FOLDS = 3
"""Number of inner folds on whose out-of-fold scores a trial learns decision rules; a final model uses five."""

Rules = Mapping[str, Mapping[str, Any]]
"""Decision rules by name; each is the [decision] section of a recipe."""


class WarmStarts:
    """Fits models, starting from the previous solution on the same documents if the model supports that.

    If the C of linear SVMs rises from one to the next, this saves about a quarter of the time. The solutions are the
    same within `tol`.

    >>> from manylabel.models.linear_svm import LinearSVM
    >>> X, Y = Csr(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])), Csr(np.array([[1, 0], [0, 1], [1, 1]]))
    >>> fit = WarmStarts()
    >>> first, again = (fit(LinearSVM(), X, Y, {}) for _ in range(2))
    >>> bool((again.n_iter_ <= first.n_iter_).all())
    True
    """

    def __init__(self) -> None:
        self._fitted: dict[tuple[type, bytes, bytes], MultiLabelModel] = {}

    def __call__(self, model: MultiLabelModel, X: Csr, Y: Csr, facts: Mapping[str, Any]) -> MultiLabelModel:
        """A fitted copy of the model."""
        if not model.starts_warm:
            return fit_anew(model, X, Y, facts)
        key = (type(model), _digest(X), _digest(Y))
        self._fitted[key] = unfitted_copy(model).fit_after(self._fitted.get(key), X, Y, **facts)
        return self._fitted[key]


def _digest(matrix: Csr) -> bytes:
    """A hash of the content of a matrix."""
    found = hashlib.blake2b(repr(matrix.shape).encode(), digest_size=16)
    for array in (matrix.indptr, matrix.indices, matrix.data):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.digest()


@dataclass(frozen=True, slots=True, eq=False)
class TrialPredictions:
    """The predictions of one model and one rule for the tested documents of a fold.

    `Y_pred` is documents × all labels, 0/1; `ranks` are the ranks of the true labels by score, if requested.
    `fit_seconds` includes the out-of-fold scores and the rule; `size` is the size of the learned state in bytes.
    """

    Y_pred: Csr
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
    deadline: Deadline | None = None,
) -> dict[str, TrialPredictions]:
    """The predictions of every rule in fold `number`; the recipe's own [decision] is ignored.

    The model learns once from all training documents and, if a rule learns, once more in each inner fold; all rules
    learn from these out-of-fold scores. A rule that influences how the model is fitted gets a model of its own. The
    predictions equal those of `TextClassifier` with the same recipe, seed and number of folds. `fit` returns the fitted
    copies of shared models. Where every document has exactly one label, the method's own rule predicts exactly one,
    as in `TextClassifier`. The `deadline` is checked before each fold, and by models that want it.
    """
    recipe = recipe.for_any_numbers() if work.has_negative else recipe
    build = Recipe.build_for_any_numbers if work.has_negative else Recipe.build
    fold = work.fold(recipe, number)
    if deadline is not None:
        deadline.check()
        fold = replace(fold, facts={**fold.facts, "deadline": deadline})
    training: dict[str, Any] = {"folds": inner_folds, "seed": work.seed, "n_jobs": work.n_jobs}
    one_each, preset = has_one_label_each(work.Y), find_method(recipe.method).decision
    built = {}
    for name, decision in rules.items():
        whole = Recipe.of(recipe.method, {"decision": decision}).decision
        whole = one_label_decision(whole, preset) or whole if one_each else whole
        built[name] = build(replace(recipe, decision=whole), **training).set_params(probabilities=None)
        if fold.vectors:
            recipe.read_vectors(built[name], fold.vectors)
    most = table_bytes(work.memory, 8 * MOST_SCORES) // 8
    apart = {
        name: decided
        for name, decided in built.items()
        if decided.searches or (decided.rule is not None and decided.rule.held_out_share > 0)
    }
    found = {name: _run_apart(decided, fold, with_ranks, most) for name, decided in apart.items()}
    shared = {name: decided for name, decided in built.items() if name not in apart}
    if shared:
        found |= _run_together(shared, fold, with_ranks, fit, most)
    return {name: found[name] for name in rules}


def _run_apart(decided: DecidedModel, fold: FoldData, with_ranks: bool, most: int) -> TrialPredictions:
    """The predictions of a model and a rule that cannot share their work with others.

    The search chooses settings of the model, or the rule needs documents that the model does not see.
    """
    began = time.perf_counter()
    with stage("Learning"):
        facts = decided.wanted(fold.facts)
        decided.fit(fold.X, fold.Y, fold_features=fold.in_folds, most_scores=most, **facts)
    learned = time.perf_counter() - began
    with stage("Predicting"):
        predicted, ranks, seconds = _predict(decided.model_, {"": decided.rule_}, fold, with_ranks)
    return TrialPredictions(predicted[""], ranks, learned, seconds[""], learned_bytes(decided))


def _run_together(
    decided: Mapping[str, DecidedModel], fold: FoldData, with_ranks: bool, fit: Fit, most: int
) -> dict[str, TrialPredictions]:
    """The predictions of rules that read the scores of one model: the models of `decided` differ by their rule."""
    first = next(iter(decided.values()))
    model = first.unfitted_model()
    facts = model.wanted(fold.facts)
    rules = {name: one.rule for name, one in decided.items()}
    began = time.perf_counter()
    with stage("Learning"):
        scores, Y_true = np.zeros((0, fold.Y.shape[1])), Csr(fold.Y[:0])
        empty = np.zeros(0, dtype=np.bool_)
        if any(rule is not None and rule.learns for rule in rules.values()):
            documents = OutOfFold(fold.X, fold.facts, fold.in_folds, first.folds, first.seed, fit, most)
            scores, rows, empty = documents(model, fold.Y)
            Y_true = Csr(fold.Y[rows])
        learned, rule_seconds = _learn_rules(rules, scores, empty, Y_true, model)
        fitted = fit(model, fold.X, fold.Y, facts)
    shared = time.perf_counter() - began - sum(rule_seconds.values())
    with stage("Predicting"):
        predicted, ranks, seconds = _predict(fitted, learned, fold, with_ranks)
    return {
        name: TrialPredictions(
            predicted[name],
            ranks,
            shared + rule_seconds[name],
            seconds[name],
            learned_bytes(fitted) + (0 if (rule := learned[name]) is None else learned_bytes(rule)),
        )
        for name in rules
    }


def _learn_rules(
    rules: Mapping[str, DecisionRule | None], scores: Floats, empty: Bools, Y_true: Csr, model: MultiLabelModel
) -> tuple[dict[str, DecisionRule | None], dict[str, float]]:
    """The fitted rules (None for the model's own decision) and the seconds each took to learn."""
    learned: dict[str, DecisionRule | None] = {}
    seconds = {}
    for name, rule in rules.items():
        began = time.perf_counter()
        learned[name] = None
        if rule is not None:
            decidable = decidable_scores(scores, empty, model, rule)
            learned[name] = rule.fit(decidable, Y_true, model.score_kind).settled()
        seconds[name] = time.perf_counter() - began
    return learned, seconds


def _predict(
    model: MultiLabelModel, rules: Mapping[str, DecisionRule | None], fold: FoldData, with_ranks: bool
) -> tuple[dict[str, Csr], LabelRanks | None, dict[str, float]]:
    """The label sets by each rule, the ranks of the true labels, and the seconds each rule's predictions took."""
    batches: dict[str, list[Csr]] = {name: [] for name in rules}
    ranks: list[LabelRanks] = []
    seconds = dict.fromkeys(rules, 0.0)
    X = model.features(fold.X_test)
    for name in [name for name, rule in rules.items() if rule is None]:
        began = time.perf_counter()
        batches[name].append(unlabelled_if_empty(Csr(model.predict(X)), X, model, None))
        seconds[name] = time.perf_counter() - began
    read = {name: rule for name, rule in rules.items() if rule is not None}
    for rows in row_batches(X.shape[0], model.n_labels_) if read or with_ranks else ():
        began = time.perf_counter()
        scores = model.score_batch(X[rows])
        scoring = time.perf_counter() - began
        for name, rule in read.items():
            began = time.perf_counter()
            decided = rule.decide(scores, model.score_kind)
            batches[name].append(unlabelled_if_empty(decided, X[rows], model, rule))
            seconds[name] += scoring + time.perf_counter() - began
        if with_ranks:
            ranks.append(label_ranks(fold.Y_test[rows], _widened(scores, fold)))
    predicted = {name: _in_all_labels(own, fold) for name, own in batches.items()}
    return predicted, LabelRanks.concatenate(ranks) if ranks else None, seconds


def _widened(scores: Floats, fold: FoldData) -> Floats:
    """Scores of all labels; labels without a training document get −∞, so that they rank last."""
    wide = np.full((scores.shape[0], fold.Y_test.shape[1]), -np.inf)
    wide[:, fold.labels] = scores
    return wide


def _in_all_labels(batches: list[Csr], fold: FoldData) -> Csr:
    """Predictions stacked, with the columns of all labels instead of those of training."""
    below: Any = sparse.vstack(batches, format="csr")
    entries = below.data.astype(np.int8), fold.labels[below.indices], below.indptr
    return Csr(entries, shape=(below.shape[0], fold.Y_test.shape[1]))


def learned_bytes(value: object) -> int:
    """The bytes that the learned numbers and words of an estimator take.

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
