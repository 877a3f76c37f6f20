"""Decision rules: scores in, label sets out. One rule, one file, one row in a plain table of names.

>>> find_rule("top-k")
<class 'manylabel.decisions.top_k.TopK'>
"""

from __future__ import annotations

from manylabel.decisions.accumulated_posterior import AccumulatedPosterior
from manylabel.decisions.base import DecisionRule
from manylabel.decisions.best_rule import BestRule
from manylabel.decisions.calibrated import CalibratedThreshold
from manylabel.decisions.calibration import Calibration
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.guarantee import Guarantee
from manylabel.decisions.natural import Natural
from manylabel.decisions.per_label import PerLabelThreshold
from manylabel.decisions.promise import Promise
from manylabel.decisions.proportional import Proportional
from manylabel.decisions.seen_sets import SeenSets
from manylabel.decisions.table import RULES, find_rule
from manylabel.decisions.threshold import GlobalThreshold, Threshold
from manylabel.decisions.top_k import TopK
from manylabel.models.score_kinds import SingleLabelWarning

__all__ = [
    "RULES",
    "AccumulatedPosterior",
    "BestRule",
    "CalibratedThreshold",
    "Calibration",
    "DecidedModel",
    "DecisionRule",
    "GlobalThreshold",
    "Guarantee",
    "Natural",
    "PerLabelThreshold",
    "Promise",
    "Proportional",
    "SeenSets",
    "SingleLabelWarning",
    "Threshold",
    "TopK",
    "find_rule",
]
