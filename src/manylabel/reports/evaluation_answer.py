"""What an evaluation comes to: how good, how sure, and what to do next, by plain rules on its figures."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from manylabel.data.layout import listed
from manylabel.evaluation.analyses import Analysis
from manylabel.evaluation.expected import ExpectedFigure, ExpectedQuality
from manylabel.evaluation.result import LabelRow, Result
from manylabel.evaluation.threshold_curves import ThresholdCurve
from manylabel.evaluation.training_documents import SeenDocuments
from manylabel.metrics.targets import DEFAULT_METRIC
from manylabel.reports.records import Record
from manylabel.wording import counted

FEW_TRAINED = 10
"""A label with fewer training documents needs more of them."""
FEW_TESTED = 10
"""The figures of a label with fewer test documents mean little."""
JUDGED = 20
"""Labels with at least this many test documents are judged one by one."""
WEAK = 0.5
"""The F1 below which a label of at least `JUDGED` test documents is weak."""
WORTH = 0.05
"""A threshold is off where another would raise the F1 of the label by at least this much on these documents."""
CONFUSED_DOCUMENTS, CONFUSED_SHARE = 5, 0.2
"""Two labels are confused in at least so many documents, and in such a share of those that miss the first."""
OFF, RELIABLE_FROM = 0.05, 0.1
"""Probabilities from the second on are off where shares of true labels differ from them by the first on average."""
WIDE = 0.1
"""An interval of micro F1 of this width says little."""
MANY_SEEN = 0.01
"""The share of measured documents above which those that the model was trained on spoil the figures."""
NAMED = 5
"""How many labels a sentence names."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a model beside its figures."""

    expected: ExpectedQuality | None = None
    """The quality on new documents that training expected."""
    seen: SeenDocuments | None = None
    """How many of the measured documents the model was trained on."""


@dataclass(frozen=True, slots=True)
class Advice(Record):
    """What to do next, the rule that says so, and the labels it is about."""

    rule: str
    text: str
    labels: tuple[str, ...] = ()


def answer(result: Result, analysis: Analysis, known: Known) -> list[str]:
    """Sentences on how good the method is, how sure that is, and how much labels differ."""
    metrics = result.metrics["all"]
    f1 = _figure(analysis.quality, DEFAULT_METRIC)
    precision, recall, exact = (
        round(100 * metrics[name]) for name in ("micro-precision", "micro-recall", "exact-match")
    )
    good = (
        f"{result.method} reaches a micro F1 of {_percent(f1['value'])} on "
        f"{counted(result.test.documents, 'document')}: of 100 labels that it predicts, {precision} are right, and of "
        f"100 true labels it finds {recall}. The label set is exactly right for {exact} % of the documents."
    )
    return [good, _sure(f1, known), *_evenness(result)]


def _figure(quality: ExpectedQuality, metric: str) -> ExpectedFigure:
    return next(one for one in quality["figures"] if one["metric"] == metric)


def _sure(f1: ExpectedFigure, known: Known) -> str:
    """How far the figure holds for other documents, and whether training expected it."""
    if known.seen is not None and known.seen.seen == known.seen.compared:
        return "The model was trained on these documents, so that this does not tell how good it is on others."
    sure = f"Other documents of the same kind would give {_range(f1)} (95 % interval)."
    if f1["high"] - f1["low"] > WIDE:
        sure += " That is wide: measure on more documents."
    if known.expected is None:
        return sure
    before = _figure(known.expected, DEFAULT_METRIC)
    lower, higher = f1["high"] < before["low"], f1["low"] > before["high"]
    how = "This is lower" if lower else "This is higher" if higher else "This agrees"
    what = "than that: these documents differ from those of training" if lower or higher else "with that"
    return f"{sure} Training expected {_percent(before['value'])} ({_range(before)}). {how} {what}."


def _evenness(result: Result) -> list[str]:
    """How much labels differ; nothing where there are fewer than three with test documents."""
    present = [row.f1 for row in result.labels if row.true]
    if len(present) < 3:
        return []
    zero, median = sum(value == 0 for value in present), statistics.median(present)
    found = [f"half have an F1 of at least {_percent(median)}"] if median else []
    found += [f"{counted(zero, 'label is', 'labels are') if found else f'{zero:,} are'} never right"] if zero else []
    return [f"Labels differ: of the {len(present):,} labels with test documents, {'; '.join(found)}."]


def advice(result: Result, analysis: Analysis, known: Known) -> list[Advice]:
    """What to do next, by rules; one that says that nothing stands out where none applies."""
    found = [one for rule in RULES if (one := rule(result, analysis)) is not None]
    if known.seen is not None and known.seen.seen > MANY_SEEN * known.seen.compared:
        of = f"{known.seen.seen:,} of {counted(known.seen.compared, 'document')}"
        found.insert(0, Advice("seen", f"The model was trained on {of}: measure it on documents it has not seen."))
    return found or [Advice("nothing", "Nothing stands out: more documents, or another method, may still help.")]


def _unseen(result: Result, analysis: Analysis) -> Advice | None:
    names = sorted(result.unseen_labels, key=lambda name: (-result.unseen_labels[name], name))
    never = counted(len(names), "label never occurred", "labels never occurred")
    return _about("unseen", names, f"{never} in training and cannot be predicted", "add documents that have them")


