"""Compiled twin of `manylabel.kernels.scoring_reference`: the scores of many documents from sparse or dense weights."""

from libc.stdint cimport int32_t, int64_t

ctypedef fused real:
    float
    double


cdef int64_t add_rows(
    const int64_t* starts, const int32_t* terms, const double* values, int64_t begin, int64_t end,
    const int64_t* W_starts, const int32_t* W_labels, const real* W_values, int64_t n_terms, int64_t n_cells,
    double* out, int64_t n_labels
) noexcept nogil:
    """Add the scores of documents begin to end, one after the other; the document with a term or label out of bounds,
    or -1.

    Where `W_labels` is NULL the weights are dense: n_labels of them for each term.
    """
    cdef int64_t row, k, cell, label, term
    cdef double value
    cdef double* scores
    cdef const real* weights
    for row in range(begin, end):
        scores = out + row * n_labels
        for k in range(starts[row], starts[row + 1]):
            term = terms[k]
            if term < 0 or term >= n_terms:
                return row
            value = values[k]
            if W_labels == NULL:
                weights = W_values + term * n_labels
                for label in range(n_labels):
                    scores[label] += value * <double>weights[label]
            else:
                if W_starts[term] < 0 or W_starts[term + 1] > n_cells:
                    return row
                for cell in range(W_starts[term], W_starts[term + 1]):
                    label = W_labels[cell]
                    if label < 0 or label >= n_labels:
                        return row
                    scores[label] += value * <double>W_values[cell]
    return -1


def add_scores(
    const int64_t[::1] starts, const int32_t[::1] terms, const double[::1] values, int64_t begin, int64_t end,
    const int64_t[::1] W_starts, const int32_t[::1] W_labels, const real[::1] W_values, double[:, ::1] out
):
    """Add X W for some documents to `out`; see `manylabel.kernels.scoring_reference.add_scores`."""
    cdef int64_t wrong
    if not 0 <= begin <= end < starts.shape[0] or out.shape[0] != starts.shape[0] - 1:
        raise IndexError("The documents are out of bounds.")
    if W_labels.shape[0] != W_values.shape[0] or values.shape[0] != terms.shape[0] or starts[end] > terms.shape[0]:
        raise IndexError("Arrays that belong together have different lengths.")
    if begin == end or terms.shape[0] == 0 or W_labels.shape[0] == 0:
        return
    with nogil:
        wrong = add_rows(
            &starts[0], &terms[0], &values[0], begin, end, &W_starts[0], &W_labels[0], &W_values[0],
            W_starts.shape[0] - 1, W_values.shape[0], &out[0, 0], out.shape[1]
        )
    if wrong >= 0:
        raise IndexError(f"A term of document {wrong} is out of bounds, or a label of the term.")


def add_dense_scores(
    const int64_t[::1] starts, const int32_t[::1] terms, const double[::1] values, int64_t begin, int64_t end,
    const real[:, ::1] W, double[:, ::1] out
):
    """Add X W for some documents to `out`; see `manylabel.kernels.scoring_reference.add_dense_scores`."""
    cdef int64_t wrong
    if not 0 <= begin <= end < starts.shape[0] or out.shape[0] != starts.shape[0] - 1 or out.shape[1] != W.shape[1]:
        raise IndexError("The documents are out of bounds.")
    if begin == end or terms.shape[0] == 0 or W.shape[1] == 0:
        return
    with nogil:
        wrong = add_rows(
            &starts[0], &terms[0], &values[0], begin, end, NULL, NULL, &W[0, 0] if W.shape[0] else NULL, W.shape[0],
            0, &out[0, 0], out.shape[1]
        )
    if wrong >= 0:
        raise IndexError(f"A term of document {wrong} is out of bounds.")
