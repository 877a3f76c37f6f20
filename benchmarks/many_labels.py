"""The default method against one-vs-rest and label trees of other libraries where there are many labels.

    make bench ONLY=many-labels          # QUICK=1: 1,000 documents of each set
    benchmarks/.venv/bin/python -m benchmarks.many_labels --sets tibkat --candidates manylabel PECOS --threads 1
    benchmarks/.venv/bin/python -m benchmarks.many_labels --sets reuters21578 --candidates LibMultiLabel fastText

Every candidate is trained once, from texts to a model on disk, in a process of its own; peers without text features of
their own are given scikit-learn's tf-idf. CPU seconds are those of all threads, "of these: fit" those of the peer's own
training; peak memory is that of training; "ms/doc" is the CPU time from the text of a test document to its labels and
its five best labels. Each predicts by its own rule: scores above 0 (one-vs-rest), at least one half (omikuji,
fastText). Macro F1 is the mean over all labels of training and test; P@1, P@5 and nDCG@5 are those of the ranking.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.inputs import Inputs, write_matrix, write_texts
from benchmarks.peers import BY_NAME, ROOT, last_line
from benchmarks.tree_worker import K, best, best_stored
from benchmarks.trees import quality
from benchmarks.worker import cpu_seconds, forget_peak, memory

NAME = "many-labels"
MEGABYTE = 2**20
MOST_TIMES_PECOS = 5
BATCH = 1_000
"""Documents whose scores of all labels are held at a time."""
RANKING = ("P@1", f"P@{K}", f"nDCG@{K}")
TOP = 100
"""How many of the best labels of a document are asked of peers that rank."""
FEW = 1_000
"""How many training documents a quick run takes of each set."""
Sets = Sequence[Sequence[str]]
Predict = Callable[[list[str]], tuple[list[list[int]], Any]]
"""Texts → the columns of predicted labels, and those of the best labels of each, documents × K."""


# ---- data --------------------------------------------------------------------------------------------------


def write_corpus(folder: Path, texts: dict[str, list[str]], sets: dict[str, Sets]) -> None:
    """Keep texts and labels of the splits "train" and "test"; labels that only the test split has come last."""
    known = sorted({name for names in sets["train"] for name in names})
    later = sorted({name for names in sets["test"] for name in names} - set(known))
    column = {name: place for place, name in enumerate([*known, *later])}
    for part in ("train", "test"):
        write_texts(folder, part, texts[part])
        rows = [sorted({column[name] for name in names}) for names in sets[part]]
        write_matrix(folder, f"Y_{part}", matrix(rows, len(column)))
    (folder / "facts.json").write_text(json.dumps({"label_names": list(column), "labels in training": len(known)}))


def matrix(rows: Iterable[Sequence[int]], n_columns: int) -> Any:
    """A 0/1 matrix from the columns of each row."""
    columns = [np.asarray(row, dtype=np.int64) for row in rows]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in columns])])
    filled = np.concatenate([np.zeros(0, dtype=np.int64), *columns])
    return sparse.csr_matrix((np.ones(len(filled), dtype=np.int8), filled, starts), shape=(len(columns), n_columns))


def known_set(name: str, folder: Path, most: int | None) -> None:
    """A data set of MANYLABEL_DATA, divided as `manylabel evaluate` divides it; the first documents of each split."""
    from manylabel.tasks.corpora import Source, load_source
    from manylabel.tasks.dividing import train_and_test

    data = Path(os.environ["MANYLABEL_DATA"], "tibkat", "en.tsv.gz")
    source = str(data) if name == "tibkat" else name
    train, test, _ = train_and_test(load_source(Source(source)).corpus, 0.2, 0)
    parts = {"train": train, "test": test}
    texts = {
        part: ["\n".join(fields) for fields in zip(*one.fields.values(), strict=True)][:most]
        for part, one in parts.items()
    }
    write_corpus(folder, texts, {part: one.label_sets[:most] for part, one in parts.items()})


def synthetic(documents: int, labels: int, folder: Path, most: int | None) -> None:
    """Made-up texts, see `benchmarks.synthetic`; with `most`, so many, and fewer labels in proportion."""
    from benchmarks.synthetic import Size, draw
    from manylabel.scale.synthesize import spelling

    if most is not None:
        documents, labels = most, labels * most // documents
    drawn = draw(Size(documents, labels, 50_000))
    spelled = [spelling(term) for term in range(50_000)]
    texts = [
        " ".join([spelled[term] for term in drawn.words[a:b].tolist()]) for a, b in pairwise(drawn.starts.tolist())
    ]
    sets = [[f"label{k:05d}" for k in drawn.Y.indices[a:b].tolist()] for a, b in pairwise(drawn.Y.indptr.tolist())]
    write_corpus(
        folder,
        {"train": texts[:documents], "test": texts[documents:]},
        {"train": sets[:documents], "test": sets[documents:]},
    )


SETS: dict[str, Callable[[Path, int | None], None]] = {
    "debtags": partial(known_set, "debtags"),
    "tibkat": partial(known_set, "tibkat"),
    "synthetic": partial(synthetic, 50_000, 2_000),
}
FEWER_LABELS: dict[str, Callable[[Path, int | None], None]] = {"reuters21578": partial(known_set, "reuters21578")}
"""Sets that are measured on request only."""


# ---- candidates: each is trained, stored and asked in a process of its own ----------------------------------


@dataclass(frozen=True, slots=True)
class Trained:
    """What training took, and the function that predicts."""

    fit: float
    predict: Predict


def manylabel(inputs: Inputs, threads: int, model: Path, method: str = "auto") -> Trained:
    """The default method, or another one."""
    from manylabel.classifier import TextClassifier

    column = {name: place for place, name in enumerate(inputs.facts["label_names"])}
    began = cpu_seconds()
    trained = TextClassifier(method, n_jobs=threads).fit(inputs.texts("train"), inputs.label_sets("train"))
    taken = cpu_seconds() - began
    trained.save(model)

    def predict(texts: list[str]) -> tuple[list[list[int]], Any]:
        labels = np.array([column[name] for name in trained.labels_])
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        top = np.vstack([best(trained.decision_function(batch)) for batch in batches])
        return [[column[name] for name in names] for names in trained.predict(texts)], labels[top]

    return Trained(taken, predict)


def features(inputs: Inputs) -> tuple[Any, Any, Any]:
    """scikit-learn's tf-idf with logarithmic counts: the vectorizer, X and Y of the labels that training has."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(sublinear_tf=True, dtype=np.float32)
    X = vectorizer.fit_transform(inputs.texts("train"))
    return vectorizer, X, inputs.matrix("Y_train")[:, : inputs.facts["labels in training"]]


