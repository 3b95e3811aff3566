"""The filter of conversations: which of the available ones are taken in."""

from __future__ import annotations

from pathlib import Path

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.sources.formats import Content, Identity, Message


@frozen
class SessionFilter:
    """Conditions for a conversation; by default every conversation matches.

    `since`: continued at that time or later. `sessions`: its id, or its parent's, begins with one of these.
    `least_messages`: minimum number of a person's and an agent's messages with words; a known conversation is accepted
    however short it is, and so is a sub-agent's, which is a part of the session for which it works. `excluded`:
    directories whose projects' conversations are excluded. `pauses`: periods whose messages are excluded.
    """

    since: Micros | None = None
    sessions: tuple[str, ...] = ()
    least_messages: int = 0
    skip_directories: tuple[Path, ...] = ()
    pauses: tuple[tuple[Micros, Micros], ...] = ()

    @property
    def chooses(self) -> bool:
        """Return whether some conversations of a source may be skipped, so that it may be read incompletely."""
        return self.since is not None or bool(self.sessions) or self.least_messages > 0

    @property
    def looks_inside(self) -> bool:
        """Return whether a conversation's rows decide if it is wanted."""
        return self.least_messages > 0 or bool(self.skip_directories)

    def by_time(self, updated_at: Micros | None) -> bool:
        """Return whether a conversation last continued at that time is wanted; if the time is unknown, it is."""
        return self.since is None or updated_at is None or updated_at >= self.since

    def by_identity(self, identity: Identity) -> bool:
        """Return whether the conversation is one of the named ones."""
        ids = (identity.session_id, identity.parent_session)
        return not self.sessions or any(
            session_id.startswith(prefix) for session_id in ids if session_id for prefix in self.sessions
        )

    def by_directory(self, directory: str) -> bool:
        """Return whether the project of a conversation is not excluded."""
        path = Path(directory)
        return not any(path.is_relative_to(skip_directory) for skip_directory in self.skip_directories)


ALL_SESSIONS = SessionFilter()
"""Accepts every conversation."""
_IDENTITIES = ("message_id", "continues")
"""Fields of `meta` that identify the message of a row: some hosts write a row for each block or change."""


class MessageCounter:
    """Counts messages of a person and an agent that have words: no tool calls, results or host messages."""

    def __init__(self) -> None:
        self._identities: set[object] = set()
        self.number = 0

    def add(self, content: Content) -> None:
        """Count a row, unless it is not a message or is part of a counted message."""
        if not isinstance(content, Message) or not _has_words(content):
            return
        identity = next((value for name in _IDENTITIES if (value := content.meta.get(name))), None)
        if identity is None or identity not in self._identities:
            self._identities.add(identity)
            self.number += 1


def _has_words(message: Message) -> bool:
    is_spoken = message.kind == "message" and message.standing == "said" and message.role in ("user", "assistant")
    words = (message.text[part.start : part.end] for part in message.parts if part.kind == "text")
    return is_spoken and any(text.strip() for text in words)