def _few_documents(result: Result, analysis: Analysis) -> Advice | None:
    rows = [row for row in result.labels if row.true and 0 < row.trained < FEW_TRAINED]
    have = f"{counted(len(rows), 'label has', 'labels have')} fewer than {FEW_TRAINED} training documents"
    return _about("few documents", [row.label for row in _frequent(rows)], have, "label more of them")


def _never_predicted(result: Result, analysis: Analysis) -> Advice | None:
    rows = [row for row in result.labels if row.true and not row.predicted and row.trained >= FEW_TRAINED]
    are = f"{counted(len(rows), 'label is', 'labels are')} never predicted, though there were enough training documents"
    return _about("never predicted", [row.label for row in _frequent(rows)], are, "check the thresholds and the labels")


def _thresholds_high(result: Result, analysis: Analysis) -> Advice | None:
    return _thresholds("thresholds too high", "high", analysis, lambda best, own: best < own)


def _thresholds_low(result: Result, analysis: Analysis) -> Advice | None:
    return _thresholds("thresholds too low", "low", analysis, lambda best, own: best > own)


def _thresholds(rule: str, how: str, analysis: Analysis, wrong: Callable[[float, float], bool]) -> Advice | None:
    """Labels whose F1 another threshold would raise on these documents by at least `WORTH`."""
    named = []
    for curve in analysis.threshold_curves:
        best, f1 = curve.best
        if curve.true >= JUDGED and f1 - curve.own_f1 >= WORTH and wrong(best, _own(curve)):
            named.append(curve.name)
    are = f"{'The threshold is' if len(named) == 1 else 'Thresholds are'} too {how} for {counted(len(named), 'label')}"
    return _about(rule, named, are, "try others below, and confirm them on other documents")


def _own(curve: ThresholdCurve) -> float:
    """The threshold of the label: the model's own or, where its rule has none, the one that predicts as many."""
    if curve.threshold is not None:
        return curve.threshold
    place = min(range(len(curve.predicted)), key=lambda at: abs(curve.predicted[at] - curve.own_predicted))
    return curve.thresholds[place]


def _weak(result: Result, analysis: Analysis) -> Advice | None:
    rows = [row for row in result.labels if row.true >= JUDGED and row.f1 < WEAK]
    names = [row.label for row in sorted(rows, key=lambda row: (row.f1, row.label))]
    have = f"{counted(len(rows), 'label has', 'labels have')} an F1 below {_percent(WEAK, 0)} on many documents"
    return _about("weak", names, have, "look at their mistakes below, and check the labels with manylabel audit")


def _confused(result: Result, analysis: Analysis) -> Advice | None:
    missed = {row.label: row.true - row.hits for row in result.labels}
    for pair in analysis.confusions:
        if pair.documents >= max(CONFUSED_DOCUMENTS, CONFUSED_SHARE * missed[pair.missed]):
            text = (
                f"{pair.missed!r} is often taken for {pair.wrong!r} ({counted(pair.documents, 'document')} of "
                f"{missed[pair.missed]:,} that miss it): compare what both labels mean."
            )
            return Advice("confused", text, (pair.missed, pair.wrong))
    return None


def _uncalibrated(result: Result, analysis: Analysis) -> Advice | None:
    found = analysis.reliability
    if found is None or found.error_from(RELIABLE_FROM) < OFF:
        return None
    excess = found.excess(RELIABLE_FROM)
    off = f"by {100 * found.error_from(RELIABLE_FROM):.0f} points on average"
    which = f"too {'high' if excess > 0 else 'low'}, {off}" if abs(excess) >= OFF / 2 else f"off {off}"
    return Advice("uncalibrated", f"Probabilities are {which}: do not read them as shares of right labels.")


def _few_tested(result: Result, analysis: Analysis) -> Advice | None:
    few = sum(0 < row.true < FEW_TESTED for row in result.labels)
    if not few:
        return None
    rest = counted(few, "label rests", "labels rest")
    return Advice(
        "few tested", f"The figures of {rest} on fewer than {FEW_TESTED} test documents: do not rank by them."
    )


RULES: Sequence[Callable[[Result, Analysis], Advice | None]] = (
    _unseen,
    _few_documents,
    _thresholds_high,
    _thresholds_low,
    _weak,
    _never_predicted,
    _confused,
    _uncalibrated,
    _few_tested,
)
"""The rules, the most useful first."""


def _about(rule: str, names: Sequence[str], what: str, to_do: str) -> Advice | None:
    """Advice about labels, the first of which it names; None without labels."""
    if not names:
        return None
    return Advice(rule, f"{what} ({listed(names, NAMED)}): {to_do}.", tuple(names))


def _frequent(rows: Sequence[LabelRow]) -> Iterator[LabelRow]:
    yield from sorted(rows, key=lambda row: (-row.true, row.label))


def _range(figure: ExpectedFigure) -> str:
    return f"{100 * figure['low']:.1f} to {_percent(figure['high'])}"


def _percent(value: float, digits: int = 1) -> str:
    return f"{100 * value:.{digits}f} %"
