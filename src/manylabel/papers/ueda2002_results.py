"""Figures of Ueda & Saito 2002, ours and the paper's, by problem, training size and method."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manylabel.evaluation.significance import TTest, t_test
from manylabel.papers.ueda2002_runs import METHODS, PROBLEMS

RULES = {"unforced": "paper's rules", "forced": "all forced"}
TABLES = {2000: "table1", 500: "table2"}


@dataclass(frozen=True, slots=True)
class Results:
    """Outcomes of all draws by (problem, size, method), beside the printed tables."""

    found: Mapping[tuple[str, int, str], Sequence[Mapping[str, Any]]]
    printed: Mapping[str, Any]

    def values(self, problem: str, size: int, method: str, what: str) -> list[float]:
        """One figure of every draw."""
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

    def paper(
        self, problem: str, size: int, method: str, table: Mapping[str, Any] | None = None
    ) -> tuple[float, float] | tuple[None, None]:
        """The paper's mean and standard deviation out of one of its tables; nothing without a table."""
        if table is None:
            return None, None
        column = self.printed["problems"].index(problem)
        return table["mean"][method][column], table["sd"][method][column]

    def paper_score(self, problem: str, size: int, method: str) -> float:
        """The paper's mean."""
        score = self.paper(problem, size, method, self.printed[TABLES[size]])[0]
        assert score is not None
        return score

    def paper_mean(self, size: int, method: str) -> float:
        """The mean of the paper's figures over the six problems at hand."""
        return statistics.fmean(self.paper_score(problem, size, method) for problem in PROBLEMS)

    # --- comparing --------------------------------------------------------------------------------------------

    def wins(self, size: int, rule: str) -> dict[str, int]:
        """On how many problems each method is best."""
        return _wins(lambda problem, method: self.score(problem, size, method, rule))

    def paper_wins(self, size: int) -> dict[str, int]:
        """The same in the paper's table."""
        return _wins(lambda problem, method: self.paper_score(problem, size, method))

    def better(self, size: int, first: str, second: str, rule: str) -> int:
        """On how many problems the first method has the higher mean."""
        return sum(
            self.score(problem, size, first, rule) > self.score(problem, size, second, rule) for problem in PROBLEMS
        )

    def off(self, size: int, method: str) -> dict[str, float]:
        """How far ours is from the paper's on each problem."""
        return {
            problem: self.score(problem, size, method, "unforced") - self.paper_score(problem, size, method)
            for problem in PROBLEMS
        }

    def mean_off(self, size: int, method: str) -> float:
        """How far our mean is from the paper's."""
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
