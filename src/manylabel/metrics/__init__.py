"""Metrics of predicted label sets and of scores: pure functions, each with its conventions in words.

`compute_metrics`, `compute_ranking_metrics` and `label_curves` take `Y_true` with `Y_pred` or `scores`. The functions
of single metrics take counts (`label_counts`, `document_counts`) or ranks (`label_ranks`), which can be added up over
batches.

Tables of metrics
    METRICS                   the metrics of label sets by name
    RANKING_METRICS           the metrics of scores by name
    HIERARCHICAL_METRICS      the metrics that need a label hierarchy
    TARGET_METRICS            the metrics to optimise for
    Metric                    a row of METRICS
    RankingMetric             a row of RANKING_METRICS
    TargetMetric              a row of TARGET_METRICS
    DEFAULT_METRIC            the metric to optimise for by default
    find_metric               a metric by name
    find_ranking_metric       a ranking metric by name, recall at any number of labels among them
    find_target_metric        a metric to optimise for, by name
    conventions               the convention of each metric, in words
    ranking_conventions       the same for ranking metrics
    hierarchical_conventions  the same for hierarchical metrics

Many metrics at once
    compute_metrics               of Y_true and Y_pred
    compute_ranking_metrics       of Y_true and scores
    compute_hierarchical_metrics  of Y_true, Y_pred and the parents of labels
    metrics_of_counts             of counts
    metrics_of_ranks              of ranks

Counts
    LabelMatrix          the type of Y_true and Y_pred
    Counts               label counts and document counts
    LabelCounts          tp, fp, fn and tn per label
    DocumentCounts       right, true and predicted labels per document
    count_all            both counts
    label_counts         count per label
    document_counts      count per document
    hierarchical_counts  counts of label sets with all ancestors
    indicator            a checked 0/1 matrix

Metrics of label counts
    precision          per label
    recall             per label
    f1                 per label
    accuracy           per label
    error_rate         per label
    micro_precision    pooled over labels
    micro_recall       pooled over labels
    micro_f1           pooled over labels
    pooled_accuracy    pooled over labels
    macro_precision    averaged over labels
    macro_recall       averaged over labels
    macro_f1           averaged over labels
    macro_f1_of_means  F1 of macro precision and macro recall
    MacroMean          a mean over labels and the number of these labels
    chosen_labels      the labels of a macro average
    mean_defined       the mean of the values that are not nan
    frequency_bands    micro and macro F1 of labels with few, some and many training documents
    FrequencyBand      what it returns of each band

Metrics of document counts
    jaccard                Jaccard index
    sample_precision       mean precision of documents
    sample_recall          mean recall of documents
    sample_f1              mean F1 of documents
    f1_of_means            F1 of mean precision and mean recall
    hamming_loss           share of wrong cells
    exact_match            share of exactly right label sets
    zero_one_loss          1 − exact match
    all_negative_share     share of documents without predicted labels
    true_cardinality       mean number of true labels
    predicted_cardinality  mean number of predicted labels
    SetSizeTable           predicted set sizes by true set size
    set_size_table         compute it

Rankings
    label_ranking              the labels of each document, best first
    document_ranking           the documents of each label, best first
    LabelRanks                 the ranks of the true labels
    label_ranks                compute them
    one_error                  share of documents whose best label is wrong
    precision_at               share of true labels among the k best
    recall_at                  share of the true labels among the k best
    f1_at                      F1 of predicting the k best
    ndcg_at                    normalised discounted cumulative gain of the k best
    propensities               how probably a label that applies was assigned, from its frequency
    ps_precision_at            precision at k in which rare labels count more
    ps_ndcg_at                 nDCG at k in which rare labels count more
    ranking_loss               share of pairs in the wrong order
    coverage                   labels to read until all true labels are met
    ranking_average_precision  average precision of the ranking

Curves
    label_curves                  precision–recall and ROC curves per label, micro and macro, as plain data
    LabelCurves                   what it returns
    CurveRecord                   both curves of one label
    PrecisionRecallCurve          one curve as arrays
    RocCurve                      one curve as arrays
    precision_recall_curve        of one label
    roc_curve                     of one label
    average_precision             of one label
    roc_auc                       of one label
    precision_recall_curves       of each label
    roc_curves                    of each label
    average_precisions            of each label
    roc_aucs                      of each label
    micro_precision_recall_curve  of all labels pooled
    micro_roc_curve               of all labels pooled
    micro_average_precision       of all labels pooled
    micro_roc_auc                 of all labels pooled
    macro_precision_recall_curve  averaged over labels
    macro_roc_curve               averaged over labels
    ThresholdSweep                precision, recall and 0/1 loss at each threshold
    threshold_sweep               of thresholds on scores
    decision_sweep                of any rule with a threshold

>>> from manylabel.metrics import compute_metrics
>>> compute_metrics([[1, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 1]], ["micro-f1", "hamming-loss"])
{'micro-f1': 0.6666666666666666, 'hamming-loss': 0.3333333333333333}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manylabel.lazy import lazy_names

__all__ = [
    "DEFAULT_METRIC",
    "HIERARCHICAL_METRICS",
    "METRICS",
    "RANKING_METRICS",
    "TARGET_METRICS",
    "Counts",
    "CurveRecord",
    "DocumentCounts",
    "FrequencyBand",
    "LabelCounts",
    "LabelCurves",
    "LabelMatrix",
    "LabelRanks",
    "MacroMean",
    "Metric",
    "PrecisionRecallCurve",
    "RankingMetric",
    "RocCurve",
    "SetSizeTable",
    "TargetMetric",
    "ThresholdSweep",
    "accuracy",
    "all_negative_share",
    "average_precision",
    "average_precisions",
    "chosen_labels",
    "compute_hierarchical_metrics",
    "compute_metrics",
    "compute_ranking_metrics",
    "conventions",
    "count_all",
    "coverage",
    "decision_sweep",
    "document_counts",
    "document_ranking",
    "error_rate",
    "exact_match",
    "f1",
    "f1_at",
    "f1_of_means",
    "find_metric",
    "find_ranking_metric",
    "find_target_metric",
    "frequency_bands",
    "hamming_loss",
    "hierarchical_conventions",
    "hierarchical_counts",
    "indicator",
    "jaccard",
    "label_counts",
    "label_curves",
    "label_ranking",
    "label_ranks",
    "macro_f1",
    "macro_f1_of_means",
    "macro_precision",
    "macro_precision_recall_curve",
    "macro_recall",
    "macro_roc_curve",
    "mean_defined",
    "metrics_of_counts",
    "metrics_of_ranks",
    "micro_average_precision",
    "micro_f1",
    "micro_precision",
    "micro_precision_recall_curve",
    "micro_recall",
    "micro_roc_auc",
    "micro_roc_curve",
    "ndcg_at",
    "one_error",
    "pooled_accuracy",
    "precision",
    "precision_at",
    "precision_recall_curve",
    "precision_recall_curves",
    "predicted_cardinality",
    "propensities",
    "ps_ndcg_at",
    "ps_precision_at",
    "ranking_average_precision",
    "ranking_conventions",
    "ranking_loss",
    "recall",
    "recall_at",
    "roc_auc",
    "roc_aucs",
    "roc_curve",
    "roc_curves",
    "sample_f1",
    "sample_precision",
    "sample_recall",
    "set_size_table",
    "threshold_sweep",
    "true_cardinality",
    "zero_one_loss",
]

if TYPE_CHECKING:
    from manylabel.metrics.binary_curves import (
        PrecisionRecallCurve,
        RocCurve,
        average_precision,
        precision_recall_curve,
        roc_auc,
        roc_curve,
    )
    from manylabel.metrics.by_frequency import FrequencyBand, frequency_bands
    from manylabel.metrics.counts import (
        DocumentCounts,
        LabelCounts,
        LabelMatrix,
        document_counts,
        indicator,
        label_counts,
    )
    from manylabel.metrics.curves import (
        CurveRecord,
        LabelCurves,
        average_precisions,
        label_curves,
        macro_precision_recall_curve,
        macro_roc_curve,
        micro_average_precision,
        micro_precision_recall_curve,
        micro_roc_auc,
        micro_roc_curve,
        precision_recall_curves,
        roc_aucs,
        roc_curves,
    )
    from manylabel.metrics.document_metrics import (
        SetSizeTable,
        all_negative_share,
        exact_match,
        f1_of_means,
        hamming_loss,
        jaccard,
        predicted_cardinality,
        sample_f1,
        sample_precision,
        sample_recall,
        set_size_table,
        true_cardinality,
        zero_one_loss,
    )
    from manylabel.metrics.hierarchical import (
        HIERARCHICAL_METRICS,
        compute_hierarchical_metrics,
        hierarchical_conventions,
        hierarchical_counts,
    )
    from manylabel.metrics.label_metrics import (
        MacroMean,
        accuracy,
        chosen_labels,
        error_rate,
        f1,
        macro_f1,
        macro_f1_of_means,
        macro_precision,
        macro_recall,
        mean_defined,
        micro_f1,
        micro_precision,
        micro_recall,
        pooled_accuracy,
        precision,
        recall,
    )
    from manylabel.metrics.ranking import (
        RANKING_METRICS,
        RankingMetric,
        compute_ranking_metrics,
        coverage,
        f1_at,
        find_ranking_metric,
        metrics_of_ranks,
        ndcg_at,
        one_error,
        precision_at,
        propensities,
        ps_ndcg_at,
        ps_precision_at,
        ranking_average_precision,
        ranking_conventions,
        ranking_loss,
        recall_at,
    )
    from manylabel.metrics.ranks import LabelRanks, document_ranking, label_ranking, label_ranks
    from manylabel.metrics.sweeps import ThresholdSweep, decision_sweep, threshold_sweep
    from manylabel.metrics.table import (
        METRICS,
        Counts,
        Metric,
        compute_metrics,
        conventions,
        count_all,
        find_metric,
        metrics_of_counts,
    )
    from manylabel.metrics.targets import DEFAULT_METRIC, TARGET_METRICS, TargetMetric, find_target_metric
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "binary_curves": (
                "PrecisionRecallCurve, RocCurve, average_precision, precision_recall_curve, roc_auc, roc_curve"
            ),
            "by_frequency": "FrequencyBand, frequency_bands",
            "counts": "DocumentCounts, LabelCounts, LabelMatrix, document_counts, indicator, label_counts",
            "curves": (
                "CurveRecord, LabelCurves, average_precisions, label_curves, macro_precision_recall_curve, "
                "macro_roc_curve, micro_average_precision, micro_precision_recall_curve, micro_roc_auc, "
                "micro_roc_curve, precision_recall_curves, roc_aucs, roc_curves"
            ),
            "document_metrics": (
                "SetSizeTable, all_negative_share, exact_match, f1_of_means, hamming_loss, jaccard, "
                "predicted_cardinality, sample_f1, sample_precision, sample_recall, set_size_table, "
                "true_cardinality, zero_one_loss"
            ),
            "hierarchical": (
                "HIERARCHICAL_METRICS, compute_hierarchical_metrics, hierarchical_conventions, hierarchical_counts"
            ),
            "label_metrics": (
                "MacroMean, accuracy, chosen_labels, error_rate, f1, macro_f1, macro_f1_of_means, "
                "macro_precision, macro_recall, mean_defined, micro_f1, micro_precision, micro_recall, "
                "pooled_accuracy, precision, recall"
            ),
            "ranking": (
                "RANKING_METRICS, RankingMetric, compute_ranking_metrics, coverage, f1_at, find_ranking_metric, "
                "metrics_of_ranks, ndcg_at, "
                "one_error, precision_at, propensities, ps_ndcg_at, ps_precision_at, ranking_average_precision, "
                "ranking_conventions, ranking_loss, recall_at"
            ),
            "ranks": "LabelRanks, document_ranking, label_ranking, label_ranks",
            "sweeps": "ThresholdSweep, decision_sweep, threshold_sweep",
            "table": "Counts, METRICS, Metric, compute_metrics, conventions, count_all, find_metric, metrics_of_counts",
            "targets": "DEFAULT_METRIC, TARGET_METRICS, TargetMetric, find_target_metric",
        },
    )
