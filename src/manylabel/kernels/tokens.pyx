"""Compiled twin of `manylabel.kernels.text_reference.tokenize`: one pass over CPython's own string buffers.

Characters are classed by CPython's own tables, so that tokens are those of `re` on every script. The lock is released
while texts are read: strings never change, and a list holds them alive.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memset

from manylabel.kernels.interner cimport (
    Interner, Text, close_interner, gather, hash_bytes, number, number_signs, open_interner, reserve, results, sign_at,
)

import numpy as np

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    /* Eight bytes with the first in the lowest place, whatever the byte order of the processor. */
    static inline uint64_t manylabel_load(const uint8_t* data) {
        uint64_t word;
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        int k;
        for (word = 0, k = 7; k >= 0; k--) word = word << 8 | data[k];
    #else
        memcpy(&word, data, 8);
    #endif
        return word;
    }

    /* Which of the eight bytes is the first to be 0; 8 when none is. */
    static inline int manylabel_first_zero(uint64_t word) {
        uint64_t zeros = (word - 0x0101010101010101u) & ~word & 0x8080808080808080u;
    #if defined(__GNUC__) || defined(__clang__)
        return zeros ? __builtin_ctzll(zeros) >> 3 : 8;
    #else
        int k = 0;
        if (!zeros) return 8;
        while (!(zeros & 0x80)) { zeros >>= 8; k++; }
        return k;
    #endif
    }

    /* Keep word characters (or letters) and drop the rest, in a form compilers vectorise; whether any byte was beyond
       ASCII, so that the answer is not valid. */
    static int manylabel_keep_ascii(const uint8_t* data, int64_t n, int letters, int lower, uint8_t* kept) {
        const uint8_t others = letters ? 0 : 0xFF, down = lower ? 0x20 : 0;
        uint8_t all = 0;
        int64_t i;
        for (i = 0; i < n; i++) {
            uint8_t c = data[i];
            uint8_t letter = (uint8_t)((uint8_t)((c | 0x20) - 'a') < 26 ? 0xFF : 0);
            uint8_t other = (uint8_t)((uint8_t)(c - '0') < 10 || c == '_' ? 0xFF : 0) & others;
            all |= c;
            kept[i] = (uint8_t)((c | (letter & down)) & (letter | other));
        }
        return all >= 0x80;
    }
    """
    uint64_t manylabel_load(const uint8_t* data) noexcept nogil
    int manylabel_first_zero(uint64_t word) noexcept nogil
    bint manylabel_keep_ascii(const uint8_t* data, int64_t n, bint letters, bint lower, uint8_t* kept) noexcept nogil
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


cdef void keep_bytes(const uint8_t* data, int64_t n, int which, uint8_t* signs) noexcept nogil:
    """The characters as parts of tokens, 0 for those outside; the 16 bytes after the last one are 0 too."""
    cdef int64_t i
    if manylabel_keep_ascii(data, n, which >> 1 == LETTERS, which & 1, signs):
        for i in range(n):
            signs[i] = _bytes[which][data[i]]
    memset(signs + n, 0, 16)


cdef bint split_bytes(Interner* t, Text* text, int which, int shortest, uint8_t* signs) noexcept nogil:
    """The tokens of a text of one byte per character, eight characters in a step."""
    cdef int64_t i = 0, n = text.length, length
    cdef uint64_t word, key
    keep_bytes(<const uint8_t*>text.data, n, which, signs)
    while True:
        while i < n and signs[i] == 0:
            i += 1
        if i >= n:
            return True
        key = word = manylabel_load(signs + i)
        length = manylabel_first_zero(word)
        if length < 8:
            key = word & ~(~<uint64_t>0 << (8 * length))
        else:
            while manylabel_first_zero(word) == 8:
                word = manylabel_load(signs + i + length)
                length += manylabel_first_zero(word)
            if length > 8:
                key = hash_bytes(signs + i, length)
        if length >= shortest and not number(t, key, signs + i, length, False):
            return False
        i += length + 1


cdef bint split_signs(
    Interner* t, Text* text, int which, int shortest, uint32_t* signs, uint8_t* narrow
) noexcept nogil:
    """The tokens of a text of two or four bytes per character."""
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
            if not split_bytes(t, &texts[i], which, shortest, narrow):
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


