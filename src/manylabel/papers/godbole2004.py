"""Godbole & Sarawagi 2004: SVM, ConfMat, BandSVM and SVM-HF on Reuters-21578; debtags stands in for their patents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from manylabel.evaluation.findings import Claim, Entry, Experiment, Reading, Sheet, Verdict
from manylabel.evaluation.gaps import leads_text
from manylabel.evaluation.paired_tests import t_test
from manylabel.papers import godbole2004_runs as runs
from manylabel.papers.godbole2004_runs import LIGHT, LOW_BETA, METHODS, MIXED, READING_C, STAGED, WEAK_C
from manylabel.papers.godbole2004_tables import (
    COLUMNS,
    FORCED,
    LABELLED,
    PLAIN,
    TRIED,
    WEAK,
    WEAK_BAND,
    WEAK_ROWS,
    all_classes,
    listed,
    printed_row,
    split_leads,
    thirty_classes,
)
from manylabel.papers.jobs import Job, Plan, Study
from manylabel.papers.numbers import numbers

SECONDS = {"SVM": 1.0, WEAK: 1.0, LOW_BETA: 1.5, MIXED: 1.5, LIGHT: 1.5, STAGED: 1.5} | dict.fromkeys(
    ("ConfMat", "BandSVM", "SVM-HF", WEAK_BAND), 6.0
)


def jobs(plan: Plan) -> list[Job]:
    """Four methods on the given split, and on random splits of the 30 classes and of the stand-in."""
    seed, splits, packages, cost = plan.seed, _splits(plan), _packages(plan), SECONDS
    thirty = [
        Job(f"godbole2004/30/{name}/{split}", cost[name] / 2, partial(runs.reuters30, *_settings(name), split, seed))
        for split in range(splits)
        for name in TRIED
    ]
    whole = [
        Job(f"godbole2004/135/{name}", 2 * cost[name], partial(runs.reuters135, *_settings(name), seed))
        for name in (*METHODS, LOW_BETA, MIXED)
    ]
    labelled = [
        Job(
            f"godbole2004/135, labelled/{name}",
            2 * cost[name],
            partial(runs.reuters135, name, READING_C, seed, labelled=True),
        )
        for name in LABELLED
    ]
    stand_in = [
        Job(f"godbole2004/debtags/{name}/{split}", cost[name], partial(runs.debtags, *_settings(name), split, seed))
        for split in range(packages)
        for name in METHODS
    ]
    return [*whole, *labelled, *thirty, *stand_in]


def _settings(name: str) -> tuple[str, float]:
    """The method behind a row of the 30 classes, and its C."""
    return (printed_row(name), WEAK_C) if name in (WEAK, WEAK_BAND) else (name, 1.0)


def _splits(plan: Plan) -> int:
    return 3 if plan.quick else 10


def _packages(plan: Plan) -> int:
    return 2 if plan.quick else 10


def _whole(outcomes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: outcomes[f"godbole2004/135/{name}"] for name in (*METHODS, LOW_BETA, MIXED)}


def _thirty(plan: Plan, outcomes: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: [outcomes[f"godbole2004/30/{name}/{split}"] for split in range(_splits(plan))] for name in TRIED}


def _all_classes(plan: Plan, outcomes: Mapping[str, Any]) -> Experiment:
    labelled = {name: outcomes[f"godbole2004/135, labelled/{name}"] for name in LABELLED}
    return all_classes(_whole(outcomes), labelled)


def _thirty_classes(plan: Plan, outcomes: Mapping[str, Any]) -> Experiment:
    return thirty_classes(_thirty(plan, outcomes))


def _accuracies(repeats: list[Any], convention: str = FORCED) -> list[float]:
    return [one["metrics"][convention][0] for one in repeats]


# ---- X-6 to X-9 ------------------------------------------------------------------------------------------------------


def _tests(plan: Plan, outcomes: Mapping[str, Any]) -> Experiment:
    found = _thirty(plan, outcomes)
    printed = numbers("godbole2004")["t_test"]
    hf = _accuracies(found["SVM-HF"])
    rivals = {
        "SVM, forced": _accuracies(found["SVM"]),
        "SVM, not forced": _accuracies(found["SVM"], PLAIN),
        f"{WEAK}, forced": _accuracies(found[WEAK]),
    }
    reading = t_test(_accuracies(found[STAGED]), _accuracies(found[WEAK]))
    tests = {name: (t_test(hf, values), t_test(hf, values, paired=True)) for name, values in rivals.items()}
    rows = {
        name: [Entry(two.difference), Entry(_finite(two.t), paper=printed["reuters30"]), Entry(_finite(paired.t))]
        for name, (two, paired) in tests.items()
    }
    plain = tests["SVM, forced"][0]
    claim = Claim(
        "SVM-HF is significantly better than SVM: t = 2.07 against 1.73.",
        Verdict.of([plain.significant]),
        f"t = {plain.t:.2f} against {plain.critical:.2f} when both are forced; "
        f"{tests['SVM, not forced'][0].t:.2f} against SVMs that are not.",
        printed["source"],
        readings=[
            Reading(
                f"{STAGED} against {WEAK}, both forced",
                Verdict.of([reading.significant]),
                f"Difference {reading.difference:+.2f} points, t = {reading.t:.2f}.",
            )
        ],
    )
    return Experiment(
        "Student's t of accuracy over the splits of X-5b, one-sided at 5 %: two samples as the paper, and paired, "
        "which detects smaller differences, because both ran on the same splits.",
        ["The paper does not state which convention it tested against: three are shown."],
        [
            Sheet(
                "SVM-HF against",
                ["difference", "t, two samples", "t, paired"],
                rows,
                printed["source"],
                unit="points, t",
                digits=2,
            )
        ],
        claims=[claim],
    )


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _sizes(plan: Plan, outcomes: Mapping[str, Any]) -> Experiment:
    found = _thirty(plan, outcomes)
    printed, negative = numbers("godbole2004")["sizes"], numbers("godbole2004")["all_negative"]
    sizes = {
        name: [
            Entry.over([one["sizes"][cell] for one in found[name]], float(printed[printed_row(name)][cell]))
            for cell in range(9)
        ]
        for name in TRIED
    }
    empty = {
        name: [Entry.over([one["all_negative"] for one in found[name]], float(negative[printed_row(name)]))]
        for name in TRIED
    }
    return Experiment(
        "The splits of X-5b, forced decisions.",
        sheets=[
            Sheet(
                "Documents given |S| labels of those that have |T|",
                [f"{given} of {true}" for true in (1, 2, 3) for given in (1, 2, 3)],
                sizes,
                printed["source"],
                digits=0,
            ),
            Sheet("Documents with only negative scores", ["share"], empty, negative["source"]),
        ],
        claims=_size_claims(found, printed["source"], negative["source"]),
    )


def _size_claims(found: Mapping[str, list[Any]], sizes_source: str, negative_source: str) -> list[Claim]:
    claims = [
        (
            "The three methods leave fewer documents without a positive score than SVM.",
            "Share of documents",
            lambda one: one["all_negative"],
            negative_source,
        ),
        (
            "They give two labels more often to documents that have two.",
            "Share given one label or more than two",
            lambda one: 100 - one["sizes"][4],
            sizes_source,
        ),
    ]
    return [_lead_claim(found, *claim) for claim in claims]


def _lead_claim(
    found: Mapping[str, list[Any]], text: str, what: str, value: Callable[[Any], float], source: str
) -> Claim:
    """The claim that the first method of each reading leads over the others by a value of each split."""
    printed, weak = (split_leads(found, value, first, rivals) for first, *rivals in (METHODS, WEAK_ROWS))
    reading = Reading("the reading of X-5b", Verdict.of([gap.above() for gap in weak.values()]), leads_text(WEAK, weak))
    holds = Verdict.of([gap.above() for gap in printed.values()])
    return Claim(text, holds, f"{what}: {leads_text('SVM', printed)}", source, readings=[reading])


def _grain(plan: Plan, outcomes: Mapping[str, Any]) -> Experiment:
    found = _whole(outcomes)
    printed = {name: value for name, value in numbers("godbole2004")["grain"].items() if name != "source"}
    ours, tuned = (
        {label: float(found[method]["coefficients"].get(label, 0.0)) for label in printed}
        for method in (MIXED, "SVM-HF")
    )
    own = ours["grain"] == max(ours.values()) and ours["grain"] > 0
    order = sorted(ours, key=lambda name: -ours[name]) == list(printed)
    signs = [np.sign(ours[name]) == np.sign(value) for name, value in printed.items()]
    return Experiment(
        "Weights of the label columns in the SVM of grain, second stage of SVM-HF on all classes.",
        [
            "The size of the weights depends on f and C, which the paper does not give: signs and order are compared, "
            f"at a fixed f. Validation chose f = {found['SVM-HF']['chosen']:g}; at f = 1 label columns have no weight."
        ],
        [
            Sheet(
                "Weight in the SVM of grain",
                list(printed),
                {
                    MIXED: [Entry(ours[name], paper=value) for name, value in printed.items()],
                    "SVM-HF, f tuned": [Entry(tuned[name], paper=value) for name, value in printed.items()],
                },
                "section 5.4, text",
                unit="weight",
                digits=2,
            )
        ],
        claims=[
            Claim(
                "grain itself and wheat support grain, money-fx and sugar oppose it, in this order.",
                Verdict.of([own, order, all(signs)]),
                listed(ours),
                "section 5.4, text",
            )
        ],
    )


def _stand_in(plan: Plan, outcomes: Mapping[str, Any]) -> Experiment:
    found = {
        name: [outcomes[f"godbole2004/debtags/{name}/{split}"] for split in range(_packages(plan))] for name in METHODS
    }
    printed = numbers("godbole2004")["patents"]
    rows = {
        name: [Entry.over([one["metrics"][FORCED][column] for one in repeats]) for column in range(4)]
        for name, repeats in found.items()
    }
    test = t_test(_accuracies(found["SVM-HF"]), _accuracies(found["SVM"]), paired=True)
    paper = {name: [Entry(paper=value) for value in printed[name]] for name in METHODS}
    return Experiment(
        "The patents of wipo-alpha are not available. In their place: descriptions of Debian packages with any tag of "
        f"the facet works-with, {len(found['SVM'])} random 70-30 splits, the same methods and features, forced. Only "
        "the order of the methods can be compared, not the figures.",
        sheets=[
            Sheet("Debian packages, works-with", COLUMNS, rows, digits=2),
            Sheet("The paper's patents, F sub-hierarchy", COLUMNS, paper, printed["source"], digits=2),
        ],
        claims=[
            Claim(
                "SVM-HF is best in accuracy on patents.",
                Verdict.NOT_TESTED,
                f"On the stand-in, accuracy {listed({name: rows[name][0].ours or 0.0 for name in METHODS})} SVM-HF "
                f"less SVM {test.difference:+.2f}, paired t {test.t:.2f}.",
                printed["source"],
                "Other data: this can neither confirm nor refute the claim.",
            )
        ],
    )


STUDIES = [
    Study("X-5a", "Reuters, all classes, the given split", ("135/", "135, labelled/"), _all_classes),
    Study("X-5b", "Reuters, 30 classes, random 70-30 splits", ("30/",), _thirty_classes, quick_verdicts=False),
    Study("X-6", "Is SVM-HF better than SVM?", ("30/",), _tests, quick_verdicts=False),
    Study(
        "X-7",
        "How many labels are given to documents that have one, two, three",
        ("30/",),
        _sizes,
        quick_verdicts=False,
    ),
    Study("X-8", "Labels that support grain", ("135/",), _grain),
    Study(
        "X-9",
        "Patents are not available; Debian packages are used instead",
        ("debtags/",),
        _stand_in,
        quick_verdicts=False,
    ),
]
"""The experiments, in the order of the paper."""
