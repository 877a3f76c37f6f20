"""The form of an exported model as an ONNX graph: counts of terms in, scores and labels out.

Everything is computed in double precision, so that labels are those of manylabel. Operators are those of opset 17.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr
from manylabel.exceptions import MissingExtraError, UnsupportedError
from manylabel.models.exported import Form

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

OPSET, IR_VERSION = 17, 8
LIMIT = 700.0
MOST_BYTES = 2_000_000_000
"""What a graph can hold: ONNX files are limited to 2 GB."""
LOWEST = -1e305
"""Scores below are −∞."""


class Graph:
    """Nodes and constants, added one by one; every node has one output, whose name is returned."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError:
            raise MissingExtraError("Exporting to ONNX", "onnx") from None
        self.onnx: Any = onnx
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def constant(self, value: npt.ArrayLike, kind: Any = np.float64) -> str:
        """A constant; large tables that single precision can hold are stored so, and cast when the graph is loaded."""
        array = np.asarray(value, dtype=kind)
        if array.ndim == 2 and array.dtype == np.float64 and array.size > 1000:
            narrow = array.astype(np.float32)
            if np.array_equal(narrow, array):
                return self.cast(self._stored(narrow), np.float64)
        return self._stored(array)

    def _stored(self, array: npt.NDArray[Any]) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def op(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """The output of a node."""
        name = output or f"n{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def cast(self, value: str, kind: Any, output: str | None = None) -> str:
        """A tensor of another type."""
        to = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        return self.op("Cast", value, output=output, to=to)

    def sorted(self, value: str, width: int) -> tuple[str, str]:
        """The values of each row in descending order, and their columns; the first column first among equals."""
        names = [f"sorted_{value}", f"order_{value}"]
        given = [value, self.constant([width], np.int64)]
        self.nodes.append(self.onnx.helper.make_node("TopK", given, names, axis=1))
        return names[0], names[1]

    def where(self, condition: str, yes: str, no: npt.ArrayLike) -> str:
        """The one tensor where a condition holds, a constant elsewhere."""
        return self.op("Where", condition, yes, self.constant(no))

    def total(self, value: str) -> str:
        """The sum of each row, as a column."""
        return self.op("ReduceSum", value, self.constant([1], np.int64), keepdims=1)

    def any(self, condition: str) -> str:
        """Whether a condition holds anywhere in a row, as a column."""
        return self.op("Greater", self.total(self.cast(condition, np.float64)), self.constant(0.0))

    def above(self, value: str, limit: npt.ArrayLike) -> str:
        """Where the values are greater than a constant."""
        return self.op("Greater", value, self.constant(limit))

    def clip(self, value: str, limit: float) -> str:
        """The values within ± a limit."""
        return self.op("Clip", value, self.constant(-limit), self.constant(limit))


def onnx_model(form: Form) -> ModelProto:
    """The graph of a form, checked; its metadata hold the names of the labels."""
    graph, n_terms, n_labels = Graph(), len(form["terms"]), len(form["labels"])
    counts = weighed(graph, graph.cast("counts", np.float64), form["weighting"])
    raw = _combined(graph, counts, form)
    graph.op("Identity", _shown(graph, raw, form), output="scores")
    graph.cast(_decided(graph, counts, raw, form), np.int64, output="labels")
    helper, kinds = graph.onnx.helper, graph.onnx.TensorProto
    body = helper.make_graph(
        graph.nodes,
        "manylabel",
        [helper.make_tensor_value_info("counts", kinds.FLOAT, ["documents", n_terms])],
        [
            helper.make_tensor_value_info("scores", kinds.DOUBLE, ["documents", n_labels]),
            helper.make_tensor_value_info("labels", kinds.INT64, ["documents", n_labels]),
        ],
        graph.constants,
    )
    model: ModelProto = helper.make_model(body, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    helper.set_model_props(model, {"labels": json.dumps(form["labels"]), "written_by": form["written_by"]})
    if model.ByteSize() > MOST_BYTES:
        raise UnsupportedError("The model is too large for ONNX, whose files hold 2 GB. Export to json or sklearn.")
    graph.onnx.checker.check_model(model)
    return model


# ---- counts → scores -------------------------------------------------------------------------------------------------


def weighed(graph: Graph, x: str, weighting: Form | None) -> str:
    """The weighed counts, documents × terms."""
    if weighting is None:
        return x
    occurs = graph.above(x, 0.0)
    if weighting["tf"] == "log":
        logs = graph.op("Log", graph.where(occurs, x, 1.0))
        x = graph.where(occurs, graph.op("Add", logs, graph.constant(1.0)), 0.0)
    elif weighting["tf"] == "binary":
        x = graph.cast(occurs, np.float64)
    if weighting["idf"] is not None:
        x = graph.op("Mul", x, graph.constant(weighting["idf"]))
    return x if weighting["norm"] is None else _scaled(graph, x, weighting["norm"])


def _scaled(graph: Graph, x: str, norm: str) -> str:
    lengths = graph.total(graph.op("Abs", x) if norm == "l1" else graph.op("Mul", x, x))
    if norm == "l2":
        lengths = graph.op("Sqrt", lengths)
    return graph.op("Div", x, graph.where(graph.above(lengths, 0.0), lengths, 1.0))


def _combined(graph: Graph, counts: str, form: Form) -> str:
    """The scores that the decision rule reads."""
    found = form["combination"]
    if found is None:
        return _block(graph, counts, form["blocks"][0])
    scores = graph.constant(found["intercept"])
    for block, weights in zip(form["blocks"], found["weights"], strict=True):
        own = _opened(graph, _block(graph, counts, block), block["score_kind"])
        finite = graph.op("Where", graph.op("IsInf", own), graph.clip(own, LIMIT), own)
        scores = graph.op("Add", scores, graph.op("Mul", finite, graph.constant(weights)))
    learned = np.isnan(found["constant"])
    return graph.where(graph.constant(learned, np.bool_), scores, np.where(learned, 0.0, found["constant"]))


def _block(graph: Graph, counts: str, block: Form) -> str:
    x = weighed(graph, counts, block["weighting"])
    weights = _dense(block["weights"])
    if block["background"] is not None:
        weights = weights + _dense(block["background"]) @ block["loadings"]
    if block["values"] == "presence":
        x = graph.cast(graph.op("Not", graph.op("Equal", x, graph.constant(0.0))), np.float64)
    elif block["values"] == "unit":
        x = _scaled(graph, x, "l2")
    elif block["values"] == "bins":
        x, rows = _binned(graph, x, block["bins"])
        weights = weights[rows]
    scores = graph.op("MatMul", x, graph.constant(weights))
    # A sum of 0 · ∞ would be no number, so that constant labels are added behind the product.
    scores = graph.op("Add", scores, graph.constant(block["intercept"]))
    return _posteriors(graph, scores) if block["is_posterior"] else scores


def _dense(table: Any) -> npt.NDArray[np.float64]:
    return np.asarray(table.toarray() if isinstance(table, Csr) else table, dtype=np.float64)


def _binned(graph: Graph, x: str, bins: Form) -> tuple[str, npt.NDArray[Any]]:
    """The documents as rows over the bins, and the row of the weights that each column stands for."""
    low, steps = bins["low"], bins["n_bins"] - 1
    width = (bins["high"] - low) / steps
    inside = graph.op("Min", x, graph.constant(np.maximum(low, bins["high"])))
    inside = graph.op("Sub", graph.op("Max", inside, graph.constant(low)), graph.constant(low))
    place = graph.op("Floor", graph.op("Div", inside, graph.constant(np.where(width > 0, width, 1.0))))
    place = graph.op("Clip", place, graph.constant(0.0), graph.constant(steps - 1.0))
    place = graph.op("Mul", place, graph.constant((width > 0).astype(np.float64)))
    occurs = graph.above(x, 0.0)
    columns, rows = [], []
    for number in range(0 if bins["absence"] else 1, bins["n_bins"]):
        terms = np.flatnonzero(bins["rows"][:, number] >= 0)
        if not len(terms):
            continue
        rows.append(bins["rows"][terms, number])
        if number == 0:
            amount = graph.where(graph.op("Not", occurs), graph.constant(0.0), -1.0)
        else:
            here = graph.op("And", occurs, graph.op("Equal", place, graph.constant(number - 1.0)))
            own = x if bins["amount"] == "value" else graph.constant(float(number if bins["amount"] == "bin" else 1))
            amount = graph.where(here, own, 0.0)
        columns.append(graph.op("Gather", amount, graph.constant(terms, np.int64), axis=1))
    return graph.op("Concat", *columns, axis=1), np.concatenate(rows)


def _posteriors(graph: Graph, joint: str) -> str:
    highest = graph.op("ReduceMax", joint, axes=[1], keepdims=1)
    highest = graph.where(graph.above(highest, LOWEST), highest, 0.0)
    powers = graph.op("Exp", graph.op("Sub", joint, highest))
    total = graph.total(powers)
    return graph.op("Div", powers, graph.where(graph.above(total, 0.0), total, 1.0))


def _opened(graph: Graph, scores: str, kind: str) -> str:
    """Posteriors as log-odds within ±700; other scores as they are."""
    if kind != "posterior":
        return scores
    rest = graph.op("Sub", graph.constant(1.0), scores)
    return graph.clip(graph.op("Sub", graph.op("Log", scores), graph.op("Log", rest)), LIMIT)


def _possible(graph: Graph, raw: str, kind: str) -> str:
    return graph.above(raw, 0.0 if kind == "posterior" else LOWEST)


def _on_open_scale(graph: Graph, raw: str, kind: str) -> str:
    return graph.where(_possible(graph, raw, kind), _opened(graph, raw, kind), -np.inf)


def _sigmoid(graph: Graph, log_odds: str) -> str:
    powers = graph.op("Exp", graph.op("Neg", graph.clip(log_odds, LIMIT)))
    found = graph.op("Div", graph.constant(1.0), graph.op("Add", powers, graph.constant(1.0)))
    return graph.where(graph.above(log_odds, LOWEST), found, 0.0)


def _curve_log_odds(graph: Graph, curves: Form, scores: str) -> str:
    own = graph.op("Mul", graph.clip(scores, 1e300), graph.constant(curves["slopes"]))
    own = graph.clip(graph.op("Add", own, graph.constant(curves["intercepts"])), LIMIT)
    return graph.where(graph.above(scores, LOWEST), own, -np.inf)


def _shown(graph: Graph, raw: str, form: Form) -> str:
    """The scores as manylabel shows them."""
    shown = form["shown"]
    if shown["curve"] == "none":
        return raw
    if shown["curve"] == "sigmoid":
        return _sigmoid(graph, raw)
    scores = _on_open_scale(graph, raw, form["score_kind"])
    if shown["curve"] == "logistic":
        return _sigmoid(graph, _curve_log_odds(graph, shown, scores))
    certain = graph.above(scores, -LOWEST)
    alone = graph.where(certain, graph.constant(0.0), -np.inf)
    scores = graph.op("Where", graph.any(certain), alone, scores)
    return _posteriors(graph, graph.op("Mul", scores, graph.constant(shown["factor"])))


# ---- scores → labels -------------------------------------------------------------------------------------------------


def _decided(graph: Graph, counts: str, raw: str, form: Form) -> str:
    """The predicted labels as truth values, documents × labels."""
    rule, kind, n_labels = form["decision"], form["score_kind"], len(form["labels"])
    columns = graph.constant(np.arange(n_labels), np.int64)
    best = graph.op("Equal", columns, graph.op("ArgMax", raw, axis=1, keepdims=1))
    if rule["rule"] == "best-label":
        return best
    possible = _possible(graph, raw, kind)
    chosen = graph.op("And", _chosen(graph, rule, raw, form), possible)
    if rule["at_least_one"]:
        alone = graph.op("And", graph.op("Not", graph.any(chosen)), graph.op("And", best, possible))
        chosen = graph.op("Or", chosen, alone)
    if not rule["labels_empty"]:
        known = graph.any(graph.op("Not", graph.op("Equal", counts, graph.constant(0.0))))
        chosen = graph.op("And", chosen, known)
    return chosen


def _chosen(graph: Graph, rule: Form, raw: str, form: Form) -> str:
    kind, n_labels = form["score_kind"], len(form["labels"])
    if rule["rule"] == "thresholds":
        scores = _opened(graph, raw, kind) if rule["log_odds"] else raw
        compare = "Greater" if rule["strict"] else "GreaterOrEqual"
        return graph.op(compare, scores, graph.constant(rule["thresholds"]))
    if rule["rule"] == "seen-sets":
        return _best_sets(graph, rule, _on_open_scale(graph, raw, kind))
    ordered, order = graph.sorted(raw, n_labels)
    zeros = graph.cast(graph.op("Mul", order, graph.constant(0, np.int64)), np.float64)
    ranks = graph.op("Add", zeros, graph.constant(np.arange(n_labels)))
    first = graph.cast(graph.op("Less", ranks, _how_many(graph, rule, raw, ordered)), np.float64)
    return graph.above(graph.op("ScatterElements", zeros, order, first, axis=1), 0.5)


def _how_many(graph: Graph, rule: Form, raw: str, ordered: str) -> str:
    """How many of the best labels each document gets, as a column or one number."""
    if rule["rule"] == "top-k":
        return graph.constant(float(rule["k"]))
    possible = graph.total(graph.cast(graph.above(raw, 0.0), np.float64))
    if not rule["log_tail"] and rule["threshold"] >= 1:
        return possible
    axis = graph.constant(1, np.int64)
    if rule["log_tail"]:
        after = graph.op("CumSum", ordered, axis, exclusive=1, reverse=1)
        short = graph.op("Less", graph.op("Neg", graph.op("Log", after)), graph.constant(-rule["threshold"]))
    else:
        short = graph.op("Less", graph.op("CumSum", ordered, axis), graph.constant(rule["threshold"]))
    wanted = graph.op("Add", graph.total(graph.cast(short, np.float64)), graph.constant(1.0))
    return graph.op("Min", wanted, possible)


def _best_sets(graph: Graph, rule: Form, scores: str) -> str:
    """The best of the label sets seen in training."""
    sets = rule["sets"].toarray()
    odds = _curve_log_odds(graph, rule["curves"], scores)
    impossible = graph.op("Not", graph.above(odds, LOWEST))
    by_set = graph.constant(sets.T)
    blocked = graph.above(graph.op("MatMul", graph.cast(impossible, np.float64), by_set), 0.5)
    finite = graph.op("Where", impossible, graph.constant(0.0), odds)
    logs = graph.op("Add", graph.op("MatMul", finite, by_set), graph.constant(rule["log_dependence"]))
    logs = graph.op("Where", blocked, graph.constant(-np.inf), logs)
    highest = graph.op("ReduceMax", logs, axes=[1], keepdims=1)
    some = graph.above(highest, LOWEST)
    weights = graph.op("Exp", graph.op("Sub", logs, graph.where(some, highest, 0.0)))
    values = logs
    if rule["metric"] == "hamming-loss":
        held = graph.op("MatMul", weights, graph.constant(sets))
        twice = graph.op("Mul", held, graph.constant(2.0))
        values = graph.op("MatMul", graph.op("Sub", twice, graph.total(weights)), by_set)
    elif rule["metric"] == "sample-f1":
        values = _expected_f1(graph, sets, weights)
    values = graph.op("Where", blocked, graph.constant(-np.inf), values)
    best = graph.op("ArgMax", values, axis=1, keepdims=0)
    return graph.op("And", graph.op("Gather", graph.constant(sets > 0, np.bool_), best, axis=0), some)


def _expected_f1(graph: Graph, sets: npt.NDArray[np.float64], weights: str) -> str:
    """The expected F1 of each set, documents × sets."""
    sizes = sets.sum(axis=1)
    groups = [(size, np.flatnonzero(sizes == size)) for size in np.unique(sizes)]
    own = {size: graph.op("Gather", weights, graph.constant(rows, np.int64), axis=1) for size, rows in groups}
    holding = {size: graph.op("MatMul", own[size], graph.constant(sets[rows])) for size, rows in groups if size}
    columns = []
    for size, rows in groups:
        if not size:
            columns.append(own[size])
            continue
        shares = [graph.op("Mul", held, graph.constant(2.0 / (size + other))) for other, held in holding.items()]
        columns.append(graph.op("MatMul", graph.op("Sum", *shares), graph.constant(sets[rows].T)))
    places = np.argsort(np.concatenate([rows for _, rows in groups]), kind="stable")
    return graph.op("Gather", graph.op("Concat", *columns, axis=1), graph.constant(places, np.int64), axis=1)
