"""What a fitted `TextClassifier` predicts and knows: labels, scores and decisions, in batches or one text at a time."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from manylabel.data.corpus import Text
from manylabel.data.documents import DocumentStream, is_frame, length_of, read_documents
from manylabel.data.label_forms import MATRIX_FORMS, SINGLE_FORMS, check_same_length, read_labels
from manylabel.data.labels import label_sets, stack
from manylabel.decisions.corrected import LabelThresholds, checked_target, checked_thresholds, corrected, figures_of
from manylabel.decisions.shown import thresholds_for_target
from manylabel.estimator import Csr, Estimator, Floats
from manylabel.exceptions import DecisionError, UnsupportedError
from manylabel.features.pipeline import Documents
from manylabel.memory import table_bytes
from manylabel.models.score_kinds import undisplay
from manylabel.parameters import names_given
from manylabel.progress import stage
from manylabel.text_model import TextModel
from manylabel.wording import settings_text

if TYPE_CHECKING:
    from manylabel.explanation import Explanation

BATCH_BYTES = 64 << 20
SHORT_WAY = 16
"""Up to this many documents are classified one by one, which costs less than building matrices for them."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted labels of one document, its scores and the thresholds of the labels."""

    labels: list[str]
    scores: Floats
    thresholds: Floats | None


