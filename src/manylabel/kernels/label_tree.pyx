"""Compiled twin of `manylabel.kernels.label_tree_reference`: beam search through trees of linear classifiers."""

from libc.math cimport exp, log, log1p
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

import numpy as np

cdef enum:
    SIGMOID = 0

cdef struct Best:          # the best of what was pushed, a heap whose root is the worst of them
    int64_t size
    int64_t most
    double* scores
    int64_t* ids

cdef struct Lists:         # one such list for each document
    int64_t most
    int64_t* sizes
    double* scores
    int64_t* ids

cdef struct Documents:
    int64_t n
    const int64_t* starts
    const int32_t* terms
    const double* values

cdef struct Room:          # to work in
    double* margins
    int64_t* ends
    int64_t* pair_docs
    double* pair_scores

cdef struct Trees:
    int64_t n_nodes
    const int64_t* node_starts
    const int64_t* targets
    const double* bias
    const uint64_t* words
    const int64_t* ranks
    int64_t width          # words per node
    const int64_t* row_starts
    const int32_t* cell_children
    const float* cell_weights
    int combine
    double slope
    double path            # the weight of the score of the node above


cdef inline bint worse(double score, int64_t id, double than, int64_t other) noexcept nogil:
    return score < than or (score == than and id > other)


cdef inline void push(Best* best, double score, int64_t id) noexcept nogil:
    """Keep a score if it is among the best; equal scores by their id, the lower first."""
    cdef int64_t at, below
    if best.size < best.most:
        at = best.size
        best.size += 1
        while at and worse(score, id, best.scores[(at - 1) >> 1], best.ids[(at - 1) >> 1]):
            best.scores[at] = best.scores[(at - 1) >> 1]
            best.ids[at] = best.ids[(at - 1) >> 1]
            at = (at - 1) >> 1
    else:
        if not worse(best.scores[0], best.ids[0], score, id):
            return
        at = 0
        while 2 * at + 1 < best.size:
            below = 2 * at + 1
            if below + 1 < best.size and worse(best.scores[below + 1], best.ids[below + 1],
                                               best.scores[below], best.ids[below]):
                below += 1
            if not worse(best.scores[below], best.ids[below], score, id):
                break
            best.scores[at] = best.scores[below]
            best.ids[at] = best.ids[below]
            at = below
    best.scores[at] = score
    best.ids[at] = id


cdef inline int64_t ones(uint64_t bits) noexcept nogil:
    """The number of bits that are set."""
    bits = bits - ((bits >> 1) & <uint64_t>0x5555555555555555)
    bits = (bits & <uint64_t>0x3333333333333333) + ((bits >> 2) & <uint64_t>0x3333333333333333)
    bits = (bits + (bits >> 4)) & <uint64_t>0x0F0F0F0F0F0F0F0F
    return <int64_t>((bits * <uint64_t>0x0101010101010101) >> 56)


cdef inline double log_probability(const Trees* trees, double margin) noexcept nogil:
    cdef double z
    if trees.combine == SIGMOID:
        z = trees.slope * margin
        return -log1p(exp(-z)) if z >= 0 else z - log1p(exp(z))
    z = 1 - margin
    if z <= 0:
        return 0
    return -z * z if trees.combine == 2 else -z * z * z


cdef inline void add_margins(const Trees* trees, int64_t node, const int32_t* terms, const double* values, int64_t n,
                             double* margins) noexcept nogil:
    """margins += x W for the children of one node: the inverted loop over the document's terms that the node knows."""
    cdef int64_t k, cell, row, place
    cdef int32_t term
    cdef uint64_t bits, bit
    cdef double value
    for k in range(n):
        term = terms[k]
        place = node * trees.width + (term >> 6)
        bits = trees.words[place]
        bit = <uint64_t>1 << (term & 63)
        if bits & bit:
            row = trees.ranks[place] + ones(bits & (bit - 1))
            value = values[k]
            for cell in range(trees.row_starts[row], trees.row_starts[row + 1]):
                margins[trees.cell_children[cell]] += value * <double>trees.cell_weights[cell]


