"""The label hierarchy in corpora, classifiers, model files and splits."""

from pathlib import Path

import numpy as np
import pytest

from manylabel import TextClassifier, load_corpus
from manylabel.data.hierarchy import Hierarchy
from manylabel.estimator import Csr
from manylabel.exceptions import ParameterError
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.strategies.conf_mat import ConfMat
from manylabel.strategies.hierarchies import Propagated, TopDown
from manylabel.tasks.corpora import Source, load_source
from manylabel.tasks.dividing import train_and_test

TEXTS = ["late bus", "bus stop broken", "late train", "train cancelled", "hole in the road", "road works"] * 4
LABELS = [["travel/bus"], ["travel/bus"], ["travel/train"], ["travel/train"], ["roads"], ["roads"]] * 4
TREE = {"travel/bus": "travel", "travel/train": "travel"}
METHODS = ("svm-closed", "svm-top-down", "svm-propagated")


@pytest.mark.parametrize("method", METHODS)
def test_fit_save_load(method: str, tmp_path: Path) -> None:
    model = TextClassifier(method).fit(TEXTS, LABELS, hierarchy=TREE)
    asked = ["the bus is late", "road", "train cancelled again", ""]
    assert model.predict(asked)[:3] == [["travel/bus"], ["roads"], ["travel/train"]]
    model.save(tmp_path / "m.manylabel")
    loaded = TextClassifier.load(tmp_path / "m.manylabel")
    assert loaded.predict(asked) == model.predict(asked)
    np.testing.assert_array_equal(loaded.predict_scores(asked), model.predict_scores(asked))
    assert loaded.hierarchy == Hierarchy(TREE)
    assert loaded.nodes_ == ["roads", "travel/bus", "travel/train", "travel"]


@pytest.mark.parametrize("method", METHODS)
def test_one_document_is_scored_like_many(method: str) -> None:
    """The one-document path predicts the same labels as the batch path."""
    model = TextClassifier(method).fit(TEXTS, LABELS, hierarchy=TREE)
    many = [*TEXTS, "bus road train", "nothing known"]
    assert [model.predict([text])[0] for text in many] == model.predict(many)


@pytest.mark.parametrize("strategy", [TopDown, Propagated])
def test_a_word_s_evidence_is_what_its_loss_costs(strategy: type) -> None:
    X = Csr(np.array([[1.0, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]] * 3))
    Y = Csr(np.array([[1, 0], [1, 0], [0, 1], [0, 0]] * 3))
    model = strategy(LinearSVM(), folds=2).fit(X, Y, parents=[2, 2, -1])
    evidence = model.evidence(X[:1], [1]).toarray()[0]
    without = X[:1].toarray() * [[0, 1, 1]]
    assert evidence[0] == pytest.approx((model.scores(X[:1]) - model.scores(without))[0, 1])


def test_every_method_keeps_the_hierarchy_and_those_without_use_for_it_do_not_mind() -> None:
    model = TextClassifier("nb-binary").fit(TEXTS, LABELS, hierarchy=TREE)
    assert model.hierarchy == Hierarchy(TREE)
    assert TextClassifier("nb-binary").fit(TEXTS, LABELS).hierarchy is None


def test_any_model_may_be_inside() -> None:
    X = np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]] * 3)
    Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]] * 3)
    found = Propagated(MultinomialNaiveBayes(smoothing="laplace"), folds=2).fit(X, Y, parents=[2, 2, -1])
    assert found.predict(X).tolist()[:2] == [[1, 0], [0, 1]]


def test_single_labels_go_to_the_deepest_of_equals() -> None:
    """1-D y: a is above b, and b's documents are a's too; the class of b's documents is b."""
    X, y = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]] * 3), np.array(["b", "b", "c", "c"] * 3)
    model = TopDown(LinearSVM()).fit(X, y, parents=[2, -1, -1])
    assert model.predict(X).tolist() == y.tolist()


def test_confmat_takes_groups_for_siblings() -> None:
    """Labels 0 and 1 lie in the group 3, so neither learns against the other."""
    X = np.array([[2.0, 0, 0], [0, 2, 0], [0, 0, 2], [1, 0, 1]] * 3)
    Y = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]] * 3)
    model = ConfMat(LinearSVM(), beta=100, hierarchy="siblings").fit(X, Y, parents=[3, 3, -1, -1])
    assert model.removed_.tolist() == [3, 6, 0]


# ---- corpora --------------------------------------------------------------------------------------------------------


def test_documents_of_a_group_stay_together(tmp_path: Path) -> None:
    path = tmp_path / "mail.csv"
    rows = [f'"text {number}",a{number % 3},writer{number // 4}' for number in range(40)]
    path.write_text("text,labels,author\n" + "\n".join(rows) + "\n")
    corpus = load_source(Source(str(path), split_by="author")).corpus
    train, test, how = train_and_test(corpus, 0.25, seed=0)
    assert not set(train.metadata["author"]) & set(test.metadata["author"])
    assert len(train) + len(test) == 40
    assert "by author" in how


def test_townhall_has_a_hierarchy_and_methods_use_it() -> None:
    corpus = load_corpus("townhall").corpus
    assert corpus.hierarchy is not None
    nodes, parents = corpus.hierarchy.columns(corpus.label_names)
    assert len(nodes) > len(corpus.label_names)
    assert (parents >= 0).sum() == len(corpus.label_names)


def test_debtags_is_split_by_source(data_folder: Path) -> None:
    if not (data_folder / "debtags").exists():
        pytest.skip("MANYLABEL_DATA has no debtags")
    corpus = load_source(Source("debtags")).corpus
    assert corpus.split_by == "source"
    assert corpus.hierarchy is not None
    nodes, _ = corpus.hierarchy.columns(corpus.label_names)
    assert (len(corpus.label_names), len(nodes)) == (598, 598 + 31)


def test_a_hierarchy_that_is_no_mapping_is_refused_with_an_example():
    with pytest.raises(ParameterError, match=r"hierarchy is the parent of each child label, such as \{.*not '/'"):
        TextClassifier("nb-binary").fit(TEXTS, LABELS, hierarchy="/")
