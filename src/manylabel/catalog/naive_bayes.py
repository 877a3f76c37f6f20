"""Naive Bayes in its multinomial, binary and Bernoulli forms."""

from __future__ import annotations

from manylabel.catalog.method import (
    ACCUMULATED,
    BEST_LABEL,
    HALF,
    LEE,
    LETTERS,
    MANNING,
    PER_LABEL,
    PLAIN_TFIDF,
    VILAR,
    Method,
)

_MULTINOMIAL = "manylabel.models.multinomial_nb:MultinomialNaiveBayes"
_BINARY = "manylabel.models.binary_nb:BinaryNaiveBayes"
_BERNOULLI = "manylabel.models.bernoulli_nb:BernoulliNaiveBayes"
_WEIGHTED = "manylabel.models.weighted_nb:WeightedNaiveBayes"

ROWS = (
    Method(
        "nb-app",
        "Multinomial naive Bayes, labels taken until their posteriors add up to a learned threshold",
        _MULTINOMIAL,
        f"{VILAR}, section 4.1",
        settings={"unigram_docs": "all"},
        features=LETTERS,
        **ACCUMULATED,
    ),
    Method(
        "nb-binary",
        "One two-class multinomial naive Bayes per label, a label where its probability reaches one half",
        _BINARY,
        f"{VILAR}, section 4.2",
        features=LETTERS,
        **HALF,
    ),
    Method(
        "nb-unilabel",
        "Multinomial naive Bayes, the one most probable label",
        _MULTINOMIAL,
        f"{VILAR}, section 3",
        features=LETTERS,
        **BEST_LABEL,
    ),
    Method(
        "nb-powerset",
        "Multinomial naive Bayes over the label sets seen in training, the most probable set",
        "manylabel.strategies.label_powerset:LabelPowerset",
        f"{VILAR}, section 4",
        inner=_MULTINOMIAL,
        features=LETTERS,
    ),
    Method(
        "nb-bernoulli",
        "One Bernoulli naive Bayes per label: which words occur and which do not; a label where P reaches one half",
        _BERNOULLI,
        f"{MANNING}, section 13.3",
        features=LETTERS,
        **HALF,
    ),
    Method(
        "nb-bernoulli-unilabel",
        "Bernoulli naive Bayes, the one most probable label",
        _BERNOULLI,
        f"{MANNING}, section 13.3",
        settings={"target": "classes"},
        features=LETTERS,
        **BEST_LABEL,
    ),
    Method(
        "nb-complement",
        "Complement naive Bayes on tf-idf, the best label",
        "manylabel.models.complement_nb:ComplementNaiveBayes",
        "Rennie, Shih, Teevan & Karger 2003",
        weighting=PLAIN_TFIDF,
        **BEST_LABEL,
    ),
    Method(
        "nb-tfidf",
        "Multinomial naive Bayes on tf-idf",
        _MULTINOMIAL,
        "Rennie, Shih, Teevan & Karger 2003",
        settings={"smoothing": "laplace"},
        weighting=PLAIN_TFIDF,
        **ACCUMULATED,
    ),
    Method(
        "nb-presence",
        "Multinomial naive Bayes on which words occur, not how often",
        _MULTINOMIAL,
        f"{LEE} (cited)",
        settings={"smoothing": "laplace"},
        weighting={"tf": "binary", "idf": "none", "norm": None},
        **ACCUMULATED,
    ),
    Method(
        "nb-weighted-ig",
        "Multinomial naive Bayes, words weighted by information gain",
        _WEIGHTED,
        f"{LEE}, section 2",
        settings={"weight": "ig"},
        features=LETTERS,
        **ACCUMULATED,
    ),
    Method(
        "nb-weighted-kl",
        "Multinomial naive Bayes, words weighted by Kullback-Leibler divergence",
        _WEIGHTED,
        f"{LEE}, section 2",
        settings={"weight": "kl"},
        features=LETTERS,
        **ACCUMULATED,
    ),
    Method(
        "nb-em",
        "Multinomial naive Bayes that also learns from documents without a label, by expectation maximisation",
        "manylabel.models.semi_supervised_nb:SemiSupervisedNaiveBayes",
        "Nigam, McCallum, Thrun & Mitchell 2000",
        settings={"alpha": 0.01},
        **ACCUMULATED,
    ),
    Method(
        "nb",
        "One naive Bayes per label on damped counts (1 + ln tf), a learned threshold for each label",
        _BINARY,
        "manylabel",
        weighting={"tf": "log", "idf": "none", "norm": None},
        **PER_LABEL,
    ),
)
