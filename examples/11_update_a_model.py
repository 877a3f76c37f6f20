"""Update a model without training again: new documents with a new label, a new name, and a label that goes."""

from manylabel import TextClassifier, load_corpus

corpus = load_corpus("townhall").corpus.split("train")
old, new = corpus.subset(range(300)), corpus.subset(range(300, len(corpus)))

# The first model does not know the label transport/buses: pretend that it was introduced later.
without = [[label for label in labels if label != "transport/buses"] for labels in old.label_sets]
model = TextClassifier("svm").fit(old.texts, without)
scores = model.predict_scores(new.texts[:1])

# The new label alone is learned, from all documents; all other labels keep their scores.
model.update(new.texts, new.label_sets, former=(old.texts, old.label_sets), only_new_labels=True)
print("added:", model.updates_[-1]["added"], "unchanged labels:", model.updates_[-1]["kept"])
print("same scores:", (model.predict_scores(new.texts[:1])[:, :-1] == scores).all())
print(model.predict(["The number 12 bus did not come, and nobody at the stop knew why."]))

# Names and columns need no documents.
model.update(rename={"streets/roads": "roads"}, retire=["leisure/events"])
print("roads" in model.labels_, "leisure/events" in model.labels_)

for update in model.updates_:
    print(update["way"], f"({update['documents']} new documents)")
