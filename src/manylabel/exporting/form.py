"""The form in which models are exported: how texts are read, linear blocks, their combination, the decision rule.

It is plain data: what docs/exporting.md describes, with arrays in place of their encoded bytes.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from manylabel import __version__
from manylabel.catalog import DEFAULT_METHOD, METHODS
from manylabel.data.label_forms import SINGLE_FORMS
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.table import RULES
from manylabel.exceptions import UnsupportedError
from manylabel.features.pipeline import FeaturePipeline
from manylabel.features.scripts import PATTERNS
from manylabel.features.vector_view import VectorView
from manylabel.features.vectorize import Vectorizer
from manylabel.features.views import FurtherViews
from manylabel.features.weighting import Weighting
from manylabel.models.exported import Bins, ExportedScores, Form, LinearBlock, natural_form
from manylabel.models.score_kinds import ScoreKind
from manylabel.recipe import Recipe
from manylabel.strategies.described import DescribedLabels
from manylabel.text_model import TextModel
from manylabel.wording import counted, is_worded_for, setting_name, settings_text

NAME, VERSION = "manylabel-export", 1
"""The entries `format` and `version` of the form."""
BEST_LABEL: Form = {"rule": "best-label", "at_least_one": False, "labels_empty": True}
"""The decision where `fit` was given one label per document as a value instead of a list."""
IN_FORM = ("vectorizer_", "weighting_")
"""The parts of the feature pipeline that the form holds. A model whose pipeline holds any other part is refused."""
NOT_EXPORTED = ("guarantee", "best")
"""The rule that has no form, and the one that is replaced by the rule it chose."""


def model_form(model: TextModel, method: str) -> Form:
    """The form of a fitted classifier; `UnsupportedError` where it has none."""
    vectorizer = _vectorizer(model.features_)
    decided, kind = model.decided_, model.decided_.score_kind
    if not decided.is_exportable:
        raise UnsupportedError(_scores_without_form(method, decided))
    if decided.n_features_in_ != len(vectorizer.terms_):
        raise UnsupportedError(
            f"This model reads {counted(decided.n_features_in_, 'column')}, but has "
            f"{counted(len(vectorizer.terms_), 'term')}. Only models of terms alone can be exported."
        )
    scores = decided.exported_scores()
    one_each = model.label_form_ in SINGLE_FORMS
    return {
        "format": NAME,
        "version": VERSION,
        "written_by": f"manylabel {__version__}",
        "method": method,
        "labels": model.labels_,
        "text": text_form(vectorizer),
        "terms": vectorizer.terms_,
        "weighting": weighting_form(model.features_.weighting_),
        "blocks": [block_form(*pair) for pair in zip(scores.blocks, scores.kinds, strict=True)],
        "combination": combination_form(scores),
        "score_kind": str(kind),
        "shown": shown_form(decided, kind),
        "decision": BEST_LABEL if one_each else decision_form(decided, scores.natural, len(model.labels_)),
    }


@cache
def exportable_methods() -> tuple[str, ...]:
    """The methods of the catalogue that can be exported, the default first."""
    names = [DEFAULT_METHOD, *(name for name in METHODS if name != DEFAULT_METHOD)]
    return tuple(name for name in names if Recipe.of(name).build().is_exportable)


def _vectorizer(features: FeaturePipeline) -> Vectorizer:
    """The vectoriser of a classifier of texts; an error for documents that an export cannot read."""
    vectorizer = features.vectorizer_
    if features.transformer_ is not None or vectorizer is None:
        reads = "a matrix" if features.transformer_ is None else "the output of a transformer of scikit-learn"
        raise UnsupportedError(f"This model reads {reads} instead of texts. Only models of texts can be exported.")
    wrong = {
        "fields of documents (features.fields)": vectorizer.fields is not None,
        "hashed terms (features.n_hashes)": vectorizer.n_hashes is not None,
    }
    if found := [name for name, is_set in wrong.items() if is_set]:
        raise UnsupportedError(f"A model with {found[0]} cannot be exported. Train it without.")
    for name, part in features.learned_state().items():
        if part is not None and name not in IN_FORM:
            raise UnsupportedError(_part_without_form(name, part))
    return vectorizer


def _part_without_form(name: str, part: Any) -> str:
    """Why a model whose feature pipeline holds this part cannot be exported, and what to do."""
    if isinstance(part, VectorView):
        without = "--encoder and --vectors" if is_worded_for("command line") else "an encoder"
        return (
            f"A model with an encoder or ready vectors ({part.name_}) cannot be exported, because an export reads "
            f"words alone. Train it without {without}."
        )
    if isinstance(part, FurtherViews):
        return (
            f"A model that reads {' and '.join(part.names_)} beside words cannot be exported. Train it with words "
            f"alone: {settings_text(**{'model.views': ()})}."
        )
    what = "keyword rules (features.rules)" if name == "keywords_" else f"{name} in its feature pipeline"
    return f"A model with {what} cannot be exported. Train it without."


def _scores_without_form(method: str, decided: DecidedModel) -> str:
    """Why the scores of a model cannot be exported, and what to do."""
    if isinstance(decided.model_, DescribedLabels):
        return (
            "A model that compares documents with label descriptions cannot be exported. Train it without "
            f"{setting_name('descriptions')}."
        )
    if decided.model.is_exportable or method in exportable_methods():
        return (
            f"{method} can be exported, but not this model of it: its settings, or an update that added labels, lead "
            "to scores that have no exported form. Train it again on all documents, with the default settings."
        )
    return (
        f"{method} cannot be exported: its scores are not linear in the counts of terms. Train one of the methods "
        f"that can: {', '.join(exportable_methods())}."
    )


def text_form(vectorizer: Vectorizer) -> Form:
    """How a text becomes terms."""
    analysis = vectorizer.analysis_
    named = analysis.tokens in ("words", "letters", *PATTERNS)
    return {
        "strip_markup": vectorizer.strips_markup_,
        "lowercase": analysis.lowercase,
        "strip_accents": analysis.strip_accents,
        "analyzer": analysis.analyzer,
        "tokens": analysis.tokens if named else "pattern",
        "pattern": PATTERNS.get(analysis.tokens) if named else analysis.tokens,
        "stop_words": sorted(analysis.stop_words),
        "stemmer": analysis.stemmer,
        "ngram_range": list(analysis.ngram_range),
    }


def weighting_form(weighting: Weighting | None) -> Form | None:
    """How counts become weights; None where they are read as they are."""
    if weighting is None:
        return None
    if weighting.dtype != "float64":
        raise UnsupportedError("Weights of single precision cannot be exported. Train with weighting.dtype=float64.")
    as_they_are = weighting.weighed_before_
    return {
        "tf": "raw" if as_they_are else weighting.tf,
        "idf": None if as_they_are or weighting.idf == "none" else weighting.idf_,
        "norm": weighting.norm,
    }


def block_form(block: LinearBlock, kind: ScoreKind) -> Form:
    """One model's linear scores."""
    bins = block.values if isinstance(block.values, Bins) else None
    return {
        "weighting": weighting_form(block.weighting),
        "values": block.values if isinstance(block.values, str) else "bins",
        "bins": None if bins is None else bins_form(bins),
        "weights": block.weights,
        "background": block.background,
        "loadings": block.loadings,
        "intercept": block.intercept,
        "is_posterior": block.is_posterior,
        "score_kind": str(kind),
    }


