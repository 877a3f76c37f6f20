"""Explain a prediction: which terms of the document speak for a label, and which against it."""

from manylabel import load_corpus
from manylabel.data import label_matrix
from manylabel.features import Vectorizer, Weighting
from manylabel.models import LinearSVM

corpus = load_corpus("townhall").corpus
train = corpus.split("train")
names = list(corpus.label_names)

# The steps of the method "svm" one by one: count terms, weigh them by tf-idf, learn one SVM per label.
vectorizer = Vectorizer()
counts = vectorizer.fit_transform(train.texts)
weighting = Weighting().fit(counts)
model = LinearSVM().fit(weighting.transform(counts), label_matrix(train.label_sets, names))

letter = "The bin was not emptied for the third week, and the bus was late."
x = weighting.transform(vectorizer.transform([letter]))

# One row per label, one column per term. For a linear model, a row and the intercept add up to the score.
labels = [names.index("environment/waste"), names.index("transport/buses")]
evidence = model.evidence(x, labels).toarray()
for row, label in zip(evidence, labels, strict=True):
    strongest = sorted(range(len(row)), key=lambda term: -row[term])[:3]
    terms = ", ".join(f"{vectorizer.terms_[term]} {row[term]:+.2f}" for term in strongest)
    print(f"{names[label]}: {terms}")
