"""Decision rules: scores in, label sets out.

A rule is learned from scores of documents that the model was not trained on. `RULES` lists the rules by name.

Thresholds
    Natural              the threshold that the kind of scores implies: probability ½ or margin 0
    Threshold            a fixed threshold
    GlobalThreshold      one learned threshold for all labels
    PerLabelThreshold    one learned threshold per label
    MicroMacroThreshold  one learned threshold per label, for macro and micro F1 together
    CalibratedThreshold  one threshold on calibrated probabilities

Set sizes and label sets
    TopK                  the k labels with the best scores
    AccumulatedPosterior  the most probable labels up to a total posterior
    Proportional          as many documents per label as in training
    SeenSets              the best label set that occurred in training

Guarantees and choice
    Guarantee  label sets with a guaranteed recall or false discovery rate
    BestRule   the rule that is best for a metric

Around a model
    DecidedModel  a model with its decision rule
    AutoModel     the default: cost, rule and average chosen for a metric
    DescribedModel  a model with its rule beside descriptions of the labels
    Calibration   probabilities from scores
    Temperature   probabilities from scores where every document has one label
    CorrectedThresholds  thresholds changed after training
    ThresholdFigures      precision and recall of each label by its threshold

Base class and table
    DecisionRule  base class of every rule
    RULES         the table of rules: name → module:Class
    find_rule     the class of a named rule

>>> import numpy as np
>>> from manylabel.decisions import TopK
>>> from manylabel.models import ScoreKind
>>> scores = np.array([[0.2, 0.7, 0.1]])
>>> TopK(k=1).decide(scores, ScoreKind.POSTERIOR).toarray()
array([[0, 1, 0]], dtype=int8)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manylabel.lazy import lazy_names

__all__ = [
    "RULES",
    "AccumulatedPosterior",
    "AutoModel",
    "BestRule",
    "CalibratedThreshold",
    "Calibration",
    "CorrectedThresholds",
    "DecidedModel",
    "DecisionRule",
    "DescribedModel",
    "GlobalThreshold",
    "Guarantee",
    "MicroMacroThreshold",
    "Natural",
    "PerLabelThreshold",
    "Proportional",
    "SeenSets",
    "Temperature",
    "Threshold",
    "ThresholdFigures",
    "TopK",
    "find_rule",
]

if TYPE_CHECKING:
    from manylabel.decisions.accumulated_posterior import AccumulatedPosterior
    from manylabel.decisions.auto import AutoModel
    from manylabel.decisions.base import DecisionRule
    from manylabel.decisions.best_rule import BestRule
    from manylabel.decisions.calibrated import CalibratedThreshold
    from manylabel.decisions.calibration import Calibration
    from manylabel.decisions.corrected import CorrectedThresholds
    from manylabel.decisions.decided import DecidedModel
    from manylabel.decisions.described import DescribedModel
    from manylabel.decisions.guarantee import Guarantee
    from manylabel.decisions.micro_macro import MicroMacroThreshold
    from manylabel.decisions.natural import Natural
    from manylabel.decisions.per_label import PerLabelThreshold
    from manylabel.decisions.proportional import Proportional
    from manylabel.decisions.seen_sets import SeenSets
    from manylabel.decisions.table import RULES, find_rule
    from manylabel.decisions.temperature import Temperature
    from manylabel.decisions.threshold import GlobalThreshold, Threshold
    from manylabel.decisions.threshold_figures import ThresholdFigures
    from manylabel.decisions.top_k import TopK
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "accumulated_posterior": "AccumulatedPosterior",
            "auto": "AutoModel",
            "base": "DecisionRule",
            "best_rule": "BestRule",
            "calibrated": "CalibratedThreshold",
            "calibration": "Calibration",
            "corrected": "CorrectedThresholds",
            "decided": "DecidedModel",
            "described": "DescribedModel",
            "threshold_figures": "ThresholdFigures",
            "guarantee": "Guarantee",
            "micro_macro": "MicroMacroThreshold",
            "natural": "Natural",
            "per_label": "PerLabelThreshold",
            "proportional": "Proportional",
            "seen_sets": "SeenSets",
            "table": "RULES, find_rule",
            "temperature": "Temperature",
            "threshold": "GlobalThreshold, Threshold",
            "top_k": "TopK",
        },
    )
