"""Linear SVMs of documents on disk: labels in blocks, each solved on the documents that decide about it.

A document whose margin is met has no influence on the solution (its dual variable is 0). So a block of labels is solved
in memory on its positives and some others; then all documents are streamed, those whose margin is violated are
added, and the labels that they violate are solved again from there, until none is left. The result is the solution on
all documents, to the solver's tolerance. Source: the working sets of the solver in memory (docs/decisions/0010), across
files.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

import numpy as np
from scipy import sparse

from manylabel import modelfile
from manylabel.estimator import Csr, Floats, Ints
from manylabel.kernels.linear_solvers import SINGLE_TOLERANCE, Column, LinearFit, fit_linear
from manylabel.kernels.pruning import largest
from manylabel.kernels.score_batches import batch_scores
from manylabel.models.linear_svm import MANY_WEIGHTS, PRUNED_SHARE, LinearSVM
from manylabel.models.score_kinds import Bools
from manylabel.scale.engine import Engine, Task
from manylabel.scale.selected import PARTS_A_TASK, Selected, csr_arrays, csr_of
from manylabel.scale.tables import save_arrays

MOST_POSITIVES = 1 << 17
"""Documents of the labels of a block, beyond which it has no further label."""
LEAST_WORK, WORK_A_DOCUMENT = 1 << 20, 64
"""Labels × documents in memory of a block, beyond which it has no further label: so many, or so many for each document
of the corpus where that is more. Blocks are the tasks that workers share, and all documents are read for each."""
OTHERS = 1 << 13
"""Random documents that a block begins with beside those of its labels."""
MOST_MEMBERS = 3 << 17
"""Documents in memory beyond which the labels of a block are solved in smaller groups; one label may need more."""
MOST_DENSE, DENSE_SHARE = 1 << 25, 0.5
"""Weights of up to so many cells are dense if a term of a document has weights for more than this share of the labels:
a sparse table takes twice as long for each weight."""
LEAST_ADDED = 1 << 10
"""How many documents a label may add after a pass over all documents; or as many as it has support vectors."""


def most_work(n_documents: int) -> int:
    """Labels × documents in memory of a block."""
    return max(LEAST_WORK, WORK_A_DOCUMENT * n_documents)


def label_blocks(counts: Ints, n_documents: int) -> Sequence[list[int]]:
    """Labels in blocks of about the same work, the most frequent first, by the number of documents of each.

    A frequent label is solved on many documents, so it shares its block with few others.

    >>> label_blocks(np.array([1, 100_000, 50_000, 0, 3]), 200_000)
    [[1], [2, 4, 0, 3]]
    """
    blocks: list[list[int]] = []
    size, most = 0, most_work(n_documents)
    for label in np.argsort(-counts, kind="stable").tolist():
        more = size + int(counts[label])
        if not blocks or more > MOST_POSITIVES or (more + OTHERS) * (len(blocks[-1]) + 1) > most:
            blocks.append([])
            more = int(counts[label])
        blocks[-1].append(label)
        size = more
    return blocks


class Kept(NamedTuple):
    """A solution on disk, from which the SVMs of other documents can start."""

    folder: Path
    blocks: Sequence[list[int]]

    def path(self, number: int) -> Path:
        """The file of a block."""
        return self.folder / f"labels-{number:05d}"


def fit_blocks(
    model: LinearSVM, selected: Selected, solve: str, engine: Engine, results: Kept, further: Mapping[str, Any]
) -> LinearSVM:
    """The model fitted to documents on disk: one task, the function `solve`, per block of labels.

    All blocks read the same documents again and again: they are weighted once, and kept until the blocks are solved,
    in the precision that the solver computes in. `results` is where solutions are written; `further` arguments of the
    tasks are lists with one value per block.
    """
    place = results.folder
    place.mkdir(parents=True, exist_ok=True)
    path = place / "model"
    if not path.exists():
        modelfile.save(model, path)
    stored = place / "documents"
    plain = selected.as_dict()
    arguments = {"documents": {**plain, "stored": str(stored)}, "model": str(path), "threads": engine.threads}
    tasks = [
        Task(
            solve,
            results.path(number),
            {**arguments, "labels": block, **{name: values[number] for name, values in further.items()}},
        )
        for number, block in enumerate(results.blocks)
    ]
    if not all(task.is_done for task in tasks):
        starts = range(0, len(selected.matrix.parts), PARTS_A_TASK)
        common = {"documents": plain, "dtype": "float32" if model.tol >= SINGLE_TOLERANCE else "float64"}
        weigh = [Task("selected:store_parts", stored / f"{start:05d}", {**common, "start": start}) for start in starts]
        engine.run(weigh, "Weighting terms")
        engine.run(tasks, "Training")
    shutil.rmtree(stored, ignore_errors=True)
    return _joined(model, results, selected.matrix.n_terms)


def _joined(model: LinearSVM, results: Kept, n_terms: int) -> LinearSVM:
    """One model of the solutions of all blocks."""
    order = np.argsort([label for block in results.blocks for label in block], kind="stable")
    shape = n_terms, len(order)
    parts, numbers = zip(*(_load(results.path(number)) for number in range(len(results.blocks))), strict=True)
    intercept, epochs, converged = (np.concatenate(column)[order] for column in zip(*numbers, strict=True))
    by_block = sparse.vstack(parts, format="csr")
    del parts  # at most two copies of all weights are in memory at a time
    by_label = Csr(by_block[order])
    del by_block
    weights = Csr(by_label.T.tocsr())
    del by_label
    cells = weights.data.nbytes + weights.indices.nbytes + 4 * (shape[0] + 1)
    model.note_shape(*shape)
    model.weights_ = weights.toarray() if shape[0] * shape[1] * weights.dtype.itemsize < cells else weights
    model.keep_intercept(intercept, epochs, converged)
    return model


def _load(path: Path) -> tuple[Csr, tuple[Floats, Ints, Bools]]:
    with np.load(path, allow_pickle=False) as stored:
        return csr_of("weights", stored), (stored["intercept"], stored["epochs"], stored["converged"])


def solve_block(
    output: Path,
    documents: Mapping[str, Any],
    model: str,
    labels: Sequence[int],
    start: str | None = None,
    keeps_dual: bool = False,
    threads: int = 1,
) -> None:
    """Solve a block of labels and write what `save_block` does; a task.

    It begins with the solution in the file `start`. With `keeps_dual` the result is such a file.
    """
    block = Block.of(documents, model, labels, threads)
    found = block.solve(None if start is None else _load_dual(Path(start)))
    save_block(output, block, found, csr_arrays("dual", found.dual) if keeps_dual else {})


def _load_dual(path: Path) -> Csr:
    """α of all documents × the labels of a block."""
    with np.load(path, allow_pickle=False) as stored:
        return csr_of("dual", stored)


def save_block(output: Path, block: Block, found: LinearFit, further: Mapping[str, Any]) -> None:
    """Write the solution of a block: labels × terms, intercepts, epochs and which labels converged."""
    n_terms, prune = block.selected.matrix.n_terms, block.model.prune
    many = n_terms * block.n_labels >= MANY_WEIGHTS
    weights = _pruned(found, n_terms, (PRUNED_SHARE if many else 0.0) if prune == "auto" else float(prune))
    numbers = {"intercept": found.intercept, "epochs": found.epochs, "converged": found.converged}
    save_arrays(output, {**csr_arrays("weights", weights), **numbers, **further})


def _pruned(found: LinearFit, n_terms: int, share: float) -> Csr:
    """The weights, labels × terms, without the smallest ones of each label."""
    by_label = Csr(sparse.csr_array(found.weights).T.tocsr())
    if not share:
        return by_label
    rows = [slice(*by_label.indptr[label : label + 2]) for label in range(by_label.shape[0])]
    kept = [largest(by_label.data[row], share) + row.start for row in rows]
    places = np.concatenate([np.zeros(0, dtype=np.int64), *kept])
    starts = np.concatenate([[0], np.cumsum([len(one) for one in kept])])
    return Csr((by_label.data[places], by_label.indices[places], starts), shape=(len(rows), n_terms))


class _Settled(NamedTuple):
    """The solution of some labels, which does not change any more; weights are terms × labels."""

    labels: Ints
    weights: Any
    intercept: Floats
    epochs: Ints
    converged: Bools
    support: list[Column]
    """The support documents of each label, by their numbers in the corpus, and their α."""

    @classmethod
    def of(cls, labels: Ints, members: Ints, found: LinearFit, which: Bools) -> Self:
        """What was found for some of the labels on the documents `members`."""
        weights = sparse.csc_array(found.weights)[:, which]
        support = [(int(labels[one]), members[rows], alpha) for one, rows, alpha in found.support if which[one]]
        return cls(labels[which], weights, found.intercept[which], found.epochs[which], found.converged[which], support)


def _together(settled: Sequence[_Settled], n_documents: int) -> LinearFit:
    """The solution of all labels, in their order."""
    order = np.argsort(np.concatenate([one.labels for one in settled]), kind="stable")
    weights = Csr(sparse.hstack([one.weights for one in settled], format="csc")[:, order].tocsr())
    numbers = ((one.intercept, one.epochs, one.converged) for one in settled)
    intercept, epochs, converged = (np.concatenate(column)[order] for column in zip(*numbers, strict=True))
    support = sorted((column for one in settled for column in one.support), key=itemgetter(0))
    return LinearFit(weights, intercept, epochs, converged, n_documents, support)


def _divided(labels: Ints, n_documents: int) -> list[Ints]:
    """Labels that need so many documents together, in groups of fewer."""
    groups = min(1 + n_documents // MOST_MEMBERS, len(labels))
    return [labels[first::groups] for first in range(groups)]


class Block:
    """The problem of some labels on all documents, and the documents that are in memory."""

    def __init__(self, model: LinearSVM, selected: Selected, whole: Csr, labels: list[int], threads: int = 1) -> None:
        self.model, self.selected, self.labels, self.threads = model, selected, labels, threads
        self.Y, self.n_labels = Csr(whole[:, labels]), whole.shape[1]
        Y = self.Y
        wanted = selected.wanted()
        self.learned = np.ones(Y.shape[0], dtype=np.bool_) if wanted is None else wanted
        """Documents to learn from."""
        self.outside = self.learned.copy()
        """Those that are not in memory."""
        self.members: Ints = np.zeros(0, dtype=np.int64)
        self.X = Csr(np.zeros((0, selected.matrix.n_terms)))

    @classmethod
    def of(cls, documents: Mapping[str, Any], model: str, labels: Sequence[int], threads: int = 1) -> Self:
        """The block that the arguments of a task describe."""
        selected = Selected.from_dict(documents)
        return cls(cast(LinearSVM, modelfile.load(model)), selected, selected.Y(), list(labels), threads)

    def solve(self, start: Csr | None = None) -> LinearFit:
        """The solution on all documents, for fewer labels at a time where they need too many documents in memory.

        `start` is α of an earlier solution, all documents × labels of the block.
        """
        former = Csr(self.Y.shape) if start is None else start
        settled: list[_Settled] = []
        groups = _divided(np.arange(len(self.labels)), int(np.count_nonzero(np.diff(former.indptr))))
        while groups:
            solved, left = self._solve_group(groups.pop(), former)
            settled += solved
            groups += left
        return _together(settled, len(self.learned))

    def _solve_group(self, labels: Ints, start: Csr) -> tuple[list[_Settled], list[Ints]]:
        """The solution of some labels, and groups of those that need too many documents."""
        initial = Csr(start[:, labels])
        self._begin(labels, np.diff(initial.indptr) > 0)
        settled: list[_Settled] = []
        found = self.solve_members(labels, Csr(initial[self.members]))
        while True:
            worst = self._violated(found)
            going, numbers = worst.has_any, worst.documents()
            settled.append(_Settled.of(labels, self.members, found, ~going))
            labels, dual = labels[going], found.dual[:, going]
            if not len(labels):
                return settled, []
            if len(self.members) + len(numbers) > MOST_MEMBERS and len(labels) > 1:
                return settled, _divided(labels, len(self.members) + len(worst.held.labels))
            self.take(numbers)
            found = self.solve_members(labels, dual)

    def _begin(self, labels: Ints, supporting: Bools) -> None:
        """Read the documents of some labels and those that support a former solution into memory, and some others."""
        self.forget()
        carried = np.flatnonzero(((np.diff(self.Y[:, labels].indptr) > 0) | supporting) & self.outside)
        others = np.flatnonzero(self.outside)
        if len(others) > OTHERS:
            others = np.random.default_rng(self.model.seed).choice(others, size=OTHERS, replace=False)
        self.take(np.union1d(carried, others))

    def take(self, numbers: Ints) -> None:
        """Read documents into memory, after those that are there."""
        only = np.zeros(len(self.outside), dtype=np.bool_)
        only[numbers] = True
        rows = [X for _, X in self.selected.blocks(only)]
        self.X = Csr(sparse.vstack([self.X, *rows], format="csr"))
        self.members = np.concatenate([self.members, numbers])
        self.outside[numbers] = False

    def forget(self) -> None:
        """Give back the memory of the documents: all of them are outside again."""
        self.X, self.members, self.outside = self.X[:0], self.members[:0], self.learned.copy()

    def solve_members(
        self, labels: Ints, initial: Csr | None = None, weights: Floats | None = None, tol: float | None = None
    ) -> LinearFit:
        """The solution of some labels of the block on the documents in memory, from an earlier one.

        `weights` multiply the costs of documents; `tol` is another tolerance than that of the model.
        """
        model = self.model
        return fit_linear(
            self.X, Csr(self.Y[self.members][:, labels]), loss=model.loss,
            C=self.of_labels(model.C, labels), J=self.of_labels(model.J, labels),
            bias=model.bias, intercept_scaling=model.intercept_scaling, tol=tol or model.tol, max_iter=model.max_iter,
            seed=model.seed, n_jobs=self.threads, initial=initial, sample_weight=weights,
        )  # fmt: skip

    def of_labels(self, value: Any, labels: Ints) -> Floats:
        """Of a setting that may differ from label to label, the numbers of some labels of the block."""
        values = np.asarray(value, dtype=np.float64)
        return values[np.asarray(self.labels)[labels]] if values.ndim else values

    def _violated(self, found: LinearFit) -> Worst:
        """Documents outside, negatives of all labels, whose margin is violated: for each label the worst ones."""
        least = (0.1 if self.model.loss == "hinge" else 1.0) * self.model.tol - 1
        support = np.bincount(found.dual.indices, minlength=len(found.intercept))
        worst, weights = Worst(np.maximum(support, LEAST_ADDED), least), self._faster(found.weights)
        for numbers, X in self.selected.blocks(self.outside):
            worst.add(numbers, batch_scores(X, weights, self.threads) + found.intercept)
        return worst

    def _faster(self, weights: Csr | Floats) -> Csr | Floats:
        """The weights as a dense table where that scores documents faster and is not too large."""
        if isinstance(weights, np.ndarray) or math.prod(weights.shape) > MOST_DENSE or not self.X.nnz:
            return weights
        used = np.diff(weights.indptr)[self.X.indices].mean() / weights.shape[1]
        return weights.toarray() if used > DENSE_SHARE else weights


class Worst:
    """The documents with the highest margins above `least`, for each label at most as many as `most` says.

    Once a label has that many, a document must have a higher margin than one of them to be kept, so that few are in
    memory. Of equal margins the first count.

    >>> worst = Worst(np.array([1, 2]), least=0.0)
    >>> worst.add(np.array([5, 6, 7]), np.array([[0.5, 0.1], [0.7, -1.0], [0.7, 0.2]]))
    >>> worst.documents().tolist()
    [5, 6, 7]
    """

    def __init__(self, most: Ints, least: float) -> None:
        self.most, self.limits = most, np.full(len(most), least)
        self.held = _Held(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))

    def add(self, numbers: Ints, margins: Floats) -> None:
        """Take note of more documents, documents × labels."""
        rows, labels = np.nonzero(margins > self.limits)
        more = _Held(numbers[rows], labels, margins[rows, labels])
        self.held = _Held(*(np.concatenate(pair) for pair in zip(self.held, more, strict=True)))
        if len(self.held.labels) > 2 * self.most.sum():
            self._drop()

    @property
    def has_any(self) -> Bools:
        """Whether a label has a document."""
        return np.bincount(self.held.labels, minlength=len(self.most)) > 0

    def documents(self) -> Ints:
        """The numbers of the documents that are kept for any label, ascending."""
        self._drop()
        return np.unique(self.held.numbers)

    def _drop(self) -> None:
        """Keep the worst of each label, and raise the limit of a label that has as many as it may."""
        order = np.lexsort((-self.held.margins, self.held.labels))
        labels = self.held.labels[order]
        rank = np.arange(len(labels)) - np.searchsorted(labels, labels)
        full = rank == self.most[labels] - 1
        self.limits[labels[full]] = self.held.margins[order[full]]
        kept = order[rank < self.most[labels]]
        self.held = _Held(self.held.numbers[kept], self.held.labels[kept], self.held.margins[kept])


class _Held(NamedTuple):
    """Margins of documents and labels."""

    numbers: Ints
    labels: Ints
    margins: Floats