cdef void expand(const Trees* trees, int64_t node, double score, const int32_t* terms, const double* values, int64_t n,
                 double* margins, Best* nodes, Best* labels) noexcept nogil:
    """Push the children of a node with their scores: nodes into the next beam, labels into the result."""
    cdef int64_t begin = trees.node_starts[node], end = trees.node_starts[node + 1], child, target
    cdef double margin, bound, above = trees.path * score
    cdef Best* best
    for child in range(begin, end):
        margins[child - begin] = trees.bias[child]
    add_margins(trees, node, terms, values, n, margins)
    for child in range(begin, end):
        margin, target = margins[child - begin], trees.targets[child]
        best = nodes if target >= 0 else labels
        # log p ≤ slope · margin: most children need no logarithm to be ruled out
        bound = above + trees.slope * margin
        if trees.combine == SIGMOID and best.size == best.most and bound < best.scores[0]:
            continue
        push(best, above + log_probability(trees, margin), target if target >= 0 else -1 - target)


cdef inline Best list_of(const Lists* lists, int64_t doc) noexcept nogil:
    cdef Best best
    best.size, best.most = lists.sizes[doc], lists.most
    best.scores, best.ids = lists.scores + doc * lists.most, lists.ids + doc * lists.most
    return best


cdef int64_t follow(const Trees* trees, const Documents* docs, const Lists* beam, const Lists* following,
                    const Lists* labels, const Room* room) noexcept nogil:
    """Expand the beams of all documents, node after node: the weights of a node stay in the cache; how many there were."""
    cdef int64_t doc, at, node, begin, n_pairs = 0
    cdef Best nodes, found
    memset(room.ends, 0, (trees.n_nodes + 1) * sizeof(int64_t))
    for doc in range(docs.n):
        following.sizes[doc] = 0
        n_pairs += beam.sizes[doc]
        for at in range(beam.sizes[doc]):
            room.ends[beam.ids[doc * beam.most + at] + 1] += 1
    for node in range(trees.n_nodes):
        room.ends[node + 1] += room.ends[node]
    for doc in range(docs.n):
        for at in range(doc * beam.most, doc * beam.most + beam.sizes[doc]):
            node = beam.ids[at]
            room.pair_docs[room.ends[node]] = doc
            room.pair_scores[room.ends[node]] = beam.scores[at]
            room.ends[node] += 1  # from where the node begins to where it ends
    at = 0
    for node in range(trees.n_nodes):
        while at < room.ends[node]:
            doc = room.pair_docs[at]
            begin = docs.starts[doc]
            nodes, found = list_of(following, doc), list_of(labels, doc)
            expand(trees, node, room.pair_scores[at], docs.terms + begin, docs.values + begin,
                   docs.starts[doc + 1] - begin, room.margins, &nodes, &found)
            following.sizes[doc], labels.sizes[doc] = nodes.size, found.size
            at += 1
    return n_pairs


cdef void search(const Trees* trees, int64_t root, const Documents* docs, Lists* beam, Lists* following,
                 const Lists* labels, const Room* room) noexcept nogil:
    """The best labels of all documents in one tree."""
    cdef int64_t doc
    cdef Lists kept
    for doc in range(docs.n):
        beam.sizes[doc], labels.sizes[doc] = 1, 0
        beam.scores[doc * beam.most], beam.ids[doc * beam.most] = 0, root
    while follow(trees, docs, beam, following, labels, room):
        kept = beam[0]
        beam[0] = following[0]
        following[0] = kept


cdef void add_up(const Best* found, double* totals, int64_t* touched, int64_t* n_touched) noexcept nogil:
    """Add the probabilities of one tree to those of the trees before."""
    cdef int64_t at, label
    for at in range(found.size):
        label = found.ids[at]
        if totals[label] == 0:
            touched[n_touched[0]] = label
            n_touched[0] += 1
        totals[label] += exp(found.scores[at])


cdef void average(int64_t n_trees, int64_t n_docs, int64_t most, int64_t* sizes, double* scores, int64_t* ids,
                  double* totals, int64_t* touched) noexcept nogil:
    """Put the mean over all trees into the lists of the first; lists are trees × documents × most."""
    cdef int64_t doc, tree, at, n_touched
    cdef Best found
    found.most = most
    for doc in range(n_docs):
        n_touched = 0
        for tree in range(n_trees):
            at = tree * n_docs + doc
            found.size, found.scores, found.ids = sizes[at], scores + at * most, ids + at * most
            add_up(&found, totals, touched, &n_touched)
        found.size, found.scores, found.ids = 0, scores + doc * most, ids + doc * most
        for at in range(n_touched):
            if totals[touched[at]] > 0:
                push(&found, log(totals[touched[at]] / n_trees), touched[at])
            totals[touched[at]] = 0
        sizes[doc] = found.size


