"""PMM1 and PMM2 (Ueda & Saito 2002): every worked example, with its numbers, and the decisions at the edges."""

from typing import Any

import numpy as np
import pytest

from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.kernels.mixtures import Mixture, group_documents, label_pairs
from manylabel.models.pmm1 import PMM1
from manylabel.models.pmm2 import PMM2
from manylabel.models.pmm_base import UnlabelledDocumentsWarning
from manylabel.models.pmm_search import Candidates, Table, exhaustive, greedy
from manylabel.models.score_kinds import SingleLabelWarning

X = np.array([[3, 1], [1, 3], [2, 2]])
Y = np.array([[1, 0], [0, 1], [1, 1]])
GIVEN = np.array([0.6, 0.3, 0.4, 0.7])  # by word: θ of both labels for word 1, then for word 2
THETA = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
BOTH = pytest.mark.parametrize("method", [PMM1, PMM2])


def fitted(theta: np.ndarray, alpha: np.ndarray | None = None, **options: Any) -> Any:
    """A model of known parameters, θ labels × words."""
    model = PMM1(**options) if alpha is None else PMM2(**options)
    n_labels, n_terms = theta.shape
    state = {
        "theta_": Csr(theta.T), "background_": np.zeros(n_labels), "label_documents_": np.full(n_labels, 2),
        "size_documents_": np.array([0, 2 * n_labels]), "mean_length_": 8.0, "classes_": np.arange(n_labels),
        "label_form_": "dense", "n_labels_": n_labels, "n_features_in_": n_terms,
    }  # fmt: skip
    return model.restore(state if alpha is None else state | {"alpha_": Csr(alpha)})


