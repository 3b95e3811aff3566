"""A session as a list of turns, and how the text of a turn is split into options, topics and clauses. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from palazzo.index.digest_work import Place, stretches
from palazzo.model import Part
from palazzo.sessions import digest_cues as cues
from palazzo.text.lazy_patterns import make_regex
from palazzo.text.sentences import Sentence, sentences


class SessionMessage(NamedTuple):
    """A message of a session: its item, its speaker, its text and its parts."""

    item: int
    role: str
    text: str
    parts: tuple[Part, ...]


@dataclass
class Turn:
    """A range of a message that is one unit: words, a call or a result."""

    n: int
    item: int
    voice: Literal["user", "agent", "call", "result"]
    text: str
    start: int
    end: int
    part: Part
    sentences: list[Sentence] = field(default_factory=list)


def turns_of(messages: Sequence[SessionMessage]) -> Iterator[Turn]:
    """Yield messages, calls and answers, in order; thinking and images are left out."""
    n = 0
    for message in messages:
        for part in message.parts or (Part("text", 0, len(message.text)),):
            voice: Literal["user", "agent", "call", "result"]
            match part.kind:
                case "text" if message.role in ("user", "assistant"):
                    voice = "user" if message.role == "user" else "agent"
                case "tool_call":
                    voice = "call"
                case "tool_result":
                    voice = "result"
                case _:
                    continue
            turn = Turn(n, message.item, voice, message.text, part.start, part.end, part)
            if voice in ("user", "agent"):
                turn.sentences = [
                    _strip_number(sentence)
                    for place in stretches(message.text, part.start, part.end)
                    for sentence in sentences(message.text, *place)
                ]
            if voice in ("call", "result") or turn.sentences:
                yield turn
                n += 1


_NUMBER = make_regex(r"[A-Z]?\d{1,3}[.:)]? (?=[A-Z])")


def _strip_number(sentence: Sentence) -> Sentence:
    """Return a sentence without its leading number."""
    number = _NUMBER.match(sentence.text)
    if number is None:
        return sentence
    return Sentence(sentence.text[number.end() :], sentence.start + number.end(), sentence.end)


def is_small_talk(turns: Sequence[Turn]) -> bool:
    """Return whether there is no request: a greeting, and no work."""
    first = next((turn for turn in turns if turn.voice == "user"), None)
    has_work = any(turn.voice == "call" for turn in turns)
    return first is None or (not has_work and cues.GREETS.match(first.sentences[0].text) is not None)


_ORDINALS = {"first": 0, "one": 0, "erste": 0, "second": 1, "two": 1, "zweite": 1, "third": 2, "three": 2, "dritte": 2}


_OPTION_PATTERN = make_regex(
    r"^[ \t]*(?:\*\*)?(?:option |variante? )?([A-Fa-f]|\d)[.):][ \t]*(.+?)$", re.MULTILINE | re.IGNORECASE
)


def options(agent: Turn) -> list[re.Match[str]]:
    """Return the lines in which an agent lists options."""
    places = stretches(agent.text, agent.start, agent.end)
    return [match for place in places for match in _OPTION_PATTERN.finditer(agent.text, *place)]


def option(agent: Turn, label: str) -> Place | None:
    """Return where an agent names an option: by its letter or number, or by its position in the list."""
    lines = options(agent)
    for line in lines:
        if line[1].lower() == label:
            return line.span(2)
    for sentence in agent.sentences:
        if re.match(rf"(?:option |variante? ){re.escape(label)}\b", sentence.text, re.IGNORECASE):
            return sentence.start, sentence.end
    place = {**_ORDINALS, "former": 0, "latter": -1, "last": -1}.get(label)
    if place is not None and lines and place < len(lines):
        return lines[place].span(2)
    return None


def find_topics(turn: Turn, user_sentences: Sequence[Sentence]) -> Iterator[Place]:
    """Yield the topics of a message that lists them on one line: `1) … 2) …`."""
    for sentence in user_sentences:
        marks = list(re.finditer(r"(?:^|(?<=\s))\d\) ", turn.text[sentence.start - 3 : sentence.end]))
        if len(marks) < 2:
            continue
        at = sentence.start - 3
        for marker, next_start in zip(marks, [*(mark.start() for mark in marks[1:]), sentence.end - at], strict=True):
            yield at + marker.start(), at + len(turn.text[at : at + next_start].rstrip())


def request_in(user_sentences: Sequence[Sentence]) -> Sentence:
    """Return the sentence with a person's request: a request, a question, else the first."""
    for pattern in (cues.ASKS_FOR, cues.QUESTION):
        for sentence in user_sentences:
            if pattern.search(sentence.text):
                return sentence if len(sentence.text) > _SHORT else _with_what_leads_to_it(user_sentences, sentence)
    return next((sentence for sentence in user_sentences if len(sentence.text) > 12), user_sentences[0])


_SHORT = 24
"""Maximum characters of a request that is not understandable without the preceding text: `Options?`."""


def _with_what_leads_to_it(user_sentences: Sequence[Sentence], sentence: Sentence) -> Sentence:
    return Sentence(sentence.text, user_sentences[max(0, user_sentences.index(sentence) - 1)].start, sentence.end)


def clauses(sentence: Sentence) -> Iterator[Place]:
    """Yield the items of `Left: a; b`, else the sentence."""
    head = re.match(r"[^:：]{1,30}[:：]\s*", sentence.text)
    if head is None or ";" not in sentence.text or not cues.REMAINING_WORK.match(sentence.text):
        yield sentence[1:]
        return
    at = head.end()
    for item in sentence.text[at:].split(";"):
        low = sentence.start + at + len(item) - len(item.lstrip())
        yield low, low + len(item.strip())
        at += len(item) + 1


def bag(text: str) -> frozenset[str]:
    """Return the words of a text that may show its subject."""
    return frozenset(word for word in re.findall(r"\w{3,}", text.casefold()))
