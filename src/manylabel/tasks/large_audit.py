"""Audit of corpora that do not fit in memory: labels are judged as in memory, from X on disk, fold by fold.

In memory are the labels of all documents and the cells of one fold; then, label by label, the cells of all folds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from manylabel.data.splits import Split, iterative_stratification
from manylabel.decisions.calibration import Calibration, open_scores
from manylabel.estimator import Csr, Floats, Ints
from manylabel.features.weighting import Weighting
from manylabel.insight.audit import FOLDS, Combination, Doubts, doubted_documents, doubts, views
from manylabel.insight.cell_stream import CellStream
from manylabel.insight.cells import (
    LEAST_DOCUMENTS,
    Cells,
    Judged,
    ScoredCells,
    calibrating_documents,
    judged_documents,
    share_of,
)
from manylabel.insight.label_evidence import Bools, Regression
from manylabel.memory import table_bytes
from manylabel.models.base import MultiLabelModel, row_batches
from manylabel.progress import remark, stage, track
from manylabel.recipe import Recipe
from manylabel.reports.audit_records import AuditRecord, DoubtedLabel
from manylabel.scale.memory_guard import limited_memory
from manylabel.scale.shards import ShardedCorpus, shard_files
from manylabel.scale.training import Opened, ShardedTraining
from manylabel.tasks import audit as in_memory
from manylabel.tasks.audit import ACTIONS, Audited, Overrides, alike_labels, evidence_for, judging_recipe
from manylabel.tasks.corpora import Source, beginnings
from manylabel.tasks.large import planned_engine, sharded
from manylabel.tasks.planning import PlannedTraining, fits_in_memory, plan_training
from manylabel.wording import counted, setting_name

NOT_LOOKED_FOR = ("near-duplicates with different labels", "labels that may be two")
"""What needs all documents in memory."""
BATCH_BYTES = 6 << 20
"""Working memory of a batch of scores: about 260,000 scores at a time, which at first all wait to be compared."""
JUDGING = 4.8, 1.4
"""The time and the memory of an audit divided by those of training the same SVMs. Measured: 363 s and 902 MB where 76
and 660 were estimated for training, with 100,000 documents and 1,000 labels."""
VIEW_BYTES = 14 * 8
"""Bytes of the evidence of a cell."""
MOST_VIEWS = 1 << 30
FIELDS = ("rows", "columns", "has", "scores", "by_labels")


def audit(
    source: Source,
    *,
    split: str | None = None,
    most: int = 200,
    overrides: Overrides | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    memory: str | int | None = None,
) -> Audited:
    """Judge labels as `manylabel.tasks.audit.audit` does; from disk where all documents would take more memory than
    they may. Near-duplicates and labels that may be two are then not looked for.
    """
    if fits_in_memory(source, memory):
        return in_memory.audit(source, split=split, most=most, overrides=overrides, seed=seed, n_jobs=n_jobs)
    corpus, recipe = _documents(source, split), judging_recipe(overrides)
    remark(f"{source.data} is audited from disk, in {counted(len(corpus.shards), 'shard')}.")
    what = f"The audit of {source.data} from disk"
    planned = plan_training(corpus, recipe, n_jobs, memory, what, f"raise {setting_name('memory')}.", times=JUDGING)
    with limited_memory(memory, f"Raise {setting_name('memory')}."):
        return _from_disk(planned, corpus, recipe, source, most, seed, n_jobs, memory)


def _from_disk(
    planned: PlannedTraining,
    corpus: ShardedCorpus,
    recipe: Recipe,
    source: Source,
    most: int,
    seed: int,
    n_jobs: int | None,
    memory: str | int | None,
) -> Audited:
    with planned_engine(planned) as engine, TemporaryDirectory(prefix="manylabel-") as folder:
        training = ShardedTraining(corpus, recipe, Path(folder) / "work", engine, None, seed, n_jobs, memory)
        opened = training.open()
        judging = FoldsOnDisk(opened, recipe.build_model().set_everywhere("n_jobs", n_jobs), Path(folder), seed, memory)
        name = Path(source.data).name.split(".")[0] if os.path.isfile(source.data) else source.data
        record = _record(corpus, opened, judging, judging.doubts(), most, name)
        return Audited(record, training.skipped())


def _documents(source: Source, split: str | None) -> ShardedCorpus:
    """The shards of a split; of all documents for None, those of files named after splits among them."""
    train, test = (shard_files(source.data, name, source.format) for name in ("train", "test"))
    if train == test or not train or not test:
        return sharded(source, split=split or "all")
    files = [*train, *test] if split in (None, "all") else shard_files(source.data, split, source.format)
    return sharded(source, files, split="all")


@dataclass(frozen=True, eq=False)
class FoldsOnDisk:
    """The folds of an audit: models that did not see the documents they score, and the cells that are judged."""

    opened: Opened
    model: MultiLabelModel
    folder: Path
    """Where cells are kept."""
    seed: int = 0
    memory: str | int | None = None

    @cached_property
    def splits(self) -> list[Split]:
        """The training and the test documents of each fold."""
        Y = self.opened.Y
        return iterative_stratification(Y, min(FOLDS, Y.shape[0]), self.seed)

    @cached_property
    def weighting(self) -> Weighting | None:
        """The weighting of the terms, fitted to all documents, as in memory."""
        documents = self.opened.documents
        return documents.learn_weighting(documents.weighting, None)

    def fitted(self, number: int) -> MultiLabelModel:
        """The model that did not see the documents of a fold; the second time it is read from files."""
        wanted = _among(self.splits[number][0], self.opened.Y.shape[0])
        return self.opened.documents.fit_rows(self.model, self.opened.Y, wanted, self.weighting)[0]

    def read(self, counts: Csr) -> Csr:
        """X as the model reads it, from counts of terms."""
        return counts.astype(np.float64) if self.weighting is None else self.weighting.transform(counts)

    def doubts(self) -> Doubts:
        """The cells whose correction is probably right, the surest first."""
        Y, random = self.opened.Y, np.random.default_rng(self.seed)
        sampled = calibrating_documents(random, *Y.shape, self.opened.documents.most_scores)
        numbers, scores = [], []
        for number in track("Judging labels", range(len(self.splits))):
            found = self._score(number, sampled)
            numbers.append(found[0])
            scores.append(found[1])
        calibration = Calibration("logistic").fit(np.concatenate(scores), Csr(Y[np.concatenate(numbers)]))
        del scores
        stored = [CellFiles.open(self.folder / f"cells-{number}") for number in range(len(self.splits))]
        return Doubts.joined(list(self._judged(stored, calibration)))

    def _score(self, number: int, sampled: Bools) -> tuple[Ints, Floats]:
        """Write the cells of a fold to files; return the scores of its documents that are sampled."""
        Y, (train, test), fitted = self.opened.Y, self.splits[number], self.fitted(number)
        regression = Regression.of(Csr(Y[np.sort(train)]))
        stream = CellStream(share_of(judged_documents(Y), len(test) / Y.shape[0]))
        kept_numbers, kept_scores = [np.zeros(0, dtype=np.int64)], [np.zeros((0, Y.shape[1]))]
        for numbers, counts in self.opened.documents.matrix.blocks(_among(test, Y.shape[0])):
            X = self.read(counts)
            for batch in row_batches(len(numbers), Y.shape[1], BATCH_BYTES):
                rows = numbers[batch]
                scores = open_scores(fitted.scores(Csr(X[batch])), fitted.score_kind)
                stream.add(rows, scores, regression.predicted(Csr(Y[rows])), Y[rows].toarray() > 0)
                kept_numbers.append(rows[sampled[rows]])
                kept_scores.append(scores[sampled[rows]])
        CellFiles.write(self.folder / f"cells-{number}", stream.cells())
        return np.concatenate(kept_numbers), np.concatenate(kept_scores)

    def _judged(self, stored: Sequence[CellFiles], calibration: Calibration) -> Iterator[Doubts]:
        """The doubts of one block of labels after the other."""
        Y, n_labels = self.opened.Y, self.opened.Y.shape[1]
        most = table_bytes(self.memory, MOST_VIEWS) // VIEW_BYTES
        sizes = sum((cells.sizes(n_labels) for cells in stored), np.zeros(n_labels, dtype=np.int64))
        if not sizes.sum():
            none = np.zeros(0, dtype=np.int64)
            yield Doubts(none, none, none > 0, np.zeros(0))
            return
        fold_of = np.zeros(0, dtype=np.int64)  # nothing is explained here
        some = _sampled_cells(stored, most, self.seed).calibrated(calibration)
        combination = Combination.learned(views(some, Y), some.has)
        for start, stop in track("Combining evidence", list(label_ranges(sizes, most))):
            if not sizes[start:stop].any():
                continue
            cells: Cells = ScoredCells.joined([one.of_labels(start, stop) for one in stored]).calibrated(calibration)
            log_odds = combination.log_odds(views(cells, Y), cells)
            yield doubts(Judged(cells, log_odds, (), fold_of), Y)


@dataclass(frozen=True, slots=True, eq=False)
class CellFiles:
    """The cells of one fold in files, in the order of labels."""

    cells: ScoredCells
    """Memory-mapped arrays."""

    @classmethod
    def write(cls, folder: Path, cells: ScoredCells) -> None:
        """Write cells to a new folder."""
        folder.mkdir()
        arrays = (cells.rows, cells.columns, cells.has, cells.scores, cells.by_labels)
        for name, array in zip(FIELDS, arrays, strict=True):
            np.save(folder / f"{name}.npy", array)

    @classmethod
    def open(cls, folder: Path) -> CellFiles:
        """The cells that `write` wrote, left on disk."""
        arrays = [np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in FIELDS]
        return cls(ScoredCells(*arrays))

    def sizes(self, n_labels: int) -> Ints:
        """The number of cells of each label."""
        return np.diff(np.searchsorted(self.cells.columns, np.arange(n_labels + 1)))

    def of_labels(self, start: int, stop: int) -> ScoredCells:
        """The cells of the labels from `start` to `stop`."""
        return self.cells.at(np.arange(*np.searchsorted(self.cells.columns, [start, stop])))


def label_ranges(sizes: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of labels that follow each other with at most so many cells together, or of a single label with more.

    >>> list(label_ranges(np.array([3, 3, 0, 9, 1]), 6))
    [(0, 3), (3, 4), (4, 5)]
    """
    start = total = 0
    for label, size in enumerate(sizes.tolist()):
        if label > start and total + size > most:
            yield start, label
            start, total = label, 0
        total += size
    yield start, len(sizes)


