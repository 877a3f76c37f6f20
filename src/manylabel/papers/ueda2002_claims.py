"""What Ueda & Saito 2002 claim, and whether it holds."""

from __future__ import annotations

from collections.abc import Mapping

from manylabel.evaluation.findings import Claim, Verdict
from manylabel.papers.ueda2002_runs import METHODS, MIXTURES, PROBLEMS, REUTERS, SIZES, Results

LARGE, SMALL = SIZES
RULE_NAMES = ("unforced", "forced")
NEAR = 2.0
"""Points within which a figure is the paper's."""
FORCING = (
    "The baselines may leave a document without a label, the mixtures never do: much of their lead is that rule, not "
    "the model."
)


def table_claims(results: Results, times: Mapping[str, bool]) -> list[Claim]:
    """Section 4.2 and the abstract, and the tables themselves."""
    return [
        *_figures(results),
        _best(results),
        _svm_over_nb(results),
        _mixtures_over_svm(results),
        _binary(results),
        _knn_and_nb(results),
        _knn_and_svm(results),
        _mixtures_over_knn(results),
        _network(results),
        _first_over_second(results),
        _level_with_few(results),
        _few_documents(results),
        _times(times),
    ]


# ---- the tables ------------------------------------------------------------------------------------------------------


def _figures(results: Results) -> list[Claim]:
    """The printed figures: the mixtures problem by problem, the others in the mean."""

    def each(method: str, sizes: tuple[int, ...]) -> Claim:
        off = {(size, problem): off for size in sizes for problem, off in results.off(size, method).items()}
        (size, problem), farthest = max(off.items(), key=lambda one: abs(one[1]))
        near = [abs(one) <= NEAR for one in off.values()]
        return Claim(
            f"{method}: the figures of {'both tables' if len(sizes) > 1 else 'Table 1'}.",
            Verdict.of(near),
            f"{sum(near)} of {len(near)} within {NEAR:g} points; farthest: {problem} at {size:,}, {farthest:+.1f}. "
            + _means(results, method, sizes),
            "Tables 1 and 2" if len(sizes) > 1 else "Table 1",
        )

    def mean(method: str, reason: str = "") -> Claim:
        near = [abs(results.mean_off(size, method)) <= NEAR for size in SIZES]
        return Claim(
            f"{method}: the figures of both tables, in the mean of six problems.",
            Verdict.of(near),
            _means(results, method, SIZES),
            "Tables 1 and 2",
            "" if all(near) else reason,
        )

    return [
        each("PMM1", SIZES),
        each("PMM2", (LARGE,)),
        mean("NB"),
        mean("kNN", "k and the vote are not given."),
        mean("SVM", "How C and J were tuned is not told, and small training sets react strongly to it."),
        mean("NN", "Regularisation, activation and training are not given, and they decide how many get no label."),
    ]


def _means(results: Results, method: str, sizes: tuple[int, ...]) -> str:
    parts = [
        f"{results.mean(size, method, 'unforced'):.1f} [{results.paper_mean(size, method):.1f}] at {size:,}"
        for size in sizes
    ]
    return f"Mean {', '.join(parts)}."


def _both(results: Results, first: str, second: str, size: int) -> str:
    """Means of two methods, by the paper's rules and forced."""
    one, two = (
        "/".join(f"{results.mean(size, method, rule):.1f}" for rule in ("unforced", "forced"))
        for method in (first, second)
    )
    return f"{first} {one}, {second} {two} at {size:,}"


# ---- the text --------------------------------------------------------------------------------------------------------


def _best(results: Results) -> Claim:
    wins = {rule: [results.wins(size, rule) for size in SIZES] for rule in ("unforced", "forced")}

    def most(rule: str) -> bool:
        """Whether no other method is best on more problems than a mixture, at either size."""
        return all(
            max(one[method] for method in MIXTURES) >= max(one[method] for method in METHODS) for one in wins[rule]
        )

    def told(rule: str) -> str:
        return " and ".join(f"{sum(one[method] for method in MIXTURES)}" for one in wins[rule])

    paper = " and ".join(str(sum(results.paper_wins(size)[method] for method in MIXTURES)) for size in SIZES)
    return Claim(
        "The mixtures are best on most problems.",
        Verdict.of([most("unforced"), most("forced")]),
        f"By the paper's rules a mixture is best on {told('unforced')} of 6 problems at 2,000 and 500 documents "
        f"(paper {paper}); with a label for every document on {told('forced')}.",
        "Tables 1 and 2",
        FORCING,
    )


