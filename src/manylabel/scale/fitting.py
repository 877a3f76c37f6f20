"""Models fitted to documents on disk: from merged tables of counts, in blocks of labels or of terms, or part by part.

Blocks of labels are those of linear classifiers (`svm_blocks`, `logistic_blocks`), blocks of terms those of mixture
models (`mixture_blocks`); neighbours are found part by part (`neighbour_parts`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np

from manylabel import modelfile
from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.exceptions import UnsupportedError
from manylabel.features.contingency import Contingency
from manylabel.features.select import TermSelector
from manylabel.features.weighting import Weighting
from manylabel.models.base import MultiLabelModel
from manylabel.models.count_model import LabelTermCounts
from manylabel.models.inputs import AdditiveModel
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.neighbour_model import NeighbourModel
from manylabel.models.out_of_fold import OutOfFold, fitting_fold, scored_folds, scored_rows
from manylabel.models.pmm_base import ParametricMixture
from manylabel.models.score_kinds import Bools
from manylabel.models.value_counts import ValueTable
from manylabel.scale.engine import Engine, Task
from manylabel.scale.logistic_blocks import logistic_label_blocks
from manylabel.scale.matrix import Matrix
from manylabel.scale.mixture_blocks import fit_mixture
from manylabel.scale.neighbour_parts import fit_neighbours
from manylabel.scale.selected import PARTS_A_TASK, Selected, csr_arrays, csr_of
from manylabel.scale.svm_blocks import Kept, fit_blocks, label_blocks
from manylabel.scale.tables import digest, replace_array, replace_arrays, save_arrays
from manylabel.strategies.weighted_member import WeightedMember
from manylabel.wording import setting_name

TABLES = {"LabelTermCounts": LabelTermCounts, "ValueTable": ValueTable, "Contingency": Contingency}


# ---- tasks -----------------------------------------------------------------------------------------------------------


def count_labels(output: Path, documents: Mapping[str, Any], model: str, start: int) -> None:
    """Count the table that a model or a selection of terms learns from, in some parts from `start` on; a task."""
    selected, learner = Selected.from_dict(documents), cast(AdditiveModel, modelfile.load(model))
    (part, first, within), Y = selected.in_parts(start), selected.Y()
    table = learner.count(Csr(np.zeros((0, part.n_terms))), Csr(np.zeros((0, Y.shape[1]), dtype=np.int8)))
    for numbers, X in Selected(part, selected.labels, None, selected.weighting).blocks(within):
        table = table + learner.count(X, Csr(Y[first + numbers]))
    save_table(output, table)


def add_tables(output: Path, inputs: Sequence[str]) -> None:
    """Add tables that `count_labels` wrote; a task."""
    total = load_table(Path(inputs[0]))
    for name in inputs[1:]:
        total = total + load_table(Path(name))
    save_table(output, total)


def save_table(path: Path, table: Any) -> None:
    """Write a table of counts to a file: arrays, sparse matrices and numbers."""
    plain: dict[str, Any] = {"kind": np.array(type(table).__name__)}
    for item in fields(table):
        value = getattr(table, item.name)
        if isinstance(value, Csr):
            plain |= csr_arrays(item.name, value)
        else:
            plain[item.name] = np.asarray(value)
    save_arrays(path, plain)


def load_table(path: Path) -> Any:
    """The table that `save_table` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        kind = TABLES[str(stored["kind"])]
        found: dict[str, Any] = {}
        for item in fields(kind):
            if f"{item.name}.indptr" in stored:
                found[item.name] = csr_of(item.name, stored)
            else:
                array = stored[item.name]
                found[item.name] = array if array.ndim else array.item()
    return kind(**found)


