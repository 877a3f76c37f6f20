"""Our readers of sparse files agree with scikit-learn's and SciPy's where these can read the file."""

import io

import numpy as np
import pytest
from scipy.io import arff as scipy_arff

from manylabel.data import Corpus, read, write
from manylabel.estimator import Csr


def random_corpus(seed: int) -> Corpus:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (30, 12)) * (rng.random((30, 12)) < 0.4) * rng.choice([1.0, 0.37], (30, 12))
    X[:, 0] += 1  # scikit-learn loses a document without labels and counts
    Y = rng.random((30, 5)) < 0.3
    names = [f"l{j}" for j in range(5)]
    labels = [[names[j] for j in np.flatnonzero(row)] for row in Y]
    return Corpus(
        ids=[str(i) for i in range(30)],
        labels=labels,
        label_names=names,
        counts=Csr(X),
        terms=[f"w{j}" for j in range(12)],
    )


@pytest.mark.parametrize("zero_based", [False, True])
def test_libsvm_as_scikit_learn_writes_and_reads_it(zero_based, tmp_path):
    from sklearn.datasets import dump_svmlight_file, load_svmlight_file

    corpus = random_corpus(0)
    path = tmp_path / "a.svm"
    Y = corpus.label_matrix().toarray()
    dump_svmlight_file(corpus.counts.toarray(), Y, str(path), multilabel=True, zero_based=zero_based)
    ours = read(path, zero_based=zero_based, features=12).corpus
    theirs, sets = load_svmlight_file(str(path), n_features=12, multilabel=True, zero_based=zero_based)
    np.testing.assert_array_equal(ours.counts.toarray(), theirs.toarray())
    assert [[int(name) for name in names] for names in ours.labels] == [sorted(map(int, found)) for found in sets]
    # Its writer keeps 16 digits, one less than a float has.
    np.testing.assert_allclose(ours.counts.toarray(), corpus.counts.toarray(), rtol=1e-15)


def test_scikit_learn_reads_what_we_write(tmp_path):
    from sklearn.datasets import load_svmlight_file

    corpus = random_corpus(1)
    write(corpus, tmp_path / "a.svm")
    theirs, sets = load_svmlight_file(str(tmp_path / "a.svm"), n_features=12, multilabel=True, zero_based=False)
    np.testing.assert_array_equal(theirs.toarray(), corpus.counts.toarray())
    assert [[f"l{int(j)}" for j in sorted(found)] for found in sets] == corpus.labels


def test_dense_arff_as_scipy_reads_it(tmp_path):
    rng = np.random.default_rng(2)
    rows = [[*rng.integers(0, 3, 4), rng.choice(["red", "green", "blue"])] for _ in range(20)]
    head = "@relation r\n" + "".join(f"@attribute w{j} numeric\n" for j in range(4))
    content = (
        head + "@attribute class {red,green,blue}\n@data\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    )
    (tmp_path / "a.arff").write_text(content)
    ours = read(tmp_path / "a.arff").corpus
    data, _ = scipy_arff.loadarff(io.StringIO(content))
    np.testing.assert_array_equal(ours.counts.toarray(), np.array([[row[f"w{j}"] for j in range(4)] for row in data]))
    assert ours.labels == [[row["class"].decode()] for row in data]


def test_parquet_written_by_pyarrow_alone(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"text": ["a", "b"], "labels": [["x", "y"], []], "toxic": [1, 0]})
    parquet.write_table(table, tmp_path / "a.parquet")
    corpus = read(tmp_path / "a.parquet").corpus
    assert (corpus.texts, corpus.labels, corpus.metadata) == (["a", "b"], [["x", "y"], []], {"toxic": [1, 0]})