def _sampled_cells(stored: Sequence[CellFiles], most: int, seed: int) -> ScoredCells:
    """The cells of all folds, or a random sample of them, in the order of labels."""
    sizes = [len(one.cells.rows) for one in stored]
    share = min(1.0, most / sum(sizes))
    random = np.random.default_rng(seed)
    chosen = [np.sort(random.choice(size, size=int(share * size), replace=False)) for size in sizes]
    return ScoredCells.joined([one.cells.at(places) for one, places in zip(stored, chosen, strict=True)])


def _among(numbers: Ints, size: int) -> Bools:
    wanted = np.zeros(size, dtype=np.bool_)
    wanted[numbers] = True
    return wanted


def _record(
    corpus: ShardedCorpus, opened: Opened, judging: FoldsOnDisk, found: Doubts, most: int, data: str
) -> AuditRecord:
    Y, first = opened.Y, found.first(most)
    unexplained = doubted_documents(found, Y)
    ids, texts = _ids_and_texts(corpus, unexplained, first.rows)
    documents = np.bincount(Y.indices, minlength=Y.shape[1])
    return AuditRecord(
        data,
        int(Y.shape[0]),
        int((documents > 0).sum()),
        int(Y.nnz),
        int((documents >= LEAST_DOCUMENTS).sum()),
        tuple(_doubted(opened, judging, first, ids, texts)),
        len(found),
        (),
        0,
        (),
        0,
        tuple(ids[row] for row in unexplained.tolist()),
        tuple(alike_labels(Y, opened.labels)),
        (),
        NOT_LOOKED_FOR,
    )


