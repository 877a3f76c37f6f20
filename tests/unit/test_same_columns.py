"""Documents to measure on have the columns of the training documents."""

from pathlib import Path

import numpy as np
import pytest

from manylabel.cli.run import run
from manylabel.data import Corpus
from manylabel.data.corpus import check_columns_of, numbered_terms, with_width
from manylabel.estimator import Csr
from manylabel.exceptions import DataError
from manylabel.tasks.corpora import Source, load_source


def counts(width: int, terms: list[str] | None = None) -> Corpus:
    values = Csr(np.arange(1, width + 1, dtype=float)[None])
    return Corpus(ids=["1"], counts=values, terms=numbered_terms(width) if terms is None else terms)


def test_missing_columns_are_0_and_further_ones_are_left_out() -> None:
    for width, values in {2: [1, 2, 0], 5: [1, 2, 3]}.items():
        found = with_width(counts(width), 3)
        assert found.counts is not None
        assert found.counts.toarray().tolist() == [values]
        assert found.terms == ["t0", "t1", "t2"]


def test_a_libsvm_file_is_as_wide_as_the_last_feature_that_occurs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`evaluate --test`, `evaluate MODEL` and `predict` read a narrower and a wider file in the same way."""
    train, model = str(tmp_path / "train.svm"), str(tmp_path / "m.manylabel")
    Path(train).write_text("0 1:2\n1 2:1\n0,1 1:1 2:1 3:1\n" * 6)
    assert run(["train", train, "--method", "nb-binary", "--model", model]) == 0
    for name, text in (("narrow", "0 1:3\n1 2:3\n"), ("wide", "0 1:3 9:1\n1 2:3\n")):
        test = tmp_path / f"{name}.svm"
        test.write_text(text)
        for command in (
            ["evaluate", train, "--method", "nb-binary", "--test"],
            ["evaluate", "--model", model],
            ["predict", model],
        ):
            capsys.readouterr()
            assert run([*command, str(test)]) == 0
            warned = "6 features are beyond the 3 of the training documents and ignored." in capsys.readouterr().err
            assert warned == (name == "wide")


def test_other_files_state_their_width(tmp_path: Path) -> None:
    """An XMC file has it in its header: another one is a mistake."""
    (tmp_path / "train.xmc").write_text("4 3 2\n0 0:1\n1 1:1\n0 2:1\n1 0:1 1:1\n")
    (tmp_path / "test.xmc").write_text("1 2 2\n0 0:1\n")
    train = load_source(Source(str(tmp_path / "train.xmc"))).corpus
    with pytest.raises(DataError, match="column 3 is 'nothing', in training it was 't2'"):
        load_source(Source(str(tmp_path / "test.xmc")), like=train)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["bus", "late"], "column 1 is 'bus', in training it was 'late'"),
        (["late", "road"], "column 2 is 'road', in training it was 'bus'"),
        (["late", "bus", "road"], "column 3 is 'road', in training it was 'nothing'"),
        (["late"], "column 2 is 'nothing', in training it was 'bus'"),
    ],
)
def test_named_columns_must_be_those_of_the_training(given: list[str], said: str) -> None:
    with pytest.raises(DataError, match=said):
        check_columns_of(counts(len(given), given), counts(2, ["late", "bus"]))


def test_texts_are_not_measured_as_counts() -> None:
    texts = Corpus(ids=["1"], fields={"text": ["late bus"]})
    check_columns_of(texts, texts)
    with pytest.raises(DataError, match="The file holds texts, but the training documents are counts"):
        check_columns_of(texts, counts(2))
    with pytest.raises(DataError, match="The file holds counts, but the training documents are texts"):
        check_columns_of(counts(2), texts)
