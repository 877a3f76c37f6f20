"""Explain a prediction: which words of the document speak for a label, and which against it."""

from manylabel import TextClassifier, load_corpus

train = load_corpus("townhall").corpus.split("train")
model = TextClassifier("svm").fit(train.texts, train.label_sets)

letter = "The bin was not emptied for the third week, and the bus was late."
explanation = model.explain(letter, runners_up=1)

# Each label has its score, its threshold and the contribution of every term. They add up to the score.
for found in explanation.labels:
    state = "predicted" if found.predicted else "not predicted"
    print(f"{found.label}: {state}, probability {found.score:.2f}, threshold {found.threshold:.2f}")
    for term in found.terms[:3]:
        words = [letter[start:end] for pieces in term.occurrences for _, start, end in pieces]
        print(f"  {term.contribution:+.2f} {term.term}, written {', '.join(words)}")
    if found.what_if is not None:
        print(f"  It hangs on: {', '.join(found.what_if.words)}")

# In a notebook, `explanation` as the last line of a cell shows the text with these words highlighted.
