"""``manylabel serve`` and ``bench-server``."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, remark, show, show_json
from manylabel.reports.page import Column, Note, Table
from manylabel.wording import counted

if TYPE_CHECKING:
    from manylabel.server.settings import Settings


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL…",
            help="Model files to serve, each under its name without .manylabel, or under another one: NAME=FILE.",
            show_default=False,
        ),
    ] = None,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo",
            help="Serve a model of the letters that come with manylabel, as 'townhall', and a workbench filled with "
            "them; in a temporary directory without --data.",
        ),
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="A directory for the workbench and its jobs: their queue, uploaded data, corpora under review, and "
            "the models that jobs write, which are served too.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=64, help="With --data: how many jobs run at once.")] = 1,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen on. Any but this computer's own requires --token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 for any free one.")] = 8000,
    workers: Annotated[
        str, typer.Option("--workers", help="How many processes handle requests; 'auto': one per core.")
    ] = "1",
    token: Annotated[
        Path | None,
        typer.Option(
            "--token",
            help="A file with a token that clients must send (Authorization: Bearer TOKEN).",
            show_default=False,
        ),
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option(
            "--origin",
            metavar="URL",
            help="Another site whose pages may send requests from a browser and read responses (CORS): its "
            "scheme, host and port, such as http://localhost:3000; repeatable.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            metavar="NAME=VALUE",
            help="A limit on requests: body and headers (bytes), documents (per request), characters (per document), "
            "requests (at once), seconds (per request), upload (bytes), queue (jobs that wait), job_seconds or "
            "job_megabytes (per job); repeatable.",
            show_default=False,
        ),
    ] = None,
    json_logs: Annotated[bool, typer.Option("--json-logs", help="Write log lines as JSON.")] = False,
    log_requests: Annotated[bool, typer.Option("--log-requests", help="Write a log line per request.")] = False,
) -> None:
    """Serve models over HTTP, to clients of manylabel, Annif, Hugging Face TEI, the Open Inference Protocol and MLflow.

    A model file that is replaced is served from then on, without a request being lost.
    """
    from manylabel.exceptions import MissingExtraError, ParameterError
    from manylabel.tasks.serving import available_threads, check_servable, served_names

    try:
        from manylabel.server.directory import held
        from manylabel.server.settings import Limits, Settings, check_exposure, parse_origins, read_token, worker_count
        from manylabel.server.store.filling import prepare_demo
        from manylabel.server.supervisor import serve as run
    except ModuleNotFoundError as error:
        raise MissingExtraError("manylabel serve", "server") from error

    if demo == bool(models) and (demo or data is None):
        raise ParameterError("Give the model files to serve, or --demo, or --data DIR for a server that trains them.")
    if data is not None and data.exists() and not data.is_dir():
        raise ParameterError(f"--data {data}: this is a file. Give a directory, which is made where there is none.")
    is_new = data is not None and not data.exists()
    secret = None if token is None else read_token(token)
    check_exposure(host, secret)
    available_threads(None)  # an error where the environment gives no number of them, before a job notices it
    with ExitStack() as until_the_end:
        names = served_names(models or [])
        if demo and data is None:
            data = Path(until_the_end.enter_context(tempfile.TemporaryDirectory()), "data")
        if data is not None:
            until_the_end.enter_context(held(data))
        if demo and data is not None:
            with progress():
                names = {"townhall": prepare_demo(data)}
        check_servable(names.values())
        settings = Settings(
            {name: str(path.absolute()) for name, path in names.items()},  # links are followed at each look
            host,
            port,
            worker_count(workers),
            secret,
            parse_origins(origin or []),
            Limits.parse(limit or []),
            json_logs,
            log_requests,
            None if data is None else str(data.resolve()),
            jobs,
        )
        code = run(settings, lambda address: _announce(address, settings, token, is_new))
    if code:
        raise typer.Exit(code)


def _announce(address: str, settings: Settings, token: Path | None, is_new: bool) -> None:
    """Print where the models are served, how to ask, and whether the data directory was made."""
    from manylabel.server.logs import Log

    served = ", ".join(settings.models) or f"the models of {settings.data}"
    sentence = f"Serving {served} on {address}, {counted(settings.workers, 'worker')}."
    sentence += f" The folder {settings.data} is new." if is_new else ""
    if settings.json_logs:  # every line is JSON then
        Log(None, as_json=True).write("start", sentence, address=address, workers=settings.workers)
        return
    remark(f"{sentence} Stop with Ctrl-C.")
    if settings.data is not None:
        remark(f"Open {address}/ in a browser.")
    if settings.models:
        bearer = "" if token is None else f' -H "Authorization: Bearer $(cat {token})"'
        place = f"{address}/v1/models/{next(iter(settings.models))}/predict"
        remark(f'Try: curl {place}{bearer} --json \'{{"text": "…"}}\'')


def bench_server(
    url: Annotated[str, typer.Argument(help="The address of a running server.")] = "http://127.0.0.1:8000",
    model: Annotated[str, typer.Option("--model", help="The name of the model to ask.")] = "townhall",
    data: Annotated[str, typer.Option("--data", help="The documents to send, one per request.")] = "townhall",
    connections: Annotated[int, typer.Option("--connections", min=1, max=10_000, help="Connections at once.")] = 32,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="How long to measure.")] = 10.0,
    token: Annotated[
        Path | None, typer.Option("--token", help="A file with the token of the server.", show_default=False)
    ] = None,
    json: o.Json = False,
) -> None:
    """Measure a running server: requests per second and how long they take."""
    from manylabel.exceptions import MissingExtraError
    from manylabel.tasks.serving import texts_to_send

    try:
        from manylabel.server.bench import measure
        from manylabel.server.settings import read_token
    except ModuleNotFoundError as error:
        raise MissingExtraError("manylabel bench-server", "server") from error

    secret = None if token is None else read_token(token)
    found = measure(url, model, texts_to_send(data), connections=connections, seconds=seconds, token=secret)
    if json:
        show_json(found.as_dict())
        return
    rows = [("requests per second", f"{found.rate:,.0f}"), ("requests", f"{found.requests:,}")]
    rows += [(f"{name}, milliseconds", f"{value:.2f}") for name, value in found.milliseconds.items()]
    rows += [(f"failed: {name}", f"{count:,}") for name, count in found.failures.items()]
    show(
        [
            Note(f"{url}, model {model}, {counted(connections, 'connection')}, {found.seconds:.1f} seconds"),
            Table([Column("", "text"), Column("measured", "text")], rows),
        ]
    )
