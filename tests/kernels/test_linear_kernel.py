"""The compiled solver of linear classifiers and its plain twin, at their edges."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from manylabel import kernels
from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.kernels import linear_reference, linear_solvers
from manylabel.kernels.linear_solvers import LinearFit, fit_linear
from manylabel.progress import reporting_to

LOSSES = ["squared_hinge", "hinge", "logistic"]
BIASES = ["regularised", "free", "none"]
compiled = pytest.mark.skipif(kernels.compiled_module("linear") is None, reason="the kernel is not compiled")


def problem(n: int = 80, d: int = 40, n_labels: int = 5, seed: int = 0) -> tuple[Csr, Csr]:
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=0.15, format="csr", random_state=rng)
    Y = X @ rng.normal(size=(d, n_labels)) + 0.3 * rng.normal(size=(n, n_labels))
    return Csr(X), Csr((np.quantile(Y, 0.8, axis=0) < Y).astype(np.int8))


def dense(fit: LinearFit) -> Any:
    return fit.weights if isinstance(fit.weights, np.ndarray) else fit.weights.toarray()


def assert_same(a: LinearFit, b: LinearFit, atol: float = 0.0) -> None:
    np.testing.assert_allclose(dense(a), dense(b), rtol=0, atol=atol)
    np.testing.assert_allclose(a.intercept, b.intercept, rtol=0, atol=atol)


@compiled
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_compiled_and_plain_visit_the_same_documents(
    monkeypatch: pytest.MonkeyPatch, loss: Any, bias: Any, tol: float
) -> None:
    X, Y = problem()
    weights = np.random.default_rng(1).uniform(0.5, 2, X.shape[0])
    options = {"loss": loss, "bias": bias, "tol": tol, "J": 2.0, "sample_weight": weights, "max_iter": 10_000}
    fast = fit_linear(X, Y, **options)
    monkeypatch.setattr(linear_solvers, "solve_labels", linear_reference.solve_labels)
    plain = fit_linear(X, Y, n_jobs=1, **options)
    assert fast.epochs.tolist() == plain.epochs.tolist()
    assert_same(fast, plain, 1e-9)
    np.testing.assert_allclose(fast.dual.toarray(), plain.dual.toarray(), atol=1e-9)


@compiled
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_number_of_threads_gives_the_same_bits(loss: Any, dtype: Any) -> None:
    X, Y = problem(300, 60, 21)
    fits = [fit_linear(Csr(X.astype(dtype)), Y, loss=loss, n_jobs=jobs) for jobs in (1, 2, 3, 8, 30)]
    for other in fits[1:]:
        assert_same(fits[0], other)
        assert (fits[0].dual != other.dual).nnz == 0  # type: ignore[attr-defined]


@compiled
@pytest.mark.parametrize("tol", [1e-3, 1e-6])  # single and double precision
def test_compiled_and_plain_keep_the_same_weights(monkeypatch: pytest.MonkeyPatch, tol: float) -> None:
    X, Y = problem(80, 60, 3)
    whole, fast = (fit_linear(X, Y, tol=tol, prune=share) for share in (0.0, 0.3))
    monkeypatch.setattr(linear_solvers, "solve_labels", linear_reference.solve_labels)
    plain = fit_linear(X, Y, tol=tol, prune=0.3, n_jobs=1)
    np.testing.assert_array_equal(dense(fast), dense(plain))
    norms = np.linalg.norm(dense(whole), axis=0)
    lost = np.linalg.norm(dense(whole) - dense(fast), axis=0) / norms
    assert ((lost > 0.2) & (lost <= 0.3)).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("plain", [False, True])
def test_terms_of_one_document_are_learned_like_others(monkeypatch: pytest.MonkeyPatch, loss: Any, plain: bool) -> None:
    """Rotating the terms that only one document has makes them terms of two, and changes no product of documents."""
    if plain:
        monkeypatch.setattr(linear_solvers, "solve_labels", linear_reference.solve_labels)
    X, Y = problem(40, 20, 3)
    own = sparse.diags_array(np.linspace(0.5, 2.0, 40)).tocsr()
    rotated = sparse.block_diag([np.array([[0.6, 0.8], [-0.8, 0.6]])] * 20)  # keeps all products of documents
    options = {"loss": loss, "tol": 1e-7, "max_iter": 100_000, "n_jobs": 1}
    alone = fit_linear(Csr(sparse.hstack([X, own])), Y, **options)
    shared = fit_linear(Csr(sparse.hstack([X, own @ rotated])), Y, **options)
    assert alone.weights.shape == (60, 3)
    np.testing.assert_allclose(alone.intercept, shared.intercept, atol=1e-5)
    np.testing.assert_allclose(dense(alone)[:20], dense(shared)[:20], atol=1e-5)
    np.testing.assert_allclose(dense(alone)[20:], rotated @ dense(shared)[20:], atol=1e-5)
    signs = np.where(Y.toarray() == 1, 1, -1)
    np.testing.assert_allclose(dense(alone)[20:], own @ (signs * alone.dual.toarray()), atol=1e-12)


def test_plain_threads_take_each_label_once() -> None:
    """Threads that change places as often as they can: none takes what another one took."""
    counter, taken, interval = np.zeros(1, np.int64), [], sys.getswitchinterval()

    def take() -> None:
        while (number := linear_reference.advance(counter)) < 20_000:
            taken.append(number)

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            for running in [pool.submit(take) for _ in range(8)]:
                running.result()
    finally:
        sys.setswitchinterval(interval)
    assert sorted(taken) == list(range(20_000))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", BIASES)
def test_empty_documents_and_one_document(loss: Any, bias: Any) -> None:
    Y = Csr(np.array([[1], [0], [1]]))
    fit = fit_linear(Csr((3, 4)), Y, loss=loss, bias=bias, tol=1e-6, max_iter=10_000)
    assert not dense(fit).any()
    assert np.isfinite(fit.intercept).all()
    one = fit_linear(Csr(np.array([[1.0, 2.0]])), Csr(np.array([[1, 0]])), loss=loss, bias=bias)
    assert one.intercept.tolist() == [1.0, -1.0]
    two = fit_linear(Csr(np.array([[1.0], [0.0]])), Csr(np.array([[1], [0]])), loss=loss, bias=bias)
    assert dense(two)[0, 0] > 0


def test_more_columns_than_sixteen_bits_count() -> None:
    d = 200_000
    X = Csr(sparse.csr_array((np.ones(4), ([0, 1, 2, 3], [d - 1, 65_536, 0, d - 1])), shape=(4, d)))
    fit = fit_linear(X, Csr(np.array([[1], [0], [0], [1]])), tol=1e-8)
    assert sparse.issparse(fit.weights)
    assert fit.weights.nnz == 3
    small = fit_linear(Csr(X[:, [0, 65_536, d - 1]]), Csr(np.array([[1], [0], [0], [1]])), tol=1e-8)
    np.testing.assert_allclose(fit.weights.toarray()[[0, 65_536, d - 1]], dense(small), atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_wide_indices_unsorted_and_repeated_entries(loss: Any) -> None:
    X, Y = problem()
    expected = fit_linear(X, Y, loss=loss)
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    messy = Csr(
        (np.repeat(X.data / 2, 2)[::-1].copy(), np.repeat(X.indices, 2)[::-1].copy(), 2 * X.indptr), shape=X.shape
    )
    backwards = Csr((messy.data, messy.indices, messy.indptr), shape=X.shape)
    lengths = np.diff(messy.indptr)[::-1]
    backwards = Csr((messy.data, messy.indices, np.concatenate([[0], np.cumsum(lengths)])), shape=X.shape)
    before = backwards.indices.copy()
    assert_same(fit_linear(wide, Y, loss=loss), expected)
    assert_same(
        fit_linear(Csr(backwards), Csr(Y.toarray()[::-1]), loss=loss, tol=1e-7),
        fit_linear(X, Y, loss=loss, tol=1e-7),
        1e-4,
    )
    assert (backwards.indices == before).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_leaving_out_is_training_without(loss: Any) -> None:
    X, Y = problem(120, 40, 3)
    y = Y.toarray()
    out = (np.random.default_rng(3).random(y.shape) < 0.3).astype(np.int8)
    options = {"loss": loss, "tol": 1e-7, "max_iter": 100_000}
    fit = fit_linear(X, Y, excluded=Csr(out), **options)
    for c in range(3):
        kept = np.flatnonzero((out[:, c] == 0) | (y[:, c] == 1))
        alone = fit_linear(Csr(X[kept]), Csr(y[kept][:, [c]]), **options)
        np.testing.assert_allclose(dense(fit)[:, [c]], dense(alone), atol=2e-5)
    weightless = np.where(np.arange(120) % 3 == 0, 0.0, 1.0)
    rest = np.flatnonzero(weightless)
    assert_same(
        fit_linear(X, Y, sample_weight=weightless, **options), fit_linear(Csr(X[rest]), Csr(Y[rest]), **options), 2e-5
    )


def test_a_label_whose_negatives_are_all_left_out_is_constant() -> None:
    X, Y = problem(30, 10, 2)
    out = Csr(np.repeat([[1, 0]], 30, axis=0))
    fit = fit_linear(X, Y, excluded=out)
    assert fit.intercept[0] == 1.0
    assert not dense(fit)[:, 0].any()
    assert dense(fit)[:, 1].any()


@compiled
@pytest.mark.parametrize("loss", LOSSES)
def test_a_former_solution_saves_epochs(loss: Any) -> None:
    X, Y = problem(400, 80, 12)
    options = {"loss": loss, "tol": 1e-5, "max_iter": 100_000}
    first = fit_linear(X, Y, C=1.0, **options)
    again = fit_linear(X, Y, C=1.0, initial=first.dual, **options)
    assert again.epochs.sum() < 0.35 * first.epochs.sum()
    assert_same(again, first, 1e-3)
    cold, warm = fit_linear(X, Y, C=1.3, **options), fit_linear(X, Y, C=1.3, initial=first.dual, **options)
    assert_same(warm, cold, 1e-3)
    most = fit_linear(Csr(X[:380]), Csr(Y[:380]), **options)
    grown = fit_linear(X, Y, initial=most.dual, **options)
    assert_same(grown, first, 1e-3)
    if loss != "hinge":  # its last digits take many epochs from wherever it starts
        assert warm.epochs.sum() < cold.epochs.sum()
        assert grown.epochs.sum() < first.epochs.sum()


@compiled
def test_time_is_shared_by_documents_that_matter() -> None:
    """Far negatives are scored but not visited again: ten times as many of them cost few epochs more."""
    X, Y = problem(300, 60, 4)
    far = Csr(
        sparse.block_array(
            [[X, None], [None, sparse.random_array((2700, 500), density=0.02, random_state=np.random.default_rng(1))]],
            format="csr",
        )
    )
    Z = Csr(sparse.vstack([Y, Csr((2700, 4), dtype=np.int8)], format="csr"))
    fit = fit_linear(far, Z, tol=1e-4)
    assert fit.converged.all()
    margins = np.where(Z.toarray() > 0, 1, -1) * (far @ dense(fit) + fit.intercept)
    gap = margins - 1 + fit.dual.toarray() / 2
    assert gap.min() > -2e-4
    assert np.abs(gap[fit.dual.toarray() > 0]).max() < 2e-4


ENDLESS = """
import signal, numpy as np
from manylabel.estimator import Csr
from manylabel.kernels.linear_solvers import fit_linear
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us with Ctrl-C ignored
rng = np.random.default_rng(0)
X, Y = Csr(rng.normal(size=(1500, 60))), Csr((rng.random((1500, 4)) < 0.5).astype(np.int8))
print("ready", flush=True)
fit_linear(X, Y, loss="hinge", C=1e6, tol=1e-12, max_iter=10**9)
"""


@compiled
def test_ctrl_c_is_heard_within_a_second() -> None:
    running = subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        time.sleep(0.5)
        began = time.perf_counter()
        running.send_signal(signal.SIGINT)
        _, output = running.communicate(timeout=20)
        assert time.perf_counter() - began < 2  # a second to hear it, and the interpreter's own end
        assert "KeyboardInterrupt" in output
    finally:
        running.kill()


def test_progress_counts_labels() -> None:
    class Sink:
        steps, total = 0, 0

        def started(self, what: str, total: int | None) -> None:
            self.total = total or 0

        def advanced(self, what: str, by: int) -> None:
            self.steps += by

        def finished(self, what: str) -> None:
            pass

    sink = Sink()
    with reporting_to(sink):
        fit_linear(*problem(40, 20, 7), n_jobs=2)
    assert (sink.steps, sink.total) == (7, 7)


def test_too_few_epochs_are_noticed() -> None:
    X, Y = problem()
    assert not fit_linear(X, Y, C=100.0, max_iter=2).converged.any()
    assert fit_linear(X, Y).converged.all()


def test_weights_are_dense_where_that_is_smaller() -> None:
    X, Y = problem()
    assert isinstance(fit_linear(X, Y).weights, np.ndarray)
    wide = Csr(sparse.hstack([X, Csr((X.shape[0], 1000))], format="csr"))
    fit = fit_linear(wide, Y)
    assert sparse.issparse(fit.weights)
    np.testing.assert_array_equal(fit.weights.toarray()[:40], dense(fit_linear(X, Y)))


def test_wrong_shapes_are_sentences() -> None:
    X, Y = problem(30, 10, 2)
    with pytest.raises(DataError, match=r"30 documents and 2 labels"):
        fit_linear(X, Y, excluded=Csr((30, 3)))
    with pytest.raises(ParameterError, match="one for each of the 2 labels"):
        fit_linear(X, Y, C=np.ones(3))
    with pytest.raises(ParameterError, match="above 0"):
        fit_linear(X, Y, J=np.array([1.0, 0.0]))
