"""The table of commands. Each lives in the module named beside it; heavy imports wait until a command runs."""

from __future__ import annotations

import typer

from manylabel.cli import (
    comparing,
    corpora,
    demonstration,
    describing,
    evaluating,
    keyword_rules,
    learning_curve,
    models,
    predicting,
    reproducing,
    results,
    selecting,
    training,
    tuning,
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

app.command()(demonstration.demo)
app.command()(training.train)
app.command()(predicting.predict)
app.command()(evaluating.evaluate)
app.command()(results.results)
app.command()(comparing.compare)
app.command()(tuning.tune)
app.command("learning-curve")(learning_curve.learning_curve)
app.command()(selecting.select)
app.command()(keyword_rules.rules)
app.command()(reproducing.reproduce)
app.command()(models.inspect)
app.command()(models.methods)
app.command()(describing.describe)
app.command()(corpora.convert)
app.command()(corpora.fetch)


@app.callback(epilog="Every command takes --help. --version tells the version, --debug shows where an error came from.")
def options(
    version: bool = typer.Option(False, "--version", "-V", help="Print the version and stop."),
    debug: bool = typer.Option(False, "--debug", help="Show the whole traceback of an error."),
) -> None:
    """Multi-label text classification: every document gets a set of labels."""
