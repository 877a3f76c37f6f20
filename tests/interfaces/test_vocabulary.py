"""One concept, one word: help texts and public names avoid the synonyms that docs/glossary.md lists."""

import inspect
import re
from importlib import import_module
from typing import Any

import pytest
import typer.main

from manylabel.cli.app import app

ROOMS = ("catalog", "data", "decisions", "evaluation", "features", "metrics", "models", "strategies")
NAMESPACES = ("manylabel", *(f"manylabel.{room}" for room in ROOMS))

BANNED = {
    "document": ["letter", "letters", "example", "examples"],
    "label": ["class", "classes", "tag", "tags", "topic", "topics"],
    "true labels": ["truth", "gold"],
    "predicted labels": ["given", "answer", "answers", "answered"],
    "threshold, decision rule": ["cut", "cuts", "cutoff", "needs"],
    "metric": ["goal", "goals", "objective", "objectives"],
    "guarantee": ["promise", "promises", "promised"],
    "fold, split": ["part", "parts", "stretch", "stretches"],
    "model, SVM": ["machine", "machines"],
    "ensemble": ["committee", "committees", "blend", "blends", "blended"],
    "print, report": ["say", "says", "said", "tell", "tells", "told"],
}
BANNED_IN_NAMES = {**BANNED, "metric": [*BANNED["metric"], "measure", "measures"]}  # the verb is fine in sentences

ALLOWED_PHRASES = {
    "for example": "an example of an argument, not a document",
    "area/topic": "an example of label names in a hierarchy",
    "letters.csv": "an example of a file name",
    "letters.manylabel": "an example of a file name",
    "the letters that come with manylabel": "the documents of townhall are letters",
    "three new letters": "the documents of townhall are letters",
}
ALLOWED_NAMES = {
    "find_class": "a Python class",
    "storable_classes": "Python classes",
    "classes": "the classes of two-class problems",
    "class_documents": "the classes of two-class problems",
    "class_terms": "the classes of two-class problems",
    "no_class": "the class of documents without a label, after Vilar, Castro & Sanchis 2004",
    "TwoClassStrategy": "two-class problems",
}


def banned_words(text, banned, allowed=()):
    """The banned words in a text, each with the word to use instead."""
    for phrase in allowed:
        text = text.replace(phrase, " ")
    words = set(re.findall(r"[a-z]+", text.lower()))
    return {word: instead for instead, synonyms in banned.items() for word in synonyms if word in words}


def words_of_name(name):
    """The words of an identifier, separated by blanks.

    >>> words_of_name("find_BestGoal")
    'find best goal'
    """
    return " ".join(word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name))


def help_texts():
    """(command, text) of every text that ``--help`` shows."""
    group: Any = typer.main.get_command(app)
    yield "manylabel", group.help
    yield "manylabel", group.epilog
    for parameter in group.params:
        yield "manylabel", f"{' '.join(parameter.opts)} {parameter.help or ''}"
    nested = {f"corpora {name}": command for name, command in group.commands["corpora"].commands.items()}
    for name, command in {**group.commands, **nested}.items():
        yield name, f"{name} {command.help}"
        for parameter in command.params:
            yield name, f"{' '.join(parameter.opts)} {parameter.metavar or ''} {parameter.help or ''}"


def public_names():
    """(where, name) of every exported name and of the parameters of exported classes and functions."""
    for place in NAMESPACES:
        module = import_module(place)
        for name in module.__all__:
            yield place, name
            found = getattr(module, name)
            if inspect.isroutine(found) or inspect.isclass(found):
                yield from ((f"{place}.{name}", parameter) for parameter in parameters(found))


def parameters(found):
    """The parameters of a function; of a class those of its constructor and of its public methods."""
    functions = [found]
    if inspect.isclass(found):
        functions += [member for name, member in vars(found).items() if inspect.isfunction(member) and name[0] != "_"]
    for function in functions:
        try:
            yield from inspect.signature(function).parameters
        except (TypeError, ValueError):  # type aliases and classes written in C have no signature
            continue


def test_help_texts_use_the_words_of_the_glossary():
    found = {
        (command, word): (instead, " ".join(text.split()))
        for command, text in help_texts()
        for word, instead in banned_words(" ".join(text.split()), BANNED, ALLOWED_PHRASES).items()
    }
    assert not found


def test_public_names_use_the_words_of_the_glossary():
    found = {
        (place, name): banned
        for place, name in public_names()
        if name not in ALLOWED_NAMES and (banned := banned_words(words_of_name(name), BANNED_IN_NAMES))
    }
    assert not found


@pytest.mark.parametrize("phrase", ALLOWED_PHRASES)
def test_allowed_phrases_are_still_in_use(phrase):
    assert any(phrase in " ".join(text.split()) for _, text in help_texts()), "remove it from ALLOWED_PHRASES"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The part to answer, for example train", {"part", "answer"}),
        ("a Part; --goal", {"part", "goal"}),
        ("partial parts-of-speech", {"parts"}),
        (words_of_name("GivenTruth"), {"given", "truth"}),
        (words_of_name("promised_cut"), {"promised", "cut"}),
        ("The split to use; the metric to optimise for.", set()),
    ],
)
def test_the_check_can_fail(text, found):
    assert set(banned_words(text, BANNED, ALLOWED_PHRASES)) == found


def test_everything_is_looked_at():
    assert {command for command, _ in help_texts()} >= {"manylabel", "train", "predict", "compare", "reproduce"}
    assert len(list(help_texts())) > 150
    assert ("manylabel", "TextClassifier") in set(public_names())
    assert ("manylabel.TextClassifier", "metric") in set(public_names())
