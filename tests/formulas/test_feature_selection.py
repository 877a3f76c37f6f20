"""Feature selection: S-1 to S-4 and D-4."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError, UnknownNameError
from manylabel.features import TermSelector, Weighting
from manylabel.features.contingency import Cells, Contingency, contingency_tables, indicator_of
from manylabel.features.term_scores import (
    DEFAULTS,
    FUNCTIONS,
    Options,
    best_terms,
    find_function,
    global_scores,
    label_scores,
)

INF = math.inf
NAMES = ("dia", "ig", "mi", "chi2", "ngl", "rs_printed", "rs", "or", "gss")
TABLE = {
    (20, 10, 30, 40): (0.666667, 0.034852, 0.415037, 4.761905, 2.182179, -0.362570, 0.222392, 2.666667, 0.05),
    (5, 0, 15, 80): (1, 0.124141, 2.321928, 21.052632, 4.588315, -0.678072, 0.321928, INF, 0.04),
    (0, 10, 20, 70): (0, 0.034144, -INF, 2.777778, -1.666667, -0.906891, -0.169925, 0, -0.02),
    (0, 0, 20, 80): (0, 0, 0, 0, 0, -1, 0, 1, 0),
    (10, 20, 0, 0): (0.333333, 0, 0, 0, 0, 1, 0, 1, 0),
    (20, 0, 0, 80): (1, 0.721928, 2.321928, 100, 10, 0, 1, INF, 0.16),
    (0, 0, 0, 0): (0, 0, 0, 0, 0, 0, 0, 1, 0),
}
X = np.array([[2, 0, 1, 0], [0, 2, 1, 0], [1, 1, 0, 0], [0, 0, 3, 1]])
Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])


def value(name: str, table: tuple[int, ...], options: Options = DEFAULTS) -> float:
    return float(find_function(name).compute(Cells.of(table), options))


def test_the_four_cells() -> None:
    """S-1: n11 = Yᵀ(X > 0), the rest from margins."""
    table = contingency_tables(X, Y)
    assert table.together.toarray().tolist() == [[2, 1, 1, 0], [1, 2, 1, 0]]
    assert table.label_documents.tolist() == [2, 2]
    assert table.term_documents.tolist() == [2, 2, 3, 1]
    cells = table.cells(0)
    present, label = X > 0, Y[:, :1] == 1
    for cell, t, c in zip(cells, (present, present, ~present, ~present), (label, ~label, label, ~label), strict=True):
        assert cell.tolist() == (t & c).sum(axis=0).tolist()
    assert cells.n.tolist() == [4, 4, 4, 4]


@pytest.mark.parametrize("table", TABLE)
@pytest.mark.parametrize("name", NAMES)
def test_every_function_on_every_table(name: str, table: tuple[int, ...]) -> None:
    """S-2: the table of values."""
    assert value(name, table) == pytest.approx(TABLE[table][NAMES.index(name)], abs=5e-7)


@pytest.mark.parametrize(
    ("table", "expected"), [((5, 0, 15, 80), 57.129032), ((0, 10, 20, 70), 0.163763), ((20, 0, 0, 80), 6601)]
)
def test_odds_ratio_with_a_half_in_each_cell(table: tuple[int, ...], expected: float) -> None:
    """S-2: 57.129032, .163763 and 6601 with eps = .5."""
    assert value("or", table, Options(eps=0.5)) == pytest.approx(expected, abs=5e-7)


def test_eps_makes_pointwise_information_finite() -> None:
    """S-2: n11 = 0 → −∞; with eps = .5 log2(.5 · 102 / (11 · 21))."""
    found = value("mi", (0, 10, 20, 70), Options(eps=0.5))
    assert found == pytest.approx(math.log2(0.5 * 102 / (11 * 21)))


def test_d_and_the_base() -> None:
    """S-2: rs with d = 1/6 on (20,0,0,80): log2((1 + 1/6)/(1/6)) = log2 7; a base divides by its logarithm."""
    assert value("rs", (20, 0, 0, 80), Options(d=1 / 6)) == pytest.approx(math.log2(7))
    assert value("ig", (20, 10, 30, 40), Options(base=math.e)) == pytest.approx(
        value("ig", (20, 10, 30, 40)) * math.log(2)
    )


def test_document_frequency() -> None:
    """D-4, S-2: n11 + n10."""
    assert [value("df", table) for table in TABLE] == [30, 5, 10, 0, 30, 20, 0]


def test_ngl_is_the_signed_root_of_chi_square() -> None:
    """S-2: ngl² = χ², its sign that of n11 n00 − n10 n01."""
    for table in TABLE:
        assert value("ngl", table) ** 2 == pytest.approx(value("chi2", table))
        assert np.sign(value("ngl", table)) == np.sign(value("gss", table))


def two_labels() -> Contingency:
    """A term with the tables (20,10,30,40) and (8,22,2,68)."""
    return Contingency(Csr(np.array([[20], [8]])), np.array([50, 10]), np.array([30]), 100)


@pytest.mark.parametrize(("how", "expected"), [("sum", 17.989418), ("weighted", 3.703704), ("max", 13.227513)])
def test_global_scores(how: str, expected: float) -> None:
    """S-3: χ² 4.761905 (P = .5) and 13.227513 (P = .1)."""
    scores = [float(values[0]) for _, values in label_scores(two_labels(), "chi2")]
    assert scores == pytest.approx([4.761905, 13.227513], abs=5e-7)
    assert global_scores(two_labels(), "chi2", how)[0] == pytest.approx(expected, abs=5e-7)


def test_default_ways_to_combine() -> None:
    """S-3: max for χ², sum for ig."""
    table = two_labels()
    assert global_scores(table, "chi2")[0] == pytest.approx(13.227513, abs=5e-7)
    gains = [float(values[0]) for _, values in label_scores(table, "ig")]
    assert global_scores(table, "ig")[0] == pytest.approx(sum(gains))
    assert {name for name, function in FUNCTIONS.items() if function.combine == "sum"} == {"ig"}


def test_minus_infinity_is_left_out_of_sums() -> None:
    """S-3: −∞ ignored in sums, allowed in max; a term that never meets a label stays −∞."""
    table = Contingency(Csr(np.array([[2, 0], [0, 0]])), np.array([4, 4]), np.array([2, 1]), 10)
    alone = math.log2(2 * 10 / (2 * 4))
    assert global_scores(table, "mi", "sum").tolist() == pytest.approx([alone, -INF])
    assert global_scores(table, "mi", "weighted").tolist() == pytest.approx([0.4 * alone, -INF])
    assert global_scores(table, "mi", "max").tolist() == pytest.approx([alone, -INF])


def test_labels_without_documents_are_left_out() -> None:
    """S-3: for such a label rs is 0 and or 1, which would win a maximum."""
    table = Contingency(Csr(np.array([[1], [0]])), np.array([5, 0]), np.array([4]), 10)
    assert [label for label, _ in label_scores(table, "or")] == [0]
    assert global_scores(table, "or")[0] == pytest.approx(1 * 2 / (3 * 4))


def test_ties_go_to_the_lowest_index() -> None:
    """S-4: k best, ties by index; −∞ last."""
    assert best_terms([1.0, 3.0, -INF, 3.0, 1.0]).tolist() == [1, 3, 0, 4, 2]
    many = np.arange(300) % 3  # few equal scores keep their order by whatever algorithm
    assert best_terms(many).tolist() == sorted(range(300), key=lambda term: -many[term])
    same = np.array([[1, 1, 1], [0, 0, 0]])
    assert TermSelector(k=2).fit(same, np.array([[1], [0]])).kept_.tolist() == [0, 1]


def test_k_and_threshold() -> None:
    """S-4: χ² of the four terms for label 0 is 4, 0, 4/3, 4/3 and by symmetry 0, 4, 4/3, 4/3 for label 1."""
    assert global_scores(contingency_tables(X, Y), "chi2").tolist() == pytest.approx([4, 4, 4 / 3, 4 / 3])
    assert TermSelector(k=3).fit(X, Y).kept_.tolist() == [0, 1, 2]
    assert TermSelector(k=99).fit(X, Y).kept_.tolist() == [0, 1, 2, 3]
    assert TermSelector(threshold=2.0).fit(X, Y).kept_.tolist() == [0, 1]
    assert TermSelector(threshold=1.0, k=3).fit(X, Y).kept_.tolist() == [0, 1, 2]


def test_scope_label_keeps_the_union_over_labels() -> None:
    """S-4: the best term of label 0 is term 0, that of label 1 term 1."""
    assert TermSelector(k=1, scope="label").fit(X, Y).kept_.tolist() == [0, 1]
    assert TermSelector(k=1).fit(X, Y).kept_.tolist() == [0]
    assert TermSelector(threshold=2.0, scope="label").fit(X, Y).kept_.tolist() == [0, 1]


@pytest.mark.parametrize("scope", ["global", "label"])
def test_options_reach_the_function(scope: str) -> None:
    """S-4: the information gain of terms 2 and 3 is .3113 bits, .5322 to base 1.5."""
    selector = TermSelector(function="ig", threshold=0.4, scope=scope, combine="max")
    assert selector.fit(X, Y).kept_.tolist() == [0, 1]
    assert selector.set_params(base=1.5).fit(X, Y).kept_.tolist() == [0, 1, 2, 3]


def test_defaults_of_the_selector() -> None:
    assert TermSelector().get_params() == {
        "function": "chi2",
        "k": None,
        "threshold": None,
        "scope": "global",
        "combine": None,
        "min_df": 0,
        "base": 2.0,
        "eps": 0.0,
        "d": 1.0,
        "n_jobs": None,
    }
    assert Options() == Options(base=2.0, eps=0.0, d=1.0)


def test_eps_and_d_reach_the_function() -> None:
    """S-4: mi of term 3 is −∞, with eps = .5 log2(.5 · 6/(2 · 3)) = −1; rs of term 3 is log2(1/1.5) = −.585 with d = 1,
    log2(.5/1) = −1 with d = .5.
    """
    selector = TermSelector(function="mi", threshold=-1.5)
    assert selector.fit(X, Y).kept_.tolist() == [0, 1, 2]
    assert selector.set_params(eps=0.5).fit(X, Y).kept_.tolist() == [0, 1, 2, 3]
    selector = TermSelector(function="rs", threshold=-0.6)
    assert selector.fit(X, Y).kept_.tolist() == [0, 1, 2, 3]
    assert selector.set_params(d=0.5).fit(X, Y).kept_.tolist() == [0, 1, 2]


def test_scores_of_some_labels() -> None:
    """S-3: in the order given; one without documents is left out."""
    table = Contingency(Csr(np.array([[1, 0], [0, 0], [2, 1]])), np.array([2, 0, 3]), np.array([3, 1]), 5)
    found = dict(label_scores(table, "dia", labels=[2, 1, 0]))
    assert list(found) == [2, 0]
    assert found[2].tolist() == [2 / 3, 1.0]
    assert found[0].tolist() == [1 / 3, 0.0]
    assert list(dict(label_scores(table, "dia", labels=[1]))) == []


def test_the_cells_of_a_row() -> None:
    """S-1: n11 = 2 of 3 documents with the term, 4 with the label, 10 in all: n10 = 1, n01 = 2, n00 = 5."""
    table = Contingency(Csr(np.array([[2, 0]])), np.array([4]), np.array([3, 0]), 10)
    assert (table.n_labels, table.n_terms) == (1, 2)
    assert [cell.tolist() for cell in table.cells(0)] == [[2, 0], [1, 0], [2, 4], [5, 6]]
    assert [values.tolist() for values in table.row(0)] == [[0], [2]]
    full = table.cells_of(0, np.array([0]), np.array([9]))  # 9 documents cannot all lack a label of 4
    assert [cell.tolist() for cell in full] == [[0], [9], [4], [0]]
    cells = Cells.of([1, 2, 3, 4])
    assert cells.plus(0) is cells
    assert [float(cell) for cell in cells.plus(0.5)] == [1.5, 2.5, 3.5, 4.5]


def test_labels_as_a_matrix_of_ones() -> None:
    """S-1: a stored 0 is no label; classes are sorted."""
    stored = Csr((np.array([1, 0, 1]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert indicator_of(stored).nnz == 2
    found = indicator_of(np.array([3, 1, 3, 2]))
    assert found.toarray().tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert found.dtype == np.int8
    with pytest.raises(DataError, match=r"^X has negative or missing values"):
        contingency_tables(np.array([[np.nan, 1.0]]), [[1]])
    assert contingency_tables(Csr((2, 3)), [[1], [0]]).term_documents.tolist() == [0, 0, 0]


def test_a_selector_must_be_fitted() -> None:
    for use in (TermSelector(k=1).get_feature_names_out, lambda: TermSelector(k=1).transform(X)):
        with pytest.raises(NotFittedError):
            use()
    with pytest.raises(ParameterError, match="set how much to keep"):
        TermSelector().fit_table(two_labels())
    selector = TermSelector(k=2).fit(X, Y)
    assert selector.n_features_in_ == 4
    assert selector.mask.tolist() == [True, True, False, False]
    assert selector.fit_transform(X, Y).toarray().tolist() == X[:, :2].tolist()


def test_document_frequency_pruning() -> None:
    """D-4: drop words with df ≤ m: min_df = m + 1, or the function df with threshold m."""
    assert TermSelector(min_df=3).fit(X, Y).kept_.tolist() == [2]
    assert TermSelector(function="df", threshold=2).fit(X, Y).kept_.tolist() == [2]
    assert TermSelector(min_df=2, k=2).fit(X, Y).kept_.tolist() == [0, 1]
    names = TermSelector(min_df=3).fit(X, Y)
    assert names.get_feature_names_out().tolist() == ["x2"]
    assert names.get_feature_names_out(["bus", "road", "tree", "tax"]).tolist() == ["tree"]


def test_idf_and_norms_are_those_of_the_kept_terms() -> None:
    """S-4: recomputed after selection; a document may become empty."""
    left = TermSelector(k=2).fit(X, Y).transform(X)
    assert left.toarray().tolist() == X[:, :2].tolist()
    weights = Weighting(idf="plain").fit_transform(left).toarray()
    np.testing.assert_allclose(np.linalg.norm(weights, axis=1), [1, 1, 1, 0])


def test_tables_of_batches_add_up() -> None:
    """S-1: counts are additive, so terms can be selected from the tables of batches."""
    total = contingency_tables(X[:1], Y[:1]) + contingency_tables(X[1:], Y[1:])
    assert total.together.toarray().tolist() == contingency_tables(X, Y).together.toarray().tolist()
    assert total.label_documents.tolist() == [2, 2]
    assert total.term_documents.tolist() == [2, 2, 3, 1]
    assert total.n_documents == 4
    assert TermSelector(k=3).fit_table(total).kept_.tolist() == TermSelector(k=3).fit(X, Y).kept_.tolist()


def test_one_class_per_document() -> None:
    """S-1: a 1-D y has one column for each class."""
    assert contingency_tables(X, ["b", "a", "b", "a"]).together.toarray().tolist() == [[0, 1, 2, 1], [2, 1, 1, 0]]


WRONG: dict[str, Callable[[], object]] = {
    "Unknown way to combine labels: 'maximum'. Did you mean 'max'? Known: max, sum, weighted.": lambda: global_scores(
        two_labels(), "chi2", "maximum"
    ),
    "No document has a label, so no term can be scored.": lambda: global_scores(
        Contingency(Csr((1, 2)), np.array([0]), np.array([1, 1]), 3), "chi2"
    ),
    "TermSelector: set how much to keep: k (for example 1000 terms), threshold or min_df.": lambda: TermSelector().fit(
        X, Y
    ),
    "None of the 4 terms is kept: none is with chi2 above 4. Lower threshold or min_df, or set k instead.": lambda: (
        TermSelector(threshold=4.0).fit(X, Y)
    ),
    "None of the 4 terms is kept: none is in at least 1 document and with chi2 above 4.5. "
    "Lower threshold or min_df, or set k instead.": lambda: TermSelector(threshold=4.5, min_df=1).fit(X, Y),
    "None of the 0 terms is kept: the documents are empty. Lower threshold or min_df, or set k instead.": lambda: (
        TermSelector(k=1).fit(X[:, :0], Y)
    ),
    "X has negative or missing values, and term selection counts the documents that contain a term. "
    "Give counts, 0 or above, or leave out the selection.": lambda: TermSelector(k=1).fit(-X, Y),
    "A label matrix may hold only 0 and 1.": lambda: TermSelector(k=1).fit(X, 2 * Y),
    "X has 4 columns, but the selection was made among 3. Use documents counted with the same vocabulary.": lambda: (
        TermSelector(k=1).fit(X[:, :3], Y).transform(X)
    ),
    "Tables of (2, 4) and (2, 2) labels × terms cannot be added. "
    "Count both corpora over the same labels and the same terms.": lambda: (
        contingency_tables(X, Y) + contingency_tables(X[:, :2], Y)
    ),
    "There are no documents to learn from. Give at least one document.": lambda: TermSelector(k=1).fit(X[:0], Y[:0]),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_use_raises_an_error_that_explains_it(message: str) -> None:
    with pytest.raises((DataError, ParameterError)) as error:
        WRONG[message]()
    assert str(error.value) == message


def test_an_unknown_function_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown term function: 'chi'\. Did you mean 'chi2'"):
        find_function("chi")
    with pytest.raises(ParameterError, match="Did you mean 'chi2'"):
        TermSelector(function="chi", k=1).fit(X, Y)
