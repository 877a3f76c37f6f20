"""``manylabel train``, ``manylabel inspect`` and ``manylabel methods``."""

from __future__ import annotations

import shlex

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json
from manylabel.reports.page import Column, Note, Table


@o.takes_data_options("split_by")
def train(
    data: o.Data,
    model: o.NewModel = None,
    method: o.Method = None,
    recipe: o.RecipeFile = None,
    setting: o.Setting = None,
    metric: o.OptionalMetric = None,
    guarantee: o.Guarantee = None,
    probabilities: o.Probabilities = None,
    rules: o.Rules = None,
    split: o.SplitName = None,
    *,
    reading: o.DataOptions,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    json: o.Json = False,
) -> None:
    """Learn from labelled documents and write a model file.

    Where the data have a training split, only that is used; --split all uses all documents.
    """
    from manylabel.catalog import DEFAULT_METHOD
    from manylabel.data.atomic import check_target
    from manylabel.reports.model_page import training_page
    from manylabel.tasks.models import train as task

    target = model or o.default_model_path(data)
    check_target(target, [data, recipe, rules])
    method, overrides = o.with_recipe(
        recipe, method, o.with_guarantee(o.make_overrides(setting, rules, metric), guarantee, probabilities)
    )
    with progress():
        trained = task(
            reading.source(data),
            target,
            method=method or DEFAULT_METHOD,
            overrides=overrides,
            split=split,
            seed=seed,
            n_jobs=jobs,
        )
    if json:
        show_json(trained.record.as_dict())
    else:
        show(training_page(trained.record, shlex.join([data]) + reading.arguments()))


def inspect(
    model: o.ModelFile,
    labels: o.LabelRows = "20",
    json: o.Json = False,
) -> None:
    """Show what is in a model file: recipe, labels, thresholds, sizes, versions."""
    from manylabel.reports.model_page import inspect_page
    from manylabel.tasks.models import inspect as task

    limit = o.label_limit(labels)
    found = task(model)
    if json:
        show_json(found.as_dict())
    else:
        show(inspect_page(found, limit))


def methods(json: o.Json = False) -> None:
    """List the methods, each with its source."""
    from manylabel.catalog import DEFAULT_METHOD, METHODS

    if json:
        show_json(
            [{"name": m.name, "title": m.title, "source": m.source, "decision": m.decision} for m in METHODS.values()]
        )
        return
    rows = [
        [m.name + (" *" if m.name == DEFAULT_METHOD else ""), m.title, m.decision, m.source] for m in METHODS.values()
    ]
    columns = [Column("method"), Column("description"), Column("decision rule"), Column("source")]
    show([Table(columns, rows), Note("* the default", "quiet")])
