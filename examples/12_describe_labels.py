"""Start from the names of labels: without labelled documents, and with a few."""

from manylabel import TextClassifier, load_corpus

corpus = load_corpus("townhall").corpus
train, test = corpus.split("train"), corpus.split("test")
descriptions = dict.fromkeys(train.label_names, "")  # the words in a label describe it, such as streets/parking

# Without labels, documents show how frequent words are.
model = TextClassifier().fit(train.texts, [[] for _ in train.texts], descriptions=descriptions)
print(f"no labelled documents: micro F1 {model.score(test.texts, test.label_sets):.2f}")
print(model.predict(["When will the school places be announced?"]))

# With a few labelled documents, the weight of each description is learned.
few = train.subset(range(60))
alone = TextClassifier().fit(few.texts, few.label_sets)
both = TextClassifier().fit(few.texts, few.label_sets, descriptions=descriptions)
print(f"60 documents: micro F1 {alone.score(test.texts, test.label_sets):.2f}")
print(f"60 documents and descriptions: micro F1 {both.score(test.texts, test.label_sets):.2f}")
print("known from their descriptions only:", both.described_only)
