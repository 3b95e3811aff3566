"""Which conversations are taken in, of those that there are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from palazzo.feeders import Identity, Message
from palazzo.model import Micros


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a conversation must be; by default anything will do.

    `since`: gone on with at that time or later. `sessions`: its id, or its parent's, begins with one of these.
    `least_messages`: a person's and an agent's together; one that is known already is taken however short it is.
    `excluded`: directories whose projects' conversations are left out. `pauses`: times; what was said then is left out.
    """

    since: Micros | None = None
    sessions: tuple[str, ...] = ()
    least_messages: int = 0
    excluded: tuple[Path, ...] = ()
    pauses: tuple[tuple[Micros, Micros], ...] = ()

    @property
    def chooses(self) -> bool:
        """Whether some conversations of a source may be passed over, so that reading it is not reading all of it."""
        return self.since is not None or bool(self.sessions) or self.least_messages > 0

    def by_time(self, updated_at: Micros | None) -> bool:
        """Whether a conversation last gone on with then is wanted; where that is not known it is."""
        return self.since is None or updated_at is None or updated_at >= self.since

    def by_identity(self, identity: Identity) -> bool:
        """Whether the conversation is one of those that were named."""
        ids = (identity.session_id, identity.parent_session)
        return not self.sessions or any(one.startswith(named) for one in ids if one for named in self.sessions)

    def by_directory(self, directory: str) -> bool:
        """Whether the project it was held in is not left out."""
        held = Path(directory)
        return not any(held.is_relative_to(excluded) for excluded in self.excluded)


ANY = Wanted()
"""Every conversation."""


def is_spoken(content: object) -> bool:
    """Whether a row is something that a person or an agent said in words."""
    return (
        isinstance(content, Message)
        and content.kind == "message"
        and content.standing == "said"
        and content.role in ("user", "assistant")
        and bool(content.text.strip())
    )
