"""Compiled twin of `manylabel.kernels.linear_reference.solve_labels`: linear classifiers of many labels on one CSR.

Each label is solved by coordinate descent on a working set of documents. A thread holds up to eight labels at a time,
so that one product with the weights of all of them finds the documents that each working set still lacks.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

from manylabel.kernels.linear_steps cimport (
    DONE, HINGE, IDLE, LANES, LOGISTIC, SOLVE, START, STEPS, Label, Rows, compact, cost_of, real, scatter, solve_set,
    take,
)

import numpy as np

cdef extern from *:
    """
    #if defined(__GNUC__)
    /* Vectors of lanes by hand: GCC would take four terms of one lane at a time, for twice the time. */
    #define MANYLABEL_LANES(name, real, parts) \\
    typedef real name##_part __attribute__((vector_size(16), aligned(sizeof(real)), may_alias)); \\
    static void name(const real* values, const int* columns, long long n, const real* weights, real* sums) { \\
        name##_part part[parts]; \\
        int c; \\
        long long k; \\
        for (c = 0; c < parts; c++) part[c] = (name##_part){0}; \\
        for (k = 0; k < n; k++) { \\
            const name##_part* row = (const name##_part*)(weights + (long long)columns[k] * 8); \\
            for (c = 0; c < parts; c++) part[c] += row[c] * values[k]; \\
        } \\
        for (c = 0; c < parts; c++) ((name##_part*)sums)[c] = part[c]; \\
    }
    #else
    #define MANYLABEL_LANES(name, real, parts) \\
    static void name(const real* values, const int* columns, long long n, const real* weights, real* sums) { \\
        int c; \\
        long long k; \\
        for (c = 0; c < 8; c++) sums[c] = 0; \\
        for (k = 0; k < n; k++) \\
            for (c = 0; c < 8; c++) sums[c] += weights[(long long)columns[k] * 8 + c] * values[k]; \\
    }
    #endif
    MANYLABEL_LANES(manylabel_lanes_single, float, 2)
    MANYLABEL_LANES(manylabel_lanes_double, double, 4)
    """
    # sums (8 lanes) = Σ_k values[k] · weights[columns[k]], term after term
    void lanes_single "manylabel_lanes_single"(
        const float* values, const int32_t* columns, int64_t n, const float* weights, float* sums) noexcept nogil
    void lanes_double "manylabel_lanes_double"(
        const double* values, const int32_t* columns, int64_t n, const double* weights, double* sums) noexcept nogil

cdef enum:
    NEW_A_ROUND = 2     # most labels that a thread takes in one round, so that threads share the costly ones

cdef struct Lists:      # of documents, for every label
    const int64_t* positive_starts
    const int32_t* positive_docs
    const int64_t* excluded_starts
    const int32_t* excluded_docs
    const int64_t* initial_starts
    const int32_t* initial_docs
    const double* initial_alpha


cdef void product(const real* values, const Rows* rows, const real* weights, real* scores) noexcept nogil:
    """scores (lanes × documents) = weights (terms × lanes)ᵀ · Xᵀ; what a lane gets does not depend on the others."""
    cdef int64_t i, start
    cdef int c
    cdef real[LANES] sums
    for i in range(rows.n):
        start = rows.indptr[i]
        if real is float:
            lanes_single(values + start, rows.indices + start, rows.indptr[i + 1] - start, weights, sums)
        else:
            lanes_double(values + start, rows.indices + start, rows.indptr[i + 1] - start, weights, sums)
        for c in range(LANES):
            scores[c * rows.n + i] = sums[c]


cdef real kth_largest(real* a, int64_t n, int64_t k) noexcept nogil:
    """Hoare's selection; reorders `a`."""
    cdef int64_t low = 0, high = n - 1, i, j
    cdef real pivot, kept
    k -= 1
    while low < high:
        pivot = a[(low + high) >> 1]
        i = low
        j = high
        while i <= j:
            while a[i] > pivot:
                i += 1
            while a[j] < pivot:
                j -= 1
            if i <= j:
                kept = a[i]
                a[i] = a[j]
                a[j] = kept
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return a[k]


cdef void begin(const real* values, const Rows* rows, const Lists* lists, Label* label) noexcept nogil:
    """An empty solution whose working set holds the positives and the support vectors of the warm start."""
    cdef int64_t k, i, c = label.number
    memset(label.w, 0, rows.d * sizeof(double))
    memset(label.member, 0, rows.n)
    label.size = 0
    label.epochs = 0
    label.offset = 0
    label.total = 0
    label.last_total = INFINITY
    label.inner_eps = 1e-2
    for i in range(rows.n):
        if rows.weights[i] <= 0:
            label.member[i] = 2
    for k in range(lists.positive_starts[c], lists.positive_starts[c + 1]):
        join(label, lists.positive_docs[k])
    label.positives = label.size
    for k in range(lists.excluded_starts[c], lists.excluded_starts[c + 1]):
        if label.member[lists.excluded_docs[k]] == 0:
            label.member[lists.excluded_docs[k]] = 2
    label.stage = START
    label.eps = 2
    if rows.loss == LOGISTIC:
        for i in range(rows.n):
            join(label, i)
        label.stage = SOLVE
        label.eps = rows.tol
    if lists.initial_starts[c] < lists.initial_starts[c + 1]:
        resume(lists, label)
        label.stage = SOLVE
        label.eps = max(rows.tol, 0.1)
    bound(values, rows, label)


cdef inline void join(Label* label, int64_t doc) noexcept nogil:
    if label.member[doc] == 0:
        label.member[doc] = 1
        label.docs[label.size] = <int32_t>doc
        label.alpha[label.size] = 0
        label.size += 1


cdef void resume(const Lists* lists, Label* label) noexcept nogil:
    """Start from the α of an earlier solution; its documents ascend."""
    cdef int64_t k, j, c = label.number
    for k in range(lists.initial_starts[c], lists.initial_starts[c + 1]):
        join(label, lists.initial_docs[k])
    for j in range(label.size):
        k = place(lists.initial_docs, lists.initial_starts[c], lists.initial_starts[c + 1], label.docs[j])
        if k >= 0:
            label.alpha[j] = lists.initial_alpha[k]


cdef int64_t place(const int32_t* docs, int64_t low, int64_t high, int32_t doc) noexcept nogil:
    cdef int64_t middle
    while low < high:
        middle = (low + high) >> 1
        if docs[middle] < doc:
            low = middle + 1
        elif docs[middle] > doc:
            high = middle
        else:
            return middle
    return -1


cdef void bound(const real* values, const Rows* rows, Label* label) noexcept nogil:
    """Clip α to its bounds and update w."""
    cdef int64_t j, i, start
    cdef double cost, y
    for j in range(label.size):
        i = label.docs[j]
        y = 1 if j < label.positives else -1
        cost = cost_of(rows, label, j)
        if rows.loss == HINGE:
            label.alpha[j] = min(label.alpha[j], cost)
        elif rows.loss == LOGISTIC:
            label.alpha[j] = max(min(1e-3 * cost, 1e-8), min(label.alpha[j], cost - min(1e-3 * cost, 1e-8)))
        if label.alpha[j] > 0:
            start = rows.indptr[i]
            scatter(values + start, rows.indices + start, rows.indptr[i + 1] - start, y * label.alpha[j], label.w)
            label.total += y * label.alpha[j]


cdef void add_centroid(const real* values, const Rows* rows, const Label* label, real* weights) noexcept nogil:
    """Put the sum of the positives into the label's lane."""
    cdef int64_t j, k
    for k in range(rows.d):
        weights[k * LANES] = 0
    for j in range(label.positives):
        for k in range(rows.indptr[label.docs[j]], rows.indptr[label.docs[j] + 1]):
            weights[<int64_t>rows.indices[k] * LANES] += values[k]


cdef double add_worst(const Rows* rows, Label* label, const real* scores, real limit, int64_t most,
                      real* room) noexcept nogil:
    """Add the `most` outside documents (all negative) of highest score above a limit; that score, −∞ if there is none."""
    cdef int64_t i, count = 0, end
    cdef real worst = -INFINITY, least = limit
    for i in range(rows.n):  # without a branch, as in `compact`
        room[count] = scores[i]
        count += (scores[i] > limit) & (label.member[i] == 0)
    for i in range(count):
        worst = room[i] if room[i] > worst else worst
    if count > most:
        least = kth_largest(room, count, most)
    end = label.size + most
    if count:
        for i in range(rows.n):
            if scores[i] >= least and scores[i] > limit and label.member[i] == 0 and label.size < end:
                join(label, i)
    return worst


cdef void judge(const Rows* rows, Label* label, const real* scores, real* room) noexcept nogil:
    """After a product: widen the working set, or tighten its tolerance, or be done."""
    cdef double bias = label.offset + label.beta * label.total, worst
    # What stays outside adds up linearly in the hinge's objective, and only by its squares in the other one.
    cdef double limit = (0.1 * rows.tol if rows.loss == HINGE else rows.tol) - 1 - bias
    if label.stage == START:
        add_worst(rows, label, scores, -INFINITY, <int64_t>((<double>rows.n) ** 0.5) + label.positives, room)
        label.stage = SOLVE
        return
    if label.epochs >= rows.max_epochs:
        label.stage = DONE
        return
    worst = 1 + bias + add_worst(rows, label, scores, limit, label.size // 2 + 10, room)
    if worst > -INFINITY:
        label.eps = max(rows.tol, min(label.eps, 0.5 * worst))
    elif label.eps > rows.tol:
        label.eps = rows.tol
    else:
        settle_bias(rows, label)


cdef void settle_bias(const Rows* rows, Label* label) noexcept nogil:
    """Be done, unless the bias is free and Σ α y is not yet 0: then take a step of the method of multipliers."""
    cdef double off = fabs(label.total), step = label.beta * label.total
    if not label.free_bias or (fabs(step) <= rows.tol and off <= rows.tol):
        label.stage = DONE
        return
    label.offset += step
    if off > 0.25 * label.last_total:
        label.beta *= 4
    label.last_total = off


cdef int fill(const real* values, const Rows* rows, const Lists* lists, Label* labels, int places, const int32_t[::1] order,
              const double[::1] costs, const double[::1] ratios, const uint64_t[::1] seeds,
              double beta, bint free_bias, real* weights, int64_t* counter) noexcept nogil:
    """Assign waiting labels to empty places; returns how many places are taken."""
    cdef int c, busy = 0, taken = 0
    cdef int64_t at
    for c in range(places):
        if labels[c].stage == IDLE and taken < NEW_A_ROUND:
            at = take(counter)
            if at < order.shape[0]:
                taken += 1
                labels[c].number = order[at]
                labels[c].cost_neg = costs[order[at]]
                labels[c].cost_pos = costs[order[at]] * ratios[order[at]]
                labels[c].random = seeds[order[at]]
                labels[c].beta = beta
                labels[c].free_bias = free_bias
                begin(values, rows, lists, &labels[c])
                if labels[c].stage == START:
                    add_centroid(values, rows, &labels[c], weights + c)
        busy += labels[c].stage != IDLE
    return busy


cdef void work(const real* values, const Rows* rows, Label* labels, int places, real* weights, real* scores,
               real* room, int32_t* order, const int32_t* stop) noexcept nogil:
    """One round: solve every label's working set, multiply once, and check every label by its scores."""
    cdef int c, solved = 0
    cdef int[LANES] lanes
    cdef double* sources[LANES]
    cdef int64_t k
    cdef bint needed = False
    for c in range(places):
        if labels[c].stage == SOLVE:
            solve_set(values, rows, &labels[c], order, stop)
            lanes[solved], sources[solved] = c, labels[c].w
            solved += 1
        # With the logistic loss every document is in the working set from the start, so none has to be added.
        needed |= labels[c].stage != IDLE and rows.loss != LOGISTIC
    if needed and not stop[0]:
        if solved == LANES:  # all of them, in the order of the lanes
            for k in range(rows.d):
                for c in range(LANES):
                    weights[k * LANES + c] = <real>sources[c][k]
        else:
            for k in range(rows.d):
                for c in range(solved):
                    weights[k * LANES + lanes[c]] = <real>sources[c][k]
        product(values, rows, weights, scores)
    for c in range(places):
        if labels[c].stage != IDLE:
            judge(rows, &labels[c], scores + c * rows.n, room)


cdef void recompute(const real* values, const Rows* rows, Label* label) noexcept nogil:
    """w = Σ α y x afresh: a term that only left traces of rounding behind gets its exact 0."""
    memset(label.w, 0, rows.d * sizeof(double))
    label.total = 0
    bound(values, rows, label)


def solve_labels(const real[::1] data, const int32_t[::1] indices, const int64_t[::1] indptr, int64_t n_columns,
                 const double[::1] squares, const double[::1] weights, const double[::1] own_squares,
                 const int64_t[::1] own_starts, const real[::1] own_data,
                 const int64_t[::1] positive_starts, const int32_t[::1] positive_docs,
                 const int64_t[::1] excluded_starts, const int32_t[::1] excluded_docs,
                 const int64_t[::1] initial_starts, const int32_t[::1] initial_docs, const double[::1] initial_alpha,
                 const int32_t[::1] order, const double[::1] costs, const double[::1] ratios, const uint64_t[::1] seeds,
                 int loss, double beta, bint free_bias, double tol, int64_t max_epochs, double prune, int places,
                 int64_t[::1] counter, int64_t[::1] finished, int32_t[::1] stop):
    """See the plain twin. `counter` hands out the labels of `order` to all threads; `stop` ends all of them early."""
    cdef Rows rows
    cdef Lists lists
    rows.n, rows.d = indptr.shape[0] - 1, n_columns
    rows.indptr, rows.indices = &indptr[0], &indices[0] if indices.shape[0] else NULL
    rows.squares, rows.weights = &squares[0], &weights[0]
    rows.own_squares, rows.own_starts = &own_squares[0], &own_starts[0]
    rows.loss, rows.tol, rows.max_epochs = loss, tol, max_epochs
    # an empty list has no first element to point at
    lists.positive_starts, lists.positive_docs = &positive_starts[0], &positive_docs[0] if positive_docs.shape[0] else NULL
    lists.excluded_starts, lists.excluded_docs = &excluded_starts[0], &excluded_docs[0] if excluded_docs.shape[0] else NULL
    lists.initial_starts, lists.initial_docs = &initial_starts[0], &initial_docs[0] if initial_docs.shape[0] else NULL
    lists.initial_alpha = &initial_alpha[0] if initial_alpha.shape[0] else NULL
    cdef const real* values = &data[0] if data.shape[0] else NULL
    cdef const real* own_values = &own_data[0] if own_data.shape[0] else NULL
    return run(values, own_values, &rows, &lists, order, costs, ratios, seeds, beta, free_bias, prune, places, counter, finished,
               stop)


cdef list run(const real* values, const real* own_values, const Rows* rows, const Lists* lists, const int32_t[::1] order,
              const double[::1] costs, const double[::1] ratios, const uint64_t[::1] seeds, double beta,
              bint free_bias, double prune, int places, int64_t[::1] counter, int64_t[::1] finished,
              int32_t[::1] stop):
    """Round after round until no label is left."""
    cdef int c, busy
    cdef int64_t kept, most = rows.d + rows.own_starts[rows.n] + 1
    cdef Label[LANES] labels
    dtype = np.float32 if real is float else np.float64
    # Untouched pages of an empty array take no memory, so every label may have room for all documents.
    of_docs, of_alpha = np.empty((places, rows.n), dtype=np.int32), np.empty((places, rows.n))
    cdef int32_t[:, ::1] docs = of_docs
    cdef double[:, ::1] alpha = of_alpha
    cdef uint8_t[:, ::1] member = np.empty((places, rows.n), dtype=np.uint8)
    # one term more than there are, so that there is one to point at where documents have none
    cdef double[:, ::1] w = np.empty((places, rows.d + 1))
    cdef real[::1] lanes = np.zeros((rows.d + 1) * LANES, dtype=dtype)
    cdef real[::1] scores = np.zeros(rows.n * LANES, dtype=dtype)
    cdef real[::1] room = np.empty(rows.n, dtype=dtype)
    cdef int32_t[::1] visits = np.empty(rows.n, dtype=np.int32)
    of_weights, of_columns = np.empty(most, dtype=dtype), np.empty((2, most), dtype=np.int32)
    cdef real[::1] weights = of_weights
    cdef int32_t[:, ::1] columns = of_columns
    cdef double[::1] sums = np.empty(STEPS)
    for c in range(places):
        labels[c].stage = IDLE
        labels[c].docs, labels[c].alpha = &docs[c, 0], &alpha[c, 0]
        labels[c].member, labels[c].w = &member[c, 0], &w[c, 0]
    results = []
    while not stop[0]:
        with nogil:
            busy = fill(values, rows, lists, labels, places, order, costs, ratios, seeds, beta, free_bias,
                        &lanes[0], &counter[0])
            if busy:
                work(values, rows, labels, places, &lanes[0], &scores[0], &room[0], &visits[0], &stop[0])
        if not busy:
            break
        for c in range(places):
            if labels[c].stage == DONE and not stop[0]:
                with nogil:
                    recompute(values, rows, &labels[c])
                    kept = compact(rows, &labels[c], own_values, prune, &sums[0], &weights[0], &columns[0, 0],
                                   &columns[1, 0])
                results.append(collected(&labels[c], rows.max_epochs, of_columns[0, :kept], of_weights[:kept],
                                         of_docs[c, :labels[c].size], of_alpha[c, :labels[c].size]))
                labels[c].stage = IDLE
                take(&finished[0])
    return results


cdef tuple collected(Label* label, int64_t max_epochs, columns, weights, docs, alpha):
    """The label's number, terms and weights, bias, documents and α, epochs, and whether it converged."""
    support = alpha.nonzero()[0]
    bias = label.offset + label.beta * label.total
    return (label.number, columns.copy(), weights.copy(), bias, docs[support], alpha[support], label.epochs,
            label.epochs < max_epochs)
