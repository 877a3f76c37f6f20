"""Read your own table: one document per line, labels separated by semicolons."""

import tempfile
from pathlib import Path

from manylabel import TextClassifier, load_corpus

TABLE = """\
message,subjects
The bus was late again.,buses
The driver of the bus was rude.,buses
No bus came for an hour.,buses
A deep pothole on Mill Road.,roads
The road is full of holes.,roads
Potholes make the road dangerous for the bus.,roads;buses
Thank you for the kind reply.,
"""

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "letters.csv"
    path.write_text(TABLE, encoding="utf-8")
    # Columns called text and labels are found without being named. These are not.
    reading = load_corpus(path, text_column="message", label_column="subjects")

corpus = reading.corpus
print("labels:", list(corpus.label_names))
print("documents without a label:", sum(not labels for labels in corpus.label_sets))

# With so few documents, naive Bayes with a fixed threshold is a sensible choice.
model = TextClassifier("nb-binary").fit(corpus.texts, corpus.label_sets)
print(model.predict(["Holes in the road", "The bus is late"]))
