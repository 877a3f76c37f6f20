"""X-1 to X-4 as `manylabel reproduce vilar2004` computes them, where Reuters is at hand."""

from pathlib import Path

import pytest

from manylabel.evaluation.findings import Verdict
from manylabel.papers import vilar2004
from manylabel.papers.jobs import Ledger, Plan, read_studies, run_jobs


def test_the_published_figures(data_folder: Path, tmp_path: Path) -> None:
    if not (data_folder / "reuters21578").exists():
        pytest.skip("Reuters-21578 is not in MANYLABEL_DATA")
    plan = Plan()
    outcomes, _ = run_jobs(vilar2004.jobs(plan), Ledger(tmp_path), "Reproducing")
    corpus, unilabel, curves, errors = read_studies(vilar2004.STUDIES, plan, outcomes)
    assert corpus.claims[0].verdict is Verdict.REPRODUCED
    assert unilabel.sheets[0].rows[vilar2004.FIRST][0].ours == pytest.approx(100 * 222 / 2582)
    assert [claim.verdict for claim in unilabel.claims] == [Verdict.REPRODUCED] * 2
    assert [claim.verdict for claim in curves.claims] == [Verdict.REPRODUCED] * 2
    verdicts = [claim.verdict for claim in errors.claims]
    # "far fewer errors": a lead of 6.1 points whose interval contains the 5 points that "far" asks for
    assert verdicts == [Verdict.IN_PART, Verdict.REPRODUCED, Verdict.NOT_REPRODUCED]
    half = vilar2004.TAUS.index(0.5)
    app, binary = (outcomes[f"vilar2004/{rule}"]["all"]["error"][half] for rule in ("app", "binary"))
    assert (app, binary) == (pytest.approx(29.6, abs=0.05), pytest.approx(40.7, abs=0.05))