def bins_form(bins: Bins) -> Form:
    """How the values of terms become rows of the weights."""
    return {
        "n_bins": bins.n_bins,
        "low": bins.low,
        "high": bins.high,
        "rows": bins.cells,
        "amount": bins.amount,
        "absence": bins.absence,
    }


def combination_form(scores: ExportedScores) -> Form | None:
    """How the scores of several blocks become one; None where there is one block."""
    if scores.weights is None:
        return None
    return {"weights": scores.weights, "intercept": scores.intercept, "constant": scores.constant}


def shown_form(decided: DecidedModel, kind: ScoreKind) -> Form:
    """How scores become those that are shown."""
    if decided.calibration_ is None:
        return {"curve": "sigmoid" if kind is ScoreKind.LOG_ODDS else "none"}
    found: Any = decided.calibration_.exported()
    if found is None:
        raise UnsupportedError(
            "Isotonic probabilities cannot be exported. Train with "
            f"{settings_text(**{'decision.probabilities': 'logistic'})}, which is the default."
        )
    return {**found}


def decision_form(decided: DecidedModel, natural: Form | None, n_labels: int) -> Form:
    """The decision rule, and what documents get that it leaves without a label or in which no term is known."""
    rule, kind = decided.rule_, decided.score_kind
    if rule is not None:
        found = rule.exported(n_labels, kind)
    else:
        found = natural_form(kind, n_labels) if natural is None else natural
    if not found:
        name = "own" if rule is None else type(rule).__name__
        known = ", ".join(name for name in RULES if name not in NOT_EXPORTED)
        raise UnsupportedError(
            f"The decision rule of this model, {name}, cannot be exported with its settings. Train it with another "
            f"({settings_text(**{'decision.rule': 'NAME'})}): {known}."
        )
    at_least_one = rule is not None and rule.fallback == "argmax"
    return {**found, "at_least_one": at_least_one, "labels_empty": decided.labels_empty_documents}
