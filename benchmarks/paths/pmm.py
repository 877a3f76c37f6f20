"""The parametric mixture model of Ueda & Saito 2002: learned by EM, then asked. No peer has one: times only."""

from __future__ import annotations

from typing import Any

from benchmarks.inputs import Inputs
from benchmarks.paths.contract import OURS, Candidate, HotPath, Job, NotThereYetError, micro_f1, same_decisions


def manylabel(inputs: Inputs, threads: int) -> Job:
    """The catalogue's first parametric mixture model with its settings."""
    from manylabel.catalog import METHODS, find_class

    rows = [row for row in METHODS.values() if row.name.startswith("pmm")]
    if not rows:
        raise NotThereYetError("the catalogue has no parametric mixture model")
    X, Y, Q = inputs.matrix("counts_train"), inputs.matrix("Y_train"), inputs.matrix("counts_test")
    settings: dict[str, Any] = dict(rows[0].settings)
    model_class: Any = find_class(rows[0].model)
    if "n_jobs" in model_class.parameter_names():
        settings["n_jobs"] = threads
    return Job(
        lambda: model_class(**settings).fit(X, Y).predict(Q),
        lambda decided: {"decisions": decided.toarray()},
    )


PATH = HotPath(
    "pmm",
    "parametric mixture model, fit and predict",
    (Candidate(OURS, "manylabel", ("manylabel.catalog", "manylabel.models"), manylabel, quick=(1,)),),
    same_decisions,
    growth=("documents", "labels", "terms"),
    extra=micro_f1,
)