def _ids_and_texts(corpus: ShardedCorpus, named: Ints, shown: Ints) -> tuple[dict[int, str], dict[int, str]]:
    """The ids of documents by number, and the beginnings of the texts of those that are `shown`."""
    wanted, with_text, start = np.union1d(named, shown), set(shown.tolist()), 0
    ids: dict[int, str] = {}
    texts: dict[int, str] = {}
    with stage("Reading doubted documents", len(corpus.shards)) as advance:
        for shard in corpus.shards:
            for batch in corpus.batches(shard):
                within = (wanted >= start) & (wanted < start + len(batch))
                rows = (wanted[within] - start).tolist()
                ids |= {start + row: batch.ids[row] for row in rows}
                rows = [row for row in rows if start + row in with_text]
                texts |= dict(zip((start + row for row in rows), beginnings(batch, rows), strict=True))
                start += len(batch)
            advance(1)
    return ids, texts


def _doubted(
    opened: Opened, judging: FoldsOnDisk, found: Doubts, ids: dict[int, str], texts: dict[int, str]
) -> list[DoubtedLabel]:
    """The doubts with their evidence, by the model of one fold after the other."""
    terms, doubted = opened.vectorizer.terms_, {}
    for number, (_, test) in enumerate(track("Explaining doubts", judging.splits)):
        places = np.flatnonzero(np.isin(found.rows, test))
        if not len(places):
            continue
        model, rows = judging.fitted(number), np.unique(found.rows[places])
        X = judging.read(opened.documents.matrix.rows(rows))
        for place in places.tolist():
            row, column, missing = int(found.rows[place]), int(found.columns[place]), bool(found.missing[place])
            x = Csr(X[[int(np.searchsorted(rows, row))]])
            evidence = evidence_for(model, x, column, missing, terms)
            probability = float(found.probability[place])
            doubted[place] = DoubtedLabel(
                ids[row], opened.labels[column], ACTIONS[missing], probability, evidence, texts[row]
            )
    return [doubted[place] for place in range(len(found))]
