"""Compiled twins of `manylabel.kernels.neighbours_reference`: nearest documents by inner product, and their votes.

An inverted index: for each term of a query, its value times the postings of the term is added to one sum per stored
document. Terms that are in a large share of the documents are kept as dense rows, which add without jumping about;
they make up most of the visits in a text collection. (Groups of queries that share a pass over the dense rows
were measured too: no gain.) A pruned search (max-score) was measured and does 3.5 times the
operations.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

import numpy as np

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define manylabel_fetch(place) __builtin_prefetch(place)
    #else
    #define manylabel_fetch(place) ((void)(place))
    #endif
    """
    void manylabel_fetch(const void* place) noexcept nogil

ctypedef fused real:
    float
    double

ctypedef fused index:
    int32_t
    int64_t

cdef enum:
    STRIDE = 32  # documents whose largest sum is compared first


# ---------------------------------------------------------------- one query

cdef void add_frequent(
    real* sums, const real* rows, const real* shares, const int32_t* which, int64_t n_which, int64_t n
) noexcept nogil:
    """Add the dense rows of a query's frequent terms, four at a time, each sum in the order of the terms."""
    cdef int64_t t = 0, d
    cdef const real* a
    cdef const real* b
    cdef const real* c
    cdef const real* e
    cdef real x, y, z, w
    while t + 4 <= n_which:
        a, b = rows + which[t] * n, rows + which[t + 1] * n
        c, e = rows + which[t + 2] * n, rows + which[t + 3] * n
        x, y, z, w = shares[t], shares[t + 1], shares[t + 2], shares[t + 3]
        for d in range(n):
            sums[d] = (((sums[d] + x * a[d]) + y * b[d]) + z * c[d]) + w * e[d]
        t += 4
    while t < n_which:
        a, x = rows + which[t] * n, shares[t]
        for d in range(n):
            sums[d] += x * a[d]
        t += 1


cdef inline bint worse(real s, int32_t i, real t, int32_t j) noexcept nogil:
    return s < t or (s == t and i > j)


cdef inline void sink(real* values, int32_t* ids, int64_t n, real value, int32_t id) noexcept nogil:
    """Put a pair into the root of a heap whose root is the worst of its n pairs."""
    cdef int64_t at = 0, child
    while True:
        child = 2 * at + 1
        if child >= n:
            break
        if child + 1 < n and worse(values[child + 1], ids[child + 1], values[child], ids[child]):
            child += 1
        if not worse(values[child], ids[child], value, id):
            break
        values[at], ids[at] = values[child], ids[child]
        at = child
    values[at], ids[at] = value, id


cdef inline void rise(real* values, int32_t* ids, int64_t at, real value, int32_t id) noexcept nogil:
    """Append a pair at place `at` of the heap."""
    cdef int64_t parent
    while at > 0:
        parent = (at - 1) // 2
        if not worse(value, id, values[parent], ids[parent]):
            break
        values[at], ids[at] = values[parent], ids[parent]
        at = parent
    values[at], ids[at] = value, id


cdef inline int64_t offer(
    real* values, int32_t* ids, int64_t found, int64_t k, real value, int32_t id
) noexcept nogil:
    """Offer a pair to the heap of the k best; how many it holds. Pairs come with rising ids: an equal is worse."""
    if found < k:
        rise(values, ids, found, value, id)
        return found + 1
    if value > values[0]:
        sink(values, ids, k, value, id)
    return k


