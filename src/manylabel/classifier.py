"""`TextClassifier`, the main class of the library: texts in, label names out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from manylabel import modelfile
from manylabel.catalog import DEFAULT_METHOD
from manylabel.data.documents import column_names, is_frame, text_columns
from manylabel.data.hierarchy import Hierarchy, hierarchy_columns
from manylabel.data.label_forms import MATRIX_FORMS, SINGLE_FORMS, read_labelled, read_labels
from manylabel.data.label_vocabulary import LabelVocabulary
from manylabel.data.reading_options import ReadingOptions
from manylabel.deadline import Deadline
from manylabel.estimator import unfitted_copy
from manylabel.exceptions import ModelFileError, ParameterError, UnknownNameError, nearest_name
from manylabel.features.pipeline import Documents
from manylabel.features.transformers import is_transformer
from manylabel.models.inputs import AdditiveModel, check_weights
from manylabel.notebook import html_table, shortened
from manylabel.parameters import FLAG, AnyOf, Constraint, Number, OneOf
from manylabel.recipe import SECTIONS, Recipe, with_metric
from manylabel.training import Training, for_one_label, with_described_labels
from manylabel.updating import TextUpdater, check_additive
from manylabel.wording import shown


class TextClassifier(TextUpdater):
    """Learn to assign labels to documents: a whole pipeline from texts over terms and scores to label sets.

    Documents are strings, mappings from field to string (such as title and body), or a ready-made matrix of counts or
    of other numbers, such as embeddings.

    Parameters
    ----------
    method : a name in the catalogue, which ``manylabel methods`` prints.
    features : settings of how texts become terms, where they differ from those of the method; or a transformer of
        scikit-learn. If it is fitted, it is used as it is; if not, a copy is fitted to the training documents.
    selection : settings of the selection of terms: ``{"function": "chi2", "k": 1000}`` keeps the thousand best.
    weighting : settings of the weights of terms, such as ``{"tf": "binary"}``.
    model : settings of the model, such as ``{"C": 0.5}``.
    decision : settings of the decision rule, such as ``{"rule": "top-k", "k": 3}``.
    metric : the metric to optimise for (micro-f1, macro-f1, sample-f1, exact-match, hamming-loss, recall@k): the
        decision rule is chosen for it.
    single_label : whether exactly one label is predicted per document, the one with the highest score. None: if every
        training document has exactly one label, unless `decision` names a rule other than that of the method.
    folds : the number of folds for the out-of-fold scores that decision rules learn thresholds on.
    seed : the seed of all random choices; the same seed gives the same model.
    n_jobs : the number of threads; None uses all cores. The result does not depend on it.
    memory : a limit on the tables of scores, such as ``"2GB"``; None is half of what is free, see docs/memory.md.
    encoder : what adds a dense vector to the terms of each text: the name or folder of an encoder on disk, an object
        with ``encode(texts)``, or a function of a list of texts. The default method uses it where it improves the
        metric out of fold. A model file keeps the name and checksum of the encoder, not its weights; see
        docs/guides/encoders.md.

    >>> texts = ["the bus was late again", "a deep hole in the road", "no bus, and holes in the road", "late bus"]
    >>> labels = [["buses"], ["roads"], ["buses", "roads"], ["buses"]]
    >>> model = TextClassifier("nb-binary").fit(texts, labels)
    >>> model.predict(["is the bus late today?"])
    [['buses']]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "single_label": AnyOf(OneOf(None), FLAG),
        "folds": Number(low=2, whole=True),
        "seed": Number(low=0, whole=True),
    }

    def __init__(
        self,
        method: str = DEFAULT_METHOD,
        *,
        features: Any = None,
        selection: Mapping[str, Any] | None = None,
        weighting: Mapping[str, Any] | None = None,
        model: Mapping[str, Any] | None = None,
        decision: Mapping[str, Any] | None = None,
        metric: str | None = None,
        single_label: bool | None = None,
        folds: int = 5,
        seed: int = 0,
        n_jobs: int | None = None,
        memory: str | int | None = None,
        encoder: Any = None,
    ) -> None:
        self.method = method
        self.features = features
        self.selection = selection
        self.weighting = weighting
        self.model = model
        self.decision = decision
        self.metric = metric
        self.single_label = single_label
        self.folds = folds
        self.seed = seed
        self.n_jobs = n_jobs
        self.memory = memory
        self.encoder = encoder

    @classmethod
    def from_recipe(cls, recipe: Recipe, **training: Any) -> Self:
        """The unfitted classifier of a recipe; `training` are further arguments, such as `folds` and `seed`."""
        sections = recipe.as_dict()
        return cls(sections.pop("method"), **sections, **training)

    @property
    def recipe(self) -> Recipe:
        """The resolved settings of the whole pipeline: those it was fitted with, once it is fitted."""
        return Recipe.from_dict(self.recipe_) if self.is_fitted else self._resolved()

    def _resolved(self) -> Recipe:
        return Recipe.of(self.method, with_metric(self._sections(), self.metric))

    def _sections(self) -> dict[str, Mapping[str, Any]]:
        """The settings that change the method's, by section."""
        given = {name: values for name in SECTIONS if (values := getattr(self, name)) is not None}
        if is_transformer(self.features):
            del given["features"]
        if isinstance(self.encoder, (str, Path)):
            given["features"] = {**given.get("features", {}), "encoder": str(self.encoder)}
        return given

    # ---- parameters --------------------------------------------------------------------------------------------------

    @classmethod
    def setting_hint(cls, name: str, arguments: Mapping[str, Any]) -> str:
        """How to write a setting of a section that was given as a parameter, such as C.

        >>> TextClassifier.setting_hint("C", {"method": "svm", "C": 0.5})
        "C is a setting of the model: TextClassifier('svm', model={'C': 0.5})."
        """
        method, value = arguments.get("method", DEFAULT_METHOD), shown(arguments[name])
        start = f"TextClassifier({method!r}, " if "method" in arguments else "TextClassifier("
        if name == "random_state":
            return "Did you mean 'seed'?"
        if name == "threshold":  # not that of [selection], which few set
            return f"Choose a decision rule: {start}decision={{'rule': 'threshold', 'value': {value}}})."
        if name == "guarantee":
            return f"It is a decision rule: {start}decision={{'rule': 'guarantee', 'metric': 'recall', 'level': 0.9}})."
        try:
            sections = Recipe.of(method).defaults()
        except ParameterError:  # an unknown method, whose error `fit` raises
            return ""
        section_of = {setting: section for section in reversed(SECTIONS) for setting in sections[section]}
        setting: str | None = name
        if name not in section_of:
            parameter = nearest_name(name, cls.parameter_names(), 0.75)
            setting = nearest_name(name, section_of, 0.6) if parameter is None else None
        if setting is None:
            return ""
        asked = "" if setting == name else f"Did you mean {setting!r}? "
        section = section_of[setting]
        return f"{asked}{setting} is a setting of the {section}: {start}{section}={{{setting!r}: {value}}})."

    def check_parameters(self) -> None:
        """Raise an error unless the parameters are allowed and the settings make a recipe."""
        super().check_parameters()
        self._resolved()

    def nested_params(self, name: str) -> Mapping[str, Any]:
        """The settings inside a section, as the method resolves them: ``model__C`` is C of the model.

        >>> TextClassifier("svm", model={"C": 0.5}).get_params()["model__C"]
        0.5
        """
        if name not in SECTIONS or (name == "features" and is_transformer(self.features)):
            return super().nested_params(name)
        recipe = self._resolved()
        return {**recipe.defaults()[name], **getattr(recipe, name)}

    def set_nested(self, name: str, values: Mapping[str, Any]) -> None:
        """Change settings inside a section; ``model__inner__C`` is C of the model inside a strategy."""
        if name not in SECTIONS or (name == "features" and is_transformer(self.features)):
            super().set_nested(name, values)
            return
        spelled = {key.replace("inner__", "inner."): value for key, value in values.items()}
        setattr(self, name, {**(getattr(self, name) or {}), **spelled})
        self._resolved()

    # ---- learning ----------------------------------------------------------------------------------------------------

    def fit(
        self,
        documents: Documents,
        y: Any = None,
        *,
        label_names: Sequence[str] | None = None,
        descriptions: Mapping[str, str | Sequence[str]] | None = None,
        terms: Sequence[str] | None = None,
        hierarchy: Hierarchy | Mapping[str, str] | None = None,
        vocabulary: LabelVocabulary | None = None,
        reading: ReadingOptions | None = None,
        sample_weight: npt.ArrayLike | None = None,
        dates: Sequence[Any] | npt.NDArray[Any] | None = None,
        deadline: Deadline | None = None,
    ) -> Self:
        """Learn from documents and their labels.

        Parameters
        ----------
        documents
            Strings, mappings from field to string, or numbers: a list, a Series, a generator, a DataFrame of texts
            (several columns are fields), a matrix or a DataFrame of numbers.
        y
            Lists (tuples, sets) of labels, one per document, an empty one for a document without a label; or one label
            per document; or a 0/1 matrix or one-hot DataFrame with one column per label. Labels are strings, whole
            numbers or booleans. `predict` returns labels in the same form.
        label_names
            The names of the columns of a matrix, or all labels in the order of the columns of scores.
        descriptions
            Texts that describe labels (names, definitions, alternative names): weak evidence that counts for less the
            more documents there are. A described label needs no document; `documents` and `y` may be empty lists.
        terms
            The names of the columns of a matrix, for explanations and keyword rules; those of a DataFrame are known.
        hierarchy
            The parent of each child label. Every model keeps it, and methods for hierarchies learn from it.
        vocabulary
            The addresses of the labels, which the model keeps.
        reading
            How the documents were read from a file (`Corpus.reading`), so that later files are read alike.
        sample_weight
            Weights of the documents that the model learns from, where the method can (`auto`, `svm`, naive Bayes).
            Terms, their weights and the decision rule count every document once.
        dates
            One per document: the rule and the quality to expect are learned in time-ordered folds. Choose this where
            new documents are later ones. `manylabel.data.dates` lists the forms.
        deadline
            Where it passes, learning ends with `OutOfTime` and the classifier is as before.
        """
        self.check_parameters()
        recipe = self._resolved()
        terms = column_names(documents) if terms is None else terms
        fields = text_columns(documents)
        documents, given = read_labelled(documents, y, label_names, at_least=descriptions is None)
        described, names, Y = with_described_labels(descriptions, given)
        if (rules := recipe.read_rules()) is not None and given.form not in MATRIX_FORMS:
            from manylabel.features.keyword_rules import with_rule_labels

            names, Y = with_rule_labels(rules, names, Y)
        recipe = for_one_label(recipe, Y, self.single_label)
        nodes, parents = hierarchy_columns(hierarchy, names)
        weights = None if sample_weight is None else check_weights(sample_weight, Y.shape[0], "TextClassifier")
        features = self.features if is_transformer(self.features) else recipe.vectorizer_settings
        trained = Training(
            recipe,
            features,
            self.folds,
            self.seed,
            self.n_jobs,
            self.memory,
            predicts_unseen=given.form not in SINGLE_FORMS,
            encoder=recipe.features.get("encoder") if self.encoder is None else self.encoder,
        ).run_where_it_gains(
            documents,
            Y,
            names,
            terms=terms,
            parents=parents,
            sample_weight=weights,
            deadline=deadline,
            dates=dates,
            descriptions=None if described is None else [described.get(name, "") for name in names],
        )
        self.recipe_, self.features_, self.decided_ = trained.recipe.as_dict(), trained.pipeline, trained.decided
        self.labels_, self.label_form_, self.label_kind_ = names, given.form, given.kind
        self.nodes_, self.parents_ = nodes, parents
        self.vocabulary_ = None if vocabulary is None else vocabulary.as_dict()
        self.descriptions_ = described and {name: described[name] for name in names if name in described}
        self.fields_, self.reading_ = fields, None if reading is None else reading.as_dict()
        self.expected_ = trained.expected()
        self.n_documents_ = int(Y.shape[0])
        self.label_counts_ = np.asarray(Y.sum(axis=0)).ravel().astype(np.int64)
        self.forget_short_way()
        return self

    def fit_transform(self, documents: Documents, y: Any = None, **options: Any) -> Any:
        """Learn from documents and labels, then return X, the matrix of documents × terms; `options` go to `fit`."""
        return self.fit(documents, y, **options).transform(documents)

    @property
    def partial_fit(self) -> Callable[..., Self]:
        """``partial_fit(documents, y, *, label_names=None, classes=None)``: learn from more documents.

        Where terms and weights are fixed (hashed terms or a matrix, no idf), batches of a corpus give the same model as
        `fit` on all of them. An `UnsupportedError` if the method cannot.

        The method must be a model of counts (`nb` and its relatives, `rocchio`) with a decision rule that learns
        nothing, for example ``decision={"rule": "threshold", "value": 0.5}``. The first batch fixes the labels (name
        all of them in `label_names`), the terms (or hash them: ``features={"n_hashes": 2**18}``), their weights, and
        the discount where rare terms are pruned. Terms that appear later are ignored; labels that appear later are an
        error. `classes` is scikit-learn's name for `label_names`; it may hold numbers.

        >>> model = TextClassifier("nb-binary")
        >>> names = ["buses", "roads"]
        >>> model = model.partial_fit(["a late bus", "a hole in the road"], [["buses"], ["roads"]], label_names=names)
        >>> model.partial_fit(["the road has a hole"], [["roads"]]).predict(["late bus", "hole in the road"])
        [['buses'], ['roads']]
        """
        check_additive(self.recipe)
        return self._partial_fit

    def _partial_fit(
        self,
        documents: Documents,
        y: Any,
        *,
        label_names: Sequence[str] | None = None,
        classes: npt.ArrayLike | None = None,
    ) -> Self:
        if not self.is_fitted:
            names = label_names if classes is None else [str(one) for one in np.asarray(classes).tolist()]
            # The documents of one batch do not tell whether all have one label.
            first = unfitted_copy(self).set_params(single_label=bool(self.single_label))
            return self.restore(first.fit(documents, y, label_names=names).learned_state())
        if is_frame(documents):
            documents = self.checked_frame(documents)
        documents, batch = read_labelled(documents, y)
        if batch.form not in MATRIX_FORMS and (new := sorted(set(batch.names) - set(self.labels_))):
            hint = "Name all labels in the first batch: partial_fit(documents, labels, label_names=[…])."
            raise UnknownNameError("label in a later batch", new[0], self.labels_, hint)
        Y = read_labels(y, self.labels_).Y
        X = self.transform(documents)
        self.decided_ = copy(self.decided_)  # the former one stays as it is, should this be interrupted
        self.decided_.model_ = copy(self.decided_.model_)
        cast(AdditiveModel, self.decided_.model_).partial_fit(X, Y)
        self.n_documents_ += int(Y.shape[0])
        self.label_counts_ = self.label_counts_ + np.asarray(Y.sum(axis=0)).ravel().astype(np.int64)
        self.forget_short_way()
        return self

    # ---- saving and loading ------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], facts: Mapping[str, Any] | None = None) -> None:
        """Write the model to one file, atomically; `facts` are stored with it and printed by ``inspect``."""
        self.check_fitted()
        if self.features_.transformer_ is not None:
            raise ParameterError(
                f"This classifier reads documents with {type(self.features).__name__}, which a model file cannot hold: "
                "model files contain no code. Store it as scikit-learn's user guide describes (model persistence), or "
                "use manylabel's own vectoriser (features={...})."
            )
        modelfile.save(self, Path(path), {"recipe": self.recipe.as_dict(), **(facts or {})})

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, verify: bool = True, private: bool = False, encoder: Any = None
    ) -> Self:
        """Read a model that `save` wrote; `verify` compares it with its checksums.

        With `private`, processes that are forked later share its memory; see `manylabel.modelfile.open_model`.
        `encoder` is the encoder that the model was trained with; by default it is read from the folder it had then.
        """
        found = modelfile.load(Path(path), verify=verify, private=private)
        if not isinstance(found, cls):
            raise ModelFileError(f"{path}: this file holds a {type(found).__name__}, not a TextClassifier.")
        if not found.is_fitted:
            raise ModelFileError(f"{path}: this file holds a TextClassifier that has learned nothing. Train it again.")
        if encoder is not None:
            found.attach_encoder(encoder)
        return found

    def attach_encoder(self, encoder: Any) -> None:
        """Read documents with this encoder, which must be the one that the model was trained with."""
        self.check_fitted()
        if self.features_.vectors_ is None:
            raise ParameterError("This model reads no vectors: it was trained without them. Leave the encoder out.")
        self.features_.vectors_.attach(encoder)
        self.forget_short_way()

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        recipe = self.recipe
        reads_counts = bool(recipe.weighting) or recipe.build().needs_counts
        # Counts have no meaning for points in the plane, on which scikit-learn's checks measure accuracy.
        tags.classifier_tags = ClassifierTags(multi_class=True, multi_label=True, poor_score=reads_counts)
        tags.target_tags.required = True
        tags.input_tags.string = True
        tags.input_tags.positive_only = recipe.needs_counts
        return tags

    def _repr_html_(self) -> str:
        """A short table for notebooks: method, settings that differ from its own, what was learned."""
        changed = self.changed_params()
        plain = {name: value for name, value in changed.items() if name not in ("method", *self._sections())}
        settings = [f"{name}={value!r}" for name, value in plain.items()]
        for name, values in self._sections().items():
            settings += [f"{name}.{key}={value!r}" for key, value in values.items()]
        rows = {"method": self.method, "settings": shortened(", ".join(settings)) or "the method's own"}
        state = self.learned_rows() if self.is_fitted else {"state": "not fitted"}
        return html_table(type(self).__name__, rows | state)
