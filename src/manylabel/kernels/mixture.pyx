"""Compiled twins of `manylabel.kernels.mixture_reference`: parametric mixture models of label sets, Ueda & Saito 2002.

Everything is laid out by term. A term's probabilities under the labels that were seen with it are copied to one
short row, all groups of documents that have the term are done on that row, and the result is copied back: the inner
loops never leave the first-level cache, whatever the size of the table.
"""

from libc.math cimport INFINITY, log
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp

import numpy as np


# ---------------------------------------------------------------- groups of documents with the same labels

def group_sets(const int64_t[::1] starts, const int32_t[::1] labels):
    """Number the label sets; see `manylabel.kernels.mixture_reference.group_sets`."""
    cdef int64_t n = starts.shape[0] - 1, n_slots = 16, row, at, i, length, n_groups = 0, other
    cdef uint64_t key
    while n_slots < 2 * n:
        n_slots *= 2
    group_of, first = np.full(n, -1, dtype=np.int32), np.empty(n, dtype=np.int64)
    cdef int32_t[::1] group_view = group_of
    cdef int64_t[::1] first_view = first
    cdef int32_t* slots = <int32_t*>calloc(n_slots, sizeof(int32_t))  # a group's number from 1; 0: free
    if slots == NULL:
        raise MemoryError()
    with nogil:
        for row in range(n):
            length = starts[row + 1] - starts[row]
            if length == 0:
                continue
            key = <uint64_t>length
            for i in range(starts[row], starts[row + 1]):
                key = (key ^ <uint64_t>labels[i]) * <uint64_t>0x9E3779B97F4A7C15
                key ^= key >> 29
            at = <int64_t>(key & <uint64_t>(n_slots - 1))
            while slots[at]:
                other = first_view[slots[at] - 1]
                if starts[other + 1] - starts[other] == length and memcmp(
                    &labels[starts[other]], &labels[starts[row]], length * sizeof(int32_t)
                ) == 0:
                    break
                at = (at + 1) & (n_slots - 1)
            if slots[at] == 0:
                first_view[n_groups] = row
                n_groups += 1
                slots[at] = <int32_t>n_groups
            group_view[row] = slots[at] - 1
    free(slots)
    return group_of, first[:n_groups].copy()


# ---------------------------------------------------------------- expected counts

cdef double expect(
    const int64_t* cell_starts, const int32_t* cell_labels, const double* theta, const double* fixed, double prior,
    const int64_t* entry_starts, const int32_t* groups, const double* counts,
    const int64_t* set_starts, const int32_t* set_labels, const double* weights,
    int64_t begin, int64_t end, double* row, double* sums, double* expected, double* ratios
) noexcept nogil:
    cdef double objective = 0, phi, share
    cdef int64_t term, c, e, s, first, last
    for term in range(begin, end):
        for c in range(cell_starts[term], cell_starts[term + 1]):
            row[cell_labels[c]] = theta[c]
            sums[cell_labels[c]] = fixed[c]
        for e in range(entry_starts[term], entry_starts[term + 1]):
            first, last = set_starts[groups[e]], set_starts[groups[e] + 1]
            phi = 0
            for s in range(first, last):
                phi += weights[s] * row[set_labels[s]]
            if phi > 0:
                objective += counts[e] * log(phi)
                share = counts[e] / phi
                for s in range(first, last):
                    ratios[s] += share * row[set_labels[s]]
                    sums[set_labels[s]] += share * weights[s] * row[set_labels[s]]
            elif counts[e] > 0:
                objective = -INFINITY
        for c in range(cell_starts[term], cell_starts[term + 1]):
            expected[c] = sums[cell_labels[c]]
            if fixed[c] + prior > 0:
                objective += (fixed[c] + prior) * log(theta[c])
            row[cell_labels[c]] = 0
    return objective


def expected_counts(
    cells, const double[::1] theta, const double[::1] fixed, double prior, entries, sets, const double[::1] weights,
    int64_t n_labels, int64_t begin, int64_t end, double[::1] expected, double[::1] ratios
):
    """Counts each label is expected to have caused; see `manylabel.kernels.mixture_reference.expected_counts`."""
    cdef const int64_t[::1] cell_starts = cells[0], entry_starts = entries[0], set_starts = sets[0]
    cdef const int32_t[::1] cell_labels = cells[1], groups = entries[1], set_labels = sets[1]
    cdef const double[::1] counts = entries[2]
    cdef int32_t nothing = 0
    cdef double zero = 0, objective = 0
    if not 0 <= begin <= end < cell_starts.shape[0] or end >= entry_starts.shape[0]:
        raise IndexError(f"Terms {begin} to {end} are out of bounds.")
    _check_lengths(cell_labels.shape[0], theta.shape[0], fixed.shape[0], expected.shape[0], cell_starts[end])
    _check_lengths(
        set_labels.shape[0], weights.shape[0], ratios.shape[0], weights.shape[0], set_starts[set_starts.shape[0] - 1]
    )
    _check_lengths(groups.shape[0], counts.shape[0], groups.shape[0], groups.shape[0], entry_starts[end])
    _check_below(cell_labels[cell_starts[begin]:cell_starts[end]], n_labels)
    _check_below(set_labels, n_labels)
    _check_below(groups[entry_starts[begin]:entry_starts[end]], set_starts.shape[0] - 1)
    if cell_labels.shape[0] == 0:
        return 0.0
    cdef double* row = <double*>calloc(n_labels + 1, sizeof(double))
    cdef double* sums = <double*>calloc(n_labels + 1, sizeof(double))
    try:
        if row == NULL or sums == NULL:
            raise MemoryError()
        with nogil:
            objective = expect(
                &cell_starts[0], &cell_labels[0], &theta[0], &fixed[0], prior, &entry_starts[0],
                &groups[0] if groups.shape[0] else &nothing, &counts[0] if counts.shape[0] else &zero,
                &set_starts[0], &set_labels[0] if set_labels.shape[0] else &nothing,
                &weights[0] if weights.shape[0] else &zero, begin, end, row, sums, &expected[0],
                &ratios[0] if ratios.shape[0] else &zero
            )
    finally:
        free(row)
        free(sums)
    return objective


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
        raise IndexError(f"A label or group is out of bounds: they count from 0 to {bound - 1}.")
    return 0
