"""Updating a fitted classifier: counts are added, known labels start warm, new ones are learned alone."""

import numpy as np
import pytest

from manylabel import TextClassifier
from manylabel.data import load
from manylabel.data.labels import label_matrix
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.threshold import GlobalThreshold
from manylabel.decisions.updated import Documents, with_new_labels
from manylabel.estimator import Csr, unfitted_copy
from manylabel.exceptions import DataError, ParameterError, UnsupportedError
from manylabel.models.linear_svm import LinearSVM

LETTERS = load("townhall").corpus
OLD, NEW = LETTERS.subset(range(160)), LETTERS.subset(range(160, 240))
TESTED = LETTERS.subset(range(300, 340)).texts
HASHED = {"n_hashes": 2**12}
NAMES = sorted({name for names in LETTERS.label_sets for name in names})
LABEL = "streets/parking"


def without(sets, label=LABEL):
    """Label sets without one label."""
    return [[name for name in names if name != label] for names in sets]


@pytest.mark.parametrize("method", ["nb-binary", "nb-bernoulli", "nb-unilabel", "nb-complement", "rocchio", "nb-app"])
def test_counts_of_new_documents_give_the_model_of_all_documents(method):
    known = [name for name in NAMES if name != LABEL]
    weighting = {"weighting": {"idf": "none"}} if method in ("nb-complement", "rocchio") else {}
    settings = {"features": HASHED, "folds": 2, **weighting}
    model = TextClassifier(method, **settings).fit(OLD.texts, without(OLD.label_sets), label_names=known)
    model.update(NEW.texts, NEW.label_sets)
    whole = TextClassifier(method, **settings).fit(
        [*OLD.texts, *NEW.texts], [*without(OLD.label_sets), *NEW.label_sets], label_names=[*known, LABEL]
    )
    assert model.labels_ == whole.labels_
    scores, expected = (one.predict_scores(TESTED, raw=True) for one in (model, whole))
    # Whole counts add up exactly; sums of weights depend on their order in the last bit.
    assert np.allclose(scores, expected, rtol=1e-12, atol=0) if weighting else np.array_equal(scores, expected)
    assert model.n_documents_ == whole.n_documents_
    assert model.label_counts_.tolist() == whole.label_counts_.tolist()
    record = model.updates_[-1]
    assert (record["way"], record["added"], record["documents"]) == ("counts added", [LABEL], 80)
    assert record["before"]["documents"] == 80


@pytest.mark.parametrize("change", ["retire", "add"])
def test_one_name_in_place_of_a_list_is_refused(change):
    model = TextClassifier("nb-binary").fit(["late bus", "bad road"] * 4, [["buses"], ["roads"]] * 4)
    with pytest.raises(ParameterError, match=rf"{change} must be a list of names, not 'roads'"):
        model.update(**{change: "roads"})


def test_a_model_with_label_descriptions_is_refused_with_its_own_reason():
    """Svm alone learns each label by itself, and can be updated."""
    texts, labels = ["late bus", "bad road", "late road"] * 4, [["buses"], ["roads"], []] * 4
    model = TextClassifier("svm", folds=2).fit(texts, labels, descriptions={"roads": "holes in the road"})
    with pytest.raises(UnsupportedError, match=r"^svm with label descriptions learns all labels together"):
        model.update(["a tram"], [["trams"]])


def test_counts_stay_exact_after_labels_were_retired():
    settings = {"features": HASHED, "decision": {"rule": "threshold", "value": 0.5}}
    model = TextClassifier("nb-binary", **settings).fit(OLD.texts, OLD.label_sets, label_names=NAMES)
    model.update(retire=[LABEL]).update(NEW.texts, without(NEW.label_sets))
    whole = TextClassifier("nb-binary", **settings).fit(
        [*OLD.texts, *NEW.texts], [*OLD.label_sets, *without(NEW.label_sets)], label_names=NAMES
    )
    kept = [column for column, name in enumerate(NAMES) if name != LABEL]
    assert np.array_equal(model.predict_scores(TESTED, raw=True), whole.predict_scores(TESTED, raw=True)[:, kept])


