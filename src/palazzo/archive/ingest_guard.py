"""Redaction at ingest: secrets and private spans are removed from new items before anything of them is stored.

A row's own bytes and the text that was read from them are redacted together, so that they agree: a secret found in one
is removed from the other. An id that hashes the words hashes the redacted words, so that it cannot confirm a guess.

Whose private spans count. A person may keep words to themself, and so may an agent: `<private>` counts in the messages
of both, in documents and in notes. In the output of a tool or in text that a host inserted, it is ordinary text;
otherwise a hostile page could hide its actions. In a row that a host wrote for itself (noise), it counts whoever said
it: searches do not find such rows, and they repeat what people said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from palazzo.archive.erasure_filter import cover_erased_items
from palazzo.frozen_class import frozen
from palazzo.model import Part, Source
from palazzo.security.redactor import PRIVATE_RULE, redact
from palazzo.security.row_redactor import redact_json, redact_row
from palazzo.security.secret_prescan import suspects
from palazzo.security.secret_scanner import RULES_VERSION
from palazzo.store import redaction_state, tombstones
from palazzo.store.database import Connection, Database
from palazzo.text.hashed_words import Finder

if TYPE_CHECKING:
    from palazzo.archive.ingest import NewItem

_OWN_ROLES = frozenset(["user", "assistant", "author"])
_OWN_PARTS = frozenset(["text", "thinking", "tool_call"])
_IDS = frozenset(["uuid", "parent"])
_SHORTEST_LINE = 4
"""Minimum characters of a line of a private span that is searched for by itself: a shorter line can occur in any
text.
"""


@frozen
class Guard:
    """Redaction at ingest: the palace's key for its marks, and whether it redacts at all."""

    key: bytes
    redacts: bool = True
    tombstone_finder: Finder = tombstones.NOTHING
    version: bytes = b""
    """The version of the tombstones that `tombstone_finder` contains."""

    @classmethod
    def of(cls, database: Database) -> Guard:
        """Return the redaction of an open palace."""
        with database.snapshot() as connection:
            return cls.at(connection, database.redacts)

    @classmethod
    def at(cls, connection: Connection, redacts: bool) -> Guard:
        """Return the redaction of a palace as it is in this transaction."""
        finder = tombstones.finder(connection)
        return cls(redaction_state.fingerprint_key(connection), redacts, finder, tombstones.version(connection))

    @property
    def rules(self) -> int:
        """Return the version of the redaction rules."""
        return RULES_VERSION if self.redacts else redaction_state.NO_RULES

    def filings(self, filings: Sequence[NewItem]) -> list[NewItem]:
        """Return new items as they are to be kept. An item in which nothing is found is returned unchanged.

        Erased text is removed first, and again after redaction: words may have been archived with redaction marks in
        them.
        """
        clean_items = cover_erased_items(filings, self.tombstone_finder)
        if not self.redacts:
            return clean_items
        redacted_too = self._redact_items(clean_items)
        if not self.tombstone_finder:
            return redacted_too
        changed = [n for n, new_item in enumerate(redacted_too) if new_item is not clean_items[n]]
        for n, new_item in zip(
            changed, cover_erased_items([redacted_too[n] for n in changed], self.tombstone_finder), strict=True
        ):
            redacted_too[n] = new_item
        return redacted_too

    def _redact_items(self, filings: Sequence[NewItem]) -> list[NewItem]:
        extra_words = [set(_words_beside(new_item)) for new_item in filings]
        words = list(set().union(*extra_words))
        suspect_indices = suspects(
            [*map(_encode_content, filings), *(word.encode("utf-8", "surrogatepass") for word in words)]
        )
        suspect_words = {words[n - len(filings)] for n in suspect_indices if n >= len(filings)}
        return [
            redact_item(new_item, self.key)
            if n in suspect_indices or not suspect_words.isdisjoint(extra_words[n])
            else new_item
            for n, new_item in enumerate(filings)
        ]

    def source(self, source: Source) -> Source:
        """Return a source without the secrets in its title, its name or its address."""
        return _source_redacted(source, self.key) if self.redacts else source

    def words(self, text: str) -> str:
        """Return a few words (a title, a tag) without secrets, private spans and erased text."""
        clean_text = self.cover_erased_words(text)
        return self.cover_erased_words(redact(clean_text, self.key).text) if self.redacts else clean_text

    def cover_erased_words(self, text: str) -> str:
        """Return a text with █ for erased words."""
        return self.tombstone_finder.cover_text(text)

    def is_same(self, existing_raw: bytes, new_item: NewItem, original_raw: bytes | None) -> bool:
        """Return whether `existing_raw` is the same row as `new_item`, whatever was redacted in either of them.

        `original_raw` are its bytes as they came. Items may be archived with redaction off and on, and under old and
        new rules: a row that the source has not changed is the same row.
        """
        if existing_raw in (new_item.raw, original_raw) or new_item.raw is None:
            return True
        return existing_raw == redact_item(new_item, self.key).raw or (
            redact_row(existing_raw, self.key).raw == redact_row(new_item.raw, self.key).raw
        )


