"""Words: the terms of a keyword query, and the text for the keyword index.

This module owns both sides of keyword search, so that they agree: the index is FTS5 with `tokenize='porter unicode61'`,
which splits at everything except letters and digits, folds case and accents, and stems English. Only what that
tokenizer lacks is here: humps of camelCase, bigrams of text without spaces, whole identifiers as phrases, and
protection from its query language. It knows neither tables nor scores.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from palazzo.text import cjk
from palazzo.text.lazy_patterns import make_regex
from palazzo.text.stopwords import STOP_WORDS

MAX_TERMS = 32
"""The most terms of a query. FTS5 reads one posting list for every term: a query's time grows with their number."""

MAX_PHRASES = 8
MAX_PHRASE = 200
"""The most code points of a phrase; a longer text between two quotes is quoted text, not a phrase."""

WALL = 600
"""The number of code points from which a query is treated as pasted text that contains a question."""


# What the index is given


def index_form(text: str) -> str:
    """Return the form of `text` that FTS5 indexes.

    This is the text itself, with runs without spaces as bigrams, NUL, lone surrogates and emoji as spaces, followed by
    the words inside its camelCase identifiers (`parseHTTPRequest` adds `parse HTTP Request`), each identifier once.
    """
    text = _indexable(text)
    words = [_HUMP.sub(" ", name) for name in dict.fromkeys(_find_hump_words(text)) if _is_written_by_hand(name)]
    return f"{text}\n{' '.join(words)}" if words else text


# SQLite's tables are those of Unicode 6.1 and take every later code point for a letter: `done🤖` would be one
# token. Ranges that hold no letters are therefore blanked.
_SYMBOLS = (
    "\u2066-\u2069\u20ba-\u20c0\u218a\u218b\u23f4-\u23ff\u2700\u2b4d-\u2bff\u2e3c-\u2e5d\ufe00-\ufe0f"
    "\U0001f000-\U0001f0ff\U0001f10d-\U0001f12f\U0001f16c-\U0001fbca"
)
_NO_LETTER = make_regex(f"[\ud800-\udfff{_SYMBOLS}]")
_BEYOND_PROSE = make_regex("[\u0e01-\u17dd\u2066-\U0010ffff]")


def _indexable(text: str) -> str:
    if "\0" in text:
        text = text.replace("\0", " ")
    if text.isascii() or _BEYOND_PROSE.search(text) is None:
        return text
    text = _NO_LETTER.sub(" ", text)
    return text if cjk.CHARACTER.search(text) is None else cjk.expand_bigrams(cjk.without_marks(text))


