"""Whether an agent repeats, turns later and in its own voice, what it read in untrusted words. Pure, linear.

Of a sentence those words are distinctive that stand in the untrusted words and in no trusted ones. A sentence is an
echo if it has

    a run of `_RUN` words of them that names something distinctive,
    at least `_MANY` distinctive words that are at least half of its telling words,
    or a distinctive figure or name: a number of four digits, an address, a path, an identifier with digits.

Only the last `WINDOW` characters of a thread count, so that the time stays bounded; which those are follows from the
rows before alone, so a session that is taken in piece by piece is judged as one that is taken in at once.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

WINDOW = 300_000
"""Characters of a thread in which words are compared: more than a host keeps before its model."""
_RUN = 4
_MANY = 3
_LONGEST_PART = 100_000
"""Characters of one part that are looked at: half of them from its end."""
Voice = Literal["untrusted", "person", "local"]
_WORD = re.compile(r"[^\W_]+(?:[._:/@'’-][^\W_]+)*")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|[\n。！？]+")
_FIGURE = re.compile(r"^(?=.*\d)(?:.*\d.*[a-z].*\d|\d{4,}|.*\d.*[.:/@].*|.*[a-z].*[._:/@].*)$|^[^\d]{2,}[.][a-z]{2,}$")
_YEAR = re.compile(r"^(?:19|20)\d\d$")
_COMMON = frozenset(
    [
        "a",
        "about",
        "above",
        "after",
        "again",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "below",
        "between",
        "both",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "done",
        "down",
        "each",
        "few",
        "for",
        "from",
        "further",
        "get",
        "got",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "here",
        "hers",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "itself",
        "just",
        "let",
        "like",
        "may",
        "me",
        "might",
        "more",
        "most",
        "must",
        "my",
        "need",
        "needs",
        "new",
        "no",
        "nor",
        "not",
        "now",
        "of",
        "off",
        "ok",
        "okay",
        "on",
        "once",
        "one",
        "only",
        "or",
        "other",
        "our",
        "ours",
        "out",
        "over",
        "own",
        "please",
        "same",
        "says",
        "see",
        "set",
        "shall",
        "she",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "theirs",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "two",
        "under",
        "until",
        "up",
        "use",
        "used",
        "uses",
        "using",
        "very",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "why",
        "will",
        "with",
        "would",
        "yes",
        "yet",
        "you",
        "your",
        "yours",
        "file",
        "files",
        "line",
        "lines",
        "code",
        "test",
        "tests",
        "run",
        "runs",
        "change",
        "changed",
        "changes",
        "add",
        "added",
        "adds",
        "make",
        "makes",
        "made",
        "work",
        "works",
        "fix",
        "fixed",
        "command",
        "error",
        "errors",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "des",
        "ein",
        "eine",
        "einen",
        "einem",
        "einer",
        "und",
        "oder",
        "aber",
        "nicht",
        "ist",
        "sind",
        "war",
        "waren",
        "wird",
        "werden",
        "wurde",
        "mit",
        "für",
        "auf",
        "aus",
        "bei",
        "nach",
        "von",
        "vor",
        "zu",
        "zum",
        "zur",
        "im",
        "in",
        "ich",
        "wir",
        "sie",
        "er",
        "es",
        "ihr",
        "auch",
        "noch",
        "nur",
        "schon",
        "so",
        "wie",
        "was",
        "wenn",
        "dass",
        "als",
        "an",
        "um",
        "le",
        "la",
        "les",
        "un",
        "une",
        "des",
        "du",
        "de",
        "et",
        "ou",
        "mais",
        "pas",
        "est",
        "sont",
        "était",
        "avec",
        "pour",
        "sur",
        "dans",
        "par",
        "que",
        "qui",
        "ce",
        "cette",
        "il",
        "elle",
        "nous",
        "vous",
        "el",
        "los",
        "las",
        "una",
        "y",
        "o",
        "pero",
        "no",
        "es",
        "son",
        "con",
        "para",
        "por",
        "en",
        "del",
        "al",
        "que",
        "se",
        "lo",
        "su",
        "este",
        "esta",
        "nosotros",
        "и",
        "в",
        "на",
        "не",
        "что",
        "это",
        "как",
        "по",
        "с",
        "для",
        "из",
        "от",
        "за",
        "у",
        "мы",
        "он",
        "она",
        "они",
        "вы",
        "я",
        "но",
        "или",
        "же",
        "бы",
    ]
)


class Heard(NamedTuple):
    """Words that came before an agent: whose they are, by how far they are trusted."""

    text: str
    voice: Voice


class Echoes:
    """What a thread has heard within its window, and whether later words repeat the untrusted of it."""

    def __init__(self, heard: Iterable[Heard] = ()) -> None:
        self._heard: deque[Heard] = deque()
        self._size = 0
        self._untrusted = _Bag()
        self._trusted = _Bag()
        self._counted = 0
        """How many of those that were heard, from the last on backwards, are not counted yet."""
        for one in heard:
            self.hear(one)

    def hear(self, heard: Heard) -> None:
        """Take in what is said next."""
        self._heard.append(heard)
        self._counted += 1
        self._size += len(heard.text)
        while self._size > WINDOW and len(self._heard) > 1:
            gone = self._heard.popleft()
            self._size -= len(gone.text)
            if self._counted > len(self._heard):
                self._counted -= 1
            else:
                self._bag(gone).remove(gone.text)

    def are_in(self, text: str) -> bool:
        """Whether a text repeats what only untrusted words have said."""
        self._count()
        if not self._untrusted.words:
            return False
        return any(self._repeats(words) for words in _sentences(text))

    def _count(self) -> None:
        for heard in list(self._heard)[len(self._heard) - self._counted :]:
            self._bag(heard).add(heard.text)
        self._counted = 0

    def _bag(self, heard: Heard) -> _Bag:
        return self._untrusted if heard.voice == "untrusted" else self._trusted

    def _repeats(self, words: Sequence[str]) -> bool:
        telling = [word for word in dict.fromkeys(words) if _tells(word)]
        distinctive = {word for word in telling if self._untrusted.words[word] and not self._trusted.words[word]}
        if not distinctive:
            return False
        if any(_FIGURE.match(word) and not _YEAR.match(word) for word in distinctive):
            return True
        if len(distinctive) >= _MANY and len(distinctive) * 2 >= len(telling):
            return True
        runs = (run for run in _runs(words) if not distinctive.isdisjoint(run))
        return any(self._untrusted.runs[run] and not self._trusted.runs[run] for run in runs)


class _Bag:
    """The words and the runs of words of several texts, each with in how many of them."""

    def __init__(self) -> None:
        self.words: Counter[str] = Counter()
        self.runs: Counter[tuple[str, ...]] = Counter()

    def add(self, text: str) -> None:
        words, runs = _counted(text)
        self.words.update(words)
        self.runs.update(runs)

    def remove(self, text: str) -> None:
        words, runs = _counted(text)
        self.words.subtract(words)
        self.runs.subtract(runs)


@lru_cache(maxsize=128)
def _counted(text: str) -> tuple[frozenset[str], frozenset[tuple[str, ...]]]:
    half = _LONGEST_PART // 2
    shown = text if len(text) <= _LONGEST_PART else f"{text[:half]}\n{text[-half:]}"
    sentences = list(_sentences(shown))
    words = frozenset(word for sentence in sentences for word in sentence)
    return words, frozenset(run for sentence in sentences for run in _runs(sentence))


def _sentences(text: str) -> Iterator[list[str]]:
    for sentence in _SENTENCE.split(text):
        words = [form for word in _WORD.findall(sentence.casefold()) for form in _forms(word)]
        if words:
            yield words


def _forms(word: str) -> Iterator[str]:
    """A word as it is compared: without its ending; what is written without spaces as pieces of three letters."""
    if _UNSPACED.search(word):
        yield from (word[n : n + 3] for n in range(max(1, len(word) - 2)))
    elif len(word) > 5 and word.isalpha():
        yield re.sub(r"(?:ings?|ed|es|s|en|e)$", "", word)
    else:
        yield word


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(words[n : n + _RUN]) for n in range(len(words) - _RUN + 1))


def _tells(word: str) -> bool:
    return word not in _COMMON and (len(word) > 2 or word.isdigit())
