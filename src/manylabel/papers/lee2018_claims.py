"""The claims of Lee 2018, and whether they hold."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import chdtrc

from manylabel.evaluation.findings import Claim, Reading, Verdict
from manylabel.evaluation.gaps import Gap, near, repeat_gap
from manylabel.evaluation.rank_tests import ranks
from manylabel.papers.lee2018_runs import (
    IN_VIEW,
    KL,
    KL_SPLIT,
    METRICS,
    MNB,
    NB,
    NB_BINS,
    READINGS,
    REFERENCE,
    STRATEGIES,
    SVM,
    UNILABEL,
)

Folds = Mapping[str, Sequence[Mapping[str, float]]]
Runs = Mapping[tuple[str, str, str], Mapping[str, Any]]
Ranks = Mapping[tuple[str, str], Mapping[str, float]]
WEIGHTED = {REFERENCE: "reference", KL: "refined kl", KL_SPLIT: "refined kl_split"}
NAMED = f"the third reading, '{IN_VIEW}'"
IN_VIEW_SETTING = (
    "plain divergence (m = 0), not scaled, not refined, event exponent; DC and FC in turn, all labels at once, views "
    "learned from out-of-fold labels"
)


def _leads(folds: Folds, first: str, others: Sequence[str]) -> list[Gap]:
    """On each set, the lead of a method over the best of some others, resampled over folds."""

    def values(data: str, method: str) -> list[float]:
        return [fold[method] for fold in folds[data]]

    gaps = []
    for data in UNILABEL:
        best = max(others, key=lambda other: statistics.fmean(values(data, other)))
        gaps.append(repeat_gap(values(data, first), values(data, best)))
    return gaps


def _counted_leads(gaps: Sequence[Gap]) -> str:
    """On how many sets a method is ahead, behind, or neither.

    >>> _counted_leads([Gap(1.0, 0.5, 1.5), Gap(0.1, -0.5, 0.7)])
    '1 ahead, 1 open, 0 behind'
    """
    holds = [gap.above() for gap in gaps]
    return ", ".join(f"{holds.count(one)} {name}" for one, name in ((True, "ahead"), (None, "open"), (False, "behind")))


# ---- one label a document --------------------------------------------------------------------------------------------


def accuracy_claims(folds: Folds, steps: Mapping[str, Mapping[str, float]]) -> list[Claim]:
    """The claims beside Table 2: accuracy on single-label data."""
    best, over_nb, better = (
        {name: _leads(folds, method, others) for method, name in WEIGHTED.items()}
        for others in ((NB, NB_BINS, MNB), (NB, NB_BINS), (MNB,))
    )
    return [
        _lead_claim("MNB-VW is the best of NB, MNB and MNB-VW in all cases.", best),
        _lead_claim("MNB-VW is always better than NB.", over_nb),
        _lead_claim("Weights for frequency bins improve naive Bayes, clearly indicated.", better),
        _svm_claim(folds),
        _converges(steps),
    ]


def _lead_claim(text: str, gaps: Mapping[str, Sequence[Gap]]) -> Claim:
    """A claim that holds on every set in every reading, decided by leads resampled over folds."""
    told = "; ".join(f"{name}: {_counted_leads(found)}" for name, found in gaps.items())
    return Claim(
        text,
        Verdict.of([gap.above() for found in gaps.values() for gap in found]),
        f"On {len(UNILABEL)} sets, against the best of the others: {told}.",
        "Experimental evaluation, Table 2",
    )


def _svm_claim(folds: Folds) -> Claim:
    over_mnb, over_all = _leads(folds, SVM, (MNB,)), _leads(folds, SVM, (MNB, *WEIGHTED))
    return Claim(
        "Naive Bayes is not as good as support vector machines (and value weights are to mend that).",
        Verdict.of([gap.above() for gap in over_mnb]),
        f"A linear SVM on tf-idf against MNB on {len(UNILABEL)} sets: {_counted_leads(over_mnb)}; against the best of "
        f"MNB and all readings of MNB-VW: {_counted_leads(over_all)}.",
        "Introduction",
    )


def _converges(steps: Mapping[str, Mapping[str, float]]) -> Claim:
    """The claim that accuracy is flat from ten steps on: close to that after forty."""
    flat = [near(found["10"], found["40"]) and near(found["20"], found["40"]) for found in steps.values()]
    told = "; ".join(f"{data} {', '.join(f'{value:.1f}' for value in found.values())}" for data, found in steps.items())
    return Claim(
        "MNB-VW converges within 10 to 20 iterations in most cases.",
        Verdict.of(flat),
        f"Accuracy after {', '.join(next(iter(steps.values())))} steps of refinement: {told}.",
        "Experimental evaluation",
    )


# ---- mean weights ----------------------------------------------------------------------------------------------------


def weight_claims(found: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]) -> list[Claim]:
    """The claims beside Fig. 2: weights by plain divergence and by kl_split, over bins that occur."""
    others = [data for data in UNILABEL if data != "cnae9"]

    def second_highest(weight: str, data: str) -> bool:
        return int(np.argmax(found[data][weight]["seen"])) == 1

    def falling(weight: str, data: str) -> bool:
        """Whether bins 2 and 3 weigh more than 4 and 5."""
        low, high = found[data][weight]["seen"][1:3], found[data][weight]["seen"][3:5]
        return statistics.fmean(low) > statistics.fmean(high)

    second = {weight: sum(second_highest(weight, data) for data in others) for weight in ("kl", "kl_split", "p_kl")}
    low = {weight: sum(falling(weight, data) for data in others) for weight in ("kl", "kl_split", "p_kl")}
    apart = {weight: not second_highest(weight, "cnae9") for weight in ("kl", "kl_split", "p_kl")}
    every = len(others)
    return [
        Claim(
            "The second bin has the highest mean weight, except on CNAE-9.",
            Verdict.of([count == every for count in second.values()]),
            f"So on {second['kl']} of {every} other sets for the plain divergence, {second['kl_split']} for kl_split, "
            f"{second['p_kl']} for p_kl.",
            "Experimental evaluation, Fig. 2",
        ),
        Claim(
            "Low bins weigh more than high bins.",
            Verdict.of([count == every for count in low.values()]),
            f"Bins 2 and 3 above 4 and 5 on {low['kl']} of {every} sets for the plain divergence, {low['kl_split']} "
            f"for kl_split, {low['p_kl']} for p_kl.",
            "Experimental evaluation, Fig. 2",
        ),
        Claim(
            "CNAE-9 is the opposite, because of abnormally high term frequencies.",
            Verdict.of(list(apart.values())),
            "Of bins that occur, its second is not the highest for "
            f"{', '.join(name for name, it in apart.items() if it) or 'none'}.",
            "Experimental evaluation, Fig. 2",
        ),
    ]


# ---- ranks -----------------------------------------------------------------------------------------------------------


def average_rank_table(runs: Runs, data: Sequence[str]) -> dict[tuple[str, str], dict[str, float]]:
    """The average rank of each strategy by (reading, metric)."""
    return {
        (reading, metric): {
            name: statistics.fmean(found) for name, found in _ranks(runs, data, reading, metric).items()
        }
        for reading in (*READINGS, IN_VIEW)
        for metric in METRICS
    }


def _ranks(runs: Runs, data: Sequence[str], reading: str, metric: str) -> dict[str, list[float]]:
    """The rank of each strategy on each set."""
    table = np.array(
        [
            ranks([runs[reading, one, name][metric] for name in STRATEGIES], greater_is_better=metric == "jaccard")
            for one in data
        ]
    )
    return {name: table[:, column].tolist() for column, name in enumerate(STRATEGIES)}


def rank_gaps(
    runs: Runs, data: Sequence[str], readings: Sequence[str], better: Sequence[str], worse: Sequence[str]
) -> dict[tuple[str, str, str, str], Gap]:
    """By how many ranks some strategies are ahead of others, resampled over data sets; by reading, metric and names."""
    gaps = {}
    for reading in readings:
        for metric in METRICS:
            found = _ranks(runs, data, reading, metric)
            for one in better:
                for two in worse:
                    if one != two:
                        gaps[reading, metric, one, two] = repeat_gap(found[two], found[one])
    return gaps


def friedman(average: Sequence[float], n_sets: int) -> tuple[float, float]:
    """Friedman's χ² of average ranks over N data sets, and its p: 12N/(k(k+1)) (Σ R² − k(k+1)²/4), k − 1 df.

    Source: Demšar 2006, section 3.2.2.

    >>> chi2, p = friedman([1.0, 2.0, 3.0, 4.0], 5)
    >>> round(chi2, 2), round(p, 4)
    (15.0, 0.0018)
    """
    k = len(average)
    chi2 = 12 * n_sets / (k * (k + 1)) * (sum(rank**2 for rank in average) - k * (k + 1) ** 2 / 4)
    return chi2, float(chdtrc(k - 1, max(chi2, 0.0)))


def rank_claims(runs: Runs, data: Sequence[str], table: Ranks) -> list[Claim]:
    """The claims beside Table 4: ranks of four strategies."""
    others = [name for name in STRATEGIES if name != "BR"]
    told = _ranks_told(table)

    def claim(text: str, better: Sequence[str], worse: Sequence[str], shown: Sequence[str], note: str = "") -> Claim:
        gaps, in_view = (rank_gaps(runs, data, readings, better, worse) for readings in (READINGS, [IN_VIEW]))
        return Claim(
            text,
            Verdict.of([gap.above() for gap in gaps.values()]),
            f"{told(shown)} {_decided(gaps)}",
            "Experimental evaluation, Table 4",
            note,
            readings=[
                Reading(
                    NAMED,
                    Verdict.of([gap.above() for gap in in_view.values()]),
                    f"{told(shown, [IN_VIEW])} {_decided(in_view)}",
                )
            ],
        )

    return [
        claim(
            "MNB-VWCO has the best average rank in all three metrics.",
            ["MNB-VWCO"],
            STRATEGIES,
            ["MNB-VWCO"],
            "Giving BR's documents without a label their best one lowers 0/1 loss below that of refined MNB-VWCO on "
            f"{_forced_wins(runs, data)} of {len(data)} sets.",
        ),
        claim("ECC is better than CC.", ["ECC"], ["CC"], ["ECC", "CC"]),
        claim("BR is the worst, since it ignores dependencies between labels.", others, ["BR"], ["BR"]),
        _relative(runs, data, told),
        _significance(table, len(data)),
        _rounds(runs, data),
    ]


def _decided(gaps: Mapping[Any, Gap]) -> str:
    """How many comparisons of ranks hold, are open, and fail, and the closest one with its interval."""
    closest = min(gaps.values(), key=lambda gap: abs(gap.value))
    return f"Comparisons: {_counted_leads(list(gaps.values()))}; the closest {closest.text(1)} ranks."


def _forced_wins(runs: Runs, data: Sequence[str]) -> int:
    """On how many sets BR with a label for every document has less 0/1 loss than co-training."""
    return sum(
        runs["refined", one, "BR"]["forced"]["zero-one-loss"] < runs["refined", one, "MNB-VWCO"]["zero-one-loss"]
        for one in data
    )


def _ranks_told(table: Ranks) -> Callable[..., str]:
    def told(names: Sequence[str], readings: Sequence[str] = READINGS) -> str:
        def row(reading: str, name: str) -> str:
            return "/".join(f"{table[reading, metric][name]:.1f}" for metric in METRICS)

        parts = [f"{name} {', '.join(f'{reading} {row(reading, name)}' for reading in readings)}" for name in names]
        return f"Average ranks (Hamming/0-1/Jaccard): {'; '.join(parts)}."

    return told


def _relative(runs: Runs, data: Sequence[str], told: Callable[..., str]) -> Claim:
    def holds(reading: str) -> list[bool | None]:
        hamming, exact, jaccard = (_ranks(runs, data, reading, metric)["MNB-VWCO"] for metric in METRICS)
        pairs = ((exact, hamming), (jaccard, hamming), (exact, jaccard))
        return [repeat_gap(worse, better).above() for worse, better in pairs]

    return Claim(
        "MNB-VWCO does best in Hamming loss and least well in 0/1 loss.",
        Verdict.of([one for reading in READINGS for one in holds(reading)]),
        told(["MNB-VWCO"]),
        "Experimental evaluation, Table 4",
        "The paper writes that 0/1 loss has the lowest average rank; read as the weakest.",
        [Reading(NAMED, Verdict.of(holds(IN_VIEW)), told(["MNB-VWCO"], [IN_VIEW]))],
    )


def _significance(table: Ranks, n_sets: int) -> Claim:
    """The claim of a significant difference: the paper has no test; what its table could show at best."""
    tests = {pair: friedman(list(found.values()), n_sets) for pair, found in table.items()}

    def told(reading: str) -> str:
        return f"{reading}: " + ", ".join(f"{metric} p = {tests[reading, metric][1]:.2f}" for metric in METRICS)

    def holds(reading: str) -> list[bool | None]:
        ahead = {
            metric: table[reading, metric]["MNB-VWCO"]
            < min(table[reading, metric]["CC"], table[reading, metric]["ECC"])
            for metric in METRICS
        }
        return [ahead[metric] and tests[reading, metric][1] < 0.05 for metric in METRICS]

    return Claim(
        "The result clearly indicates that MNB-VWCO uses dependencies better than CC or ECC.",
        Verdict.of([one for reading in READINGS for one in holds(reading)]),
        f"Friedman's test of equal ranks on {n_sets} sets: {'; '.join(map(told, READINGS))}.",
        "Experimental evaluation",
        "The paper reports no test.",
        [Reading(NAMED, Verdict.of(holds(IN_VIEW)), f"Friedman's test, {told(IN_VIEW)}.")],
    )


def _rounds(runs: Runs, data: Sequence[str]) -> Claim:
    late = {reading: [runs[reading, one, "MNB-VWCO"]["rounds"] for one in data] for reading in READINGS}
    told = "; ".join(
        f"{reading}: median {statistics.median(one['iterations_median'] for one in found):g}, 95 % within "
        f"{max(one['iterations_95'] for one in found):g}, {100 * max(one['cycle_share'] for one in found):.0f} "
        "% of documents in cycles at most"
        for reading, found in late.items()
    )
    return Claim(
        "Co-training reaches its final state within 10 to 15 iterations in most cases.",
        Verdict.of([max(one["iterations_95"] for one in found) <= 15 for found in late.values()]),
        f"Rounds, {told}.",
        "Experimental evaluation",
    )