# A hump is `aB`, or the last capital of several before a small letter (`HTTPServer`, but not `APIs`), in a
# word of ASCII letters: `re` has no classes for the capitals of other alphabets. Two forms of one rule: a
# pattern that begins with a character class is searched for ten times as fast as one with a look-behind.
_HUMP_SEEN = make_regex(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]{2}))")
_HUMP = make_regex(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_LETTERS_AND_DIGITS = string.ascii_letters + string.digits
_REST_OF_WORD = make_regex(r"[A-Za-z0-9]++")


def _find_hump_words(text: str) -> Iterator[str]:
    """Yield the camelCase words of `text`, found from their humps outwards."""
    end = 0
    for hump in _HUMP_SEEN.finditer(text):
        at = hump.start()
        rest = _REST_OF_WORD.match(text, at) if at >= end else None
        if rest:
            prefix = text[max(end, at - _LONGEST_IDENTIFIER) : at]
            end = rest.end()
            yield prefix[len(prefix.rstrip(_LETTERS_AND_DIGITS)) :] + rest[0]


_LONGEST_IDENTIFIER = 64
_DIGIT_RUN = make_regex(r"[0-9]+")


def _is_written_by_hand(name: str) -> bool:
    """Whether `name` is an identifier, rather than a range of base64 or a hash."""
    return len(name) <= _LONGEST_IDENTIFIER and (len(name) <= 12 or len(_DIGIT_RUN.findall(name)) <= 2)


# What a query looks for


def terms(query: str) -> list[str]:
    """Return the distinct lower-case words to search for, at most `MAX_TERMS`, in the query's order.

    Stop words are left out unless there is nothing else. An identifier, path, version or error code comes whole and
    then in its parts: `src/http_client.py` also gives `http_client.py`, `http_client`, `http`, `client`, …. CJK runs
    are bigrams.

    If there are too many terms, as in a long pasted text, those of its question come first, then those that look like
    identifiers, then the longer ones: a long word is a rarer one. Of terms that differ only in their numbers (as in a
    log), three are kept.
    """
    read = _ends(query)
    spellings = list(dict.fromkeys(_spellings(read)))
    candidates = _distinct([term for term in spellings if term not in STOP_WORDS] or spellings)
    if len(candidates) <= MAX_TERMS:
        return candidates
    question_terms = frozenset(_spellings(question(read))) if len(read) > WALL else frozenset[str]()

    def worth(term: str) -> tuple[bool, bool, int]:
        return term in question_terms, is_identifier(term), min(len(term), 20)

    best = _of_each_family(sorted(candidates, key=worth, reverse=True))
    best_terms = frozenset(islice(best, MAX_TERMS))
    return [term for term in candidates if term in best_terms]


_JOINTS = make_regex(r"[./:\\@'_-]+")


def _distinct(spellings: Iterable[str]) -> list[str]:
    """Remove terms that are the same to FTS5: `__init__` and `init`."""
    first: dict[str, str] = {}
    for term in spellings:
        first.setdefault(_JOINTS.sub(" ", term).strip(), term)
    return list(first.values())


_NUMBER = make_regex(r"[0-9]+")
_FAMILY_LIMIT = 3


def _of_each_family(candidates: Iterable[str]) -> Iterator[str]:
    """Yield at most three terms that differ only in their numbers, as those of a log do."""
    counts: Counter[str] = Counter()
    for term in candidates:
        group_key = _NUMBER.sub("0", term)
        counts[group_key] += 1
        if counts[group_key] <= _FAMILY_LIMIT:
            yield term


_LONGEST_READ = 64_000


def _ends(query: str) -> str:
    """Return the beginning and end of a query too long to read whole: a question is at either."""
    half = _LONGEST_READ // 2
    return query if len(query) <= _LONGEST_READ else f"{query[:half]}\n{query[-half:]}"


# Scripts that write vowels as marks: `\w` holds no marks, and would cut such words between letters.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e\u0eb1-\u0ece\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3\u200c\u200d"
)
_CHUNK = make_regex(rf"[\w{_MARKS}]+(?:(?:[:/\\]{{1,3}}|[.@'’-])[\w{_MARKS}]+)*")
_POSSESSIVE = make_regex(r"['’]s$", re.IGNORECASE)


def _spellings(text: str) -> Iterator[str]:
    """Yield every form of the words of `text` to search for, in lower case: whole words first, then parts."""
    for match in _CHUNK.finditer(cjk.without_marks(text)):
        chunk = _POSSESSIVE.sub("", match[0]).replace("’", "'")
        if chunk.isascii() or cjk.RUN.search(chunk) is None:
            yield from _spellings_of(chunk)
        else:
            yield from _mixed_spellings(chunk)


def _mixed_spellings(chunk: str) -> Iterator[str]:
    """Yield the bigrams of a chunk's CJK runs, and the words between them."""
    last_end = 0
    for run in cjk.RUN.finditer(chunk):
        yield from _spellings_of(chunk[last_end : run.start()].strip("./:\\@'-"))
        yield from cjk.bigrams(run[0])
        last_end = run.end()
    yield from _spellings_of(chunk[last_end:].strip("./:\\@'-"))


_VERSION = make_regex(r"v?([0-9]+\.[0-9]+)(?:\.[0-9]+)+|v([0-9]+\.[0-9]+)", re.IGNORECASE)


def _spellings_of(chunk: str) -> Iterator[str]:
    if not chunk:
        return
    yield chunk.lower()
    version = _VERSION.fullmatch(chunk)
    if version:
        yield chunk.lower().removeprefix("v")
        yield version[1] or version[2]
    else:
        yield from (part.lower() for part in _parts(chunk, _CUTS) if _is_telling(part))


_CUTS = (make_regex(r"[:/\\]+"), make_regex(r"[.@-]"), make_regex(r"_+"), _HUMP)
"""Where an identifier is split, outermost first."""


def _parts(name: str, cuts: Sequence[re.Pattern[str]]) -> Iterator[str]:
    if not cuts or (cuts[0] is _HUMP and not (name.isascii() and name.isalnum())):
        return
    parts = [part for part in cuts[0].split(name) if part]
    for part in parts:
        if part != name:
            yield part
        yield from _parts(part, cuts[1:])


def _is_telling(part: str) -> bool:
    """Whether a part of an identifier is worth searching for: not `3` of `3.11.7`, not `x` of `x-axis`."""
    return len(part) > 2 if part.isdigit() else len(part) > 1


_IDENTIFIER = make_regex(r"[\w.@'-]*(?:[0-9_/\\:@]|\w\.\w).*", re.DOTALL)


