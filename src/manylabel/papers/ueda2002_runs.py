"""The experiments of Ueda & Saito 2002: what each run computes, and its figures beside the paper's."""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from manylabel.data import load
from manylabel.data.splits import repeated_random
from manylabel.estimator import Csr, Floats
from manylabel.evaluation.gaps import Gap, repeat_gap, resampled_gap
from manylabel.evaluation.paired_tests import TTest, t_test
from manylabel.exceptions import ManylabelWarning
from manylabel.features import Vectorizer, Weighting
from manylabel.metrics import compute_metrics
from manylabel.models.base import MultiLabelModel
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.knn import NearestNeighbours
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.neural import NeuralNetwork
from manylabel.models.pmm1 import PMM1
from manylabel.models.pmm2 import PMM2
from manylabel.models.score_kinds import Bools, best_label, natural_decisions
from manylabel.models.tuned_svm import TunedSVM, usual_cost
from manylabel.papers.jobs import Plan

METHODS = ("NB", "SVM", "kNN", "NN", "PMM1", "PMM2")
MIXTURES = ("PMM1", "PMM2")
PROBLEMS = ("arts", "business", "education", "health", "reference", "science")
REUTERS = "reuters"
SIZES = (2000, 500)
TESTED = 3000
NEIGHBOURS = (1, 3, 5, 10, 20)
VOTERS = 5
"""How many neighbours vote in the paper's table."""
SHARED = 10
"""How many neighbours vote where a label needs half of them."""
COSTS = (0.3, 1.0, 3.0)
"""What C may be, in units of SVM-light's default."""
FACTORS = (2.0, 5.0)
"""What J may be; without it, the paper says, SVMs do poorly."""
DECAY = 0.1
QUICK_EPOCHS = 12


def run(method: str, problem: str, size: int, draw: int, plan: Plan) -> dict[str, Any]:
    """One method on one draw: sample-averaged F in percent by the paper's rules and with a label for every document.

    "unforced" leaves a document without a label where the method gives none, "empty" is the share of these; "forced"
    gives them their best label. A mixture always gives a label.
    """
    X, Y, X_test, Y_test = drawn(problem, size, draw, plan.seed)
    with warnings.catch_warnings():
        # a pair (C, J) that does not settle is passed over, a network is stopped on purpose, labels may lack documents
        warnings.simplefilter("ignore", ManylabelWarning)
        if method in MIXTURES:
            found = 100 * _f1(Y_test, Csr(_mixture(method, plan).fit(X, Y).predict(X_test)))
            return {"unforced": found, "forced": found, "empty": 0.0}
        if method == "kNN":
            return _neighbours(X, Y, X_test, Y_test, plan)
        model, weighting = _baseline(method, X, plan)
        if weighting is not None:
            X, X_test = weighting.fit_transform(X), weighting.transform(X_test)
        scores = model.fit(X, Y).scores(X_test)
    return measured(Y_test, scores, natural_decisions(scores, model.score_kind))


def measured(Y_test: Csr, scores: Floats, chosen: Bools) -> dict[str, Any]:
    """F of some decisions in percent, as they are and with the best label where there is none."""
    empty = ~chosen.any(axis=1)
    forced = chosen.copy()
    forced[empty] = best_label(scores[empty])
    return {
        "unforced": 100 * _f1(Y_test, _sets(chosen)),
        "forced": 100 * _f1(Y_test, _sets(forced)),
        "empty": 100 * float(empty.mean()),
    }


def _mixture(method: str, plan: Plan) -> MultiLabelModel:
    return (PMM1 if method == "PMM1" else PMM2)(n_jobs=plan.n_jobs)


def _baseline(method: str, X: Csr, plan: Plan) -> tuple[MultiLabelModel, Weighting | None]:
    """A baseline of section 4.1, and how it wants its documents; a quick plan neither tunes nor trains to the end."""
    if method == "NB":
        return BinaryNaiveBayes(smoothing="laplace", unlabelled="negative"), None
    if method == "SVM":
        shares = Weighting(tf="raw", idf="none", norm="l1")
        machine = LinearSVM(tol=0.03, max_iter=300, seed=plan.seed, n_jobs=plan.n_jobs)
        if plan.quick:
            return machine.set_params(C=usual_cost(shares.fit_transform(X)), J=2.0), shares
        tuned = TunedSVM(machine, COSTS, FACTORS, validation=0.3, forced=False, metric="sample-f1")
        return tuned, shares
    epochs = QUICK_EPOCHS if plan.quick else 200
    network = NeuralNetwork(decay=DECAY, validation=0, max_epochs=epochs, seed=plan.seed)
    return network, Weighting(tf="raw", idf="none", norm="l2")


