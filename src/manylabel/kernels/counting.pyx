"""Compiled twins of `count_terms` and `intern_pairs` of `manylabel.kernels.text_reference`."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

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


cdef int64_t count_all(
    const int32_t* ids, const int64_t* indptr, int64_t n_documents, const int32_t* columns, int64_t n_ids,
    int64_t n_columns, int32_t* totals, uint64_t* marks, uint64_t* summary,
    int64_t* data, int32_t* indices, int64_t* starts
) noexcept nogil:
    """Fill the three arrays; the number of cells, or -1 for an id or column out of bounds.

    A document's columns are marked in a bit set with a summary (one bit for 64 words), and read back in order:
    sorting without a sort.
    """
    cdef int64_t row, k, column, cells = 0, word, group
    cdef int64_t n_groups = (n_columns + 4095) // 4096
    cdef uint64_t words, bits
    starts[0] = 0
    for row in range(n_documents):
        for k in range(indptr[row], indptr[row + 1]):
            if <uint32_t>ids[k] >= <uint64_t>n_ids:
                return -1
            column = columns[ids[k]]
            if column < 0:
                continue
            if column >= n_columns:
                return -1
            if totals[column] == 0:
                marks[column >> 6] |= (<uint64_t>1) << (column & 63)
                summary[column >> 12] |= (<uint64_t>1) << ((column >> 6) & 63)
            totals[column] += 1
        for group in range(n_groups):
            words = summary[group]
            summary[group] = 0
            while words:
                word = group * 64 + manylabel_lowest(words)
                words &= words - 1
                bits = marks[word]
                marks[word] = 0
                while bits:
                    column = word * 64 + manylabel_lowest(bits)
                    bits &= bits - 1
                    indices[cells] = <int32_t>column
                    data[cells] = totals[column]
                    totals[column] = 0
                    cells += 1
        starts[row + 1] = cells
    return cells


def count_terms(const int32_t[::1] ids, const int64_t[::1] indptr, const int32_t[::1] columns, int64_t n_columns):
    """Counts of each document's terms; see `manylabel.kernels.text_reference.count_terms`."""
    cdef int64_t n_documents = indptr.shape[0] - 1, n_tokens = ids.shape[0], cells = 0
    cdef int64_t n_words = (n_columns + 63) // 64, i
    cdef int32_t nothing = 0
    _check_starts(indptr, n_tokens)
    starts = np.zeros(n_documents + 1, dtype=np.int64)
    if n_tokens == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), starts
    # pages never written to cost nothing, so the upper bound may be generous, and what is cut off is not copied
    data, indices = np.empty(n_tokens, dtype=np.int64), np.empty(n_tokens, dtype=np.int32)
    cdef int64_t[::1] data_view = data, starts_view = starts
    cdef int32_t[::1] indices_view = indices
    cdef const int32_t* first_column = &columns[0] if columns.shape[0] else &nothing
    cdef int32_t* totals = <int32_t*>calloc(n_columns + 1, sizeof(int32_t))
    cdef uint64_t* marks = <uint64_t*>calloc(n_words + 64, sizeof(uint64_t))
    cdef uint64_t* summary = <uint64_t*>calloc(n_words // 64 + 2, sizeof(uint64_t))
    try:
        if totals == NULL or marks == NULL or summary == NULL:
            raise MemoryError()
        with nogil:
            cells = count_all(
                &ids[0], &indptr[0], n_documents, first_column, columns.shape[0], n_columns,
                totals, marks, summary, &data_view[0], &indices_view[0], &starts_view[0]
            )
    finally:
        free(totals)
        free(marks)
        free(summary)
    if cells < 0:
        raise IndexError("A term's number or its column is out of bounds.")
    return data[:cells], indices[:cells], starts


def column_totals(const int32_t[::1] indices, const int64_t[::1] data, int64_t n_columns):
    """Of each column how many cells, and their sum; see `manylabel.kernels.text_reference.column_totals`."""
    cdef int64_t n = indices.shape[0], i
    cdef bint inside = True
    if data.shape[0] != n:
        raise ValueError(f"Cells need equally many columns and values, not {n} and {data.shape[0]}.")
    cells, sums = np.zeros(n_columns, dtype=np.int64), np.zeros(n_columns, dtype=np.int64)
    cdef int64_t[::1] cells_view = cells, sums_view = sums
    with nogil:
        for i in range(n):
            if <uint32_t>indices[i] >= <uint64_t>n_columns:
                inside = False
                break
            cells_view[indices[i]] += 1
            sums_view[indices[i]] += data[i]
    if not inside:
        raise IndexError("A column is out of bounds.")
    return cells, sums


cdef _check_starts(const int64_t[::1] indptr, int64_t n_tokens):
    cdef int64_t i
    if indptr.shape[0] < 1 or indptr[0] < 0 or indptr[indptr.shape[0] - 1] > n_tokens:
        raise IndexError("The documents' starts are out of bounds.")
    for i in range(indptr.shape[0] - 1):
        if indptr[i] > indptr[i + 1]:
            raise IndexError("The documents' starts must not fall.")


cdef struct Pair:
    uint64_t key
    int64_t id


cdef inline int64_t place(uint64_t key, int shift) noexcept nogil:
    return <int64_t>(((key ^ (key >> 32)) * <uint64_t>0x9E3779B97F4A7C15) >> shift)


cdef Pair* widened(Pair* old, int64_t n_old, int shift) noexcept nogil:
    """A table of twice as many slots with the same pairs (NULL when memory ran out); an empty slot has id -1."""
    cdef int64_t n_slots = max(n_old * 2, 1024), i, at
    cdef Pair* slots = <Pair*>malloc(n_slots * sizeof(Pair))
    if slots == NULL:
        return NULL
    for i in range(n_slots):
        slots[i].id = -1
    for i in range(n_old):
        if old[i].id >= 0:
            at = place(old[i].key, shift)
            while slots[at].id >= 0:
                at = (at + 1) & (n_slots - 1)
            slots[at] = old[i]
    return slots


cdef int64_t number_all(const int32_t* left, const int32_t* right, int64_t n, int32_t* ids, int64_t* first) noexcept nogil:
    """Number the pairs; `first[id]` is where a pair came first. The number of pairs, or -1 without memory."""
    cdef int64_t i, at, n_slots = 1024, n_pairs = 0
    cdef int shift = 54
    cdef uint64_t key
    cdef Pair* slots = widened(NULL, 0, shift)
    cdef Pair* more
    if slots == NULL:
        return -1
    for i in range(n):
        key = (<uint64_t><uint32_t>left[i] << 32) | <uint32_t>right[i]
        at = place(key, shift)
        while slots[at].id >= 0 and slots[at].key != key:
            at = (at + 1) & (n_slots - 1)
        if slots[at].id < 0:
            slots[at].id = n_pairs
            slots[at].key = key
            first[n_pairs] = i
            n_pairs += 1
            ids[i] = <int32_t>slots[at].id
            if n_pairs * 2 >= n_slots:
                shift -= 1
                more = widened(slots, n_slots, shift)
                free(slots)
                if more == NULL:
                    return -1
                slots = more
                n_slots *= 2
        else:
            ids[i] = <int32_t>slots[at].id
    free(slots)
    return n_pairs


def intern_pairs(const int32_t[::1] left, const int32_t[::1] right):
    """Number distinct pairs; see `manylabel.kernels.text_reference.intern_pairs`."""
    cdef int64_t n = left.shape[0], n_pairs = 0
    if right.shape[0] != n:
        raise ValueError(f"Pairs need equally many parts, not {n} and {right.shape[0]}.")
    ids, first = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int64)
    cdef int32_t[::1] ids_view = ids
    cdef int64_t[::1] first_view = first
    if n:
        with nogil:
            n_pairs = number_all(&left[0], &right[0], n, &ids_view[0], &first_view[0])
        if n_pairs < 0:
            raise MemoryError("There is not enough memory for the n-grams of these texts.")
    places = first[:n_pairs]
    return ids, np.asarray(left)[places], np.asarray(right)[places]
