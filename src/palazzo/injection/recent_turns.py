"""Recent turns: the last messages and actions of a session, and which of them the next prompt continues. Pure.

Most prompts state their subject themselves. A short one (`why only four?`) may take its subject from the previous turn.
One that states nothing at all (`go on`) has no subject to add, and the entries that the previous turn called for have
been injected.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from palazzo.frozen_class import frozen
from palazzo.index import digest_work as work
from palazzo.knowledge.failures import Failure, failures, signature
from palazzo.sessions.digest_turns import SessionMessage
from palazzo.text.stopwords import STOP_WORDS

FILES = 5
"""Number of recent files that are considered: those that were opened or changed last."""
ENOUGH = 4
"""Number of significant words from which a prompt states its topic by itself."""
_CONTINUATION_TEXT = """
again ahead alright also carry continue correct do done exactly fine first go good great just keep last let let's like
make next no nope not now ok okay one perfect please proceed really right second sounds start stop sure thank thanks
third too try use wait want well yeah yep yes yet
"""
_GOING_ON = frozenset(_CONTINUATION_TEXT.split())
"""Words that say how to continue, but not with what."""
_LONGEST = 240
"""Maximum characters of the previous turn used as a subject: the end of the user's words and of the agent's."""
_SUBJECT_WORDS = 6
"""Number of words that are taken from it."""
SAID_OF = 0.85
"""Share of a text's words that must occur close together in an answer for the text to count as already said. With a
lower share, an answer that states a problem would count as one that knows the solution.
"""
_ID_DIGITS = 12
"""Number of digits of an id that do not match by accident."""
_FEWEST_WORDS = 3
"""Minimum words of a text. A shorter text says too little to be recognized in another."""
_WIDER, _LONGER = 2, 20
"""Maximum length of the range in which a text is searched for, relative to the text: this many times its words, plus
this many words.
"""
_ERRORS, _PASTE_LENGTH = 3, 20_000
"""Maximum number of errors taken from a prompt, and characters at its end that are searched for them."""
_NAMED_IN = 4_000
"""Characters of a prompt that are searched for file names: later text is pasted."""
_FILE = re.compile(
    r"(?<![\w./:@~+-])(?:(?:[\w.@~+-]*/)+[\w@+-][\w.@+-]*|[\w@+-][\w.@+-]+)\.[A-Za-z]\w{0,5}(?![\w/]|\.\w)"
)
_WORD = re.compile(r"\w+")


@frozen
class Recent:
    """The end of a session.

    `prompt` is the user's last message and `answer` is what the agent has said since; `files` are the opened or
    changed files as they were named, the last one first; `failed` is the last failure without a fix.
    """

    prompt: str = ""
    answer: str = ""
    files: tuple[str, ...] = ()
    failed: Failure | None = None


NOTHING = Recent()


def recent_of(messages: Sequence[SessionMessage]) -> Recent:
    """Return what matters to the next prompt from the last messages of a session."""
    last = max((n for n, entry in enumerate(messages) if entry.role == "user"), default=-1)
    prompt = "\n".join(_words(messages[last])) if last >= 0 else ""
    answer = "\n".join(words for entry in messages[last + 1 :] if entry.role == "assistant" for words in _words(entry))
    open_failures = [entry for entry in failures(messages) if entry.passed is None]
    return Recent(prompt, answer, _files(messages), open_failures[-1] if open_failures else None)


def _words(message: SessionMessage) -> Iterator[str]:
    """Return the text of a message, without calls and thinking."""
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
    """Return the words that a short prompt takes from the turn before: the longest, in their order; usually none.

    Long words are mostly rare, and few of them cost less to search.
    """
    if not 0 < len(set(_extract_topic_words(prompt)) - _GOING_ON) < ENOUGH:
        return ""
    words = dict.fromkeys(_extract_topic_words(f"{recent.prompt[-_LONGEST:]} {recent.answer[-_LONGEST:]}"))
    subject_words = sorted(words, key=len, reverse=True)[:_SUBJECT_WORDS]
    return " ".join(word for word in words if word in subject_words)


# --- what a prompt brings ----------------------------------------------------------------------------------


def errors_in(prompt: str) -> list[str]:
    """Return the signatures of the errors pasted into a prompt, the most specific first; usually none."""
    start = max(0, len(prompt) - _PASTE_LENGTH)
    places = [*work.telling_lines(prompt, start, len(prompt))]
    places += [place] if (place := work.said_failure(prompt, start, len(prompt))) else []
    signatures = dict.fromkeys(signature(prompt[low:high]) for low, high in places)
    return [candidate for candidate in signatures if candidate][:_ERRORS]


def files_in(prompt: str) -> list[str]:
    """Return the names in a prompt that look like files: with a directory, or with a name's ending."""
    names = dict.fromkeys(match[0] for match in _FILE.finditer(prompt[:_NAMED_IN]))
    return [name for name in names if "://" not in name][:FILES]


# --- what was said already ---------------------------------------------------------------------------------


def has_told(answer: str, uid: str, text: str) -> bool:
    """Return whether an answer already contains a text: it cites the text's id, or has its words."""
    return bool(answer) and (uid[:_ID_DIGITS] in answer or has_said(answer, text))


def has_said(answer: str, text: str, share: float = SAID_OF) -> bool:
    """Return whether an answer contains that share of a text's words, close together."""
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
