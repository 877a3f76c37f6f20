"""Numbering tokens while reading texts: what the text kernels share, written to be inlined into each of them.

Characters are read where CPython keeps them (1, 2 or 4 bytes each). A token of at most 8 bytes is its own hash key
and is compared in one step; longer ones are kept one after the other in an arena.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

cdef extern from *:
    """
    #include <Python.h>
    #if PY_VERSION_HEX < 0x030C0000
    #define manylabel_ready(text) PyUnicode_READY(text)
    #else
    #define manylabel_ready(text) 0
    #endif
    """
    int manylabel_ready(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)

cdef struct Slot:
    uint64_t key   # the bytes themselves up to 8, their hash beyond
    int32_t id     # -1: free
    uint32_t tag   # number of bytes (capped) and whether a character takes 4 bytes


cdef struct Interner:
    Slot* slots
    int shift
    int64_t n_slots
    int64_t n_tokens
    int64_t room           # tokens for which offsets are allocated
    int64_t* offsets       # n_tokens + 1 places in the arena
    uint8_t* wide          # whether the token's characters take 4 bytes
    uint8_t* arena
    int64_t arena_room
    int32_t* ids           # the output: a token's number after the other
    int64_t n_ids
    int64_t ids_room
    bint closed            # a token not known yet is passed over


cdef inline bint open_interner(Interner* t, int64_t n_characters) noexcept nogil:
    cdef int bits = 16 if n_characters > 1000000 else 10
    cdef int64_t i
    memset(t, 0, sizeof(Interner))
    t.shift = 64 - bits
    t.n_slots = (<int64_t>1) << bits
    t.room = t.n_slots // 2 + 1
    t.arena_room = t.n_slots * 8
    t.slots = <Slot*>malloc(t.n_slots * sizeof(Slot))
    t.offsets = <int64_t*>malloc((t.room + 1) * sizeof(int64_t))
    t.wide = <uint8_t*>malloc(t.room)
    t.arena = <uint8_t*>malloc(t.arena_room)
    if t.slots == NULL or t.offsets == NULL or t.wide == NULL or t.arena == NULL:
        return False
    for i in range(t.n_slots):
        t.slots[i].id = -1
    t.offsets[0] = 0
    return True


cdef inline void close_interner(Interner* t) noexcept nogil:
    free(t.slots)
    free(t.offsets)
    free(t.wide)
    free(t.arena)
    free(t.ids)
    memset(t, 0, sizeof(Interner))


cdef inline int64_t place(uint64_t key, uint32_t tag, int shift) noexcept nogil:
    key = (key ^ (key >> 32)) + tag
    return <int64_t>((key * <uint64_t>0x9E3779B97F4A7C15) >> shift)


cdef inline bint widen(Interner* t) noexcept nogil:
    """Double the table; at most half of its slots are ever taken."""
    cdef int64_t i, at, n_slots = t.n_slots * 2
    cdef int64_t room = n_slots // 2 + 1
    cdef Slot* slots = <Slot*>malloc(n_slots * sizeof(Slot))
    cdef int64_t* offsets
    cdef uint8_t* wide
    if slots == NULL:
        return False
    for i in range(n_slots):
        slots[i].id = -1
    for i in range(t.n_slots):
        if t.slots[i].id >= 0:
            at = place(t.slots[i].key, t.slots[i].tag, t.shift - 1)
            while slots[at].id >= 0:
                at = (at + 1) & (n_slots - 1)
            slots[at] = t.slots[i]
    free(t.slots)
    t.slots = slots
    t.n_slots = n_slots
    t.shift -= 1
    offsets = <int64_t*>realloc(t.offsets, (room + 1) * sizeof(int64_t))
    if offsets == NULL:
        return False
    t.offsets = offsets
    wide = <uint8_t*>realloc(t.wide, room)
    if wide == NULL:
        return False
    t.wide = wide
    t.room = room
    return True


cdef inline bint append_token(Interner* t, uint64_t key, const uint8_t* data, int64_t n_bytes, bint wide) noexcept nogil:
    """Keep a new token's bytes; those of a narrow token of up to 8 bytes are in its key."""
    cdef int64_t start = t.offsets[t.n_tokens], room = t.arena_room, i
    cdef uint8_t* arena
    if start + n_bytes > room:
        while start + n_bytes > room:
            room *= 2
        arena = <uint8_t*>realloc(t.arena, room)
        if arena == NULL:
            return False
        t.arena = arena
        t.arena_room = room
    if n_bytes <= 8 and not wide:
        for i in range(n_bytes):
            t.arena[start + i] = <uint8_t>(key >> (8 * i))
    else:
        memcpy(t.arena + start, data, n_bytes)
    t.wide[t.n_tokens] = wide
    t.n_tokens += 1
    t.offsets[t.n_tokens] = start + n_bytes
    return True


