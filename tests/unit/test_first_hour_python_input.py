"""What users pass in Python: documents, matrices and labels are read right or refused with a sentence."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import PolynomialFeatures

from manylabel import TextClassifier, load_corpus
from manylabel.catalog import METHODS
from manylabel.data import Corpus
from manylabel.exceptions import DataError, MissingDataError, ParameterError
from manylabel.recipe import methods_for_any_numbers
from smaller import smaller

pytestmark = pytest.mark.filterwarnings("ignore::manylabel.models.pmm_base.UnlabelledDocumentsWarning")

TEXTS = ["the bus was late", "a hole in the road", "late bus, bad road", "good morning", "bus stop", "road works"] * 4
LABELS = [["buses"], ["roads"], ["buses", "roads"], [], ["buses"], ["roads"]] * 4
ONE_HOT = np.array([[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1]] * 4)
NEW = ["the bus is late", "the road"]


@pytest.fixture(scope="module")
def fitted() -> TextClassifier:
    return TextClassifier("nb-binary").fit(TEXTS, LABELS)


class TestDocuments:
    """Point 5 of the first-hour list: documents."""

    @pytest.mark.parametrize("method", ["predict", "predict_scores", "transform"])
    def test_point_5_a_single_string_is_refused_with_the_remedy(self, fitted: TextClassifier, method: str) -> None:
        with pytest.raises(DataError, match=r"put it in a list: \['my vpn is down'\]"):
            getattr(fitted, method)("my vpn is down")
        with pytest.raises(DataError, match="One string"):
            TextClassifier("nb-binary").fit("my vpn is down", LABELS)

    @pytest.mark.parametrize(
        ("documents", "sentence"),
        [
            (b"bytes", "One bytes object"),
            ({"title": "bus"}, "A mapping"),
            ({"a", "b"}, "A set has no order"),
            (None, "not None"),
            (3, "type int"),
            (["bus", None], "Document 1 is NoneType None.*Replace missing texts"),
            (["bus", float("nan")], "Document 1 is float nan.*fillna"),
            ([3, 4], r"Document 0 is int 3.*a matrix of one row, in pandas frame.iloc\[\[0\]\]"),
            ([b"bus"], "Document 0 is bytes.*Decode it first"),
            ([{"title": None}], "Field 'title' of document 0"),
            ([["late", "bus"], ["bad", "road"]], "row of 2 strings.*join"),
            ([["late", "bus"], ["road"]], "different lengths"),
            (Corpus(ids=["1"], fields={"text": ["bus"]}), "corpus.texts"),
        ],
    )
    def test_point_5_what_is_not_a_list_of_documents_is_refused(
        self, fitted: TextClassifier, documents: Any, sentence: str
    ) -> None:
        with pytest.raises(DataError, match=sentence):
            fitted.predict(documents)

    def test_point_5_any_sequence_of_texts_is_read(self, fitted: TextClassifier) -> None:
        pandas = pytest.importorskip("pandas")
        expected = fitted.predict(NEW)
        for documents in (
            tuple(NEW),
            (text for text in NEW),
            np.array(NEW),
            np.array(NEW, dtype=object)[:, np.newaxis],
            pandas.Series(NEW, index=[7, 3]),
            pandas.DataFrame({"text": NEW}, index=[7, 3]),
        ):
            assert fitted.predict(documents) == expected
        scores = fitted.predict_scores(text for text in NEW)
        np.testing.assert_array_equal(scores, fitted.predict_scores(NEW))

    def test_point_5_a_generator_is_read_by_fit_too(self, fitted: TextClassifier) -> None:
        model = TextClassifier("nb-binary").fit((text for text in TEXTS), (names for names in LABELS))
        assert model.predict(NEW) == fitted.predict(NEW)

    def test_point_5_text_columns_of_a_data_frame_are_fields(self) -> None:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"title": ["bus", "road"] * 5, "body": ["road", "bus"] * 5})
        model = TextClassifier("nb-binary", features={"fields": ["title", "body"]}, model={"smoothing": "laplace"})
        model.fit(frame, [["buses"], ["roads"]] * 5)
        assert model.predict(frame[:2]) == [["buses"], ["roads"]]
        with pytest.raises(DataError, match=r"Field 'body' of document 1"):
            model.predict(pandas.DataFrame({"title": ["a", "b"], "body": ["c", None]}))
        with pytest.raises(DataError, match=r"columns of numbers \(id\).*documents\[\['title'\]\]"):
            TextClassifier("nb-binary").fit(pandas.DataFrame({"id": [1], "title": ["bus"]}), [["buses"]])

    def test_point_5_a_numeric_data_frame_is_a_matrix(self) -> None:
        pandas = pytest.importorskip("pandas")
        X = np.array([[2, 0], [0, 2], [1, 1], [0, 0]] * 3)
        labels = [["a"], ["b"], ["a", "b"], []] * 3
        model = TextClassifier("nb-binary", model={"smoothing": "laplace"}).fit(pandas.DataFrame(X), labels)
        assert model.predict(pandas.DataFrame(X)) == model.predict(X) == model.predict(X.tolist())


class TestLabels:
    """Point 5 of the first-hour list: labels."""

    def test_point_5_tuples_sets_and_arrays_are_label_sets(self, fitted: TextClassifier) -> None:
        pandas = pytest.importorskip("pandas")
        for labels in (
            [tuple(names) for names in LABELS],
            [set(names) for names in LABELS],
            [np.array(names, dtype=object) for names in LABELS],
            pandas.Series(LABELS),
            pandas.DataFrame({"labels": LABELS}),
        ):
            assert TextClassifier("nb-binary").fit(TEXTS, labels).predict(NEW) == fitted.predict(NEW)

    def test_point_5_one_hot_data_frames_name_the_labels(self, fitted: TextClassifier) -> None:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(ONE_HOT, columns=["buses", "roads"])
        for labels in (frame, frame.astype(bool), frame.astype(float)):
            model = TextClassifier("nb-binary").fit(TEXTS, labels)
            assert model.labels_ == ["buses", "roads"]
            assert model.predict(NEW).tolist() == [[1, 0], [0, 1]]
        with pytest.raises(DataError, match=r"do not all hold 0 and 1: a, b"):
            TextClassifier().fit(TEXTS[:1], pandas.DataFrame({"a": ["x"], "b": ["y"]}))

    def test_point_5_arrays_come_back_as_arrays_and_sparse_matrices_as_sparse(self) -> None:
        dense = TextClassifier("nb-binary").fit(TEXTS, ONE_HOT).predict(TEXTS)
        assert isinstance(dense, np.ndarray)
        matrix = TextClassifier("nb-binary").fit(TEXTS, sparse.csr_array(ONE_HOT)).predict(TEXTS)
        np.testing.assert_array_equal(matrix.toarray(), dense)

    @pytest.mark.parametrize("values", [(2, 10), (False, True), (0, 1), ("buses", "roads"), (2.0, 10.0)])
    def test_point_5_one_label_per_document_keeps_its_type(self, values: tuple[Any, Any]) -> None:
        texts, labels = ["late bus", "bad road", "bus stop", "road works"] * 3, list(values) * 6
        for given in (labels, np.array(labels)):
            model = TextClassifier("svm").fit(texts, given)
            answer = model.predict(["bus", "road"])
            assert list(answer) == list(values)
            assert isinstance(answer, list if given is labels and isinstance(values[0], str) else np.ndarray)
            assert model.classes_.tolist() == list(values)

    def test_point_5_sets_of_whole_numbers_come_back_as_whole_numbers(self) -> None:
        labels = [[{"buses": 10, "roads": 2}[name] for name in names] for names in LABELS]
        model = TextClassifier("nb-binary").fit(TEXTS, labels)
        assert model.labels_ == ["2", "10"]
        assert model.predict(NEW) == [[10], [2]]

    @pytest.mark.parametrize(
        ("labels", "sentence"),
        [
            (None, "requires y to be passed"),
            ("buses", "one str, not one label set per document"),
            ({"buses"}, "one set"),
            (5, "one int"),
            (["buses", None], "document 0 has 'buses'"),
            ([["buses"], None], r"document 1 has None .*give \[\]"),
            ([["buses"], [None]], "document 1 has None among its labels"),
            ([["buses"], [3]], r"different types: 'buses' \(str\), 3 \(int\)"),
            ([[1, 0], [0, 1]], "numpy.array"),
            ([[True, False], [False, True]], "numpy.array"),
            ([0.5, 1.0], "continuous"),
            ([1.0, float("nan")], "NaN"),
        ],
    )
    def test_point_5_other_labels_are_refused_with_a_sentence(self, labels: Any, sentence: str) -> None:
        with pytest.raises(DataError, match=sentence):
            TextClassifier("nb-binary").fit(TEXTS[:2], labels)

    def test_labels_left_out_are_asked_for_with_a_remedy(self) -> None:
        model = TextClassifier("nb-binary")
        for learn in (model.fit, model.fit_transform):
            with pytest.raises(DataError, match=r"requires y .*fit\(corpus\.texts, corpus\.label_sets\)"):
                learn(TEXTS)
            with pytest.raises(DataError, match=r"Pass corpus\.texts as documents and corpus\.label_sets as labels"):
                learn(load_corpus("townhall").corpus)  # type: ignore[arg-type]


class TestMatrices:
    """Point 6 of the first-hour list: matrices are checked in one place, for every method."""

    X = np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [3, 0, 0], [0, 3, 1]] * 4, dtype=float)
    Y = np.array([[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]] * 4)

    @pytest.mark.usefixtures("patient")
    @pytest.mark.parametrize("method", METHODS)
    def test_point_6_the_way_a_matrix_is_stored_changes_nothing(self, method: str) -> None:
        model = fitted_to_counts(method)
        expected = model.predict_scores(self.X), model.predict(self.X)
        for X in (untidy(self.X), sparse.csc_array(self.X), self.X.astype(int)):
            np.testing.assert_array_equal(model.predict_scores(X), expected[0])
            np.testing.assert_array_equal(model.predict(X), expected[1])
        again = smaller(method).fit(untidy(self.X), self.Y)
        np.testing.assert_array_equal(again.predict_scores(self.X), expected[0])

    @pytest.mark.usefixtures("patient")
    @pytest.mark.parametrize("method", METHODS)
    def test_point_6_wrong_matrices_are_refused_by_fit_and_predict(self, method: str) -> None:
        model = fitted_to_counts(method)
        wrong = {"NaN": np.nan, "inf": np.inf}
        for word, value in wrong.items():
            X = self.X.copy()
            X[1, 2] = value
            for given in (X, sparse.csr_array(X)):
                for call in (model.predict, model.predict_scores, lambda X: TextClassifier(method).fit(X, self.Y)):
                    with pytest.raises(DataError, match=f"{word}.*row 1, column 2"):
                        call(given)
        for width in (2, 4):
            with pytest.raises(DataError, match=f"X has {width} features, but TextClassifier is expecting 3"):
                model.predict(np.ones((2, width)))
        with pytest.raises(DataError, match="2D"):
            model.predict(np.ones((1, 1, 3)))
        if model.decided_.needs_counts:
            for call in (model.predict, model.predict_scores):
                with pytest.raises(DataError, match=r"[Nn]egative"):
                    call(-self.X)
        if method not in methods_for_any_numbers():
            with pytest.raises(DataError, match="Negative"):
                TextClassifier(method).fit(-self.X, self.Y)


@cache
def fitted_to_counts(method: str) -> TextClassifier:
    return smaller(method).fit(TestMatrices.X, TestMatrices.Y)


def untidy(X: np.ndarray) -> sparse.csr_array:
    """The same matrix with stored zeros, columns in descending order and every value stored as two halves."""
    rows, columns = (part.ravel() for part in np.indices(X.shape))
    rows, columns = np.tile(rows, 2), np.tile(columns, 2)
    order = np.lexsort((-columns, rows))
    data = (X[rows, columns] / 2)[order]
    indptr = np.arange(X.shape[0] + 1) * 2 * X.shape[1]
    return sparse.csr_array((data, columns[order], indptr), shape=X.shape)


class TestLabelMatrices:
    """Point 7 of the first-hour list: label matrices and label names."""

    @pytest.mark.parametrize("value", [0.9, 0.2, 257, -1, np.nan, np.inf])
    def test_point_7_other_values_than_0_and_1_are_refused(self, value: float) -> None:
        Y = ONE_HOT.astype(float)
        Y[1, 1] = value
        for given in (Y, sparse.csr_array(Y)):
            with pytest.raises(DataError, match=r"only 0 and 1; row 1, column 1 holds"):
                TextClassifier("nb-binary").fit(TEXTS, given)

    def test_point_7_label_names_must_be_distinct_and_complete(self) -> None:
        with pytest.raises(ParameterError, match="label_names holds 'a' more than once"):
            TextClassifier("nb-binary").fit(TEXTS, ONE_HOT, label_names=["a", "a"])
        with pytest.raises(ParameterError, match="label_names has 1 name, but the label matrix has 2 columns"):
            TextClassifier("nb-binary").fit(TEXTS, ONE_HOT, label_names=["a"])
        with pytest.raises(ParameterError, match="label_names has 3 names"):
            TextClassifier("nb-binary").fit(TEXTS, ONE_HOT, label_names=["a", "b", "c"])
        with pytest.raises(ParameterError, match="label_names lacks 'roads', a label of document 1"):
            TextClassifier("nb-binary").fit(TEXTS, LABELS, label_names=["buses"])
        with pytest.raises(ParameterError, match="list of strings"):
            TextClassifier("nb-binary").fit(TEXTS, LABELS, label_names="buses")


def test_point_5_joined_labels_are_refused_with_both_remedies() -> None:
    """Point 5: a column of a table in which labels are joined is not one label per document."""
    texts = ["late bus", "bad road", "bus and road"] * 4
    with pytest.raises(DataError, match=r"'buses;roads' can be one label or several.*label.split\(';'\)"):
        TextClassifier("nb-binary").fit(texts, ["buses", "roads", "buses;roads"] * 4)
    model = TextClassifier("nb-binary").fit(texts, [["buses"], ["roads"], ["buses;roads"]] * 4)
    assert model.labels_ == ["buses", "buses;roads", "roads"]
    assert TextClassifier("nb-binary").fit(texts, ["Smith, John", "roads", "R;D"] * 4).predict(["late"]) == [
        "Smith, John"
    ]


def test_point_5_joined_labels_are_refused_in_score_too() -> None:
    model = TextClassifier("nb-binary").fit(TEXTS, LABELS)
    with pytest.raises(DataError, match=r"'buses;roads' can be one label or several"):
        model.score(NEW, ["buses;roads", "roads"])


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (["['buses', 'roads']", "['roads']", "[]"], r"'roads'\]\" is a list that was written as text.*literal_eval"),
        ([["['buses'", " 'roads']"], ["['roads']"], []], "is a list that was written as text"),
        ([["buses", " roads"], ["roads"], []], r"' roads' and 'roads' differ in blanks only.*strip"),
        ([{"buses": 0.9}, {"roads": 0.1}, {}], r"document 0 has \{'buses': 0.9\}.*Give a list for each document"),
    ],
)
def test_labels_that_a_table_left_as_text_are_refused_with_the_remedy(labels: Any, sentence: str) -> None:
    """Pandas writes a list to CSV as text, and str.split keeps the blanks: each would be a label of its own."""
    with pytest.raises(DataError, match=sentence):
        TextClassifier("nb-binary").fit(["late bus, bad road", "bad road", "nothing"] * 4, labels * 4)


def test_the_labels_of_a_document_may_be_any_sequence() -> None:
    """A Series of lists holds Series in Polars; descriptions ask whether there are labels at all."""
    pandas = pytest.importorskip("pandas")
    for sequence in (pandas.Series, np.array):
        labels = [sequence(names) for names in LABELS]
        assert TextClassifier("nb-binary").fit(TEXTS, labels).predict(NEW) == [["buses"], ["roads"]]
    described = TextClassifier("svm", folds=2).fit(TEXTS, labels, descriptions={"roads": "holes in the road"})
    assert described.labels_ == ["buses", "roads"]


def test_point_5_labels_without_a_name_are_refused() -> None:
    """Point 5: pandas splits an empty cell into one empty string, which is no label."""
    texts = ["late bus", "bad road", "nothing"] * 4
    with pytest.raises(DataError, match=r"Document 2 has a label without a name: \[''\].*give \[\]"):
        TextClassifier("nb-binary").fit(texts, [["buses"], ["roads"], [""]] * 4)
    with pytest.raises(DataError, match=r"Document 2 has a label without a name: ''"):
        TextClassifier("nb-binary").fit(texts, np.array(["buses", "roads", ""] * 4))
    pandas = pytest.importorskip("pandas")
    with pytest.raises(DataError, match=r"a column without a name"):
        TextClassifier("nb-binary").fit(texts, pandas.DataFrame({"buses": [1, 0, 0] * 4, "": [0, 0, 1] * 4}))


def test_point_5_missing_values_of_pandas_are_refused_with_the_remedy(fitted: TextClassifier) -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(DataError, match=r"Document 1 is NAType.*fillna"):
        fitted.predict(pandas.Series(["bus", pandas.NA], dtype="string"))
    with pytest.raises(DataError, match=r"document 1 has <NA>.*give \[\]"):
        fitted.fit(["bus", "road"], [["buses"], pandas.NA])


def test_point_5_columns_of_a_data_frame_are_matched_by_name() -> None:
    pandas = pytest.importorskip("pandas")
    one_hot = pandas.DataFrame(ONE_HOT, columns=["buses", "roads"])
    model = TextClassifier("nb-binary").fit(TEXTS, one_hot)
    swapped = one_hot[["roads", "buses"]]
    right = model.score(TEXTS, one_hot)
    assert model.score(TEXTS, swapped) == right
    assert model.score(TEXTS, one_hot[["buses"]].assign(trams=0)) < right  # no column: no document has the label
    named = TextClassifier("nb-binary").fit(TEXTS, swapped, label_names=["buses", "roads"])
    assert (named.predict(TEXTS) == model.predict(TEXTS)).all()
    with pytest.raises(ParameterError, match="lacks 'roads', a column"):
        TextClassifier("nb-binary").fit(TEXTS, one_hot, label_names=["buses"])


def test_a_column_of_empty_texts_that_pandas_makes_is_refused_with_the_remedy() -> None:
    pandas = pytest.importorskip("pandas")
    one_hot = pandas.DataFrame(np.hstack([ONE_HOT, 1 - ONE_HOT[:, :1]]), columns=["buses", "roads", ""])
    with pytest.raises(DataError, match=r"drop\(columns=''\) removes it"):
        TextClassifier("nb-binary").fit(TEXTS, one_hot)
    TextClassifier("nb-binary").fit(TEXTS, one_hot.drop(columns=""))


def test_a_tokenizer_of_ones_own_is_refused_with_a_remedy_that_works() -> None:
    tokenized = [" ".join(text.split(" ")) for text in TEXTS]
    with pytest.raises(ParameterError, match=r"join its tokens by blanks and use '\\S\+'"):
        TextClassifier("nb-binary", features={"tokens": str.split}).fit(tokenized, LABELS)
    model = TextClassifier("nb-binary", features={"tokens": r"\S+"}).fit(tokenized, LABELS)
    assert "bus," in model.get_feature_names_out()


def test_point_14_a_model_knows_the_columns_of_its_data_frame(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    numbers = pandas.DataFrame({"length": [1.0, -1.0] * 12, "age": [0.5, 2.0] * 12})
    model = TextClassifier("svm").fit(numbers, ["long", "short"] * 12)
    model.save(tmp_path / "m.manylabel")
    again = TextClassifier.load(tmp_path / "m.manylabel")
    assert again.feature_names_in_.tolist() == ["length", "age"]
    assert {one.term for one in again.explain(numbers[:1])["long"].terms} == {"length", "age"}
    assert again.predict(numbers.to_numpy()) == model.predict(numbers)
    with pytest.raises(DataError, match=r"column 1 is 'age', in training it was 'length'"):
        again.predict(numbers[["age", "length"]])
    scaled = TextClassifier("svm", features=PolynomialFeatures()).fit(numbers, ["long", "short"] * 12)  # five columns
    assert scaled.predict(numbers[:2]) == ["long", "short"]
    with pytest.raises(ParameterError, match="terms has 1 name, but the matrix has 2 columns"):
        TextClassifier("svm").fit(numbers.to_numpy(), ["long", "short"] * 12, terms=["length"])


def test_point_5_what_is_no_file_is_refused_with_the_remedy(tmp_path: Path, fitted: TextClassifier) -> None:
    with pytest.raises(ParameterError, match=r"not a value of type list.*TextClassifier.fit"):
        load_corpus(TEXTS)  # type: ignore[arg-type]
    with pytest.raises(MissingDataError, match="is a folder, not a model file"):
        TextClassifier.load(tmp_path)
    with pytest.raises(ParameterError, match="Did you mean model__C"):
        TextClassifier("svm").set_params(C=2)


def test_an_explanation_is_printed_for_people(fitted: TextClassifier) -> None:
    lines = str(fitted.explain("the bus was late")).splitlines()
    assert lines[0].startswith("buses: predicted (probability")
    assert any(line.endswith("  bus") for line in lines)
    assert lines[-1].startswith("Contributions are exact")


def test_point_5_labels_among_the_documents_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"text": TEXTS, "labels": [";".join(names) or "none" for names in LABELS]})
    with pytest.raises(DataError, match="'labels' holds labels, and is a column of the documents too"):
        TextClassifier("nb-binary").fit(table, table["labels"])
    numbers = pandas.DataFrame({"length": [1.0, 2.0] * 12, "buses": [0, 1] * 12, "roads": [1, 0] * 12})
    with pytest.raises(DataError, match=r"documents.drop\(columns=\['buses', 'roads'\]\)"):
        TextClassifier("svm").fit(numbers, numbers[["buses", "roads"]])
