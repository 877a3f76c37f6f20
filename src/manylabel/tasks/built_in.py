"""The tasks behind ``manylabel demo`` and ``manylabel reproduce``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manylabel.catalog import DEFAULT_METHOD
from manylabel.data.corpus import Text
from manylabel.data.known import cache_folder
from manylabel.evaluation.findings import Reproduction
from manylabel.evaluation.result import Result
from manylabel.exceptions import UnknownNameError
from manylabel.papers import PAPERS, find_paper
from manylabel.papers.jobs import Job, Ledger, Plan, Study, fingerprint, read_studies, run_jobs
from manylabel.reports.records import LabelledDocument, ListedExperiment
from manylabel.scale.predictions import Asked
from manylabel.tasks.corpora import Source
from manylabel.tasks.evaluate import evaluate_model
from manylabel.tasks.models import predict_batches, train

LETTERS: tuple[dict[str, str], ...] = (
    {
        "title": "Lorries on Tannery Row",
        "body": "Every weekday from six, delivery lorries for the new supermarket park half on the footway in "
        "Tannery Row with their engines running. My daughter has to step into the road with the pram, and the "
        "reversing alarms wake the whole terrace.",
    },
    {
        "title": "Where does the oak stand in the plan?",
        "body": "The application for nine houses behind the dairy shows a car port exactly where the old oak grows. Is "
        "the tree protected, and may neighbours still object? Two more limes on the boundary are marked for felling.",
    },
    {
        "title": "The 9 again",
        "body": "Twice this week the 9 did not come at all and the next driver told us it had been cancelled. The stop "
        "outside the school has no shelter and no timetable, so thirty children waited in the rain.",
    },
)


@dataclass(frozen=True, slots=True)
class Shown:
    """The result of the demonstration."""

    result: Result
    split: str
    letters: list[tuple[dict[str, str], LabelledDocument]]
    model: Path
    probabilities: bool

    def as_dict(self) -> dict[str, Any]:
        """The demonstration as plain data."""
        letters = [{**letter, **prediction.as_dict(with_scores=True)} for letter, prediction in self.letters]
        return {"model": str(self.model), "result": self.result.as_dict(), "letters": letters}


def demo(model: Path, *, method: str = DEFAULT_METHOD, seed: int = 0) -> Shown:
    """Train on the town hall's letters, measure on the later ones, and label three new ones with the saved model."""
    source = Source("townhall")
    trained = train(source, model, method=method, seed=seed)
    evaluated = evaluate_model(source, model)
    texts: list[tuple[str, Text]] = [(letter["title"], letter) for letter in LETTERS]
    predictions = next(predict_batches(trained.classifier, [texts], Asked(runners_up=2)))
    return Shown(
        evaluated.results[0],
        evaluated.split,
        list(zip(LETTERS, predictions, strict=True)),
        model,
        trained.classifier.scores_are_probabilities,
    )


ALL = "all"


def reproduce(
    papers: Sequence[str] = (ALL,),
    *,
    only: Sequence[str] = (),
    quick: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
    fresh: bool = False,
) -> list[Reproduction]:
    """The experiments of some papers, or `only` those with these keys.

    Outcomes stored by an earlier run are used again unless `fresh`.
    """
    plan = Plan(seed, quick, n_jobs)
    found = []
    for name, studies in _studies(papers, only).items():
        ledger = Ledger(cache_folder() / "reproduce" / fingerprint(plan, name))
        jobs = _jobs_of(studies, find_paper(name).jobs(plan))
        if fresh:
            ledger.forget(job.key for job in jobs)
        outcomes, seconds = run_jobs(jobs, ledger, f"Reproducing {name}")
        found.append(Reproduction(name, PAPERS[name], read_studies(studies, plan, outcomes), seconds, quick))
    return found


def listed_experiments(papers: Sequence[str] = (ALL,), *, quick: bool = False) -> list[ListedExperiment]:
    """The experiments of some papers, with the number of their jobs and the time they take."""
    plan, found = Plan(quick=quick), []
    for name, studies in _studies(papers, ()).items():
        jobs = find_paper(name).jobs(plan)
        for study in studies:
            own = _jobs_of([study], jobs)
            found.append(ListedExperiment(name, study.key, study.title, len(own), sum(job.seconds for job in own)))
    return found


def _jobs_of(studies: Sequence[Study], jobs: Sequence[Job]) -> list[Job]:
    return [job for job in jobs if any(study.rests_on(job.key) for study in studies)]


def _studies(papers: Sequence[str], only: Sequence[str]) -> dict[str, list[Study]]:
    """By paper, its experiments, or those with the keys in `only`; papers without any are left out."""
    names = list(PAPERS) if ALL in papers else list(dict.fromkeys(papers))
    every = {name: list(find_paper(name).STUDIES) for name in names}
    known = [study.key for studies in every.values() for study in studies]
    for key in only:
        if key not in known:
            raise UnknownNameError("experiment", key, known)
    chosen = {name: [study for study in studies if not only or study.key in only] for name, studies in every.items()}
    return {name: studies for name, studies in chosen.items() if studies}
