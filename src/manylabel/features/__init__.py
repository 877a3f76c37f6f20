"""Features: texts in, documents × terms out, as counts or weights.

Estimators
    FeaturePipeline  count, prune, select and weight the terms of documents
    Vectorizer       count the terms of texts
    VectorView       the vectors of an encoder as columns
    TermSelector     keep the terms that are most informative about the labels
    Weighting        tf-idf and length normalisation
    FrequencyBins    frequencies as bin numbers
    FurtherViews     count the terms of views beside the words
    KeywordMatcher   documents that match keyword rules

Keyword rules
    parse_rules       the queries of a text of rules
    write_rules       the text of rules
    parse_query       the tree of one query
    suggest_keywords  keywords for a first rule of each label

Scores and weights of terms
    FUNCTIONS           the table of functions that score terms
    Contingency         documents counted by term and label
    contingency_tables  count them
    global_scores       one score per term
    label_scores        one score per label and term
    mutual_information  of a feature and the class
    presence_weights    weights of terms by presence and absence
    kl_value_weights    weights of single feature values

Languages
    LANGUAGES       the languages with a list of stop words
    stop_words      the stop words of a language
    guess_language  the language of texts
    stem            the stems of words

>>> from manylabel.features import Vectorizer, Weighting
>>> X = Vectorizer().fit_transform(["the late bus", "the bad road"])
>>> Weighting(idf="none").fit_transform(X).shape
(2, 5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manylabel.lazy import lazy_names

__all__ = [
    "FUNCTIONS",
    "LANGUAGES",
    "Contingency",
    "FeaturePipeline",
    "FrequencyBins",
    "FurtherViews",
    "KeywordMatcher",
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
]

if TYPE_CHECKING:
    from manylabel.features.contingency import Contingency, contingency_tables
    from manylabel.features.discretize import FrequencyBins
    from manylabel.features.information_weights import kl_value_weights, mutual_information, presence_weights
    from manylabel.features.keyword_queries import parse_query
    from manylabel.features.keyword_rules import parse_rules, suggest_keywords, write_rules
    from manylabel.features.keywords import KeywordMatcher
    from manylabel.features.languages import LANGUAGES, guess_language, stop_words
    from manylabel.features.pipeline import FeaturePipeline
    from manylabel.features.select import TermSelector
    from manylabel.features.term_scores import FUNCTIONS, global_scores, label_scores
    from manylabel.features.terms import stem
    from manylabel.features.vector_view import VectorView
    from manylabel.features.vectorize import Vectorizer
    from manylabel.features.views import FurtherViews
    from manylabel.features.weighting import Weighting
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "contingency": "Contingency, contingency_tables",
            "discretize": "FrequencyBins",
            "information_weights": "kl_value_weights, mutual_information, presence_weights",
            "keyword_queries": "parse_query",
            "keyword_rules": "parse_rules, suggest_keywords, write_rules",
            "keywords": "KeywordMatcher",
            "languages": "LANGUAGES, guess_language, stop_words",
            "pipeline": "FeaturePipeline",
            "select": "TermSelector",
            "term_scores": "FUNCTIONS, global_scores, label_scores",
            "terms": "stem",
            "vector_view": "VectorView",
            "vectorize": "Vectorizer",
            "views": "FurtherViews",
            "weighting": "Weighting",
        },
    )
