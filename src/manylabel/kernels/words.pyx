"""Compiled twins of `merge_words` and `spelled` of `manylabel.kernels.text_reference`.

Words come as the text kernels keep them: their characters in one buffer, 1 or 4 bytes each. They are compared there,
which is many times faster than to follow pointers to as many strings; only the distinct ones become strings.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np

cdef extern from *:
    object PyUnicode_FromKindAndData(int kind, const void* data, Py_ssize_t length)


cdef struct Word:
    uint64_t prefix   # the first eight characters, the first one highest; see prefix_of
    const uint8_t* data
    int64_t n_bytes
    int32_t id
    int32_t part
    bint wide


cdef inline uint32_t sign_at(const Word* word, int64_t i) noexcept nogil:
    cdef uint32_t sign
    if not word.wide:
        return word.data[i]
    memcpy(&sign, word.data + 4 * i, 4)
    return sign


cdef inline int64_t length_of(const Word* word) noexcept nogil:
    return word.n_bytes // 4 if word.wide else word.n_bytes


cdef uint64_t prefix_of(const Word* word) noexcept nogil:
    """A number for each word such that smaller ones come first and equal ones remain to be compared.

    A byte a character; 255 stands for any beyond, and nothing after it counts.
    """
    cdef uint64_t prefix = 0
    cdef uint32_t sign
    cdef int64_t i, n = length_of(word)
    for i in range(8 if n > 8 else n):
        sign = sign_at(word, i)
        prefix |= <uint64_t>(sign if sign < 255 else 255) << (56 - 8 * i)
        if sign >= 255:
            break
    return prefix


cdef int compare(const Word* a, const Word* b) noexcept nogil:
    """-1, 0 or 1, by code points."""
    cdef int64_t i = 0, n_a = length_of(a), n_b = length_of(b)
    cdef uint32_t x, y
    if a.prefix != b.prefix:
        return -1 if a.prefix < b.prefix else 1
    while i < n_a and i < n_b:
        x = sign_at(a, i)
        y = sign_at(b, i)
        if x != y:
            return -1 if x < y else 1
        i += 1
    return (n_a > n_b) - (n_a < n_b)


cdef Word* sort_by_prefix(Word* words, Word* other, int64_t n) noexcept nogil:
    """Radix sort, the lowest byte first; the sorted words are in one of the two buffers."""
    cdef int64_t[256] starts
    cdef int64_t i, total, count
    cdef int byte, shift
    cdef Word* swap
    for shift in range(0, 64, 8):
        memset(starts, 0, sizeof(starts))
        for i in range(n):
            starts[(words[i].prefix >> shift) & 255] += 1
        total = 0
        for byte in range(256):
            count = starts[byte]
            starts[byte] = total
            total += count
        for i in range(n):
            byte = (words[i].prefix >> shift) & 255
            other[starts[byte]] = words[i]
            starts[byte] += 1
        swap = words
        words = other
        other = swap
    return words


cdef void sort_by_merging(Word* words, Word* other, int64_t n) noexcept nogil:
    """Merge sort, for words of one prefix."""
    cdef int64_t middle = n // 2, i = 0, j = middle, k = 0
    if n < 2:
        return
    sort_by_merging(words, other, middle)
    sort_by_merging(words + middle, other, n - middle)
    if compare(&words[middle - 1], &words[middle]) <= 0:
        return
    memcpy(other, words, middle * sizeof(Word))
    while i < middle:
        if j == n or compare(&other[i], &words[j]) <= 0:
            words[k] = other[i]
            i += 1
        else:
            words[k] = words[j]
            j += 1
        k += 1


cdef int64_t number_sorted(Word* words, Word* other, int64_t n, int32_t** places) noexcept nogil:
    """Finish the order, put the distinct words first in `words` and note the place of each; how many there are."""
    cdef int64_t begin = 0, end, i, distinct = 0
    while begin < n:
        end = begin + 1
        while end < n and words[end].prefix == words[begin].prefix:
            end += 1
        sort_by_merging(words + begin, other, end - begin)
        begin = end
    for i in range(n):
        if distinct == 0 or compare(&words[distinct - 1], &words[i]) != 0:
            words[distinct] = words[i]
            distinct += 1
        places[words[i].part][words[i].id] = <int32_t>(distinct - 1)
    return distinct


cdef object string_of(const Word* word):
    """The word as a string. A wide one is copied first: its place in the buffer need not be a multiple of 4."""
    cdef uint32_t* signs
    if not word.wide:
        return PyUnicode_FromKindAndData(1, word.data, word.n_bytes)
    signs = <uint32_t*>malloc(word.n_bytes)
    if signs == NULL:
        raise MemoryError()
    try:
        memcpy(signs, word.data, word.n_bytes)
        return PyUnicode_FromKindAndData(4, signs, word.n_bytes // 4)
    finally:
        free(signs)


cdef void point_at(Word* words, const uint8_t* signs, const int64_t* starts, const uint8_t* wide, int64_t n,
                   int32_t part) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        words[i].data = signs + starts[i]
        words[i].n_bytes = starts[i + 1] - starts[i]
        words[i].wide = wide[i]
        words[i].id = <int32_t>i
        words[i].part = part
        words[i].prefix = prefix_of(&words[i])


cdef int64_t fill(Word* words, list vocabularies) except -1:
    """The words of all vocabularies one after the other, each checked; how many there are."""
    cdef const uint8_t[::1] signs, wide
    cdef const int64_t[::1] starts
    cdef const uint8_t* first
    cdef int64_t total = 0, n
    cdef int32_t part = 0
    for signs, starts, wide in vocabularies:
        n = wide.shape[0]
        if starts.shape[0] != n + 1 or starts[0] != 0 or starts[n] != signs.shape[0]:
            raise IndexError("The words' starts are out of bounds.")
        if n:
            first = &signs[0] if signs.shape[0] else NULL
            point_at(words + total, first, &starts[0], &wide[0], n, part)
        total += n
        part += 1
    return total


def merge_words(list vocabularies):
    """All words in alphabetical order, and where the words of each list are; see the twin."""
    cdef int64_t n = sum([len(wide) for _, _, wide in vocabularies]), distinct = 0, i
    cdef int32_t[::1] view
    cdef Word* words = <Word*>malloc((n + 1) * sizeof(Word))
    cdef Word* other = <Word*>malloc((n + 1) * sizeof(Word))
    cdef int32_t** places = <int32_t**>malloc((len(vocabularies) + 1) * sizeof(int32_t*))
    cdef Word* ordered
    cdef list columns = [], names
    try:
        if words == NULL or other == NULL or places == NULL:
            raise MemoryError()
        for part, (_, _, wide) in enumerate(vocabularies):
            columns.append(np.empty(len(wide), dtype=np.int32))
            view = columns[part]
            places[part] = &view[0] if view.shape[0] else NULL
        fill(words, vocabularies)
        with nogil:
            ordered = sort_by_prefix(words, other, n)
            distinct = number_sorted(ordered, other if ordered == words else words, n, places)
        names = [None] * distinct
        for i in range(distinct):
            names[i] = string_of(&ordered[i])
        return names, columns
    finally:
        free(words)
        free(other)
        free(places)


def spelled(vocabulary):
    """The words as strings; see the twin."""
    cdef int64_t n = len(vocabulary[2]), i
    cdef Word* words = <Word*>malloc((n + 1) * sizeof(Word))
    if words == NULL:
        raise MemoryError()
    try:
        fill(words, [vocabulary])
        return [string_of(&words[i]) for i in range(n)]
    finally:
        free(words)
