"""Labels in a hierarchy: predict areas and topics together."""

from manylabel import TextClassifier, load_corpus

corpus = load_corpus("townhall").corpus
train, test = corpus.split("train"), corpus.split("test")

# Labels of townhall are written area/topic. A hierarchy is a mapping from child to parent.
parents = {label: label.partition("/")[0] for label in corpus.label_names}
print("transport/buses lies under", parents["transport/buses"])

# The true labels are closed first: a document about transport/buses is about transport.
closed = [sorted({*labels, *(parents[label] for label in labels)}) for labels in train.label_sets]

# Top-down: first the areas, then the topics of each predicted area.
model = TextClassifier("svm-top-down").fit(train.texts, closed, hierarchy=parents)
for letter in ("The bus to the station was late again.", "The bins on our street were not emptied."):
    print(letter, model.predict([letter])[0])

# Every predicted topic comes with its area.
predicted = model.predict(test.texts)
print("closed:", all(parents.get(label, label) in labels for labels in predicted for label in labels))
