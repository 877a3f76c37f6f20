"""Compiled twin of `manylabel.kernels.mixture_reference.greedy_sets`: the label set of a document, label by label.

Two facts make it quick. The best single label is a sum that is linear in the counts, with logarithms taken once at
training. And a label can enter a set only if a second sum, linear too, exceeds the length of the document; few do, and
only for them are logarithms taken.
"""

from libc.math cimport INFINITY, exp, fabs, log
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

cdef double TOLERANCE = 1e-12  # see mixture_reference.TOLERANCE


cdef struct Model:
    const int64_t* starts          # cells by term
    const int32_t* labels
    const double* theta
    const double* log_theta
    const double* background       # by label, for terms that never occur with it
    const double* log_background
    const uint8_t* allowed
    const int64_t* pair_starts     # alpha by label
    const int32_t* partners
    const double* alpha
    int64_t n_labels


cdef struct Work:
    double* values       # by label: log P of the set with it
    double* covered      # by label: occurrences of terms that occur with it
    double* lean         # by label c: Σ_m (α_cm − ½) over the chosen m
    double* pull         # by label c: Σ_l (α_lc − ½) R_l over the chosen l
    uint8_t* taken
    double* s            # by word: Σ A_l θ_l over the chosen labels, k²/2 times φ
    double* t            # by word: Σ θ_l
    double* u            # by word: x / s
    double* chosen       # chosen labels × words: θ_l
    double* parts        # by chosen label: A_l
    int64_t room         # values `chosen` has room for


cdef inline int64_t find(const int32_t* sorted_, int64_t first, int64_t last, int64_t wanted) noexcept nogil:
    """The place of a number in a sorted stretch, or -1."""
    cdef int64_t middle, end = last
    while first < last:
        middle = (first + last) // 2
        if sorted_[middle] < wanted:
            first = middle + 1
        else:
            last = middle
    return first if first < end and sorted_[first] == wanted else -1


cdef inline double probability(const Model* m, int64_t term, int64_t label) noexcept nogil:
    cdef int64_t c = find(m.labels, m.starts[term], m.starts[term + 1], label)
    return m.theta[c] if c >= 0 else m.background[label]


cdef inline double share_of(const Model* m, int64_t label, int64_t partner) noexcept nogil:
    """α of a label against another."""
    cdef int64_t p = find(m.partners, m.pair_starts[label], m.pair_starts[label + 1], partner)
    return m.alpha[p] if p >= 0 else 0.5


cdef inline bint exceeds(double a, double b) noexcept nogil:
    if b == -INFINITY:
        return a > b
    return a > b + TOLERANCE * max(1.0, fabs(b))


cdef int64_t first_label(const Model* m, Work* w, const int32_t* terms, const double* x, int64_t n, double total) noexcept nogil:
    """The best single label: linear in the counts, so that only cells seen in training are visited."""
    cdef int64_t i, c, label, best = -1
    cdef double* values = w.values
    cdef double* covered = w.covered
    cdef const int32_t* labels = m.labels
    cdef const double* log_theta = m.log_theta
    cdef double count
    for i in range(n):
        count = x[i]
        for c in range(m.starts[terms[i]], m.starts[terms[i] + 1]):
            label = labels[c]
            values[label] += count * log_theta[c]
            covered[label] += count
    for label in range(m.n_labels):
        if m.allowed[label]:
            if w.covered[label] < total:
                w.values[label] += (total - w.covered[label]) * m.log_background[label]
            if best < 0 or exceeds(w.values[label], w.values[best]):
                best = label
    return best