def _svm_over_nb(results: Results) -> Claim:
    return Claim(
        "Tuned SVMs are rather better than NB.",
        Verdict.of([results.mean(size, "SVM", "unforced") > results.mean(size, "NB", "unforced") for size in SIZES]),
        f"By the paper's rules/forced: {'; '.join(_both(results, 'SVM', 'NB', size) for size in SIZES)}.",
        "section 4.2",
    )


def _mixtures_over_svm(results: Results) -> Claim:
    counts = {
        (rule, size): results.better(size, "PMM1", "SVM", rule) for rule in ("unforced", "forced") for size in SIZES
    }
    return Claim(
        "SVMs are inferior to the mixtures on almost all problems.",
        Verdict.of([count >= len(PROBLEMS) - 1 for count in counts.values()]),
        f"PMM1 is better than SVM on {counts['unforced', LARGE]} and {counts['unforced', SMALL]} of 6 problems by the "
        f"paper's rules, on {counts['forced', LARGE]} and {counts['forced', SMALL]} with a label for every document. "
        f"{'; '.join(_both(results, 'PMM1', 'SVM', size) for size in SIZES)}.",
        "section 4.2",
        FORCING,
    )


def _binary(results: Results) -> Claim:
    """The abstract: the mixtures significantly outperform the binary methods, NB and SVM."""
    told, holds = [], []
    for rule, name in (("unforced", "by the paper's rules"), ("forced", "forced")):
        for method in ("NB", "SVM"):
            found = [results.significant(size, "PMM1", method, rule) for size in SIZES]
            if None in found:
                continue
            counts = [len(one or ()) for one in found]
            holds.append(min(counts) > len(PROBLEMS) / 2)
            told.append(f"over {method} {name} on {counts[0]} and {counts[1]}")
    return Claim(
        "The mixtures significantly outperform the conventional binary methods.",
        Verdict.of(holds) if holds else Verdict.NOT_TESTED,
        f"PMM1 is significantly better (paired t-test over draws, 5 %) {'; '.join(told)} of 6 problems."
        if told
        else "One draw tells nothing of significance.",
        "abstract",
        FORCING if not all(holds) else "",
    )


def _knn_and_nb(results: Results) -> Claim:
    apart = results.mean(LARGE, "kNN", "unforced") - results.mean(LARGE, "NB", "unforced")
    return Claim(
        "With 2,000 documents kNN is comparable to NB.",
        Verdict.of([abs(apart) <= NEAR]),
        f"{_both(results, 'kNN', 'NB', LARGE)} (by the paper's rules/forced).",
        "section 4.2",
    )


def _knn_and_svm(results: Results) -> Claim:
    lead = results.mean(SMALL, "kNN", "unforced") - results.mean(SMALL, "SVM", "unforced")
    holds = lead >= -1
    return Claim(
        "With 500 documents kNN is similar to SVM or slightly better.",
        Verdict.of([holds]),
        f"{_both(results, 'kNN', 'SVM', SMALL)} (by the paper's rules/forced).",
        "section 4.2",
        "" if holds else "Our machines are stronger than the paper's with few documents.",
    )


def _mixtures_over_knn(results: Results) -> Claim:
    told, holds = [], []
    for mixture in MIXTURES:
        for size in SIZES:
            found = results.significant(size, mixture, "kNN", "unforced")
            if found is not None:
                holds += [problem in found for problem in PROBLEMS]
                told.append(f"{mixture} at {size:,} on {len(found)}")
    return Claim(
        "In both cases the mixtures significantly outperform kNN.",
        Verdict.of(holds) if holds else Verdict.NOT_TESTED,
        f"Significant (paired t-test over draws, 5 %): {', '.join(told)} of 6 problems."
        if told
        else "One draw tells nothing of significance.",
        "section 4.2",
        ""
        if all(holds)
        else "In the paper, too, kNN is ahead on business: 78.4 and 75.6 against 75.5 and 75.2 of PMM1.",
    )


def _network(results: Results) -> Claim:
    below = [results.mean(size, "NN", rule) < results.mean(size, "PMM1", rule) for rule in RULE_NAMES for size in SIZES]
    return Claim(
        "A well regularised NN is fair, but below PMM1: flexible discrimination is not necessary.",
        Verdict.of(below),
        f"By the paper's rules/forced: {'; '.join(_both(results, 'NN', 'PMM1', size) for size in SIZES)}.",
        "section 4.2",
        "" if all(below) else FORCING,
    )


