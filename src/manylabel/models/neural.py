"""A neural network of one hidden layer, with the terms of a document as inputs and one output per label."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logsumexp

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import ManylabelWarning
from manylabel.kernels.label_tables import score_one
from manylabel.kernels.score_batches import batch_scores
from manylabel.models.base import DocumentScorer, MultiLabelModel
from manylabel.models.network_training import Network, Schedule, Weights, train_network
from manylabel.models.score_kinds import ScoreKind
from manylabel.parameters import Constraint, Number, OneOf
from manylabel.stored import Stored, reals, singles


class UnsettledNetworkWarning(ManylabelWarning):
    """A network was still improving when its training ended."""


class NeuralNetwork(MultiLabelModel):
    """The log-odds of each label from a network of V inputs, one layer of hidden units and one output per label.

    z = activation(x W₁ + b₁),   log P_l/(1 − P_l) = z · w_l + b_l

    W and b minimise the cross-entropy summed over documents and labels plus λ times the sum of squared weights
    (`decay`); intercepts are free. Source: Ueda & Saito 2002, section 4.1, whose network has 50 hidden units and reads
    counts divided by the length of the document; activation, optimiser and λ are not given there. scikit-learn's
    MLPClassifier takes the steps: Adam (`learning_rate`), batches of 200 documents, single precision, at most
    `max_epochs` epochs.

    Training stops when `patience` epochs have not lowered the loss by `tol` of its first value, and goes back to the
    best epoch. The loss is that of the share `validation` of the documents, held out; where that is fewer than 20
    documents it is that of training.

    A label without documents has log-odds −∞, one of all documents +∞. With one class per document the outputs are
    those of a softmax (of one sigmoid for two classes), given as log-odds.

    >>> X, Y = np.array([[2, 0], [1, 0], [0, 1], [0, 3], [1, 1]]), np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1]])
    >>> NeuralNetwork(hidden=5).fit(X, Y).predict([[4, 0], [0, 2]]).tolist()
    [[1, 0], [0, 1]]
    """

    score_kind = ScoreKind.LOG_ODDS
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "hidden": Number(low=1, whole=True),
        "activation": OneOf("tanh", "logistic"),
        "decay": Number(low=0),
        "learning_rate": Number(low=0, open_low=True),
        "max_epochs": Number(low=1, whole=True),
        "validation": Number(low=0, high=1, open_high=True),
        "patience": Number(low=1, whole=True),
        "tol": Number(low=0),
        "seed": Number(low=0, whole=True),
    }

    hidden_weights_: Weights
    hidden_intercept_: Weights
    output_weights_: Weights
    output_intercept_: Floats
    losses_: Floats
    """The loss that decided when to stop, epoch by epoch."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "hidden_weights_": singles("terms", "hidden"),
        "hidden_intercept_": singles("hidden"),
        "output_weights_": singles("hidden", "labels"),
        "output_intercept_": singles("labels"),
        "losses_": reals(None),
    }

    def __init__(
        self,
        hidden: int = 50,
        activation: Literal["tanh", "logistic"] = "tanh",
        decay: float = 1e-3,
        learning_rate: float = 0.03,
        max_epochs: int = 200,
        validation: float = 0.1,
        patience: int = 3,
        tol: float = 1e-3,
        seed: int = 0,
    ) -> None:
        self.hidden = hidden
        self.activation = activation
        self.decay = decay
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.validation = validation
        self.patience = patience
        self.tol = tol
        self.seed = seed

    # --- learning ---------------------------------------------------------------------------------------------

    def learn(self, X: Csr, Y: Csr) -> None:
        """Train on the labels that some documents have and others do not."""
        n_l = np.bincount(Y.indices, minlength=Y.shape[1])
        labels = np.flatnonzero((n_l > 0) & (n_l < X.shape[0]))
        self.hidden_weights_ = np.zeros((X.shape[1], self.hidden), dtype=np.float32)
        self.hidden_intercept_ = np.zeros(self.hidden, dtype=np.float32)
        self.output_weights_ = np.zeros((self.hidden, Y.shape[1]), dtype=np.float32)
        self.output_intercept_ = np.where(n_l == 0, -np.inf, np.inf)
        self.losses_ = np.zeros(0)
        if len(labels):
            self._keep(self._train(X, Y, labels), labels)

    def _train(self, X: Csr, Y: Csr, labels: Ints) -> Network:
        if self.label_form_ == "single":
            targets: Csr | Ints = np.searchsorted(labels, Y.indices)
        elif len(labels) == 1:
            targets = Y[:, labels].toarray().ravel().astype(np.int64)
        else:
            targets = Csr(Y[:, labels])
        how = Schedule(
            self.hidden, self.activation, float(self.decay), float(self.learning_rate), self.max_epochs,
            float(self.validation), self.patience, float(self.tol), self.seed,
        )  # fmt: skip
        found = train_network(X, targets, how, self._loss)
        if not found.settled:
            warnings.warn(
                f"NeuralNetwork: the loss was still falling after max_epochs={self.max_epochs}. Raise max_epochs or "
                "learning_rate, or raise tol to stop earlier.",
                UnsettledNetworkWarning,
                stacklevel=4,
            )
        return found

    def _keep(self, found: Network, labels: Ints) -> None:
        """The network's outputs in the columns of their labels; the one output of two classes is used for both."""
        self.hidden_weights_, self.hidden_intercept_ = found.hidden_weights, found.hidden_intercept
        weights, intercept = found.output_weights, found.output_intercept
        if len(labels) == 2 and weights.shape[1] == 1:
            weights, intercept = np.hstack([-weights, weights]), np.hstack([-intercept, intercept])
        self.output_weights_[:, labels] = weights
        self.output_intercept_[labels] = intercept
        self.losses_ = found.losses

    def _loss(self, found: Network, X: Csr, targets: Any) -> float:
        """The mean cross-entropy of documents, summed over the outputs, without the penalty."""
        hidden = self._activate(np.asarray(X @ found.hidden_weights) + found.hidden_intercept)
        outputs = np.asarray(hidden @ found.output_weights + found.output_intercept, dtype=np.float64)
        if isinstance(targets, Csr):
            signs = 2.0 * targets.toarray() - 1.0
        elif outputs.shape[1] == 1:
            signs = 2.0 * targets[:, np.newaxis] - 1.0
        else:
            return float(np.mean(logsumexp(outputs, axis=1) - outputs[np.arange(len(targets)), targets]))
        return float(np.logaddexp(0.0, -signs * outputs).sum() / max(len(signs), 1))

    # --- scoring ----------------------------------------------------------------------------------------------

    def _activate(self, sums: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.asarray(np.tanh(sums) if self.activation == "tanh" else expit(sums))

    def score_batch(self, X: Csr) -> Floats:
        """The log-odds of the labels, documents × labels."""
        return self._outputs(batch_scores(X, self.hidden_weights_))

    def _outputs(self, sums: Floats) -> Floats:
        """Log-odds from the summed inputs of the hidden units, without BLAS, whose sums depend on the batch."""
        hidden = self._activate(sums + self.hidden_intercept_)
        outputs = batch_scores(hidden, self.output_weights_) + self.output_intercept_
        if self.label_form_ == "single" and self.n_labels_ > 2:
            return softmax_log_odds(outputs)
        return np.asarray(outputs, dtype=np.float64)

    def document_scorer(self) -> DocumentScorer:
        """A scorer that reads the weights of the document's terms only."""

        def score(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            sums = np.zeros((1, self.hidden))
            score_one(terms, values, None, None, self.hidden_weights_, sums[0])
            scores: Floats = self._outputs(sums)[0]
            return scores

        return score


def softmax_log_odds(outputs: Floats) -> Floats:
    """The log-odds p_c/(1 − p_c) for p = softmax(outputs): o_c − log Σ_{c' ≠ c} exp(o_c').

    >>> np.exp(softmax_log_odds(np.log([[1.0, 2.0, 6.0]]))).round(6).tolist()
    [[0.125, 0.285714, 2.0]]
    """
    rows, best = np.arange(len(outputs)), outputs.argmax(axis=1)
    total = logsumexp(outputs, axis=1, keepdims=True)
    share = np.exp(outputs - total)
    share[rows, best] = 0.0  # 1 − p loses its digits where p is nearly 1: the largest is summed over the others
    odds = np.asarray(outputs - total - np.log1p(-share), dtype=np.float64)
    others = outputs.copy()
    others[rows, best] = -np.inf
    odds[rows, best] = outputs[rows, best] - logsumexp(others, axis=1)
    return odds