cdef bint choose(const Model* m, Work* w, const int32_t* terms, int64_t n, int64_t k, const int32_t* chosen) noexcept nogil:
    """Take the last of k chosen labels into the sums; False without memory."""
    cdef int64_t label = chosen[k - 1], i, p, j
    cdef double share, theta
    cdef double* more
    if k * n > w.room:
        more = <double*>realloc(w.chosen, 2 * k * n * sizeof(double))
        if more == NULL:
            return False
        w.chosen = more
        w.room = 2 * k * n
    w.taken[label] = 1
    w.parts[k - 1] = 0.5
    for j in range(k - 1):
        share = share_of(m, label, chosen[j])
        w.parts[k - 1] += share
        w.parts[j] += 1 - share
    for i in range(n):
        theta = probability(m, terms[i], label)
        w.chosen[(k - 1) * n + i] = theta
        w.t[i] += theta
        w.s[i] = 0
        for j in range(k):
            w.s[i] += w.parts[j] * w.chosen[j * n + i]
    for p in range(m.pair_starts[label], m.pair_starts[label + 1]):
        w.lean[m.partners[p]] += 0.5 - m.alpha[p]
    return True


cdef bint slopes(const Model* m, Work* w, const int32_t* terms, const double* x, int64_t n, int64_t k,
                 const int32_t* chosen, double* all_pulls, double* all_u) noexcept nogil:
    """For each label G_c − b_c Σu = Σ u_i (θ_ci − b_c), in `values`, and its pull; False where some s is zero."""
    cdef int64_t i, j, c, p
    cdef double r, u
    cdef double* values = w.values
    cdef const int32_t* labels = m.labels
    cdef const double* theta = m.theta
    cdef const double* background = m.background
    memset(w.values, 0, m.n_labels * sizeof(double))
    memset(w.pull, 0, m.n_labels * sizeof(double))
    all_pulls[0] = all_u[0] = 0
    for i in range(n):
        if not w.s[i] > 0:
            return False
        u = x[i] / w.s[i]
        w.u[i] = u
        all_u[0] += u
        for c in range(m.starts[terms[i]], m.starts[terms[i] + 1]):
            values[labels[c]] += u * (theta[c] - background[labels[c]])
    for j in range(k):
        r = 0
        for i in range(n):
            r += w.u[i] * w.chosen[j * n + i]
        all_pulls[0] += r
        for p in range(m.pair_starts[chosen[j]], m.pair_starts[chosen[j] + 1]):
            w.pull[m.partners[p]] += (m.alpha[p] - 0.5) * r
    return True


cdef double value_with(const Model* m, Work* w, const int32_t* terms, const double* x, int64_t n, int64_t k,
                       const int32_t* chosen, int64_t label, double total) noexcept nogil:
    """log P of the words under the chosen labels and one more."""
    cdef double value = 0, own = 0.5 * (k + 1) + w.lean[label], s
    cdef int64_t i, j
    cdef bint partners = m.pair_starts[label + 1] > m.pair_starts[label]
    for i in range(n):
        s = w.s[i] + 0.5 * w.t[i] + own * probability(m, terms[i], label)
        if partners:
            for j in range(k):
                s += (0.5 - share_of(m, label, chosen[j])) * w.chosen[j * n + i]
        value += x[i] * log(s)
    return value + total * log(2.0 / (<double>(k + 1) * (k + 1)))


cdef int64_t next_label(const Model* m, Work* w, const int32_t* terms, const double* x, int64_t n, int64_t k,
                        const int32_t* chosen, double total, double current, double* best_value) noexcept nogil:
    """The label whose addition gives the largest value, or -1 where none can raise it.

    By Jensen's inequality Σ x log(φ'/φ) ≤ x_+ log(Σ x (φ'/φ) / x_+): a bound that costs no logarithm and visits
    only cells seen in training. The label of the largest bound is tried first; bounds below its value need no look.
    """
    cdef double all_pulls, all_u, reach, value, bar = -INFINITY
    cdef double shrink = (<double>k / (k + 1)) * (<double>k / (k + 1))
    cdef int64_t label, best = -1, promising = -1
    cdef bint gated = slopes(m, w, terms, x, n, k, chosen, &all_pulls, &all_u)
    for label in range(m.n_labels):
        if not m.allowed[label] or w.taken[label]:
            w.values[label] = -INFINITY
        elif gated:
            reach = total + 0.5 * all_pulls + w.pull[label]
            reach += (0.5 * (k + 1) + w.lean[label]) * (w.values[label] + m.background[label] * all_u)
            w.values[label] = shrink * reach if shrink * reach > total else -INFINITY
            if w.values[label] > bar:
                promising, bar = label, w.values[label]
        else:
            w.values[label] = INFINITY
    if promising >= 0:
        value = value_with(m, w, terms, x, n, k, chosen, promising, total)
        # what a bound must reach: log P, less twice what counts as rounding
        bar = total * exp((value - 2 * TOLERANCE * max(1.0, fabs(value)) - current) / total)
    for label in range(m.n_labels):
        if w.values[label] > -INFINITY and w.values[label] >= bar:
            value = value_with(m, w, terms, x, n, k, chosen, label, total)
            if best < 0 or exceeds(value, best_value[0]):
                best, best_value[0] = label, value
    return best


