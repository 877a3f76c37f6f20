"""Compare two methods on the same documents, and test whether the difference is real."""

from manylabel import TextClassifier, load_corpus
from manylabel.data import label_matrix
from manylabel.evaluation import interval, paired_difference
from manylabel.evaluation.statistics import document_statistics

corpus = load_corpus("townhall").corpus
train, test = corpus.split("train"), corpus.split("test")
names = list(corpus.label_names)
Y_true = label_matrix(test.label_sets, names)

statistics = {}
for method in ("svm", "nb-binary"):
    model = TextClassifier(method).fit(train.texts, train.label_sets)
    statistics[method] = document_statistics(Y_true, label_matrix(model.predict(test.texts), names))
    found = interval(statistics[method], "micro-f1", seed=0)
    print(f"{method}: micro F1 {found.value:.2f}, 95 % interval {found.low:.2f} to {found.high:.2f}")

# Both methods are measured on the same documents, so resample the documents once for both.
difference = paired_difference(statistics["svm"], statistics["nb-binary"], "micro-f1", seed=0)
print(f"difference: {difference.value:.2f}, 95 % interval {difference.low:.2f} to {difference.high:.2f}")
print("a real difference:", difference.low > 0 or difference.high < 0)

# `manylabel compare townhall --budget 1m` does this for all methods that fit the budget, by cross-validation.
