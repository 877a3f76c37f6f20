"""Train a first model, measure it on documents it has not seen, and keep it in a file."""

import tempfile
from pathlib import Path

from manylabel import TextClassifier, load_corpus

# townhall comes with manylabel: 605 letters to a town hall, each with a set of labels such as transport/parking.
corpus = load_corpus("townhall").corpus
train, test = corpus.split("train"), corpus.split("test")
print(f"{len(train)} training documents, {len(test)} test documents, {len(corpus.label_names)} labels")

# Texts and lists of label names go in. "svm" is quick; without a name you get the default method, which is better.
model = TextClassifier("svm").fit(train.texts, train.label_sets)
print("micro F1 on the test documents:", round(model.score(test.texts, test.label_sets), 2))

# Lists of label names come out, one list per document. A list may be empty.
print("predicted labels:", model.predict(["The bin was not emptied and the bus was late."])[0])

# A model file holds arrays and JSON, no code, so it is safe to load one that somebody sent you.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "townhall.manylabel"
    model.save(path)
    again = TextClassifier.load(path)
print("the loaded model agrees:", again.predict(test.texts) == model.predict(test.texts))