class TextPredictor(TextModel):
    """The predicting half of `TextClassifier`, which adds parameters, learning and storage.

    A document passes through `features_`, which counts and weighs its terms, and `decided_`, which scores the labels
    and decides. Everything else here is about batches, single texts, and the form of labels.
    """

    method: str
    memory: str | int | None
    _short_way: Callable[[Text], list[int]] | None = None
    _short_way_is_known: bool = False

    # ---- labels ------------------------------------------------------------------------------------------------------

    def predict(self, documents: Documents) -> Any:
        """The labels of each document, in the form they were given to `fit`: lists of names by default.

        Where `fit` was given one label per document, this is the label with the highest score.
        """
        self.check_fitted()
        given = self._read(documents)
        if self.label_form_ in SINGLE_FORMS:
            return self._predict_one_each(given)
        if not isinstance(given, Csr) and len(given) <= SHORT_WAY:
            label_columns = self.short_way()
            if label_columns is not None:
                return [[self.labels_[column] for column in label_columns(text)] for text in given]
        S = stack([S for S, _ in self.iter_decisions(given)], len(self.labels_))
        if self.label_form_ in MATRIX_FORMS:
            return S if self.label_form_ == "matrix" else S.toarray().astype(np.int64)
        return label_sets(S, self.labels_ if self.label_kind_ == "str" else self.classes_.tolist())

    def _predict_one_each(self, documents: Documents) -> Any:
        """The label with the highest score of each document; a list or an array, as in `fit`."""
        best = [self.decided_.score_batch(X).argmax(axis=1) for X in self._batches(documents)]
        values = self.classes_[np.concatenate([np.zeros(0, dtype=np.intp), *best])]
        return values.tolist() if self.label_form_ == "names" else values

    def score(self, documents: Documents, y: Any, *, metric: str | None = None) -> float:
        """Micro-averaged F1 over all labels the classifier knows; the accuracy if `fit` got one label per document.

        `metric` names another metric of label sets (`manylabel.metrics.METRICS`), such as "macro-f1". True labels that
        the classifier does not know are left out; ``manylabel evaluate`` counts them as missed.
        """
        from manylabel.metrics import DEFAULT_METRIC, compute_metrics

        self.check_fitted()
        predicted = read_labels(self.predict(documents), self.labels_).Y
        given = read_labels(y, self.labels_, others="omit").Y
        check_same_length(predicted, given, at_least=0)
        if metric is None and self.label_form_ in SINGLE_FORMS:  # the same, but that an unknown true label is wrong
            return float(given.multiply(predicted).sum() / max(given.shape[0], 1))
        name = metric or DEFAULT_METRIC
        return compute_metrics(given, predicted, [name])[name]

    # ---- scores ------------------------------------------------------------------------------------------------------

    def predict_scores(self, documents: Documents, *, raw: bool = False) -> Any:
        """Scores, documents × labels; a DataFrame with a column per label after ``set_output(transform="pandas")``.

        Probabilities if the method has them or they were learned (by default where thresholds are; ``probabilities`` of
        the decision), margins or similarities otherwise. With `raw`, the method's own, which the decision rule reads.
        """
        self.check_fitted()
        return self.framed(
            self._scores(documents, lambda scores: self.decided_.shown(scores, raw=raw)), documents, self.labels_
        )

    @property
    def predict_proba(self) -> Callable[[Documents], Floats]:
        """``predict_proba(documents)``: probabilities, documents × labels; refused if the method has none.

        Rows sum to 1 where `fit` was given one label per document.
        """
        if not self.scores_are_probabilities:
            raise UnsupportedError(
                f"{self.method} does not yield probabilities by itself. Train it with "
                f"{settings_text(**{'decision.probabilities': 'logistic'})}."
            )

        # scikit-learn's scorers read the name: of two classes they take the column of the second, of two labels both.
        def predict_proba(documents: Documents) -> Floats:
            shown = self._label_probabilities(documents)
            total = shown.sum(axis=1, keepdims=True)
            return np.where(total == 0, 1.0 / len(self.labels_), shown / np.where(total == 0, 1.0, total))

        return predict_proba if self.label_form_ in SINGLE_FORMS else self._label_probabilities

    def _label_probabilities(self, documents: Documents) -> Floats:
        """The probability of each label on its own, documents × labels."""
        return self._scores(documents, self.decided_.shown)

    def decision_function(self, documents: Documents) -> Floats:
        """The scores that the decision rule reads, documents × labels, finite; for two classes the lead of the second.

        Use `predict_scores` for scores in the units of the thresholds.
        """
        scores = self._scores(documents, np.asarray)
        if self.label_form_ in SINGLE_FORMS and len(self.labels_) == 2:
            scores = scores[:, 1] - scores[:, 0]
        return np.nan_to_num(scores)

    def _scores(self, documents: Documents, shown: Callable[[Floats], Floats]) -> Floats:
        """The scores of all documents, as `shown` returns those of a batch."""
        self.check_fitted()
        batches = [shown(self.decided_.score_batch(X)) for X in self._batches(documents)]
        return np.vstack(batches) if batches else np.zeros((0, len(self.labels_)))

    @property
    def thresholds(self) -> LabelThresholds:
        """The threshold of each label; empty for rules without one threshold per label.

        Assigning to a label corrects the model: ``model.thresholds["roads"] = 0.6``. A number or a mapping assigned to
        ``model.thresholds`` sets all labels or some. The model keeps a record of every change.
        """
        self.check_fitted()
        values = self.decided_.thresholds()
        found = {} if values is None else dict(zip(self.labels_, values.tolist(), strict=True))
        return LabelThresholds(found, self.correct_thresholds)

    @thresholds.setter
    def thresholds(self, values: float | Mapping[Any, float]) -> None:
        self.correct_thresholds(values)

    def thresholds_for(self, *, precision: float | None = None, recall: float | None = None) -> dict[str, float]:
        """The thresholds at which labels reach a precision or a recall; labels that do not reach it are left out.

        ``model.thresholds = model.thresholds_for(precision=0.9)`` sets them. The target is reached on the out-of-fold
        scores on which they are chosen; on new documents, expect less precision.
        """
        self.check_fitted()
        decided, target = self.decided_, checked_target(precision, recall)
        figures = figures_of(decided)
        found = thresholds_for_target(figures, *target, decided.score_kind, decided.calibration_)
        return {name: shown for name, shown in zip(self.labels_, found.tolist(), strict=True) if not math.isnan(shown)}

    def correct_thresholds(self, values: float | Mapping[Any, float], reason: str = "set") -> None:
        """Set the thresholds of some labels (a mapping) or of all (a number), in the units of `predict_scores`.

        `reason` is kept in the record of the change, which the model file holds and ``inspect`` prints. The expected
        quality was measured with the former thresholds, so it is dropped.
        """
        self.check_fitted()
        columns, shown = checked_thresholds(values, self.labels_, self.scores_are_probabilities)
        self.decided_.rule_ = corrected(self.decided_, self.labels_, columns, shown, reason)
        self.expected_ = None
        self.forget_short_way()

    def decide(self, scores: Floats, *, raw: bool = False) -> list[list[str]]:
        """The label sets that the model's rule decides from scores of `predict_scores`, called with the same `raw`."""
        self.check_fitted()
        rule, kind = self.decided_.rule_, self.decided_.score_kind
        if rule is None:
            raise DecisionError(f"{self.method} decides by itself, not from its scores per label. Use predict.")
        if self.decided_.calibration_ is not None and not raw:
            raise DecisionError(
                "The rule reads raw scores, which cannot be recovered from calibrated probabilities. Use predict, or "
                "pass raw scores: model.decide(model.predict_scores(documents, raw=True), raw=True)."
            )
        return label_sets(rule.decide(undisplay(np.asarray(scores, dtype=np.float64), kind), kind), self.labels_)

    # ---- batches -----------------------------------------------------------------------------------------------------

    def _read(self, documents: Documents) -> Documents:
        """The documents as `read_documents` returns them; those of a DataFrame have the columns of the training."""
        self.check_no_row(documents)
        return read_documents(self.checked_frame(documents) if is_frame(documents) else documents)

    def transform(self, documents: Documents) -> Any:
        """X, the matrix of documents × terms that the model reads."""
        self.check_fitted()
        given = self._read(documents)
        return self.framed(self.features_.transform(given), documents)

    def _batches(self, documents: Documents | DocumentStream) -> Iterator[Csr]:
        """Yield X of one batch of documents after the other, so that the scores of a batch fit into memory."""
        if isinstance(documents, DocumentStream):
            for texts in documents.batches():
                yield from self._batches(texts)
            return
        given = self._read(documents)
        batch = BATCH_BYTES if self.memory is None else table_bytes(self.memory, BATCH_BYTES)
        total, step = length_of(given), max(1, batch // (8 * max(1, len(self.labels_))))
        with stage("Classifying", total) as advance:
            for start in range(0, total, step):
                X = self.features_.transform(given[start : start + step])
                # Counted texts are valid; the numbers of a ready-made matrix may be more than the model can read.
                yield self.decided_.features(X) if isinstance(given, Csr) else X
                advance(X.shape[0])

    def iter_decisions(self, documents: Documents | DocumentStream) -> Iterator[tuple[Csr, Callable[[], Floats]]]:
        """Yield the predicted label sets of each batch, with a function that returns the model's scores for it.

        Scores that a rule has read are not computed again; for a method that decides by itself, or from the scores of a
        few candidates, those of all labels are computed only when the function is called.
        """
        self.check_fitted()
        by_itself = self.decided_.rule_ is None or self.decided_.scores_candidates
        for X in self._batches(documents):
            scores = None if by_itself else self.decided_.score_batch(X)
            again = partial(self.decided_.score_batch, X) if scores is None else partial(np.asarray, scores)
            yield self._decide(X, scores), again

    def iter_predictions(
        self, documents: Documents, *, threshold: float | None = None, top: int | None = None, raw: bool = False
    ) -> Iterator[Prediction]:
        """Yield one `Prediction` per document, computed in batches of bounded memory.

        By default the model's rule decides. With `threshold`, a document gets the labels whose score, as
        `predict_scores` returns it, is at least that; with `top`, its best labels; with both, up to `top` labels that
        reach the threshold. `raw` shows the method's own scores and thresholds.
        """
        self.check_fitted()
        decided, by_rule = self.decided_, threshold is None and top is None
        if threshold is not None:
            checked_thresholds(threshold, self.labels_[:1], self.scores_are_probabilities)
        thresholds = decided.thresholds(raw=raw) if by_rule else None
        if threshold is not None and not (raw and decided.calibration_ is not None):
            thresholds = np.full(len(self.labels_), float(threshold))
        for X in self._batches(documents):
            scores = decided.score_batch(X)
            chosen = self._decide(X, scores) if by_rule else decided.decide_by_shown(X, scores, threshold, top)
            for names, row in zip(label_sets(chosen, self.labels_), decided.shown(scores, raw=raw), strict=True):
                yield Prediction(names, row, thresholds)

    def _decide(self, X: Csr, scores: Floats | None) -> Csr:
        decided = self.decided_
        return Csr(decided.predict(X)) if scores is None else decided.decide(X, scores)

    def remarks(self, documents: Documents | DocumentStream) -> dict[str, Any]:
        """The method's remarks on how it made these predictions; empty for most methods, see `remarks_of`."""
        from manylabel.evaluation.remarks import remarks_of

        self.check_fitted()
        return remarks_of(self.decided_, self.labels_, self._batches(documents))

    def explain(
        self, document: Any, *, labels: Sequence[str | int] | None = None, runners_up: int = 2, what_if: bool = True
    ) -> Explanation:
        """Why labels are predicted for one document, and why others nearly are.

        For each label its score and threshold, what every term adds to the score, and where the term stands in the
        text. `document` is one text, one mapping from field to text, or one row of a matrix. By default the predicted
        labels are explained and the `runners_up` others with the highest scores; `labels` names others, by name or URI.
        `what_if` looks for the words that each prediction hangs on.

        >>> from manylabel import TextClassifier
        >>> texts = ["the bus was late again", "a hole in the road", "no bus, and holes in the road", "late bus"]
        >>> model = TextClassifier("nb-binary").fit(texts, [["buses"], ["roads"], ["buses", "roads"], ["buses"]])
        >>> found = model.explain("Is the bus late?")["buses"]
        >>> [(one.term, round(one.contribution, 2), one.occurrences) for one in found.terms if one.contribution > 0.5]
        [('bus', 1.02, (((0, 7, 10),),)), ('late', 0.94, (((0, 11, 15),),))]
        """
        from manylabel.explaining import Asked, DocumentReader, explain_document, label_columns, one_document

        self.check_fitted()
        if is_frame(document):
            document = self.checked_frame(document)
        reader = DocumentReader(self.features_, one_document(document))
        wanted = None if labels is None else [self.own_label(label) for label in names_given("labels", labels)]
        asked = Asked(label_columns(wanted, self.labels_), runners_up, what_if)
        return explain_document(reader, self.decided_, self._shown_and_predicted, self.labels_, asked, self.method)

    def export(self, path: str | os.PathLike[str], to: str) -> list[Path]:
        """Write the model for another language or engine; return the files written.

        `to` is "json" or "js" (one file), "sklearn", "onnx" or "duckdb" (a folder); docs/exporting.md describes them.
        Methods whose scores are not linear in the counts are refused with an `UnsupportedError`.
        """
        from manylabel.exporting.targets import export

        self.check_fitted()
        return export(self, self.method, to, Path(path))

    def _shown_and_predicted(self, X: Csr) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """The scores as they are shown and the predicted labels, documents × labels each."""
        scores = self.decided_.score_batch(X)
        if self.label_form_ in SINGLE_FORMS:
            predicted = np.zeros(scores.shape, dtype=np.bool_)
            predicted[np.arange(len(scores)), scores.argmax(axis=1)] = True
        else:
            predicted = self._decide(X, scores).toarray() > 0
        return self.decided_.shown(scores), predicted

    # ---- one text at a time ------------------------------------------------------------------------------------------

    def short_way(self) -> Callable[[Text], list[int]] | None:
        """A function that predicts one text, as label columns, without building matrices; None if there is none.

        Its predictions equal those of `predict`. It is built on first use.
        """
        if not self._short_way_is_known:
            self.check_fitted()
            self._short_way, self._short_way_is_known = self._make_short_way(), True
        return self._short_way

    def _make_short_way(self) -> Callable[[Text], list[int]] | None:
        decided, score = self.decided_, self.text_scorer()
        rule, kind = decided.rule_, decided.score_kind
        if score is None or rule is None:
            return None

        def label_columns(text: Text) -> list[int]:
            scores, is_known = score(text)
            if not is_known:
                return []
            chosen: list[int] = rule.decide_dense(scores[np.newaxis], kind)[0].nonzero()[0].tolist()
            return chosen

        return label_columns

    def text_scorer(self) -> Callable[[Text], tuple[Floats, bool]] | None:
        """A function that returns the scores of one text, as the rule reads them, and whether it can get labels.

        It builds no matrices; None where the method or the form of the labels needs them.
        """
        self.check_fitted()
        read, score = self.features_.document_reader(), self.decided_.document_scorer()
        by_rule = self.label_form_ == "sets" and self.label_kind_ == "str" and self.decided_.rule_ is not None
        if not by_rule or read is None or score is None:
            return None
        labels_empty = self.decided_.labels_empty_documents

        def scores_of(text: Text) -> tuple[Floats, bool]:
            terms, values = read(text)
            return score(terms, values), labels_empty or bool(np.count_nonzero(values))

        return scores_of

    def use_threads(self, n_jobs: int | None) -> Self:
        """Let all that was learned predict on up to `n_jobs` threads (None: one per core); the same object."""

        def visit(value: Any) -> None:
            if isinstance(value, Estimator):
                value.set_everywhere("n_jobs", n_jobs)
                for learned in value.learned_state().values():
                    visit(learned)
            elif isinstance(value, (list, tuple)):
                for one in value:
                    visit(one)

        visit(self)
        return self

    def forget_short_way(self) -> None:
        """Drop the function of `short_way`, because something else was learned."""
        self._short_way, self._short_way_is_known = None, False

    def __getstate__(self) -> dict[str, Any]:
        """The state that a copy keeps: everything but the short way, which is built again."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_short_way")}
