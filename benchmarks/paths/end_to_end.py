"""Raw texts → trained 90-label SVM → label sets of the test documents, all of it.

tf-idf with scikit-learn's defaults, squared hinge, C = 1, tolerance 1e-4, a label where the margin is above 0. Peers
without text features of their own are given scikit-learn's; those that only read files write them on the clock.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.paths.contract import OURS, Agreement, Answer, Candidate, Goal, HotPath, Job, NotThereYetError, micro_f1
from benchmarks.paths.svm import MOST_EPOCHS, TOLERANCE, C

SKLEARN_MODULES = (
    "sklearn.feature_extraction.text",
    "sklearn.multiclass",
    "sklearn.pipeline",
    "sklearn.preprocessing",
    "sklearn.svm",
)
NEAR_ZERO = 1e-3  # what margins may differ by at tolerance 1e-4


# ---- manylabel and scikit-learn: the same problem ----------------------------------------------------------


def our_classifier(threads: int) -> Any:
    """`TextClassifier` with the SVM of the catalogue, set to what scikit-learn's pipeline does."""
    from manylabel.catalog import METHODS
    from manylabel.classifier import TextClassifier

    names = [name for name, row in METHODS.items() if row.model.endswith(":LinearSVM")]
    if not names:
        raise NotThereYetError("the catalogue has no linear SVM")
    return TextClassifier(
        names[0],
        features={"tokens": "words"},
        weighting={"tf": "raw", "idf": "smooth", "norm": "l2"},
        model={"loss": "squared_hinge", "C": C, "tol": TOLERANCE, "n_jobs": threads},
        decision={"rule": "threshold"},
        n_jobs=threads,
    )


def manylabel(inputs: Inputs, threads: int) -> Job:
    """`TextClassifier`: fit, then predict."""
    our_classifier(threads)  # only to see that there is one
    train, sets, test = inputs.texts("train"), inputs.label_sets("train"), inputs.texts("test")
    return Job(
        lambda: our_classifier(threads).fit(train, sets).predict(test),
        lambda found: {"decisions": decisions(found, inputs)},
    )


def sklearn_pipeline(threads: int) -> Any:
    """`TfidfVectorizer` and `OneVsRestClassifier(LinearSVC())`."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    one = LinearSVC(C=C, tol=TOLERANCE, max_iter=MOST_EPOCHS, random_state=0)
    return make_pipeline(TfidfVectorizer(), OneVsRestClassifier(one, n_jobs=threads))


def scikit_learn(inputs: Inputs, threads: int) -> Job:
    """The pipeline and a `MultiLabelBinarizer`: fit, then predict."""
    from sklearn.preprocessing import MultiLabelBinarizer

    train, sets, test = inputs.texts("train"), inputs.label_sets("train"), inputs.texts("test")
    names = inputs.facts["label_names"]

    def run() -> Any:
        binarizer = MultiLabelBinarizer(classes=names, sparse_output=True)
        model = sklearn_pipeline(threads).fit(train, binarizer.fit_transform(sets))
        return model, binarizer.inverse_transform(model.predict(test))

    def answer(found: Any) -> Answer:
        model, label_sets = found
        return {"decisions": decisions(label_sets, inputs), "margins": model.decision_function(test)}

    return Job(run, answer)


def decisions(label_sets: Iterable[Iterable[str]], inputs: Inputs) -> Any:
    """Label sets as a 0/1 matrix."""
    column = {name: index for index, name in enumerate(inputs.facts["label_names"])}
    sets = [list(names) for names in label_sets]
    matrix = np.zeros((len(sets), len(column)), dtype=np.int8)
    for row, names in enumerate(sets):
        matrix[row, [column[name] for name in names]] = 1
    return matrix


def agree(ours: Answer, theirs: Answer, inputs: Inputs) -> Agreement:
    """Whether the decisions are the same, but for margins that the tolerance leaves on either side of 0."""
    different = (ours["decisions"] != 0) != (theirs["decisions"] != 0)
    margins = theirs.get("margins", np.full(different.shape, np.inf))  # where they are not known, none may differ
    far = int((different & (np.abs(margins) > NEAR_ZERO)).sum())
    n = int(different.sum())
    return Agreement(far == 0, f"{n} of {different.size} decisions differ, {far} with a margin above {NEAR_ZERO:g}")


# ---- the peers ---------------------------------------------------------------------------------------------


def pecos(inputs: Inputs, threads: int) -> Job:
    """The same SVM by PECOS on scikit-learn's tf-idf: its own splits at blanks only, for five times as many terms."""
    from pecos.xmc.base import MLModel, MLProblem
    from sklearn.feature_extraction.text import TfidfVectorizer

    train, test = inputs.texts("train"), inputs.texts("test")
    Y = inputs.matrix("Y_train").astype(np.float32)

    def run() -> Any:
        vectorizer = TfidfVectorizer(dtype=np.float32)
        X = vectorizer.fit_transform(train)
        settings = MLModel.TrainParams(
            threshold=0.0, Cp=C, Cn=C, max_iter=MOST_EPOCHS, eps=TOLERANCE, bias=1.0, threads=threads
        )
        model = MLModel.train(MLProblem(X, Y), settings)
        asked = vectorizer.transform(test)
        return model.predict(asked, only_topk=Y.shape[1], post_processor="noop", threads=threads)

    def answer(scores: Any) -> Answer:
        margins = scores.toarray()
        return {"decisions": (margins > 0).astype(np.int8), "margins": margins}

    return Job(run, answer)