# ---- fitting ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class ShardedOutOfFold(OutOfFold):
    """Documents on disk with the folds of `OutOfFold`: models are fitted by the tasks of an engine.

    X is a `Matrix`. Folds, sampled documents, and the selection and weighting of each fold are those of a training in
    memory.
    """

    engine: Engine = None  # type: ignore[assignment]
    folder: Path = Path()
    """Where results of tasks are kept. Their names are made of what they were computed from, so that they are found
    again after an interruption."""
    weighting: Weighting | None = None
    """The weighting of the method, not fitted."""
    frequency: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """The number of documents with each term."""
    selector: TermSelector | None = None
    """The selection of terms of the method, not fitted; None to read all terms."""
    labels: Csr = field(default_factory=lambda: Csr(np.zeros((0, 0), dtype=np.int8)))
    """Y of all labels, which the selection learns from also where a model learns some of them."""

    @property
    def matrix(self) -> Matrix:
        """The counts of all documents, which are on disk."""
        return cast(Matrix, self.X)

    def fit_whole(self, model: MultiLabelModel, Y: Csr) -> MultiLabelModel:
        """See `OutOfFold.fit_whole`."""
        documents = self.with_selection(None)
        return documents.fit_rows(model, Y, None, documents.learn_weighting(self.weighting, None))[0]

    def fit_keeping(self, model: MultiLabelModel, Y: Csr) -> tuple[MultiLabelModel, Kept | None]:
        """See `OutOfFold.fit_keeping`; the solution is in files."""
        documents = self.with_selection(None)
        weighting = documents.learn_weighting(self.weighting, None)
        return documents.fit_rows(model, Y, None, weighting, keeps_dual=True)

    def __call__(self, model: MultiLabelModel, Y: Csr, initial: Kept | None = None) -> tuple[Floats, Ints, Bools]:
        """See `OutOfFold`."""
        n_documents, n_labels = Y.shape
        rows = scored_rows(n_documents, n_labels, self.folds, self.seed, self.most_scores)
        scores, empty = np.empty((len(rows), n_labels)), np.zeros(len(rows), dtype=np.bool_)
        for train, test in scored_folds(Y, rows, self.folds, self.seed):
            wanted = np.zeros(n_documents, dtype=np.bool_)
            wanted[train] = True
            documents = self.with_selection(wanted)
            weighting = documents.learn_weighting(self.weighting, wanted)
            with fitting_fold():
                fitted, _ = documents.fit_rows(model, Y, wanted, weighting, initial)
            tested = np.intersect1d(test, rows, assume_unique=True)
            counts = documents.matrix.rows(tested)
            X = counts.astype(np.float64) if weighting is None else weighting.transform(counts)
            places = np.searchsorted(rows, tested)
            scores[places], empty[places] = fitted.scores(X), np.diff(X.indptr) == 0
        return scores, rows, empty

    def candidates(self, model: MultiLabelModel, Y: Csr) -> NoReturn:
        """Raise an error: no model that scores candidates learns from documents on disk."""
        raise _refusal(model)

    def fit_rows(
        self,
        model: MultiLabelModel,
        Y: Csr,
        wanted: Bools | None,
        weighting: Weighting | None,
        start: Kept | None = None,
        keeps_dual: bool = False,
    ) -> tuple[MultiLabelModel, Kept | None]:
        """A copy of the model fitted to the wanted documents, read with a weighting; with `keeps_dual`, its solution.

        SVMs begin with the solution `start`.
        """
        if isinstance(model, WeightedMember):
            own = self.learn_weighting(model.weighting, wanted)
            fitted = unfitted_copy(model)
            fitted.note_shape(self.matrix.n_terms, Y.shape[1])
            inner, kept = self.fit_rows(model.model, Y, wanted, own or weighting, start, keeps_dual)
            return fitted.restore({**fitted.learned_state(), "weighting_": own, "model_": inner}), kept
        selected = Selected(
            self.matrix,
            self._kept_labels(Y),
            None if wanted is None else self._kept_rows(wanted),
            None if weighting is None else self._kept_estimator(weighting),
        )
        unfitted = unfitted_copy(model)
        if isinstance(model, LinearSVM):
            carried = Csr(Y if wanted is None else Y[wanted])
            return self._in_blocks(cast(LinearSVM, unfitted), selected, carried, start, keeps_dual)
        place = self._place(unfitted, selected)
        if isinstance(unfitted, ParametricMixture):
            return fit_mixture(unfitted, selected, Y, self.frequency, self.engine, place), None
        if isinstance(unfitted, NeighbourModel):
            return fit_neighbours(unfitted, selected, Y, self._frequency(wanted), self.engine, place), None
        if not model.is_additive:
            raise _refusal(model)
        table = self._counted(unfitted, selected)
        return cast(MultiLabelModel, cast(AdditiveModel, unfitted).fit_table(table, **model.wanted(self.facts))), None

    def _in_blocks(
        self, model: LinearSVM, selected: Selected, Y: Csr, start: Kept | None, keeps_dual: bool
    ) -> tuple[MultiLabelModel, Kept | None]:
        """Linear classifiers of labels in blocks; Y holds the labels of the selected documents."""
        counts = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.int64)
        if model.loss == "logistic":
            apart = logistic_label_blocks(counts, Y.shape[0], selected.matrix.n_terms)
            results = Kept(self._place(model, selected), apart)
            return fit_blocks(model, selected, "logistic_blocks:solve_block", self.engine, results, {}), None
        blocks = label_blocks(counts, Y.shape[0]) if start is None else start.blocks
        further: dict[str, list[Any]] = {}
        if start is not None:
            further["start"] = [str(start.path(number)) for number in range(len(blocks))]
        if keeps_dual:
            further["keeps_dual"] = [True] * len(blocks)
        results = Kept(self._place(model, selected, start and start.folder, "dual" if keeps_dual else None), blocks)
        fitted = fit_blocks(model, selected, "svm_blocks:solve_block", self.engine, results, further)
        return fitted, results if keeps_dual else None

    def _counted(self, learner: MultiLabelModel | TermSelector, selected: Selected) -> Any:
        """The table of the selected documents that a model or a selection learns from."""
        place, path = self._place(learner, selected), str(self._kept_estimator(learner))
        tasks = [
            Task(
                "fitting:count_labels",
                place / f"counts-{start:05d}",
                {"documents": selected.as_dict(), "model": path, "start": start},
            )
            for start in range(0, len(self.matrix.parts), PARTS_A_TASK)
        ]
        self.engine.run(tasks, "Counting terms by label")
        counted = [task.output for task in tasks]
        merged = self.engine.reduce("fitting:add_tables", counted, place / "sums", "Adding tables")
        self.engine.rest()
        return load_table(merged)

    def with_selection(self, wanted: Bools | None) -> ShardedOutOfFold:
        """The documents with the terms that the wanted ones select; themselves where all terms are read."""
        if self.selector is None:
            return self
        rows = None if wanted is None else self._kept_rows(wanted)
        selected = Selected(self.matrix, self._kept_labels(self.labels), rows)
        path = self._place(self.selector, selected) / "columns.npy"
        if not path.exists():
            columns = np.full(self.matrix.n_terms, -1, dtype=np.int32)
            kept = unfitted_copy(self.selector).fit_table(self._counted(self.selector, selected)).kept_
            columns[kept] = np.arange(len(kept), dtype=np.int32)
            replace_array(path, columns)
        matrix = replace(self.matrix, selection=path)
        matrix = replace(matrix, n_terms=len(matrix.kept))
        return replace(self, X=matrix, frequency=self.frequency[matrix.kept], selector=None)  # type: ignore[arg-type]

    def learn_weighting(self, weighting: Weighting | None, wanted: Bools | None) -> Weighting | None:
        """The weighting, fitted to the wanted documents."""
        if weighting is None:
            return None
        documents = self.matrix.shape[0] if wanted is None else int(wanted.sum())
        state = {"document_frequency_": self._frequency(wanted), "n_documents_": documents, "weighed_before_": False}
        return unfitted_copy(weighting).restore(state)

    def _frequency(self, wanted: Bools | None) -> Ints:
        """How many of the wanted documents have each term."""
        frequency = self.frequency.copy()
        if wanted is not None:  # few documents are held out: those are read
            for _, X in self.matrix.blocks(~wanted):
                frequency -= np.bincount(X.indices, minlength=self.matrix.n_terms)
        return frequency

    # ---- files that tasks read -------------------------------------------------------------------------------------

    def _place(
        self,
        model: MultiLabelModel | TermSelector,
        selected: Selected,
        start: Path | None = None,
        kept: str | None = None,
    ) -> Path:
        """The folder for the results of one fit, named after all that it depends on, and what of it is kept."""
        named = [self._kept_estimator(model), selected.labels, selected.rows, selected.weighting, start]
        return self.folder / f"fit-{digest(json.dumps([*(path and path.name for path in named), kept]).encode())}"

    def _kept_labels(self, Y: Csr) -> Path:
        path = self.folder / f"labels-{digest(Y.indptr.tobytes(), Y.indices.tobytes(), str(Y.shape).encode())}"
        return _kept(path, csr_arrays("Y", Y))

    def _kept_rows(self, wanted: Bools) -> Path:
        return _kept(self.folder / f"rows-{digest(wanted.tobytes())}", {"rows": wanted})

    def _kept_estimator(self, estimator: Any) -> Path:
        """A file with an estimator, fitted or not, named after its settings and what it learned."""
        state = {name: value for name, value in estimator.learned_state().items() if isinstance(value, np.ndarray)}
        settings = repr(
            [(type(one).__name__, sorted(one.get_params(deep=False).items(), key=str)) for one in [estimator]]
        )
        path = self.folder / f"model-{digest(settings.encode(), *(state[name].tobytes() for name in sorted(state)))}"
        if not path.exists():
            modelfile.save(estimator, path)
        return path


def _kept(path: Path, arrays: Mapping[str, Any]) -> Path:
    """The path of a file that is written unless it is there."""
    if not path.exists():
        replace_arrays(path, arrays)
    return path


def check_model(model: MultiLabelModel) -> None:
    """Raise an error for a model that cannot learn from documents on disk."""
    inner = model.model if isinstance(model, WeightedMember) else model
    if not (inner.is_additive or isinstance(inner, LinearSVM | ParametricMixture | NeighbourModel)):
        raise _refusal(inner)


def _refusal(model: MultiLabelModel) -> UnsupportedError:
    """Why a model cannot learn from documents on disk."""
    return UnsupportedError(
        f"{type(model).__name__} cannot be trained on a corpus that does not fit in memory. Use naive Bayes, "
        "Rocchio, a linear SVM, logistic regression, a mixture model or neighbours (nb, rocchio, svm, logistic, pmm, "
        f"knn or the default), or raise {setting_name('memory')}."
    )
