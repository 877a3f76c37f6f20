"""Strategies: multi-label methods built from any model of `manylabel.models` (or of scikit-learn).

Transformations of the problem
    BinaryRelevance  one binary classifier per label
    ClassifierChain  one binary classifier per label, which reads the labels before it
    ChainEnsemble    many chains in random order, averaged
    LabelPowerset    every label set of the training documents is a class
    OneVsOne         one binary classifier per pair of labels
    LabelTree        thousands of labels in a tree of clusters, found by beam search
    CoTraining       words and other labels as two views (Lee 2018)

SVM strategies of Godbole & Sarawagi 2004
    SVMHF    heterogeneous features: terms and the scores of other labels
    BandSVM  without the negatives close to the separating plane
    ConfMat  without the negatives of confused labels

Label hierarchies
    TopDown       classifiers of siblings, from the roots to the leaves
    Propagated    scores passed along the hierarchy
    ClosedLabels  label sets that include every ancestor
    SiblingModel  each node against its siblings

Rare labels
    Resampled  weights, under-sampling or over-sampling per label

Ensembles
    Ensemble        the scores of several methods, combined
    WeightedMember  a member of an ensemble with its own term weighting
    ViewedMember    the same for several views of the documents, each weighed by itself
    DescribedLabels  documents compared with descriptions of labels, beside a model
    NameWords        documents compared with the words of label names

Base classes and scikit-learn
    TwoClassStrategy      base class of strategies that train binary classifiers
    HierarchicalStrategy  base class of strategies for label hierarchies
    ScikitLearnModel      a classifier of scikit-learn as a model

>>> from manylabel.models import MultinomialNaiveBayes
>>> from manylabel.strategies import LabelPowerset
>>> X, Y = [[2, 0], [0, 2], [1, 1]], [[1, 0], [0, 1], [1, 1]]
>>> LabelPowerset(MultinomialNaiveBayes()).fit(X, Y).predict([[3, 3]])
array([[1, 1]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manylabel.lazy import lazy_names

__all__ = [
    "SVMHF",
    "BandSVM",
    "BinaryRelevance",
    "ChainEnsemble",
    "ClassifierChain",
    "ClosedLabels",
    "CoTraining",
    "ConfMat",
    "DescribedLabels",
    "Ensemble",
    "HierarchicalStrategy",
    "LabelPowerset",
    "LabelTree",
    "NameWords",
    "OneVsOne",
    "Propagated",
    "Resampled",
    "ScikitLearnModel",
    "SiblingModel",
    "TopDown",
    "TwoClassStrategy",
    "ViewedMember",
    "WeightedMember",
]

if TYPE_CHECKING:
    from manylabel.strategies.band_svm import BandSVM
    from manylabel.strategies.binary_relevance import BinaryRelevance
    from manylabel.strategies.chain_ensemble import ChainEnsemble
    from manylabel.strategies.classifier_chain import ClassifierChain
    from manylabel.strategies.co_training import CoTraining
    from manylabel.strategies.conf_mat import ConfMat
    from manylabel.strategies.described import DescribedLabels
    from manylabel.strategies.ensemble import Ensemble
    from manylabel.strategies.hierarchical import HierarchicalStrategy, SiblingModel
    from manylabel.strategies.hierarchies import ClosedLabels, Propagated, TopDown
    from manylabel.strategies.label_powerset import LabelPowerset
    from manylabel.strategies.label_tree import LabelTree
    from manylabel.strategies.name_words import NameWords
    from manylabel.strategies.one_vs_one import OneVsOne
    from manylabel.strategies.resampled import Resampled
    from manylabel.strategies.scikit_learn_model import ScikitLearnModel
    from manylabel.strategies.svm_hf import SVMHF
    from manylabel.strategies.two_class import TwoClassStrategy
    from manylabel.strategies.viewed_member import ViewedMember
    from manylabel.strategies.weighted_member import WeightedMember
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "band_svm": "BandSVM",
            "binary_relevance": "BinaryRelevance",
            "chain_ensemble": "ChainEnsemble",
            "classifier_chain": "ClassifierChain",
            "co_training": "CoTraining",
            "conf_mat": "ConfMat",
            "described": "DescribedLabels",
            "ensemble": "Ensemble",
            "hierarchical": "HierarchicalStrategy, SiblingModel",
            "hierarchies": "ClosedLabels, Propagated, TopDown",
            "label_powerset": "LabelPowerset",
            "label_tree": "LabelTree",
            "name_words": "NameWords",
            "one_vs_one": "OneVsOne",
            "resampled": "Resampled",
            "scikit_learn_model": "ScikitLearnModel",
            "svm_hf": "SVMHF",
            "two_class": "TwoClassStrategy",
            "viewed_member": "ViewedMember",
            "weighted_member": "WeightedMember",
        },
    )
