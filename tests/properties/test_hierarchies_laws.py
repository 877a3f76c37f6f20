"""Laws of label hierarchies that hold for all forests and all inputs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from manylabel.data.hierarchy import Hierarchy
from manylabel.estimator import Csr
from manylabel.metrics import compute_hierarchical_metrics
from manylabel.metrics.ancestors import closed
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.strategies.hierarchies import ClosedLabels, Propagated, TopDown
from manylabel.strategies.node_scores import blocked, closed_upwards, path_log_odds, sibling_leads

STRATEGIES = (ClosedLabels, TopDown, Propagated)
SVM = LinearSVM(tol=1e-5, max_iter=3000)


@st.composite
def forests(draw: st.DrawFn, nodes: int) -> np.ndarray:
    """Any forest: nodes in a random order, each below one that came before it, or a root."""
    order = draw(st.permutations(range(nodes)))
    parents = np.full(nodes, -1)
    for place, node in enumerate(order):
        above = draw(st.integers(-1, place - 1))
        parents[node] = order[above] if above >= 0 else -1
    return parents


@st.composite
def corpora(draw: st.DrawFn, groups: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, labels = draw(st.integers(4, 10)), draw(st.integers(1, 4))
    X = draw(hnp.arrays(np.int64, (n, 4), elements=st.sampled_from([0, 0, 1, 2])))
    Y = draw(hnp.arrays(np.int8, (n, labels), elements=st.integers(0, 1)))
    return X.astype(float), Y, draw(forests(labels + groups))


scores_of = st.integers(1, 6).flatmap(
    lambda nodes: st.tuples(
        hnp.arrays(np.float64, (3, nodes), elements=st.floats(-50, 50)),
        forests(nodes),
    )
)


def _orphans(given_labels: np.ndarray, parents: np.ndarray) -> int:
    """How many labels are predicted without a parent that is a label."""
    n_labels = given_labels.shape[1]
    pairs = [(node, parent) for node, parent in enumerate(parents[:n_labels]) if 0 <= parent < n_labels]
    return sum(int((given_labels[:, node] & ~given_labels[:, parent]).sum()) for node, parent in pairs)


@given(scores_of)
def test_no_child_without_its_parent_at_any_threshold(case: Any) -> None:
    scores, parents = case
    for combined in (
        closed_upwards(scores, parents),
        blocked(scores, parents),
        blocked(sibling_leads(scores, parents), parents),
    ):
        for threshold in np.unique(combined):
            assert not _orphans(combined >= threshold, parents)


@given(scores_of)
def test_closing_raises_blocking_lowers_and_both_settle(case: Any) -> None:
    scores, parents = case
    up, down = closed_upwards(scores, parents), blocked(scores, parents)
    assert (up >= scores).all()
    assert (down <= scores).all()
    np.testing.assert_array_equal(closed_upwards(up, parents), up)
    np.testing.assert_array_equal(blocked(down, parents), down)


@given(scores_of, st.sampled_from([0.5, 1.0, 4.0]))
def test_the_path_is_never_likelier_than_its_least_step(case: Any, slope: float) -> None:
    scores, parents = case
    found = path_log_odds(scores, parents, slope)
    assert not np.isnan(found).any()
    assert (found <= blocked(scores, parents)).all()
    roots = parents < 0
    np.testing.assert_array_equal(found[:, roots], scores[:, roots])


@given(scores_of)
def test_argmax_gives_one_path_to_a_leaf(case: Any) -> None:
    scores, parents = case
    chosen = blocked(sibling_leads(scores, parents), parents) > 0
    leaves = ~np.isin(np.arange(len(parents)), parents)
    assert (chosen[:, leaves].sum(axis=1) == 1).all()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("model", [SVM, BinaryNaiveBayes(), MultinomialNaiveBayes(smoothing="laplace")], ids=repr)
@given(corpora())
@settings(max_examples=8)
def test_predicted_label_sets_are_closed(strategy: type, model: Any, corpus: Any) -> None:
    """A label is never predicted without its parent, whatever the model and the thresholds."""
    X, Y, parents = corpus
    fitted = strategy(model, folds=2).fit(X, Y, parents=parents)
    assert not np.isnan(fitted.scores(X)).any()
    assert not _orphans(fitted.predict(X).astype(bool), parents)
    never = closed(Csr(Y), parents).toarray()[:, : Y.shape[1]].sum(axis=0) == 0
    assert not fitted.predict(X)[:, never].any()


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(corpora(groups=0))
@settings(max_examples=15)
def test_without_a_hierarchy_it_is_the_plain_model(strategy: type, corpus: Any) -> None:
    X, Y, _ = corpus
    plain = LinearSVM().fit(X, Y)
    fitted = strategy(LinearSVM(), thresholds="natural").fit(X, Y)
    seen = Y.any(axis=0)
    np.testing.assert_allclose(fitted.scores(X)[:, seen], plain.scores(X)[:, seen], atol=1e-9)
    np.testing.assert_array_equal(fitted.predict(X), plain.predict(X))


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(corpora(), st.randoms(use_true_random=False))
@settings(max_examples=8)
def test_permuting_labels_permutes_columns(strategy: type, corpus: Any, random: Any) -> None:
    X, Y, parents = corpus
    n_labels = Y.shape[1]
    order = np.array(random.sample(range(n_labels), n_labels) + list(range(n_labels, len(parents))))
    place = np.argsort(order)
    moved = np.array([place[parent] if parent >= 0 else -1 for parent in parents[order]])
    model = strategy(BinaryNaiveBayes(smoothing="laplace"), thresholds="natural")
    first = model.fit(X, Y, parents=parents).scores(X)
    second = model.fit(X, Y[:, order[:n_labels]], parents=moved).scores(X)
    np.testing.assert_allclose(second, first[:, order[:n_labels]], rtol=1e-9, atol=1e-9)


@given(corpora())
@settings(max_examples=30)
def test_hierarchical_measures_of_closed_sets_are_the_same(corpus: Any) -> None:
    """Naming ancestors or not makes no difference, and a correct prediction scores 1."""
    _, Y, parents = corpus
    S = Y[::-1]
    wide_t, wide_s = closed(Csr(Y), parents), closed(Csr(np.ascontiguousarray(S)), parents)
    assert compute_hierarchical_metrics(Y, S, parents) == pytest.approx(
        compute_hierarchical_metrics(wide_t, wide_s, parents)
    )
    if Y.any():
        assert compute_hierarchical_metrics(Y, Y, parents)["hierarchical-f1"] == 1


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join), min_size=1, unique=True))
def test_columns_of_names_hold_every_ancestor_once(names: list[str]) -> None:
    tree = Hierarchy.from_paths(names, "/")
    nodes, parents = tree.columns(names)
    assert nodes[: len(names)] == names
    assert len(set(nodes)) == len(nodes)
    for node, parent in zip(nodes, parents.tolist(), strict=True):
        assert (nodes[parent] if parent >= 0 else None) == tree.parents.get(node)
    assert set(tree.close(names)) == set(nodes)
