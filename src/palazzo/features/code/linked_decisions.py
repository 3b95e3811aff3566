"""Linked decisions: the decisions of sessions that have a connection with a file or with one line of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from palazzo.features.code.decision_links import (
    MENTIONED,
    SAME_EXCHANGE,
    STRONG_WEIGHT,
    Identifiers,
    Link,
    identifier_links,
    name_links,
)
from palazzo.frozen_class import frozen
from palazzo.store import digest_rows, drawers, file_touches

if TYPE_CHECKING:
    from palazzo.features.code.code_scope import CodeScope
    from palazzo.model import AnchorKind
    from palazzo.store.database import Connection
    from palazzo.store.digest_rows import DigestLine
    from palazzo.store.file_touches import FileTouch

_MOST_DECISIONS = 5_000
"""Maximum number of decisions that are examined for names, the newest: some 0.2 s."""
_MOST_WEAK = 3
"""Maximum number of decisions whose connection with the file is weak: more of them bury the others."""


class LinkedDecision(NamedTuple):
    """A decision, and its connections with the file, the closest first."""

    line: DigestLine
    links: tuple[Link, ...]

    @property
    def weight(self) -> int:
        """Return how close the connection is."""
        return sum(link.weight for link in self.links)


@frozen
class FileSubject:
    """A file, the touches that matter, and the identifiers that edits introduced: into it or into one line of it.

    With `is_line`, a decision that only names the file is not about the subject.
    """

    path: str
    touches: Sequence[FileTouch]
    identifiers: Identifiers
    is_line: bool


def linked_decisions(
    connection: Connection, scope: CodeScope, subject: FileSubject, wings: Iterable[str], limit: int
) -> list[LinkedDecision]:
    """Return the decisions about a subject, those with the closest connection first, then the newest.

    Decisions that only name it are looked for in `wings`.
    """
    beside = _links_of_exchanges(connection, subject.touches)
    recent = digest_rows.decisions(connection, wings, _MOST_DECISIONS)
    linked = [_linked(line, beside, subject) for line in dict.fromkeys([*beside, *recent]) if _is_visible(line, scope)]
    linked = [decision for decision in linked if decision.links]
    linked.sort(key=lambda decision: (-decision.weight, -decision.line.said_at))
    unique = [*{" ".join(decision.line.words.split()): decision for decision in reversed(linked)}.values()][::-1]
    strong = [decision for decision in unique if decision.weight >= STRONG_WEIGHT]
    weak = [decision for decision in unique if decision.weight < STRONG_WEIGHT]
    return [*strong, *weak[:_MOST_WEAK]][:limit]


def _is_visible(line: DigestLine, scope: CodeScope) -> bool:
    is_trusted = not line.is_untrusted or "external" in scope.trusts
    return is_trusted and line.wing in scope.wings and scope.covers(line.said_at)


def _linked(line: DigestLine, beside: Mapping[DigestLine, Link], subject: FileSubject) -> LinkedDecision:
    by_identifier = identifier_links(line.words, subject.identifiers)
    by_name = name_links(line.words, subject.path)
    if subject.is_line and not by_identifier and line not in beside:
        by_name = []
    links = [*by_name, *by_identifier, *([beside[line]] if line in beside else [])]
    return LinkedDecision(line, tuple(sorted(links, key=lambda link: -link.weight)))


def _links_of_exchanges(connection: Connection, touches: Sequence[FileTouch]) -> dict[DigestLine, Link]:
    """Return the decisions of the exchanges that mentioned or edited the file; reading it decides nothing."""
    mentioned = dict.fromkeys(_decisions_beside(connection, touches, "mentioned"), MENTIONED)
    return mentioned | dict.fromkeys(_decisions_beside(connection, touches, "edited"), SAME_EXCHANGE)


def _decisions_beside(connection: Connection, touches: Sequence[FileTouch], how: AnchorKind) -> list[DigestLine]:
    turns = file_touches.turns_of(connection, {touch.drawer for touch in touches if touch.anchor.how == how})
    spans = drawers.spans_of(connection, {drawer for turn in turns.values() for drawer in turn})
    return digest_rows.of_items(connection, {item for own in spans.values() for item, _, _ in own}, "decided")