cdef int64_t search_set(const Model* m, Work* w, const int32_t* terms, const double* x, int64_t n,
                        int64_t most, int32_t* chosen, double* values) noexcept nogil:
    """The chosen labels in order; how many, or -1 without memory."""
    cdef int64_t k, label, i
    cdef double total = 0, value = -INFINITY
    memset(w.values, 0, m.n_labels * sizeof(double))
    memset(w.covered, 0, m.n_labels * sizeof(double))
    memset(w.lean, 0, m.n_labels * sizeof(double))
    memset(w.taken, 0, m.n_labels)
    for i in range(n):
        total += x[i]
        w.t[i] = 0
    if total == 0 or most == 0:
        return 0
    label = first_label(m, w, terms, x, n, total)
    if label < 0:
        return 0
    chosen[0], values[0], k = <int32_t>label, w.values[label], 1
    while k < most:
        if not choose(m, w, terms, n, k, chosen):
            return -1
        label = next_label(m, w, terms, x, n, k, chosen, total, values[k - 1], &value)
        if label < 0 or not exceeds(value, values[k - 1]):
            break
        chosen[k], values[k] = <int32_t>label, value
        k += 1
    return k


cdef bint open_work(Work* w, int64_t n_labels, int64_t longest, int64_t most) noexcept nogil:
    cdef int64_t labels = n_labels * sizeof(double) + 1, words = longest * sizeof(double) + 1
    memset(w, 0, sizeof(Work))
    w.values, w.covered = <double*>malloc(labels), <double*>malloc(labels)
    w.lean, w.pull = <double*>malloc(labels), <double*>malloc(labels)
    w.taken = <uint8_t*>malloc(n_labels + 1)
    w.s, w.t, w.u = <double*>malloc(words), <double*>malloc(words), <double*>malloc(words)
    w.parts = <double*>malloc(most * sizeof(double) + 1)
    return (
        w.values != NULL and w.covered != NULL and w.lean != NULL and w.pull != NULL and w.taken != NULL
        and w.s != NULL and w.t != NULL and w.u != NULL and w.parts != NULL
    )


cdef void close_work(Work* w) noexcept nogil:
    free(w.values)
    free(w.covered)
    free(w.lean)
    free(w.pull)
    free(w.taken)
    free(w.s)
    free(w.t)
    free(w.u)
    free(w.chosen)
    free(w.parts)


cdef bint search_all(
    const Model* m, const int64_t[::1] starts, const int32_t[::1] terms, const double[::1] x, int64_t begin,
    int64_t end, int64_t most, int32_t[:, ::1] chosen, double[:, ::1] values, int32_t[::1] counts
) noexcept nogil:
    """False without memory."""
    cdef int64_t q, longest = 0, found = 0
    cdef Work w
    for q in range(begin, end):
        longest = max(longest, starts[q + 1] - starts[q])
    if not open_work(&w, m.n_labels, longest, most):
        found = -1
    else:
        for q in range(begin, end):
            counts[q] = 0
            if starts[q + 1] == starts[q]:
                continue
            found = search_set(
                m, &w, &terms[starts[q]], &x[starts[q]], starts[q + 1] - starts[q], most, &chosen[q, 0], &values[q, 0]
            )
            if found < 0:
                break
            counts[q] = <int32_t>found
    close_work(&w)
    return found >= 0


