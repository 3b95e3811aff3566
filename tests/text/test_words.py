"""Words: a query finds what the index was given, and no query is a syntax error."""

from __future__ import annotations

from unicodedata import ucd_3_2_0

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.text import cjk
from palazzo.text.word_forms import MAX_PHRASES, MAX_TERMS, WALL, index_form, match_expression, phrases, question, terms


class Index:
    """A real FTS5 table, as the store makes it."""

    def __init__(self) -> None:
        self._connection = apsw.Connection(":memory:")
        self._connection.execute("create virtual table f using fts5(x, tokenize='porter unicode61')")

    def hold(self, *texts: str) -> None:
        self._connection.execute("delete from f")
        for row, text in enumerate(texts, 1):
            self._connection.execute("insert into f(rowid, x) values (?, ?)", (row, index_form(text)))

    def match(self, expression: str) -> list[int]:
        found = self._connection.execute("select rowid from f where f match ? order by rowid", (expression,))
        return [int(row) for (row,) in found]

    def finds(self, query: str) -> list[int]:
        return self.match(match_expression(terms(query), phrases(query)))


@pytest.fixture(scope="module")
def index() -> Index:
    return Index()


# Terms


def test_stop_words_are_left_out() -> None:
    assert terms("What did Caroline's sister say about the parser?") == ["caroline", "sister", "say", "parser"]


def test_stop_words_are_kept_when_there_is_nothing_else() -> None:
    assert terms("what is it") == ["what", "is", "it"]