def pecos(inputs: Inputs, threads: int, model: Path) -> Trained:
    """PECOS, one layer of one-vs-rest SVMs with its default settings."""
    from pecos.xmc.base import MLModel, MLProblem

    vectorizer, X, Y = features(inputs)
    began = cpu_seconds()
    trained = MLModel.train(MLProblem(X, Y.astype(np.float32)), MLModel.TrainParams(bias=1.0, threads=threads))
    taken = cpu_seconds() - began
    model.mkdir()
    trained.save(str(model))

    def predict(texts: list[str]) -> tuple[list[list[int]], Any]:
        asked = vectorizer.transform(texts).astype(np.float32)
        scores = trained.predict(asked, only_topk=TOP, post_processor="noop", threads=threads).tocsr()
        rows = [(scores.indices[a:b], scores.data[a:b]) for a, b in pairwise(scores.indptr)]
        return [labels[values > 0].tolist() for labels, values in rows], best_stored(scores)

    return Trained(taken, predict)


def libmultilabel(inputs: Inputs, threads: int, model: Path) -> Trained:
    """LibMultiLabel's one-vs-rest SVMs with its default settings."""
    from libmultilabel import linear

    vectorizer, X, Y = features(inputs)
    linear.linear.psutil.cpu_count = lambda logical=True: threads
    began = cpu_seconds()
    trained = linear.train_1vsrest(Y.astype(np.int64), X.astype(np.float64), verbose=False)
    taken = cpu_seconds() - began
    np.save(model, np.asarray(trained.weights))

    def predict(texts: list[str]) -> tuple[list[list[int]], Any]:
        found: list[list[int]] = []
        top = []
        for start in range(0, len(texts), BATCH):
            batch = vectorizer.transform(texts[start : start + BATCH]).astype(np.float64)
            scores = np.asarray(trained.predict_values(batch))
            found += [np.flatnonzero(row > 0).tolist() for row in scores]
            top.append(best(scores))
        return found, np.vstack(top)

    return Trained(taken, predict)


