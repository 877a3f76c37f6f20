"""X-11 as `manylabel reproduce lee2018` reads it: made-up outcomes, settings, and small data where at hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manylabel.evaluation.findings import Experiment, Verdict
from manylabel.papers import lee2018, lee2018_runs
from manylabel.papers.jobs import Plan, read_studies
from manylabel.papers.lee2018_claims import average_rank_table, friedman
from manylabel.papers.lee2018_runs import KL, KL_SPLIT, MNB, REFERENCE, SVM, UNILABEL, UNILABEL_METHODS, WEIGHTS
from manylabel.papers.numbers import numbers

FALLING, RISING = [0.01, 0.9, 0.6, 0.4, 0.2], [0.01, 0.2, 0.4, 0.6, 0.9]


def test_the_settings_the_text_tells() -> None:
    setting = numbers("lee2018")["setting"]
    assert setting["single_label_bins"] == lee2018_runs.N_BINS
    assert setting["chains"] == lee2018_runs.CHAINS
    assert setting["rcv1_bins"] == lee2018_runs.MULTILABEL["rcv1-1"]


def made_up(plan: Plan) -> dict[str, Any]:
    """Refined weights and the SVM above MNB, the reference below; co-training best where refined, worst elsewhere."""
    level = dict.fromkeys(UNILABEL_METHODS, 80.0) | {MNB: 85.0, REFERENCE: 84.0, KL: 88.0, KL_SPLIT: 89.0, SVM: 92.0}
    wrong = {"BR": 40.0, "CC": 30.0, "ECC": 20.0, "MNB-VWCO": 10.0}
    outcomes: dict[str, Any] = {}
    for job in lee2018.jobs(plan):
        _, part, data, *rest = job.key.split("/")
        if part == "accuracy":
            fold = int(rest[0])
            outcomes[job.key] = {name: value + 0.1 * fold + 0.01 * (fold % 2) for name, value in level.items()}
        elif part == "steps":
            outcomes[job.key] = {"0": 80.0, "5": 90.0, "10": 95.0, "20": 95.2, "40": 95.1}
        elif part == "weights":
            shape = RISING if data == "cnae9" else FALLING
            outcomes[job.key] = {name: {"seen": shape, "all": shape} for name in WEIGHTS}
        else:
            loss = 50 - wrong[rest[0]] if part == "reference" else wrong[rest[0]]
            found: dict[str, Any] = {"hamming-loss": loss / 10, "zero-one-loss": loss, "jaccard": 100 - loss}
            found["labels"] = 1.0
            found["forced"] = dict(found)
            found["rounds"] = {"iterations_median": 2.0, "iterations_95": 5.0, "cycle_share": 0.0}
            outcomes[job.key] = found
    return outcomes


def verdicts(experiment: Experiment) -> list[Verdict]:
    return [claim.verdict for claim in experiment.claims]


def test_reading_made_up_outcomes() -> None:
    plan = Plan()
    accuracies, weights, strategies = read_studies(lee2018.STUDIES, plan, made_up(plan))
    yes, part = Verdict.REPRODUCED, Verdict.IN_PART
    # the reference is below MNB but above NB; the refined readings are above both
    assert verdicts(accuracies) == [part, yes, part, yes, yes]
    assert verdicts(weights) == [yes, yes, yes]
    # what the refined reading shows the reference turns around, but for the rounds
    assert verdicts(strategies)[:3] == [part, part, part]
    assert verdicts(strategies)[-1] is yes
    assert "No number of the paper" in accuracies.setting
    assert accuracies.sheets[0].rows[MNB][0].sd is not None
    assert [len(sheet.rows) for sheet in strategies.sheets] == [13, 13, 13, 12]


def test_papers_page_shows_the_reading_under_which_co_training_is_best() -> None:
    """The third reading has a verdict of its own, and is marked as found with test figures in view."""
    best, chains, *_ = read_studies(lee2018.STUDIES, Plan(), made_up(Plan()))[2].claims
    assert best.verdict is Verdict.IN_PART
    assert [reading.verdict for claim in (best, chains) for reading in claim.readings] == [Verdict.REPRODUCED] * 2
    assert best.found_text.count("Reading found with test figures in view: the third reading, 'plain'") == 1
    assert "MNB-VWCO plain 1.0/1.0/1.0" in best.readings[0].found


def test_papers_page_has_no_verdict_where_a_quick_run_departs_from_the_paper() -> None:
    plan = Plan(quick=True)
    accuracies, weights, strategies = read_studies(lee2018.STUDIES, plan, made_up(plan))
    assert {*verdicts(accuracies), *verdicts(strategies)} == {Verdict.QUICK}
    assert verdicts(weights) == [Verdict.REPRODUCED] * 3  # the same in a quick run
    assert strategies.claims[0].readings[0].verdict is Verdict.QUICK


def test_ranks_and_friedmans_test() -> None:
    losses = {"BR": 0.10, "CC": 0.08, "ECC": 0.08, "MNB-VWCO": 0.05}  # M-8
    runs = {
        (reading, "one", name): {"hamming-loss": loss, "zero-one-loss": loss, "jaccard": 1 - loss}
        for reading in (*lee2018_runs.READINGS, lee2018_runs.IN_VIEW)
        for name, loss in losses.items()
    }
    table = average_rank_table(runs, ["one"])
    assert all(list(ranks.values()) == [4, 2.5, 2.5, 1] for ranks in table.values())
    # all ranks equal: nothing to tell; 12·5/(4·5) · (4 · 2.5² − 4·25/4) = 0
    assert friedman([2.5] * 4, 5) == (0.0, 1.0)


def test_jobs_are_small_and_have_names_of_their_own() -> None:
    for quick, most in ((False, 8 * 60), (True, 60)):
        listed = lee2018.jobs(Plan(quick=quick))
        assert len({job.key for job in listed}) == len(listed)
        assert max(job.seconds for job in listed) < 60
        assert sum(job.seconds for job in listed) < most


def test_cnae9_in_one_fold(data_folder: Path) -> None:
    if not (data_folder / "cnae9").exists():
        pytest.skip("CNAE-9 is not in MANYLABEL_DATA")
    found = lee2018_runs.unilabel_fold("cnae9", 0, 10, Plan())
    assert set(found) == set(UNILABEL_METHODS)
    assert all(90 < value <= 100 for value in found.values())
    assert found == lee2018_runs.unilabel_fold("cnae9", 0, 10, Plan())
    weights = lee2018_runs.mean_weights("cnae9")
    assert int(np.argmax(weights["kl"]["seen"])) == 4  # the paper's exception: the highest bin weighs most
    assert "cnae9" in UNILABEL


def test_strategies_on_medical(data_folder: Path) -> None:
    if not (data_folder / "mulan").exists():
        pytest.skip("Mulan's data sets are not in MANYLABEL_DATA")
    plan = Plan()
    relevance = lee2018_runs.strategy("medical", "BR", "refined", plan)
    assert relevance["hamming-loss"] == pytest.approx(1.12, abs=0.05)
    assert relevance["forced"]["zero-one-loss"] < relevance["zero-one-loss"]
    assert "rounds" in lee2018_runs.strategy("medical", "MNB-VWCO", "reference", plan)