def napkinxc(inputs: Inputs, threads: int) -> Job:
    """scikit-learn's tf-idf and napkinXC's binary relevance, squared hinge; its answer for a margin of 0 is 1/e."""
    from napkinxc.models import BR
    from sklearn.feature_extraction.text import TfidfVectorizer

    train, test, names = inputs.texts("train"), inputs.texts("test"), inputs.facts["label_names"]
    Y = inputs.matrix("Y_train")
    label_lists = [Y.indices[a:b].tolist() for a, b in zip(Y.indptr[:-1], Y.indptr[1:])]

    def run() -> Any:
        vectorizer = TfidfVectorizer(dtype=np.float32)
        X = vectorizer.fit_transform(train)
        with tempfile.TemporaryDirectory() as folder:
            model = BR(
                folder,
                loss="l2",
                liblinear_c=C,
                liblinear_eps=TOLERANCE,
                liblinear_max_iter=MOST_EPOCHS,
                weights_threshold=0.0,
                threads=threads,
            )
            model.fit(X, label_lists)
            return model.predict(vectorizer.transform(test), threshold=float(np.exp(-1)))

    def answer(found: Any) -> Answer:
        return {"decisions": decisions([[names[label] for label in row] for row in found], inputs)}

    return Job(run, answer)


def omikuji(inputs: Inputs, threads: int) -> Job:
    """scikit-learn's tf-idf and omikuji's label trees with its defaults; labels of a score of at least one half."""
    import omikuji
    from sklearn.feature_extraction.text import TfidfVectorizer

    train, test, names = inputs.texts("train"), inputs.texts("test"), inputs.facts["label_names"]
    Y = inputs.matrix("Y_train")

    def run() -> Any:
        vectorizer = TfidfVectorizer()
        X = vectorizer.fit_transform(train)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "train.txt"
            _write_xmc(path, X, Y)
            model = omikuji.Model.train_on_data(str(path), n_threads=threads)
        model.init_prediction_thread_pool(threads)
        Q = vectorizer.transform(test)
        Q.sort_indices()
        rows = [slice(a, b) for a, b in zip(Q.indptr[:-1], Q.indptr[1:])]
        return [model.predict(list(zip(Q.indices[row].tolist(), Q.data[row].tolist()))) for row in rows]

    def answer(found: Any) -> Answer:
        sets = [[names[label] for label, score in row if score >= 0.5] for row in found]
        return {"decisions": decisions(sets, inputs)}

    return Job(run, answer)


def _write_xmc(path: Path, X: Any, Y: Any) -> None:
    """The format of the extreme classification repository: ``labels feature:value …`` lines under a header."""
    lines = [f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}"]
    for row in range(X.shape[0]):
        labels = ",".join(map(str, Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()))
        a, b = X.indptr[row], X.indptr[row + 1]
        pairs = sorted(zip(X.indices[a:b].tolist(), X.data[a:b].tolist()))
        lines.append(labels + " " + " ".join(f"{term}:{value:.6g}" for term, value in pairs))
    path.write_text("\n".join(lines) + "\n")


def one_line_each(texts: list[str]) -> list[str]:
    """Lower-case words separated by blanks, as fastText wants them."""
    return [" ".join(re.findall(r"(?u)\b\w\w+\b", text.lower())) for text in texts]


def train_fasttext(inputs: Inputs, threads: int) -> Any:
    """fastText, one logistic output a label, 25 epochs."""
    import fasttext

    sets, lines = inputs.label_sets("train"), one_line_each(inputs.texts("train"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.txt"
        marked = (" ".join(f"__label__{name}" for name in names) for names in sets)
        path.write_text("".join(f"{labels} {line}\n" for labels, line in zip(marked, lines) if labels))
        return fasttext.train_supervised(str(path), loss="ova", lr=0.5, epoch=25, thread=threads, verbose=0)


def fasttext_decisions(found: Any, inputs: Inputs) -> Any:
    """What fastText answered as a 0/1 matrix."""
    return decisions([[name.removeprefix("__label__") for name in names] for names in found], inputs)


def fasttext(inputs: Inputs, threads: int) -> Job:
    """Lower-case words given to fastText."""

    def run() -> Any:
        model = train_fasttext(inputs, threads)
        return model.predict(one_line_each(inputs.texts("test")), k=-1, threshold=0.5)[0]

    return Job(run, lambda found: {"decisions": fasttext_decisions(found, inputs)})


PATH = HotPath(
    "end_to_end",
    "raw texts to trained SVM to predictions",
    (
        Candidate(OURS, "manylabel", ("manylabel.classifier", "manylabel.models.linear_svm"), manylabel),
        Candidate("scikit-learn pipeline", "scikit-learn", SKLEARN_MODULES, scikit_learn, quick=(1,)),
        Candidate("tf-idf + PECOS", "PECOS", ("pecos.xmc.base", "sklearn.feature_extraction.text"), pecos, quick=()),
        Candidate(
            "tf-idf + napkinXC",
            "napkinXC",
            ("napkinxc.models", "sklearn.feature_extraction.text"),
            napkinxc,
            quick=(),
        ),
        Candidate(
            "tf-idf + omikuji",
            "omikuji",
            ("omikuji", "sklearn.feature_extraction.text"),
            omikuji,
            quick=(),
            same_method=False,
        ),
        Candidate("fastText", "fastText", ("fasttext",), fasttext, quick=(), same_method=False),
    ),
    agree,
    (Goal("scikit-learn pipeline", 5, our_threads=2, no_more_memory=True),),
    extra=micro_f1,
)