def omikuji(inputs: Inputs, threads: int, model: Path) -> Trained:
    """Label trees of omikuji with its default settings."""
    import omikuji

    from benchmarks.paths.end_to_end import _write_xmc

    vectorizer, X, Y = features(inputs)
    path = model.with_suffix(".txt")
    _write_xmc(path, X, Y)
    began = cpu_seconds()
    trained = omikuji.Model.train_on_data(str(path), n_threads=threads)
    taken = cpu_seconds() - began
    trained.save(str(model))

    def predict(texts: list[str]) -> tuple[list[list[int]], Any]:
        Q = vectorizer.transform(texts)
        Q.sort_indices()
        rows = [list(zip(Q.indices[a:b].tolist(), Q.data[a:b].tolist())) for a, b in pairwise(Q.indptr)]
        ranked = [trained.predict(row) for row in rows]
        top = [([k for k, _ in row] + [-1] * K)[:K] for row in ranked]
        return [[k for k, score in row if score >= 0.5] for row in ranked], np.array(top)

    return Trained(taken, predict)


def fasttext(inputs: Inputs, threads: int, model: Path) -> Trained:
    """fastText, one logistic output per label, 25 epochs with a rate of 0.5; its labels are those above one half."""
    from benchmarks.paths.end_to_end import one_line_each, train_fasttext

    column = {f"__label__{name}": place for place, name in enumerate(inputs.facts["label_names"])}
    began = cpu_seconds()
    trained = train_fasttext(inputs, threads)
    taken = cpu_seconds() - began
    trained.save_model(str(model))

    def predict(texts: list[str]) -> tuple[list[list[int]], Any]:
        ranked, scores = trained.predict(one_line_each(texts), k=TOP)
        places = [[column[name] for name in names] for names in ranked]
        found = [np.array(row)[np.asarray(of) >= 0.5].tolist() for row, of in zip(places, scores, strict=True)]
        return found, np.array([(row + [-1] * K)[:K] for row in places])

    return Trained(taken, predict)


CANDIDATES: dict[str, Callable[[Inputs, int, Path], Trained]] = {
    "manylabel": manylabel,
    "label-tree": partial(manylabel, method="label-tree"),
    "PECOS": pecos,
    "LibMultiLabel": libmultilabel,
    "omikuji": omikuji,
}
ON_REQUEST = {"fastText": fasttext}
"""Candidates that are measured on request only."""
OURS = ("manylabel", "label-tree")
"""The default method, and the method for thousands of labels."""


def work(name: str, folder: Path, threads: int) -> dict[str, float]:
    """Train one candidate in this process: what it took, and how good it is on the test split."""
    inputs = Inputs(folder)
    with TemporaryDirectory() as scratch:
        model = Path(scratch) / "model"
        forget_peak()
        began = cpu_seconds()
        trained = {**CANDIDATES, **ON_REQUEST}[name](inputs, threads, model)
        taken = {"cpu": cpu_seconds() - began, "fit": trained.fit, "peak": memory("VmHWM") / MEGABYTE}
        files = [path for path in Path(scratch).rglob("*") if path.is_file() and path.suffix != ".txt"]
        taken["model"] = sum(path.stat().st_size for path in files) / MEGABYTE
        began = cpu_seconds()
        found, top = trained.predict(inputs.texts("test"))
        taken["ms/doc"] = 1000 * (cpu_seconds() - began) / len(found)
    Y = inputs.matrix("Y_test")
    predicted = matrix([sorted(set(labels)) for labels in found], Y.shape[1])
    right, given, true = (np.asarray(one.sum(axis=0)).ravel() for one in (predicted.multiply(Y), predicted, Y))
    used = (true > 0) | (np.arange(Y.shape[1]) < inputs.facts["labels in training"])
    ranking = dict(zip(RANKING, quality(top, Y), strict=True))
    return taken | {
        "micro F1": 200 * right.sum() / max(given.sum() + true.sum(), 1),
        "macro F1": float(np.mean((200 * right / np.maximum(given + true, 1))[used])),
        **ranking,
    }


