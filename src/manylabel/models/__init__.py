"""Models: documents × terms and label sets in, scores out.

Every model has scikit-learn's methods (`fit`, `predict`, `decision_function`, `predict_proba`) and can be used alone,
in a strategy (`manylabel.strategies`) or under a decision rule (`manylabel.decisions`). docs/methods has a page per
method.

Naive Bayes and other models of counts
    MultinomialNaiveBayes     one multinomial per label; the most probable labels
    BinaryNaiveBayes          label against rest, each pair of multinomials with its own smoothing
    BernoulliNaiveBayes       presence and absence of terms
    ComplementNaiveBayes      each label scored by the documents without it
    SemiSupervisedNaiveBayes  multinomial, with unlabelled documents by EM
    WeightedNaiveBayes        multinomial with information-gain weights of terms
    ValueWeightedNaiveBayes   weights of single feature values (Lee 2018)
    Rocchio                   centroids of labels
    PMM1                      parametric mixture model, mean of label multinomials (Ueda & Saito 2002)
    PMM2                      parametric mixture model with pairs of labels (Ueda & Saito 2002)

Linear, neighbours, trees, networks, rules
    LinearSVM          one linear SVM per label
    TunedSVM           linear SVMs with the cost chosen on validation documents
    NearestNeighbours  votes of the k most similar documents
    MLkNN              k nearest neighbours with posteriors of the votes
    DecisionTrees      one decision tree per label
    RandomForest       forests of decision trees
    NeuralNetwork      one hidden layer
    KeywordRules       hand-written keyword rules and suggested keywords
    NameSimilarity     vectors of documents beside those of label names
    NamedSVM           linear SVMs to whose weights label names add
    LabelColumns       some labels of fitted models, after an update

Base classes and kinds of scores
    MultiLabelModel     base class of every model and strategy
    CountModel          base class of models that learn from additive counts
    ParametricMixture   base class of PMM1 and PMM2
    ScoreKind           what scores are: posteriors, probabilities, margins, similarities
    out_of_fold_scores  the scores of each document by a model that was not trained on it

>>> from manylabel.models import LinearSVM
>>> LinearSVM(C=1.0).fit([[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 1], [1, 1]]).predict([[1, 0]])
array([[1, 0]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manylabel.lazy import lazy_names

__all__ = [
    "PMM1",
    "PMM2",
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
    "ParametricMixture",
    "RandomForest",
    "Rocchio",
    "ScoreKind",
    "SemiSupervisedNaiveBayes",
    "TunedSVM",
    "ValueWeightedNaiveBayes",
    "WeightedNaiveBayes",
    "out_of_fold_scores",
]

if TYPE_CHECKING:
    from manylabel.models.base import MultiLabelModel
    from manylabel.models.bernoulli_nb import BernoulliNaiveBayes
    from manylabel.models.binary_nb import BinaryNaiveBayes
    from manylabel.models.complement_nb import ComplementNaiveBayes
    from manylabel.models.count_model import CountModel
    from manylabel.models.keyword_rules import KeywordRules
    from manylabel.models.knn import NearestNeighbours
    from manylabel.models.label_columns import LabelColumns
    from manylabel.models.linear_svm import LinearSVM
    from manylabel.models.ml_knn import MLkNN
    from manylabel.models.multinomial_nb import MultinomialNaiveBayes
    from manylabel.models.name_similarity import NameSimilarity
    from manylabel.models.named_svm import NamedSVM
    from manylabel.models.neural import NeuralNetwork
    from manylabel.models.out_of_fold import out_of_fold_scores
    from manylabel.models.pmm1 import PMM1
    from manylabel.models.pmm2 import PMM2
    from manylabel.models.pmm_base import ParametricMixture
    from manylabel.models.random_forest import RandomForest
    from manylabel.models.rocchio import Rocchio
    from manylabel.models.score_kinds import ScoreKind
    from manylabel.models.semi_supervised_nb import SemiSupervisedNaiveBayes
    from manylabel.models.trees import DecisionTrees
    from manylabel.models.tuned_svm import TunedSVM
    from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes
    from manylabel.models.weighted_nb import WeightedNaiveBayes
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "base": "MultiLabelModel",
            "bernoulli_nb": "BernoulliNaiveBayes",
            "binary_nb": "BinaryNaiveBayes",
            "complement_nb": "ComplementNaiveBayes",
            "count_model": "CountModel",
            "keyword_rules": "KeywordRules",
            "knn": "NearestNeighbours",
            "label_columns": "LabelColumns",
            "linear_svm": "LinearSVM",
            "ml_knn": "MLkNN",
            "multinomial_nb": "MultinomialNaiveBayes",
            "name_similarity": "NameSimilarity",
            "named_svm": "NamedSVM",
            "neural": "NeuralNetwork",
            "out_of_fold": "out_of_fold_scores",
            "pmm1": "PMM1",
            "pmm2": "PMM2",
            "pmm_base": "ParametricMixture",
            "random_forest": "RandomForest",
            "rocchio": "Rocchio",
            "score_kinds": "ScoreKind",
            "semi_supervised_nb": "SemiSupervisedNaiveBayes",
            "trees": "DecisionTrees",
            "tuned_svm": "TunedSVM",
            "value_weighted_nb": "ValueWeightedNaiveBayes",
            "weighted_nb": "WeightedNaiveBayes",
        },
    )
