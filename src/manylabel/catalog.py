"""The one list of methods: name, class, preset, source.

Command line, Python, contract suite and documentation all read this table; a method exists when it has a row here.
A row of a method named after a paper is the paper's method, to the equation; what we found to work better has rows of
its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from manylabel.decisions.table import RULES
from manylabel.exceptions import UnknownNameError

Settings = Mapping[str, Any]

VILAR = "Vilar, Castro & Sanchis 2004"
UEDA = "Ueda & Saito 2002"
MANNING = "Manning, Raghavan & Schütze 2008"


@dataclass(frozen=True, slots=True)
class Method:
    """A method: the class that scores, the features it wants and the rule that decides."""

    name: str
    title: str
    model: str
    source: str
    settings: Settings = field(default_factory=dict)
    inner: str | None = None
    features: Settings = field(default_factory=dict)
    weighting: Settings = field(default_factory=dict)
    decision: str = "own"
    decision_settings: Settings = field(default_factory=dict)


_LETTERS = {"tokens": "letters"}
_MULTINOMIAL = "manylabel.models.multinomial_nb:MultinomialNaiveBayes"
_BINARY = "manylabel.models.binary_nb:BinaryNaiveBayes"

_BERNOULLI = "manylabel.models.bernoulli_nb:BernoulliNaiveBayes"
_WEIGHTED = "manylabel.models.weighted_nb:WeightedNaiveBayes"
_VALUE_WEIGHTED = "manylabel.models.value_weighted_nb:ValueWeightedNaiveBayes"
_LEE_READING = {"event": "categorical", "norm": "global", "refine": "none"}
_ACCUMULATED: Mapping[str, Any] = {"decision": "accumulated-posterior", "decision_settings": {"threshold": "learn"}}
_BEST_LABEL: Mapping[str, Any] = {"decision": "top-k", "decision_settings": {"k": 1}}
_PLAIN_TFIDF = {"tf": "log", "idf": "plain", "norm": "l2"}
_TFIDF = {"tf": "log", "idf": "smooth", "norm": "l2"}

_ROWS = (
    Method(
        "svm",
        "One linear support vector machine per label on tf-idf, a learned threshold for each label",
        "manylabel.models.linear_svm:LinearSVM",
        "manylabel",
        weighting=_TFIDF,
        decision="per-label",
    ),
    Method(
        "nb-app",
        "Multinomial naive Bayes, labels taken until their posteriors add up to a learned threshold",
        _MULTINOMIAL,
        f"{VILAR}, section 4.1",
        settings={"unigram_docs": "all"},
        features=_LETTERS,
        decision="accumulated-posterior",
        decision_settings={"threshold": "learn"},
    ),
    Method(
        "nb-binary",
        "One two-class multinomial naive Bayes per label, a label where its probability reaches one half",
        _BINARY,
        f"{VILAR}, section 4.2",
        features=_LETTERS,
        decision="threshold",
        decision_settings={"value": 0.5},
    ),
    Method(
        "nb-unilabel",
        "Multinomial naive Bayes, the one most probable label",
        _MULTINOMIAL,
        f"{VILAR}, section 3",
        features=_LETTERS,
        decision="top-k",
        decision_settings={"k": 1},
    ),
    Method(
        "nb-powerset",
        "Multinomial naive Bayes over the label sets seen in training, the most probable set",
        "manylabel.strategies.label_powerset:LabelPowerset",
        f"{VILAR}, section 4",
        inner=_MULTINOMIAL,
        features=_LETTERS,
    ),
    Method(
        "nb-bernoulli",
        "One Bernoulli naive Bayes per label: which words occur and which do not; a label where P reaches one half",
        _BERNOULLI,
        f"{MANNING}, section 13.3",
        features=_LETTERS,
        decision="threshold",
        decision_settings={"value": 0.5},
    ),
    Method(
        "nb-bernoulli-unilabel",
        "Bernoulli naive Bayes, the one most probable label",
        _BERNOULLI,
        f"{MANNING}, section 13.3",
        settings={"target": "classes"},
        features=_LETTERS,
        **_BEST_LABEL,
    ),
    Method(
        "nb-complement",
        "Complement naive Bayes on tf-idf, the best label",
        "manylabel.models.complement_nb:ComplementNaiveBayes",
        "Rennie, Shih, Teevan & Karger 2003",
        weighting=_PLAIN_TFIDF,
        **_BEST_LABEL,
    ),
    Method(
        "nb-tfidf",
        "Multinomial naive Bayes on tf-idf",
        _MULTINOMIAL,
        "Rennie, Shih, Teevan & Karger 2003",
        settings={"smoothing": "laplace"},
        weighting=_PLAIN_TFIDF,
        **_ACCUMULATED,
    ),
    Method(
        "nb-presence",
        "Multinomial naive Bayes on which words occur, not how often",
        _MULTINOMIAL,
        "Lee 2018 (cited)",
        settings={"smoothing": "laplace"},
        weighting={"tf": "binary", "idf": "none", "norm": None},
        **_ACCUMULATED,
    ),
    Method(
        "nb-weighted-ig",
        "Multinomial naive Bayes, words weighted by information gain",
        _WEIGHTED,
        "Lee 2018, section 2",
        settings={"weight": "ig"},
        features=_LETTERS,
        **_ACCUMULATED,
    ),
    Method(
        "nb-weighted-kl",
        "Multinomial naive Bayes, words weighted by Kullback-Leibler divergence",
        _WEIGHTED,
        "Lee 2018, section 2",
        settings={"weight": "kl"},
        features=_LETTERS,
        **_ACCUMULATED,
    ),
    Method(
        "mnb-vw",
        "Value-weighted naive Bayes per label, refined weights, a learned threshold for each label",
        _VALUE_WEIGHTED,
        "Lee 2018, section 3",
        settings={"scope": "global"},
        features=_LETTERS,
        decision="per-label",
    ),
    Method(
        "mnb-vw-reference",
        "Value-weighted naive Bayes per label, the reading nearest to the paper's text",
        _VALUE_WEIGHTED,
        "Lee 2018, section 3",
        settings=_LEE_READING,
        features=_LETTERS,
    ),
    Method(
        "mnb-vw-unilabel",
        "Value-weighted naive Bayes, the one most probable label",
        _VALUE_WEIGHTED,
        "Lee 2018, section 3",
        settings={"target": "classes"},
        features=_LETTERS,
        **_BEST_LABEL,
    ),
    Method(
        "mnb-vw-br",
        "Binary relevance: value-weighted naive Bayes per label, yes or no as the model says",
        _VALUE_WEIGHTED,
        "Lee 2018, section 5",
    ),
    Method(
        "mnb-vw-cc",
        "A classifier chain of value-weighted naive Bayes",
        "manylabel.strategies.classifier_chain:ClassifierChain",
        "Read, Pfahringer, Holmes & Frank 2011",
        inner=_VALUE_WEIGHTED,
    ),
    Method(
        "mnb-vw-ecc",
        "Ten classifier chains of value-weighted naive Bayes vote",
        "manylabel.strategies.chain_ensemble:ChainEnsemble",
        "Read, Pfahringer, Holmes & Frank 2011",
        inner=_VALUE_WEIGHTED,
    ),
    Method(
        "mnb-vwco",
        "Modified co-training: words and labels correct each other, value-weighted naive Bayes on both",
        "manylabel.strategies.co_training:CoTraining",
        "Lee 2018, section 4",
        inner=_VALUE_WEIGHTED,
    ),
    Method(
        "mnb-vwco-reference",
        "Modified co-training, the reading nearest to the paper's text",
        "manylabel.strategies.co_training:CoTraining",
        "Lee 2018, section 4",
        settings={
            **_LEE_READING,
            "fc": "separate",
            "use_dc": True,
            "labels": "true",
            "update": "synchronous",
        },
        inner=_VALUE_WEIGHTED,
    ),
    Method(
        "nb-em",
        "Multinomial naive Bayes that also learns from documents without a label, by expectation maximisation",
        "manylabel.models.semi_supervised_nb:SemiSupervisedNaiveBayes",
        "Nigam, McCallum, Thrun & Mitchell 2000",
        settings={"alpha": 0.01},
        decision="accumulated-posterior",
        decision_settings={"threshold": "learn"},
    ),
    Method(
        "pmm1",
        "Parametric mixture model 1: words of several labels mix evenly; greedy search for the label set",
        "manylabel.models.pmm1:PMM1",
        UEDA,
    ),
    Method(
        "pmm2",
        "Parametric mixture model 2: words of several labels mix pair by pair; greedy search for the label set",
        "manylabel.models.pmm2:PMM2",
        UEDA,
    ),
    Method(
        "pmm",
        "Parametric mixture model 1 on documents of equal length, one learned threshold, never without a label",
        "manylabel.models.pmm1:PMM1",
        "manylabel",
        settings={"equal_lengths": True},
        decision="global",
        decision_settings={"fallback": "argmax"},
    ),
    Method(
        "nb",
        "One naive Bayes per label on damped counts (1 + ln tf), a learned threshold for each label",
        _BINARY,
        "manylabel",
        weighting={"tf": "log", "idf": "none", "norm": None},
        decision="per-label",
    ),
)

METHODS: Mapping[str, Method] = {row.name: row for row in _ROWS}
DEFAULT_METHOD = "svm"

OWN_RULE = "own"
"""The rule of a method that decides by itself: the most probable label set, say, which no score per label tells."""


def find_method(name: str) -> Method:
    """The row of a method; an unknown name is answered with the nearest one."""
    if name not in METHODS:
        raise UnknownNameError("method", name, METHODS)
    return METHODS[name]


def find_class(path: str) -> type:
    """The class behind ``module:Name``."""
    module, _, name = path.partition(":")
    found = getattr(import_module(module), name)
    if not isinstance(found, type):  # pragma: no cover - a wrong row in the table above
        raise TypeError(f"{path} is not a class")
    return found


def storable_classes() -> dict[str, str]:
    """Every class a model file may name, by class name: the only ones that loading a file can ever construct."""
    paths = [
        "manylabel.classifier:TextClassifier",
        "manylabel.features.vectorize:Vectorizer",
        "manylabel.features.weighting:Weighting",
        "manylabel.decisions.decided:DecidedModel",
        *RULES.values(),
        *(row.model for row in _ROWS),
        *(row.inner for row in _ROWS if row.inner),
        "manylabel.strategies.binary_relevance:BinaryRelevance",
    ]
    return {path.partition(":")[2]: path for path in paths}