cdef int _check_lengths(int64_t a, int64_t b, int64_t c, int64_t d, int64_t needed) except -1:
    if a != b or a != c or a != d or needed > a:
        raise IndexError(f"Arrays that belong together have {a}, {b}, {c} and {d} items; {needed} are needed.")
    return 0


cdef int _check_below(const int32_t[::1] numbers, int64_t bound) except -1:
    cdef int64_t i
    cdef bint wrong = False
    for i in range(numbers.shape[0]):
        wrong |= numbers[i] < 0 or numbers[i] >= bound
    if wrong:
        raise IndexError(f"A label or term is out of bounds: they count from 0 to {bound - 1}.")
    return 0


cdef int _check_starts(const int64_t[::1] starts, int64_t length) except -1:
    cdef int64_t i
    cdef bint wrong = starts.shape[0] == 0 or starts[0] < 0 or starts[starts.shape[0] - 1] > length
    for i in range(starts.shape[0] - 1):
        wrong |= starts[i] > starts[i + 1]
    if wrong:
        raise IndexError(f"The parts of a table are out of bounds: they lie from 0 to {length}.")
    return 0


def greedy_sets(
    queries, cells, labels, pairs, int64_t begin, int64_t end,
    int32_t[:, ::1] chosen, double[:, ::1] values, int32_t[::1] counts
):
    """The label set of each document; see `manylabel.kernels.mixture_reference.greedy_sets`."""
    cdef const int64_t[::1] starts = queries[0], cell_starts = cells[0], pair_starts = pairs[0]
    cdef const int32_t[::1] terms = queries[1], cell_labels = cells[1], partners = pairs[1]
    cdef const double[::1] x = queries[2], theta = cells[2], log_theta = cells[3], alpha = pairs[2]
    cdef const double[::1] background = labels[0], log_background = labels[1]
    cdef const uint8_t[::1] allowed = labels[2]
    cdef int64_t n_labels = background.shape[0], most = chosen.shape[1]
    cdef bint fine
    cdef Model m
    cdef int32_t no_number = 0
    cdef double zero = 0
    if not 0 <= begin <= end < starts.shape[0] or chosen.shape[0] < end or counts.shape[0] < end:
        raise IndexError(f"Documents {begin} to {end} are out of bounds.")
    _check_lengths(x.shape[0], terms.shape[0], x.shape[0], x.shape[0], starts[end])
    _check_lengths(n_labels, allowed.shape[0], log_background.shape[0], pair_starts.shape[0] - 1, 0)
    _check_lengths(cell_labels.shape[0], theta.shape[0], log_theta.shape[0], theta.shape[0], 0)
    _check_lengths(partners.shape[0], alpha.shape[0], partners.shape[0], partners.shape[0], 0)
    _check_starts(cell_starts, cell_labels.shape[0])
    _check_starts(pair_starts, partners.shape[0])
    _check_below(terms[starts[begin]:starts[end]], cell_starts.shape[0] - 1)
    _check_below(cell_labels, n_labels)
    _check_below(partners, n_labels)
    if begin == end or most == 0 or n_labels == 0:
        return
    m.starts, m.n_labels, m.pair_starts = &cell_starts[0], n_labels, &pair_starts[0]
    m.labels = &cell_labels[0] if cell_labels.shape[0] else &no_number
    m.theta = &theta[0] if theta.shape[0] else &zero
    m.log_theta = &log_theta[0] if theta.shape[0] else &zero
    m.background, m.log_background, m.allowed = &background[0], &log_background[0], &allowed[0]
    m.partners = &partners[0] if partners.shape[0] else &no_number
    m.alpha = &alpha[0] if alpha.shape[0] else &zero
    with nogil:
        fine = search_all(&m, starts, terms, x, begin, end, most, chosen, values, counts)
    if not fine:
        raise MemoryError("There is not enough memory for the search for label sets.")