def _neighbours(X: Csr, Y: Csr, X_test: Csr, Y_test: Csr, plan: Plan) -> dict[str, Any]:
    """The label that most of k neighbours have, and the labels of half of them, for several k."""
    votes, halves, forced, empty = {}, {}, {}, {}
    for k in NEIGHBOURS:
        scores = NearestNeighbours(k, n_jobs=plan.n_jobs).fit(X, Y).scores(X_test)
        votes[str(k)] = 100 * _f1(Y_test, _sets(best_label(scores)))
        found = measured(Y_test, scores, np.asarray(scores >= 0.5))
        halves[str(k)], forced[str(k)], empty[str(k)] = found["unforced"], found["forced"], found["empty"]
    return {
        "unforced": votes[str(VOTERS)],
        "forced": forced[str(SHARED)],
        "empty": 0.0,
        "readings": {"votes": votes, "halves": halves, "forced": forced, "left": empty},
    }


def compare_times(plan: Plan) -> dict[str, bool]:
    """Whether the neighbours and the network take longer than PMM1 to learn and to predict.

    Seconds differ from run to run, and what is printed must not; so only clear differences are told.
    """
    X, Y, X_test, _ = drawn("business", SIZES[0], 0, plan.seed)
    shares = Weighting(tf="raw", idf="none", norm="l2").fit(X)
    short, short_test = shares.transform(X), shares.transform(X_test)

    def seconds(model: MultiLabelModel, train: Csr, test: Csr) -> float:
        began = time.process_time()
        model.fit(train, Y).predict(test)
        return time.process_time() - began

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ManylabelWarning)
        mixture = seconds(PMM1(n_jobs=1), X, X_test)
        neighbours = seconds(NearestNeighbours(SHARED, n_jobs=1), X, X_test)
        network = seconds(
            NeuralNetwork(decay=DECAY, validation=0, max_epochs=QUICK_EPOCHS if plan.quick else 200), short, short_test
        )
    return {"kNN": neighbours > mixture, "NN": network > mixture}


# ---- documents -------------------------------------------------------------------------------------------------------


def drawn(problem: str, size: int, draw: int, seed: int) -> tuple[Csr, Csr, Csr, Csr]:
    """Counts and labels of the training and test documents of one draw.

    A Yahoo problem keeps its whole vocabulary, the paper's V; of Reuters only the words of the training documents.
    """
    X, Y = documents(problem)
    tested = None if problem == REUTERS else TESTED
    train, test = repeated_random(X.shape[0], size, tested, draw + 1, seed)[draw]
    left, right = Csr(X[train]), Csr(X[test])
    if problem == REUTERS:
        words = np.flatnonzero(np.bincount(left.indices, minlength=X.shape[1]))
        left, right = Csr(left[:, words]), Csr(right[:, words])
    return left, Csr(Y[train]), right, Csr(Y[test])


@lru_cache(maxsize=2)
def documents(problem: str) -> tuple[Csr, Csr]:
    """All documents of a problem, as counts over its whole vocabulary, and their labels."""
    if problem != REUTERS:
        corpus = load(f"yahoo-{problem}").corpus
        assert corpus.counts is not None
        return Csr(corpus.counts.astype(np.float64)), corpus.label_matrix()
    corpus = load("reuters21578").corpus
    parts = corpus.split_names or ()
    sets = corpus.label_sets
    corpus = corpus.subset([row for row, part in enumerate(parts) if part in ("train", "test") and sets[row]])
    names = sorted({name for labels in corpus.label_sets for name in labels})
    X = Vectorizer(tokens="letters").fit_transform(corpus.texts).astype(np.float64)
    return Csr(X), corpus.label_matrix(names)


def _f1(Y_test: Csr, S: Csr) -> float:
    return compute_metrics(Y_test, S, ["sample-f1"])["sample-f1"]


def _sets(chosen: Bools) -> Csr:
    return Csr(chosen.astype(np.int8))


RULES = {"unforced": "paper's rules", "forced": "all forced"}
TABLES = {2000: "table1", 500: "table2"}


