"""Preview of a conversation: what its first rows say of its directory and its subject. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from palazzo.frozen_class import frozen
from palazzo.security.clean_titles import title_from
from palazzo.sources.conversation_filter import MessageCounter, SessionFilter
from palazzo.sources.formats import Message, Row
from palazzo.text.count_phrases import count_noun

_LOOK_AHEAD = 500
"""Number of rows that are read to determine the project of a session."""


@frozen
class Preview:
    """The first rows of a conversation, the directory that they name, and the first text of a person that is a title.

    `is_short`: these are all its rows, and they contain too few messages.
    """

    rows: tuple[Row, ...]
    directory: str
    first_text: str
    is_short: bool

    def refusal(self, session_filter: SessionFilter) -> str:
        """Return why the conversation is left out, or ""."""
        if self.is_short:
            return f"fewer than {count_noun(session_filter.least_messages, 'message')}"
        return "" if session_filter.by_directory(self.directory) else "its project is excluded"


def look_ahead(rows: Iterator[Row], least: int, directory: str) -> Preview:
    """Read rows until the session's directory is known, a person has spoken and there are `least` messages."""
    preview: list[Row] = []
    messages, has_person = MessageCounter(), False
    for row in rows:
        preview.append(row)
        if isinstance(row.content, Message):
            directory = directory or row.content.cwd
            has_person = has_person or (row.content.role == "user" and row.content.standing == "said")
        messages.add(row.content)
        if (directory and has_person and messages.number >= least) or len(preview) >= _LOOK_AHEAD:
            break
    is_short = len(preview) < _LOOK_AHEAD and messages.number < least
    return Preview(tuple(preview), directory, _first_text(preview), is_short)


def _first_text(rows: list[Row]) -> str:
    messages = [row.content for row in rows if isinstance(row.content, Message)]
    texts = [m.text for m in messages if m.role == "user" and m.standing == "said" and m.text.strip()]
    return next((text for text in texts if title_from(text)), next(iter(texts), ""))
