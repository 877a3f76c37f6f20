"""Labels in a hierarchy: predict areas and topics together."""

from manylabel import TextClassifier, load_corpus

corpus = load_corpus("townhall").corpus
train, test = corpus.split("train"), corpus.split("test")

# Labels of townhall are written area/topic, and the corpus comes with its hierarchy. For your own data, a mapping from
# child to parent will do: hierarchy={"transport/buses": "transport", ...}.
hierarchy = corpus.hierarchy
assert hierarchy is not None
print("the parent of transport/buses is", hierarchy.parents["transport/buses"])

# Top-down: first the areas, then the topics of each predicted area.
model = TextClassifier("svm-top-down").fit(train.texts, train.label_sets, hierarchy=hierarchy)
for letter in ("The bus to the station was late again.", "The bins on our street were not emptied."):
    print(letter, model.predict([letter])[0])

# With areas among the labels, every predicted topic comes with its area.
parents = hierarchy.parents
closed = [sorted({*labels, *(parents[label] for label in labels)}) for labels in train.label_sets]
model = TextClassifier("svm-top-down").fit(train.texts, closed, hierarchy=hierarchy)
predicted = model.predict(test.texts)
print("areas and topics:", predicted[0])
print("every topic with its area:", all(parents.get(name, name) in names for names in predicted for name in names))
