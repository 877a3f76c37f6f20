"""Dual coordinate descent for one label on its working set of documents, written to be inlined into `linear.pyx`.

Hsieh, Chang, Lin, Keerthi & Sundararajan 2008 for the hinge losses; Yu, Huang & Lin 2011 for the logistic loss.
"""

from libc.math cimport INFINITY, fabs, log
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    #define manylabel_take(counter) ((long long)_InterlockedExchangeAdd64((volatile __int64*)(counter), 1))
    #define manylabel_fetch(place) ((void)(place))
    #else
    #define manylabel_take(counter) __atomic_fetch_add((counter), 1, __ATOMIC_RELAXED)
    /* The empty statement keeps GCC from dropping functions that do nothing but prefetch. */
    #define manylabel_fetch(place) do { __builtin_prefetch(place); __asm__ volatile (""); } while (0)
    #endif
    """
    int64_t take "manylabel_take"(int64_t* counter) noexcept nogil
    void fetch "manylabel_fetch"(const void* place) noexcept nogil

ctypedef fused real:
    float
    double

cdef enum:
    LANES = 8           # labels of one product: eight floats, half a cache line
    HINGE = 0
    SQUARED = 1
    LOGISTIC = 2
    IDLE = 0            # a place without a label
    START = 1           # the first product compares documents with the centroid of the positives
    SOLVE = 2
    DONE = 3
    STEPS = 2048        # of weights by their size: 16 powers of two, each in 128
    NEAR = 2            # documents ahead whose terms are fetched into the cache
    FURTHER = 6         # documents ahead whose single numbers are fetched
    SHIFT = 45          # the bits of a double below the exponent and seven digits

cdef struct Rows:       # the documents, shared by all labels
    int64_t n
    int64_t d
    const int64_t* indptr
    const int32_t* indices
    const double* squares
    const double* weights
    const double* own_squares       # the part of `squares` that the document's own terms have, see the plain twin
    const int64_t* own_starts
    int loss
    double tol
    int64_t max_epochs

cdef struct Label:
    int64_t number      # the label's column
    int stage
    int64_t positives   # how many of `docs` are positive; they come first
    int64_t size        # of the working set
    int64_t epochs
    double cost_pos
    double cost_neg
    double beta         # what the constant feature adds to every kernel value
    double offset       # multiplier of the free bias
    double total        # Σ α y, so that b = offset + beta · total
    double last_total
    bint free_bias
    double eps
    double inner_eps    # of the logistic loss's one-dimensional steps
    uint64_t random
    int32_t* docs
    double* alpha
    uint8_t* member     # 1 in the working set, 2 left out
    double* w


cdef inline double gather(const real* values, const int32_t* columns, int64_t n, const double* w) noexcept nogil:
    """The dot product; four sums, because one alone would wait for each addition."""
    cdef double a = 0, b = 0, c = 0, e = 0
    cdef int64_t k = 0
    while k + 3 < n:
        a += w[columns[k]] * values[k]
        b += w[columns[k + 1]] * values[k + 1]
        c += w[columns[k + 2]] * values[k + 2]
        e += w[columns[k + 3]] * values[k + 3]
        k += 4
    while k < n:
        a += w[columns[k]] * values[k]
        k += 1
    return (a + b) + (c + e)


cdef inline void scatter(const real* values, const int32_t* columns, int64_t n, double by, double* w) noexcept nogil:
    cdef int64_t k
    for k in range(n):
        w[columns[k]] += by * values[k]


cdef inline int64_t magnitude(double value) noexcept nogil:
    """A number that grows with |value|: its exponent and the first seven binary digits."""
    cdef uint64_t bits
    memcpy(&bits, &value, sizeof(double))
    return <int64_t>((bits << 1) >> (SHIFT + 1))


cdef inline int64_t largest(const real* weights, int64_t n, double share, double* sums, int32_t* places) noexcept nogil:
    """Put the places of the largest weights into `places`; see the plain twin. `sums` has room for STEPS numbers."""
    cdef int64_t k, step, least, top = 0, found = 0
    cdef double total = 0, lost = 0
    for k in range(n):
        top = max(top, magnitude(weights[k]))
    top -= STEPS - 1
    memset(sums, 0, STEPS * sizeof(double))
    for k in range(n):
        sums[max(magnitude(weights[k]) - top, 0)] += <double>weights[k] * <double>weights[k]
    for step in range(STEPS):
        total += sums[step]
    least = STEPS
    for step in range(STEPS):
        lost += sums[step]
        if lost > share * share * total:
            least = step
            break
    for k in range(n):
        places[found] = <int32_t>k
        found += max(magnitude(weights[k]) - top, 0) >= least
    return found


cdef inline int64_t compact(const Rows* rows, const Label* label, const real* own_values, double share, double* sums,
                            real* weights, int32_t* columns, int32_t* places) noexcept nogil:
    """The weights that are kept and their columns, at the start of these arrays; how many there are."""
    cdef int64_t j, k, n = 0
    cdef double by
    for k in range(rows.d):  # without a branch: which weights are 0 cannot be foreseen
        columns[n], weights[n] = <int32_t>k, <real>label.w[k]
        n += label.w[k] != 0
    for j in range(label.size):
        if label.alpha[j] > 0:
            by = label.alpha[j] if j < label.positives else -label.alpha[j]
            for k in range(rows.own_starts[label.docs[j]], rows.own_starts[label.docs[j] + 1]):
                columns[n], weights[n] = <int32_t>(rows.d + k), <real>(by * own_values[k])
                n += by * own_values[k] != 0
    if share == 0:
        return n
    n = largest(weights, n, share, sums, places)
    for k in range(n):
        columns[k], weights[k] = columns[places[k]], weights[places[k]]
    return n


cdef inline void fetch_row(const real* values, const Rows* rows, int64_t row) noexcept nogil:
    """Prefetch the first six cache lines of a document to come, which may be anywhere in memory."""
    cdef int64_t start = rows.indptr[row]
    cdef int line
    for line in range(6):
        fetch(values + start + 16 * line)
        fetch(rows.indices + start + 16 * line)


cdef inline void fetch_facts(const Rows* rows, const Label* label, int64_t j) noexcept nogil:
    """Prefetch the single numbers of a document further ahead; the place of its terms is one of them."""
    cdef int64_t row = label.docs[j]
    fetch(rows.indptr + row)
    fetch(rows.squares + row)
    fetch(rows.weights + row)
    fetch(rows.own_squares + row)
    fetch(label.alpha + j)


cdef inline void fetch_ahead(const real* values, const Rows* rows, const Label* label, const int32_t* order, int64_t s,
                             int64_t n) noexcept nogil:
    """Prefetch what the next steps after s read. Without it they wait for memory a third of the time."""
    if s + FURTHER < n:
        fetch_facts(rows, label, order[s + FURTHER])
    if s + NEAR < n:
        fetch_row(values, rows, label.docs[order[s + NEAR]])


cdef inline void shuffle(Label* label, int32_t* order, int64_t active) noexcept nogil:
    """Fisher and Yates's shuffle by Marsaglia's xorshift."""
    cdef uint64_t r = label.random
    cdef int64_t i, j
    cdef int32_t kept
    for i in range(active):
        r ^= r << 13
        r ^= r >> 7
        r ^= r << 17
        j = i + <int64_t>(((r >> 32) * <uint64_t>(active - i)) >> 32)
        kept = order[i]
        order[i] = order[j]
        order[j] = kept
    label.random = r


cdef inline double gradient_at(const real* values, const Rows* rows, const Label* label, int64_t j) noexcept nogil:
    """The derivative of the dual objective by α_j: y f(x) − 1, and α/(2C) for the squared hinge."""
    cdef int64_t i = label.docs[j], start = rows.indptr[i]
    cdef double y = 1 if j < label.positives else -1
    cdef double own = rows.own_squares[i] if rows.loss == HINGE else 0.5 / cost_of(rows, label, j) + rows.own_squares[i]
    cdef double f = gather(values + start, rows.indices + start, rows.indptr[i + 1] - start, label.w)
    return y * (f + label.offset + label.beta * label.total) - 1 + own * label.alpha[j]


cdef inline double cost_of(const Rows* rows, const Label* label, int64_t j) noexcept nogil:
    return rows.weights[label.docs[j]] * (label.cost_pos if j < label.positives else label.cost_neg)


cdef inline void step(const real* values, const Rows* rows, Label* label, int64_t j, double gradient,
                      double upper) noexcept nogil:
    """Minimise the dual objective over α_j alone."""
    cdef int64_t i = label.docs[j], start = rows.indptr[i]
    cdef double curve = 0 if rows.loss == HINGE else 0.5 / cost_of(rows, label, j), alpha = label.alpha[j], moved
    curve += rows.squares[i] + label.beta
    moved = alpha - gradient / curve if curve > 0 else (0 if gradient > 0 else upper)
    moved = 0 if moved < 0 else (upper if moved > upper else moved)
    label.alpha[j] = moved
    moved = (moved - alpha) * (1 if j < label.positives else -1)
    scatter(values + start, rows.indices + start, rows.indptr[i + 1] - start, moved, label.w)
    label.total += moved


cdef inline double sweep(const real* values, const Rows* rows, Label* label, int32_t* order, int64_t* active,
                         double* highest, double* lowest) noexcept nogil:
    """One epoch of coordinate descent with shrinking over the first `active` of `order`; the range of violations."""
    cdef int64_t s = 0, j
    cdef double alpha, gradient, violation, upper, high = -INFINITY, low = INFINITY
    cdef int32_t kept
    while s < active[0]:
        j = order[s]
        fetch_ahead(values, rows, label, order, s, active[0])
        alpha = label.alpha[j]
        upper = cost_of(rows, label, j) if rows.loss == HINGE else INFINITY
        gradient = gradient_at(values, rows, label, j)
        if (alpha == 0 and gradient > highest[0]) or (alpha == upper and gradient < lowest[0]):
            active[0] -= 1
            kept = order[s]
            order[s] = order[active[0]]
            order[active[0]] = kept
            continue
        violation = gradient
        if (alpha == 0 and gradient > 0) or (alpha == upper and gradient < 0):
            violation = 0
        high = violation if violation > high else high
        low = violation if violation < low else low
        if fabs(violation) > 1e-12:
            step(values, rows, label, j, gradient, upper)
        s += 1
    highest[0] = high if high > 0 else INFINITY
    lowest[0] = low if low < 0 else -INFINITY
    # two equal violations have no range of their own: 0 belongs to it
    return (high if high > 0 else 0) - (low if low < 0 else 0)


cdef inline void slope_step(double* z, double gradient, double curve, double cost) noexcept nogil:
    """A Newton step, or a tenth of the way to 0 where it would leave (0, C)."""
    cdef double there = z[0] - gradient / (curve + cost / ((cost - z[0]) * z[0]))
    z[0] = there if there > 0 and there < cost else 0.1 * z[0]


cdef inline double sweep_logistic(const real* values, const Rows* rows, Label* label, int32_t* order) noexcept nogil:
    """One epoch for the logistic loss (Yu, Huang & Lin 2011, algorithm 5); the largest gradient."""
    cdef int64_t s, j, i, start, length, steps, newton = 0
    cdef double y, cost, curve, slope, z, old, sign, gradient, largest = 0
    for s in range(label.size):
        j = order[s]
        i = label.docs[j]
        start = rows.indptr[i]
        length = rows.indptr[i + 1] - start
        fetch_ahead(values, rows, label, order, s, label.size)
        y = 1 if j < label.positives else -1
        cost = cost_of(rows, label, j)
        curve = rows.squares[i] + label.beta
        slope = gather(values + start, rows.indices + start, length, label.w)
        slope = y * (slope + label.offset + label.beta * label.total) + rows.own_squares[i] * label.alpha[j]
        # Of α and C − α, the variable that ends up below C/2 is the one to solve for.
        sign = 1 if 0.5 * curve * (cost - 2 * label.alpha[j]) + slope >= 0 else -1
        old = label.alpha[j] if sign > 0 else cost - label.alpha[j]
        z = 0.1 * old if cost - old < 0.5 * cost else old
        gradient = curve * (z - old) + sign * slope + log(z / (cost - z))
        largest = fabs(gradient) if fabs(gradient) > largest else largest
        steps = 0
        while fabs(gradient) >= label.inner_eps and steps < 100:
            slope_step(&z, gradient, curve, cost)
            gradient = curve * (z - old) + sign * slope + log(z / (cost - z))
            steps += 1
        newton += steps
        if steps:
            label.alpha[j] = z if sign > 0 else cost - z
            scatter(values + start, rows.indices + start, length, sign * (z - old) * y, label.w)
            label.total += sign * (z - old) * y
    if newton <= label.size // 10:
        label.inner_eps = max(1e-12, 0.1 * label.inner_eps)
    return largest


cdef inline void solve_set(const real* values, const Rows* rows, Label* label, int32_t* order, const int32_t* stop) noexcept nogil:
    """Coordinate descent on the working set until its violations are within the label's `eps`."""
    cdef int64_t j, active = label.size
    cdef double high = INFINITY, low = -INFINITY, violation
    for j in range(label.size):
        order[j] = <int32_t>j
    while label.epochs < rows.max_epochs and not stop[0]:
        shuffle(label, order, active)
        label.epochs += 1
        if rows.loss == LOGISTIC:
            violation = sweep_logistic(values, rows, label, order)
        else:
            violation = sweep(values, rows, label, order, &active, &high, &low)
        if violation <= label.eps:
            # Only the last round has to check again the documents that shrinking removed.
            if active == label.size or label.eps > rows.tol:
                return
            active = label.size
            high = INFINITY
            low = -INFINITY
