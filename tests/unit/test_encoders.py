"""Encoders: vectors beside terms, from objects, files and folders with made-up weights; the cache; model files."""

import json

import numpy as np
import pytest
from scipy import sparse

from manylabel import TextClassifier
from manylabel.cli.run import run
from manylabel.decisions import vector_trial
from manylabel.decisions.auto import AutoModel
from manylabel.decisions.best_rule import BestRule
from manylabel.decisions.scored import Scored
from manylabel.decisions.vector_trial import VectorTrial
from manylabel.estimator import Csr
from manylabel.exceptions import DataError, MissingDataError, ParameterError
from manylabel.features.encoders import load_encoder
from manylabel.features.ready_vectors import ReadyVectors, read_vectors
from manylabel.features.vector_cache import encode_cached
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.out_of_fold import OutOfFold
from manylabel.strategies.weighted_member import WeightedMember
from manylabel.training import Training

WORDS = {"[UNK]": 0, "bus": 1, "tram": 2, "road": 3, "street": 4, "late": 5, "hole": 6}
MEANING = {"bus": 0, "tram": 0, "road": 1, "street": 1, "late": 2, "hole": 3}
TEXTS = ["the bus was late", "a hole in the road", "late bus and road hole", "bus", "road", "the late bus"] * 3
BEST = {"rule": "top-k", "k": 1}
BEST_OPTIONS = ("--method", "svm", "--set", "decision.rule=top-k", "--set", "decision.k=1")
LABELS = [["buses"], ["roads"], ["buses", "roads"], ["buses"], ["roads"], ["buses"]] * 3


def meaning(texts: list[str]) -> np.ndarray:
    """Trams mean what buses mean, streets what roads mean."""
    rows = np.zeros((len(texts), 4))
    for row, text in enumerate(texts):
        for word in text.lower().replace("?", "").split():
            if word in MEANING:
                rows[row, MEANING[word]] += 1.0 - 0.5 * (MEANING[word] > 1)
    return rows - 0.01


def printed(capsys, *arguments, code=0):
    """What a command prints; of one that is refused, the error."""
    assert run([str(argument) for argument in arguments]) == code
    found = capsys.readouterr()
    return found.err if code else found.out