@pytest.mark.parametrize(
    ("written", "looked_for"),
    [
        ("snake_case", ["snake_case", "snake", "case"]),
        ("camelCase", ["camelcase", "camel", "case"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("parseHTTPRequest", ["parsehttprequest", "parse", "http", "request"]),
        ("E0432", ["e0432"]),
        ("ERR_MODULE_NOT_FOUND", ["err_module_not_found", "err", "module", "found"]),
        ("3.11.7", ["3.11.7", "3.11"]),
        ("v2.1", ["v2.1", "2.1"]),
        (
            "src/a/http_client.py",
            ["src/a/http_client.py", "src", "http_client.py", "http_client", "http", "client", "py"],
        ),
        (r"C:\temp\x1.log", [r"c:\temp\x1.log", "temp", "x1.log", "x1", "log"]),
        ("std::fmt", ["std::fmt", "std", "fmt"]),
        ("2026-03-04", ["2026-03-04", "2026"]),
        ("state-of-the-art", ["state-of-the-art", "state", "art"]),
        ("__init__", ["__init__"]),
        ("O’Brien's", ["o'brien"]),
        ("日本語", ["日本", "本語"]),
        ("Python入門 猫", ["python", "入門", "猫"]),
        ("नमस्ते", ["नमस्ते"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("c", ["c"]),
        ("🎉 ?!", []),
        ("", []),
    ],
)
def test_what_is_looked_for(written: str, looked_for: list[str]) -> None:
    assert terms(written) == looked_for


def test_operators_are_words_like_others() -> None:
    assert terms("NEAR(alpha beta) AND col:x* ^y") == ["near", "alpha", "beta", "col:x", "col", "y"]


@given(st.text(max_size=2000))
def test_terms_are_few_distinct_and_lower_case(query: str) -> None:
    found = terms(query)
    assert len(found) <= MAX_TERMS
    assert len(set(found)) == len(found)
    assert all(term == term.lower() and term.strip() for term in found)


LOG = "\n".join(f"2026-03-04 INFO worker{i} handled requestNumber{i} quickly ok" for i in range(2000))


@pytest.mark.parametrize(
    "wall",
    [
        f"Why does the frobnicator stall at startup? Here is the log.\n{LOG}",
        f"{LOG}\n\nThat was the log. Why does the frobnicator stall at startup?",
        f"{LOG[:20_000]}\nHello.\nWhy does the frobnicator stall at startup?\n{LOG[:30_000]}",
    ],
)
def test_a_wall_is_reduced_to_its_question(wall: str) -> None:
    assert len(wall) > 40_000
    assert question(wall) == "Why does the frobnicator stall at startup?"
    assert {"frobnicator", "stall", "startup"} <= set(terms(wall))


def test_a_wall_that_asks_nothing_is_its_first_and_last_line() -> None:
    assert question(f"The deploy broke again\n{LOG}\nplease find out") == "The deploy broke again\nplease find out"


def test_a_log_does_not_crowd_out_what_is_not_numbered() -> None:
    found = terms(f"{LOG}\nerror_code in palazzo/store.py")
    assert {"error_code", "palazzo/store.py"} <= set(found)
    assert sum(term.startswith("requestnumber") for term in found) <= 3


def test_a_short_query_is_its_own_question() -> None:
    assert question("log?\nfirst line") == "log?\nfirst line"


@given(st.text(alphabet="ab?. \n？。", min_size=WALL, max_size=WALL * 4))
def test_a_question_is_short(wall: str) -> None:
    assert len(question(wall)) <= max(WALL, 3 * 301 + 2)


# Phrases


@pytest.mark.parametrize(
    ("query", "quoted"),
    [
        ('who said "exactly  this" and “that one”', ["exactly this", "that one"]),
        ("run `foo.bar()` or 'git push'", ["foo.bar()", "git push"]),
        ("the dogs' and the cats' bowls, don't", []),
        ("「記憶の宮殿」とは", ["記憶の宮殿"]),
        ('an "unfinished one', []),
        ('empty "" and "!!"', []),
        ('"same same" "same same"', ["same same"]),
    ],
)
def test_phrases_are_what_is_quoted(query: str, quoted: list[str]) -> None:
    assert phrases(query) == quoted


def test_of_pasted_json_not_every_string_is_a_phrase() -> None:
    assert len(phrases(", ".join(f'"key {i}": "value {i}"' for i in range(30)))) <= MAX_PHRASES


# The form that is indexed


def test_prose_is_indexed_as_it_is() -> None:
    assert index_form("Plain prose, with URLs and APIs — “quoted”.") == "Plain prose, with URLs and APIs — “quoted”."


def test_humps_are_appended_once() -> None:
    assert (
        index_form("an HTTPServer, parseURL, HTTPServer")
        == "an HTTPServer, parseURL, HTTPServer\nHTTP Server parse URL"
    )


def test_base64_is_no_identifier() -> None:
    blob = "aGVsbG8gd29ybGQ9aGVsbG8gZm9vYmFy"
    assert index_form(blob) == blob
    assert index_form("aB" * 5000) == "aB" * 5000


def test_cjk_is_indexed_as_bigrams_and_last_character() -> None:
    assert index_form("x日本語y").split() == ["x", "日本", "本語", "語", "y"]


def test_nul_and_lone_surrogates_become_spaces() -> None:
    assert index_form("a\0b\ud800c") == "a b c"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("the parseHTTPRequest function", "http request"),
        ("the parseHTTPRequest function", "parse_http_request"),
        ("call parse_http_request here", "parseHTTPRequest"),
        ("failed with ERR_MODULE_NOT_FOUND", "err_module_not_found"),
        ("on Python 3.11.7", "3.11.7"),
        ("on Python 3.11.7", "v3.11.7"),
        ("see src/palazzo/text/word_forms.py:12", "words.py"),
        ("Müller sagt", "muller"),
        ("we were running tests", "run"),
        ("記憶の宮殿を作る", "宮殿"),
        ("記憶の宮殿を作る", "殿"),
        ("記憶の宮殿", "殿"),
        ("기억의 궁전을 짓다", "궁전"),
        ("before\0after", "after"),
        ("all done🤖", "done"),
        ("I ❤️palaces", "palaces"),
    ],
)
def test_what_is_asked_is_found(index: Index, text: str, query: str) -> None:
    index.hold(text, "something else altogether")
    assert index.finds(query) == [1]


def test_a_phrase_wants_its_words_in_order(index: Index) -> None:
    index.hold("the exact words of it", "words that are exact", "日本語 テスト中", "本語日 トステ")
    assert index.match(match_expression([], ["exact words"])) == [1]
    assert index.match(match_expression(["exact_words"])) == [1]
    assert index.match(match_expression([], ["日本語 テスト"])) == [3]


@given(st.characters(categories=["Lo", "Nl", "Lm"]))
def test_a_cjk_character_is_a_token_to_fts(index: Index, character: str) -> None:
    if cjk.RUN.fullmatch(character) and character <= "\uffff":
        index.hold(f"x {character} y", "other")
        assert index.finds(character) == [1]


# The query language

HOSTILE = st.text(
    alphabet=st.one_of(
        st.sampled_from("\"'*^:(){}[]+-.\\/ \0\ud800\n%;,~猫日本🎉مé"),
        st.sampled_from("abANDORNEAR019_"),
        st.characters(),
    ),
    max_size=60,
)


@given(st.lists(HOSTILE, max_size=8), st.lists(HOSTILE, max_size=4))
def test_no_strings_make_a_syntax_error(index: Index, words: list[str], quoted: list[str]) -> None:
    index.hold("a b and or near", "猫 日本")
    index.match(match_expression(words, quoted))


@given(HOSTILE)
def test_no_query_makes_a_syntax_error(index: Index, query: str) -> None:
    index.hold("a b and or near", "猫 日本")
    index.finds(query)


# Python and SQLite agree on what is a letter among the code points that both have known for long.
SETTLED = st.text(
    st.one_of(
        st.sampled_from("\"'*^:(){}[]+-.\\/ _\0\n猫日本🎉🤖éabAB019"),
        st.characters(max_codepoint=0x0FFF).filter(lambda c: ucd_3_2_0.category(c) not in {"Cn", "Co"}),
    ),
    max_size=60,
)


@given(SETTLED)
def test_a_text_is_found_by_each_of_its_own_terms(index: Index, text: str) -> None:
    index.hold(text)
    for term in terms(text):
        if any(character.isascii() and character.isalnum() for character in term):
            assert index.match(match_expression([term])) == [1], term


def test_nothing_to_look_for_matches_nothing(index: Index) -> None:
    index.hold("a b c")
    assert index.match(match_expression([])) == []
    assert index.match(match_expression(["🎉", '"', ""])) == []


def test_any_number_of_terms_is_valid(index: Index) -> None:
    index.hold("w4999")
    assert index.match(match_expression(f"w{i}" for i in range(5000))) == [1]


def test_a_wall_of_text_is_valid(index: Index) -> None:
    index.hold("frobnicator")
    assert index.finds(f"{LOG} Does the frobnicator stall?") == [1]