# ---- the run -----------------------------------------------------------------------------------------------


def measure(
    names: Iterable[str] = tuple(SETS),
    candidates: Iterable[str] = tuple(CANDIDATES),
    threads: int = 1,
    most: int | None = None,
) -> str:
    """Run every candidate on every data set, on at most so many training documents; the table as Markdown."""
    heads = ("data", "", "CPU s", "of these: fit", "peak MB", "model MB", "ms/doc", "micro F1", "macro F1", *RANKING)
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name in names:
        with TemporaryDirectory(prefix="manylabel-bench-") as folder:
            {**SETS, **FEWER_LABELS}[name](Path(folder), most)
            rows = {}
            for candidate in candidates:
                rows[candidate] = row = run(candidate, Path(folder), threads)
                shown = " | ".join(f"{value:.1f}" for value in row.values()) if isinstance(row, dict) else row
                lines.append(f"| {name} | {candidate} | {shown} |")
                print(lines[-1], file=sys.stderr, flush=True)
        lines.extend(f"| {name} | {one} |" for one in judged(rows))
    return "\n".join(lines)


def judged(rows: Mapping[str, dict[str, float] | str]) -> list[str]:
    """How the default method stands to its goals: the time of one fit of PECOS, and the quality of every peer."""
    measured = {name: row for name, row in rows.items() if isinstance(row, dict)}
    if "manylabel" not in measured:
        return []
    ours, verdicts = measured["manylabel"], []
    if "PECOS" in measured:
        ratio = ours["cpu"] / measured["PECOS"]["fit"]
        verdict = "within" if ratio <= MOST_TIMES_PECOS else "MISSED:"
        verdicts.append(f"{verdict} {MOST_TIMES_PECOS}× one fit of PECOS: {ratio:.1f}×")
    for metric in ("micro F1", "macro F1", "P@1"):
        ahead = [name for name, row in measured.items() if name not in OURS and row[metric] > ours[metric]]
        verdicts.append(f"MISSED: {metric} of {', '.join(ahead)} is higher" if ahead else f"ahead in {metric}")
    return verdicts


def run(candidate: str, folder: Path, threads: int) -> dict[str, float] | str:
    """What one candidate reports from a process of its own, or why it does not."""
    python = sys.executable if candidate in OURS else str(BY_NAME[candidate].python)
    limits = {f"{name}_NUM_THREADS": str(threads) for name in ("OMP", "OPENBLAS", "MKL", "RAYON")}
    command = [python, "-W", "ignore", "-m", "benchmarks.many_labels", "--work", candidate, str(folder), str(threads)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **limits}, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"absent: {last_line(done.stderr) or done.returncode}"
    report: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return report


def main() -> None:
    """Measure, or do the work of one candidate."""
    parser = argparse.ArgumentParser(description="The default method and its peers where there are many labels.")
    parser.add_argument("--sets", nargs="+", choices=[*SETS, *FEWER_LABELS], default=list(SETS))
    parser.add_argument("--candidates", nargs="+", choices=[*CANDIDATES, *ON_REQUEST], default=list(CANDIDATES))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--most", type=int, help="training documents of each set; default: all")
    parser.add_argument("--work", nargs=3, metavar=("CANDIDATE", "FOLDER", "THREADS"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        candidate, folder, threads = asked.work
        print(json.dumps(work(candidate, Path(folder), int(threads))))
    else:
        print(measure(asked.sets, asked.candidates, asked.threads, asked.most))


if __name__ == "__main__":
    main()