class Meaning:
    def encode(self, texts):
        return meaning(list(texts))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder as model2vec writes it, of seven tokens and four dimensions."""
    tokenizers = pytest.importorskip("tokenizers", reason="static vectors need manylabel[static]")
    from safetensors.numpy import save_file

    made = tmp_path_factory.mktemp("made-up")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(made / "tokenizer.json"))
    table = np.full((len(WORDS), 4), 9.0, dtype=np.float16)
    table[1:] = meaning([word for word in WORDS if word != "[UNK]"])
    save_file({"embeddings": table}, made / "model.safetensors")
    (made / "config.json").write_text(json.dumps({"max_length": 5, "normalize": True}))
    return made


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYLABEL_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def fitted():
    return TextClassifier("svm", encoder=meaning, decision=BEST).fit(TEXTS, LABELS)


@pytest.fixture(scope="module")
def default():
    """Every document has a word of its own; only its first letter, which the encoder reads, tells its label."""

    def encode(texts):
        words = [(text.split() or ["-"])[-1] for text in texts]
        return [[1.0 * word.startswith("b") + 0.1, 1.0 * word.startswith("r") - 0.1] for word in words]

    texts = [f"a {letter}{middle}{last}" for middle in "aeiou" for last in "lmnp" for letter in "br"]
    return TextClassifier(encoder=encode, folds=3).fit(texts, [["buses"], ["roads"]] * 20)


def test_words_never_seen_are_understood_by_their_vectors(fitted):
    plain = TextClassifier("svm", decision=BEST).fit(TEXTS, LABELS)
    assert plain.predict(["tram", "street"]) == [[], []]
    assert fitted.predict(["tram", "street"]) == [["buses"], ["roads"]]


def test_vectors_stand_behind_the_terms_with_length_one_half(fitted):
    X = fitted.transform(["bus tram"])
    assert list(fitted.get_feature_names_out()[-4:]) == [f"vector: {number}" for number in range(4)]
    assert np.linalg.norm(X.toarray()[0, -4:]) == pytest.approx(0.5)
    assert np.linalg.norm(X.toarray()[0, :-4]) == pytest.approx(1.0)


def test_the_default_tries_terms_alone_and_with_vectors(default):
    assert default.features_.vectors_ is not None
    members = [one for one in default.decided_.model_.walk() if isinstance(one, WeightedMember)]
    assert {one.vectors for one in members} == {2}
    assert any(one.reads_vectors for one in members)
    assert default.decided_.choice_["settings"]["vectors"]
    assert default.predict(["a bxx", "a rxx"]) == [["buses"], ["roads"]]


@pytest.mark.parametrize("which", ["fitted", "default"])
def test_one_document_is_scored_as_in_a_batch(which, request):
    model = request.getfixturevalue(which)
    texts = ["late tram", "a hole", "nothing known", "", "bus bus road"]
    score = model.text_scorer()
    for text, row in zip(texts, model.decided_.score_batch(model.transform(texts)), strict=True):
        assert score(text)[0].tolist() == row.tolist()


@pytest.mark.parametrize("which", ["fitted", "default"])
def test_contributions_add_up_to_the_score(which, request):
    model = request.getfixturevalue(which)
    for one in model.explain("the late tram on the road", labels=["buses", "roads"]).labels:
        parts = one.intercept + sum(term.contribution for term in one.terms)
        assert parts == pytest.approx(one.total, abs=1e-9)
        assert sum(term.term.startswith("meaning (") for term in one.terms) <= 1


def test_the_words_behind_the_vector_are_found_by_leaving_them_out(fitted):
    explained = fitted.explain("the late tram", labels=["buses"])["buses"]
    told = {share.name: share.contribution for share in explained.vector_words}
    X, shorter = (fitted.transform([text]).toarray() for text in ("the late tram", "the late"))
    shorter[:, :-4] = X[:, :-4]
    lost = fitted.decided_.scores(X)[0, 0] - fitted.decided_.scores(shorter)[0, 0]
    assert told["tram"] == pytest.approx(lost, abs=1e-9)
    assert "“tram”" in str(explained)


def test_vectors_that_gain_nothing_are_not_computed_later():
    calls = []

    def noise(texts):
        calls.append(len(texts))
        return np.random.default_rng(len(texts)).normal(size=(len(texts), 3))

    unstacked = {"stacked": False}  # a stack of few documents is chosen by itself, with next to no weight on noise
    model = TextClassifier(encoder=noise, folds=3, model=unstacked).fit(TEXTS, LABELS)
    assert model.features_.vectors_ is None
    plain = TextClassifier(folds=3, model=unstacked).fit(TEXTS, LABELS)
    assert (model.predict_scores(TEXTS) == plain.predict_scores(TEXTS)).all()
    calls.clear()
    model.predict(["the bus was late"] * 30)
    assert not calls


def noise(texts):
    return np.random.default_rng(7).normal(size=(len(texts), 3))


def assert_same_model(model, plain, texts):
    assert model.features_.vectors_ is model.features_.encoder is None
    assert model.decided_.choice_ == plain.decided_.choice_
    assert model.decided_.n_features_in_ == plain.decided_.n_features_in_
    assert repr(model.decided_) == repr(plain.decided_)
    assert (model.predict_scores(texts) == plain.predict_scores(texts)).all()
    assert model.predict(texts) == plain.predict(texts)


@pytest.mark.parametrize("much", [0.0, 1e9], ids=["in one fold", "in all folds"])
def test_a_search_that_goes_on_without_vectors_is_that_without_an_encoder(much, monkeypatch):
    texts = [*TEXTS, "", "zzz"]  # two documents that have vectors, but no known term
    labels = [*LABELS, *LABELS[:2]]
    settings = {"folds": 3, "n_jobs": 1, "model": {"stacked": much == 0}}
    monkeypatch.setattr(vector_trial, "MUCH_VECTOR_WORK", much)
    monkeypatch.setattr(VectorTrial, "gain_in_first_fold", lambda *_: 0.0024)
    searched, search = [], AutoModel._search

    def counted(*given):
        searched.append(given)
        return search(*given)

    monkeypatch.setattr(AutoModel, "_search", counted)
    model = TextClassifier(encoder=noise, **settings).fit(texts, labels)
    assert len(searched) == (1 if much == 0 else 2)
    assert_same_model(model, TextClassifier(**settings).fit(texts, labels), texts)


def test_a_model_without_vectors_is_stored_and_trained_once(tmp_path, monkeypatch):
    runs, once = [], Training.run

    def counted(*given, **options):
        runs.append(given)
        return once(*given, **options)

    monkeypatch.setattr(Training, "run", counted)
    model = TextClassifier(encoder=noise, folds=3, model={"stacked": False}).fit(TEXTS, LABELS)
    assert len(runs) == 1
    model.save(tmp_path / "m.manylabel")
    read = TextClassifier.load(tmp_path / "m.manylabel")
    assert (read.predict_scores(TEXTS) == model.predict_scores(TEXTS)).all()


def test_vectors_that_gain_in_one_fold_are_searched_as_on_small_data(monkeypatch):
    whole = TextClassifier(encoder=meaning, folds=3, n_jobs=1).fit(TEXTS, LABELS)
    asked = []

    def gain(*given):
        asked.append(given)
        return 0.0025

    monkeypatch.setattr(vector_trial, "MUCH_VECTOR_WORK", 0.0)
    monkeypatch.setattr(VectorTrial, "gain_in_first_fold", gain)
    model = TextClassifier(encoder=meaning, folds=3, n_jobs=1).fit(TEXTS, LABELS)
    assert len(asked) == 1
    assert model.decided_.choice_ == whole.decided_.choice_
    assert (model.predict_scores(TEXTS) == whole.predict_scores(TEXTS)).all()


def test_the_first_fold_tells_meaning_from_noise():
    """Terms tell nothing: every document has words of its own; one of the encoders knows the label."""
    random = np.random.default_rng(3)
    Y = Csr((random.random((90, 3)) < 0.4).astype(np.int8))
    terms = Csr(sparse.hstack([sparse.eye_array(90), np.ones((90, 1))]))
    found = {}
    for name, vectors in {"meaning": Y.toarray() - 0.4, "noise": random.normal(size=(90, 3))}.items():
        X = Csr(sparse.hstack([terms, 0.5 * vectors], format="csr"))
        documents, rule = OutOfFold(X, {}, None, folds=3, seed=0), BestRule("micro-f1")
        first, second = (WeightedMember(LinearSVM(n_jobs=1), None, 3, reads) for reads in ("terms", "vectors"))
        trial = VectorTrial(rule, Y, documents, 3)
        found[name] = trial.gain_in_first_fold(Scored.out_of_fold(first, rule, Y, documents), second)
    assert found["meaning"] > 0.2
    assert found["noise"] < 0.1


def test_a_model_file_names_the_encoder_and_refuses_another(fitted, tmp_path):
    fitted.save(tmp_path / "m.manylabel")
    texts = ["late tram", "street"]
    loaded = TextClassifier.load(tmp_path / "m.manylabel", encoder=Meaning())
    assert (loaded.predict_scores(texts) == fitted.predict_scores(texts)).all()
    with pytest.raises(MissingDataError, match="cannot compute by itself"):
        TextClassifier.load(tmp_path / "m.manylabel").predict(texts)
    with pytest.raises(ParameterError, match="is another one"):
        TextClassifier.load(tmp_path / "m.manylabel", encoder=lambda texts: 1 - meaning(texts))
    with pytest.raises(ParameterError, match=r"4 dimensions .* have 2"):
        TextClassifier.load(tmp_path / "m.manylabel", encoder=lambda texts: np.ones((len(texts), 2)))


def test_methods_of_counts_and_matrices_are_refused():
    with pytest.raises(ParameterError, match="nb-binary learns beside counts of terms"):
        TextClassifier("nb-binary", encoder=meaning).fit(TEXTS, LABELS)
    with pytest.raises(DataError, match="An encoder reads texts"):
        TextClassifier("svm", encoder=meaning).fit(np.eye(18), LABELS)
    with pytest.raises(DataError, match="shape"):
        TextClassifier("svm", encoder=lambda texts: np.ones(3)).fit(TEXTS, LABELS)


def test_a_name_that_is_no_folder_is_refused():
    with pytest.raises(MissingDataError, match="manylabel downloads no encoders"):
        TextClassifier("svm", encoder="no/such-encoder").fit(TEXTS, LABELS)


# ---- static vectors --------------------------------------------------------------------------------------------------


def test_static_vectors_are_means_of_known_tokens(folder):
    encoder = load_encoder(folder)
    assert encoder.encode(["bus road", "nothing", ""]).tolist() == pytest.approx(
        np.array([meaning(["bus", "road"]).astype(np.float16).mean(axis=0), np.zeros(4), np.zeros(4)]), abs=1e-3
    )
    # Five tokens are read; a text by itself is read as in a batch.
    assert (encoder.encode(["bus bus bus bus bus road"]) == encoder.encode(["bus", "bus"])[:1]).all()


def test_weights_and_shared_rows_of_tokens(folder, tmp_path):
    from safetensors.numpy import save_file

    (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    arrays = {
        "embeddings": np.eye(2, dtype=np.float32),
        "mapping": np.array([0, 0, 0, 1, 1, 0, 1]),
        "weights": np.arange(7, dtype=np.float32),
    }
    save_file(arrays, tmp_path / "model.safetensors")
    assert load_encoder(tmp_path).encode(["tram street"]).tolist() == [[1.0, 2.0]]


def test_a_changed_folder_is_refused_and_a_moved_one_is_found(folder, tmp_path):
    model = TextClassifier("svm", encoder=folder, decision=BEST).fit(TEXTS, LABELS)
    model.save(tmp_path / "m.manylabel")
    assert TextClassifier.load(tmp_path / "m.manylabel").predict(["tram"]) == [["buses"]]
    other = tmp_path / "other"
    other.mkdir()
    for file in folder.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    assert TextClassifier.load(tmp_path / "m.manylabel", encoder=other).predict(["tram"]) == [["buses"]]
    (other / "config.json").write_text('{"max_length": 2}')
    with pytest.raises(ParameterError, match="trained with the encoder"):
        TextClassifier.load(tmp_path / "m.manylabel", encoder=other)


@pytest.mark.parametrize("method", ["svm", "auto"])
def test_a_comparison_reads_the_same_vectors_as_a_classifier(folder, method):
    from manylabel.choosing.fold_work import FoldWork
    from manylabel.choosing.trial import run_trial
    from manylabel.estimator import Csr
    from manylabel.recipe import Recipe

    train, test = np.arange(12), np.arange(12, 18)
    Y = Csr([[int(name in names) for name in ("buses", "roads")] for names in LABELS])
    recipe = Recipe.of(method, {"features": {"encoder": str(folder)}})
    work = FoldWork(TEXTS, Y, ["buses", "roads"], [(train, test)])
    found = run_trial(work, recipe, {"own": recipe.decision}, 0, inner_folds=3)["own"]
    model = TextClassifier.from_recipe(recipe, folds=3).fit(TEXTS[:12], LABELS[:12])
    predicted = [[int(name in names) for name in ("buses", "roads")] for names in model.predict(TEXTS[12:])]
    assert found.Y_pred.toarray().tolist() == predicted


def test_weights_that_can_run_code_are_not_read(folder, tmp_path):
    (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(DataError, match=r"model.safetensors only"):
        load_encoder(tmp_path)


def test_a_sentence_encoder_with_code_is_refused(tmp_path):
    (tmp_path / "modules.json").write_text('[{"type": "my_code.Encoder", "path": ""}]')
    with pytest.raises(DataError, match="not part of sentence-transformers"):
        load_encoder(tmp_path)
    (tmp_path / "modules.json").write_text('[{"type": "sentence_transformers.models.Transformer", "path": ""}]')
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(DataError, match="can run code"):
        load_encoder(tmp_path)


def test_the_command_line_trains_predicts_and_describes(folder, tmp_path, capsys):
    data, model = tmp_path / "letters.csv", tmp_path / "letters.manylabel"
    lines = [f"{text},{';'.join(names)}" for text, names in zip(TEXTS, LABELS, strict=True)]
    data.write_text("\n".join(["text,labels", *lines]))
    printed(capsys, "train", str(data), "--model", str(model), *BEST_OPTIONS, "--encoder", str(folder))
    new = tmp_path / "new.txt"
    new.write_text("tram\nstreet\n")
    found = printed(capsys, "predict", str(model), str(new)).splitlines()
    assert [json.loads(line)["labels"] for line in found] == [["buses"], ["roads"]]
    told = json.loads(printed(capsys, "encoder", "info", str(folder), "--json"))
    assert (told["kind"], told["dimensions"], told["tokens"]) == ("static vectors", 4, 7)


# ---- cache and ready vectors -----------------------------------------------------------------------------------------


def test_known_texts_are_not_encoded_again(tmp_path, monkeypatch):
    from manylabel.features.encoders import GivenEncoder

    calls = []

    def counting(texts):
        calls.extend(texts)
        return meaning(texts)

    encoder = GivenEncoder(counting)
    encoder.sha256 = "a" * 64
    first = encode_cached(encoder, ["bus", "road", "bus"])
    assert calls == ["bus", "road"]
    assert (encode_cached(encoder, ["road", "bus", "late"])[:2] == first[[1, 0]]).all()
    assert calls == ["bus", "road", "late"]
    encoder.sha256 = "b" * 64  # another encoder has other vectors
    encode_cached(encoder, ["bus"])
    assert calls[3:] == ["bus"]
    monkeypatch.setenv("MANYLABEL_VECTOR_CACHE", "0")
    encode_cached(encoder, ["bus"])
    assert calls[4:] == ["bus"]
    monkeypatch.setenv("MANYLABEL_VECTOR_CACHE", "1GB")
    with pytest.raises(ParameterError, match="a whole number of MB, 0 for no cache, not '1GB'"):
        encode_cached(encoder, ["bus"])


def test_the_cache_stays_below_its_limit(tmp_path, monkeypatch):
    from manylabel.features import vector_cache
    from manylabel.features.encoders import GivenEncoder

    encoder = GivenEncoder(lambda texts: np.ones((len(texts), 4096)))
    for name in "abc":
        encoder.sha256 = name * 64
        monkeypatch.setenv("MANYLABEL_VECTOR_CACHE", "1")
        encode_cached(encoder, [f"{name}{number}" for number in range(40)])
    kept = list((tmp_path / "home" / "vectors").glob("*.sqlite"))
    assert 0 < sum(path.stat().st_size for path in kept) <= 1 << 20
    assert vector_cache.SIZE_VARIABLE == "MANYLABEL_VECTOR_CACHE"


def test_ready_vectors_are_one_row_per_document(tmp_path):
    np.save(tmp_path / "v.npy", meaning(TEXTS))
    assert read_vectors(str(tmp_path / "v.npy")).shape == (18, 4)
    with pytest.raises(DataError, match="holds 18 vectors, but there are 2 documents"):
        ReadyVectors(["a", "b"], read_vectors(str(tmp_path / "v.npy")), "v.npy")
    with pytest.raises(ParameterError, match=r"file.npy or file.parquet:column"):
        read_vectors(__file__)
    np.save(tmp_path / "o.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="no NumPy file of numbers"):
        read_vectors(str(tmp_path / "o.npy"))


def test_the_command_line_takes_ready_vectors(tmp_path, capsys):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    data, new, model = tmp_path / "letters.csv", tmp_path / "new.csv", tmp_path / "letters.manylabel"
    lines = [f"{text},{';'.join(names)}" for text, names in zip(TEXTS, LABELS, strict=True)]
    data.write_text("\n".join(["text,labels", *lines]))
    new.write_text("text\ntram\nstreet\n")
    np.save(tmp_path / "v.npy", meaning(TEXTS))
    table = pyarrow.table({"meaning": list(meaning(["tram", "street"]))})
    parquet.write_table(table, tmp_path / "new.parquet")
    printed(capsys, "train", str(data), "--model", str(model), *BEST_OPTIONS, "--vectors", str(tmp_path / "v.npy"))
    found = printed(capsys, "predict", str(model), str(new), "--vectors", f"{tmp_path / 'new.parquet'}:meaning")
    assert [json.loads(line)["labels"] for line in found.splitlines()] == [["buses"], ["roads"]]
    refused = printed(capsys, "predict", str(model), str(new), code=2)
    assert "Give them: --vectors FILE" in refused
