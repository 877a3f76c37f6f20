"""DataFrames of texts: their columns are those of the training, and none of them holds the labels."""

from pathlib import Path
from typing import Any

import pytest

from manylabel import TextClassifier
from manylabel.exceptions import DataError
from manylabel.tasks.corpora import Source
from manylabel.tasks.models import train

pandas = pytest.importorskip("pandas")

TITLES = ["late bus", "a hole", "bus and road", "late again", "works"] * 4
BODIES = ["the bus", "in the road", "bus, road", "the late bus", "the road"] * 4
LABELS = [["buses"], ["roads"], ["buses", "roads"], ["buses"], []] * 4
TABLE = pandas.DataFrame({"title": TITLES, "body": BODIES})


@pytest.fixture(scope="module")
def model() -> TextClassifier:
    return TextClassifier("nb-binary").fit(TABLE, LABELS)


def test_columns_are_those_of_the_training(model: TextClassifier, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    again = TextClassifier.load(tmp_path / "model")
    others = pandas.DataFrame({"id": ["a1"], "date": ["May"]})
    for one in (model, again):
        for act in (one.predict, one.predict_scores, one.transform, one.explain):
            with pytest.raises(DataError, match=r"It lacks 'title', 'body'\. .* documents\[\['title', 'body'\]\]"):
                act(others)
        with pytest.raises(DataError, match="It lacks 'body'"):
            one.predict(TABLE[["title"]])
        with pytest.raises(DataError, match="It also has 'id'"):
            one.predict(TABLE.assign(id="a1"))
        with pytest.raises(DataError, match="It also has 'number'"):
            one.predict(TABLE.assign(number=1))
        with pytest.raises(DataError, match="It lacks 'title', 'body'"):
            one.update(others, [["buses"]])
    assert model.predict(TABLE[["body", "title"]]) == model.predict(TABLE)


def test_a_model_of_a_file_takes_frames_with_the_columns_of_the_file(tmp_path: Path) -> None:
    """Fields are counted apart here: a column that is not named as its field would be left out of the scores."""
    table = TABLE.rename(columns={"title": "Subject", "body": "Letter"})
    table.assign(labels=["; ".join(labels) for labels in LABELS]).to_csv(tmp_path / "letters.csv", index=False)
    columns = {"text_column": ["Subject", "Letter"], "label_column": "labels"}
    fields = {"features": {"fields": ["Subject", "text"]}}
    source = Source(str(tmp_path / "letters.csv"), options=columns)
    train(source, tmp_path / "model", method="nb-binary", overrides=fields)
    model = TextClassifier.load(tmp_path / "model")
    assert model.reading is not None
    assert (model.reading.texts, model.reading.fields) == (("Subject", "Letter"), ("Subject", "text"))
    renamed = table.rename(columns={"Letter": "text"})
    scores = model.predict_scores([{"Subject": title, "text": body} for title, body in zip(TITLES, BODIES)])
    for frame in (table, table[["Letter", "Subject"]], renamed):
        assert model.predict_scores(frame).tolist() == scores.tolist()
    found = r"It lacks 'Subject'\. Found: 'Title', 'Letter'\. .* documents\[\['Subject', 'Letter'\]\]"
    with pytest.raises(DataError, match=found):
        model.predict(table.rename(columns={"Subject": "Title"}))
    with pytest.raises(DataError, match=r"It also has 'id'\. Found: 'Subject', 'Letter', 'id'\."):
        model.predict(table.assign(id="a1"))
    with pytest.raises(DataError, match=r"It lacks 'Letter'\. Found: 'Subject'\."):
        model.predict(table[["Subject"]])


def test_documents_of_other_forms_have_no_columns_to_compare(model: TextClassifier) -> None:
    assert model.predict([{"title": "late bus"}, "late bus"]) == [["buses"], ["buses"]]
    of_texts = TextClassifier("nb-binary").fit(TITLES, LABELS)
    assert of_texts.fields_ is None
    assert len(of_texts.predict(TABLE)) == len(TITLES)


def test_a_row_of_a_frame_is_explained_as_a_mapping(model: TextClassifier) -> None:
    with pytest.raises(DataError, match=r"2 documents were given.*One row of a DataFrame .* dict\(row\)"):
        model.explain(TABLE.iloc[0])
    assert model.explain(dict(TABLE.iloc[0])).fields == (("title", "late bus"), ("body", "the bus"))


@pytest.mark.parametrize("joined", ["; ".join, "|".join, ",".join, " ".join, "\n".join, str])
def test_a_column_of_joined_labels_is_refused(joined: Any) -> None:
    table = TABLE.assign(labels=[joined(labels) for labels in LABELS])
    with pytest.raises(DataError, match=r"'labels' of the documents holds their labels.*drop\(columns=\['labels'\]\)"):
        TextClassifier("nb-binary").fit(table, LABELS)


def test_a_column_that_only_resembles_the_labels_is_read() -> None:
    tags = [";".join(labels) for labels in LABELS]
    tags[:2] = ["roads", "buses"]
    TextClassifier("nb-binary").fit(TABLE.assign(tags=tags), LABELS)
    names = [["buses"], ["roads"]] * 10
    TextClassifier("nb-binary").fit(pandas.DataFrame({"text": [one for (one,) in names]}), names)


def test_one_row_is_not_read_as_a_document_per_field(model: TextClassifier) -> None:
    with pytest.raises(DataError, match=r"One row of a DataFrame.*frame\.loc\[\[row\], \['title', 'body'\]\]"):
        model.predict(TABLE.iloc[0])
    assert model.predict(TABLE.loc[[0], ["title", "body"]]) == [["buses"]]
    assert model.predict(TABLE["body"].head(1)) == [["buses"]]