cdef inline bint number(Interner* t, uint64_t key, const uint8_t* data, int64_t n_bytes, bint wide) noexcept nogil:
    """Append the number of a token to the output, a new one if it is new; False when memory ran out."""
    cdef uint32_t tag = <uint32_t>((n_bytes if n_bytes < 0x3FFFFFFF else 0x3FFFFFFF) << 1) | wide
    cdef int64_t at = place(key, tag, t.shift), start
    cdef Slot* slot
    while True:
        slot = &t.slots[at]
        if slot.id < 0:
            break
        if slot.key == key and slot.tag == tag:
            if n_bytes <= 8:
                t.ids[t.n_ids] = slot.id
                t.n_ids += 1
                return True
            start = t.offsets[slot.id]
            if t.offsets[slot.id + 1] - start == n_bytes and memcmp(t.arena + start, data, n_bytes) == 0:
                t.ids[t.n_ids] = slot.id
                t.n_ids += 1
                return True
        at = (at + 1) & (t.n_slots - 1)
    if t.closed:
        return True
    slot.key = key
    slot.tag = tag
    slot.id = <int32_t>t.n_tokens
    t.ids[t.n_ids] = slot.id
    t.n_ids += 1
    if not append_token(t, key, data, n_bytes, wide):
        return False
    if t.n_tokens * 2 >= t.n_slots:
        return widen(t)
    return True


cdef inline bint reserve(Interner* t, int64_t more) noexcept nogil:
    """Make room for that many more numbers in the output."""
    cdef int64_t room = t.ids_room
    cdef int32_t* ids
    if t.n_ids + more <= room:
        return True
    room = max(room * 3 // 2, t.n_ids + more + 64)
    ids = <int32_t*>realloc(t.ids, room * sizeof(int32_t))
    if ids == NULL:
        return False
    t.ids = ids
    t.ids_room = room
    return True


cdef inline uint64_t hash_bytes(const uint8_t* data, int64_t n_bytes) noexcept nogil:
    """A hash of more than 8 bytes; it never leaves this module, so that the order of bytes does not matter."""
    cdef uint64_t h = <uint64_t>n_bytes, word
    cdef int64_t i = 0
    while i + 8 <= n_bytes:
        memcpy(&word, data + i, 8)
        h = (h ^ word) * <uint64_t>0xD6E8FEB86659FD93
        h ^= h >> 32
        i += 8
    # the last 8 bytes may overlap the ones before
    memcpy(&word, data + n_bytes - 8, 8)
    h = (h ^ word) * <uint64_t>0xD6E8FEB86659FD93
    return h ^ (h >> 29)


cdef inline bint number_narrow(Interner* t, const uint8_t* data, int64_t n) noexcept nogil:
    """Number a token of characters below 256."""
    cdef uint64_t key = 0
    cdef int64_t i
    if n <= 8:
        for i in range(n):
            key |= <uint64_t>data[i] << (8 * i)
    else:
        key = hash_bytes(data, n)
    return number(t, key, data, n, False)


cdef inline bint number_signs(Interner* t, uint32_t* signs, int64_t n, uint8_t* narrow) noexcept nogil:
    """Number a token of any characters; one that fits in bytes is the same token as in a text of bytes."""
    cdef uint32_t all_bits = 0
    cdef int64_t i
    cdef uint64_t key
    for i in range(n):
        all_bits |= signs[i]
    if all_bits < 256:
        for i in range(n):
            narrow[i] = <uint8_t>signs[i]
        return number_narrow(t, narrow, n)
    if n <= 2:
        key = signs[0]
        if n == 2:
            key |= <uint64_t>signs[1] << 32
    else:
        key = hash_bytes(<uint8_t*>signs, 4 * n)
    return number(t, key, <uint8_t*>signs, 4 * n, True)


cdef struct Text:
    const void* data
    int64_t length
    int kind
    bint special


cdef inline Text* gather(list texts, int64_t* n_characters, int64_t* longest) except? NULL:
    """Where CPython keeps each text. The list must stay alive and unchanged while this is in use."""
    cdef Py_ssize_t i, n = len(texts)
    cdef Text* out = <Text*>malloc((n + 1) * sizeof(Text))
    if out == NULL:
        raise MemoryError()
    n_characters[0] = longest[0] = 0
    for i in range(n):
        text = texts[i]
        if not isinstance(text, str):
            free(out)
            raise TypeError(f"Document {i} is {type(text).__name__}, not a text.")
        if manylabel_ready(text) < 0:
            free(out)
            raise MemoryError()
        out[i].data = PyUnicode_DATA(text)
        out[i].length = PyUnicode_GET_LENGTH(text)
        out[i].kind = PyUnicode_KIND(text)
        out[i].special = False
        n_characters[0] += out[i].length
        longest[0] = max(longest[0], out[i].length)
    return out


cdef inline uint32_t sign_at(Text* text, int64_t i) noexcept nogil:
    if text.kind == 1:
        return (<const uint8_t*>text.data)[i]
    if text.kind == 2:
        return (<const uint16_t*>text.data)[i]
    return (<const uint32_t*>text.data)[i]


cdef inline object results(Interner* t, object np, object indptr):
    """The output as arrays: numbers, starts, and the distinct tokens as `Words` of the plain twin."""
    ids = np.empty(t.n_ids, dtype=np.int32)
    signs = np.empty(t.offsets[t.n_tokens], dtype=np.uint8)
    starts = np.empty(t.n_tokens + 1, dtype=np.int64)
    wide = np.empty(t.n_tokens, dtype=np.uint8)
    fill(ids, t.ids, t.n_ids * sizeof(int32_t))
    fill(signs, t.arena, t.offsets[t.n_tokens])
    fill(starts, t.offsets, (t.n_tokens + 1) * sizeof(int64_t))
    fill(wide, t.wide, t.n_tokens)
    return ids, indptr, (signs, starts, wide)


cdef inline void fill(object array, const void* data, int64_t n_bytes):
    cdef uint8_t[::1] view
    if n_bytes:
        view = array.view("u1")
        memcpy(&view[0], data, n_bytes)
