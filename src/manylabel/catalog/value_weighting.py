"""Value-weighted naive Bayes, and the strategies built on it."""

from __future__ import annotations

from manylabel.catalog.method import BEST_LABEL, LEE, LETTERS, PER_LABEL, READ, Method

_VALUE_WEIGHTED = "manylabel.models.value_weighted_nb:ValueWeightedNaiveBayes"
_REFERENCE = {"event": "categorical", "norm": "global", "refine": "none"}

ROWS = (
    Method(
        "mnb-vw",
        "Value-weighted naive Bayes per label, refined weights, a learned threshold for each label",
        _VALUE_WEIGHTED,
        f"{LEE}, section 3",
        settings={"scope": "global"},
        features=LETTERS,
        **PER_LABEL,
    ),
    Method(
        "mnb-vw-reference",
        "Value-weighted naive Bayes per label, the reading nearest to the paper's text",
        _VALUE_WEIGHTED,
        f"{LEE}, section 3",
        settings=_REFERENCE,
        features=LETTERS,
    ),
    Method(
        "mnb-vw-unilabel",
        "Value-weighted naive Bayes, the one most probable label",
        _VALUE_WEIGHTED,
        f"{LEE}, section 3",
        settings={"target": "classes"},
        features=LETTERS,
        **BEST_LABEL,
    ),
    Method(
        "mnb-vw-br",
        "Binary relevance: value-weighted naive Bayes per label, yes or no as the model says",
        _VALUE_WEIGHTED,
        f"{LEE}, section 5",
    ),
    Method(
        "mnb-vw-cc",
        "A classifier chain of value-weighted naive Bayes",
        "manylabel.strategies.classifier_chain:ClassifierChain",
        READ,
        inner=_VALUE_WEIGHTED,
    ),
    Method(
        "mnb-vw-ecc",
        "Ten classifier chains of value-weighted naive Bayes vote",
        "manylabel.strategies.chain_ensemble:ChainEnsemble",
        READ,
        inner=_VALUE_WEIGHTED,
    ),
    Method(
        "mnb-vwco",
        "Modified co-training: words and labels correct each other, value-weighted naive Bayes on both",
        "manylabel.strategies.co_training:CoTraining",
        f"{LEE}, section 4",
        inner=_VALUE_WEIGHTED,
    ),
    Method(
        "mnb-vwco-reference",
        "Modified co-training, the reading nearest to the paper's text",
        "manylabel.strategies.co_training:CoTraining",
        f"{LEE}, section 4",
        settings={
            **_REFERENCE,
            "fc": "separate",
            "use_dc": True,
            "labels": "true",
            "update": "synchronous",
        },
        inner=_VALUE_WEIGHTED,
    ),
)