cdef real bar_of(const real* sums, int64_t n_strides, int64_t k, real* tops, real* values, int32_t* ids) noexcept nogil:
    """Write the largest sum of each stride; the k-th largest of these (0 if not positive, or of fewer than k).

    k documents reach it, so that no document below it is among the k best.
    """
    cdef int64_t g, d, block, found = 0
    cdef real lane[4]
    cdef const real* at
    for g in range(n_strides):
        at = sums + g * STRIDE
        for d in range(4):
            lane[d] = at[d]
        for block in range(1, STRIDE // 4):
            for d in range(4):
                lane[d] = at[4 * block + d] if at[4 * block + d] > lane[d] else lane[d]
        lane[0], lane[1] = max(lane[0], lane[2]), max(lane[1], lane[3])
        tops[g] = max(lane[0], lane[1])
    for g in range(n_strides):
        if tops[g] > 0 and (found < k or tops[g] > values[0]):
            found = offer(values, ids, found, k, tops[g], <int32_t>g)
    return values[0] if found == k else 0


cdef int64_t pick(const real* sums, int64_t n_strides, int64_t k, real* tops, real* values, int32_t* ids) noexcept nogil:
    """The k largest positive sums, best first, ties by index. The array is padded with zeros to whole strides."""
    cdef int64_t g, d, i, found = 0
    cdef real bar = bar_of(sums, n_strides, k, tops, values, ids), value
    cdef int32_t id
    for g in range(n_strides):
        if tops[g] > 0 and tops[g] >= bar:
            for d in range(g * STRIDE, g * STRIDE + STRIDE):
                if sums[d] > 0 and sums[d] >= bar:
                    found = offer(values, ids, found, k, sums[d], <int32_t>d)
    for i in range(found - 1, 0, -1):  # the worst to the end, again and again: a heap sort
        value, id = values[i], ids[i]
        values[i], ids[i] = values[0], ids[0]
        sink(values, ids, i, value, id)
    return found


# ---------------------------------------------------------------- a block of queries

cdef bint accumulate(
    const index* terms, const real* data, int64_t n_query,
    const int64_t* postings, const int32_t* documents, const real* values, int64_t n_terms,
    const int32_t* row_of, const real* rows, int64_t n_rows, int64_t n, real* sums, real* shares, int32_t* which
) noexcept nogil:
    """Add what a query has in common with each document; False for a term out of bounds or named twice."""
    cdef int64_t p, d, n_which = 0
    cdef real share
    for p in range(n_query):
        if <uint64_t>terms[p] >= <uint64_t>n_terms:
            return False
        if row_of[terms[p]] >= 0:
            if n_which == n_rows:
                return False
            which[n_which], shares[n_which] = row_of[terms[p]], data[p]
            n_which += 1
    add_frequent(sums, rows, shares, which, n_which, n)
    for p in range(n_query):
        if p + 2 < n_query:  # postings of rare terms are short and far apart
            manylabel_fetch(documents + postings[terms[p + 2]])
            manylabel_fetch(values + postings[terms[p + 2]])
        if row_of[terms[p]] < 0:
            share = data[p]
            for d in range(postings[terms[p]], postings[terms[p] + 1]):
                sums[documents[d]] += share * values[d]
    return True


cdef int search(
    const index* starts, const index* terms, const real* data, int64_t begin, int64_t end,
    const int64_t* postings, const int32_t* documents, const real* values, int64_t n_terms,
    const int32_t* row_of, const real* rows, int64_t n_rows, int64_t n,
    const int32_t* skip, int64_t k, int32_t* ids, real* similarities, int32_t* counts
) noexcept nogil:
    """0, or 1 for a term out of bounds, 2 without memory."""
    cdef int64_t padded = ((n + STRIDE - 1) // STRIDE) * STRIDE, q
    cdef int wrong = 0
    cdef real* sums = <real*>malloc(padded * sizeof(real) + 1)
    cdef real* tops = <real*>malloc(padded // STRIDE * sizeof(real) + 1)
    cdef real* shares = <real*>malloc(n_rows * sizeof(real) + 1)
    cdef int32_t* which = <int32_t*>malloc(n_rows * sizeof(int32_t) + 1)
    if sums == NULL or tops == NULL or shares == NULL or which == NULL:
        wrong = 2
    else:
        for q in range(begin, end):
            memset(sums, 0, padded * sizeof(real))
            if not accumulate(
                terms + starts[q], data + starts[q], starts[q + 1] - starts[q], postings, documents, values, n_terms,
                row_of, rows, n_rows, n, sums, shares, which
            ):
                wrong = 1
                break
            if skip[q] >= 0 and skip[q] < n:
                sums[skip[q]] = 0
            counts[q] = <int32_t>pick(
                sums, padded // STRIDE, k, tops, similarities + q * k, ids + q * k
            )
    free(sums)
    free(tops)
    free(shares)
    free(which)
    return wrong


cdef int search_typed(
    index _, real __, queries, postings, const int32_t[::1] skip, int64_t begin, int64_t end, int64_t n_documents,
    int32_t[:, ::1] ids, real[:, ::1] similarities, int32_t[::1] counts
) except -1:
    cdef const index[::1] starts = queries[0], terms = queries[1]
    cdef const real[::1] data = queries[2], values = postings[2]
    cdef const int64_t[::1] places = postings[0]
    cdef const int32_t[::1] documents = postings[1], row_of = postings[3]
    cdef const real[:, ::1] rows = postings[4]
    cdef int32_t no_document = 0
    cdef index no_term = 0
    cdef real nothing = 0
    cdef int wrong
    with nogil:
        wrong = search(
            &starts[0], &terms[0] if terms.shape[0] else &no_term, &data[0] if data.shape[0] else &nothing, begin, end,
            &places[0], &documents[0] if documents.shape[0] else &no_document,
            &values[0] if values.shape[0] else &nothing, row_of.shape[0],
            &row_of[0] if row_of.shape[0] else &no_document, &rows[0, 0] if rows.shape[0] else &nothing, rows.shape[0],
            n_documents, &skip[0], ids.shape[1], &ids[0, 0], &similarities[0, 0], &counts[0]
        )
    return wrong


def k_nearest(
    queries, postings, int64_t n_documents, const int32_t[::1] skip, int64_t begin, int64_t end,
    ids, similarities, counts
):
    """The nearest documents of some queries; see `manylabel.kernels.neighbours_reference.k_nearest`."""
    cdef int wrong
    cdef bint wide = queries[1].dtype == np.int64, double_ = queries[2].dtype == np.float64
    if not 0 <= begin <= end < queries[0].shape[0] or skip.shape[0] < end or len(counts) < end:
        raise IndexError(f"Queries {begin} to {end} are out of bounds.")
    if begin == end or ids.shape[1] == 0:
        return
    if wide and double_:
        wrong = search_typed[int64_t, double](
            0, 0, queries, postings, skip, begin, end, n_documents, ids, similarities, counts)
    elif wide:
        wrong = search_typed[int64_t, float](
            0, 0, queries, postings, skip, begin, end, n_documents, ids, similarities, counts)
    elif double_:
        wrong = search_typed[int32_t, double](
            0, 0, queries, postings, skip, begin, end, n_documents, ids, similarities, counts)
    else:
        wrong = search_typed[int32_t, float](
            0, 0, queries, postings, skip, begin, end, n_documents, ids, similarities, counts)
    if wrong == 1:
        raise IndexError("A query names a term out of bounds, or the same one twice.")
    if wrong:
        raise MemoryError("There is not enough memory for one sum per stored document.")


# ---------------------------------------------------------------- votes

cdef int64_t vote(
    const int32_t* ids, const int32_t* counts, const double* weights, int64_t begin, int64_t end, int64_t k,
    const int64_t* starts, const int32_t* labels, int64_t n_documents, int64_t n_labels,
    double* sums, unsigned char* seen, int64_t* starts_out, int32_t* labels_out, double* shares_out
) noexcept nogil:
    """Fill the three arrays of a CSR table; the number of cells, or -1 for a document or label out of bounds."""
    cdef int64_t q, j, p, cells = 0, first, at
    cdef int32_t label
    cdef double total
    starts_out[0] = 0
    for q in range(begin, end):
        first = cells
        total = 0
        for j in range(q * k, q * k + counts[q]):
            if ids[j] < 0 or ids[j] >= n_documents:
                return -1
            total += weights[j]
            for p in range(starts[ids[j]], starts[ids[j] + 1]):
                label = labels[p]
                if label < 0 or label >= n_labels:
                    return -1
                if not seen[label]:
                    seen[label] = 1
                    at = cells  # a handful of labels: insertion keeps them sorted
                    while at > first and labels_out[at - 1] > label:
                        labels_out[at] = labels_out[at - 1]
                        at -= 1
                    labels_out[at] = label
                    cells += 1
                sums[label] += weights[j]
        for p in range(first, cells):
            label = labels_out[p]
            shares_out[p] = sums[label] / total if total > 0 else 0
            sums[label] = 0
            seen[label] = 0
        starts_out[q - begin + 1] = cells
    return cells


def label_shares(
    const int32_t[:, ::1] ids, const int32_t[::1] counts, const double[:, ::1] weights, int64_t begin, int64_t end,
    const int64_t[::1] starts, const int32_t[::1] labels, int64_t n_labels
):
    """Each label's share of the neighbours; see `manylabel.kernels.neighbours_reference.label_shares`."""
    cdef int64_t n_documents = starts.shape[0] - 1, k = ids.shape[1], room = 0, cells = 0, q, j
    cdef int32_t nothing = 0
    if not 0 <= begin <= end <= ids.shape[0] or counts.shape[0] < end or weights.shape[0] != ids.shape[0]:
        raise IndexError(f"Queries {begin} to {end} are out of bounds.")
    if weights.shape[1] != k:
        raise IndexError(f"There are {k} neighbours but {weights.shape[1]} weights a query.")
    for q in range(begin, end):
        if counts[q] < 0 or counts[q] > k:
            raise IndexError(f"Query {q} has {counts[q]} of {k} neighbours.")
        for j in range(counts[q]):
            if 0 <= ids[q, j] < n_documents:
                room += starts[ids[q, j] + 1] - starts[ids[q, j]]
    indptr = np.zeros(end - begin + 1, dtype=np.int64)
    indices, data = np.empty(room + 1, dtype=np.int32), np.empty(room + 1, dtype=np.float64)
    cdef int64_t[::1] indptr_view = indptr
    cdef int32_t[::1] indices_view = indices
    cdef double[::1] data_view = data
    if begin == end or k == 0:
        return indptr, indices[:0], data[:0]
    cdef double* sums = <double*>calloc(n_labels + 1, sizeof(double))
    cdef unsigned char* seen = <unsigned char*>calloc(n_labels + 1, 1)
    try:
        if sums == NULL or seen == NULL:
            raise MemoryError()
        with nogil:
            cells = vote(
                &ids[0, 0], &counts[0], &weights[0, 0], begin, end, k, &starts[0],
                &labels[0] if labels.shape[0] else &nothing, n_documents, n_labels,
                sums, seen, &indptr_view[0], &indices_view[0], &data_view[0]
            )
    finally:
        free(sums)
        free(seen)
    if cells < 0:
        raise IndexError("A neighbour or a label is out of bounds.")
    return indptr, indices[:cells].copy(), data[:cells].copy()
