"""Compiled twin of `manylabel.kernels.thresholds_reference`: thresholds with the best F1 of each label.

Below a positive's score, down to the next one, a lower threshold only adds mistakes: the positives' scores are the only
candidates. Only they are sorted, and each score of the block is located among them by bisection, most by one
comparison with the lowest.
"""

from libc.math cimport NAN
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

ctypedef fused real:
    float
    double


cdef inline int64_t last_reached(const real* positives, int64_t first, int64_t last, real score) noexcept nogil:
    """The last position whose positive is at most the score; that of `first` is."""
    cdef int64_t middle
    while first + 1 < last:
        middle = (first + last) // 2
        if positives[middle] <= score:
            first = middle
        else:
            last = middle
    return first


cdef void tally(
    const real* scores, int64_t n, int64_t n_labels, const int64_t* starts, const real* positives,
    int64_t begin, int64_t end, int64_t* reached
) noexcept nogil:
    cdef int64_t row, label, first, last
    cdef real score
    for row in range(n):
        for label in range(begin, end):
            first, last = starts[label], starts[label + 1]
            if first == last:
                continue
            score = scores[row * n_labels + label]
            if score >= positives[first]:  # never for NaN
                reached[last_reached(positives, first, last, score) - starts[begin]] += 1


cdef void settle(
    const int64_t* starts, const real* positives, const int64_t* sizes, int64_t begin, int64_t end,
    const int64_t* reached, double* thresholds, double* attained
) noexcept nogil:
    cdef int64_t label, j, predicted
    cdef double f1
    for label in range(begin, end):
        thresholds[label] = attained[label] = NAN
        predicted = 0
        for j in range(starts[label + 1] - 1, starts[label] - 1, -1):
            predicted += reached[j - starts[begin]]
            if j > starts[label] and positives[j - 1] == positives[j]:
                continue
            # one division of whole numbers: equal ratios are equal floats, and ties go to the smaller threshold
            f1 = 2.0 * (starts[label + 1] - j) / (predicted + sizes[label])
            if not f1 < attained[label]:
                attained[label] = f1
                thresholds[label] = positives[j]


def best_thresholds(
    const real[:, ::1] scores, const int64_t[::1] starts, const real[::1] positives, const int64_t[::1] sizes,
    int64_t begin, int64_t end, double[::1] thresholds, double[::1] attained
):
    """The best thresholds of some labels; see `manylabel.kernels.thresholds_reference.best_thresholds`."""
    cdef int64_t n = scores.shape[0], n_labels = scores.shape[1], n_positives
    cdef real nothing = 0
    cdef int64_t* reached
    if (
        not 0 <= begin <= end <= n_labels or starts.shape[0] != n_labels + 1 or sizes.shape[0] != n_labels
        or thresholds.shape[0] != n_labels or attained.shape[0] != n_labels or starts[end] > positives.shape[0]
    ):
        raise IndexError(f"Labels {begin} to {end} are out of bounds.")
    if begin == end:
        return
    n_positives = starts[end] - starts[begin]
    reached = <int64_t*>calloc(n_positives + 1, sizeof(int64_t))
    if reached == NULL:
        raise MemoryError()
    with nogil:
        if n > 0 and n_positives > 0:
            tally(&scores[0, 0], n, n_labels, &starts[0], &positives[0], begin, end, reached)
        settle(
            &starts[0], &positives[0] if positives.shape[0] else &nothing, &sizes[0], begin, end, reached,
            &thresholds[0], &attained[0]
        )
    free(reached)


cdef void settle_in_order(
    const int64_t* starts, const real* positives, const int64_t* sizes, const int64_t* order, int64_t n_labels,
    const int64_t* reached, double* thresholds
) noexcept nogil:
    cdef int64_t rank, label, j, predicted, right, best_right, best_predicted, all_right = 0, all_counted = 0
    cdef double value, best
    for rank in range(n_labels):
        label = order[rank]
        thresholds[label] = NAN
        predicted = best_right = best_predicted = 0
        best = 2.0 * all_right / (all_counted + sizes[label]) if all_counted + sizes[label] > 0 else 0.0
        for j in range(starts[label + 1] - 1, starts[label] - 1, -1):
            predicted += reached[j]
            if j > starts[label] and positives[j - 1] == positives[j]:
                continue
            right = starts[label + 1] - j
            value = (
                2.0 * (all_right + right) / (all_counted + predicted + sizes[label])
                + 2.0 * right / (predicted + sizes[label]) / (rank + 1)
            )
            if value > best:
                best, best_right, best_predicted = value, right, predicted
                thresholds[label] = positives[j]
        all_right += best_right
        all_counted += best_predicted + sizes[label]


def thresholds_in_order(
    const real[:, ::1] scores, const int64_t[::1] starts, const real[::1] positives, const int64_t[::1] sizes,
    const int64_t[::1] order, double[::1] thresholds
):
    """One threshold after the other; see `manylabel.kernels.thresholds_reference.thresholds_in_order`."""
    cdef int64_t n = scores.shape[0], n_labels = scores.shape[1], label
    cdef real nothing = 0
    cdef int64_t* reached
    if (
        starts.shape[0] != n_labels + 1 or sizes.shape[0] != n_labels or order.shape[0] != n_labels
        or thresholds.shape[0] != n_labels or starts[n_labels] > positives.shape[0]
    ):
        raise IndexError("Labels are out of bounds.")
    for label in range(n_labels):
        if not 0 <= order[label] < n_labels:
            raise IndexError("Labels are out of bounds.")
    if n_labels == 0:
        return
    reached = <int64_t*>calloc(starts[n_labels] + 1, sizeof(int64_t))
    if reached == NULL:
        raise MemoryError()
    with nogil:
        if n > 0 and starts[n_labels] > 0:
            tally(&scores[0, 0], n, n_labels, &starts[0], &positives[0], 0, n_labels, reached)
        settle_in_order(
            &starts[0], &positives[0] if positives.shape[0] else &nothing, &sizes[0], &order[0], n_labels, reached,
            &thresholds[0]
        )
    free(reached)
