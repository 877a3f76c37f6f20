"""One document at a time, text → labels, by a trained 90-label SVM: what a server does. Training is not timed."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.paths import end_to_end
from benchmarks.paths.contract import OURS, Answer, Candidate, Goal, HotPath, Job

DOCUMENTS = 50


def manylabel(inputs: Inputs, threads: int) -> Job:
    """`TextClassifier.predict` of a list of one text."""
    model = end_to_end.our_classifier(threads).fit(inputs.texts("train"), inputs.label_sets("train"))
    texts = inputs.texts("test")[:DOCUMENTS]
    return Job(
        lambda: [model.predict([text])[0] for text in texts],
        lambda sets: {"decisions": end_to_end.decisions(sets, inputs)},
    )


def scikit_learn(inputs: Inputs, threads: int) -> Job:
    """`Pipeline.predict` of a list of one text."""
    model, Y = end_to_end.sklearn_pipeline(threads), inputs.matrix("Y_train")
    model.fit(inputs.texts("train"), Y)
    texts = inputs.texts("test")[:DOCUMENTS]

    def answer(rows: Any) -> Answer:
        decided = np.vstack([row.toarray() for row in rows])
        return {"decisions": decided, "margins": model.decision_function(texts)}

    return Job(lambda: [model.predict([text]) for text in texts], answer)


def fasttext(inputs: Inputs, threads: int) -> Job:
    """fastText, another model: what a very fast one takes."""
    model, lines = end_to_end.train_fasttext(inputs, threads), end_to_end.one_line_each(inputs.texts("test"))
    return Job(
        lambda: [model.predict(line, k=-1, threshold=0.5)[0] for line in lines[:DOCUMENTS]],
        lambda sets: {"decisions": end_to_end.fasttext_decisions(sets, inputs)},
    )


PATH = HotPath(
    "one_document",
    f"one document at a time, text to labels (time of one, mean of {DOCUMENTS})",
    (
        Candidate(OURS, "manylabel", ("manylabel.classifier",), manylabel, (1,), (1,)),
        Candidate("scikit-learn pipeline", "scikit-learn", end_to_end.SKLEARN_MODULES, scikit_learn, (1,), (1,)),
        Candidate("fastText", "fastText", ("fasttext",), fasttext, (1,), (), same_method=False),
    ),
    end_to_end.agree,
    (Goal("scikit-learn pipeline", 200, our_threads=1, later=True),),
    units=DOCUMENTS,
)
