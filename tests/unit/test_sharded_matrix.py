"""X and Y on disk: the parts of a corpus are the matrix that the vectoriser counts in memory."""

import json
from pathlib import Path

import numpy as np
import pytest

from manylabel import modelfile
from manylabel.data import load
from manylabel.data.labels import label_matrix
from manylabel.estimator import Csr
from manylabel.features.vectorize import Vectorizer
from manylabel.features.weighting import Weighting
from manylabel.scale import shards
from manylabel.scale.engine import SerialEngine, Task
from manylabel.scale.matrix import Matrix, Part
from manylabel.scale.selected import PARTS_A_TASK, Selected
from manylabel.scale.shards import ShardedCorpus
from manylabel.scale.tables import Tables, save_arrays


def check_stored(matrix: Matrix, folder: Path, X: Csr) -> None:
    """Documents that are weighted once and stored are those of a weighting in memory, all and some of them."""
    meant = np.arange(90) % 4 != 1
    weighting = Weighting().fit(X[meant])
    modelfile.save(weighting, folder / "weighting")
    save_arrays(folder / "rows", {"rows": meant})
    selected = Selected(matrix, folder / "unread", folder / "rows", folder / "weighting")
    for start in range(0, len(matrix.parts), PARTS_A_TASK):
        arguments = {"documents": selected.as_dict(), "start": start, "dtype": "float64"}
        SerialEngine().run([Task("selected:store_parts", folder / "stored" / f"{start:05d}", arguments)], "Weighting")
    stored = Selected.from_dict({**selected.as_dict(), "stored": str(folder / "stored")})
    for only in (None, meant & (np.arange(90) > 40)):
        expected = np.flatnonzero(meant if only is None else only)
        found = list(stored.blocks(only))
        assert np.concatenate([numbers for numbers, _ in found]).tolist() == expected.tolist()
        weighted = weighting.transform(X[expected]).toarray()
        np.testing.assert_array_equal(np.vstack([block.toarray() for _, block in found]), weighted)


def test_parts_are_the_matrix_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    letters = load("townhall").corpus
    texts, label_sets = letters.texts[:90], letters.label_sets[:90]
    path = tmp_path / "letters.jsonl"
    rows = [{"text": text, "labels": list(names)} for text, names in zip(letters.joined_texts[:90], label_sets)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(shards, "SHARD_BYTES", 4000)
    corpus = ShardedCorpus.of(path)
    tasks = [
        Task("matrix:count_shard", tmp_path / f"{number}", {"corpus": corpus.of_shard(shard).as_dict(), "features": {}})
        for number, shard in enumerate(corpus.shards)
    ]
    engine = SerialEngine()
    engine.run(tasks, "Counting")
    parts = [folder for task in tasks for folder in sorted(task.output.iterdir())]
    assert len(parts) > 3
    whole = Tables.load(engine.reduce("tables:merge_files", parts, tmp_path / "merged", "Merging"))
    vectorizer = Vectorizer(min_df=2)
    X = vectorizer.fit_transform(letters.joined_texts[:90])
    kept = [term for term, df in zip(whole.terms, whole.document_frequency) if df >= 2]
    matrix = Matrix(tuple(map(Part, parts)), len(kept), len(whole.labels))
    matrix.number(kept, whole.labels)
    assert kept == vectorizer.terms_
    assert whole.documents == len(texts) == matrix.shape[0]
    blocks = list(matrix.blocks())
    assert np.concatenate([numbers for numbers, _ in blocks]).tolist() == list(range(90))
    np.testing.assert_array_equal(np.vstack([block.toarray() for _, block in blocks]), X.toarray())
    np.testing.assert_array_equal(matrix.Y().toarray(), label_matrix(label_sets, whole.labels).toarray())
    some = np.array([0, 3, 50, 89])
    np.testing.assert_array_equal(matrix.rows(some).toarray(), X[some].toarray())
    np.save(tmp_path / "columns.npy", np.where(np.arange(len(kept)) % 3 == 0, np.arange(len(kept)) // 3, -1))
    third = Matrix(matrix.parts, -(-len(kept) // 3), len(whole.labels), tmp_path / "columns.npy")
    third = Matrix.from_dict(third.as_dict())
    np.testing.assert_array_equal(np.vstack([X.toarray() for _, X in third.blocks()]), X.toarray()[:, ::3])
    np.testing.assert_array_equal(third.rows(some).toarray(), X[some].toarray()[:, ::3])
    assert third.kept.tolist() == list(range(0, len(kept), 3))
    check_stored(matrix, tmp_path, X)
    assert whole.label_documents.tolist() == matrix.Y().sum(axis=0).tolist()
