"""Training on a corpus that does not fit in memory: a `TextClassifier` as from `fit`, from shards on disk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from manylabel import __version__
from manylabel.catalog import find_method
from manylabel.classifier import TextClassifier
from manylabel.data.documents import strings
from manylabel.decisions.auto import AutoModel
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.single_label import one_label_decision
from manylabel.estimator import Csr
from manylabel.evaluation.expected import expected_quality
from manylabel.exceptions import DataError, UnsupportedError
from manylabel.features.pipeline import PRUNING, FeaturePipeline
from manylabel.features.reading import GUESS, Reading
from manylabel.features.scripts import report_kept_markup
from manylabel.features.select import TermSelector
from manylabel.features.vectorize import Vectorizer
from manylabel.features.vocabulary import TermTable
from manylabel.features.weighting import Weighting
from manylabel.memory import table_bytes
from manylabel.models.out_of_fold import MOST_SCORES
from manylabel.progress import remark, stage
from manylabel.recipe import Recipe
from manylabel.scale.engine import Engine, Task, begin_work
from manylabel.scale.fitting import ShardedOutOfFold, check_model
from manylabel.scale.matrix import Matrix, Part
from manylabel.scale.shards import ShardedCorpus
from manylabel.scale.tables import Tables, places
from manylabel.wording import counted, setting_name

SAMPLED_SHARDS = 64
SAMPLED_BYTES = 1 << 18
"""The language and script of the texts are chosen by so many bytes of so many shards: engines wait for it."""
FOLDS = 5


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Documents that a rule with a guarantee learns from, and the model does not."""

    terms: list[str]
    counts: Csr
    Y: Csr

    def read(self, vectorizer: Vectorizer, weighting: Weighting | None) -> tuple[Csr, Csr]:
        """X as the model reads it, and Y."""
        columns = places({term: column for column, term in enumerate(self.terms)}, vectorizer.terms_)
        counts = Csr(self.counts[:, columns])
        return (counts.astype(np.float64) if weighting is None else weighting.transform(counts)), self.Y


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """The documents of a corpus on disk, counted and numbered."""

    vectorizer: Vectorizer
    documents: ShardedOutOfFold
    """X on disk, and how models are fitted to some of its rows."""
    Y: Csr
    labels: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class ShardedTraining:
    """The settings of one training, and where it keeps its work: the same settings go on with it."""

    corpus: ShardedCorpus
    recipe: Recipe
    folder: Path
    engine: Engine
    single_label: bool | None = None
    seed: int = 0
    n_jobs: int | None = None
    memory: str | int | None = None

    def run(self) -> TextClassifier:
        """The fitted classifier."""
        reading, whole, parts = self._read()
        recipe = self._for_one_label(whole)
        learned, held_out = self._hold_out(recipe, whole, parts)
        vectorizer = self._vocabulary(reading, learned)
        decided = recipe.build(folds=FOLDS, seed=self.seed, n_jobs=self.n_jobs)
        if isinstance(decided, AutoModel):
            decided.others = ()  # they are averaged on small data only
        all_terms = Matrix(tuple(parts), len(learned.terms), len(whole.labels))
        of_counts = self._counts_of_counts(decided, recipe, all_terms, learned, vectorizer)
        documents = self._documents(recipe, all_terms, vectorizer, whole.labels)
        weighting = self._select(documents, vectorizer)
        if of_counts is not None and len(vectorizer.terms_) < len(learned.terms):
            documents = replace(documents, facts={"counts_of_counts": of_counts})
        features = FeaturePipeline(recipe.vectorizer_settings, recipe.selection, recipe.weighting, self.n_jobs)
        state = {"vectorizer_": vectorizer, "weighting_": weighting, "selector_": None, "keywords_": None}
        features.restore({**state, "n_columns_": None, "kept_": None})
        others = None if held_out is None else held_out.read(vectorizer, weighting)
        unseen: list[tuple[Csr, Csr]] = []
        decided.fit_documents(documents, documents.labels, lambda *both: unseen.append(both), others)
        return self._classifier(recipe, features, decided, whole, unseen)

    def open(self) -> Opened:
        """All documents as the method of the recipe reads them, without a model."""
        reading, whole, parts = self._read()
        vectorizer = self._vocabulary(reading, whole)
        all_terms = Matrix(tuple(parts), len(whole.terms), len(whole.labels))
        documents = self._documents(self.recipe, all_terms, vectorizer, whole.labels)
        self._select(documents, vectorizer)
        return Opened(vectorizer, documents.with_selection(None), documents.labels, whole.labels)

    def _read(self) -> tuple[Mapping[str, Any], Tables, list[Part]]:
        """What was chosen by the texts, the merged tables, and the parts of the matrix."""
        check_recipe(self.recipe)
        if begin_work(self.folder, "training.json", self._description()):
            remark(f"The interrupted training in {self.folder} goes on.")
        settings = self.recipe.vectorizer_settings
        reading = self._chosen(settings)
        return reading, *self._count({**settings, **reading})

    def _documents(
        self, recipe: Recipe, all_terms: Matrix, vectorizer: Vectorizer, labels: list[str]
    ) -> ShardedOutOfFold:
        """The documents with the terms of a vocabulary, as the model and its rule learn from them."""
        matrix = replace(all_terms, n_terms=len(vectorizer.terms_))
        with stage("Numbering terms"):
            matrix.number(vectorizer.terms_, labels)
            Y = matrix.Y()
        documents = ShardedOutOfFold(
            matrix,  # type: ignore[arg-type]
            {},
            None,
            FOLDS,
            self.seed,
            most_scores=table_bytes(self.memory, 8 * MOST_SCORES) // 8,
            engine=self.engine,
            folder=self.folder / "fits",
            weighting=Weighting(**recipe.weighting) if recipe.weighting else None,
            frequency=vectorizer.document_frequency_,
            selector=TermSelector(**{**recipe.selection, "n_jobs": 1}) if recipe.selection else None,
            labels=Y,
        )
        documents.folder.mkdir(exist_ok=True)
        return documents

    def _select(self, documents: ShardedOutOfFold, vectorizer: Vectorizer) -> Weighting | None:
        """Reduce the vocabulary to the terms that all documents select; return the weighting of these."""
        selected = documents.with_selection(None)
        if documents.selector is not None:
            vectorizer.keep(selected.matrix.kept)
        return selected.learn_weighting(documents.weighting, None)

    def _counts_of_counts(
        self, decided: DecidedModel, recipe: Recipe, all_terms: Matrix, learned: Tables, vectorizer: Vectorizer
    ) -> dict[int, int] | None:
        """How many terms occur r times, where a discount is estimated from rare terms and these may be removed.

        A model multiplies the counts of a document by a function of how many labels it has, so documents with equally
        many are added up and counted as one.
        """
        is_pruned = bool(recipe.selection) or len(vectorizer.terms_) < len(learned.terms)
        if recipe.weighting or not is_pruned or "counts_of_counts" not in decided.wants:
            return None
        all_terms.number(learned.terms, learned.labels)
        sizes = np.diff(all_terms.Y().indptr)
        ones = Csr(np.tri(int(sizes.max(initial=0)) + 1, k=-1, dtype=np.int8))  # row k has k labels
        total = Csr((ones.shape[0], len(learned.terms)), dtype=np.int64)
        for numbers, X in all_terms.blocks():
            cells = np.ones(len(numbers), dtype=np.int64), (sizes[numbers], np.arange(len(numbers)))
            total = Csr(total + Csr(cells, shape=(ones.shape[0], len(numbers))) @ X)
        return decided.counts_of_counts(total, ones)

    def _hold_out(self, recipe: Recipe, whole: Tables, parts: list[Part]) -> tuple[Tables, HeldOut | None]:
        """The tables to learn from, and the documents that the rule of a guarantee holds out.

        Those are left out of the parts, and terms that no other document has out of the tables.
        """
        for part in parts:
            part.keep(None)
        matrix = Matrix(tuple(parts), len(whole.terms), len(whole.labels))
        rule = recipe.build_rule()
        if rule is None or not rule.held_out_share:
            return whole, None
        matrix.number(whole.terms, whole.labels)
        Y = matrix.Y()
        divided = rule.divide(Y, self.seed)
        assert divided is not None
        kept, others = (np.sort(rows) for rows in divided)
        held_out = HeldOut(whole.terms, matrix.rows(others), Csr(Y[others]))
        matrix.keep(kept)
        return whole.without(held_out.counts), held_out

    def unlabelled(self) -> int:
        """How many documents have no label; after `run`."""
        return sum(part.tables.unlabelled for part in self.parts())

    def parts(self) -> list[Part]:
        """The parts of the matrix; after `run`."""
        return [Part(folder) for folder in sorted(self._counts.glob("shard-*/part-*"))]

    def skipped(self) -> list[str]:
        """The lines that were skipped; after `run`."""
        notes = sorted(self._counts.glob("shard-*/skipped.json"))
        return [line for note in notes for line in json.loads(note.read_text(encoding="utf-8"))]

    @property
    def _counts(self) -> Path:
        return self.folder / "counts"

    def _for_one_label(self, whole: Tables) -> Recipe:
        """The recipe, changed to predict exactly one label where that is wanted, or every document has one."""
        one_each = whole.single == whole.documents if self.single_label is None else self.single_label
        if not one_each:
            return self.recipe
        decision = one_label_decision(self.recipe.decision, find_method(self.recipe.method).decision)
        return self.recipe if decision is None else replace(self.recipe, decision=decision)

    # ---- work on disk -----------------------------------------------------------------------------------------------

    def _description(self) -> dict[str, Any]:
        """Everything that the work in the folder depends on.

        How much memory there is, on which depends how many scores rules learn from, is not among it: what is computed
        from these scores is not kept.
        """
        return {
            "version": __version__,
            "files": self.corpus.files(),
            "corpus": self.corpus.as_dict(),
            "recipe": self.recipe.as_dict(),
            "seed": self.seed,
            "single_label": self.single_label,
        }

    def _chosen(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of the vectoriser that are left to the texts, chosen by the first documents of some shards."""
        open_settings = {name: settings.get(name, default) for name, default in _OPEN.items()}
        if GUESS not in open_settings.values():
            return {}
        step = -(-len(self.corpus.shards) // SAMPLED_SHARDS)
        fields = settings.get("fields")
        texts: list[str] = []
        for shard in self.corpus.shards[::step]:
            batch = next(self.corpus.batches(shard, SAMPLED_BYTES), None)
            texts += [] if batch is None else strings(batch.texts, None if fields is None else tuple(fields))
        reading = Reading.of(texts, **open_settings, n_fields=len(fields or ("*",)))
        markup = "strip" if reading.strips_markup else "keep"
        if open_settings["markup"] == GUESS and markup == "keep":
            report_kept_markup(texts, len(fields or ("*",)))
        return {"tokens": reading.tokens, "stemmer": reading.stemmer, "markup": markup}

    def _count(self, settings: Mapping[str, Any]) -> tuple[Tables, list[Part]]:
        """Count the terms of all shards; return the merged tables and the parts of the matrix."""
        features = {name: value for name, value in settings.items() if name not in (*PRUNING, "n_jobs")}
        tasks = [
            Task(
                "matrix:count_shard",
                self._counts / f"shard-{number:05d}",
                {"corpus": self.corpus.of_shard(shard).as_dict(), "features": features},
            )
            for number, shard in enumerate(self.corpus.shards)
        ]
        self.engine.run(tasks, "Reading words")
        parts = self.parts()
        if not parts:
            raise DataError("There are no documents to learn from.", remedy="Give at least one document.")
        merged = self.engine.reduce(
            "tables:merge_files", [part.folder for part in parts], self.folder / "tables", "Merging vocabularies"
        )
        whole = Tables.load(merged / "tables" if merged.is_dir() else merged)
        remark(
            f"{counted(whole.documents, 'document')} in {counted(len(parts), 'part')} on disk, "
            f"{counted(len(whole.terms), 'term')}, {counted(len(whole.labels), 'label')}."
        )
        return whole, parts

    def _vocabulary(self, reading: Mapping[str, Any], whole: Tables) -> Vectorizer:
        """The vectoriser with the terms that are kept."""
        vectorizer = Vectorizer(**{"n_jobs": self.n_jobs, **self.recipe.vectorizer_settings})
        table = TermTable(whole.terms, whole.document_frequency, whole.frequency, whole.documents, is_sorted=True)
        kept = table.kept(vectorizer.min_df, vectorizer.max_df, vectorizer.max_features)
        if not kept.any():
            raise DataError(
                f"None of the {counted(len(whole.terms), 'term')} found in {counted(whole.documents, 'document')} is "
                "kept.",
                remedy="Check that the documents are not empty; relax tokens, stop_words, min_df or max_df.",
            )
        chosen = {"tokens_": reading.get("tokens"), "stemmer_": reading.get("stemmer")}
        chosen["strips_markup_"] = reading.get("markup") == "strip"
        return vectorizer.restore(
            {
                "terms_": [whole.terms[column] for column in np.flatnonzero(kept).tolist()],
                "document_frequency_": whole.document_frequency[kept],
                "n_documents_": whole.documents,
                **(chosen if reading else {}),
            }
        )

    def _classifier(
        self,
        recipe: Recipe,
        features: FeaturePipeline,
        decided: DecidedModel,
        whole: Tables,
        unseen: list[tuple[Csr, Csr]],
    ) -> TextClassifier:
        classifier = TextClassifier.from_recipe(
            self.recipe, single_label=self.single_label, seed=self.seed, n_jobs=self.n_jobs, memory=self.memory
        )
        return classifier.restore(
            {
                "recipe_": recipe.as_dict(),
                "features_": features,
                "decided_": decided,
                "labels_": whole.labels,
                "label_form_": "sets",
                "label_kind_": "str",
                "nodes_": None,
                "parents_": None,
                "vocabulary_": None,
                "reading_": self.corpus.reading.as_dict(),
                "expected_": expected_quality(*unseen[0], decided.chosen_metrics, self.seed) if unseen else None,
                "n_documents_": whole.documents,
                "label_counts_": whole.label_documents,
            }
        )


def check_recipe(recipe: Recipe) -> None:
    """Raise an error for methods and settings that need all documents in memory."""
    needs = {
        "keyword rules": recipe.features.get("rules") is not None,
        "an encoder": recipe.features.get("encoder") is not None,
        "hashed terms": recipe.features.get("n_hashes") is not None,
    }
    for what, is_set in needs.items():
        if is_set:
            raise UnsupportedError(
                f"Training with {what} needs all documents in memory. Leave it out, or raise {setting_name('memory')}."
            )
    check_model(recipe.build().model)


_OPEN: Mapping[str, Any] = {"tokens": "words", "stemmer": None, "markup": "keep"}
"""The settings of the vectoriser that may be left to the texts, and their defaults."""
