"""Value-weighted naive Bayes, and the strategies built on it."""

from __future__ import annotations

from manylabel.catalog.method import BEST_LABEL, LEE, LETTERS, PER_LABEL, READ, Cost, Method
from manylabel.catalog.ranges import FEWER_TERMS, SHRINKAGE, WORDS, Choice, Log, Search, Whole

_VALUE_WEIGHTED = "manylabel.models.value_weighted_nb:ValueWeightedNaiveBayes"
_REFERENCE = {"event": "categorical", "norm": "global", "refine": "none"}
_VALUES: Search = {"model.n_bins": Choice(2, 3, 5, 8), "model.m": Log(0.1, 5)}

ROWS = (
    Method(
        "mnb-vw",
        "Value-weighted naive Bayes per label, refined weights, a learned threshold for each label",
        _VALUE_WEIGHTED,
        f"{LEE}, section 3",
        cost=Cost(start=0.04, words=0.4, work=2.8),
        settings={"scope": "global"},
        features=LETTERS,
        search={**WORDS, **FEWER_TERMS, **_VALUES, "model.steps": Whole(5, 40), **SHRINKAGE},
        **PER_LABEL,
    ),
    Method(
        "mnb-vw-reference",
        "Value-weighted naive Bayes per label, the reading nearest to the paper's text",
        _VALUE_WEIGHTED,
        f"{LEE}, section 3",
        cost=Cost(start=0.02, words=0.32, work=0.078),
        settings=_REFERENCE,
        features=LETTERS,
        search={**WORDS, **FEWER_TERMS, **_VALUES},
    ),
    Method(
        "mnb-vw-unilabel",
        "Value-weighted naive Bayes, the one most probable label",
        _VALUE_WEIGHTED,
        f"{LEE}, section 3",
        cost=Cost(start=0.1, words=1, work=2.3),
        settings={"target": "classes"},
        features=LETTERS,
        search={**WORDS, **FEWER_TERMS, **_VALUES, "model.steps": Whole(5, 40)},
        **BEST_LABEL,
    ),
    Method(
        "mnb-vw-br",
        "Binary relevance: value-weighted naive Bayes per label, yes or no as the model says",
        _VALUE_WEIGHTED,
        f"{LEE}, section 5",
        cost=Cost(start=0.04, words=0.5, work=3.1),
        search={**WORDS, **FEWER_TERMS, **_VALUES, "model.steps": Whole(5, 40)},
    ),
    Method(
        "mnb-vw-cc",
        "A classifier chain of value-weighted naive Bayes",
        "manylabel.strategies.classifier_chain:ClassifierChain",
        READ,
        cost=Cost(start=0.07, words=0.7, work=3.1),
        inner=_VALUE_WEIGHTED,
        search={**WORDS, **FEWER_TERMS, **_VALUES, "model.label_scale": Log(0.1, 10)},
    ),
    Method(
        "mnb-vw-ecc",
        "Ten classifier chains of value-weighted naive Bayes vote",
        "manylabel.strategies.chain_ensemble:ChainEnsemble",
        READ,
        cost=Cost(start=0.4, words=6.7, work=20),
        inner=_VALUE_WEIGHTED,
        search={**WORDS, **FEWER_TERMS, **_VALUES, "model.threshold": Choice("half", "cardinality")},
    ),
    Method(
        "mnb-vwco",
        "Modified co-training: words and labels correct each other, value-weighted naive Bayes on both",
        "manylabel.strategies.co_training:CoTraining",
        f"{LEE}, section 4",
        cost=Cost(start=0.14, words=4.3, cells=1.1),
        inner=_VALUE_WEIGHTED,
        search={**WORDS, **FEWER_TERMS, **_VALUES, "model.label_scale": Log(0.1, 10)},
    ),
    Method(
        "mnb-vwco-reference",
        "Modified co-training, the reading nearest to the paper's text",
        "manylabel.strategies.co_training:CoTraining",
        f"{LEE}, section 4",
        cost=Cost(start=0.045, words=0.36),
        settings={
            **_REFERENCE,
            "fc": "separate",
            "use_dc": True,
            "labels": "true",
            "update": "synchronous",
        },
        inner=_VALUE_WEIGHTED,
        search={**WORDS, **FEWER_TERMS, **_VALUES},
    ),
)
