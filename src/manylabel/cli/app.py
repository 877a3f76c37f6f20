"""The table of commands. Each lives in the module named beside it; heavy imports wait until a command runs."""

from __future__ import annotations

import typer

from manylabel.cli import (
    choosing,
    corpora,
    data_sets,
    distilling,
    encoders,
    evaluating,
    explaining,
    insights,
    label_tables,
    models,
    predicting,
    reviewing,
    scaling,
    serving,
    updating,
)

app = typer.Typer(
    name="manylabel",
    help="Multi-label text classification: every document gets a set of labels.\n\n"
    "Try it:  manylabel demo\n\n"
    "Your own data:  manylabel train letters.csv, then  manylabel predict letters.manylabel new.csv",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

reviews = typer.Typer(
    help="Review the labels of corpora in the data directory of a server, as the workbench does.\n\n"
    "Start:  manylabel corpora import DIR NAME letters.csv, then  manylabel corpora score DIR NAME",
    no_args_is_help=True,
    rich_markup_mode=None,
)

vectors = typer.Typer(
    help="List, describe and make encoders, which add a vector to each text.\n\n"
    "Use one:  manylabel train letters.csv --encoder NAME_OR_FOLDER",
    no_args_is_help=True,
    rich_markup_mode=None,
)

app.command()(models.demo)
app.command()(models.train)
app.command()(predicting.predict)
app.command()(explaining.explain)
app.command()(evaluating.evaluate)
app.command()(evaluating.results)
app.command()(choosing.compare)
app.command()(choosing.tune)
app.command("learning-curve")(evaluating.learning_curve)
app.command()(data_sets.select)
app.command()(data_sets.rules)
app.command()(evaluating.reproduce)
app.command()(models.inspect)
app.command()(models.card)
app.command()(models.thresholds)
app.command()(updating.update)
app.command()(distilling.distil)
app.command()(models.export)
app.command()(models.methods)
app.command()(serving.serve)
app.command("bench-server")(serving.bench_server)
app.command()(data_sets.describe)
app.command()(insights.labels)
app.command()(insights.audit)
app.command()(insights.suggest)
app.command()(data_sets.convert)
app.command()(data_sets.fetch)
app.command()(scaling.synthesize)
app.command()(scaling.plan)
app.add_typer(vectors, name="encoder")
app.add_typer(reviews, name="corpora")

vectors.command("list")(encoders.list_encoders)
vectors.command()(encoders.info)
vectors.command()(encoders.distil)

reviews.command("list")(corpora.list_corpora)
reviews.command("import")(corpora.import_data)
reviews.command("show")(corpora.show_corpus)
reviews.command()(corpora.score)
reviews.command()(corpora.audit)
reviews.command()(corpora.suggest)
reviews.command()(reviewing.search)
reviews.command()(reviewing.decide)
reviews.command()(reviewing.bulk)
reviews.command()(reviewing.undo)
reviews.command()(reviewing.events)
reviews.command()(label_tables.labels)
reviews.command("label")(label_tables.change_label)
reviews.command()(label_tables.thresholds)
reviews.command("write-thresholds")(label_tables.write_thresholds)
reviews.command()(label_tables.confusions)
reviews.command()(reviewing.rules)
reviews.command()(corpora.export)
reviews.command()(corpora.decisions)
reviews.command()(corpora.delete)


@app.callback(
    epilog="Every command takes --help. --version prints the version, --debug shows where an error came from."
)
def options(
    version: bool = typer.Option(False, "--version", "-V", help="Print the version and stop."),
    debug: bool = typer.Option(False, "--debug", help="Show the whole traceback of an error."),
) -> None:
    """Multi-label text classification: every document gets a set of labels."""
