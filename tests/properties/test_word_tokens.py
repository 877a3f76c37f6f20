"""Tokens that are looked up word by word are those of the tokenizer, for all texts."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from manylabel.features.word_tokens import WordTokens

tokenizers = pytest.importorskip("tokenizers", reason="static vectors need manylabel[static]")
BYTES = [f"<0x{number:02X}>" for number in range(256)]
CHARACTERS = ["▁", "a", "b", "<", "/", "s", ">"]
MERGES = [("▁", "▁"), ("▁", "a"), ("a", "b"), ("▁a", "b"), ("▁▁", "ab")]
CROSSING = ("a", "▁")


def by_blanks(merges):
    """A tokenizer as wordllama has it: it merges characters of a whole text in which ▁ stands for a space."""
    names = ["<unk>", "<s>", "</s>", *BYTES, *CHARACTERS, *dict.fromkeys("".join(pair) for pair in merges)]
    vocabulary = {name: number for number, name in enumerate(names)}
    model = tokenizers.models.BPE(vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    tokenizer = tokenizers.Tokenizer(model)
    blanks = [tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")]
    tokenizer.normalizer = tokenizers.normalizers.Sequence(blanks)
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    return tokenizer


def by_words():
    """A tokenizer as BERT has it: it divides a text into words, and words into pieces."""
    names = ["[UNK]", "[PAD]", "a", "b", "ab", "##a", "##b", "/"]
    model = tokenizers.models.WordPiece({name: number for number, name in enumerate(names)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[UNK]", "[PAD]"])
    return tokenizer


KINDS = {"blanks": by_blanks(MERGES), "crossing": by_blanks([*MERGES, CROSSING]), "words": by_words()}
PIECES = ["a", "b", "ab", "A", " ", "  ", "\n", "\t", "\r", "\x1c", "\x00", "▁", "</s>", "[PAD]", "/", "é", "e\u0301"]
ODD = ["\u00a0", "\u3000", "\u2028", "\u0301", "日", "☃", "🙂"]
TEXTS = st.lists(st.sampled_from(PIECES + ODD), max_size=12).map("".join)


def word_tokens(tokenizer, most=None):
    return WordTokens(tokenizer, json.loads(tokenizer.to_str()), most)


@pytest.mark.parametrize("kind", KINDS)
@given(texts=st.lists(TEXTS, max_size=4))
@example(texts=["b▁ a", "a </s> b", "b \n a "])
def test_tokens_found_by_words_are_those_of_the_whole_text(kind, texts):
    tokenizer = KINDS[kind]
    expected = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    tokens = word_tokens(tokenizer)
    for _ in range(2):  # when they are new, and when they are remembered
        assert [list(found) for found in tokens.of(texts)] == expected


@pytest.mark.parametrize("kind", ["blanks", "words"])
@given(text=TEXTS, most=st.integers(1, 5))
def test_long_texts_are_cut_as_the_tokenizer_cuts_them(kind, text, most):
    tokenizer = tokenizers.Tokenizer.from_str(KINDS[kind].to_str())
    tokenizer.enable_truncation(most)
    expected = tokenizer.encode(text, add_special_tokens=False).ids
    assert list(word_tokens(tokenizer, most).of([text])[0]) == expected


def test_a_merge_across_a_space_keeps_texts_whole():
    """With the token "a▁", "a a" is "▁" + "a▁" + "a"; its words apart would be "▁a" twice, without that token."""
    crossing = KINDS["crossing"]
    first = by_blanks([CROSSING, *MERGES])
    assert [first.id_to_token(number) for number in word_tokens(first).of(["a a"])[0]] == ["▁", "a▁", "a"]
    assert [crossing.id_to_token(number) for number in word_tokens(crossing).of(["a a"])[0]] == ["▁a", "▁a"]


@pytest.mark.parametrize("kind", ["blanks", "words"])
def test_half_a_surrogate_pair_is_read_as_a_question_mark(kind):
    tokens = word_tokens(KINDS[kind])
    assert tokens.of(["a \ud800b"]) == tokens.of(["a ?b"])