def is_identifier(term: str) -> bool:
    """Whether a term's form identifies one thing: it has a digit, an underscore, or a mark of a path or address."""
    return len(term) > 2 and _IDENTIFIER.match(term) is not None


# Phrases and questions


_QUOTATION = make_regex(
    "|".join(
        (
            rf'"([^"\n]{{0,{MAX_PHRASE}}})"',
            rf"“([^”\n]{{0,{MAX_PHRASE}}})”",
            rf"«([^»\n]{{0,{MAX_PHRASE}}})»",
            rf"「([^」\n]{{0,{MAX_PHRASE}}})」",
            rf"`([^`\n]{{0,{MAX_PHRASE}}})`",
            rf"(?<!\w)'([^'\n]{{0,{MAX_PHRASE}}})'(?!\w)",
        )
    )
)


def phrases(query: str) -> list[str]:
    """Return the quoted phrases of the query, in `"…"`, `“…”`, `«…»`, `「…」`, backticks or `'…'`, as written.

    At most `MAX_PHRASES`, distinct. In a long pasted text, only its question is examined.
    """
    quotes = ("".join(part or "" for part in match.groups()) for match in _QUOTATION.finditer(question(query)))
    texts = (" ".join(phrase.split()) for phrase in quotes if len(phrase) > 1 and _WORD.search(phrase))
    return list(dict.fromkeys(texts))[:MAX_PHRASES]


_WORD = make_regex(r"[^\W_]")
_TWO_WORDS = make_regex(r"[^\W\d_]{2}.*?[\s,][^\W\d_]", re.DOTALL)
_QUESTION_MARK = make_regex(r"[?？]+(?=[\"'”’)\]»」\s]|$)|？")
_SENTENCE_ENDS = (". ", "! ", "? ", "\n", "。", "！", "？")
_LONGEST_QUESTION = 300
_QUESTIONS = 3


def question(query: str) -> str:
    """Return the question in a long pasted text; a query of at most `WALL` code points is returned unchanged.

    The question is the up to three sentences ending in a question mark that are nearest to either end, or, if there are
    none, the first and the last line.
    """
    if len(query) <= WALL:
        return query
    query = _ends(query)
    marks = [match.end() for match in _QUESTION_MARK.finditer(query)]
    near = [*marks[:10], *marks[10:][-10:]]
    sentences = [(end, sentence) for end in near if (sentence := _sentence_before(query, end))]
    sentences.sort(key=lambda found: min(found[0], len(query) - found[0]))
    if sentences:
        return "\n".join(sentence for _, sentence in sorted(sentences[:_QUESTIONS]))
    body = query.strip()
    first, last = body[:_LONGEST_QUESTION].split("\n")[0], body[-_LONGEST_QUESTION:].split("\n")[-1]
    return f"{first.strip()}\n{last.strip()}"


def _sentence_before(text: str, end: int) -> str:
    """Return the sentence that ends at `end`, or nothing if it is not made of words."""
    window = text[max(0, end - _LONGEST_QUESTION) : end]
    ends = ((window.rfind(mark, 0, -1), len(mark)) for mark in _SENTENCE_ENDS)
    start = max((at + length for at, length in ends if at >= 0), default=0)
    sentence = window[start:].strip()
    return sentence if _TWO_WORDS.search(sentence) or cjk.RUN.search(sentence) else ""


# The query language


def match_expression(words: Iterable[str], phrase_list: Iterable[str] = ()) -> str:
    """Return an FTS5 MATCH expression for any of `words` or of the `phrase_list` phrases.

    It is valid for any strings; without search terms it matches nothing. A word of several tokens (`snake_case`) is the
    phrase of its tokens, a single CJK character is the beginning of a token.
    """
    return any_of(literals(words, phrase_list))


def literals(words: Iterable[str], phrase_list: Iterable[str] = ()) -> list[str]:
    """Return the distinct FTS5 strings that `match_expression` joins, in its order."""
    return list(dict.fromkeys(_literal(text) for text in (*words, *phrase_list) if _WORD.search(text)))


def any_of(strings: Sequence[str]) -> str:
    """Return the MATCH expression for any of these FTS5 strings."""
    return " OR ".join(strings) or '""'


def _literal(text: str) -> str:
    text = cjk.without_marks(text)
    tokens = _indexable(text).replace('"', '""').strip()
    last_run = _LAST_RUN.search(text)
    if last_run is None:
        return f'"{tokens}"'
    if len(last_run[0]) == 1:
        return f'"{tokens}"*'
    return f'"{tokens[:-1].rstrip()}"'  # the text may go on where the phrase ends


_LAST_RUN = make_regex(f"(?<![{cjk.UNSPACED}])[{cjk.UNSPACED}]+$")
