"""Compiled twins of `manylabel.kernels.tables_reference`: counts of terms by label, and the scores of one document."""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_C_CONTIGUOUS, PyBUF_WRITABLE, Py_buffer, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(_MSC_VER)
    #include <intrin.h>
    static int manylabel_lowest(uint64_t word) { unsigned long at; _BitScanForward64(&at, word); return (int)at; }
    #else
    static int manylabel_lowest(uint64_t word) { return __builtin_ctzll(word); }
    #endif
    """
    int manylabel_lowest(uint64_t word) noexcept nogil

ctypedef fused number:
    int64_t
    float
    double

ctypedef fused real:
    float
    double

ctypedef fused index:
    int32_t
    int64_t


# ---------------------------------------------------------------- counts by label

cdef struct Cell:
    double total
    int32_t documents
    int32_t last  # the document that was counted last, from 1: a cell stored twice is one document


cdef struct Tally:
    Cell* cells          # one per term; all zero between two labels
    uint64_t* marks      # a bit per term seen ...
    uint64_t* summary    # ... and a bit per 64 of them: reading the bits in order sorts without a sort
    int64_t n_terms


cdef bint open_tally(Tally* tally, int64_t n_terms) noexcept nogil:
    cdef int64_t n_words = (n_terms + 63) // 64
    tally.n_terms = n_terms
    tally.cells = <Cell*>calloc(n_terms + 1, sizeof(Cell))
    tally.marks = <uint64_t*>calloc(n_words + 64, sizeof(uint64_t))
    tally.summary = <uint64_t*>calloc(n_words // 64 + 2, sizeof(uint64_t))
    return tally.cells != NULL and tally.marks != NULL and tally.summary != NULL


cdef void close_tally(Tally* tally) noexcept nogil:
    free(tally.cells)
    free(tally.marks)
    free(tally.summary)


cdef int64_t drain(Tally* tally, int32_t* terms, double* totals, int64_t* documents) noexcept nogil:
    """Write the cells in order of the terms and set them back to zero; how many there were."""
    cdef int64_t group, word, term, n = 0
    cdef uint64_t words, bits
    for group in range((tally.n_terms + 4095) // 4096):
        words = tally.summary[group]
        tally.summary[group] = 0
        while words:
            word = group * 64 + manylabel_lowest(words)
            words &= words - 1
            bits = tally.marks[word]
            tally.marks[word] = 0
            while bits:
                term = word * 64 + manylabel_lowest(bits)
                bits &= bits - 1
                terms[n] = <int32_t>term
                totals[n] = tally.cells[term].total
                documents[n] = tally.cells[term].documents
                tally.cells[term].total = 0
                tally.cells[term].documents = 0
                tally.cells[term].last = 0
                n += 1
    return n


cdef bint add_rows(
    Tally* tally, const int64_t* rows, int64_t n_rows, const index* starts, const index* terms, const number* data,
    int64_t n_documents
) noexcept nogil:
    """Add some documents; False for one out of bounds, or a term out of bounds."""
    cdef int64_t r, p, term
    for r in range(n_rows):
        if <uint64_t>rows[r] >= <uint64_t>n_documents:
            return False
        for p in range(starts[rows[r]], starts[rows[r] + 1]):
            term = terms[p]
            if <uint64_t>term >= <uint64_t>tally.n_terms:
                return False
            if data[p] == 0:
                continue
            if tally.cells[term].documents == 0:
                tally.marks[term >> 6] |= (<uint64_t>1) << (term & 63)
                tally.summary[term >> 12] |= (<uint64_t>1) << ((term >> 6) & 63)
            tally.cells[term].documents += tally.cells[term].last != r + 1
            tally.cells[term].last = <int32_t>(r + 1)
            tally.cells[term].total += data[p]
    return True


cdef object count_typed(
    index _, number __, X, int64_t n_terms, const int64_t[::1] label_starts, const int64_t[::1] rows,
    int64_t begin, int64_t end
):
    cdef const index[::1] starts = X[0], terms = X[1]
    cdef const number[::1] data = X[2]
    cdef int64_t label, n = 0, room = 0, r, n_documents = starts.shape[0] - 1, longest
    cdef bint fine = True
    cdef Tally tally
    for label in range(begin, end):
        longest = 0
        for r in range(label_starts[label], label_starts[label + 1]):
            if <uint64_t>rows[r] >= <uint64_t>n_documents:
                raise IndexError("A document is out of bounds.")
            longest += starts[rows[r] + 1] - starts[rows[r]]
        room += min(longest, n_terms)
    # pages never written to cost nothing, so the upper bound may be generous
    indptr, indices = np.zeros(end - begin + 1, dtype=np.int64), np.empty(room + 1, dtype=np.int32)
    totals, documents = np.empty(room + 1, dtype=np.float64), np.empty(room + 1, dtype=np.int64)
    cdef int64_t[::1] indptr_view = indptr, documents_view = documents
    cdef int32_t[::1] indices_view = indices
    cdef double[::1] totals_view = totals
    if room:
        with nogil:
            fine = open_tally(&tally, n_terms)
            if fine:
                for label in range(begin, end):
                    fine = add_rows(
                        &tally, &rows[0] + label_starts[label], label_starts[label + 1] - label_starts[label],
                        &starts[0], &terms[0], &data[0], n_documents
                    )
                    if not fine:
                        break
                    n += drain(&tally, &indices_view[n], &totals_view[n], &documents_view[n])
                    indptr_view[label - begin + 1] = n
            close_tally(&tally)
        if not fine:
            raise IndexError("A term is out of bounds, or there is no memory for a count per term.")
    return indptr, indices[:n].copy(), totals[:n].copy(), documents[:n].copy()


def count_by_label(
    X, int64_t n_terms, const int64_t[::1] label_starts, const int64_t[::1] rows, int64_t begin, int64_t end
):
    """Terms by label; see `manylabel.kernels.tables_reference.count_by_label`."""
    cdef bint wide = X[1].dtype == np.int64
    kind = X[2].dtype
    if not 0 <= begin <= end < label_starts.shape[0] or label_starts[end] > rows.shape[0]:
        raise IndexError(f"Labels {begin} to {end} are out of bounds.")
    if wide and kind == np.float64:
        return count_typed[int64_t, double](0, 0, X, n_terms, label_starts, rows, begin, end)
    if wide and kind == np.float32:
        return count_typed[int64_t, float](0, 0, X, n_terms, label_starts, rows, begin, end)
    if wide:
        return count_typed[int64_t, int64_t](0, 0, X, n_terms, label_starts, rows, begin, end)
    if kind == np.float64:
        return count_typed[int32_t, double](0, 0, X, n_terms, label_starts, rows, begin, end)
    if kind == np.float32:
        return count_typed[int32_t, float](0, 0, X, n_terms, label_starts, rows, begin, end)
    return count_typed[int32_t, int64_t](0, 0, X, n_terms, label_starts, rows, begin, end)


# ---------------------------------------------------------------- one document

cdef struct View:
    Py_buffer buffer
    bint held


cdef inline int open_view(View* view, object array, bint writable) except -1:
    PyObject_GetBuffer(array, &view.buffer, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (PyBUF_WRITABLE if writable else 0))
    view.held = True
    return 0


cdef inline bint whole(const Py_buffer* buffer) noexcept nogil:
    """Whether the items are signed whole numbers of 4 or 8 bytes (i, l and q, by platform)."""
    cdef char kind = buffer.format[0]
    return (kind == c"i" or kind == c"l" or kind == c"q") and buffer.ndim == 1


cdef inline char float_kind(const Py_buffer* buffer) noexcept nogil:
    """f or d, or 0 for anything else."""
    cdef char kind = buffer.format[0]
    return kind if (kind == c"f" or kind == c"d") and buffer.format[1] == 0 else 0


cdef inline int64_t at(const Py_buffer* buffer, int64_t i) noexcept nogil:
    return (<const int32_t*>buffer.buf)[i] if buffer.itemsize == 4 else (<const int64_t*>buffer.buf)[i]


cdef inline double value_at(const Py_buffer* buffer, int64_t i) noexcept nogil:
    return (<const float*>buffer.buf)[i] if buffer.itemsize == 4 else (<const double*>buffer.buf)[i]


cdef inline bint add_sparse_row(
    double value, const real* data, const index* labels, int64_t n, double* out, int64_t n_labels
) noexcept nogil:
    cdef int64_t p
    for p in range(n):
        if <uint64_t>labels[p] >= <uint64_t>n_labels:
            return False
        out[labels[p]] += value * data[p]
    return True


cdef inline void add_dense_row(double value, const real* data, int64_t n, double* out) noexcept nogil:
    cdef int64_t p
    for p in range(n):
        out[p] += value * data[p]


cdef int add_document(
    const Py_buffer* terms, const Py_buffer* values, const Py_buffer* starts, const Py_buffer* labels,
    const Py_buffer* data, double* out, int64_t n_labels
) noexcept nogil:
    """0, or 1 for a term out of bounds, 2 for a table that is not sound."""
    cdef int64_t t, term, first, last, n_terms = starts.shape[0] - 1, n_cells = data.shape[0]
    cdef double value
    cdef bint wide = labels.itemsize == 8, narrow = data.itemsize == 4, fine
    for t in range(terms.shape[0]):
        term = at(terms, t)
        if term < 0 or term >= n_terms:
            return 1
        first, last, value = at(starts, term), at(starts, term + 1), value_at(values, t)
        if first < 0 or last < first or last > n_cells:
            return 2
        if narrow and wide:
            fine = add_sparse_row(value, <const float*>data.buf + first, <const int64_t*>labels.buf + first,
                                  last - first, out, n_labels)
        elif narrow:
            fine = add_sparse_row(value, <const float*>data.buf + first, <const int32_t*>labels.buf + first,
                                  last - first, out, n_labels)
        elif wide:
            fine = add_sparse_row(value, <const double*>data.buf + first, <const int64_t*>labels.buf + first,
                                  last - first, out, n_labels)
        else:
            fine = add_sparse_row(value, <const double*>data.buf + first, <const int32_t*>labels.buf + first,
                                  last - first, out, n_labels)
        if not fine:
            return 2
    return 0


cdef int add_document_dense(
    const Py_buffer* terms, const Py_buffer* values, const Py_buffer* table, double* out, int64_t n_labels
) noexcept nogil:
    cdef int64_t t, term
    for t in range(terms.shape[0]):
        term = at(terms, t)
        if term < 0 or term >= table.shape[0]:
            return 1
        if table.itemsize == 4:
            add_dense_row(value_at(values, t), <const float*>table.buf + term * n_labels, n_labels, out)
        else:
            add_dense_row(value_at(values, t), <const double*>table.buf + term * n_labels, n_labels, out)
    return 0


cdef inline int check_document(View* views) except -1:
    if (
        not whole(&views[0].buffer) or not float_kind(&views[1].buffer) or not float_kind(&views[4].buffer)
        or float_kind(&views[5].buffer) != c"d" or views[1].buffer.ndim != 1 or views[5].buffer.ndim != 1
    ):
        raise TypeError("score_one reads whole numbers, floats, and writes float64.")
    if views[0].buffer.shape[0] != views[1].buffer.shape[0]:
        raise IndexError("There must be one value for each term.")
    if views[4].buffer.ndim == 2 and views[4].buffer.shape[1] != views[5].buffer.shape[0]:
        raise IndexError("A dense table must have one column for each score.")
    return 0


cdef inline int check_sparse(View* views) except -1:
    if not whole(&views[2].buffer) or not whole(&views[3].buffer):
        raise TypeError("The table's starts and labels must be whole numbers.")
    if views[3].buffer.shape[0] < views[4].buffer.shape[0] or views[2].buffer.shape[0] < 1:
        raise IndexError("The table's arrays do not fit together.")
    return 0


def score_one(term_ids, values, W_indptr, W_indices, W_data, out):
    """Add one document's scores to `out`; see `manylabel.kernels.tables_reference.score_one`.

    Buffers are opened by hand: typed arguments of several types would cost more than the sum itself.
    """
    cdef View[6] views
    cdef int i, wrong = 0
    for i in range(6):
        views[i].held = False
    try:
        open_view(&views[0], term_ids, False)
        open_view(&views[1], values, False)
        open_view(&views[4], W_data, False)
        open_view(&views[5], out, True)
        check_document(views)
        if views[4].buffer.ndim != (2 if W_indptr is None else 1):
            raise IndexError("A dense table has two dimensions, the values of a sparse one have one.")
        if W_indptr is None:
            wrong = add_document_dense(
                &views[0].buffer, &views[1].buffer, &views[4].buffer, <double*>views[5].buffer.buf,
                views[5].buffer.shape[0]
            )
        else:
            open_view(&views[2], W_indptr, False)
            open_view(&views[3], W_indices, False)
            check_sparse(views)
            wrong = add_document(
                &views[0].buffer, &views[1].buffer, &views[2].buffer, &views[3].buffer, &views[4].buffer,
                <double*>views[5].buffer.buf, views[5].buffer.shape[0]
            )
    finally:
        for i in range(6):
            if views[i].held:
                PyBuffer_Release(&views[i].buffer)
    if wrong == 1:
        raise IndexError("A term is out of bounds.")
    if wrong == 2:
        raise IndexError("The table's starts or labels are out of bounds.")
