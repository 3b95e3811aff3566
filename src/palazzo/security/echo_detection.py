"""Echo detection: whether an agent repeats untrusted words in later turns, in its own voice. Pure; linear in time.

A word of a sentence is distinctive if it occurs in untrusted words and in no trusted ones. A sentence is an echo if it
has

    a run of `_RUN` words from the untrusted words that contains a distinctive word,
    at least `_MANY` distinctive words that are at least half of its content words,
    or a distinctive figure or name: a number of four digits, an address, a path, an identifier with digits.

Only the last `WINDOW` characters of a thread count, so that the time stays bounded. This window depends only on earlier
rows, so a session that is judged in parts gets the same result as one that is judged at once.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from palazzo.text.lazy_patterns import make_regex

WINDOW = 300_000
"""Characters of a thread in which words are compared: more than a host keeps in its model's context."""
_RUN = 4
_MANY = 3
_LONGEST_PART = 100_000
"""The most characters of one part that are compared: half of them from its end."""
_SHORT = 4_000
Voice = Literal["untrusted", "person", "local"]
_WordsAndRuns = tuple[frozenset[str], frozenset[tuple[str, ...]]]
_WORD = make_regex(r"[^\W_]+(?:[._:/@'’-][^\W_]+)*")
_UNSPACED_LETTER = make_regex("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_SENTENCE = make_regex(r"(?<=[.!?])\s+|[\n。！？]+")
_FIGURE = make_regex(r"^(?=.*\d)(?:.*\d.*[a-z].*\d|\d{4,}|.*\d.*[.:/@].*|.*[a-z].*[._:/@].*)$|^[^\d]{2,}[.][a-z]{2,}$")
_YEAR = make_regex(r"^(?:19|20)\d\d$")
_COMMON_WORDS = """
a about above after again all also am an and any are as at be because been before being below between both but by can
could did do does doing done down each few for from further get got had has have having he her here hers him his how i
if in into is it its itself just let like may me might more most must my need needs new no nor not now of off ok okay
on once one only or other our ours out over own please same says see set shall she should so some such than that the
their theirs them then there these they this those through to too two under until up use used uses using very was we
were what when where which while who whom why will with would yes yet you your yours file files line lines code test
tests run runs change changed changes add added adds make makes made work works fix fixed command error errors der die
das den dem des ein eine einen einem einer und oder aber nicht ist sind war waren wird werden wurde mit für auf aus
bei nach von vor zu zum zur im ich wir sie er es ihr auch noch nur schon wie wenn dass als um le la les un une du de
et ou mais pas est sont était avec pour sur dans par que qui ce cette il elle nous vous el los las una y o pero son
con para por en del al se lo su este esta nosotros и в на не что это как по с для из от за у мы он она они вы я но или
же бы
"""
_COMMON = frozenset(_COMMON_WORDS.split())


class Utterance(NamedTuple):
    """Text in an agent's context, with the trust level of its speaker."""

    text: str
    voice: Voice


class Echoes:
    """The text of a thread within its window; finds later text that repeats untrusted content."""

    def __init__(self, utterances: Iterable[Utterance] = ()) -> None:
        self._utterances: deque[Utterance] = deque()
        self._size = 0
        self._untrusted = _Bag()
        self._trusted = _Bag()
        self._uncounted_count = 0
        """The number of latest utterances that are not counted yet."""
        for utterance in utterances:
            self.hear(utterance)

    def hear(self, utterance: Utterance) -> None:
        """Add the next utterance."""
        self._utterances.append(utterance)
        self._uncounted_count += 1
        self._size += len(utterance.text)
        while self._size > WINDOW and len(self._utterances) > 1:
            oldest = self._utterances.popleft()
            self._size -= len(oldest.text)
            if self._uncounted_count > len(self._utterances):
                self._uncounted_count -= 1
            else:
                self._bag(oldest).remove(oldest.text)

    def are_in(self, text: str) -> bool:
        """Whether a text repeats words that only untrusted content contains."""
        self._count()
        if not self._untrusted.words:
            return False
        return any(self._repeats(words) for words in _sentences(text))

    def _count(self) -> None:
        for utterance in list(self._utterances)[len(self._utterances) - self._uncounted_count :]:
            self._bag(utterance).add(utterance.text)
        self._uncounted_count = 0

    def _bag(self, utterance: Utterance) -> _Bag:
        return self._untrusted if utterance.voice == "untrusted" else self._trusted

    def _repeats(self, words: Sequence[str]) -> bool:
        content_words = [word for word in dict.fromkeys(words) if _tells(word)]
        distinctive = {word for word in content_words if self._untrusted.words[word] and not self._trusted.words[word]}
        if not distinctive:
            return False
        if any(_FIGURE.match(word) and not _YEAR.match(word) for word in distinctive):
            return True
        if len(distinctive) >= _MANY and len(distinctive) * 2 >= len(content_words):
            return True
        runs = (run for run in _runs(words) if not distinctive.isdisjoint(run))
        return any(self._untrusted.runs[run] and not self._trusted.runs[run] for run in runs)


class _Bag:
    """The number of texts that contain each word, and each sequence of words."""

    def __init__(self) -> None:
        self.words: Counter[str] = Counter()
        self.runs: Counter[tuple[str, ...]] = Counter()

    def add(self, text: str) -> None:
        words, runs = _words_and_runs(text)
        self.words.update(words)
        self.runs.update(runs)

    def remove(self, text: str) -> None:
        words, runs = _words_and_runs(text)
        self.words.subtract(words)
        self.runs.subtract(runs)


def _words_and_runs(text: str) -> _WordsAndRuns:
    """Return what a text contains. A service sees the same texts again at each turn of a session."""
    return _of_short(text) if len(text) <= _SHORT else _of_long(text)


def _analyse(text: str) -> _WordsAndRuns:
    half = _LONGEST_PART // 2
    excerpt = text if len(text) <= _LONGEST_PART else f"{text[:half]}\n{text[-half:]}"
    sentences = list(_sentences(excerpt))
    words = frozenset(word for sentence in sentences for word in sentence)
    return words, frozenset(run for sentence in sentences for run in _runs(sentence))


_of_long, _of_short = lru_cache(maxsize=128)(_analyse), lru_cache(maxsize=512)(_analyse)
"""Of short texts many are remembered, of long ones few: some 40 MB at most, and usually a tenth."""


def _sentences(text: str) -> Iterator[list[str]]:
    for sentence in _SENTENCE.split(text):
        words = [form for word in _WORD.findall(sentence.casefold()) for form in _FORMS[len(word) > 64](word)]
        if words:
            yield words


@lru_cache(maxsize=4096)
def _forms(word: str) -> tuple[str, ...]:
    """Return a word's forms to compare: without its ending; in scripts without spaces, pieces of three letters."""
    if _UNSPACED_LETTER.search(word):
        return tuple(word[n : n + 3] for n in range(max(1, len(word) - 2)))
    return (re.sub(r"(?:ings?|ed|es|s|en|e)$", "", word) if len(word) > 5 and word.isalpha() else word,)


_FORMS = (_forms, _forms.__wrapped__)  # of a usual word, of a longer one, which is not remembered


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(words[n : n + _RUN]) for n in range(len(words) - _RUN + 1))


def _tells(word: str) -> bool:
    return word not in _COMMON and (len(word) > 2 or word.isdigit())