cdef int which_table(str mode, bint lowercase) except -1:
    if mode not in ("words", "letters"):
        raise ValueError(f"mode must be 'words' or 'letters', not {mode!r}.")
    return (LETTERS if mode == "letters" else WORDS) * 2 + lowercase


def tokenize(list texts, str mode, bint lowercase):
    """Words as numbers; see `manylabel.kernels.text_reference.tokenize`."""
    cdef int which = which_table(mode, lowercase)
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
        if lowercase and lower_special(alive, where):
            free(where)
            where = NULL
            where = gather(alive, &n_characters, &longest)
        _prepare_signs_if_needed(where, n, which)
        signs = <uint32_t*>malloc((longest + 1) * sizeof(uint32_t))
        narrow = <uint8_t*>malloc(longest + 16)
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


cdef int ascending(const void* a, const void* b) noexcept nogil:
    cdef int32_t x = (<const int32_t*>a)[0], y = (<const int32_t*>b)[0]
    return (x > y) - (x < y)


cdef class WordCounter:
    """Count known words in one text; see `manylabel.kernels.text_reference.WordCounter`.

    Buffers are kept from text to text, and Python's lock all the while.
    """

    cdef Interner t
    cdef int which
    cdef int64_t room
    cdef uint32_t* signs
    cdef uint8_t* narrow
    cdef int32_t* totals
    cdef int64_t n_words

    def __cinit__(self, list words, str mode, bint lowercase):
        self.which = which_table(mode, lowercase)
        self.n_words = len(words)
        self.totals = <int32_t*>calloc(self.n_words + 1, sizeof(int32_t))
        if self.totals == NULL or not open_interner(&self.t, 0) or not reserve(&self.t, self.n_words + 1):
            raise MemoryError()
        self.learn(words)
        self.t.closed = True

    def __dealloc__(self):
        close_interner(&self.t)
        free(self.totals)
        free(self.signs)
        free(self.narrow)

    cdef learn(self, list words):
        """Number the words in their order; they must be distinct."""
        cdef int64_t n_characters, longest, i, k
        cdef Text* where = gather(words, &n_characters, &longest)
        try:
            self.make_room(longest)
            for i in range(len(words)):
                for k in range(where[i].length):
                    self.signs[k] = sign_at(&where[i], k)
                if where[i].length and not number_signs(&self.t, self.signs, where[i].length, self.narrow):
                    raise MemoryError()
                if self.t.n_tokens != i + 1:
                    raise ValueError(f"Word {i}, {words[i]!r}, is empty or there twice.")
        finally:
            free(where)

    cdef make_room(self, int64_t longest):
        """Room for a text of so many characters."""
        if longest < self.room:
            return
        free(self.signs)
        free(self.narrow)
        self.room = max(longest + 1, 2 * self.room)
        self.signs = <uint32_t*>malloc((self.room + 1) * sizeof(uint32_t))
        self.narrow = <uint8_t*>malloc(self.room + 16)
        if self.signs == NULL or self.narrow == NULL:
            self.room = 0
            raise MemoryError()

    def count(self, str text):
        """The places of the words that occur, ascending, and how often each does."""
        cdef list alive = [text]
        cdef int64_t n_characters, longest, end, i, n_found = 0
        cdef int32_t word
        cdef Text* where = gather(alive, &n_characters, &longest)
        try:
            if self.which & 1 and where.kind > 1 and lower_special(alive, where):
                free(where)
                where = NULL
                where = gather(alive, &n_characters, &longest)
            _prepare_signs_if_needed(where, 1, self.which)
            self.make_room(longest)
            self.t.n_ids = 0
            if not split_all(&self.t, where, 1, self.which, self.signs, self.narrow, &end):
                raise MemoryError("There is not enough memory for the tokens of this text.")
        finally:
            free(where)
        for i in range(self.t.n_ids):
            word = self.t.ids[i]
            self.totals[word] += 1
            if self.totals[word] == 1:
                self.t.ids[n_found] = word
                n_found += 1
        qsort(self.t.ids, n_found, sizeof(int32_t), &ascending)
        places, counts = np.empty(n_found, dtype=np.int32), np.empty(n_found, dtype=np.float64)
        cdef int32_t[::1] places_view = places
        cdef double[::1] counts_view = counts
        for i in range(n_found):
            word = self.t.ids[i]
            places_view[i] = word
            counts_view[i] = self.totals[word]
            self.totals[word] = 0
        return places, counts
