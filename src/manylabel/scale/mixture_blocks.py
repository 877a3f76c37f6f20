"""PMM1 and PMM2 of documents on disk: counts are added up by label set and stored in blocks of terms.

A step of training needs, for each term, how often it occurs in the documents of each label set, and θ of its labels
(`manylabel.kernels.mixtures`). So documents are read once in a fit: the counts of each part are added up by label set
and sorted by term, and a block of terms collects its own from all parts. In each step every block is read by one task.
It writes the expected counts of its cells, which no other block has, and its shares of the sums over all terms. These
are added in the order of the blocks. θ, one value for each cell of terms × labels, is in memory.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel import modelfile
from manylabel.estimator import Csr, Floats, Ints
from manylabel.kernels.mixture_reference import Cells, Entries, Sets
from manylabel.kernels.mixtures import Ascent, Expected, GroupedCounts, Mixture, group_documents, label_groups
from manylabel.kernels.threads import blocks_of
from manylabel.models.linear_scores import scaled_rows
from manylabel.models.pmm_base import ParametricMixture
from manylabel.scale.engine import Engine, Task
from manylabel.scale.selected import PARTS_A_TASK, Selected, csr_arrays, load_csr
from manylabel.scale.tables import digest, replace_array, replace_arrays, save_arrays

BLOCK_VALUES = 1 << 21
"""Values of X in a block of terms, or those of one term."""


# ---- tasks -----------------------------------------------------------------------------------------------------------


def group_parts(
    output: Path, documents: Mapping[str, Any], groups: str, start: int, ends: Sequence[int], equal_lengths: bool
) -> None:
    """Add up the counts of some parts from `start` on by label set and sort them by term; a task.

    `groups` is a file with the number of each document's label set, −1 for documents that are left out, `ends` where
    each block of terms ends. With `equal_lengths` the counts of a document are divided by their sum.
    """
    selected = Selected.from_dict(documents)
    part, first, _ = selected.in_parts(start)
    own = np.load(groups, mmap_mode="r", allow_pickle=False)[first : first + part.shape[0]]
    weigh = selected.weigh
    output.mkdir()
    for number, (rows, counts) in enumerate(part.blocks(own >= 0)):
        X = weigh(counts)
        lengths = np.asarray(X.sum(axis=1), dtype=np.float64)
        if equal_lengths:
            X = scaled_rows(X, 1.0 / np.where(lengths > 0, lengths, 1.0))
        names, place = np.unique(own[rows], return_inverse=True)
        cells = X.data, (np.repeat(place, np.diff(X.indptr)), X.indices)
        by_term = sparse.coo_array(cells, shape=(len(names), X.shape[1])).tocsc()
        _save(
            output / f"{number:05d}",
            {
                "terms": np.repeat(np.arange(X.shape[1], dtype=np.int32), np.diff(by_term.indptr)),
                "groups": names[by_term.indices].astype(np.int32),
                "counts": by_term.data,
                "ends": by_term.indptr[np.array(ends)].astype(np.int64),
                "length": np.array([lengths.sum(), np.count_nonzero(np.diff(X.indptr))]),
            },
        )


def collect_block(output: Path, grouped: str, sets: str, number: int, begin: int, end: int, length: float) -> None:
    """Collect the counts of the terms begin .. end from what `group_parts` wrote, multiplied by `length`; a task.

    `sets` is a file with the labels of each label set.
    """
    pieces = [_of_block(folder, number) for folder in sorted(Path(grouped).glob("*/*"))]
    terms, groups, counts = (np.concatenate(column) for column in zip(*pieces, strict=True))
    names, place = np.unique(groups, return_inverse=True)
    shape = len(names), end - begin
    X = Csr(sparse.coo_array((counts * length, (place, terms - begin)), shape=shape).tocsr())
    of_sets = load_csr(Path(sets))
    block = group_documents(X, Csr(of_sets[names]), n_jobs=1)
    sizes = np.diff(of_sets.indptr)
    several = np.where(sizes > 1, sizes, 0)
    starts = (np.cumsum(several) - several)[names]
    kept, sizes = starts[sizes[names] > 1], np.diff(block.sets.starts)
    slots = np.arange(len(block.sets.labels)) + np.repeat(kept - block.sets.starts[:-1], sizes)
    _save(
        output,
        {
            "cell_starts": block.cells.starts,
            "cell_labels": block.cells.labels,
            "fixed": block.fixed,
            "occurrences": block.occurrences,
            "entry_starts": block.entries.starts,
            "entry_groups": block.entries.groups,
            "entry_counts": block.entries.counts,
            "set_starts": block.sets.starts,
            "set_labels": block.sets.labels,
            "slots": slots,  # where the labels of the block's sets are among those of all sets
        },
    )


def expect_block(
    output: Path, block: str, step: str, first: int, prior: float, n_labels: int, with_ratios: bool
) -> None:
    """Write what `GroupedCounts.expect` computes from a block, whose first cell is the cell `first` of all; a task."""
    folder, given = Path(block), Path(step)
    cells = Cells(_load(folder, "cell_starts"), _load(folder, "cell_labels"))
    entries = Entries(*(_load(folder, f"entry_{name}") for name in ("starts", "groups", "counts")))
    sets = Sets(_load(folder, "set_starts"), _load(folder, "set_labels"))
    counts = GroupedCounts(n_labels, cells, _load(folder, "fixed"), _load(folder, "occurrences"), entries, sets)
    theta = np.array(_load(given, "theta", mapped=True)[first : first + len(cells.labels)])
    weights = _load(given, "weights", mapped=True)[_load(folder, "slots")]
    found = counts.expect(theta, weights, prior, with_ratios=with_ratios, n_jobs=1)
    ratios = {"ratios": found.ratios} if with_ratios else {}
    save_arrays(output, {"counts": found.counts, "objective": np.array(found.objective), **ratios})


def _of_block(folder: Path, number: int) -> list[npt.NDArray[Any]]:
    """Terms, label sets and counts of a block in one part."""
    ends = _load(folder, "ends")
    own = slice(int(ends[number - 1]) if number else 0, int(ends[number]))
    return [np.array(_load(folder, name, mapped=True)[own]) for name in ("terms", "groups", "counts")]


def _save(folder: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    folder.mkdir()
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def _load(folder: Path, name: str, *, mapped: bool = False) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = np.load(folder / f"{name}.npy", mmap_mode="r" if mapped else None, allow_pickle=False)
    return found


# ---- fitting ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GroupedOnDisk(GroupedCounts):
    """Counts added up by label set, whose steps are tasks; `fixed` and `entries` are empty here and in files."""

    engine: Engine
    folder: Path
    blocks: Sequence[Path]
    """The folders of the blocks of terms."""
    firsts: Ints
    """The first cell of each block."""

    @classmethod
    def of(cls, sets: Csr, engine: Engine, folder: Path, blocks: Sequence[Path]) -> GroupedOnDisk:
        """What the blocks of terms have in common with counts in memory; `sets` are the labels of all label sets."""
        sizes = [np.diff(_load(block, "cell_starts")) for block in blocks]
        starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
        cells = Cells(starts, np.concatenate([_load(block, "cell_labels") for block in blocks]))
        occurrences = np.concatenate([_load(block, "occurrences") for block in blocks])
        ends = np.cumsum([size.sum() for size in sizes], dtype=np.int64)
        several = Csr(sets[np.diff(sets.indptr) > 1])
        return cls(
            sets.shape[1],
            cells,
            np.zeros(0),
            occurrences,
            Entries(np.zeros(len(starts), np.int64), np.zeros(0, np.int32), np.zeros(0)),
            Sets(several.indptr.astype(np.int64), several.indices.astype(np.int32)),
            engine,
            folder,
            blocks,
            np.concatenate([[0], ends[:-1]]),
        )

    def expect(
        self, theta: Floats, weights: Floats, prior: float, *, with_ratios: bool = True, n_jobs: int | None = None
    ) -> Expected:
        """See `GroupedCounts.expect`; each block of terms is a task."""
        step = self.folder / f"step-{digest(theta.data, weights.data)}"
        step.mkdir(exist_ok=True)
        for name, array in (("theta", theta), ("weights", weights)):
            replace_array(step / f"{name}.npy", array)
        common = {"step": str(step.absolute()), "prior": prior, "n_labels": self.n_labels, "with_ratios": with_ratios}
        tasks = [
            Task(
                "mixture_blocks:expect_block",
                step / block.name,
                {"block": str(block.absolute()), "first": first, **common},
            )
            for block, first in zip(self.blocks, self.firsts.tolist(), strict=True)
        ]
        self.engine.run(tasks, "Explaining terms by labels")
        counts, ratios, objective = np.empty_like(theta), np.zeros(len(weights)), 0.0
        for task, block, first in zip(tasks, self.blocks, self.firsts.tolist(), strict=True):
            with np.load(task.output, allow_pickle=False) as found:
                own = found["counts"]
                counts[first : first + len(own)] = own
                objective += float(found["objective"])
                if with_ratios:
                    ratios[_load(block, "slots")] += found["ratios"]  # each of them once
        return Expected(counts, ratios, objective)

    def resumed(self, beginning: Ascent) -> Ascent:
        """See `GroupedCounts.resumed`: what `keep` kept of a model of this kind."""
        path = self._kept(beginning.mixture)
        if not path.exists():
            return beginning
        with np.load(path, allow_pickle=False) as stored:
            mixture = Mixture(stored["theta"], stored["background"], stored.get("alpha"))
            return Ascent(mixture, tuple(stored["reached"].tolist()), bool(stored["converged"]))

    def keep(self, reached: Ascent) -> None:
        """See `GroupedCounts.keep`; what the step read and wrote is removed."""
        mixture = reached.mixture
        alpha = {} if mixture.alpha is None else {"alpha": mixture.alpha}
        state = {"reached": np.array(reached.reached), "converged": np.array(reached.converged)}
        arrays = {"theta": mixture.theta, "background": mixture.background, **alpha, **state}
        replace_arrays(self._kept(mixture), arrays)
        for step in self.folder.glob("step-*"):
            shutil.rmtree(step)

    def _kept(self, mixture: Mixture) -> Path:
        """PMM2 may begin with steps of PMM1, so each has a file of its own."""
        return self.folder / ("reached-pmm1" if mixture.alpha is None else "reached-pmm2")


def fit_mixture(
    model: ParametricMixture, selected: Selected, Y: Csr, frequency: Ints, engine: Engine, place: Path
) -> ParametricMixture:
    """The model fitted to documents on disk with labels Y; `frequency` is about how many documents have each term."""
    fitted, folder = place / "fitted", place / "mixture"
    if fitted.exists():
        return model.restore(modelfile.load(fitted).learned_state())
    folder.mkdir(parents=True, exist_ok=True)
    model.check_parameters()
    model.note_shape(selected.matrix.n_terms, Y.shape[1])
    grouped = _grouped(model, selected, Y, frequency, engine, folder)
    model.learn_grouped(grouped)
    modelfile.save(model, fitted)
    shutil.rmtree(folder)
    return model


def _grouped(
    model: ParametricMixture, selected: Selected, Y: Csr, frequency: Ints, engine: Engine, folder: Path
) -> GroupedOnDisk:
    """The counts of the documents with a label, added up by label set in blocks of terms."""
    groups, sets = _label_sets(model, Y, selected)
    replace_array(folder / "groups.npy", groups)
    replace_arrays(folder / "sets", csr_arrays("Y", sets))
    blocks, parts, length = blocks_of(frequency, BLOCK_VALUES), folder / "parts", folder / "length"
    if not length.exists():
        common = {
            "documents": selected.as_dict(),
            "groups": str((folder / "groups.npy").absolute()),
            "ends": [end for _, end in blocks],
            "equal_lengths": model.equal_lengths,
        }
        starts = range(0, len(selected.matrix.parts), PARTS_A_TASK)
        tasks = [
            Task("mixture_blocks:group_parts", parts / f"{start:05d}", {**common, "start": start}) for start in starts
        ]
        engine.run(tasks, "Adding up label sets")
        words, filled = np.sum([_load(part, "length") for part in sorted(parts.glob("*/*"))], axis=0)
        replace_arrays(length, {"length": np.array(words / filled if filled else 1.0)})
    with np.load(length, allow_pickle=False) as stored:
        model.mean_length_ = float(stored["length"])
    common = {"grouped": str(parts.absolute()), "sets": str((folder / "sets").absolute())}
    common["length"] = model.mean_length_ if model.equal_lengths else 1.0
    tasks = [
        Task(
            "mixture_blocks:collect_block",
            folder / f"terms-{number:05d}",
            {**common, "number": number, "begin": begin, "end": end},
        )
        for number, (begin, end) in enumerate(blocks)
    ]
    engine.run(tasks, "Collecting terms")
    shutil.rmtree(parts, ignore_errors=True)
    return GroupedOnDisk.of(sets, engine, folder, [task.output for task in tasks])


def _label_sets(model: ParametricMixture, Y: Csr, selected: Selected) -> tuple[npt.NDArray[np.int32], Csr]:
    """The number of each document's label set, −1 for documents that are left out, and the labels of each set."""
    wanted = selected.wanted()
    rows = np.arange(Y.shape[0]) if wanted is None else np.flatnonzero(wanted)
    rows = rows[model.learned_documents(Csr(Y[rows]))]
    learned = Csr(Y[rows])
    learned.sort_indices()
    group_of, first = label_groups(learned)
    groups = np.full(Y.shape[0], -1, dtype=np.int32)
    groups[rows] = group_of
    return groups, Csr(learned[first])