cdef Lists lists_in(int64_t most, int64_t[::1] sizes, double[:, ::1] scores, int64_t[:, ::1] ids):
    cdef Lists lists
    lists.most, lists.sizes, lists.scores, lists.ids = most, &sizes[0], &scores[0, 0], &ids[0, 0]
    return lists


def beam_search(const int64_t[::1] starts, const int32_t[::1] terms, const double[::1] values, int64_t begin,
                int64_t end, const int64_t[::1] node_starts, const int64_t[::1] targets, const double[::1] bias,
                const uint64_t[::1] words, const int64_t[::1] ranks, int64_t n_terms, const int64_t[::1] row_starts,
                const int32_t[::1] cell_children, const float[::1] cell_weights, const int64_t[::1] roots,
                int64_t n_labels, int64_t beam, int combine, double slope, double path, int32_t[:, ::1] labels,
                double[:, ::1] scores, int64_t[::1] counts):
    """See `manylabel.kernels.label_tree_reference.beam_search`."""
    cdef int64_t n_trees = roots.shape[0], most = labels.shape[1], n = end - begin, doc, at, tree
    if not 0 <= begin <= end < starts.shape[0] or labels.shape[0] != starts.shape[0] - 1:
        raise IndexError("The documents are out of bounds.")
    if n == 0 or n_trees == 0 or targets.shape[0] == 0:
        return
    for doc in range(begin, end):
        for at in range(starts[doc], starts[doc + 1]):
            if terms[at] < 0 or terms[at] >= n_terms:
                raise IndexError(f"A term of document {doc} is out of bounds.")
    cdef Trees trees
    trees.node_starts, trees.targets, trees.bias = &node_starts[0], &targets[0], &bias[0]
    trees.n_nodes, trees.width = node_starts.shape[0] - 1, (n_terms + 63) >> 6
    trees.words = &words[0] if words.shape[0] else NULL
    trees.ranks = &ranks[0] if ranks.shape[0] else NULL
    trees.row_starts = &row_starts[0]
    trees.cell_children = &cell_children[0] if cell_children.shape[0] else NULL
    trees.cell_weights = &cell_weights[0] if cell_weights.shape[0] else NULL
    trees.combine, trees.slope, trees.path = combine, slope, path
    cdef Documents docs
    docs.n, docs.starts = n, &starts[begin]
    docs.terms = &terms[0] if terms.shape[0] else NULL
    docs.values = &values[0] if values.shape[0] else NULL
    cdef int64_t[:, ::1] sizes = np.zeros((2 + n_trees, n), dtype=np.int64)
    cdef double[:, :, ::1] beam_scores = np.empty((2, n, beam)), found_scores = np.empty((n_trees, n, most))
    cdef int64_t[:, :, ::1] beam_ids = np.empty((2, n, beam), dtype=np.int64)
    cdef int64_t[:, :, ::1] found_ids = np.empty((n_trees, n, most), dtype=np.int64)
    cdef double[::1] margins = np.empty(int(np.diff(node_starts).max()) + 1), pair_scores = np.empty(n * beam)
    cdef int64_t[::1] ends = np.empty(trees.n_nodes + 1, dtype=np.int64), pair_docs = np.empty(n * beam, dtype=np.int64)
    cdef Room room
    room.margins, room.ends, room.pair_docs, room.pair_scores = &margins[0], &ends[0], &pair_docs[0], &pair_scores[0]
    cdef Lists current = lists_in(beam, sizes[0], beam_scores[0], beam_ids[0])
    cdef Lists following = lists_in(beam, sizes[1], beam_scores[1], beam_ids[1])
    # a label whose probability underflows to 0 may be touched by every tree
    cdef int64_t[::1] touched = np.empty(n_trees * most, dtype=np.int64)
    cdef double[::1] totals = np.zeros(n_labels if n_trees > 1 else 1)
    cdef Lists one
    for tree in range(n_trees):
        one = lists_in(most, sizes[2 + tree], found_scores[tree], found_ids[tree])
        with nogil:
            search(&trees, roots[tree], &docs, &current, &following, &one, &room)
    if n_trees > 1:
        average(n_trees, n, most, &sizes[2, 0], &found_scores[0, 0, 0], &found_ids[0, 0, 0], &totals[0], &touched[0])
    for doc in range(n):
        counts[begin + doc] = sizes[2, doc]
        for at in range(sizes[2, doc]):
            labels[begin + doc, at] = <int32_t>found_ids[0, doc, at]
            scores[begin + doc, at] = found_scores[0, doc, at]
