"""Which conversations are taken in, of those that there are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from palazzo.model import Micros
from palazzo.sources.formats import Content, Identity, Message


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """What a conversation must be; by default anything will do.

    `since`: gone on with at that time or later. `sessions`: its id, or its parent's, begins with one of these.
    `least_messages`: a person's and an agent's together, in words; a conversation that is known already is taken
    however short it is, and so is a sub-agent's, which is a part of the session that it works for.
    `excluded`: directories whose projects' conversations are left out. `pauses`: times; what was said then is left out.
    """

    since: Micros | None = None
    sessions: tuple[str, ...] = ()
    least_messages: int = 0
    skip_directories: tuple[Path, ...] = ()
    pauses: tuple[tuple[Micros, Micros], ...] = ()

    @property
    def chooses(self) -> bool:
        """Whether some conversations of a source may be passed over, so that reading it is not reading all of it."""
        return self.since is not None or bool(self.sessions) or self.least_messages > 0

    @property
    def looks_inside(self) -> bool:
        """Whether it depends on a conversation's rows that it is wanted."""
        return self.least_messages > 0 or bool(self.skip_directories)

    def by_time(self, updated_at: Micros | None) -> bool:
        """Whether a conversation last gone on with then is wanted; where that is not known it is."""
        return self.since is None or updated_at is None or updated_at >= self.since

    def by_identity(self, identity: Identity) -> bool:
        """Whether the conversation is one of those that were named."""
        ids = (identity.session_id, identity.parent_session)
        return not self.sessions or any(
            session_id.startswith(prefix) for session_id in ids if session_id for prefix in self.sessions
        )

    def by_directory(self, directory: str) -> bool:
        """Whether the project it was held in is not left out."""
        path = Path(directory)
        return not any(path.is_relative_to(skip_directory) for skip_directory in self.skip_directories)


ALL_SESSIONS = SessionFilter()
"""Every conversation."""
_IDENTITIES = ("message_id", "continues")
"""Fields of `meta` that say which message a row is a part of: some hosts write a row for each block or change."""


class MessageCounter:
    """Counts the messages of a person and an agent that have words: no tool calls, results or messages of the host."""

    def __init__(self) -> None:
        self._identities: set[object] = set()
        self.number = 0

    def add(self, content: Content) -> None:
        """Count a row, unless it is no message or a part of a message that was counted."""
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
