"""The classical methods on one page: what a textbook teaches, from naive Bayes to the SVM."""

import time

from manylabel import TextClassifier, load_corpus
from manylabel.catalog import METHODS

corpus = load_corpus("townhall").corpus
train, test = corpus.split("train"), corpus.split("test")

for name in ("nb-binary", "nb", "rocchio", "knn", "logistic", "svm"):
    began = time.perf_counter()
    model = TextClassifier(name, n_jobs=1).fit(train.texts, train.label_sets)
    score = model.score(test.texts, test.label_sets)
    print(f"{name:10} micro F1 {score:.2f}  {time.perf_counter() - began:4.1f} s  {METHODS[name].title}")
