"""Training from disk: what it takes beside what `manylabel plan` says, and its model beside that of one in memory.

    python -m benchmarks.disk --documents 20000 100000 --methods nb svm auto
    python -m benchmarks.disk --documents 100000 --methods svm --compare --keep FOLDER

Corpora are those of `manylabel synthesize` with 1,000 labels. Every training is a command of its own, with --memory
2GB, or a little less than a training in memory would take, and on all cores unless `--jobs` is given. Measured are its
CPU seconds, the seconds by the clock, and the peak of the resident memory of all its processes. With `--compare` the
corpus is trained in memory too: the largest relative difference of the objective of an SVM over all labels, and the
share of 3,000 other documents with the same labels. `--keep` names a folder in which corpora and models stay.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.growth import fit_exponent
from benchmarks.memory import MEGABYTE, Measured, run
from manylabel import TextClassifier, load_corpus
from manylabel.models.linear_svm import LinearSVM
from manylabel.scale.in_memory import memory_of_all
from manylabel.scale.synthesize import Size, blocks, synthesize
from manylabel.strategies.weighted_member import WeightedMember
from manylabel.tasks.planning import plan

GOAL = 0.25
"""By how much a figure of `plan` may differ from what is measured."""


def train(command: list[str], folder: Path) -> Measured:
    """Run a training in a process of its own."""
    found = run(command, folder)
    if found.status:
        raise SystemExit(f"{' '.join(command)} ended with {found.status}.")
    return found


def linear(classifier: TextClassifier) -> LinearSVM | None:
    """The linear SVM in a classifier, if that is what it is."""
    model: Any = classifier.decided_.model_
    model = model.model_ if isinstance(model, WeightedMember) else model
    return model if isinstance(model, LinearSVM) else None


def objectives(classifier: TextClassifier, data: Path) -> np.ndarray | None:
    """The objective of the SVM of each label on a corpus; None for another model."""
    model = linear(classifier)
    if model is None:
        return None
    corpus = load_corpus(data).corpus
    weights = model.coef_ if isinstance(model.coef_, np.ndarray) else model.coef_.toarray()
    total = ((weights.astype(np.float64) ** 2).sum(axis=1) + model.intercept_**2) / 2
    Y = corpus.label_matrix(classifier.labels_)
    for start in range(0, len(corpus), 2000):
        X = classifier.features_.transform(corpus.joined_texts[start : start + 2000])
        signs = np.where(Y[start : start + 2000].toarray() > 0, 1, -1)
        margins = np.maximum(0, 1 - signs * model.decision_function(X))
        total += model.C * (margins**2).sum(axis=0)
    return total


def compare(data: Path, from_disk: Path, in_memory: Path) -> str:
    """How far the models of two trainings are apart."""
    models = [TextClassifier.load(path) for path in (from_disk, in_memory)]
    _, texts, _ = next(blocks(Size(3000, 1000), seed=1))
    same = np.mean([one == other for one, other in zip(*(model.predict(texts) for model in models), strict=True)])
    found = [objectives(model, data) for model in models]
    words = f"equal labels: {100 * same:.2f} % of documents"
    if found[0] is not None and found[1] is not None:
        words += f"; objective: {np.abs(found[0] / found[1] - 1).max():.1e} apart at most"
    return words


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[20_000])
    parser.add_argument("--labels", type=int, default=1000)
    parser.add_argument("--methods", nargs="+", default=["nb", "svm"])
    parser.add_argument("--set", nargs="+", default=[], help="settings of all methods, as of `manylabel train`")
    parser.add_argument("--jobs", type=int, help="cores; default: all")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    missed = 0
    jobs = [] if given.jobs is None else ["-j", str(given.jobs)]
    settings = [word for one in given.set for word in ("--set", one)]
    with TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        print(
            f"{'':8}{'documents':>11}{'CPU s':>9}{'planned':>9}{'':7}{'clock s':>9}{'MB':>7}{'planned':>9}", flush=True
        )
        for method in given.methods:
            times = []
            for documents in given.documents:
                data = folder / f"{documents}.jsonl"
                if not data.exists():
                    synthesize(data, Size(documents, given.labels))
                memory = int(min(2 * 2**30, 0.95 * memory_of_all(data.stat().st_size)))
                [planned] = plan(str(data), None, None, [method], memory=memory, n_jobs=given.jobs)["methods"]
                model = folder / f"{documents}-{method}.manylabel"
                common = ["train", str(data), "--method", method, *settings, *jobs]
                took = train([*common, "--model", str(model), "--memory", str(memory)], folder)
                times.append(took.cpu)
                seconds = planned["workers"] * planned["seconds"]
                off = [seconds / took.cpu - 1, planned["memory"] / MEGABYTE / took.megabytes - 1]
                missed += any(abs(one) > GOAL for one in off)
                print(
                    f"{method:8}{documents:11,}{took.cpu:9.1f}{seconds:9.1f}{off[0]:+7.0%}"
                    f"{took.wall:9.1f}{took.megabytes:7,.0f}{planned['memory'] / MEGABYTE:9,.0f}{off[1]:+7.0%}",
                    flush=True,
                )
                if given.compare:
                    other = folder / f"{documents}-{method}-memory.manylabel"
                    took = train([*common, "--model", str(other), "--memory", "64GB"], folder)
                    words = compare(data, model, other)
                    print(f"{'':8}in memory: {took.cpu:.1f} s, {took.megabytes:,.0f} MB; {words}", flush=True)
            if len(times) > 1:
                print(f"{'':8}time grows with the power {fit_exponent(given.documents, times):.2f} of documents")
    return missed


if __name__ == "__main__":
    sys.exit(main())
