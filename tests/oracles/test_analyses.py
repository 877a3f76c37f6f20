"""The analyses of `evaluate` against scikit-learn and plain loops. Point 20 of the first-hour list."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, multilabel_confusion_matrix, roc_auc_score

from manylabel.classifier import TextClassifier
from manylabel.data import Corpus, load
from manylabel.data.labels import label_matrix
from manylabel.decisions.accumulated_posterior import AccumulatedPosterior
from manylabel.evaluation.analyses import Analysis, AnalysisBuilder
from manylabel.evaluation.experiment import evaluate
from manylabel.models.score_kinds import ScoreKind


@pytest.fixture(scope="module")
def splits() -> tuple[Corpus, Corpus]:
    corpus = load("townhall").corpus
    return corpus.split("train"), corpus.split("test")


def analysed(splits: tuple[Corpus, Corpus], method: str) -> tuple[TextClassifier, Corpus, Analysis]:
    train, test = splits
    model = TextClassifier(method, n_jobs=1).fit(train.texts, train.label_sets)
    builder = AnalysisBuilder(model.decided_)
    evaluate(model, test.texts, test.label_sets, ids=test.ids, data="townhall", split="test", analyst=builder)
    return model, test, builder.finish(method, test.ids)


@pytest.fixture(scope="module", params=["nb-binary", "nb-app", "svm"])
def found(request: pytest.FixtureRequest, splits: tuple[Corpus, Corpus]) -> tuple[TextClassifier, Corpus, Analysis]:
    return analysed(splits, request.param)


def test_point_20_areas_are_those_of_scikit_learn(found: tuple[TextClassifier, Corpus, Analysis]) -> None:
    """Average precision and ROC area of each label that has both documents with and without it, micro and macro."""
    model, test, analysis = found
    Y = label_matrix(test.label_sets, model.labels_).toarray()
    scores = model.decided_.score_batch(model.decided_.features(model.transform(test.texts)))
    if model.decided_.calibration_ is not None:  # curves over all labels need scores on one scale
        scores = model.decided_.shown(scores)
    precisions, areas = [], []
    for column, name in enumerate(model.labels_):
        curve = analysis.areas[name]
        assert curve.positives == Y[:, column].sum()
        if Y[:, column].any():
            precisions.append(average_precision_score(Y[:, column], scores[:, column]))
            areas.append(roc_auc_score(Y[:, column], scores[:, column]))
            assert curve.average_precision == pytest.approx(precisions[-1])
            assert curve.roc_auc == pytest.approx(areas[-1])
    assert analysis.curves.macro.average_precision == pytest.approx(np.mean(precisions))
    assert analysis.curves.macro.roc_auc == pytest.approx(np.mean(areas))
    assert analysis.curves.micro.average_precision == pytest.approx(average_precision_score(Y, scores, average="micro"))
    assert analysis.curves.micro.roc_auc == pytest.approx(roc_auc_score(Y, scores, average="micro"))


def test_point_20_contingency_tables_are_those_of_scikit_learn(
    found: tuple[TextClassifier, Corpus, Analysis],
) -> None:
    model, test, analysis = found
    Y = label_matrix(test.label_sets, model.labels_).toarray()
    S = label_matrix(model.predict(test.texts), model.labels_).toarray()
    tables = multilabel_confusion_matrix(Y, S)  # per label [[tn, fp], [fn, tp]]
    counts = analysis.counts
    np.testing.assert_array_equal(np.stack([counts.tn, counts.fp, counts.fn, counts.tp], axis=1), tables.reshape(-1, 4))


def test_point_20_set_sizes_are_counted_document_by_document(found: tuple[TextClassifier, Corpus, Analysis]) -> None:
    model, test, analysis = found
    table = np.zeros_like(analysis.set_sizes)
    for true, predicted in zip(test.label_sets, model.predict(test.texts), strict=True):
        table[min(len(true), len(table) - 1), min(len(predicted), len(table) - 1)] += 1
    np.testing.assert_array_equal(analysis.set_sizes, table)


def test_point_20_sweeps_equal_decisions_at_each_threshold(found: tuple[TextClassifier, Corpus, Analysis]) -> None:
    """Each threshold is decided anew, document by document, over all documents and over those with a label."""
    model, test, analysis = found
    scores = model.predict_scores(test.texts)
    Y = label_matrix(test.label_sets, model.labels_).toarray().astype(bool)
    accumulates = analysis.method == "nb-app"
    assert analysis.swept == {"nb-app": "accumulated posterior", "nb-binary": "probability of each label"}.get(
        analysis.method, "score of each label" if not model.scores_are_probabilities else "probability of each label"
    )
    for view, sweep in analysis.sweeps.items():
        rows = Y.any(axis=1) | (view == "all")
        for place in (0, 5, len(sweep.thresholds) // 2, -1):
            tau = float(sweep.thresholds[place])
            S = scores >= tau
            if accumulates:
                S = AccumulatedPosterior(tau).decide(scores, ScoreKind.POSTERIOR).toarray().astype(bool)
            right = (S & Y)[rows].sum()
            assert sweep.precision[place] == pytest.approx(right / max(S[rows].sum(), 1))
            assert sweep.recall[place] == pytest.approx(right / Y[rows].sum())
            assert sweep.zero_one_loss[place] == pytest.approx((S != Y)[rows].any(axis=1).mean())
            assert sweep.predicted_cardinality[place] == pytest.approx(S[rows].sum(axis=1).mean())


def test_point_20_documents_are_ranked_by_score(found: tuple[TextClassifier, Corpus, Analysis]) -> None:
    model, test, analysis = found
    scores = model.predict_scores(test.texts)
    for ranking in analysis.rankings[:5]:
        column = model.labels_.index(ranking.label)
        shown = [one.score for one in ranking.documents]
        assert shown == sorted(shown, reverse=True)
        np.testing.assert_allclose(shown, np.sort(scores[:, column])[::-1])
        true = {test.ids[row] for row, names in enumerate(test.label_sets) if ranking.label in names}
        assert {one.id for one in ranking.documents if one.true} == true
        first = [one.true for one in ranking.documents[: len(true)]]
        assert ranking.r_precision == pytest.approx(np.mean(first))
        assert ranking.precision_at_10 == pytest.approx(np.mean([one.true for one in ranking.documents[:10]]))


def test_point_20_labels_that_training_never_saw_are_missed_at_every_threshold(
    splits: tuple[Corpus, Corpus],
) -> None:
    """With AccumulatedPosterior too, whose sums must not be spoilt by labels without a score."""
    train, test = splits
    sets = [[name for name in names if name != "streets/parking"] for names in train.label_sets]
    for method in ("nb-app", "nb-binary"):
        model = TextClassifier(method, n_jobs=1).fit(train.texts, sets)
        builder = AnalysisBuilder(model.decided_)
        evaluate(model, test.texts, test.label_sets, ids=test.ids, data="d", split="test", analyst=builder)
        analysis = builder.finish(method, test.ids)
        parking = analysis.label_names.index("streets/parking")
        assert analysis.counts.tp[parking] == 0
        assert analysis.rankings[0].documents == []  # the most frequent label
        if method == "nb-app":
            half = list(analysis.sweeps["all"].thresholds).index(0.5)
            one_half = AccumulatedPosterior(0.5).decide(model.predict_scores(test.texts), ScoreKind.POSTERIOR)
            assert analysis.sweeps["all"].predicted[half] == one_half.sum()


def test_point_20_with_little_memory_the_most_frequent_labels_have_curves(splits: tuple[Corpus, Corpus]) -> None:
    train, test = splits
    model = TextClassifier("nb-binary", n_jobs=1).fit(train.texts, train.label_sets)
    builder = AnalysisBuilder(model.decided_, most_cells=3 * len(test))
    evaluate(model, test.texts, test.label_sets, ids=test.ids, data="d", split="test", analyst=builder)
    analysis = builder.finish("nb-binary", test.ids)
    frequency = dict.fromkeys(model.labels_, 0)
    for names in test.label_sets:
        for name in names:
            frequency[name] += 1
    most = sorted(frequency.values(), reverse=True)[:3]
    assert [curve.positives for curve in analysis.curves.labels] == most
    assert len(analysis.counts.tp) == len(model.labels_)