def test_pmm1_mixes_equally() -> None:
    """C-1: h_l(y) = y_l / Σ y; log P(x|y) = Σ x_i log φ_i."""
    shares = Table(np.zeros((0, 3))).shares(np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]], dtype=bool))
    assert shares == pytest.approx(np.array([[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]))
    found = exhaustive(Csr([[4.0, 4.0]]), Table(THETA.T[:2]), Candidates(np.ones(3, bool), 3))
    assert found.sets.tolist() == [[True, True, False]]
    assert found.values[0] == pytest.approx(8 * np.log((0.8 + 0.1) / 2))


def test_one_step_of_pmm1_and_its_limit() -> None:
    """C-2: one step → [[.661654,.338346],[.335878,.664122]], J −10.50321874 → −10.41119563; the limit."""
    model = PMM1()
    mixture = model.climb(group_documents(X, Y), Mixture(GIVEN, np.zeros(2)), most=1)
    assert mixture.theta == pytest.approx([0.661654, 0.335878, 0.338346, 0.664122], abs=1e-6)
    assert model.objective_ == pytest.approx([-10.50321874, -10.41119563], abs=1e-8)
    assert (model.n_iter_, model.converged_) == (1, False)
    limit = PMM1(tol=1e-14, max_iter=1000).fit(X, Y)
    assert limit.theta_.toarray() == pytest.approx(np.array([[2 / 3, 1 / 3], [1 / 3, 2 / 3]]), abs=1e-5)
    assert limit.objective_[-1] == pytest.approx(-10.41075874, abs=1e-8)
    assert limit.converged_


@pytest.mark.parametrize("seed", range(10))
def test_pmm1_has_one_limit(seed: int) -> None:
    """C-2: the same optimum from random starts."""
    model = PMM1(start="random", seed=seed, tol=1e-14, max_iter=1000).fit(X, Y)
    assert model.objective_[-1] == pytest.approx(-10.41075874, abs=1e-8)
    assert model.theta_.toarray()[0] == pytest.approx([2 / 3, 1 / 3], abs=1e-5)


def test_starts() -> None:
    """C-2: θ ∝ (YᵀX) + 1 or uniform; the first J of each, by hand."""
    counts = PMM1(max_iter=1).fit(X, Y)
    theta = np.array([[6, 4], [4, 6]]) / 10  # (5 + 1, 3 + 1) / (8 + 2)
    word = 2 * np.log(theta.mean(axis=0)).sum() + np.log(theta).sum()
    assert counts.objective_[0] == pytest.approx(2 * (3 * np.log(0.6) + np.log(0.4)) + word)
    uniform = PMM1(max_iter=1, start="uniform").fit(X, Y)
    assert uniform.objective_[0] == pytest.approx(12 * np.log(0.5) + 4 * np.log(0.5))


def test_pmm2_shares() -> None:
    """C-3: α_12 = .7 → e = (.6,.4); with α_13 = .6, α_23 = .2 → (.4,.222222,.377778); α = ½ is PMM1."""
    alpha = np.array([[0, 0.7, 0.6], [0.3, 0, 0.2], [0.4, 0.8, 0]])
    lean = Csr(np.where(alpha > 0, alpha - 0.5, 0))
    sets = np.array([[1, 1, 0], [1, 1, 1]], dtype=bool)
    shares = Table(np.zeros((0, 3)), lean).shares(sets)
    assert shares == pytest.approx(np.array([[0.6, 0.4, 0], [0.4, 0.222222, 0.377778]]), abs=1e-6)
    assert shares[0, :2] == pytest.approx([(1 + 2 * 0.7) / 4, (1 + 2 * 0.3) / 4])
    assert Table(np.zeros((0, 3)), Csr((3, 3))).shares(sets) == pytest.approx(Table(np.zeros((0, 3))).shares(sets))


def test_pmm2_of_equal_shares_is_pmm1() -> None:
    """C-3: α = ½ everywhere gives PMM1 exactly, in sets and in scores."""
    x = np.random.default_rng(0).integers(0, 5, (30, 3))
    one, two = fitted(THETA), fitted(THETA, np.full((3, 3), 0.5) - 0.5 * np.eye(3))
    assert two.predict(x).tolist() == one.predict(x).tolist()
    assert two.scores(x) == pytest.approx(one.scores(x))


def test_one_step_of_pmm2() -> None:
    """C-4: θ → [[.652968,.347032],[.329949,.670051]], α_12 → .602641, J −13.43326274 → −13.22957389."""
    grouped = group_documents(X, Y)
    model, given = PMM2(), Mixture(GIVEN, np.zeros(2), np.array([0.7]))
    mixture = model.climb(grouped, given, most=1, zeta=2.0, pairs=label_pairs(grouped))
    assert mixture.theta == pytest.approx([0.652968, 0.329949, 0.347032, 0.670051], abs=1e-6)
    assert mixture.alpha == pytest.approx([0.602641], abs=1e-6)
    assert model.objective_ == pytest.approx([-13.43326274, -13.22957389], abs=1e-8)


def test_pmm2_starts_from_the_solution_of_pmm1() -> None:
    """C-4: its first J is PMM1's last plus (ζ − 1) Σ log α, α = ½, also where PMM2 is stopped at once."""
    x, y = np.vstack([X, [[5, 1]]]), np.vstack([Y, [[1, 1]]])
    one, two = PMM1().fit(x, y), PMM2(max_iter=1).fit(x, y)
    assert two.objective_[0] == pytest.approx(one.objective_[-1] + 4 * np.log(0.5))
    assert (two.n_iter_, len(two.objective_)) == (1, 2)
    assert two.alpha_[0, 1] > 0.5


def test_pmm2_keeps_alpha_where_labels_never_meet() -> None:
    """C-4: α_12 + α_21 = 1; a pair without a document is ½, stored nowhere; ζ = 1 is no exception."""
    x, y = np.array([[3, 1, 0], [1, 3, 0], [4, 1, 1]]), np.array([[1, 0, 0], [0, 0, 1], [1, 1, 0]])
    for zeta in (1.0, 2.0):
        model = PMM2(zeta=zeta).fit(x, y)
        alpha = model.alpha_.toarray()
        assert alpha[0, 1] + alpha[1, 0] == pytest.approx(1)
        assert model.alpha_.nnz == 2


@pytest.mark.parametrize(
    ("x", "labels", "value", "evaluations"),
    [([4, 4, 0], [0, 1], -6.388062, 6), ([6, 1, 0], [0], -3.641446, 5), ([3, 3, 3], [0, 1, 2], -9.887511, 6)],
)
def test_greedy_search(x: list[int], labels: list[int], value: float, evaluations: int) -> None:
    """C-5: the sets, their values, and how many sets were evaluated; at most L (L + 1)/2 = 6."""
    words = np.flatnonzero(x)
    found = greedy(Csr(np.array([x], dtype=float)), Table(THETA.T[words]), Candidates(np.ones(3, bool), 3))
    assert sorted(label for label in found.order[0].tolist() if label >= 0) == labels
    assert found.values.max() == pytest.approx(value, abs=1e-6)
    assert found.evaluations.tolist() == [evaluations]
    expected = [[int(label in labels) for label in range(3)]]
    for search in ("greedy", "exhaustive"):
        assert fitted(THETA, search=search).predict([x]).tolist() == expected


def test_values_on_the_way() -> None:
    """C-5: (4,4,0): {0} −10.102915, {0,1} −6.388062, all three −8.788898; hence the scores."""
    scores = fitted(THETA).scores([[4, 4, 0]])[0]
    single, pair, triple = -10.102915, -6.388062, -8.788898
    # without label 0 the best seen is {1}, without label 1 it is {0}; with label 2 all three
    assert scores == pytest.approx([pair - single, pair - single, triple - pair], abs=1e-5)


def test_greedy_is_not_optimal_and_all_sets_are() -> None:
    """C-5: the greedy search misses the best set now and then (95 of 400 random cases in one count)."""
    rng, missed = np.random.default_rng(1), 0
    for _ in range(100):
        table = Table(rng.dirichlet(np.ones(8), 5).T)
        x = Csr(rng.integers(1, 6, (1, 8)).astype(float))
        candidates = Candidates(np.ones(5, bool), 5)
        best, found = exhaustive(x, table, candidates).values[0], greedy(x, table, candidates).values.max()
        assert found <= best + 1e-9
        missed += found < best - 1e-9
    assert 5 <= missed <= 50


def test_at_most_so_many_labels() -> None:
    """C-5, `max_labels`."""
    for search in ("greedy", "exhaustive"):
        model = fitted(THETA, max_labels=2, search=search)
        assert model.predict([[3, 3, 3], [0, 4, 4]]).tolist() == [[1, 1, 0], [0, 1, 1]]


def test_priors() -> None:
    """C-5, `prior`: log-odds of (n_l + ½)/(N + 1), and log (n_k + 1)/(N + L) of the set's size, turn ties."""
    model = fitted(THETA, prior="labels")
    model.label_documents_ = np.array([2, 4, 2])
    x = [[2, 2, 1]]  # symmetric in labels 0 and 1
    gain = np.log((np.array([2, 4, 2]) + 0.5) / 7) - np.log(1 - (np.array([2, 4, 2]) + 0.5) / 7)
    both = 4 * np.log(0.45) + np.log(0.1) + gain[0] + gain[1]
    single = 2 * np.log(0.8) + 3 * np.log(0.1) + gain[1]
    assert model.predict(x).tolist() == [[1, 1, 0]]
    assert model.scores(x)[0, 0] == pytest.approx(both - single)
    sizes = fitted(THETA, prior="sizes")  # six documents of one label, L = 3: P(1) = 7/9, P(2) = 1/9
    change = 6 * np.log(0.45) - 3 * np.log(0.8 * 0.1) + np.log(1 / 9) - np.log(7 / 9)
    assert sizes.scores([[3, 3, 0]])[0, 1] == pytest.approx(change)
    assert sizes.predict([[3, 3, 0]]).tolist() == [[1, 1, 0]]
    assert sizes.predict([[1, 1, 0]]).tolist() == [[1, 0, 0]]  # 2 log .45 − log .08 < log 7
    assert fitted(THETA).predict([[1, 1, 0]]).tolist() == [[1, 1, 0]]


def test_equal_lengths() -> None:
    """Each training document is scaled to the mean length, here 6: (3,1) → (4.5,1.5), (2,6) → (1.5,4.5)."""
    x, y = np.array([[3, 1], [2, 6]]), np.array([[1, 0], [0, 1]])
    theta = PMM1(equal_lengths=True).fit(x, y).theta_.toarray()
    assert theta == pytest.approx(np.array([[5.5, 2.5], [2.5, 5.5]]) / 8)
    assert PMM1().fit(x, y).theta_.toarray() == pytest.approx(np.array([[4 / 6, 3 / 10], [2 / 6, 7 / 10]]))


@BOTH
def test_documents_without_a_label_are_left_out(method: Any) -> None:
    """C-1 and the check list: removed, with a warning."""
    with pytest.warns(UnlabelledDocumentsWarning, match="1 of 4 training documents have no label"):
        model = method().fit(np.vstack([X, [[9, 9]]]), np.vstack([Y, [[0, 0]]]))
    assert model.theta_.toarray().tolist() == method().fit(X, Y).theta_.toarray().tolist()
    with pytest.raises(DataError, match="none of the 3 training documents has a label"):
        method().fit(X, 0 * Y)


@BOTH
@pytest.mark.parametrize("options", [{}, {"search": "exhaustive"}, {"prior": "labels and sizes"}])
def test_empty_documents_get_the_most_frequent_label(method: Any, options: dict[str, Any]) -> None:
    """C-5: not label 0, which the strict rule alone would give."""
    x, y = np.vstack([X, [[1, 4]]]), np.vstack([Y, [[0, 1]]])
    model = method(**options).fit(x, y)
    assert model.predict([[0, 0]]).tolist() == [[0, 1]]
    assert (model.scores([[0, 0]])[0] > 0).tolist() == [False, True]


@BOTH
@pytest.mark.parametrize("search", ["greedy", "exhaustive"])
def test_a_label_without_documents_is_masked(method: Any, search: str) -> None:
    """C-2: its θ is uniform, and it is no candidate."""
    model = method(search=search).fit(X, np.column_stack([Y[:, 0], np.zeros(3, int), Y[:, 1]]))
    assert model.background_[1] == pytest.approx(0.5)
    x = np.array([[5, 5], [1, 0], [0, 1], [0, 0]])
    assert not model.predict(x)[:, 1].any()
    assert np.isneginf(model.scores(x)[:, 1]).all()


def test_one_label_is_always_given_and_warns() -> None:
    """The check list: with L = 1 PMM always predicts the label and warns."""
    with pytest.warns(SingleLabelWarning, match="BinaryNaiveBayes"):
        model = PMM1().fit(X, np.ones((3, 1), dtype=int))
    assert model.predict([[1, 0], [0, 0]]).tolist() == [[1], [1]]
    assert model.scores([[1, 0]]).tolist() == [[np.inf]]
    assert model.evidence([[1, 0]]).toarray().tolist() == [[0, 0]]


def test_without_smoothing() -> None:
    """C-2, ξ = 1: θ is the share of the words, zeros included; two labels explain what neither does alone."""
    x, y = np.array([[4, 0, 0], [0, 4, 0]]), np.array([[1, 0], [0, 1]])
    model = PMM1(xi=1.0).fit(x, y)
    assert model.theta_.toarray().tolist() == [[1, 0], [0, 1], [0, 0]]
    assert model.predict([[1, 1, 0], [1, 0, 0], [0, 0, 1]]).tolist() == [[1, 1], [1, 0], [1, 0]]
    assert not np.isnan(model.scores([[1, 1, 0], [1, 0, 0], [0, 0, 1]])).any()


def test_all_sets_need_few_labels() -> None:
    """C-5: only L ≤ 15; labels never seen do not count."""
    x, y = np.ones((16, 2)), np.eye(16, dtype=int)
    with pytest.raises(ParameterError, match=r"up to 15 labels, but there are 16. Use search='greedy'"):
        PMM1(search="exhaustive").fit(x, y)
    y[15, 15] = 0
    with pytest.warns(UnlabelledDocumentsWarning):
        assert PMM1(search="exhaustive", max_labels=2).fit(x, y).n_labels_ == 16


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"xi": 0.5}, "xi must be a number of at least 1, not 0.5"),
        ({"start": "randm"}, "Did you mean 'random'"),
        ({"max_labels": 0}, "max_labels must be one of None or a whole number of at least 1, not 0"),
        ({"prior": "label"}, "Did you mean 'labels'"),
    ],
)
@BOTH
def test_wrong_parameters(method: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        method(**options).fit(X, Y)


def test_evidence_of_one_document() -> None:
    """x_i log φ_i(best set with the label)/φ_i(best without it); sums to the score."""
    model = fitted(THETA)
    evidence = model.evidence([[6, 1, 0]]).toarray()
    # {0} found; label 0 against {1} alone; label 1 would come as {0,1}; label 2 as {0,2}
    assert evidence[0] == pytest.approx([6 * np.log(8), -np.log(8), 0])
    assert evidence[1] == pytest.approx([6 * np.log(0.45 / 0.8), np.log(0.45 / 0.1), 0])
    assert evidence.sum(axis=1) == pytest.approx(model.scores([[6, 1, 0]])[0])
    assert model.evidence([[6, 1, 0]], [1]).toarray().tolist() == evidence[[1]].tolist()
    with pytest.raises(DataError, match="one document at a time, not 2"):
        model.evidence([[6, 1, 0], [0, 0, 1]])
    with pytest.raises(DataError, match="from 0 to 2"):
        model.evidence([[6, 1, 0]], [3])
