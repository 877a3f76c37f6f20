"""Compute the founding documents' experiments, shown beside the papers' own numbers."""

from __future__ import annotations

from collections.abc import Sequence

from manylabel.data.fetch import cache_folder
from manylabel.evaluation.findings import Reproduction
from manylabel.papers import PAPERS, find_paper
from manylabel.papers.jobs import Ledger, Plan, fingerprint, run_jobs

ALL = "all"


def reproduce(
    papers: Sequence[str] = (ALL,),
    *,
    quick: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
    fresh: bool = False,
) -> list[Reproduction]:
    """Every experiment of some papers; work done before an interruption is not done again unless `fresh`."""
    names = list(PAPERS) if ALL in papers else list(dict.fromkeys(papers))
    modules = {name: find_paper(name) for name in names}
    plan = Plan(seed, quick, n_jobs)
    found = []
    for name, module in modules.items():
        ledger = Ledger(cache_folder() / "reproduce" / fingerprint(plan, name))
        jobs = module.jobs(plan)
        if fresh:
            ledger.forget(job.key for job in jobs)
        outcomes, seconds = run_jobs(jobs, ledger, f"Reproducing {name}")
        found.append(Reproduction(name, PAPERS[name], module.read(plan, outcomes), seconds, quick))
    return found
