"""A model alone, or averaged with others where these are worth their time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.base import FACTS, DocumentScorer, MultiLabelModel, unfitted_copy
from manylabel.models.out_of_fold import out_of_fold_scores
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import FLAG, AnyOf, Constraint, Number, OneOf
from manylabel.strategies.ensemble import MEMBERS, Ensemble


class Blend(MultiLabelModel):
    """The first of some models; with `blended`, the mean of the calibrated log-odds of all (`Ensemble`, average).

    Whether to blend, and the cost `C` of the first model, are for a decision rule to choose (`BestRule`): it is offered
    the blend (`settings_to_try`) where non-zeros of X × labels are at most `most_work`; on larger data the others would
    take much longer than the first. The scores it chooses by are those of models that did not see the documents, put
    together by calibrations that did not either: each fold's are learned on the scores of the others. (These come from
    models that have seen the fold; to spare that too, every member would be fitted again inside every fold.)

    >>> from manylabel.models.binary_nb import BinaryNaiveBayes
    >>> from manylabel.models.linear_svm import LinearSVM
    >>> X, Y = Csr([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]] * 3), Csr([[1, 0], [0, 1], [1, 1], [0, 0]] * 3)
    >>> members = (LinearSVM(), BinaryNaiveBayes(smoothing="laplace", unlabelled="negative"))
    >>> [str(Blend(members, blended=both).fit(X, Y).score_kind) for both in (False, True)]
    ['margin', 'log_odds']
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "members": MEMBERS,
        "C": AnyOf(OneOf(None), Number(low=0, open_low=True)),
        "blended": FLAG,
        "most_work": Number(low=0),
        "folds": Number(low=2, whole=True),
        "seed": Number(low=0, whole=True),
        "n_jobs": AnyOf(OneOf(None, -1), Number(low=1, whole=True)),
    }
    model_: MultiLabelModel

    def __init__(
        self,
        members: Sequence[MultiLabelModel],
        C: float | None = None,
        blended: bool = False,
        most_work: float = 1e7,
        folds: int = 5,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.members = members
        self.C = C
        self.blended = blended
        self.most_work = most_work
        self.folds = folds
        self.seed = seed
        self.n_jobs = n_jobs

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """Log-odds of a blend; those of the first model otherwise."""
        return ScoreKind.LOG_ODDS if self.blended else self.members[0].score_kind

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether a model that may be asked needs non-negative input."""
        return any(getattr(member, "needs_counts", False) for member in self.members)

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """The facts about the corpus that any of the models wants."""
        return frozenset().union(*(member.wants for member in self.members))

    def settings_to_try(self, X: Csr, Y: Csr) -> list[dict[str, Any]]:
        """The blend, where it does not take too long and there is anything to blend."""
        return [{"blended": True}] if len(self.members) > 1 and X.nnz * Y.shape[1] <= self.most_work else []

    # --- learning ---------------------------------------------------------------------------------------------

    def fit(self, X: object, Y: object, **facts: Any) -> Self:
        """Learn the models that are asked; `facts` go to those that want them."""
        if unknown := facts.keys() - FACTS.keys():
            raise TypeError(f"Blend.fit takes no {', '.join(sorted(unknown))}.")
        kept = self.__dict__.pop("_scored", None)
        features, targets = self.check_training(X, Y)
        given = Y if targets.form == "single" else targets.Y
        if kept is not None and kept[0] is X and kept[1] is Y:
            # The members were asked about unseen documents just now: what was learned of them still holds.
            self.model_ = kept[2].fit_members(features, given, facts)
        else:
            model = self._model()
            self.model_ = model.fit(features, given, **_wanted(model, facts))
        return self

    def scores_out_of_fold(
        self, X: Csr, Y: Csr, folds: int, seed: int, options: Mapping[str, Any]
    ) -> tuple[Floats, Ints]:
        """Out-of-fold scores, and the rows they belong to; see the class for how a blend is scored."""
        model = self._model()
        if not isinstance(model, Ensemble):
            return out_of_fold_scores(model, X, Y, folds, seed, options=_wanted(model, options))
        scores, rows = model.combined_out_of_fold(X, Y, folds, seed, options)
        self._scored = (X, Y, model)
        return scores, rows

    def _asked(self) -> Sequence[MultiLabelModel]:
        return self.members if self.blended else self.members[:1]

    def _model(self) -> MultiLabelModel:
        asked = [unfitted_copy(member) for member in self._asked()]
        names = [name for name in asked[0].get_params() if name.rpartition("__")[2] == "C"]
        if self.C is not None:
            asked[0].set_params(**dict.fromkeys(names, self.C))
        if self.blended:
            return Ensemble(tuple(asked), folds=self.folds, seed=self.seed, n_jobs=self.n_jobs)
        threads = [name for name in asked[0].get_params() if name.rpartition("__")[2] == "n_jobs"]
        return asked[0].set_params(**dict.fromkeys(threads, self.n_jobs))

    # --- scoring ----------------------------------------------------------------------------------------------

    def score_batch(self, X: Csr) -> Floats:
        """Those of the model, or of the blend."""
        return self.model_.score_batch(X)

    def natural_decision(self, scores: Floats) -> Bools:
        """The model's."""
        return self.model_.natural_decision(scores)

    def document_scorer(self) -> DocumentScorer | None:
        """The model's."""
        return self.model_.document_scorer()

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """The model's."""
        return self.model_.evidence(self.features(x), labels)


def _wanted(model: MultiLabelModel, facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: fact for name, fact in facts.items() if name in model.wants}
