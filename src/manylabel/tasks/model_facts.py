"""What a model file keeps of its training documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict, cast

import numpy as np
import numpy.typing as npt

from manylabel.data.corpus import Corpus
from manylabel.evaluation.result import SplitCounts, fingerprint
from manylabel.evaluation.training_documents import kept_hashes
from manylabel.exceptions import ModelFileError, ParameterError
from manylabel.features.languages import RECOGNISED, guess_language
from manylabel.modelfile import ModelFile, open_model
from manylabel.stored import Array, Fields, Sometimes, Stored, Word, total
from manylabel.tasks.corpora import documents_of
from manylabel.wording import setting_name


class ModelFacts(TypedDict, total=False):
    """What a model file keeps of its training documents, where a command wrote it."""

    data: str
    documents: int
    unlabelled: int
    train_sha256: str
    """The fingerprint of the documents and their labels."""
    training_hashes: npt.NDArray[np.uint64]
    """A hash of each document, to tell whether a model has seen one."""
    language: str
    """The language of the texts, such as ``finnish``, whether the method stems or not; absent where not recognised."""
    written_by: str
    """The command that wrote the file."""
    program: str
    """The file of labels that a program made; absent where people made all labels."""
    program_documents: int
    """How many training documents have labels that a program made."""
    recipe: dict[str, Any]


STORED_FACTS: Mapping[str, Stored] = {
    "data": Sometimes(Word()),
    "documents": Sometimes(total()),
    "unlabelled": Sometimes(total()),
    "train_sha256": Sometimes(Word()),
    "training_hashes": Sometimes(Array(("u8",), (None,))),
    "language": Sometimes(Word(RECOGNISED)),
    "written_by": Sometimes(Word()),
    "program": Sometimes(Word()),
    "program_documents": Sometimes(total()),
}
"""`ModelFacts` as model files store them."""


def training_facts(corpus: Corpus, name: str, command: str) -> ModelFacts:
    """What a model file keeps of its training documents: the data, their number, hashes, their language, and the
    command that ran.
    """
    counts = SplitCounts.of(corpus.label_sets)
    facts: ModelFacts = {
        "data": name,
        "documents": counts.documents,
        "unlabelled": counts.unlabelled,
        "train_sha256": fingerprint(corpus.ids, corpus.label_sets),
        "training_hashes": kept_hashes(documents_of(corpus)),
        "written_by": command,
    }
    language = None if corpus.is_bag_of_words else guess_language(corpus.joined_texts)
    return facts if language is None else {**facts, "language": language}


def stored_facts(opened: ModelFile) -> ModelFacts:
    """What `training_facts` returned when the model was written, and other plain data of its writer, checked."""
    facts = opened.facts
    with opened.reports_damage():
        if (problem := Fields(STORED_FACTS).problem(facts, {})) is not None:
            raise ValueError(f"what is stored of the training documents {problem}")
    return cast(ModelFacts, facts)


def check_own_model(path: Path, command: str, *, one_of_several: bool = False) -> None:
    """Raise an error where a file exists that another command wrote: `command` must not overwrite it.

    `one_of_several` means that the command writes the models of several data sets, and takes no name of one.
    """
    if not path.exists():
        return
    try:
        written_by = stored_facts(open_model(path)).get("written_by")
    except ModelFileError:
        which = "is not a model"
    else:
        if written_by == command:
            return
        which = (
            "holds a model saved from Python" if written_by is None else f"holds the model of `manylabel {written_by}`"
        )
    if one_of_several:
        remedy = (
            f"Remove or rename the file first, or run {command} for each data set alone, with {setting_name('model')}."
        )
    else:
        remedy = f"Give another name with {setting_name('model')}, or remove the file first."
    raise ParameterError(f"{path} {which} and would be overwritten. {remedy}")
