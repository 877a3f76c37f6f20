"""From labelled documents to a fitted pipeline: the features, then the model with its decision rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy.typing as npt

from manylabel.catalog import find_method
from manylabel.data.dates import read_dates
from manylabel.data.documents import rows_of
from manylabel.data.label_forms import MATRIX_FORMS, Labels, with_further_labels
from manylabel.deadline import Deadline
from manylabel.decisions.single_label import has_one_label_each, one_label_decision
from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import ParameterError, UnsupportedError
from manylabel.features.facts import Facts, Learned
from manylabel.features.pipeline import Documents, FeaturePipeline
from manylabel.memory import table_bytes
from manylabel.models.inputs import cannot_weigh
from manylabel.models.out_of_fold import MOST_SCORES
from manylabel.progress import remark, stage
from manylabel.recipe import Recipe
from manylabel.strategies.weighted_member import holds_vectors, reads_vectors
from manylabel.wording import counted, there_are

if TYPE_CHECKING:
    from manylabel.decisions.decided import DecidedModel
    from manylabel.decisions.described import DescribedModel
    from manylabel.evaluation.expected import ExpectedQuality


@dataclass(slots=True, eq=False)
class Training:
    """The settings of one training, and after `run` what was learned."""

    recipe: Recipe
    """The settings; after `run`, those for any numbers where documents have negative values."""
    features: Any
    """The settings of the vectoriser, or a transformer of scikit-learn."""
    folds: int = 5
    seed: int = 0
    n_jobs: int | None = None
    memory: str | int | None = None
    """The limit of memory, see `manylabel.memory`."""
    predicts_unseen: bool = True
    """Whether predictions of documents that the model did not see are kept in `unseen`."""
    encoder: Any = None
    """What turns texts into vectors beside the terms: a folder, an object or a function; None for terms alone."""

    pipeline: FeaturePipeline = field(init=False)
    decided: DecidedModel = field(init=False)
    is_time_ordered: bool = field(init=False, default=False)
    """Whether folds are time-ordered."""
    unseen: tuple[Csr, Csr] | None = field(init=False, default=None)
    """True and predicted labels of training documents, predicted by models that did not see them."""

    def run_where_it_gains(self, documents: Documents, Y: Csr, labels: Sequence[str], **options: Any) -> Training:
        """What `run` learns; where the vectors of the encoder gain nothing, what it learns without them."""
        found = self.run(documents, Y, labels, **options)
        view = found.pipeline.vectors_
        if view is None or view.is_used_:
            return found
        remark(f"The vectors of {view.name_} gain nothing out of fold, so the model is trained without them.")
        features = {name: value for name, value in self.recipe.features.items() if name != "encoder"}
        plain = replace(self, recipe=replace(self.recipe, features=features), encoder=None)
        if holds_vectors(found.decided.model_):  # its columns are those of documents with vectors
            return plain.run(documents, Y, labels, **options)
        found.pipeline.encoder = found.pipeline.vectors_ = None
        plain.pipeline, plain.decided = found.pipeline, found.decided.set_everywhere("vectors", 0)
        plain.is_time_ordered, plain.unseen = found.is_time_ordered, found.unseen
        return plain

    def run(
        self,
        documents: Documents,
        Y: Csr,
        labels: Sequence[str],
        *,
        terms: Sequence[str] | None = None,
        parents: Ints | None = None,
        sample_weight: Floats | None = None,
        deadline: Deadline | None = None,
        descriptions: Sequence[str] | None = None,
        dates: Sequence[Any] | npt.NDArray[Any] | None = None,
    ) -> Self:
        """Learn the features, then the model with its rule.

        `labels` names the columns of Y, `terms` those of ready-made counts; `parents` are the parents of the nodes of
        the label hierarchy. The `deadline` is checked while the model learns. `descriptions` are texts that describe
        the labels, in their order. With `dates`, one per document, folds are time-ordered.
        """
        moments = None if dates is None else _moments(dates, Y.shape[0])
        self.decided = self.recipe.build(folds=self.folds, seed=self.seed, n_jobs=self.n_jobs)
        if sample_weight is not None and not self.decided.weighs_documents:
            raise cannot_weigh(self.recipe.method)
        if descriptions is not None:
            from manylabel.decisions.described import DescribedModel

            described = self.decided = DescribedModel.of(self.decided)
            if not described.is_documented(Y):
                return self._run_undocumented(documents, Y, labels, described, descriptions)
        self.is_time_ordered = moments is not None
        rule, held_out = self.decided.rule, None
        divided = None if rule is None else self.decided.divide(rule, Y)
        if divided is not None:
            # Terms and weights are learned without the held-out documents, so that these are as new as later ones.
            train, rest = divided
            held_out = rows_of(documents, rest), Csr(Y[rest])
            documents, Y = rows_of(documents, train), Csr(Y[train])
            sample_weight = None if sample_weight is None else sample_weight[train]
            moments = None if moments is None else moments[train]
        learned = self._learn_features(documents, Y, labels, terms, descriptions)
        facts = self._facts(learned, Y, labels, parents, deadline, descriptions)
        unlearned = None if held_out is None else (self.pipeline.transform(held_out[0]), held_out[1])
        splits = None if moments is None else _time_ordered(moments, self.folds)
        self._learn_model(learned, Y, facts, unlearned, splits, sample_weight)
        return self

    def _learn_model(
        self,
        learned: Learned,
        Y: Csr,
        facts: Facts,
        held_out: tuple[Csr, Csr] | None,
        splits: Sequence[tuple[Ints, Ints]] | None,
        sample_weight: Floats | None,
    ) -> None:
        """Fit the model with its rule; the pipeline keeps the views of the documents that it chose to read."""
        with stage("Learning"):
            self.decided.fit(
                learned.X,
                Y,
                held_out=held_out,
                fold_features=learned.in_folds,
                report=self._keep_unseen if self.predicts_unseen else None,
                most_scores=table_bytes(self.memory, 8 * MOST_SCORES) // 8,
                splits=splits,
                **self.decided.wanted(facts),
                **({} if sample_weight is None else {"sample_weight": sample_weight}),
            )
        if self.pipeline.vectors_ is not None:
            self.pipeline.vectors_.is_used_ = reads_vectors(self.decided.model_)
        chosen = None if self.decided.choice_ is None else self.decided.choice_["settings"].get("views")
        if chosen:
            self.pipeline.views_ = facts["views"].kept(list(chosen))

    def _run_undocumented(
        self,
        documents: Documents,
        Y: Csr,
        labels: Sequence[str],
        described: DescribedModel,
        descriptions: Sequence[str],
    ) -> Self:
        """Learn from descriptions; documents, of which there may be none, tell how frequent words are."""
        self.pipeline = FeaturePipeline(self.features, n_jobs=self.n_jobs, encoder=self.encoder)
        rules = self.recipe.read_rules()
        learned = self.pipeline.fit_transform(documents, Y, rules=rules, labels=labels, further_texts=descriptions)
        described.fit_descriptions(learned.X, self._described(descriptions))
        return self

    def _described(self, descriptions: Sequence[str]) -> Csr:
        """Labels × terms, read as documents are."""
        pipeline = self.pipeline
        what = None if pipeline.vectorizer_ is not None else "a matrix or a transformer of scikit-learn"
        what = what if pipeline.keywords_ is None else "keyword rules"
        what = what if pipeline.vectors_ is None else "an encoder"
        if what is not None:
            raise UnsupportedError(
                f"Label descriptions are compared with texts, which cannot be combined with {what}. Leave one of them "
                "out."
            )
        return pipeline.transform(list(descriptions))

    def _learn_features(
        self,
        documents: Documents,
        Y: Csr,
        labels: Sequence[str],
        terms: Sequence[str] | None,
        descriptions: Sequence[str] | None,
    ) -> Learned:
        """X and what was learned with it; for documents with negative values, recipe and model are changed."""
        recipe = self.recipe
        self.pipeline = FeaturePipeline(self.features, recipe.selection, recipe.weighting, self.n_jobs, self.encoder)
        learned = self.pipeline.fit_transform(
            documents,
            Y,
            rules=recipe.read_rules(),
            labels=labels,
            terms=terms,
            must_select=recipe.must_select,
            further_texts=descriptions or (),
        )
        if descriptions is not None:
            learned.facts["descriptions"] = self._described(descriptions)
        if not learned.is_counts:
            self.recipe = recipe.for_any_numbers()
            self.decided = self.recipe.build_for_any_numbers(folds=self.folds, seed=self.seed, n_jobs=self.n_jobs)
        if self.pipeline.vectors_ is not None:
            self.recipe.read_vectors(self.decided, self.pipeline.vectors_.dimensions)
        return learned

    def _facts(
        self,
        learned: Learned,
        Y: Csr,
        labels: Sequence[str],
        parents: Ints | None,
        deadline: Deadline | None,
        descriptions: Sequence[str] | None,
    ) -> Facts:
        """What is known about the corpus besides X and Y, and the time that there is."""
        facts: Facts = {**learned.facts}
        if self.pipeline.vectors_ is not None and (vectors := self.pipeline.vectors_.of_names(labels)) is not None:
            facts["label_vectors"] = vectors
        if "name_terms" in self.decided.wants and descriptions is None and self._reads_words():
            assert self.pipeline.vectorizer_ is not None
            facts["name_terms"] = self.pipeline.transform_counts(self.pipeline.vectorizer_.transform(list(labels)))
        if parents is not None:
            facts["parents"] = parents
        if deadline is not None:
            facts["deadline"] = deadline
        if learned.counts is not None:
            of_counts = self.decided.counts_of_counts(learned.counts, Y)
            if of_counts is not None:
                facts["counts_of_counts"] = of_counts
        return facts

    def _reads_words(self) -> bool:
        """Whether X holds the counts of words of texts without fields, and nothing else but vectors behind them."""
        pipeline = self.pipeline
        others = pipeline.keywords_, pipeline.weighting_
        return all(one is None for one in others) and (
            pipeline.vectorizer_ is not None and pipeline.vectorizer_.fields is None
        )

    def _keep_unseen(self, Y_true: Csr, Y_pred: Csr) -> None:
        self.unseen = Y_true, Y_pred

    def expected(self) -> ExpectedQuality | None:
        """The quality to expect on new documents, by the predictions in `unseen`; None without them."""
        from manylabel.evaluation.expected import expected_quality

        if self.unseen is None:
            return None
        found = expected_quality(*self.unseen, self.decided.chosen_metrics, self.seed)
        return {**found, "order": "time"} if self.is_time_ordered else found


def with_described_labels(
    descriptions: Mapping[str, str | Sequence[str]] | None, given: Labels
) -> tuple[dict[str, str] | None, list[str], Csr]:
    """The checked descriptions, the names of all labels, and Y, in which labels without documents are empty columns."""
    if descriptions is None:
        return None, given.names, given.Y
    from manylabel.data.label_descriptions import checked_descriptions  # predicting starts faster without it

    described = checked_descriptions(descriptions)
    if given.form in MATRIX_FORMS:
        return described, given.names, given.Y
    return described, *with_further_labels(described, given.names, given.Y)


def for_one_label(recipe: Recipe, Y: Csr, single_label: bool | None) -> Recipe:
    """The recipe, changed to predict exactly one label where `single_label` or, with None, the documents ask for it."""
    if not (has_one_label_each(Y) if single_label is None else single_label):
        return recipe
    decision = one_label_decision(recipe.decision, find_method(recipe.method).decision)
    if decision is not None:
        return replace(recipe, decision=decision)
    if single_label:
        raise ParameterError(
            f"single_label=True predicts the label with the highest score, but the decision is {recipe.decision}. "
            "Give one of them."
        )
    return recipe


def _moments(dates: Sequence[Any] | npt.NDArray[Any], n_documents: int) -> npt.NDArray[Any]:
    """The dates as values that sort by time; an error unless there is one per document."""
    given = list(dates)
    if len(given) != n_documents:
        raise ParameterError(
            f"{there_are(n_documents, 'document').capitalize()} but {counted(len(given), 'date')}. Give one date per "
            "document."
        )
    return read_dates(given)


def _time_ordered(dates: npt.NDArray[Any], folds: int) -> list[tuple[Ints, Ints]]:
    from manylabel.data.splits import time_blocks  # predicting starts faster without the splits

    return time_blocks(dates, folds)
