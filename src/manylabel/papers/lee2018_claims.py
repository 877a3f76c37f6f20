"""What Lee 2018 claims, and whether it holds."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import chdtrc

from manylabel.evaluation.findings import Claim, Verdict
from manylabel.evaluation.paired_tests import t_test
from manylabel.evaluation.rank_tests import average_ranks
from manylabel.papers.lee2018_runs import (
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
LEARNED = "The authors probably learned their weights: only the refined readings do what the text says."


def _count(folds: Folds, first: str, others: Sequence[str]) -> int:
    """On how many sets the first method is better than all others."""

    def mean(data: str, method: str) -> float:
        return statistics.fmean(fold[method] for fold in folds[data])

    return sum(mean(data, first) > max(mean(data, other) for other in others) for data in UNILABEL)


# ---- one label a document --------------------------------------------------------------------------------------------


def accuracy_claims(folds: Folds, steps: Mapping[str, Mapping[str, float]]) -> list[Claim]:
    """The claims beside Table 2: accuracy on single-label data."""
    best = {name: _count(folds, method, (NB, NB_BINS, MNB)) for method, name in WEIGHTED.items()}
    over_nb = {name: _count(folds, method, (NB, NB_BINS)) for method, name in WEIGHTED.items()}
    better = {name: _significant(folds, method, MNB) for method, name in WEIGHTED.items()}
    all_sets = len(UNILABEL)
    return [
        Claim(
            "MNB-VW is the best of NB, MNB and MNB-VW in all cases.",
            Verdict.of([count == all_sets for count in best.values()]),
            f"Best on so many of {all_sets} sets: {_told(best)}.",
            "Experimental evaluation, Table 2",
            LEARNED,
        ),
        Claim(
            "MNB-VW is always better than NB.",
            Verdict.of([count == all_sets for count in over_nb.values()]),
            f"Better than both forms of NB on so many of {all_sets} sets: {_told(over_nb)}.",
            "Experimental evaluation, Table 2",
        ),
        Claim(
            "Weights for frequency bins clearly improve naive Bayes.",
            Verdict.of([count > all_sets / 2 for count in better.values()]),
            f"Significantly above MNB (paired t-test over folds, 5 %) on so many of {all_sets} sets: {_told(better)}.",
            "Experimental evaluation, Table 2",
        ),
        _svm_claim(folds),
        _converges(steps),
    ]


def _told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _significant(folds: Folds, first: str, second: str) -> int:
    return sum(
        t_test([fold[first] for fold in folds[data]], [fold[second] for fold in folds[data]], paired=True).significant
        for data in UNILABEL
    )


def _svm_claim(folds: Folds) -> Claim:
    ahead, over_mnb = _count(folds, SVM, (MNB, *WEIGHTED)), _count(folds, SVM, (MNB,))
    return Claim(
        "Naive Bayes is not as good as support vector machines (and value weights are to mend that).",
        Verdict.of([over_mnb == len(UNILABEL)]),
        f"A linear SVM on tf-idf beats MNB on {over_mnb} of {len(UNILABEL)} sets, and every reading of MNB-VW too on "
        f"{ahead}.",
        "Introduction",
    )


def _converges(steps: Mapping[str, Mapping[str, float]]) -> Claim:
    """Flat from ten steps on: within a point of where forty lead."""
    flat = [abs(found["10"] - found["40"]) <= 1 and abs(found["20"] - found["40"]) <= 1 for found in steps.values()]
    told = "; ".join(f"{data} {', '.join(f'{value:.1f}' for value in found.values())}" for data, found in steps.items())
    return Claim(
        "MNB-VW converges within 10 to 20 iterations in most cases.",
        Verdict.of(flat),
        f"Accuracy after {', '.join(next(iter(steps.values())))} steps of refinement: {told}.",
        "Experimental evaluation",
        "Weights in closed form have nothing to iterate.",
    )


# ---- mean weights ----------------------------------------------------------------------------------------------------


def weight_claims(found: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]) -> list[Claim]:
    """Fig. 2, of the plain divergence and of kl_split, over bins that occur."""
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
    rises = (
        "The plain divergence of rare bins is large because they are rare; the authors must have smoothed or corrected."
    )
    return [
        Claim(
            "The second bin has the highest mean weight, except on CNAE-9.",
            Verdict.of([count == every for count in second.values()]),
            f"So on {second['kl']} of {every} other sets for the plain divergence, {second['kl_split']} for kl_split, "
            f"{second['p_kl']} for p_kl.",
            "Experimental evaluation, Fig. 2",
            rises,
        ),
        Claim(
            "Low bins weigh more than high bins.",
            Verdict.of([count == every for count in low.values()]),
            f"Bins 2 and 3 above 4 and 5 on {low['kl']} of {every} sets for the plain divergence, {low['kl_split']} "
            f"for kl_split, {low['p_kl']} for p_kl.",
            "Experimental evaluation, Fig. 2",
            rises,
        ),
        Claim(
            "CNAE-9 is the opposite, because of abnormally high term frequencies.",
            Verdict.of(list(apart.values())),
            "Of bins that occur, its second is not the highest for "
            f"{', '.join(name for name, it in apart.items() if it) or 'none'}.",
            "Experimental evaluation, Fig. 2",
            "CNAE-9 is short, sparse text; few of its words ever fall between the lowest and the highest bin.",
        ),
    ]


# ---- ranks -----------------------------------------------------------------------------------------------------------


def average_rank_table(runs: Runs, data: Sequence[str]) -> dict[tuple[str, str], dict[str, float]]:
    """The average rank of each strategy by (reading, metric)."""
    found = {}
    for reading in READINGS:
        for metric in METRICS:
            table = [[runs[reading, one, name][metric] for name in STRATEGIES] for one in data]
            means = average_ranks(table, greater_is_better=metric == "jaccard")
            found[reading, metric] = dict(zip(STRATEGIES, means.tolist(), strict=True))
    return found


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


def rank_claims(runs: Runs, data: Sequence[str], ranks: Ranks) -> list[Claim]:
    """The claims beside Table 4: ranks of four strategies."""
    pairs = [(reading, metric) for reading in READINGS for metric in METRICS]
    told = _ranks_told(ranks)
    gain = (
        "Giving BR's documents without a label their best one lowers 0/1 loss below that of refined MNB-VWCO on "
        f"{_forced_wins(runs, data)} of {len(data)} sets, without any dependency between labels."
    )
    co = [ranks[pair]["MNB-VWCO"] == min(ranks[pair].values()) for pair in pairs]
    ecc = [ranks[pair]["ECC"] < ranks[pair]["CC"] for pair in pairs]
    worst = [ranks[pair]["BR"] == max(ranks[pair].values()) for pair in pairs]
    of = "of 6 (3 metrics × 2 readings)"
    return [
        Claim(
            "MNB-VWCO has the best average rank in all three metrics.",
            Verdict.of(co),
            f"In {sum(co)} {of}. {told('MNB-VWCO')}",
            "Experimental evaluation, Table 4",
            "" if all(co) else gain,
        ),
        Claim(
            "ECC is better than CC.",
            Verdict.of(ecc),
            f"In {sum(ecc)} {of}. {told('ECC')} {told('CC')}",
            "Experimental evaluation, Table 4",
        ),
        Claim(
            "BR is the worst, since it ignores dependencies between labels.",
            Verdict.of(worst),
            f"In {sum(worst)} {of}. {told('BR')}",
            "Experimental evaluation, Table 4",
            "" if all(worst) else "Labels given wrongly mislead those that look at them; BR hands no errors on.",
        ),
        _relative(ranks, told),
        _significance(ranks, len(data)),
        _rounds(runs, data),
    ]


def _forced_wins(runs: Runs, data: Sequence[str]) -> int:
    """On how many sets BR with a label for every document has less 0/1 loss than co-training."""
    return sum(
        runs["refined", one, "BR"]["forced"]["zero-one-loss"] < runs["refined", one, "MNB-VWCO"]["zero-one-loss"]
        for one in data
    )


def _ranks_told(ranks: Ranks) -> Any:
    def told(name: str) -> str:
        parts = [
            f"{reading} {'/'.join(f'{ranks[reading, metric][name]:.1f}' for metric in METRICS)}" for reading in READINGS
        ]
        return f"Ranks of {name} (Hamming/0-1/Jaccard): {', '.join(parts)}."

    return told


def _relative(ranks: Ranks, told: Any) -> Claim:
    holds = []
    for reading in READINGS:
        hamming, exact, jaccard = (ranks[reading, metric]["MNB-VWCO"] for metric in METRICS)
        holds += [hamming <= min(exact, jaccard), exact >= max(hamming, jaccard)]
    return Claim(
        "MNB-VWCO does best in Hamming loss and least well in 0/1 loss.",
        Verdict.of(holds),
        told("MNB-VWCO"),
        "Experimental evaluation, Table 4",
        "The paper writes that 0/1 loss has the lowest average rank; read as the weakest.",
    )


def _significance(ranks: Ranks, n_sets: int) -> Claim:
    """The paper tests nothing; what its table could show at best."""
    tests = {pair: friedman(list(found.values()), n_sets) for pair, found in ranks.items()}
    told = "; ".join(
        f"{reading}: " + ", ".join(f"{metric} p = {tests[reading, metric][1]:.2f}" for metric in METRICS)
        for reading in READINGS
    )
    return Claim(
        "The result clearly indicates that MNB-VWCO uses dependencies better than CC or ECC.",
        Verdict.of(
            [
                p < 0.05 and ranks[pair]["MNB-VWCO"] < min(ranks[pair]["CC"], ranks[pair]["ECC"])
                for pair, (_, p) in tests.items()
            ]
        ),
        f"Friedman's test of equal ranks on {n_sets} sets: {told}.",
        "Experimental evaluation",
        "The paper reports no test; ranks over five sets tell little.",
    )


def _rounds(runs: Runs, data: Sequence[str]) -> Claim:
    late = {reading: [runs[reading, one, "MNB-VWCO"]["rounds"] for one in data] for reading in READINGS}
    told = "; ".join(
        f"{reading}: {statistics.median(one['iterations_median'] for one in found):g} rounds in the median, 95 % "
        f"within {max(one['iterations_95'] for one in found):g}, {100 * max(one['cycle_share'] for one in found):.0f} "
        "% of documents in cycles at most"
        for reading, found in late.items()
    )
    return Claim(
        "Co-training reaches its final state within 10 to 15 iterations in most cases.",
        Verdict.of([max(one["iterations_95"] for one in found) <= 15 for found in late.values()]),
        f"{told[0].upper()}{told[1:]}.",
        "Experimental evaluation",
    )