@lru_cache(maxsize=64)
def _source_redacted(source: Source, key: bytes) -> Source:
    """Return the guarded source; cached, since every batch of a session's rows comes from one source."""

    def words(text: str) -> str:
        return redact(text, key).text

    return replace(
        source,
        key=tuple(map(words, source.key)),
        uri=words(source.uri),
        session_id=words(source.session_id),
        title=words(source.title),
    )


def _encode_content(new_item: NewItem) -> bytes:
    """Return the bytes that show the whole text of a new item: a row's own bytes, else the words."""
    if new_item.raw is None or new_item.kind == "document":
        return new_item.text.encode("utf-8", "surrogatepass")
    return new_item.raw


def _words_beside(new_item: NewItem) -> Iterator[str]:
    """Yield what is kept of a new item besides its text. Ids of hosts are not included."""
    yield new_item.author
    yield new_item.branch
    for name, value in new_item.meta.items():
        if name not in _IDS:
            yield value if isinstance(value, str) else str(value)


def redact_item(new_item: NewItem, key: bytes) -> NewItem:
    """Return a new item without its secrets and private spans; the same object if there are none."""
    if new_item.raw is None or new_item.kind == "document":
        return _words_redacted(new_item, key)
    if new_item.kind == "noise":
        row = redact_row(new_item.raw, key)
        return _rebuild_item(new_item, key, new_item.text, row.raw, new_item.parts, row.rules, row.secrets)
    return _row_redacted(new_item, key)


def _words_redacted(new_item: NewItem, key: bytes) -> NewItem:
    """Redact a text that is its own source, or that a file encodes: the file is then kept as UTF-8."""
    text = redact(new_item.text, key, _find_trusted_ranges(new_item))
    raw = text.text.encode("utf-8", "surrogatepass") if text.edits and new_item.raw is not None else new_item.raw
    return _rebuild_item(
        new_item, key, text.text, raw, text.shift(new_item.parts), text.rules, text.secrets(new_item.text)
    )


def _row_redacted(new_item: NewItem, key: bytes) -> NewItem:
    raw = new_item.raw or b""
    row = redact_row(raw, key, private=False)
    text = redact(new_item.text, key, _find_trusted_ranges(new_item), row.secrets)
    secrets = row.secrets | text.secrets(new_item.text)
    if text.edits:
        private_count = text.rules[PRIVATE_RULE]
        for terms, private in _ways(secrets):
            row = redact_row(raw, key, terms, private)
            if row.rules[PRIVATE_RULE] >= private_count:
                break
    return _rebuild_item(
        new_item, key, text.text, row.raw, text.shift(new_item.parts), text.rules or row.rules, secrets
    )


def _ways(secrets: Mapping[str, str]) -> Iterator[tuple[Mapping[str, str], bool]]:
    """Return the ways to find in a row what its text showed, used in turn until all private text is found.

    By exact text; by its tags, if JSON within JSON spells it differently; line by line, if the text was put together
    from several of the row's strings.
    """
    yield secrets, False
    yield secrets, True
    lines = {
        line.strip(): PRIVATE_RULE
        for words, rule in secrets.items()
        if rule == PRIVATE_RULE
        for line in words.split("\n")
    }
    yield {**{line: rule for line, rule in lines.items() if len(line) >= _SHORTEST_LINE}, **secrets}, True


def _find_trusted_ranges(new_item: NewItem) -> list[tuple[int, int]]:
    """Return the ranges of a new item's text in which `<private>` counts."""
    if new_item.role not in _OWN_ROLES:
        return []
    parts = new_item.parts or (Part("text", 0, len(new_item.text)),)
    return [(part.start, part.end) for part in parts if part.kind in _OWN_PARTS]


def _rebuild_item(
    new_item: NewItem,
    key: bytes,
    text: str,
    raw: bytes | None,
    parts: tuple[Part, ...],
    rules: Counter[str],
    secrets: Mapping[str, str],
) -> NewItem:
    """Return the redacted item; its `meta` says how many spans each rule removed."""
    meta = redact_json(dict(new_item.meta), key, secrets)
    author, branch = (redact(words, key, secret_rules=secrets).text for words in (new_item.author, new_item.branch))
    if not rules and not meta.rules and (author, branch) == (new_item.author, new_item.branch):
        return new_item
    assert isinstance(meta.value, dict)  # noqa: S101 - a mapping stays one
    counts = dict(sorted((rules or meta.rules).items()))
    clean_item = replace(
        new_item, text=text, raw=raw, parts=parts, author=author, branch=branch, meta={**meta.value, "redacted": counts}
    )
    return replace(clean_item, id=new_item.name(clean_item)) if new_item.name else clean_item