def test_merged_labels_add_their_counts():
    sets = [[names[0]] for names in OLD.label_sets if names]
    texts = [text for text, names in zip(OLD.texts, OLD.label_sets, strict=True) if names]
    first, second = sorted({names[0] for names in sets})[:2]
    model = TextClassifier("nb-binary", features=HASHED).fit(texts, [list(names) for names in sets])
    model.update(merge={first: "both", second: "both"})
    merged = [["both" if name in (first, second) else name for name in names] for names in sets]
    whole = TextClassifier("nb-binary", features=HASHED).fit(texts, merged, label_names=model.labels_)
    assert np.array_equal(model.predict_scores(TESTED, raw=True), whole.predict_scores(TESTED, raw=True))
    assert model.updates_[-1]["merged"] == {first: "both", second: "both"}


@pytest.fixture(scope="module")
def svm():
    return TextClassifier("svm", folds=2, n_jobs=1).fit(OLD.texts, without(OLD.label_sets))


def copied(model):
    """A classifier with the same learned state, which an update does not change."""
    return TextClassifier(**model.get_params(deep=False)).restore(model.learned_state())


def test_new_labels_are_learned_alone(svm):
    before = svm.predict_scores(TESTED)
    model = copied(svm).update(NEW.texts, NEW.label_sets)
    assert model.labels_ == [*svm.labels_, LABEL]
    assert np.array_equal(model.predict_scores(TESTED)[:, :-1], before)
    assert model.updates_[-1]["way"] == "new labels learned alone"
    assert "only ones without the new labels" in model.updates_[-1]["notes"][1]
    beside = copied(svm).update(NEW.texts, NEW.label_sets, former=(OLD.texts, OLD.label_sets), only_new_labels=True)
    assert np.array_equal(beside.predict_scores(TESTED)[:, :-1], before)
    alone = TextClassifier("svm", folds=2, n_jobs=1)
    alone.fit([*OLD.texts, *NEW.texts], [[LABEL] * (LABEL in names) for names in [*OLD.label_sets, *NEW.label_sets]])
    assert beside.label_counts_[-1] == alone.label_counts_[0]
    assert type(beside.decided_.model_).__name__ == "LinearSVM"  # one table of weights, no model beside the other


def test_a_new_label_of_two_documents_is_not_predicted_everywhere():
    """Out of fold, two documents of different content score no higher than the others: the curve is flat."""
    model = TextClassifier("svm", folds=2, n_jobs=1, decision={"rule": "calibrated"}).fit(OLD.texts, OLD.label_sets)
    known = model.decided_.rule_.thresholds_
    sets = [[*names, "new"] if number in (0, 1) else names for number, names in enumerate(NEW.label_sets)]
    model.update(NEW.texts, sets, former=(OLD.texts, OLD.label_sets), only_new_labels=True)
    learned = model.decided_.rule_.thresholds_
    assert np.array_equal(learned[:-1], known)
    assert np.isclose(learned[-1], np.median(known), atol=0.01)
    assert not any("new" in names for names in model.predict(TESTED))
    assert ["new" in names for names in model.predict(NEW.texts)] == ["new" in names for names in sets]


def test_all_labels_start_from_the_former_solution(svm):
    model = copied(svm).update(NEW.texts, NEW.label_sets, former=(OLD.texts, OLD.label_sets))
    assert model.updates_[-1]["way"] == "all labels learned again"
    X, Y = model.transform([*OLD.texts, *NEW.texts]), label_matrix([*OLD.label_sets, *NEW.label_sets], model.labels_)
    cold = unfitted_copy(model.decided_.model_).fit(X, Y)
    tested = model.transform(TESTED)
    assert np.allclose(model.decided_.model_.scores(tested), cold.scores(tested), atol=0.02)
    assert model.expected_["documents"] == 240
    assert model.updates_[-1]["after"]["documents"] == 80


