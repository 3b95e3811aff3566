"""What was said and done last in a session, and what of it the next prompt goes on from. Pure.

Most prompts say themselves what they are about. A short one (`why only four?`) may take its subject from the turn
before; one that says nothing at all (`go on`) has none to add, and what the turn before called for has been told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from palazzo.knowledge import digest_work as work
from palazzo.knowledge.digest_turns import SessionMessage
from palazzo.knowledge.failures import Failure, failures, signature
from palazzo.text.stopwords import STOP_WORDS

FILES = 5
"""Files in play that are looked at: those that were opened or changed last."""
ENOUGH = 4
"""Telling words from which a prompt says by itself what it is about."""
_CONTINUATION_TEXT = """
again ahead alright also carry continue correct do done exactly fine first go good great just keep last let let's like
make next no nope not now ok okay one perfect please proceed really right second sounds start stop sure thank thanks
third too try use wait want well yeah yep yes yet
"""
_GOING_ON = frozenset(_CONTINUATION_TEXT.split())
"""Words that say how to go on, and not with what."""
_LONGEST = 240
"""Characters of the turn before that are taken as a subject: the last of the person's words, and of the agent's."""
_SUBJECT_WORDS = 6
"""Words that are taken of it."""
SAID_OF = 0.85
"""The share of a text's words that must stand together somewhere in an answer that has said it already. Less would take
an answer that states a problem for one that knows what to do about it."""
_ID_DIGITS = 12
"""Digits of an id that are no accident."""
_FEWEST_WORDS = 3
"""Words below which a text says too little to be found in another by them."""
_WIDER, _LONGER = 2, 20
"""How much longer a stretch may be than the text that is looked for in it: so many times, and so many words more."""
_ERRORS, _PASTE_LENGTH = 3, 20_000
"""Errors of a prompt that are looked for, and characters of it that are read for them, from its end."""
_NAMED_IN = 4_000
"""Characters of a prompt in which files are looked for: what follows is pasted."""
_FILE = re.compile(
    r"(?<![\w./:@~+-])(?:(?:[\w.@~+-]*/)+[\w@+-][\w.@+-]*|[\w@+-][\w.@+-]+)\.[A-Za-z]\w{0,5}(?![\w/]|\.\w)"
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Recent:
    """The end of a session.

    `asked` is what the person sent last and `answered` what the agent has said since; `files` are those that were
    opened or changed, as they were named, the last one first; `failed` is the last failure that nothing mended.
    """

    prompt: str = ""
    answer: str = ""
    files: tuple[str, ...] = ()
    failed: Failure | None = None


NOTHING = Recent()


def recent_of(messages: Sequence[SessionMessage]) -> Recent:
    """Return what of the last messages of a session matters to the next prompt."""
    last = max((n for n, entry in enumerate(messages) if entry.role == "user"), default=-1)
    prompt = "\n".join(_words(messages[last])) if last >= 0 else ""
    answer = "\n".join(words for entry in messages[last + 1 :] if entry.role == "assistant" for words in _words(entry))
    open_failures = [entry for entry in failures(messages) if entry.passed is None]
    return Recent(prompt, answer, _files(messages), open_failures[-1] if open_failures else None)


def _words(message: SessionMessage) -> Iterator[str]:
    """What was said in a message, without calls and thinking."""
    if not message.parts:
        yield message.text
    yield from (message.text[part.start : part.end] for part in message.parts if part.kind == "text")


def _files(messages: Sequence[SessionMessage]) -> tuple[str, ...]:
    paths: dict[str, None] = {}
    for message in reversed(messages):
        for part in reversed(message.parts):
            if part.kind == "tool_call":
                places = [*work.find_accessed_files(part.name, message.text, part.start, part.end)]
                paths |= dict.fromkeys(message.text[low:high] for low, high in places)
        if len(paths) >= FILES:
            break
    return tuple(paths)[:FILES]


def subject(prompt: str, recent: Recent) -> str:
    """Return the words that a short prompt takes from the turn before, the longest, in their order; mostly none.

    Long words are the rare ones, by and large, and few of them cost less to search by.
    """
    if not 0 < len(set(_extract_topic_words(prompt)) - _GOING_ON) < ENOUGH:
        return ""
    words = dict.fromkeys(_extract_topic_words(f"{recent.prompt[-_LONGEST:]} {recent.answer[-_LONGEST:]}"))
    subject_words = sorted(words, key=len, reverse=True)[:_SUBJECT_WORDS]
    return " ".join(word for word in words if word in subject_words)


# --- what a prompt brings ----------------------------------------------------------------------------------


def errors_in(prompt: str) -> list[str]:
    """Return the signatures of the errors that somebody has pasted, the most telling first; of most prompts none."""
    start = max(0, len(prompt) - _PASTE_LENGTH)
    places = [*work.telling_lines(prompt, start, len(prompt))]
    places += [place] if (place := work.said_failure(prompt, start, len(prompt))) else []
    signatures = dict.fromkeys(signature(prompt[low:high]) for low, high in places)
    return [candidate for candidate in signatures if candidate][:_ERRORS]


def files_in(prompt: str) -> list[str]:
    """Return what a prompt names that is written like a file: with a directory, or a name's ending."""
    names = dict.fromkeys(match[0] for match in _FILE.finditer(prompt[:_NAMED_IN]))
    return [name for name in names if "://" not in name][:FILES]


# --- what was said already ---------------------------------------------------------------------------------


def has_told(answer: str, uid: str, text: str) -> bool:
    """Whether an answer has said already what something says: it cites its id, or has its words."""
    return bool(answer) and (uid[:_ID_DIGITS] in answer or has_said(answer, text))


def has_said(answer: str, text: str, share: float = SAID_OF) -> bool:
    """Whether an answer holds that share of a text's words, close together."""
    text_words = frozenset(_extract_topic_words(text))
    if len(text_words) < _FEWEST_WORDS:
        return False
    answer_words = _extract_topic_words(answer)
    least, span = share * len(text_words), _WIDER * len(_extract_topic_words(text)) + _LONGER
    window_counts: Counter[str] = Counter()
    for n, word in enumerate(answer_words):
        if word in text_words:
            window_counts[word] += 1
            if len(window_counts) >= least:
                return True
        if n >= span and (old_word := answer_words[n - span]) in text_words:
            window_counts[old_word] -= 1
            if not window_counts[old_word]:
                del window_counts[old_word]
    return False


def _extract_topic_words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in STOP_WORDS]
