"""The Open Inference Protocol, version 2 (KServe, Triton, Seldon): texts as a tensor of BYTES, tensors as answers.

Label sets differ in length, so that the tensor ``labels`` holds one JSON list of labels per document. The tensor
``scores``, documents × labels in the order of ``/v1/models/{model}/labels``, is sent where it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec import UNSET, Struct, UnsetType

from manylabel import __version__
from manylabel.server.operations import Call, Operation, Reply, encode
from manylabel.server.problems import InferError, RequestError, not_ready
from manylabel.tasks.serving import BY_RULE, ServedModel, Text
from manylabel.wording import counted

NAME = "manylabel"
PLATFORM = "manylabel_classifier"


class InferInput(Struct):
    """The texts: a tensor of BYTES of shape [n] or [n, 1]."""

    name: str
    shape: list[int]
    datatype: str
    data: list[str | list[str]]
    parameters: dict[str, Any] = {}


class InferOutputName(Struct):
    """A tensor that is asked for: labels or scores."""

    name: Literal["labels", "scores"]
    parameters: dict[str, Any] = {}


class InferRequest(Struct):
    """Texts to label."""

    inputs: list[InferInput]
    outputs: list[InferOutputName] | UnsetType = UNSET
    id: str | UnsetType = UNSET
    parameters: dict[str, Any] = {}


class InferOutput(Struct):
    """A tensor."""

    name: str
    shape: list[int]
    datatype: str
    data: Sequence[str | float]


class InferResponse(Struct):
    """The tensors, and the model and version that made them."""

    model_name: str
    model_version: str
    outputs: list[InferOutput]
    parameters: dict[str, str]
    id: str | UnsetType = UNSET


class Tensor(Struct):
    """The type and shape of a tensor; −1 for any size."""

    name: str
    datatype: str
    shape: list[int]


class ModelMetadata(Struct):
    """A model."""

    name: str
    versions: list[str]
    platform: str
    inputs: list[Tensor]
    outputs: list[Tensor]


class ServerMetadata(Struct):
    """The server."""

    name: str
    version: str
    extensions: list[str]


class Live(Struct):
    """Whether the server answers."""

    live: bool


class Ready(Struct):
    """Whether models, or one of them, can be asked."""

    ready: bool


_decoder = msgspec.json.Decoder(InferRequest)


def versioned(call: Call) -> ServedModel:
    """The model of the address; an error where the address names a version that is not served."""
    model = call.model
    asked = call.parameters.get("version")
    if asked is not None and asked != model.version:
        raise RequestError(404, f"The model {model.name!r} has no version {asked!r}. Served: {model.version}.")
    return model


def texts_of(request: InferRequest) -> list[Text]:
    """The texts of a request."""
    if len(request.inputs) != 1:
        raise RequestError(400, f"The model takes one input tensor, the texts; found: {len(request.inputs)}.")
    given = request.inputs[0]
    if given.datatype != "BYTES":
        raise RequestError(
            400, f"The input tensor holds texts and has the datatype BYTES, not {given.datatype[:40]!r}."
        )
    texts: list[Text] = []
    for piece in given.data:
        texts.extend([piece] if isinstance(piece, str) else piece)
    if given.shape not in ([len(texts)], [len(texts), 1]):
        raise RequestError(
            400, f"The input tensor has {counted(len(texts), 'text')}, and its shape is {given.shape[:8]}."
        )
    return texts


async def infer(call: Call) -> Reply:
    """Label texts."""
    request = call.json(_decoder, wrong=400)
    model = versioned(call)
    texts = texts_of(request)
    asked = (
        ["labels"] if isinstance(request.outputs, UnsetType) else [one.name for one in request.outputs] or ["labels"]
    )
    outputs = []
    if "labels" in asked:
        answers = await call.predict(model, texts, BY_RULE)
        named = [encode([model.labels[column] for column, _ in one.labels]).decode() for one in answers]
        outputs.append(InferOutput("labels", [len(texts)], "BYTES", named))
    if "scores" in asked:
        rows = await call.each(texts, model.scores)
        flat = np.nan_to_num(np.concatenate([np.zeros(0), *rows])).tolist()
        outputs.append(InferOutput("scores", [len(texts), len(model.labels)], "FP64", flat))
    made = InferResponse(model.name, model.version, outputs, {"sha256": model.sha256}, request.id)
    return Reply(encode(made), model)


async def metadata(call: Call) -> Reply:
    """Describe a model."""
    model = versioned(call)
    inputs = [Tensor("texts", "BYTES", [-1])]
    outputs = [Tensor("labels", "BYTES", [-1]), Tensor("scores", "FP64", [-1, len(model.labels)])]
    return Reply(encode(ModelMetadata(model.name, [model.version], PLATFORM, inputs, outputs)), model)


async def model_ready(call: Call) -> Reply:
    """Answer that a model can be asked; an error where it is not served."""
    return Reply(encode(Ready(True)), versioned(call))


async def server_metadata(call: Call) -> Reply:
    """Describe the server."""
    return Reply(encode(ServerMetadata(NAME, __version__, [])))


async def live(call: Call) -> Reply:
    """Answer that the server lives."""
    return Reply(encode(Live(True)))


async def ready(call: Call) -> Reply:
    """Answer that models can be asked; an error where none can."""
    if (why := call.models.why_not_ready) is not None:
        raise not_ready(why)
    return Reply(encode(Ready(True)))


def _operation(path: str, name: str, summary: str, respond: Any, response: Any, request: Any = None) -> Operation:
    return Operation(
        path,
        f"v2-{name}",
        summary,
        respond,
        "Open Inference Protocol",
        "GET" if request is None else "POST",
        request,
        response,
        problem=InferError,
    )


VERSION = "/v2/models/{model}/versions/{version}"
OPERATIONS = (
    _operation("/v2", "server", "Describe the server", server_metadata, ServerMetadata),
    _operation("/v2/health/live", "live", "Whether the server answers", live, Live),
    _operation("/v2/health/ready", "ready", "Whether models can be asked", ready, Ready),
    _operation("/v2/models/{model}", "model", "Describe a model", metadata, ModelMetadata),
    _operation("/v2/models/{model}/ready", "model-ready", "Whether a model is ready", model_ready, Ready),
    _operation("/v2/models/{model}/infer", "infer", "Label texts", infer, InferResponse, InferRequest),
    _operation(VERSION, "version", "Describe a version of a model", metadata, ModelMetadata),
    _operation(f"{VERSION}/ready", "version-ready", "Whether a version is ready", model_ready, Ready),
    _operation(f"{VERSION}/infer", "version-infer", "Label texts with a version", infer, InferResponse, InferRequest),
)