@dataclass(frozen=True, slots=True)
class Results:
    """Outcomes of all draws by (problem, size, method), beside the printed tables."""

    found: Mapping[tuple[str, int, str], Sequence[Mapping[str, Any]]]
    printed: Mapping[str, Any]

    def values(self, problem: str, size: int, method: str, what: str) -> list[float]:
        """One value per draw."""
        return [float(outcome[what]) for outcome in self.found[problem, size, method]]

    def score(self, problem: str, size: int, method: str, rule: str) -> float:
        """The mean over draws."""
        return statistics.fmean(self.values(problem, size, method, rule))

    def mean_by_draw(self, size: int, method: str, what: str) -> list[float]:
        """The mean over the six problems, draw by draw."""
        by_problem = [self.values(problem, size, method, what) for problem in PROBLEMS]
        return [statistics.fmean(column) for column in zip(*by_problem, strict=True)]

    def mean(self, size: int, method: str, what: str) -> float:
        """The mean over problems and draws."""
        return statistics.fmean(self.mean_by_draw(size, method, what))

    def reading(self, size: int, reading: str, k: int) -> float:
        """The mean over problems and draws of another way to let neighbours vote."""
        drawn = [outcome for problem in PROBLEMS for outcome in self.found[problem, size, "kNN"]]
        return statistics.fmean(float(outcome["readings"][reading][str(k)]) for outcome in drawn)

    # --- the paper's ------------------------------------------------------------------------------------------

    def paper(self, problem: str, size: int, method: str) -> tuple[float, float]:
        """The paper's mean and standard deviation."""
        table, column = self.printed[TABLES[size]], self.printed["problems"].index(problem)
        return table["mean"][method][column], table["sd"][method][column]

    def paper_score(self, problem: str, size: int, method: str) -> float:
        """The paper's mean."""
        return self.paper(problem, size, method)[0]

    def paper_mean(self, size: int, method: str) -> float:
        """The mean of the paper's figures over the six problems at hand."""
        return statistics.fmean(self.paper_score(problem, size, method) for problem in PROBLEMS)

    # --- comparing --------------------------------------------------------------------------------------------

    def wins(self, size: int, rule: str) -> dict[str, int]:
        """On how many problems each method is best."""
        return _wins(lambda problem, method: self.score(problem, size, method, rule))

    def paper_wins(self, size: int) -> dict[str, int]:
        """On how many problems each method is best in the paper's table."""
        return _wins(lambda problem, method: self.paper_score(problem, size, method))

    def better(self, size: int, first: str, second: str, rule: str) -> int:
        """On how many problems the first method has the higher mean."""
        return sum(
            self.score(problem, size, first, rule) > self.score(problem, size, second, rule) for problem in PROBLEMS
        )

    def gap(self, size: int, first: str, second: str, rule: str) -> Gap:
        """The lead of the first method in the mean of the six problems, resampled over draws."""
        return repeat_gap(self.mean_by_draw(size, first, rule), self.mean_by_draw(size, second, rule))

    def problem_gap(self, problem: str, size: int, first: str, second: str, rule: str) -> Gap:
        """The lead of the first method on one problem, resampled over draws."""
        return repeat_gap(self.values(problem, size, first, rule), self.values(problem, size, second, rule))

    def best_gap(self, size: int, firsts: Sequence[str], rule: str) -> Gap:
        """On how many more problems one of some methods is best than any other method, resampled over draws."""
        runs = min(len(self.values(problem, size, method, rule)) for problem in PROBLEMS for method in METHODS)
        table = np.array(
            [[self.values(problem, size, method, rule)[:runs] for method in METHODS] for problem in PROBLEMS]
        )
        among = np.isin(METHODS, firsts)

        def lead(weights: Floats) -> Floats:
            best = np.einsum("pmd,bd->bpm", table, weights).argmax(axis=2)
            wins = (best[:, :, np.newaxis] == np.arange(len(METHODS))).sum(axis=1)
            return np.asarray(wins[:, among].max(axis=1) - wins[:, ~among].max(axis=1), dtype=np.float64)

        return resampled_gap(lead, runs)

    def off(self, size: int, method: str) -> dict[str, float]:
        """Our value minus the paper's on each problem."""
        return {
            problem: self.score(problem, size, method, "unforced") - self.paper_score(problem, size, method)
            for problem in PROBLEMS
        }

    def mean_off(self, size: int, method: str) -> float:
        """Our mean minus the paper's."""
        return self.mean(size, method, "unforced") - self.paper_mean(size, method)

    def test(self, problem: str, size: int, first: str, second: str, rule: str) -> TTest | None:
        """The paired t-test of first > second over the draws both were run on; none with fewer than two."""
        one, two = (self.values(problem, size, method, rule) for method in (first, second))
        runs = min(len(one), len(two))
        return t_test(one[:runs], two[:runs], paired=True) if runs > 1 else None

    def significant(self, size: int, first: str, second: str, rule: str) -> list[str] | None:
        """The problems on which the first method is significantly better; None where draws are too few to tell."""
        tests = {problem: self.test(problem, size, first, second, rule) for problem in PROBLEMS}
        if any(test is None for test in tests.values()):
            return None
        return [problem for problem, test in tests.items() if test is not None and test.significant]


def _wins(score: Any) -> dict[str, int]:
    wins = dict.fromkeys(METHODS, 0)
    for problem in PROBLEMS:
        wins[max(METHODS, key=lambda method: score(problem, method))] += 1
    return wins
