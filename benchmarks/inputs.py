"""What all candidates are given: one folder of plain files, written once, read by every worker.

texts are JSON lists, matrices SciPy's ``.npz``: any Python with NumPy and SciPy, old or new, reads the very same bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse


@dataclass(frozen=True, slots=True)
class Inputs:
    """A folder of inputs."""

    folder: Path

    @property
    def facts(self) -> dict[str, Any]:
        """What the data are: name, numbers of documents, labels, terms and so on."""
        facts: dict[str, Any] = json.loads((self.folder / "facts.json").read_text())
        return facts

    def texts(self, part: str) -> list[str]:
        """The documents of a part ("train", "test") as strings."""
        texts: list[str] = json.loads((self.folder / f"texts_{part}.json").read_text())
        return texts

    def label_sets(self, part: str) -> list[list[str]]:
        """The label sets of a part as lists of names."""
        names = self.facts["label_names"]
        Y = self.matrix(f"Y_{part}")
        return [[names[j] for j in Y.indices[a:b]] for a, b in zip(Y.indptr[:-1], Y.indptr[1:])]

    def matrix(self, name: str) -> Any:
        """A sparse matrix: X_… tf-idf, counts_… counts, Y_… labels, each for train and test."""
        return sparse.csr_matrix(sparse.load_npz(self.folder / f"{name}.npz"))

    def array(self, name: str) -> Any:
        """A dense array."""
        return np.load(self.folder / f"{name}.npy")


def write_matrix(folder: Path, name: str, matrix: Any) -> None:
    """Keep a sparse matrix: CSR, 32-bit indices, sorted."""
    M = sparse.csr_matrix(matrix)
    M.sort_indices()
    M.indices, M.indptr = M.indices.astype(np.int32), M.indptr.astype(np.int32)
    sparse.save_npz(folder / f"{name}.npz", M, compressed=False)


def write_texts(folder: Path, part: str, texts: list[str]) -> None:
    """Keep the documents of a part."""
    (folder / f"texts_{part}.json").write_text(json.dumps(texts))


def write_features(folder: Path, counts: dict[str, Any], labels: dict[str, Any], facts: dict[str, Any]) -> None:
    """Keep counts and labels, and what follows from them: tf-idf vectors and similarities to label centroids.

    tf-idf is scikit-learn's default: count · (ln((1 + N) / (1 + df)) + 1), then length 1.
    """
    N = counts["train"].shape[0]
    df = np.bincount(counts["train"].indices, minlength=counts["train"].shape[1])
    idf = sparse.diags(np.log((1 + N) / (1 + df)) + 1)
    vectors = {}
    for part in ("train", "test"):
        vectors[part] = unit_rows(counts[part] @ idf)
        write_matrix(folder, f"counts_{part}", counts[part].astype(np.float64))
        write_matrix(folder, f"Y_{part}", labels[part].astype(np.int8))
        write_matrix(folder, f"X_{part}", vectors[part])
    centroids = unit_rows(labels["train"].astype(np.float64).T @ vectors["train"])
    np.save(folder / "similarities_test.npy", (vectors["test"] @ centroids.T).toarray())
    facts = {
        **facts,
        "train documents": N,
        "test documents": int(counts["test"].shape[0]),
        "terms": int(counts["train"].shape[1]),
        "labels": int(labels["train"].shape[1]),
        "non-zeros": int(counts["train"].nnz),
    }
    (folder / "facts.json").write_text(json.dumps(facts))


def unit_rows(M: Any) -> Any:
    """Rows of Euclidean length 1; rows of zeros stay."""
    M = sparse.csr_matrix(M)
    lengths = np.sqrt(np.asarray(M.multiply(M).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1 / np.where(lengths > 0, lengths, 1)) @ M)


def write_reuters(folder: Path) -> bool:
    """Keep Reuters-21578, ModApte split, 90 labels, as strings of title and body; False where it is not here."""
    from sklearn.feature_extraction.text import CountVectorizer

    from manylabel.data.known import load
    from manylabel.exceptions import MissingDataError

    try:
        corpus = load("reuters21578", label_set="R90").corpus
    except MissingDataError:
        return False
    counter, counts, labels = CountVectorizer(), {}, {}
    for part in ("train", "test"):
        documents = corpus.split(part)
        texts = ["\n".join(parts) for parts in zip(*documents.fields.values())]
        write_texts(folder, part, texts)
        counts[part] = counter.fit_transform(texts) if part == "train" else counter.transform(texts)
        labels[part] = sparse.csr_matrix(documents.label_matrix())
    facts = {"name": "Reuters-21578, ModApte, R90", "label_names": list(corpus.label_names)}
    write_features(folder, counts, labels, facts)
    return True