def test_the_default_method_is_updated():
    model = TextClassifier(folds=2, n_jobs=1).fit(OLD.texts, without(OLD.label_sets))
    chosen = model.decided_.choice_
    model.update(NEW.texts, NEW.label_sets, former=(OLD.texts, OLD.label_sets))
    assert model.labels_[-1] == LABEL
    assert model.decided_.choice_["rule"] == chosen["rule"]
    assert type(model.decided_).__name__ == "AutoModel"


def test_what_cannot_be_updated_is_refused_in_a_sentence(svm):
    with pytest.raises(UnsupportedError, match=r"svm cannot learn known labels from new documents alone\. Give"):
        copied(svm).update(NEW.texts, without(NEW.label_sets))
    known, former = without(NEW.label_sets), (OLD.texts, without(OLD.label_sets))
    with pytest.raises(DataError, match=r"have no new label, .* Leave out only_new_labels"):
        copied(svm).update(NEW.texts, known, former=former, only_new_labels=True)
    with pytest.raises(DataError, match="merged and split labels from documents, but none were given"):
        copied(svm).update(merge={svm.labels_[0]: svm.labels_[1]})
    with pytest.raises(ParameterError, match="Nothing to update"):
        copied(svm).update()
    chained = TextClassifier("mnb-vw-cc").fit(OLD.texts[:40], OLD.label_sets[:40])
    with pytest.raises(UnsupportedError, match=r"mnb-vw-cc learns all labels together, so that it can only rename"):
        chained.update(NEW.texts, NEW.label_sets)
    counted = TextClassifier("nb-binary").fit(["late bus", "bad road"], [["buses"], ["roads"]])
    with pytest.raises(DataError, match="The label 'roads' is split, but no document has its part 'paths'"):
        counted.update(["a bad lane"], [["lanes"]], split={"roads": ["lanes", "paths"]})


def test_a_label_is_split_and_others_are_merged(svm):
    parts = {"streets/roads": ["roads/north", "roads/south"]}
    relabelled = [
        [f"roads/{'north' if number % 2 else 'south'}" if name == "streets/roads" else name for name in names]
        for number, names in enumerate([*OLD.label_sets, *NEW.label_sets])
    ]
    merge = {"leisure/parks": "leisure/outdoors", "leisure/playgrounds": "leisure/outdoors"}
    model = copied(svm).update(
        NEW.texts, relabelled[160:], former=(OLD.texts, relabelled[:160]), split=parts, merge=merge
    )
    assert {"roads/north", "roads/south", "leisure/outdoors"} <= set(model.labels_)
    assert not {"streets/roads", "leisure/parks", "leisure/playgrounds"} & set(model.labels_)
    outdoors = sum(bool({*merge} & {*names}) for names in relabelled)
    assert model.label_counts_[model.labels_.index("leisure/outdoors")] == outdoors


def test_thresholds_that_were_set_by_hand_stay_beside_new_labels():
    model = TextClassifier("nb-binary", features=HASHED).fit(OLD.texts, without(OLD.label_sets))
    model.thresholds[model.labels_[0]] = 0.9
    model.update(NEW.texts[:1], [[LABEL]])
    assert model.thresholds[model.labels_[0]] == 0.9
    assert model.thresholds[LABEL] == pytest.approx(0.5)


def test_thresholds_of_new_labels_need_two_documents():
    model = TextClassifier("nb-binary", features=HASHED, decision={"rule": "global"}, folds=2)
    model.fit(OLD.texts, without(OLD.label_sets))
    with pytest.raises(
        DataError, match=r"^The thresholds of new labels are learned on at least 2 documents\. Give more\.$"
    ):
        model.update(NEW.texts[:1], [[LABEL]])
    assert model.update(NEW.texts[:2], [[LABEL], []]).labels_[-1] == LABEL