def _first_over_second(results: Results) -> Claim:
    lead = [results.mean(size, "PMM1", "unforced") - results.mean(size, "PMM2", "unforced") for size in SIZES]
    draws = [_draws_won(results, size) for size in SIZES]
    paper = [results.paper_mean(size, "PMM1") - results.paper_mean(size, "PMM2") for size in SIZES]
    return Claim(
        "PMM1 is better than PMM2: fixed equal shares suffice.",
        Verdict.of([one > 0 and 2 * won > run for one, (won, run) in zip(lead, draws, strict=True)]),
        f"PMM1 leads by {lead[0]:.1f} points at 2,000 ({draws[0][0]} of {draws[0][1]} draws) and {lead[1]:.1f} at 500 "
        f"({draws[1][0]} of {draws[1][1]}); paper {paper[0]:.1f} and {paper[1]:.1f}, where each wins half of Table 2.",
        "section 4.2",
    )


def _level_with_few(results: Results) -> Claim:
    """Table 2, where each of both mixtures is best on five problems."""
    lead = results.mean(SMALL, "PMM1", "unforced") - results.mean(SMALL, "PMM2", "unforced")
    ahead = results.better(SMALL, "PMM2", "PMM1", "unforced")
    return Claim(
        "With 500 documents PMM2 is level with PMM1.",
        Verdict.of([abs(lead) <= 1]),
        f"PMM2 is better on {ahead} of 6 problems, {abs(lead):.1f} points {'below' if lead > 0 else 'above'} PMM1 in "
        "the mean.",
        "Table 2",
    )


def _draws_won(results: Results, size: int) -> tuple[int, int]:
    pairs = [
        (one, two)
        for problem in PROBLEMS
        for one, two in zip(
            results.values(problem, size, "PMM1", "unforced"),
            results.values(problem, size, "PMM2", "unforced"),
            strict=True,
        )
    ]
    return sum(one > two for one, two in pairs), len(pairs)


def _few_documents(results: Results) -> Claim:
    """Not a sentence of the paper but what its two tables say together."""

    def lead(size: int, rule: str) -> float:
        return results.mean(size, "PMM1", rule) - results.mean(size, "SVM", rule)

    return Claim(
        "The fewer the documents, the greater the lead of the mixtures over SVM.",
        Verdict.of([lead(SMALL, rule) > lead(LARGE, rule) for rule in RULE_NAMES]),
        f"PMM1 less SVM: {lead(LARGE, 'unforced'):+.1f} points at 2,000 and {lead(SMALL, 'unforced'):+.1f} at 500 by "
        f"the paper's rules (paper {results.paper_mean(LARGE, 'PMM1') - results.paper_mean(LARGE, 'SVM'):+.1f} and "
        f"{results.paper_mean(SMALL, 'PMM1') - results.paper_mean(SMALL, 'SVM'):+.1f}); forced "
        f"{lead(LARGE, 'forced'):+.1f} and {lead(SMALL, 'forced'):+.1f}.",
        "Tables 1 and 2 together",
    )


def _times(times: Mapping[str, bool]) -> Claim:
    slower = [f"{name} takes {'longer' if times[name] else 'less'}" for name in ("kNN", "NN")]
    return Claim(
        "The mixtures are much faster than kNN and NN.",
        Verdict.of([times["kNN"], times["NN"]]),
        f"Learning 2,000 and answering 3,000 pages of business, one core, against PMM1: {' and '.join(slower)}.",
        "section 4.2",
        "" if times["kNN"] else "Neighbours are found by an inverted index, which touches only pages that share words.",
    )


# ---- Reuters ---------------------------------------------------------------------------------------------------------


def reuters_claims(results: Results) -> list[Claim]:
    """Whether the main claim carries over."""
    holds, told = [], []
    for rule, name in (("unforced", "by the paper's rules"), ("forced", "forced")):
        for size in SIZES:
            mixture = results.score(REUTERS, size, "PMM1", rule)
            rivals = {method: results.score(REUTERS, size, method, rule) for method in ("NB", "SVM")}
            best = max(rivals, key=lambda method: rivals[method])
            holds.append(mixture > rivals[best])
            told.append(f"PMM1 {mixture:.1f}, {best} {rivals[best]:.1f} at {size:,} {name}")
    return [
        Claim(
            "The mixtures outperform the binary methods (claimed of Web pages; here on news).",
            Verdict.of(holds),
            f"{'; '.join(told)}.",
            "abstract",
            "Five of six news items have one label: there is little to mix.",
        )
    ]
