"""Laws every metric keeps, whatever the label sets."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from manylabel import metrics as m

FEW = settings(max_examples=60, deadline=None)
CARDINALITIES = {"true-cardinality", "predicted-cardinality"}
# averages over labels; all others do not know which label is which
MACRO = {name for name, metric in m.METRICS.items() if metric.over}


@st.composite
def pairs(draw):
    shape = (draw(st.integers(1, 9)), draw(st.integers(1, 6)))
    cells = hnp.arrays(np.int8, shape, elements=st.integers(0, 1))
    return draw(cells), draw(cells)


def same(a, b):
    assert a.keys() == b.keys()
    for name, value in a.items():
        np.testing.assert_allclose(value, b[name], atol=1e-12, err_msg=name)


@FEW
@given(pairs())
def test_metrics_lie_between_0_and_1(pair):
    for name, value in m.compute_metrics(*pair).items():
        if name in CARDINALITIES:
            assert 0 <= value <= pair[0].shape[1]
        elif m.METRICS[name].over in ("present", "present_or_predicted") and np.isnan(value):
            assert not pair[0].any()
        else:
            assert 0 <= value <= 1, name


@FEW
@given(pairs())
def test_perfect_prediction_is_perfect(pair):
    Y_true = pair[0]
    values = m.compute_metrics(Y_true, Y_true)
    for name, metric in m.METRICS.items():
        if metric.greater_is_better is False:
            assert values[name] == 0, name
        elif metric.greater_is_better and not name.startswith(("micro", "macro")):
            assert values[name] == 1, name
    if Y_true.any():
        assert values["micro-f1"] == values["macro-f1-present"] == 1
    if Y_true.any(axis=0).all():
        assert values["macro-f1"] == 1


@FEW
@given(pairs(), st.randoms(use_true_random=False))
def test_permuting_labels_permutes_label_counts_and_nothing_else(pair, random):
    order = list(range(pair[0].shape[1]))
    random.shuffle(order)
    before, after = m.label_counts(*pair), m.label_counts(pair[0][:, order], pair[1][:, order])
    for name in ("tp", "fp", "fn", "tn"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name)[order])
    same(m.compute_metrics(*pair), m.compute_metrics(pair[0][:, order], pair[1][:, order]))


@FEW
@given(pairs(), st.integers(0, 9))
def test_counts_of_batches_add_up(pair, n_first):
    Y_true, Y_pred = pair
    batches = [m.count_all(Y_true[:n_first], Y_pred[:n_first]), m.count_all(Y_true[n_first:], Y_pred[n_first:])]
    merged = m.Counts(
        batches[0].labels + batches[1].labels, m.DocumentCounts.concatenate([batch.documents for batch in batches])
    )
    same(m.metrics_of_counts(merged), m.compute_metrics(Y_true, Y_pred))


@FEW
@given(pairs())
def test_a_label_that_is_never_true_or_predicted_changes_only_metrics_over_all_labels(pair):
    wider = [np.hstack([Y, np.zeros((len(Y), 1), dtype=np.int8)]) for Y in pair]
    unchanged = set(m.METRICS) - {"hamming-loss", "label-accuracy"}
    unchanged -= {name for name in MACRO if m.METRICS[name].over == "all"}
    same(m.compute_metrics(*pair, unchanged), m.compute_metrics(*wider, unchanged))  # type: ignore[call-arg]


@FEW
@given(pairs())
def test_swapping_true_and_predicted_labels_swaps_precision_and_recall(pair):
    there, back = m.compute_metrics(*pair), m.compute_metrics(*reversed(pair))
    for kind in ("micro", "macro", "sample"):
        np.testing.assert_allclose(there[f"{kind}-precision"], back[f"{kind}-recall"])
        np.testing.assert_allclose(there[f"{kind}-f1"], back[f"{kind}-f1"])
    assert there["jaccard"] == back["jaccard"]


@FEW
@given(pairs(), st.data())
def test_threshold_sweep_is_the_sweep_of_its_decisions(pair, data):
    Y_true = pair[0]
    levels = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
    scores = data.draw(hnp.arrays(np.float64, Y_true.shape, elements=levels))
    thresholds = data.draw(st.permutations([-0.5, 0.0, 0.3, 0.5, 0.5, 0.75, 1.0, 1.5]))[: data.draw(st.integers(0, 8))]
    labelled = data.draw(st.booleans())
    fast = m.threshold_sweep(Y_true, scores, thresholds, labelled_only=labelled)
    slow = m.decision_sweep(Y_true, lambda tau: scores >= tau, thresholds, labelled_only=labelled)
    for name in ("thresholds", "right", "predicted", "exact", "true", "documents"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name), err_msg=name)
    n_first = data.draw(st.integers(0, len(Y_true)))
    halves = [
        m.threshold_sweep(Y_true[rows], scores[rows], thresholds) for rows in (slice(n_first), slice(n_first, None))
    ]
    whole = m.threshold_sweep(Y_true, scores, thresholds)
    np.testing.assert_array_equal((halves[0] + halves[1]).exact, whole.exact)
    np.testing.assert_array_equal((halves[0] + halves[1]).right, whole.right)


@FEW
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=30))
def test_auc_is_the_chance_that_a_positive_scores_higher(items):
    Y_true = np.array([positive for positive, _ in items]).astype(int)
    scores = np.array([score for _, score in items], dtype=float)
    ours = m.roc_auc(Y_true, scores)
    high, low = scores[Y_true == 1], scores[Y_true == 0]
    if not high.size or not low.size:
        assert np.isnan(ours)
        return
    wins = (high[:, None] > low).mean() + (high[:, None] == low).mean() / 2
    np.testing.assert_allclose(ours, wins)
    np.testing.assert_allclose(m.roc_auc(1 - Y_true, scores), 1 - ours)
