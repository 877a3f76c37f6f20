"""Compiled twins of `character_ngrams` and `hash_terms` of `manylabel.kernels.text_reference`."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from manylabel.kernels.interner cimport (
    Interner, Text, close_interner, gather, number_signs, open_interner, reserve, results, sign_at,
)

import numpy as np

cdef extern from *:
    bint Py_UNICODE_ISSPACE(Py_UCS4 sign) noexcept nogil


cdef int64_t read_normal(Text* text, uint32_t* out) noexcept nogil:
    """Copy a text, runs of two or more white-space characters as one blank; the number of characters written."""
    cdef int64_t i = 0, j, n = 0
    while i < text.length:
        if Py_UNICODE_ISSPACE(sign_at(text, i)):
            j = i + 1
            while j < text.length and Py_UNICODE_ISSPACE(sign_at(text, j)):
                j += 1
            out[n] = 32 if j - i > 1 else sign_at(text, i)
            i = j
        else:
            out[n] = sign_at(text, i)
            i += 1
        n += 1
    return n


cdef bint runs(
    Interner* t, uint32_t* signs, int64_t n, int64_t n_min, int64_t n_max, uint8_t* narrow
) noexcept nogil:
    """All runs of a text, shortest first."""
    cdef int64_t length, start
    for length in range(n_min, min(n_max, n) + 1):
        if not reserve(t, n - length + 1):
            return False
        for start in range(n - length + 1):
            if not number_signs(t, signs + start, length, narrow):
                return False
    return True


cdef bint runs_in_word(
    Interner* t, uint32_t* word, int64_t n, int64_t n_min, int64_t n_max, uint8_t* narrow
) noexcept nogil:
    """All runs of a word that has a blank on both sides; a word not longer than a run ends the series."""
    cdef int64_t length, start
    for length in range(n_min, n_max + 1):
        if n <= length:
            return reserve(t, 1) and number_signs(t, word, n, narrow)
        if not reserve(t, n - length + 1):
            return False
        for start in range(n - length + 1):
            if not number_signs(t, word + start, length, narrow):
                return False
    return True


cdef bint runs_in_words(
    Interner* t, uint32_t* signs, int64_t n, int64_t n_min, int64_t n_max, uint8_t* narrow
) noexcept nogil:
    """The runs of each word. `signs` has room for one more character on both sides of the text."""
    cdef int64_t i = 0, start
    cdef uint32_t before, after
    while i < n:
        if Py_UNICODE_ISSPACE(signs[i]):
            i += 1
            continue
        start = i
        while i < n and not Py_UNICODE_ISSPACE(signs[i]):
            i += 1
        before, after = signs[start - 1], signs[i]
        signs[start - 1] = signs[i] = 32
        if not runs_in_word(t, signs + start - 1, i - start + 2, n_min, n_max, narrow):
            return False
        signs[start - 1], signs[i] = before, after
    return True


cdef bint runs_of_all(
    Interner* t, Text* texts, int64_t n, int64_t n_min, int64_t n_max, bint within_words,
    uint32_t* signs, uint8_t* narrow, int64_t* ends
) noexcept nogil:
    """The runs of all texts; False when memory ran out."""
    cdef int64_t i, length
    cdef bint fine
    for i in range(n):
        length = read_normal(&texts[i], signs + 1)
        signs[0] = signs[length + 1] = 32
        if within_words:
            fine = runs_in_words(t, signs + 1, length, n_min, n_max, narrow)
        else:
            fine = runs(t, signs + 1, length, n_min, n_max, narrow)
        if not fine:
            return False
        ends[i] = t.n_ids
    return True


def character_ngrams(list texts, int64_t n_min, int64_t n_max, bint within_words):
    """Runs of characters as numbers; see `manylabel.kernels.text_reference.character_ngrams`."""
    if n_min < 1 or n_max < n_min:
        raise ValueError(f"Character n-grams need 1 <= n_min <= n_max, not {n_min} and {n_max}.")
    cdef list alive = list(texts)
    cdef int64_t n = len(alive), n_characters, longest
    cdef uint32_t* signs = NULL
    cdef uint8_t* narrow = NULL
    cdef Interner t
    cdef bint fine
    indptr = np.zeros(n + 1, dtype=np.int64)
    cdef int64_t[::1] ends = indptr
    memset(&t, 0, sizeof(Interner))
    cdef Text* where = gather(alive, &n_characters, &longest)
    try:
        signs = <uint32_t*>malloc((longest + 2) * sizeof(uint32_t))
        narrow = <uint8_t*>malloc(longest + 2)
        if signs == NULL or narrow == NULL or not open_interner(&t, n_characters):
            raise MemoryError()
        with nogil:
            fine = runs_of_all(&t, where, n, n_min, n_max, within_words, signs, narrow, &ends[0] + 1)
        if not fine:
            raise MemoryError("There is not enough memory for the character n-grams of these texts.")
        return results(&t, np, indptr)
    finally:
        close_interner(&t)
        free(where)
        free(signs)
        free(narrow)


cdef inline uint32_t scramble(uint32_t k) noexcept nogil:
    k *= <uint32_t>0xCC9E2D51
    k = (k << 15) | (k >> 17)
    return k * <uint32_t>0x1B873593


cdef uint32_t murmur(const uint8_t* data, int64_t n) noexcept nogil:
    """MurmurHash3, 32 bit, x86, seed 0; bytes are put together by shifts, so that every processor gives the same."""
    cdef uint32_t h = 0, k
    cdef int64_t i, j, whole = n - n % 4
    for i in range(0, whole, 4):
        k = data[i] | (<uint32_t>data[i + 1] << 8) | (<uint32_t>data[i + 2] << 16) | (<uint32_t>data[i + 3] << 24)
        h ^= scramble(k)
        h = (h << 13) | (h >> 19)
        h = h * 5 + <uint32_t>0xE6546B64
    k = 0
    for j in range(n - whole):
        k |= <uint32_t>data[whole + j] << (8 * j)
    h ^= scramble(k)
    h ^= <uint32_t>n
    h = (h ^ (h >> 16)) * <uint32_t>0x85EBCA6B
    h = (h ^ (h >> 13)) * <uint32_t>0xC2B2AE35
    return h ^ (h >> 16)


def hash_terms(list terms):
    """MurmurHash3 of each term; see `manylabel.kernels.text_reference.hash_terms`."""
    cdef int64_t i, n = len(terms)
    cdef bytes data
    hashes = np.empty(n, dtype=np.int32)
    cdef int32_t[::1] out = hashes
    for i in range(n):
        data = (<str?>terms[i]).encode("utf-8", "surrogatepass")
        out[i] = <int32_t>murmur(data, len(data))
    return hashes
