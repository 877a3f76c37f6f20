"""Data: corpora read from any common format or loaded by name, written, described and split.

``load("reuters21578")`` or ``load("mails.csv")`` returns a `Reading`, whose `corpus` holds the documents.

Reading and writing
    load     a known data set by name, or a file by path
    read     a file or folder in any format
    write    a corpus to a file or folder
    Corpus   documents with their label sets
    Reading  a corpus and the problems found while reading it
    fetch    download a known data set
    KNOWN    the table of data sets known by name
    FORMATS  the table of file formats
    Problem  one problem found while reading

Labels and hierarchies
    label_names      the distinct labels of label sets
    label_matrix     label sets as a 0/1 matrix
    label_sets       a 0/1 matrix as label sets
    label_spellings  labels that differ only in case, blanks or Unicode form
    merge_spellings  label sets with one spelling per label
    Hierarchy        the parent of each label
    find_hierarchy   the hierarchy of a file or of label names
    read_parents     a hierarchy from a file of labels and parents
    read_skos        a hierarchy from a SKOS thesaurus
    read_label_descriptions  the texts that describe labels, from a table, JSON lines or SKOS

Description
    describe         the sizes of a corpus
    near_duplicates  pairs of nearly equal documents
    straddling       test documents that nearly equal a training document
    NearDuplicates   what near_duplicates returns

Splits
    holdout                   one random split
    repeated_random           several random splits
    k_fold                    k folds
    iterative_stratification  k folds with the labels spread evenly
    iterative_split           splits of given sizes with the labels spread evenly
    group_k_fold              k folds that keep groups together
    group_split               splits that keep groups together
    stratified_group_k_fold   k folds that keep groups together, labels spread evenly
    stratified_group_split    splits that keep groups together, labels spread evenly
    time_blocks               time-ordered folds
    by_date                   splits in the order of dates

>>> from manylabel.data import load
>>> len(load("townhall").corpus.split("train"))
415
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manylabel.lazy import lazy_names

__all__ = [
    "FORMATS",
    "KNOWN",
    "Corpus",
    "Hierarchy",
    "NearDuplicates",
    "Problem",
    "Reading",
    "by_date",
    "describe",
    "fetch",
    "find_hierarchy",
    "group_k_fold",
    "group_split",
    "holdout",
    "iterative_split",
    "iterative_stratification",
    "k_fold",
    "label_matrix",
    "label_names",
    "label_sets",
    "label_spellings",
    "load",
    "merge_spellings",
    "near_duplicates",
    "read",
    "read_label_descriptions",
    "read_parents",
    "read_skos",
    "repeated_random",
    "straddling",
    "stratified_group_k_fold",
    "stratified_group_split",
    "time_blocks",
    "write",
]

if TYPE_CHECKING:
    from manylabel.data.corpus import Corpus
    from manylabel.data.description import describe
    from manylabel.data.duplicates import NearDuplicates, near_duplicates, straddling
    from manylabel.data.formats import FORMATS
    from manylabel.data.hierarchy import Hierarchy, find_hierarchy, read_parents
    from manylabel.data.known import KNOWN, fetch, load
    from manylabel.data.label_descriptions import read_label_descriptions
    from manylabel.data.labels import label_matrix, label_names, label_sets
    from manylabel.data.problems import Problem
    from manylabel.data.reading import Reading, read, write
    from manylabel.data.skos import read_skos
    from manylabel.data.spellings import label_spellings, merge_spellings
    from manylabel.data.splits import (
        by_date,
        group_k_fold,
        group_split,
        holdout,
        iterative_split,
        iterative_stratification,
        k_fold,
        repeated_random,
        stratified_group_k_fold,
        stratified_group_split,
        time_blocks,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "corpus": "Corpus",
            "description": "describe",
            "duplicates": "NearDuplicates, near_duplicates, straddling",
            "formats": "FORMATS",
            "hierarchy": "Hierarchy, find_hierarchy, read_parents",
            "known": "KNOWN, fetch, load",
            "spellings": "label_spellings, merge_spellings",
            "label_descriptions": "read_label_descriptions",
            "labels": "label_matrix, label_names, label_sets",
            "problems": "Problem",
            "reading": "Reading, read, write",
            "skos": "read_skos",
            "splits": (
                "by_date, group_k_fold, group_split, holdout, iterative_split, iterative_stratification, k_fold, "
                "repeated_random, stratified_group_k_fold, stratified_group_split, time_blocks"
            ),
        },
    )