def test_scores_of_unseen_documents_are_those_of_kept_and_new_labels():
    """Columns 1 and 0 of the model are kept, in this order; the new one is learned with the folds of the model."""
    X, Y = Csr(np.array([[2.0, 0, 1], [1, 1, 0], [0, 2, 1], [0, 1, 2]] * 3)), Csr([[1, 0], [1, 1], [0, 1], [0, 1]] * 3)
    decided = DecidedModel(LinearSVM(), GlobalThreshold(), folds=2).fit(X, Y)
    new = Csr(np.array([[0], [1], [0], [1]] * 3))
    wider = Csr(np.hstack([Y[:, [1, 0]].toarray(), new.toarray()]))
    found = with_new_labels(decided, Documents(X, wider), np.array([1, 0]))
    assert sorted(found.rows.tolist()) == list(range(12))
    np.testing.assert_array_equal(found.scores[:, :2], decided.scores(X[found.rows])[:, [1, 0]])
    assert found.scores.shape == (12, 3)
    assert not np.allclose(found.scores[:, 2], found.decided.scores(X[found.rows])[:, 2])  # by models of the other fold
    np.testing.assert_allclose(found.decided.scores(X)[:, 2], LinearSVM().fit(X, new).scores(X)[:, 0], atol=1e-6)
    np.testing.assert_array_equal(found.decided.predict(X)[:, :2].toarray(), decided.predict(X)[:, [1, 0]].toarray())


def test_a_guarantee_is_not_voided_silently():
    decision = {"rule": "guarantee", "metric": "recall", "level": 0.5}
    model = TextClassifier("nb-binary", decision=decision, folds=2).fit(OLD.texts, OLD.label_sets)
    with pytest.raises(UnsupportedError, match="guarantee"):
        model.update(retire=[LABEL])
    assert model.update(rename={LABEL: "parking"}).guarantee is not None


def test_later_data_keep_the_names_that_an_earlier_update_changed():
    settings = {"features": HASHED, "decision": {"rule": "threshold", "value": 0.5}}
    model = TextClassifier("nb-binary", **settings).fit(OLD.texts, OLD.label_sets)
    renamed, retired, merged = "streets/roads", "leisure/events", "leisure/parks"
    model.update(rename={renamed: "roads"}, retire=[retired]).update(merge={merged: "outdoors"})
    labels, before = model.labels_, model.label_counts_[model.labels_.index("roads")]
    model.update(NEW.texts, NEW.label_sets)
    documents = sum(renamed in names for names in NEW.label_sets)
    assert documents
    assert not {renamed, retired, merged} & set(model.labels_)
    assert model.labels_[: len(labels)] == labels
    assert model.label_counts_[model.labels_.index("roads")] == before + documents
    note = " ".join(model.updates_[-1]["notes"])
    assert f"{retired} as no label, {merged} as outdoors, {renamed} as roads" in note
    model.update(NEW.texts, NEW.label_sets, add=[retired])
    assert retired in model.labels_
    assert renamed not in model.labels_
    model.update(rename={retired: "events"}).update(NEW.texts, NEW.label_sets)
    assert retired not in model.labels_
    with pytest.raises(ParameterError, match="earlier update"):
        model.update(NEW.texts, NEW.label_sets, add=["holidays"])


def test_terms_that_an_update_does_not_learn_are_counted():
    texts = ["the bus was late", "a hole in the road"] * 5
    model = TextClassifier("nb-binary", features={"stemmer": None}).fit(texts, [["buses"], ["roads"]] * 5)
    model.update(["the zoo opens", "the late zoo"], [["animals"], ["animals"]])
    (note,) = [one for one in model.updates_[-1]["notes"] if "unknown" in one]
    assert note.startswith("2 of the 4 different terms of the new documents are unknown to the model")
    model.update(["the late bus"], [["buses"]])
    assert not any("unknown" in one for one in model.updates_[-1]["notes"])
