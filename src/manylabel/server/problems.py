"""Errors of requests, and their form in each dialect: problem+json (RFC 9457) unless a dialect has its own.

The form depends on the address alone, because many requests are refused before anything else is known of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Literal, TypeAlias

import msgspec

from manylabel.server.shortage import DISK_FULL, is_disk_full
from manylabel.wording import counted

JSON = b"application/json"
PROBLEM_JSON = b"application/problem+json"


class RequestError(Exception):
    """A request that cannot be answered: the status, what is wrong with it and what to do."""

    def __init__(
        self,
        status: int,
        detail: str,
        headers: Mapping[str, str] | None = None,
        members: Mapping[str, Any] | None = None,
    ) -> None:
        self.status, self.detail, self.headers = status, detail, dict(headers or {})
        self.members = dict(members or {})
        """What the body holds besides, as RFC 9457 allows."""
        super().__init__(detail)

    @property
    def title(self) -> str:
        """The name of the status."""
        return HTTPStatus(self.status).phrase


Form: TypeAlias = Callable[[RequestError], tuple[bytes, bytes]]
"""A problem → the content type and the body of the response."""


class ProblemBody(msgspec.Struct):
    """An error: what happened, what was found, what to do."""

    type: str
    title: str
    status: int
    detail: str


def problem_json(problem: RequestError) -> tuple[bytes, bytes]:
    """The problem as RFC 9457 has it."""
    body = ProblemBody("about:blank", problem.title, problem.status, problem.detail)
    return PROBLEM_JSON, msgspec.json.encode({**msgspec.structs.asdict(body), **problem.members})


class TeiError(msgspec.Struct):
    """An error."""

    error: str
    error_type: Literal["Unhealthy", "Backend", "Overloaded", "Validation", "Tokenizer"]


def tei_error(problem: RequestError) -> tuple[bytes, bytes]:
    """The problem as Hugging Face's TEI has it."""
    kind: Literal["Unhealthy", "Backend", "Overloaded", "Validation"] = "Validation"
    if problem.status >= 500:
        kind = "Unhealthy" if problem.status == 503 else "Backend"
    elif problem.status == 429:
        kind = "Overloaded"
    return JSON, msgspec.json.encode(TeiError(problem.detail, kind))


class InferError(msgspec.Struct):
    """An error."""

    error: str


def infer_error(problem: RequestError) -> tuple[bytes, bytes]:
    """The problem as the Open Inference Protocol has it."""
    return JSON, msgspec.json.encode(InferError(problem.detail))


class MlflowError(msgspec.Struct):
    """An error."""

    error_code: str
    message: str


def mlflow_error(problem: RequestError) -> tuple[bytes, bytes]:
    """The problem as MLflow has it."""
    code = problem.title.upper().replace(" ", "_").replace("-", "_")
    return JSON, msgspec.json.encode(MlflowError(code, problem.detail))


FORMS: Mapping[str, Form] = {
    "predict": tei_error,
    "info": tei_error,
    "v2": infer_error,
    "invocations": mlflow_error,
    "ping": mlflow_error,
}
"""The form of errors by the first word of the address."""


def form_of(path: str | None) -> Form:
    """How an error looks at an address, whichever part of the server answers; None where no address arrived.

    >>> form_of("/v2/models/letters/infer") is infer_error, form_of("/v1/models/letters/predict") is problem_json
    (True, True)
    """
    return FORMS.get((path or "").removeprefix("/").partition("/")[0], problem_json)


# ---- problems that several places raise ------------------------------------------------------------------------------


def body_too_large(limit: int) -> RequestError:
    """A body over the limit; the connection is closed, because the rest of the body is not read."""
    return RequestError(
        413,
        f"The body of the request is larger than {limit:,} bytes. Send fewer documents per request, or start the "
        "server with a higher --limit body=….",
        {"Connection": "close"},
    )


def too_many_documents(found: int, limit: int) -> RequestError:
    """More documents than a request may hold."""
    return RequestError(413, f"The request holds {counted(found, 'document')}; up to {limit:,} are allowed. Split it.")


def text_too_long(found: int, limit: int) -> RequestError:
    """A document that is too long."""
    return RequestError(413, f"A document has {found:,} characters; up to {limit:,} are allowed. Shorten it.")


def out_of_time(seconds: int, done: int, total: int) -> RequestError:
    """Documents that could not be labelled in time."""
    return RequestError(
        429,
        f"Labelled {done:,} of {counted(total, 'document')} in {counted(seconds, 'second')}, which is the limit. Send "
        "fewer documents per request, or try again later.",
        {"Retry-After": "5"},
    )


def other_site(origin: str) -> RequestError:
    """A request of a page of another site, which a browser sent."""
    return RequestError(
        403,
        f"This request comes from a page of another site, {origin[:200]!r}, and the server does not allow that. To "
        "allow the pages of a site that you trust, start the server with --origin and the address of the site, such as "
        "--origin https://catalogue.example.org.",
    )


def encoded(encoding: str) -> RequestError:
    """A body that is compressed, or encoded in another way."""
    what = f"The server reads no body with Content-Encoding: {encoding[:80]}. Send it as it is, without this header."
    return RequestError(415, what, {"Accept-Encoding": "identity"})


def too_busy() -> RequestError:
    """More requests at once than the server takes."""
    return RequestError(429, "The server is busy with other requests. Try again in a second.", {"Retry-After": "1"})


def not_ready(why: str, members: Mapping[str, Any] | None = None) -> RequestError:
    """A server that cannot answer predictions yet, or no longer."""
    return RequestError(503, why, {"Retry-After": "1"}, members)


def unexpected(error: BaseException) -> RequestError:
    """An error inside: a full disk is named; what else went wrong is only in the log."""
    if is_disk_full(error):
        return RequestError(507, DISK_FULL)
    return RequestError(500, "Something went wrong inside manylabel. The log has the details.")


def method_not_allowed(method: str, allowed: str) -> RequestError:
    """A method that an address does not take."""
    return RequestError(405, f"This address does not take {method}. It takes {allowed}.", {"Allow": allowed})
