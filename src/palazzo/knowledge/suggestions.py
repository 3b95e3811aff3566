"""Suggested facts: claims that say the same form one candidate. No candidate becomes a fact automatically."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence

from palazzo.errors import AmbiguousName
from palazzo.frozen_class import frozen
from palazzo.knowledge.documented_facts import is_change_log, is_documented_fact, plain_name
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.model import Micros
from palazzo.store import claim_rows as claims
from palazzo.store import items, predicate_rows, redaction_state
from palazzo.store.claim_rows import ClaimRow
from palazzo.store.database import Connection
from palazzo.text.names import fold


@frozen
class Citation:
    """The location of a candidate's text, by drawer and item, and its time."""

    drawer: int
    item: str
    start: int
    end: int
    said_at: Micros


@frozen
class Suggestion:
    """A fact that can be accepted. Its id stays the same as long as its content and its wing stay the same."""

    id: str
    subject: str
    predicate: str
    object: str
    wing: str
    citations: tuple[Citation, ...]

    @property
    def support(self) -> int:
        """Return how many items support it."""
        return len({citation.item for citation in self.citations})


def suggestions(connection: Connection, session: str | None = None) -> list[Suggestion]:
    """Return facts suggested by claims that are not facts yet, those with most support first, then the newest.

    With `session` only from that session. Rejected suggestions are left out, those that a fact already states, and
    claims of documents that are no facts.
    """
    key = redaction_state.fingerprint_key(connection)
    rejections = claims.read_rejections(connection)
    beliefs = Beliefs(connection)
    claims_by_uid: dict[bytes, list[tuple[ClaimRow, str]]] = {}
    claims_of_all = [(_uid(key, row, wing), row, wing) for row, wing in claims.worth_a_fact(connection, session)]
    for uid, row, wing in _without_explanations(connection, claims_of_all):
        claims_by_uid.setdefault(uid, []).append((row, wing))
    candidates = {
        uid: claim_rows
        for uid, claim_rows in claims_by_uid.items()
        if uid not in rejections and not _is_known(beliefs, *claim_rows[0])
    }
    ids = items.item_ids(connection, {row.item for claim_rows in candidates.values() for row, _ in claim_rows})
    results = [
        Suggestion(
            uid.hex(),
            claim_rows[-1][0].subject,
            claim_rows[-1][0].predicate,
            claim_rows[-1][0].object,
            claim_rows[-1][1],
            tuple(Citation(row.drawer, ids[row.item], row.start, row.end, row.said_at) for row, _ in claim_rows),
        )
        for uid, claim_rows in candidates.items()
    ]
    return sorted(
        results,
        key=lambda one: (-len({citation.item for citation in one.citations}), -one.citations[-1].said_at, one.id),
    )


def _without_explanations(
    connection: Connection, uid_claims: Sequence[tuple[bytes, ClaimRow, str]]
) -> Iterator[tuple[bytes, ClaimRow, str]]:
    """Yield the claims, with plain names; those of documents only if they state a fact."""
    paths = claims.document_paths(connection, {row.drawer for _, row, _ in uid_claims})
    explaining_drawers = {drawer for drawer, path in paths.items() if is_change_log(path)}
    documented_items = {row.item for _, row, _ in uid_claims if row.drawer in paths.keys() - explaining_drawers}
    texts = items.read_texts(connection, documented_items)
    for uid, row, wing in uid_claims:
        if row.drawer not in paths:
            yield uid, row, wing
        elif row.drawer not in explaining_drawers:
            plain_row = row._replace(subject=plain_name(row.subject), object=plain_name(row.object))
            sentence = texts.get(row.item, "")[row.start : row.end]
            if is_documented_fact(row.kind, plain_row.subject, row.predicate, plain_row.object, sentence):
                yield uid, plain_row, wing


def ids_of(connection: Connection, wings: Collection[str]) -> frozenset[str]:
    """Return the IDs of all suggestions from these wings, including rejected ones."""
    key = redaction_state.fingerprint_key(connection)
    rows = claims.worth_a_fact(connection, None)
    return frozenset(_uid(key, row, wing).hex() for row, wing in rows if wing in wings)


def _uid(key: bytes, row: ClaimRow, wing: str) -> bytes:
    """Return a suggestion's ID: a keyed hash, since rejected suggestions are remembered by it."""
    text = "\0".join((fold(row.subject), row.predicate, fold(row.object), wing))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=key[:64], digest_size=16).digest()


def _is_known(beliefs: Beliefs, row: ClaimRow, wing: str) -> bool:
    """Return whether a fact of this wing, or one that holds everywhere, states or stated it."""
    predicate_key = fold(row.predicate)
    predicate = predicate_rows.find_predicate(beliefs.connection, row.predicate, predicate_key)
    if predicate is None:
        return False
    ends = [_entity(beliefs, name) for name in (row.subject, row.object)]
    if ends[0] is None or ends[1] is None:
        return False
    return any(version.wing in (None, wing) for version in beliefs.of_triple(ends[0], predicate.row, ends[1]))


def _entity(beliefs: Beliefs, name: str) -> int | None:
    try:
        match = beliefs.find(name)
    except AmbiguousName:
        return None
    return match.entity if match else None
