"""Keyword rules as a model, alone or in front of a learned model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.exceptions import DataError, ParameterError
from manylabel.features.keyword_rules import suggest_keywords
from manylabel.models.base import WORKING_MEMORY, MultiLabelModel
from manylabel.models.evidence import ScoreParts, asked_for
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import AnyOf, Constraint, Number, OneOf, Satisfies
from manylabel.stored import Matrix, Part, Sizes, Sometimes, Stored, total, wholes
from manylabel.wording import counted


class KeywordRules(MultiLabelModel):
    """Labels by keyword rules: +1 where the rule of a label matches a document, −1 where it does not or there is none.

    Hand-written rules are the last columns of X, one per rule, 1 where it matches (`KeywordMatcher` makes them).
    `rule_labels`, passed to `fit`, holds the label of each of these columns. The other columns are words.

    With a learned `model`, which reads the words alone, the rules overrule it:

    effect  give      the label is certain (+∞) where its rule matches; elsewhere the model decides
            require   the label is impossible (−∞) where its rule does not match; elsewhere the model decides

    A label without a rule is left to the model. The model must score each label on its own: posteriors, which are
    shares of one whole, are refused.

    Without hand-written rules, and without a model, the rule of a label is learned: up to `words` words, any of which
    gives the label, each in at least `min_documents` documents (`suggest_keywords`, which ``manylabel rules`` writes
    down for you to edit).

    Source: the hand-written queries are those of Manning, Raghavan & Schütze 2008, chapter 13 (standing queries).

    >>> X = np.array([[2, 0, 1], [1, 1, 0], [0, 1, 1]])  # two words and one rule, for label 1
    >>> KeywordRules().fit(X, np.array([[1, 0], [1, 0], [0, 1]]), rule_labels=[1]).scores(X).tolist()
    [[-1.0, 1.0], [-1.0, -1.0], [-1.0, 1.0]]
    >>> KeywordRules().fit(X, np.array([[1, 0], [1, 0], [0, 1]])).words_.toarray().tolist()
    [[1, 0, 0], [0, 1, 0]]
    """

    needs_counts = True
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": AnyOf(
            OneOf(None), Satisfies("a model with fit and scores", lambda value: isinstance(value, MultiLabelModel))
        ),
        "effect": OneOf("give", "require"),
        "words": Number(low=1, whole=True),
        "min_documents": Number(low=1, whole=True),
    }
    model_: MultiLabelModel
    n_rules_: int
    """How many of the last columns of X are rules."""
    rule_labels_: Ints
    """The label of each rule."""
    words_: Csr
    """Rules × words: not 0 for the words a rule looks for; a learned rule is these words."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "rule_labels_": wholes("rules", below="labels"),
        "n_rules_": total(),
        "words_": Matrix("rules", None, ("i8", "f8", "i1")),
        "model_": Sometimes(Part(MultiLabelModel, "labels")),
    }

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """Also raise `ValueError` where the learned model is missing."""
        if self.model is not None and "model_" not in state:
            raise ValueError("KeywordRules.model_ is missing")
        return super().check_learned(state)

    def __init__(
        self,
        model: MultiLabelModel | None = None,
        effect: Literal["give", "require"] = "give",
        words: int = 6,
        min_documents: int = 2,
    ) -> None:
        self.model = model
        self.effect = effect
        self.words = words
        self.min_documents = min_documents

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """The kind of the model's scores; a margin without a model."""
        return ScoreKind.MARGIN if self.model is None else self.model.score_kind

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """The facts about rules, and those the model takes."""
        return frozenset({"rule_labels", "rule_words"}) | (frozenset() if self.model is None else self.model.wants)

    @property
    def is_learned(self) -> bool:
        """Whether the rules were learned from the words because none were written by hand."""
        return not self.n_rules_

    # --- learning ---------------------------------------------------------------------------------------------

    def fit(self, X: object, Y: object, rule_labels: npt.ArrayLike = (), rule_words: Any = None, **facts: Any) -> Self:
        """Fit the model, or learn rules if there are none; `rule_words` (rules × words) marks their words."""
        if self.model is None and facts:
            raise TypeError(f"KeywordRules.fit takes no {', '.join(sorted(facts))} without a model to pass it to.")
        features, targets = self.check_training(X, Y)
        if self.model is not None and self.model.score_kind is ScoreKind.POSTERIOR:
            raise ParameterError(
                f"Keyword rules cannot be combined with {type(self.model).__name__}: its scores are posteriors, which "
                "sum to 1, while a rule decides each label by itself. Use svm or nb, for example, or the rules alone."
            )
        self.rule_labels_ = self._check_rules(np.asarray(rule_labels, dtype=np.int64), features.shape[1])
        self.n_rules_ = len(self.rule_labels_)
        words = self._words(features)
        if self.model is None and not self.n_rules_:
            self.rule_labels_ = np.arange(self.n_labels_)
            self.words_ = suggest_keywords(words, targets.Y, self.words, self.min_documents)
        else:
            named: Any = Csr((self.n_rules_, words.shape[1]), dtype=np.int8)
            self.words_ = Csr(named if rule_words is None or not self.n_rules_ else rule_words)
        if self.model is not None:
            given = Y if targets.form == "single" else targets.Y
            self.model_ = unfitted_copy(self.model).fit(words, given, **facts)
        return self

    def _check_rules(self, labels: Ints, n_columns: int) -> Ints:
        if len(labels) >= n_columns:
            raise DataError(
                f"KeywordRules: X has {counted(n_columns, 'column')}, but {counted(len(labels), 'rule')} and at least "
                "one word need more."
            )
        if len(labels) and (labels.min() < 0 or labels.max() >= self.n_labels_):
            raise DataError(
                f"KeywordRules: a rule is for a label out of bounds: they count from 0 to {self.n_labels_ - 1}."
            )
        return labels

    def _words(self, X: Csr) -> Csr:
        """The columns of X that are words, without those of the rules behind them."""
        return Csr(X[:, : X.shape[1] - self.n_rules_])

    # --- scoring ----------------------------------------------------------------------------------------------

    def hits(self, X: Csr) -> Csr:
        """Documents × labels: 1 where a rule of the label matches."""
        if self.is_learned:
            present = Csr((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
            named = Csr((np.ones(self.words_.nnz), self.words_.indices, self.words_.indptr), shape=self.words_.shape)
            held = Csr(present @ named.T)
        else:
            held = X[:, X.shape[1] - self.n_rules_ :]
        place = np.arange(len(self.rule_labels_)), self.rule_labels_
        of_label = Csr(sparse.coo_array((np.ones(len(self.rule_labels_)), place), (len(place[0]), self.n_labels_)))
        found = Csr(held @ of_label)
        found.data = np.ones(found.nnz, dtype=np.int8)
        return found

    def score_batch(self, X: Csr) -> Floats:
        """±1 by the rules alone, or the model's scores, replaced by ±∞ where a rule decides."""
        held = self.hits(X).toarray().astype(np.bool_)
        if self.model is None:
            return np.where(held, 1.0, -1.0)
        scores = self.model_.score_batch(self._words(X))
        given, barred = self._certain(held)
        return np.where(given, np.inf, np.where(barred, -np.inf, scores))

    def _certain(self, held: Bools) -> tuple[Bools, Bools]:
        """Which labels the rules make certain, and which impossible, documents × labels each."""
        if self.effect == "give":
            return held, np.zeros_like(held)
        ruled = np.zeros(self.n_labels_, dtype=np.bool_)
        ruled[self.rule_labels_] = True
        return np.zeros_like(held), ruled & ~held

    def natural_decision(self, scores: Floats) -> Bools:
        """The model's natural decision, except where a rule decides."""
        if self.model is None:
            return super().natural_decision(scores)
        return self.model_.natural_decision(scores) & ~np.isneginf(scores) | np.isposinf(scores)

    def predict(self, X: object, *, working_memory: int = WORKING_MEMORY) -> Any:
        """The model's predictions, except where a rule decides."""
        features = self.features(X)
        if self.model is None or self.label_form_ == "single":
            return super().predict(features, working_memory=working_memory)
        answer = Csr(self.model_.predict(self._words(features), working_memory=working_memory))
        held = self.hits(features)
        if self.effect == "give":
            return self.in_fitted_form([Csr((answer + held > 0).astype(np.int8))])
        free = np.ones(self.n_labels_, dtype=np.int8)
        free[self.rule_labels_] = 0
        allowed = answer.multiply(held) + answer.multiply(free)
        return self.in_fitted_form([Csr((Csr(allowed) > 0).astype(np.int8))])

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each word adds to the scores of some labels (default: all), labels × terms.

        A label assigned by a rule rises by 2 (from −1 to +1), in equal parts by the rule's words in the document.

        If none of the rule's words is a column of X, the whole 2 is in the rule's own column. Where no rule assigns the
        label, it is the model's evidence, if there is a model.
        """
        document, wanted = asked_for(self, x, labels)
        given = self.hits(document).toarray()[0].astype(np.bool_)
        if self.model is not None and self.effect == "require":
            given[:] = False
        table = sparse.lil_array((len(wanted), document.shape[1]), dtype=np.float64)
        learned: Any = None
        if self.model is not None:
            learned = self.model_.evidence(self._words(document), wanted).tocsr()
        for row, label in enumerate(wanted.tolist()):
            if given[label]:
                columns = self._speaking(document, label)
                table[[row], columns] = 2.0 / len(columns)
            elif learned is not None:
                own = learned[[row]]
                table[[row], own.indices] = own.data
        return Csr(table)

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of one document's scores; a label that a rule makes certain has a score that is no sum."""
        document, wanted = asked_for(self, x, labels)
        total, terms = self.score_batch(document)[0, wanted], self.evidence(document, wanted)
        if self.model is None:
            return ScoreParts(terms, total, np.full(len(wanted), -1.0))
        learned = self.model_.score_parts(self._words(document), wanted)
        ruled = np.isposinf(total) & ~np.isposinf(learned.total)
        barred = np.isneginf(total) & ~np.isneginf(learned.total)
        intercept = np.where(ruled, np.nan, np.where(barred, -np.inf, learned.intercept))
        same = learned.quantity == "score"
        total = np.where(ruled | barred | same, total, learned.total)
        return ScoreParts(terms, total, intercept, quantity=learned.quantity)

    def _speaking(self, document: Csr, label: int) -> Ints:
        """The columns of a document that made a label's rule match."""
        rules = np.flatnonzero(self.rule_labels_ == label)
        named = np.concatenate([self.words_[[rule]].indices for rule in rules.tolist()])
        found = np.intersect1d(document.indices, named)
        if len(found):
            return found.astype(np.int64)
        columns = document.shape[1] - self.n_rules_ + rules
        return np.intersect1d(document.indices, columns).astype(np.int64)
