"""Ensembles: several methods combined by votes, by averaged scores, or by a learned combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.exceptions import ParameterError
from manylabel.features.facts import FACTS
from manylabel.models import label_axis
from manylabel.models.base import WORKING_MEMORY, DocumentScorer, MultiLabelModel, document_scorers
from manylabel.models.evidence import ScoreParts, asked_for
from manylabel.models.exported import ExportedScores, scores_of
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.out_of_fold import out_of_fold_scores
from manylabel.models.score_kinds import ScoreKind
from manylabel.parameters import AnyOf, Constraint, Number, OneOf, Satisfies
from manylabel.progress import track
from manylabel.stored import Each, Either, Maybe, Part, Sometimes, Stored, reals
from manylabel.strategies.stacking import (
    LinearCombination,
    averaged,
    comparable,
    constant_labels,
    of_unseen_documents,
    stacked,
    with_constants,
)
from manylabel.wording import there_are

MEMBERS = Satisfies(
    "a list of models",
    lambda value: (
        isinstance(value, (list, tuple))
        and len(value) > 0
        and all(isinstance(member, MultiLabelModel) for member in value)
    ),
)


class Ensemble(MultiLabelModel):
    """Labels predicted by several models together, all from the same counts (`WeightedMember` weights its own).

    combine  votes     share of members that give the label, more than half of them, or at least `votes_needed`
             average   mean of the members' log-odds, each calibrated by itself on out-of-fold scores (Platt 1999)
             stacked   log-odds by a logistic regression on the members' out-of-fold scores, one a label

    A vote is what the member answers by itself (a `DecidedModel` by its rule). On single-label data each member votes
    for its best label, ties going to the lower index. Scores of votes are margins, all others log-odds.

    Margins, cosines and posteriors are made comparable on scores of documents that a copy of the member did not see
    (`folds` folds by `seed`): see `manylabel.strategies.stacking` for the regression, `ridge` for how much a rare label
    follows all others. With ``stack_on="own"`` a label is judged by what the members say of this label; with
    ``"all"`` by what they say of every label, by a logistic `LinearSVM` of cost `C` on standardised scores, which
    learns that one label speaks for another and needs far more documents. A label that every training document has, or
    none, is constant: ±∞.

    Source: Sebastiani 2002, section 6.11 (ensembles); Wolpert 1992 (stacking).

    >>> from manylabel.models.binary_nb import BinaryNaiveBayes
    >>> X = Csr([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]] * 3)
    >>> Y = Csr([[1, 0], [0, 1], [1, 1], [0, 0]] * 3)
    >>> members = (LinearSVM(), BinaryNaiveBayes(smoothing="laplace", unlabelled="negative"))
    >>> [Ensemble(members, how, folds=3).fit(X, Y).predict(X[:2]).toarray().tolist() for how in ("votes", "stacked")]
    [[[1, 0], [0, 1]], [[1, 0], [0, 1]]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "members": MEMBERS,
        "combine": OneOf("votes", "average", "stacked"),
        "votes_needed": AnyOf(OneOf(None), Number(low=1, whole=True)),
        "stack_on": OneOf("own", "all"),
        "ridge": Number(low=0, open_low=True),
        "C": Number(low=0, open_low=True),
        "folds": Number(low=2, whole=True),
        "seed": Number(low=0, whole=True),
        "n_jobs": AnyOf(OneOf(None, -1), Number(low=1, whole=True)),
    }

    members_: list[MultiLabelModel]
    weights_: Floats
    """Members × labels: what a unit of a member's score adds to the log-odds."""
    intercept_: Floats
    judge_: LinearSVM | None = None
    """The model that combines the scores, where they are stacked on all labels.

    `weights_` and `intercept_` (members × labels) then standardise the scores.
    """
    constant_: Floats
    """Per label −∞ or +∞ where no training document has it, or every one; NaN for all others."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "constant_": reals("labels"),
        "weights_": Sometimes(reals("members", "labels")),
        "intercept_": Sometimes(Either(reals("labels"), reals("members", "labels"))),
        "members_": Each(Part(MultiLabelModel, "labels", "terms"), "members"),
        "judge_": Sometimes(Maybe(Part(LinearSVM, "labels"))),
    }

    def __init__(
        self,
        members: Sequence[MultiLabelModel],
        combine: Literal["votes", "average", "stacked"] = "average",
        votes_needed: int | None = None,
        stack_on: Literal["own", "all"] = "own",
        ridge: float = 1.0,
        C: float = 0.1,
        folds: int = 3,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.members = members
        self.combine = combine
        self.votes_needed = votes_needed
        self.stack_on = stack_on
        self.ridge = ridge
        self.C = C
        self.folds = folds
        self.seed = seed
        self.n_jobs = n_jobs

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """A margin for votes, log-odds otherwise."""
        return ScoreKind.MARGIN if self.combine == "votes" else ScoreKind.LOG_ODDS

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether any member needs non-negative input."""
        return any(member.needs_counts for member in self.members)

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """The facts about the corpus that any member wants."""
        return frozenset().union(*(member.wants for member in self.members))

    @property
    def independent_labels(self) -> bool:  # type: ignore[override]
        """Whether each label is a problem of its own in every member, and is combined by itself."""
        return self._adds_members and all(member.independent_labels for member in self.members)

    @property
    def _adds_members(self) -> bool:
        """Whether the score of a label is a weighted sum of the members' scores of this label."""
        return self.combine == "average" or (self.combine == "stacked" and self.stack_on == "own")

    def of_labels(self, columns: Ints) -> MultiLabelModel:
        """The members of some labels, and how they are combined for these."""
        return label_axis.of_labels(self, columns) if self.independent_labels else super().of_labels(columns)

    def beside(self, other: MultiLabelModel) -> MultiLabelModel:
        """The labels of both, each member of the one beside that of the other."""
        alike = isinstance(other, Ensemble) and len(other.members_) == len(self.members_)
        return label_axis.beside(self, other) if alike else super().beside(other)

    def refit(self, X: Csr, Y: Csr, columns: Ints, **facts: Any) -> MultiLabelModel:
        """The members fitted to other documents; how they are combined is learned for new labels alone."""
        made = unfitted_copy(self)
        features, targets = made.check_training(X, Y)
        known, new = np.flatnonzero(columns >= 0), np.flatnonzero(columns < 0)
        made.constant_ = constant_labels(targets.Y)
        made.weights_ = np.empty((len(self.members_), targets.Y.shape[1]))
        made.intercept_ = np.empty(targets.Y.shape[1])
        made.weights_[:, known], made.intercept_[known] = (
            self.weights_[:, columns[known]],
            self.intercept_[columns[known]],
        )
        if len(new):
            alone = unfitted_copy(self)
            alone._learn_combination(features, Csr(targets.Y[:, new]), facts)
            made.weights_[:, new], made.intercept_[new] = alone.weights_, alone.intercept_
        made.members_ = [member.refit(features, targets.Y, columns, **member.wanted(facts)) for member in self.members_]
        return made

    def check_parameters(self) -> None:
        """Check the parameters one by one, then the number of votes."""
        super().check_parameters()
        if self.votes_needed is not None and self.votes_needed > len(self.members):
            raise ParameterError(
                f"Ensemble: votes_needed is {self.votes_needed}, but {there_are(len(self.members), 'member')}."
            )

    # --- learning ---------------------------------------------------------------------------------------------

    def fit(self, X: object, Y: object, **facts: Any) -> Self:
        """Learn every member and how to combine them; `facts` go to the members that want them."""
        if unknown := facts.keys() - FACTS:
            raise TypeError(f"Ensemble.fit takes no {', '.join(sorted(unknown))}; its members may not know it.")
        features, targets = self.check_training(X, Y)
        self.constant_ = constant_labels(targets.Y)
        if self.combine != "votes":
            self._learn_combination(features, targets.Y, facts)
        # A member sees single-label data as such, and so learns no threshold that nobody asks for.
        return self._fit_members(features, Y if targets.form == "single" else targets.Y, facts)

    def fit_from_scores(self, X: Csr, Y: Csr, scores: Floats, rows: Ints, facts: Mapping[str, Any]) -> Self:
        """Learn as `fit` does, from given out-of-fold scores of the members for the documents `rows` of X.

        `scores` are members × documents × labels, as `of_unseen_documents` gives them.
        """
        features, targets = self.check_training(X, Y)
        self.constant_ = constant_labels(targets.Y)
        self._combine(scores, Csr(targets.Y[rows]))
        return self._fit_members(features, targets.Y, facts)

    def _fit_members(self, X: Csr, Y: object, facts: Mapping[str, Any]) -> Self:
        self.members_ = [
            self._fresh(member).fit(X, Y, **member.wanted(facts))
            for member in track("Learning the members", self.members)
        ]
        return self

    def _fresh(self, member: MultiLabelModel) -> MultiLabelModel:
        return unfitted_copy(member).set_everywhere("n_jobs", self.n_jobs)

    def _learn_combination(self, X: Csr, Y: Csr, facts: Mapping[str, Any]) -> None:
        n_members, n_labels = len(self.members), Y.shape[1]
        folds = min(self.folds, X.shape[0])
        if folds < 2:  # one document: nothing can be held out, so the members count as they are
            scores, truth = np.zeros((n_members, 1, n_labels)), Y
        else:
            scores, rows = self._members_out_of_fold(X, Y, folds, facts)
            truth = Csr(Y[rows])
        self._combine(scores, truth)

    def _combine(self, scores: Floats, truth: Csr) -> None:
        """Learn how to combine the members from their scores of documents they did not see."""
        if self.combine == "stacked" and self.stack_on == "all":
            self._learn_judge(scores, truth)
            return
        found = (stacked if self.combine == "stacked" else averaged)(scores, truth, self.ridge)
        self.weights_, self.intercept_ = found.weights, found.intercept

    def _members_out_of_fold(self, X: Csr, Y: Csr, folds: int, facts: Mapping[str, Any]) -> tuple[Floats, Ints]:
        """Members × documents × labels, and the rows of the documents."""
        found, rows = [], np.arange(X.shape[0])
        for member in track("Asking the members about unseen documents", self.members):
            most_scores = WORKING_MEMORY // (8 * len(self.members))
            scores, rows = out_of_fold_scores(
                self._fresh(member), X, Y, folds, self.seed, most_scores, member.wanted(facts)
            )
            found.append(of_unseen_documents(scores, member.score_kind))
        return np.stack(found), rows

    def _learn_judge(self, scores: Floats, Y: Csr) -> None:
        spread = scores.std(axis=1)
        self.weights_ = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 0.0)
        self.intercept_ = -scores.mean(axis=1) * self.weights_
        self.judge_ = LinearSVM(loss="logistic", C=self.C, seed=self.seed, n_jobs=self.n_jobs)
        self.judge_.fit(self._standardised(scores), Y)

    def _standardised(self, scores: Floats) -> Csr:
        """Documents × (members × labels)."""
        z = scores * self.weights_[:, np.newaxis] + self.intercept_[:, np.newaxis]
        return Csr(z.transpose(1, 0, 2).reshape(scores.shape[1], -1))

    # --- scoring ----------------------------------------------------------------------------------------------

    def score_batch(self, X: Csr) -> Floats:
        """Votes, or combined log-odds."""
        if self.combine == "votes":
            return self._votes(X)
        scores = np.stack([comparable(member.score_batch(X), member.score_kind) for member in self.members_])
        if self.judge_ is not None:
            combined = self.judge_.score_batch(self._standardised(scores))
        else:
            combined = LinearCombination(self.weights_, self.intercept_)(scores)
        return with_constants(combined, self.constant_)

    def document_scorer(self) -> DocumentScorer | None:
        """The members' scorers combined; None for votes, for a judge of all labels, or if a member has none."""
        scorers = document_scorers(self.members_)
        if scorers is None or not self._adds_members:
            return None
        kinds = [member.score_kind for member in self.members_]
        combine = LinearCombination(self.weights_, self.intercept_)

        def score(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            said = [comparable(one(terms, values), kind) for one, kind in zip(scorers, kinds, strict=True)]
            combined = combine(np.stack(said)[:, np.newaxis])[0]
            return with_constants(combined, self.constant_)

        return score

    @property
    def is_exportable(self) -> bool:
        """Whether the scores of each label are a weighted sum of those of its members, which can be exported.

        Not where a member has posteriors: their log-odds near certainty depend on the last bit of the posterior.
        """
        members = self.members_ if self.is_fitted else self.members  # an update may add what cannot be exported
        return self._adds_members and all(
            member.is_exportable and member.score_kind is not ScoreKind.POSTERIOR for member in members
        )

    def exported_scores(self) -> ExportedScores:
        """The scores of the members, and their weights."""
        found = [scores_of(member) for member in self.members_]
        blocks = tuple(block for one in found for block in one.blocks)
        kinds = tuple(kind for one in found for kind in one.kinds)
        return ExportedScores(blocks, kinds, self.weights_, self.intercept_, self.constant_)

    def _votes(self, X: Csr) -> Floats:
        """The votes of each label less the half that is missing to those needed, as a share of the members."""
        size = len(self.members_)
        needed = size // 2 + 1 if self.votes_needed is None else self.votes_needed
        votes = np.zeros((X.shape[0], self.n_labels_))
        for member in self.members_:
            votes += self._votes_of(member, X)
        return (votes - needed + 0.5) / size

    def _votes_of(self, member: MultiLabelModel, X: Csr) -> Floats:
        """1 where a member votes for a label: its best label for single-label data, else those it predicts."""
        if self.label_form_ != "single":
            return np.asarray(member.predict(X).toarray(), dtype=np.float64)
        votes = np.zeros((X.shape[0], self.n_labels_))
        votes[np.arange(X.shape[0]), member.score_batch(X).argmax(axis=1)] = 1
        return votes

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term adds to the combined log-odds: the members' evidence, weighted like their scores.

        Adds up to the score where each member's does. For votes and a judge of all labels, what the score loses without
        the word.
        """
        if not self._adds_members:
            return super().evidence(x, labels)
        document, wanted = asked_for(self, x, labels)
        total = Csr((len(wanted), document.shape[1]), dtype=np.float64)
        for member, weights in zip(self.members_, self.weights_[:, wanted], strict=True):
            said = member.evidence(document, wanted)
            total = Csr(total + said.multiply(weights[:, np.newaxis]))
        return total

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of one document's combined log-odds, with the share of each member.

        By removal where a member's parts do not add up to its score, for votes and for a judge of all labels; votes are
        +1 and −1 divided by the number of members, and a judge's members have no shares.
        """
        document, wanted = asked_for(self, x, labels)
        if not self._adds_members:
            found = super().score_parts(document, wanted)
            return replace(found, members=self._vote_shares(document, wanted)) if self.combine == "votes" else found
        names = [member.member_name for member in self.members_]
        total = self.score_batch(document)[0, wanted]
        intercept, shares = self.intercept_[wanted].copy(), []
        for member, weights in zip(self.members_, self.weights_[:, wanted], strict=True):
            said = member.score_parts(document, wanted)
            score = comparable(member.score_batch(document), member.score_kind)[0, wanted]
            sums = (said.quantity == "score") & np.isfinite(said.intercept)
            intercept += weights * np.where(sums, said.intercept, np.nan)
            shares.append(weights * score)
        fixed = self.constant_[wanted]
        return ScoreParts(
            self.evidence(document, wanted),
            total,
            np.where(np.isnan(fixed), intercept, fixed),
            members=tuple(zip(names, shares, strict=True)),
        )

    def _vote_shares(self, document: Csr, wanted: Ints) -> tuple[tuple[str, Floats], ...]:
        size = len(self.members_)
        return tuple(
            (member.member_name, (2.0 * self._votes_of(member, document)[0, wanted] - 1.0) / size)
            for member in self.members_
        )
