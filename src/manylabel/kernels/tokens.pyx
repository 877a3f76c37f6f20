"""Compiled twin of `manylabel.kernels.text_reference.tokenize`: one pass over CPython's own string buffers.

Characters are classed by CPython's own tables, so that tokens are those of `re` on every script. The lock is released
while texts are read: strings never change, and a list holds them alive.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from manylabel.kernels.interner cimport (
    Interner, Text, close_interner, gather, hash_bytes, number, number_signs, open_interner, reserve, results, sign_at,
)

import numpy as np

cdef extern from *:
    bint Py_UNICODE_ISALNUM(Py_UCS4 sign) noexcept nogil
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4 sign) noexcept nogil

cdef enum:
    WORDS = 0
    LETTERS = 1

# For each mode (words, letters) and each case (as is, lowered): the character to keep, or 0 for one outside a token.
cdef uint8_t[4][256] _bytes
cdef uint16_t[4][65536] _signs
cdef bint[4] _signs_ready = [False, False, False, False]


cdef inline uint32_t kept(uint32_t sign, int mode, bint lower) noexcept nogil:
    """The character as part of a token, or 0; NUL itself is part of no token."""
    if lower:
        sign = Py_UNICODE_TOLOWER(sign)
    if mode == LETTERS:
        return sign if 97 <= sign <= 122 or (not lower and 65 <= sign <= 90) else 0
    return sign if sign == 95 or Py_UNICODE_ISALNUM(sign) else 0


cdef void _prepare_bytes() noexcept:
    cdef int which, sign
    for which in range(4):
        for sign in range(256):
            _bytes[which][sign] = <uint8_t>kept(sign, which >> 1, which & 1)


cdef void _prepare_signs_if_needed(Text* texts, int64_t n, int which) noexcept:
    """Fill the table for texts of wider characters when the first such text is met (a third of a millisecond)."""
    cdef int64_t i
    cdef int sign
    if _signs_ready[which]:
        return
    for i in range(n):
        if texts[i].kind > 1:
            for sign in range(65536):
                _signs[which][sign] = <uint16_t>kept(sign, which >> 1, which & 1)
            _signs_ready[which] = True
            return


_prepare_bytes()


cdef void mark_special(Text* texts, int64_t n) noexcept nogil:
    """Find texts whose lower case is not that of their characters one by one: capital sigma, dotted capital I."""
    cdef int64_t i, j
    cdef bint found
    cdef uint32_t sign
    for i in range(n):
        if texts[i].kind > 1:
            found = False
            for j in range(texts[i].length):
                sign = sign_at(&texts[i], j)
                found |= (sign == 0x130) | (sign == 0x3A3)
            texts[i].special = found


cdef bint split_bytes(Interner* t, Text* text, const uint8_t* table, int shortest, uint8_t* token) noexcept nogil:
    """The tokens of a text of one byte a character."""
    cdef const uint8_t* data = <const uint8_t*>text.data
    cdef int64_t i = 0, n = text.length, start, length, k
    cdef uint64_t key
    cdef uint8_t sign
    cdef int shift
    while True:
        while i < n and table[data[i]] == 0:
            i += 1
        if i >= n:
            return True
        start = i
        key = 0
        shift = 0
        sign = table[data[i]]
        while sign != 0 and shift < 64:
            key |= <uint64_t>sign << shift
            shift += 8
            i += 1
            sign = table[data[i]] if i < n else 0
        if sign == 0:
            if i - start >= shortest and not number(t, key, token, i - start, False):
                return False
            continue
        while i < n and table[data[i]] != 0:
            i += 1
        length = i - start
        for k in range(length):
            token[k] = table[data[start + k]]
        if not number(t, hash_bytes(token, length), token, length, False):
            return False


cdef bint split_signs(
    Interner* t, Text* text, int which, int shortest, uint32_t* signs, uint8_t* narrow
) noexcept nogil:
    """The tokens of a text of two or four bytes a character."""
    cdef int64_t i, n = 0
    cdef uint32_t sign
    for i in range(text.length):
        sign = sign_at(text, i)
        sign = _signs[which][sign] if sign < 65536 else kept(sign, which >> 1, which & 1)
        if sign != 0:
            signs[n] = sign
            n += 1
        elif n != 0:
            if n >= shortest and not number_signs(t, signs, n, narrow):
                return False
            n = 0
    return n < shortest or n == 0 or number_signs(t, signs, n, narrow)


cdef bint split_all(
    Interner* t, Text* texts, int64_t n, int which, uint32_t* signs, uint8_t* narrow, int64_t* ends
) noexcept nogil:
    """The tokens of all texts; False when memory ran out."""
    cdef int64_t i
    cdef int shortest = 1 if which >> 1 == LETTERS else 2
    for i in range(n):
        # a token and the sign that ends it take at least two characters
        if not reserve(t, texts[i].length // 2 + 1):
            return False
        if texts[i].kind == 1:
            if not split_bytes(t, &texts[i], _bytes[which], shortest, narrow):
                return False
        elif not split_signs(t, &texts[i], which, shortest, signs, narrow):
            return False
        ends[i] = t.n_ids
    return True


cdef bint lower_special(list texts, Text* where) except -1:
    """Replace the texts only `str.lower` can lower-case; whether there were any."""
    cdef int64_t i, n = len(texts)
    cdef bint found = False
    with nogil:
        mark_special(where, n)
    for i in range(n):
        if where[i].special:
            texts[i] = texts[i].lower()
            found = True
    return found


def tokenize(list texts, str mode, bint lowercase):
    """Words as numbers; see `manylabel.kernels.text_reference.tokenize`."""
    if mode not in ("words", "letters"):
        raise ValueError(f"mode must be 'words' or 'letters', not {mode!r}.")
    cdef list alive = list(texts)
    cdef int which = (LETTERS if mode == "letters" else WORDS) * 2 + lowercase
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
        if lowercase and lower_special(alive, where):
            free(where)
            where = NULL
            where = gather(alive, &n_characters, &longest)
        _prepare_signs_if_needed(where, n, which)
        signs = <uint32_t*>malloc((longest + 1) * sizeof(uint32_t))
        narrow = <uint8_t*>malloc(longest + 8)
        if signs == NULL or narrow == NULL or not open_interner(&t, n_characters):
            raise MemoryError()
        with nogil:
            fine = split_all(&t, where, n, which, signs, narrow, &ends[0] + 1)
        if not fine:
            raise MemoryError("There is not enough memory for the tokens of these texts.")
        return results(&t, np, indptr)
    finally:
        close_interner(&t)
        free(where)
        free(signs)
        free(narrow)
