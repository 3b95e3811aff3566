"""Intent of a prompt: whether it asks for the past, and for which part of it.

Pure, and quick enough to run on every prompt (a tenth of a millisecond). It also runs where there is no service, in a
process that has no time to import `re` or `dataclasses`. `benchmarks/intent/README.md` defines which prompts ask for
the past; the labelled prompts on which the patterns in `intent_patterns.py` were developed are there too.

A sentence asks if one of the patterns matches and none of the exclusions does. Its topic consists of the words that
remain when the asking is removed. A sentence without a topic asks for nothing, unless it asks for a session as a whole.
"""

from __future__ import annotations

import re

from palazzo.injection.intent_patterns import ASKS, AT_HAND, NEVER, OF_ASKING, PHRASES, WHOLE
from palazzo.text.lazy_patterns import make_regex
from palazzo.text.stopwords import STOP_WORDS

_READ = 2_000
"""Maximum characters of a prompt that are read: requests are in the first lines, and later text is pasted."""
_LONGEST_TOPIC = 12
"""Maximum words of a topic. A search for more words finds text near all of them, and so nothing specific."""
_FEW = 4
"""Words of a topic below which the words of a pasted error are added."""
_LAST = 240
"""Characters at the end of each side of the previous turn that are read to find its topic."""
_WORD = make_regex(r"[\w][\w./:@#+-]*[\w+#]|\w")
_ERROR = make_regex(r"^[^\S\n]*(?:[\w.]*(?:Error|Exception)\b|(?:error|fatal|panic)\b).*$", re.MULTILINE)
_POINTS = make_regex(
    r"^\W*(?:(?:and|but|so|ok|okay|hm+)\b,? *)*(?:(?:why|when|what|who|which|where|how)\b.*\b(?:did|had|was|were"
    r"|decided|chose|said|agreed)|(?:did|didn't|have|haven't) we (?:ever|already))\b"
    r".*\b(?:that|this|it|those|these|them)\W*$",
    re.IGNORECASE,
)
"""A question whose last word refers to something said before: `that port` says what it is."""
_SENTENCE_END = make_regex(r"(?<=[.?!])\s+")


class Intent:
    """What is asked for: the words to search for, or none if the request is for the last sessions as a whole."""

    __slots__ = ("topic",)

    def __init__(self, topic: str) -> None:
        self.topic = topic

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Intent) and self.topic == other.topic

    def __hash__(self) -> int:
        return hash(self.topic)

    def __repr__(self) -> str:
        return f"Intent({self.topic!r})"

    @property
    def is_whole(self) -> bool:
        """Return whether the prompt asks for sessions, not for something said in them."""
        return not self.topic


def intent(prompt: str) -> Intent | None:
    """Return which part of the past `prompt` asks for; None if it does not ask for the past."""
    read = prompt[:_READ]
    for sentence in _sentences(read):
        if WHOLE.search(sentence) and not NEVER.search(sentence):
            return Intent(_topic(sentence, ""))
        if any(pattern.search(sentence) for pattern in ASKS) and not _is_excluded(sentence):
            topic = _topic(sentence, read)
            if topic:
                return Intent(topic)
    return None


def asks_about_it(prompt: str) -> bool:
    """Return whether a prompt only refers to its subject: `why did we choose that?` after a turn about it."""
    words = prompt.split()
    return (
        len(words) <= _LONGEST_TOPIC
        and _POINTS.search(prompt) is not None
        and not _extract_topic_words(prompt)
        and any(pattern.search(prompt) for pattern in ASKS)
        and not _is_excluded(prompt)
        and not WHOLE.search(prompt)
    )


def topic_of(prompt: str, answer: str) -> str:
    """Return the topic of a turn, for a prompt that refers to it; empty if the turn has too few words."""
    words = list(dict.fromkeys(_extract_topic_words(f"{prompt[-_LAST:]} {answer[-_LAST:]}")))
    return " ".join(words[:_LONGEST_TOPIC]) if len(words) >= _FEW else ""


def _is_excluded(sentence: str) -> bool:
    return bool(NEVER.search(sentence) or AT_HAND.search(sentence))


def _sentences(text: str) -> list[str]:
    """Return the sentences of a prompt, and then all of it on one line, since some questions span two sentences."""
    lines = [line for line in text.split("\n") if line.strip()]
    parts = [part for line in lines for part in _SENTENCE_END.split(line)]
    return [*parts, *([" ".join(lines)] if len(parts) > 1 else [])]


def _topic(sentence: str, prompt: str) -> str:
    """Return the topic words: those of the sentence and of a pasted error, else those of the whole prompt."""
    words = _extract_topic_words(sentence)
    if len(words) < _FEW and (error := _ERROR.search(prompt)):
        words = [*words, *(word for word in _extract_topic_words(error.group()) if word not in words)]
    return " ".join((words or _extract_topic_words(prompt))[:_LONGEST_TOPIC])


def _extract_topic_words(text: str) -> list[str]:
    words = dict.fromkeys(match.group() for match in _WORD.finditer(PHRASES.sub(" ", text.replace("’", "'"))))
    return [word for word in words if _tells(word)]


def _tells(word: str) -> bool:
    lower_word = word.casefold()
    return lower_word not in OF_ASKING and lower_word not in STOP_WORDS and (len(word) > 1 or word.isupper())
