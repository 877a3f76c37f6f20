"""The public names: pinned, lazy, documented, and complete with respect to the catalogue."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from manylabel.catalog import METHODS, storable_classes
from manylabel.decisions.table import RULES

NAMES = {
    "manylabel": {"Corpus", "TextClassifier", "__version__", "load_corpus", "write_corpus"},
    "manylabel.data": {
        "Corpus",
        "FORMATS",
        "Hierarchy",
        "KNOWN",
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
    },
    "manylabel.decisions": {
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
        "RULES",
        "SeenSets",
        "Temperature",
        "Threshold",
        "ThresholdFigures",
        "TopK",
        "find_rule",
    },
    "manylabel.evaluation": {
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
    },
    "manylabel.features": {
        "Contingency",
        "FUNCTIONS",
        "FeaturePipeline",
        "FrequencyBins",
        "FurtherViews",
        "KeywordMatcher",
        "LANGUAGES",
        "TermSelector",
        "VectorView",
        "Vectorizer",
        "Weighting",
        "contingency_tables",
        "global_scores",
        "guess_language",
        "kl_value_weights",
        "label_scores",
        "mutual_information",
        "parse_query",
        "parse_rules",
        "presence_weights",
        "stem",
        "stop_words",
        "suggest_keywords",
        "write_rules",
    },
    "manylabel.integrations": {
        "ArrowPredictor",
        "predict_dask",
        "predict_polars",
        "predict_ray",
        "predict_spark",
        "register_duckdb",
    },
    "manylabel.metrics": {
        "Counts",
        "CurveRecord",
        "DEFAULT_METRIC",
        "DocumentCounts",
        "FrequencyBand",
        "HIERARCHICAL_METRICS",
        "LabelCounts",
        "LabelCurves",
        "LabelMatrix",
        "LabelRanks",
        "METRICS",
        "MacroMean",
        "Metric",
        "PrecisionRecallCurve",
        "RANKING_METRICS",
        "RankingMetric",
        "RocCurve",
        "SetSizeTable",
        "TARGET_METRICS",
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
    },
    "manylabel.models": {
        "BernoulliNaiveBayes",
        "BinaryNaiveBayes",
        "ComplementNaiveBayes",
        "CountModel",
        "DecisionTrees",
        "KeywordRules",
        "LabelColumns",
        "LinearSVM",
        "MLkNN",
        "MultiLabelModel",
        "MultinomialNaiveBayes",
        "NameSimilarity",
        "NamedSVM",
        "NearestNeighbours",
        "NeuralNetwork",
        "PMM1",
        "PMM2",
        "ParametricMixture",
        "RandomForest",
        "Rocchio",
        "ScoreKind",
        "SemiSupervisedNaiveBayes",
        "TunedSVM",
        "ValueWeightedNaiveBayes",
        "WeightedNaiveBayes",
        "out_of_fold_scores",
    },
    "manylabel.strategies": {
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
        "SVMHF",
        "ScikitLearnModel",
        "SiblingModel",
        "TopDown",
        "TwoClassStrategy",
        "ViewedMember",
        "WeightedMember",
    },
}
"""The names each namespace exports; a change here is a change of the public interface, for the CHANGELOG."""

HEAVY = {"numpy", "scipy", "sklearn", "pyarrow", "typer", "rich", "safetensors"}


def source_of(namespace: str) -> Path:
    path = importlib.import_module(namespace).__file__
    assert path is not None
    return Path(path)


@pytest.mark.parametrize("namespace", NAMES)
def test_the_exported_names_are_pinned(namespace: str) -> None:
    module = importlib.import_module(namespace)
    assert set(module.__all__) == NAMES[namespace]
    assert len(module.__all__) == len(NAMES[namespace])
    assert dir(module) == sorted(NAMES[namespace])


@pytest.mark.parametrize("namespace", NAMES)
def test_every_name_resolves_and_a_star_import_brings_all(namespace: str) -> None:
    module = importlib.import_module(namespace)
    brought: dict[str, object] = {}
    exec(f"from {namespace} import *", brought)
    for name in NAMES[namespace]:
        assert brought[name] is getattr(module, name)
    with pytest.raises(AttributeError, match=f"module '{namespace}' has no attribute 'Nothing'"):
        _ = module.Nothing


@pytest.mark.parametrize("namespace", NAMES)
def test_type_checkers_see_the_same_names(namespace: str) -> None:
    """What `if TYPE_CHECKING` imports is what the namespace returns when it runs."""
    for node in ast.walk(ast.parse(source_of(namespace).read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(("manylabel.", namespace + ".")):
            continue
        for alias in node.names:
            if node.module != "manylabel.lazy":
                there = getattr(importlib.import_module(node.module or ""), alias.name)
                assert getattr(importlib.import_module(namespace), alias.asname or alias.name) is there


@pytest.mark.parametrize("namespace", [namespace for namespace in NAMES if namespace != "manylabel"])
def test_the_docstring_lists_every_name(namespace: str) -> None:
    lines = (importlib.import_module(namespace).__doc__ or "").splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("    ") and line.strip()]
    assert sorted(listed) == sorted(NAMES[namespace])


@pytest.mark.parametrize("namespace", NAMES)
def test_no_name_is_that_of_a_module(namespace: str) -> None:
    """Importing the module would replace the name."""
    assert not NAMES[namespace] & {path.stem for path in source_of(namespace).parent.iterdir()}


@pytest.mark.parametrize("namespace", NAMES)
def test_importing_a_namespace_imports_nothing_heavy(namespace: str) -> None:
    code = f"import sys, {namespace}; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {name.split(".")[0] for name in done.stdout.split()} & HEAVY


def test_every_class_of_the_catalogue_is_in_the_namespace_of_its_room() -> None:
    rows = [path for method in METHODS.values() for path in (method.model, method.inner) if path]
    for path in [*rows, *RULES.values(), *storable_classes().values()]:
        module, _, name = path.partition(":")
        namespace = ".".join(module.split(".")[:2])
        if namespace == "manylabel.classifier":
            namespace = "manylabel"
        assert name in NAMES[namespace], path
        assert getattr(importlib.import_module(namespace), name) is getattr(importlib.import_module(module), name)


@pytest.mark.parametrize(
    "statement",
    [
        "from manylabel import TextClassifier, load_corpus",
        "from manylabel.models import LinearSVM, PMM1, PMM2, MultinomialNaiveBayes",
        "from manylabel.strategies import ClassifierChain",
        "from manylabel.decisions import BestRule",
        "from manylabel.metrics import compute_metrics",
        "from manylabel.features import Vectorizer",
        "from manylabel.data import load",
    ],
)
def test_names_are_imported_from_their_packages(statement: str) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", statement], check=True)
