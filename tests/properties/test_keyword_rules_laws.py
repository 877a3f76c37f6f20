"""Laws of keyword queries: whatever is typed, a tree or a sentence comes back; printing and reading are inverses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manylabel.exceptions import DataError
from manylabel.features.keyword_queries import (
    DEEPEST,
    And,
    Not,
    Or,
    Phrase,
    Prefix,
    Query,
    Word,
    atoms,
    holds,
    parse_query,
)
from manylabel.features.keyword_rules import parse_rules, write_rules
from manylabel.features.keywords import KeywordMatcher

letters = st.characters(exclude_categories=["Cs"]).filter(lambda sign: not sign.isspace())
texts = st.one_of(
    st.sampled_from(["wheat", "AND", "or", "Not", "a*b", "(", '"', "\\", "#", "oil-price", "a:b", "*"]),
    st.text(letters, min_size=1, max_size=6),
)
words: st.SearchStrategy[Word | Prefix] = st.one_of(st.builds(Word, texts), st.builds(Prefix, texts))
atom: st.SearchStrategy[Query] = st.one_of(words, st.builds(Phrase, st.lists(words, min_size=2, max_size=3).map(tuple)))
queries: st.SearchStrategy[Query] = st.recursive(
    atom,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=12,
)


@given(queries)
@settings(max_examples=100)
def test_a_printed_query_is_parsed_to_the_same_query(query: Query) -> None:
    assert parse_query(str(query)) == query


@given(st.one_of(st.text(), st.text(st.sampled_from('ab ()"*\\ANDORT'), max_size=30)))
@settings(max_examples=300)
def test_any_text_is_a_query_or_an_error_that_shows_the_position(text: str) -> None:
    try:
        query = parse_query(text)
    except DataError as error:
        _, shown, mark = error.problem.rsplit("\n", 2)
        assert len(shown) == 4 + len(text)
        assert mark.strip() == "^"
        assert 4 <= mark.index("^") <= 4 + len(text)
    else:
        assert parse_query(str(query)) == query


@given(st.text(st.sampled_from('ab ()"*\\:#\n\rNOT'), max_size=60))
@settings(max_examples=200)
def test_any_file_is_parsed_or_an_error_with_a_line(text: str) -> None:
    try:
        rules = parse_rules(text, "rules.txt")
    except DataError as error:
        lines = text.count("\n") + text.count("\r") + 1
        named_line = error.line or 0
    else:
        lines = named_line = 1
        assert parse_rules(write_rules(rules)) == rules
    assert 1 <= named_line <= lines


labels = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1, max_size=8)


@given(st.dictionaries(labels, atom, max_size=3))
@settings(max_examples=50)
def test_any_label_can_be_written(rules: dict[str, Query]) -> None:
    assert parse_rules(write_rules(rules)) == rules


@pytest.mark.parametrize("opening", ["(", "NOT ", "(NOT "])
def test_deep_nesting_raises_an_error_before_a_recursion_error(opening: str) -> None:
    with pytest.raises(DataError, match=f"nested more than {DEEPEST} deep"):
        parse_query(opening * 2_000 + "wheat")


plain = st.sampled_from(["wheat", "corn", "rain", "sun"])
plain_queries: st.SearchStrategy[Query] = st.recursive(
    st.one_of(
        st.builds(Word, plain),
        st.builds(Prefix, st.sampled_from(["w", "co", "ra"])),
        st.builds(Phrase, st.lists(st.builds(Word, plain), min_size=2, max_size=3).map(tuple)),
    ),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, min_size=2, max_size=2).map(tuple)),
        st.builds(Or, st.lists(inner, min_size=2, max_size=2).map(tuple)),
    ),
    max_leaves=6,
)


def literally(query: Query, words: list[str]) -> bool:
    """The meaning of a query, word for word."""
    if isinstance(query, Not):
        return not literally(query.part, words)
    if isinstance(query, And):
        return all(literally(part, words) for part in query.parts)
    if isinstance(query, Or):
        return any(literally(part, words) for part in query.parts)
    if isinstance(query, Prefix):
        return any(word.startswith(query.text) for word in words)
    if isinstance(query, Word):
        return query.text in words
    looked_for = [part.text for part in query.words]
    return any(words[i : i + len(looked_for)] == looked_for for i in range(len(words)))


@given(plain_queries, st.lists(st.lists(plain, max_size=6), min_size=1, max_size=5))
@settings(max_examples=150)
def test_matching_is_the_literal_meaning(query: Query, documents: list[list[str]]) -> None:
    matcher = KeywordMatcher(write_rules({"x": query})).fit(["x"])
    found = matcher.transform([" ".join(words) for words in documents])
    assert found.toarray()[:, 0].tolist() == [literally(query, words) for words in documents]


@given(queries)
def test_truth_tables_follow_de_morgan(query: Query) -> None:
    rng = np.random.default_rng(0)
    table = {atom: rng.random(8) < 0.5 for atom in atoms(query)}
    both = And((query, Not(query)))
    assert not holds(both, table.__getitem__).any()
    assert holds(Or((query, Not(query))), table.__getitem__).all()
