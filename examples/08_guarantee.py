"""Predict label sets with a guarantee: at least 90 % of the true labels, on average over new documents."""

import numpy as np

from manylabel import TextClassifier, load_corpus
from manylabel.data import label_matrix
from manylabel.metrics import compute_metrics

# A guarantee holds for new documents that are like those it was learned from. The test split of townhall is later than
# its training split, so here the documents are divided at random. Recall needs documents with true labels.
corpus = load_corpus("townhall").corpus
labelled = np.flatnonzero([bool(labels) for labels in corpus.label_sets])
rows = np.random.default_rng(0).permutation(labelled)
train, test = corpus.subset(rows[:400]), corpus.subset(rows[400:])
names = list(corpus.label_names)
Y_true = label_matrix(test.label_sets, names)

for decision in (None, {"rule": "guarantee", "metric": "recall", "level": 0.9}):
    model = TextClassifier("svm", decision=decision).fit(train.texts, train.label_sets)
    Y_pred = label_matrix(model.predict(test.texts), names)
    recall = compute_metrics(Y_true, Y_pred, ["sample-recall"])["sample-recall"]
    title = "with the guarantee" if decision else "without a guarantee"
    print(f"{title}: recall {recall:.2f}, {Y_pred.nnz / len(test):.1f} labels per document")

# The guarantee is about the mean over many runs: one test split may lie a little above or below it.
guarantee = model.guarantee
assert guarantee is not None
print(f"guaranteed {guarantee.metric} {guarantee.level}, from {guarantee.documents} held-out documents")
