"""Evaluation: results of a classifier on labelled documents, confidence intervals and tests.

Results
    evaluate          predict labelled documents and compute every metric
    Result            the figures, with the conventions they were computed by
    check_comparable  raise an error if results cannot be compared

Confidence intervals
    document_statistics  what the metrics are computed from, per document
    DocumentStatistics   what document_statistics returns
    interval             bootstrap interval of a metric
    paired_difference    bootstrap interval of a difference on the same documents

Tests of two methods
    permutation_test  by swapping the predictions of documents
    mcnemar           of the documents that one method alone predicts exactly
    sign_test         of paired values
    wilcoxon          signed ranks of paired values
    t_test            of means
    holm              p-values corrected for several tests

Several methods on several data sets
    ranks                ranks of methods on one data set
    average_ranks        mean ranks over data sets
    friedman             whether ranks differ more than by chance
    critical_difference  of average ranks (Nemenyi)

Learning curves
    fit_power_laws  the curve through metrics of growing training sets
    label_trends    the labels that more documents would help

>>> from manylabel.evaluation import holm
>>> holm([0.01, 0.04]).tolist()
[0.02, 0.04]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manylabel.lazy import lazy_names

__all__ = [
    "DocumentStatistics",
    "Result",
    "average_ranks",
    "check_comparable",
    "critical_difference",
    "document_statistics",
    "evaluate",
    "fit_power_laws",
    "friedman",
    "holm",
    "interval",
    "label_trends",
    "mcnemar",
    "paired_difference",
    "permutation_test",
    "ranks",
    "sign_test",
    "t_test",
    "wilcoxon",
]

if TYPE_CHECKING:
    from manylabel.evaluation.bootstrap import interval, paired_difference
    from manylabel.evaluation.experiment import evaluate
    from manylabel.evaluation.learning_trends import fit_power_laws, label_trends
    from manylabel.evaluation.paired_tests import holm, mcnemar, permutation_test, sign_test, t_test
    from manylabel.evaluation.rank_tests import average_ranks, critical_difference, friedman, ranks, wilcoxon
    from manylabel.evaluation.result import Result, check_comparable
    from manylabel.evaluation.statistics import DocumentStatistics, document_statistics
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "bootstrap": "interval, paired_difference",
            "experiment": "evaluate",
            "learning_trends": "fit_power_laws, label_trends",
            "paired_tests": "holm, mcnemar, permutation_test, sign_test, t_test",
            "rank_tests": "average_ranks, critical_difference, friedman, ranks, wilcoxon",
            "result": "Result, check_comparable",
            "statistics": "DocumentStatistics, document_statistics",
        },
    )
