"""The evaluation report: each rule of the answer, mistakes, thresholds, and one record in four forms."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from manylabel.classifier import TextClassifier
from manylabel.cli.run import run
from manylabel.data import Corpus, load
from manylabel.estimator import Csr
from manylabel.evaluation.analyses import Analysis, AnalysisBuilder
from manylabel.evaluation.expected import expected_quality
from manylabel.evaluation.experiment import evaluate
from manylabel.evaluation.mistakes import Confusion, WorstMistakes
from manylabel.evaluation.reliability import Reliability
from manylabel.evaluation.result import LabelRow, Result
from manylabel.evaluation.threshold_curves import POINTS, ThresholdCurve, label_threshold_curves
from manylabel.evaluation.training_documents import SeenDocuments
from manylabel.exceptions import ParameterError
from manylabel.insight.evaluation import report_evaluation
from manylabel.reports.evaluation_answer import Known, advice, answer
from manylabel.reports.evaluation_page import data_set_blocks
from manylabel.reports.evaluation_records import EvaluationReport
from manylabel.reports.files import report_text
from manylabel.reports.page import Heading, Table, render_text
from manylabel.reports.result_page import frequency_blocks, result_page

Measured = tuple[TextClassifier, Corpus, Result, Analysis]


@pytest.mark.parametrize(
    ("documents", "labels", "ids", "message"),
    [
        (2, 3, 3, "There are 2 documents but labels for 3"),
        (4, 3, 3, "There are 4 documents but labels for 3"),
        (3, 3, 2, "There are 3 documents but 2 ids"),
    ],
)
def test_there_is_one_label_set_and_one_id_per_document(documents: int, labels: int, ids: int, message: str) -> None:
    model = TextClassifier("nb-binary").fit(["late bus", "a hole"], [["buses"], ["roads"]])
    with pytest.raises(ParameterError, match=message):
        evaluate(model, ["late bus"] * documents, [["buses"]] * labels, ids=["1"] * ids, data="", split="")


@pytest.fixture(scope="module")
def measured() -> Measured:
    corpus = load("townhall").corpus
    train, test = corpus.split("train"), corpus.split("test")
    model = TextClassifier("nb-binary", n_jobs=1).fit(train.texts, train.label_sets)
    builder = AnalysisBuilder(model.decided_)
    result = evaluate(model, test.texts, test.label_sets, ids=test.ids, data="townhall", split="test", analyst=builder)
    return model, test, result, builder.finish("nb-binary", test.ids)


@pytest.fixture(scope="module")
def report(measured: Measured) -> EvaluationReport:
    model, test, _, _ = measured
    return report_evaluation(model, test.texts, test.label_sets, ids=test.ids, data="townhall")


def quiet(result: Result, analysis: Analysis) -> tuple[Result, Analysis]:
    """A result to which no rule applies."""
    row = LabelRow(
        "roads", trained=90, true=40, predicted=40, hits=36, precision=0.9, recall=0.9, f1=0.9, threshold=0.5
    )
    return (
        replace(result, labels=[row], unseen_labels={}),
        replace(analysis, threshold_curves=[], confusions=(), reliability=None),
    )


def rules(result: Result, analysis: Analysis, known: Known | None = None) -> dict[str, str]:
    return {one.rule: one.text for one in advice(result, analysis, Known() if known is None else known)}


def with_label(result: Result, **changes: float | str) -> Result:
    return replace(result, labels=[replace(result.labels[0], **changes)])  # type: ignore[arg-type]


def test_nothing_stands_out(measured: Measured) -> None:
    assert list(rules(*quiet(*measured[2:]))) == ["nothing"]


def test_rules_on_labels(measured: Measured) -> None:
    result, analysis = quiet(*measured[2:])
    few = rules(with_label(result, trained=9), analysis)
    assert few == {"few documents": "1 label has fewer than 10 training documents ('roads'): label more of them."}
    assert list(rules(with_label(result, trained=10), analysis)) == ["nothing"]
    assert list(rules(with_label(result, true=9, predicted=9, hits=9), analysis)) == ["few tested"]
    assert "weak" in rules(with_label(result, f1=0.49), analysis)
    assert "weak" not in rules(with_label(result, f1=0.49, true=19), analysis)
    assert "never predicted" in rules(with_label(result, predicted=0, hits=0), analysis)
    unseen = rules(replace(result, unseen_labels={"bees": 2, "ants": 5}), analysis)
    assert unseen["unseen"].startswith("2 labels never occurred in training and cannot be predicted ('ants', 'bees')")


@pytest.mark.parametrize(("own", "right", "rule"), [(0.9, 10, "thresholds too high"), (0.1, 30, "thresholds too low")])
def test_rules_on_thresholds(measured: Measured, own: float, right: int, rule: str) -> None:
    result, analysis = quiet(*measured[2:])
    predicted = 10 if own > 0.5 else 90
    curve = ThresholdCurve("roads", 40, 100, own, right, predicted, [0.1, 0.5, 0.9], [30, 28, 10], [90, 32, 10])
    assert list(rules(result, replace(analysis, threshold_curves=[curve]))) == [rule]
    good = replace(curve, threshold=0.5, own_right=28, own_predicted=32)
    assert list(rules(result, replace(analysis, threshold_curves=[good]))) == ["nothing"]


def test_rules_on_confusions_and_probabilities(measured: Measured) -> None:
    result, analysis = quiet(*measured[2:])
    pair = Confusion("roads", "parking", 5)
    missing = with_label(result, hits=20)
    assert "5 documents of 20" in rules(missing, replace(analysis, confusions=(pair,)))["confused"]
    assert list(rules(missing, replace(analysis, confusions=(replace(pair, documents=4),)))) == ["nothing"]
    Y, high = Csr(np.eye(10, 2, dtype=np.int8)), np.full((10, 2), 0.6)
    off = rules(result, replace(analysis, reliability=Reliability.of(Y, high)))
    assert off["uncalibrated"].startswith("Probabilities are too high, by 50 points on average: ")
    right = Reliability.of(Csr([[1, 1, 0, 0, 0]] * 4), np.full((4, 5), 0.4))
    assert list(rules(result, replace(analysis, reliability=right))) == ["nothing"]


def test_more_metrics_of_the_best_labels_are_shown_where_labels_are_many(measured: Measured) -> None:
    result, more = measured[2], {"precision@1": 0.5, "precision@5": 0.25, "ndcg@5": 0.75}
    result = replace(result, metrics={view: {**of, **more} for view, of in result.metrics.items()})
    many = replace(result, labels=[replace(result.labels[0], label=str(n)) for n in range(20)])
    for one, shown in ((many, True), (replace(many, labels=many.labels[1:]), False)):
        text = render_text(result_page([one], "test"))
        assert [title in text for title in ("Precision at 1", "Precision at 5", "nDCG at 5")] == [shown] * 3


def test_quality_by_number_of_training_documents(measured: Measured, report: EvaluationReport) -> None:
    """A table where there are many labels; the record has it for any number, and needs no other figures for it."""
    row = measured[2].labels[0]
    labels = [replace(row, label=f"rare {n}", trained=2, true=4, predicted=0, hits=0, f1=0.0) for n in range(12)]
    labels += [replace(row, label=f"usual {n}", trained=50, true=6, predicted=4, hits=4, f1=0.8) for n in range(8)]
    result = replace(measured[2], labels=labels)
    heading, table, note = frequency_blocks(result)
    assert isinstance(table, Table)
    assert table.rows == [["1 to 2", 12, 12, 48, 0, 0.0, 0.0], ["10 to 99", 8, 8, 48, 32, 0.8, pytest.approx(0.8)]]
    page = result_page([result], "test")
    assert heading in page
    assert note in page
    assert frequency_blocks(replace(result, labels=labels[:19])) == []
    assert frequency_blocks(replace(result, labels=labels[:12] * 2)) == []  # all of one row
    plain = json.loads(json.dumps(result.as_dict()))
    assert [one["micro_f1"] for one in plain["by_frequency"]] == [0.0, 0.8]
    assert Result.from_dict(plain).by_frequency == result.by_frequency
    assert list(report.by_frequency) == measured[2].by_frequency
    html = data_set_blocks([], [(result, measured[3], report)])
    assert Heading("Labels by number of training documents") in html


def test_what_the_model_was_trained_on_comes_first(measured: Measured) -> None:
    result, analysis = quiet(*measured[2:])
    assert list(rules(result, analysis, Known(seen=SeenDocuments(1, 190, 190)))) == ["nothing"]
    assert list(rules(result, analysis, Known(seen=SeenDocuments(20, 190, 190)))) == ["seen"]
    whole = Known(seen=SeenDocuments(190, 190, 190))
    assert "does not tell how good it is on others" in answer(result, analysis, whole)[1]


def test_the_answer(measured: Measured) -> None:
    _, _, result, analysis = measured
    good, sure, labels = answer(result, analysis, Known())
    f1, exact = result.metrics["all"]["micro-f1"], result.metrics["all"]["exact-match"]
    assert good.startswith(f"nb-binary reaches a micro F1 of {100 * f1:.1f} % on 190 documents: of 100 labels")
    assert f"The label set is exactly right for {round(100 * exact)} % of the documents." in good
    low, high = analysis.quality["figures"][0]["low"], analysis.quality["figures"][0]["high"]
    assert sure.startswith(f"Other documents of the same kind would give {100 * low:.1f} to {100 * high:.1f} %")
    assert ("That is wide" in sure) is (high - low > 0.1)
    assert labels.startswith("Labels differ: of the ")
    first = "Labels differ: of the 3 labels with test documents, "
    for values, sentence in (
        ((0.5, 0.75, 1.0), "half have an F1 of at least 75.0 %."),
        ((0.0, 0.25, 1.0), "half have an F1 of at least 25.0 %; 1 label is never right."),
        ((0.0, 0.0, 1.0), "2 are never right."),
    ):
        rows = [replace(result.labels[0], label=str(value), f1=value) for value in values]
        assert answer(replace(result, labels=rows), analysis, Known())[-1] == first + sentence
    better = expected_quality(Csr(np.eye(90, dtype=np.int8)), Csr(np.eye(90, dtype=np.int8)))
    assert "This is lower than that" in answer(result, analysis, Known(expected=better))[1]


def test_threshold_curves_count_documents(measured: Measured) -> None:
    model, test, result, analysis = measured
    scores = model.predict_scores(test.texts)
    rows = {row.label: row for row in result.labels}
    assert analysis.threshold_curves
    for curve in analysis.threshold_curves:
        column = model.labels_.index(curve.name)
        has = np.array([curve.name in names for names in test.label_sets])
        assert curve.thresholds == sorted(curve.thresholds)
        assert len(curve.thresholds) <= POINTS + 1
        assert (curve.own_right, curve.own_predicted) == (rows[curve.name].hits, rows[curve.name].predicted)
        for threshold, right, predicted in zip(curve.thresholds, curve.right, curve.predicted, strict=True):
            reached = scores[:, column] >= threshold
            assert (right, predicted) == ((reached & has).sum(), reached.sum())
        assert (curve.right[0], curve.predicted[0]) == (has.sum(), len(has))


def test_long_threshold_curves_are_thinned_and_keep_the_models_own() -> None:
    random = np.random.default_rng(0)
    scores = random.random((5000, 1))
    Y = Csr((random.random((5000, 1)) < scores**9).astype(np.int8))
    own = float(np.sort(scores[:, 0])[-1234])
    (found,) = label_threshold_curves(Y, Csr((scores >= own).astype(np.int8)), scores, ["a"], [own])
    assert len(found.thresholds) <= POINTS + 1
    place = found.thresholds.index(own)
    assert (
        (found.right[place], found.predicted[place])
        == (found.own_right, found.own_predicted)
        == (found.right[place], 1234)
    )


def test_worst_mistakes_are_varied_and_do_not_depend_on_batches() -> None:
    random = np.random.default_rng(1)
    scores, Y = random.random((60, 4)), Csr((random.random((60, 4)) < 0.3).astype(np.int8))
    S, names = Csr((scores > 0.6).astype(np.int8)), ["a", "b", "c", "d"]
    whole, pieces = WorstMistakes(names), WorstMistakes(names)
    whole.add(0, Y, S, scores)
    for start in range(0, 60, 7):
        rows = slice(start, start + 7)
        pieces.add(start, Csr(Y[rows]), Csr(S[rows]), scores[rows])
    found = whole.finish(most=6, per_label=2)
    assert found == pieces.finish(most=6, per_label=2)
    wrong, missed = [one for one in found if not one.missed], [one for one in found if one.missed]
    assert wrong[0].score == scores[(S.toarray() > 0) & (Y.toarray() == 0)].max()
    assert missed[0].score == scores[(S.toarray() == 0) & (Y.toarray() > 0)].min()
    for side in (wrong, missed):
        assert len({one.row for one in side}) == len(side) == 6
        assert max(sum(one.label == name for one in side) for name in names) <= 2


def test_mistakes_have_their_evidence(measured: Measured, report: EvaluationReport) -> None:
    _, test, _, _ = measured
    assert {one.missed for one in report.mistakes} == {False, True}
    for one in report.mistakes:
        row = list(test.ids).index(one.document)
        assert one.true == tuple(test.label_sets[row])
        assert (one.label in one.true) is one.missed
        assert (one.label in one.predicted) is not one.missed
        assert one.terms
        shown = " ".join(text for text, value in one.stretches if value)
        assert shown
        assert all(word in " ".join(str(test.texts[row]).split()) for word in shown.split())


def test_reliability_counts_all_pairs(measured: Measured) -> None:
    _, test, _, analysis = measured
    assert analysis.reliability is not None
    assert analysis.reliability.pairs.sum() == len(test) * len(analysis.label_names)
    assert analysis.reliability.true.sum() == sum(len(names) for names in test.label_sets)


def test_one_record_in_four_forms(measured: Measured, report: EvaluationReport) -> None:
    _, _, result, analysis = measured
    blocks = data_set_blocks(result_page([result], "the test split", with_foot=False), [(result, analysis, report)])
    texts = {
        ending: report_text(ending, "Letters", blocks, report.as_dict()) for ending in (".html", ".md", ".txt", ".json")
    }
    plain = json.loads(texts[".json"])
    for ending in (".html", ".md", ".txt"):
        assert plain["answer"][0] in texts[ending]
        assert plain["mistakes"][0]["document"] in texts[ending]
    assert texts[".md"].startswith("# Letters\n")
    assert "```\nmethod = " in texts[".md"]
    assert all(f"\n| {label['label']} | " in texts[".md"] for label in plain["labels"])
    assert len(texts[".html"].encode()) < 1_000_000


def test_the_command_writes_markdown_and_prints_the_answer_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.md"
    assert run(["evaluate", "townhall", "--method", "nb-binary", "--report", str(path)]) == 0
    assert capsys.readouterr().out.startswith("nb-binary reaches a micro F1 of ")
    assert "**nb-binary reaches a micro F1 of " in path.read_text(encoding="utf-8")
