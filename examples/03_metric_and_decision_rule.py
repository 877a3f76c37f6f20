"""Choose what to optimise for, and how scores become label sets."""

from manylabel import TextClassifier, load_corpus
from manylabel.data import label_matrix
from manylabel.metrics import compute_metrics

corpus = load_corpus("townhall").corpus
train, test = corpus.split("train"), corpus.split("test")
names = list(corpus.label_names)
Y_true = label_matrix(test.label_sets, names)


def report(title, model):
    """Print three metrics of a model, and how many labels it predicts per document."""
    model.fit(train.texts, train.label_sets)
    Y_pred = label_matrix(model.predict(test.texts), names)
    found = compute_metrics(Y_true, Y_pred, ["micro-f1", "macro-f1", "exact-match"])
    figures = ", ".join(f"{name} {value:.2f}" for name, value in found.items())
    print(f"{title}: {figures}, {Y_pred.nnz / len(test):.1f} labels per document")


# The same SVM scores, trained for different metrics: the decision rule is chosen for the metric on out-of-fold scores.
report("metric micro-f1", TextClassifier("svm", metric="micro-f1"))
report("metric exact-match", TextClassifier("svm", metric="exact-match"))

# Or name the rule yourself. Here: always the two labels with the highest scores.
report("rule top-k", TextClassifier("svm", decision={"rule": "top-k", "k": 2}))
