"""An ensemble of classifier chains in random orders, each learned from its own sample, that vote on every label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.kernels.threads import in_threads
from manylabel.models.base import WORKING_MEMORY
from manylabel.models.evidence import ScoreParts, asked_for
from manylabel.models.label_thresholds import clear_threshold
from manylabel.models.score_kinds import LOG_ODDS_LIMIT, Bools, ScoreKind, sigmoid
from manylabel.parameters import AnyOf, Constraint, Number, OneOf
from manylabel.progress import stage
from manylabel.stored import Each, Part, Scalar, Stored, flags
from manylabel.strategies.classifier_chain import ClassifierChain
from manylabel.strategies.two_class import BASE_MODEL, TwoClassStrategy, for_rows, problem_kind

UNANIMOUS = 36.0
"""The log-odds of a unanimous vote, the largest whole number whose probability a double still keeps below 1."""


class ChainEnsemble(TwoClassStrategy):
    """The share of `n_chains` classifier chains, in random orders, that predict a label.

    share_k = (1/n) Σ_j ŷ_k^(j),   label k is predicted where share_k ≥ 0.5

    Source: Read, Pfahringer, Holmes & Frank 2011; Lee 2018 compares ten chains. Each chain learns from a random `share`
    of the documents (``sample="subset"``), from as many draws with replacement as there are documents (``"bagging"``),
    or from all of them (``"none"``). ``combine="votes"`` counts decisions; ``"scores"`` averages the chains'
    probabilities (margins where the model has no probabilities).

    Scores are log-odds, so that exactly one half is 0 and counts as predicted; the probability shown is the share of
    votes. A unanimous vote is ±36 (a share within 1e-15 of 0 or 1) rather than ±∞, which is kept for labels that no
    training document has, or all have. Averaged margins stay margins.

    ``threshold="cardinality"`` replaces one half by the threshold that gives the training documents as many labels as
    they have (Read et al. 2011, section 6), where we count only votes of chains that did not learn from a document, if
    the samples leave any out: votes on documents a chain has seen are too sure.

    `labels`, `folds` and `label_scale` are those of `ClassifierChain`; `seed` draws orders and samples, and more chains
    with the same seed leave the first ones as they were. The chains learn on up to `n_jobs` threads.

    >>> from sklearn.naive_bayes import BernoulliNB
    >>> X = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [0, 0]] * 3)
    >>> Y = np.array([[1, 1], [1, 1], [0, 0], [0, 0], [1, 0], [0, 0]] * 3)
    >>> model = ChainEnsemble(BernoulliNB(), n_chains=4).fit(X, Y)
    >>> model.predict_proba(X[:3]).round(6).tolist()
    [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": BASE_MODEL,
        "n_chains": Number(low=1, whole=True),
        "sample": OneOf("subset", "bagging", "none"),
        "share": Number(low=0, high=1, open_low=True),
        "combine": OneOf("votes", "scores"),
        "threshold": OneOf("half", "cardinality"),
        "labels": OneOf("true", "out-of-fold"),
        "folds": Number(low=2, whole=True),
        "label_scale": Number(low=0, open_low=True),
        "seed": Number(low=0, whole=True),
        "n_jobs": AnyOf(OneOf(None, -1), Number(low=1, whole=True)),
    }
    chains_: list[ClassifierChain]
    constant_labels_: Bools
    """Labels that every training document has, or none."""
    threshold_: float
    """The score from which on a label is given."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "constant_labels_": flags("labels"),
        "chains_": Each(Part(ClassifierChain, "labels", "terms"), None),
        "threshold_": Scalar(),
    }

    def __init__(
        self,
        model: Any,
        n_chains: int = 10,
        sample: Literal["subset", "bagging", "none"] = "subset",
        share: float = 0.67,
        combine: Literal["votes", "scores"] = "votes",
        threshold: Literal["half", "cardinality"] = "half",
        labels: Literal["true", "out-of-fold"] = "true",
        folds: int = 5,
        label_scale: float = 1.0,
        seed: int = 0,
        n_jobs: int | None = 1,
    ) -> None:
        self.model = model
        self.n_chains = n_chains
        self.sample = sample
        self.share = share
        self.combine = combine
        self.threshold = threshold
        self.labels = labels
        self.folds = folds
        self.label_scale = label_scale
        self.seed = seed
        self.n_jobs = n_jobs

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """Log-odds of the share of votes or of the mean probability; mean margins for a model without probabilities."""
        return ScoreKind.LOG_ODDS if self.combine == "votes" else problem_kind(self.base_model)

    # --- learning ---------------------------------------------------------------------------------------------

    def fit(self, X: object, Y: object, **options: Any) -> Self:
        """Learn the chains, each from its sample; `options` go to the model's `fit`."""
        features, targets = self.check_training(X, Y)
        self.constant_labels_ = self.note_constant_labels(targets.Y)
        draws = [np.random.default_rng(child) for child in np.random.SeedSequence(self.seed).spawn(self.n_chains)]
        samples = [self._draw(random, features.shape[0]) for random in draws]
        seeds = [int(random.integers(2**31)) for random in draws]
        with stage("Learning chains", self.n_chains) as advance:

            def learn_chain(number: int) -> ClassifierChain:
                rows = samples[number]
                chain = ClassifierChain(self.model, "random", self.labels, self.folds, self.label_scale, seeds[number])
                chain.fit(Csr(features[rows]), Csr(targets.Y[rows]), **for_rows(options, rows))
                advance(1)
                return chain

            self.chains_ = in_threads(learn_chain, range(self.n_chains), self.n_jobs)
        self.threshold_ = 0.0
        if self.threshold == "cardinality":
            self.threshold_ = self._cardinality_threshold(features, targets.Y, samples)
        return self

    def _draw(self, random: np.random.Generator, n_documents: int) -> Ints:
        """The documents a chain learns from."""
        if self.sample == "none":
            return np.arange(n_documents)
        if self.sample == "bagging":
            return np.sort(random.integers(n_documents, size=n_documents))
        size = max(1, round(self.share * n_documents))
        return np.sort(random.choice(n_documents, size=size, replace=False))

    def _cardinality_threshold(self, X: Csr, Y: Csr, samples: list[Ints]) -> float:
        """The threshold that gives training documents as many labels as they have, by chains that did not see them."""
        unseen = np.ones((len(samples), X.shape[0]), dtype=np.bool_)
        for row, sample in zip(unseen, samples, strict=True):
            row[sample] = False
        rows = np.flatnonzero(unseen.any(axis=0))
        if not len(rows):
            rows, unseen = np.arange(X.shape[0]), np.ones_like(unseen)
        most = max(1, WORKING_MEMORY // (24 * self.n_labels_))
        if len(rows) > most:
            rows = np.sort(np.random.default_rng(self.seed).choice(rows, size=most, replace=False))
        learned = np.flatnonzero(~self.constant_labels_)
        scores = self._combined(Csr(X[rows]), unseen[:, rows])[:, learned]
        return count_matching_threshold(scores.ravel(), int(Csr(Y[rows])[:, learned].sum()))

    # --- scoring ----------------------------------------------------------------------------------------------

    def score_batch(self, X: Csr) -> Floats:
        """Log-odds of the share of votes, or averaged scores."""
        return np.where(self.constant_labels_, self.constant_scores(X.shape[0]), self._combined(X, None))

    def _combined(self, X: Csr, counted: Bools | None) -> Floats:
        """The combined scores of the chains; `counted` (chains × documents) leaves out chains per document."""
        present, absent = np.zeros((2, X.shape[0], self.n_labels_))
        margins = self.score_kind is ScoreKind.MARGIN
        for number, chain in enumerate(self.chains_):
            rows: slice | npt.NDArray[np.intp] = slice(None) if counted is None else np.flatnonzero(counted[number])
            scores = chain.score_batch(X if counted is None else Csr(X[rows]))
            if self.combine == "votes":
                votes = chain.natural_decision(scores)
                present[rows] += votes
                absent[rows] += ~votes
            elif margins:
                present[rows] += scores
                absent[rows] += 1.0
            else:
                present[rows] += sigmoid(scores)
                absent[rows] += sigmoid(-scores)
        if margins:
            return np.asarray(present / absent)
        with np.errstate(divide="ignore"):
            return np.asarray(np.clip(np.log(present) - np.log(absent), -UNANIMOUS, UNANIMOUS))

    def natural_decision(self, scores: Floats) -> Bools:
        """A share of at least one half (a mean margin above 0), or the threshold that matches the cardinality."""
        if self.threshold == "half" and self.score_kind is ScoreKind.MARGIN:
            return np.asarray(scores > 0)
        learned = np.asarray(scores >= self.threshold_)
        return np.where(self.constant_labels_, self.always_, learned)

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term of one document adds, on average, to the chains' scores of some labels, labels × terms.

        The mean of the chains' own evidence: of their log-odds or margins, from which votes are counted. Constant
        labels have none.
        """
        return self.score_parts(x, labels).terms

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The mean of the chains' parts: of their margins, or of the log-odds that their votes are counted from."""
        document, wanted = asked_for(self, x, labels)
        n, limit = len(self.chains_), LOG_ODDS_LIMIT
        found = [chain.score_parts(document, wanted) for chain in self.chains_]
        totals = [np.clip(one.total, -limit, limit) / n for one in found]
        total = np.sum(totals, axis=0)
        intercept = np.sum([np.clip(one.intercept, -limit, limit) for one in found], axis=0) / n
        constants, fixed = self.constant_labels_[wanted], self.constant_scores(1)[0, wanted]
        kept = np.where(constants, 0.0, 1.0 / n)[:, np.newaxis]

        def mean(tables: list[Csr]) -> Csr:
            return Csr(sum(tables[1:], tables[0]).multiply(kept).tocsr())

        among = [one.labels for one in found if one.labels is not None]
        margins = self.score_kind is ScoreKind.MARGIN
        return ScoreParts(
            mean([one.terms for one in found]),
            np.where(constants, fixed, total),
            np.where(constants, fixed, intercept),
            mean(among) if among else None,
            "score" if margins else "mean log-odds of the chains",
            tuple((f"chain {number}", share) for number, share in enumerate(totals, start=1)),
        )


def count_matching_threshold(scores: Floats, wanted: int) -> float:
    """The threshold at or above which nearest to `wanted` scores lie; the higher one of two that are equally near.

    It lies in the middle of the gap below those scores.

    >>> [count_matching_threshold(np.array(scores), 2) for scores in ([0.9, 0.7, 0.7, 0.7, 0.2], [0.75, 0.5, 0.25])]
    [0.8, 0.375]
    """
    if not len(scores) or wanted <= 0:
        return float("inf")
    ordered = np.sort(scores)[::-1]
    value = ordered[min(wanted, len(ordered)) - 1]
    with_ties, above = int((ordered >= value).sum()), int((ordered > value).sum())
    if above and wanted - above <= with_ties - wanted:
        value = ordered[above - 1]
    return clear_threshold(scores, float(value))
