"""The guard at the door: secrets and private spans leave what is filed, before anything of it is kept.

A row's own bytes and the text that was read from them are redacted together, so that they agree: what is found
in one goes from the other. An id that hashes words hashes those that are kept, so that it confirms no guess.

Whose private spans count. A person may keep words to themself, and so may an agent: `<private>` counts in what
they say, in documents and in notes. In what a tool printed or a host inserted it is text like any other, or a
hostile page could hide what it did. In a row that a host wrote for itself (noise) it counts for everybody:
nothing is found by such rows, and they repeat what people said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from palazzo.archive.erasure_filter import cover_erased_items
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
"""Characters of a line of a private span that is looked for alone: a shorter one is any text's."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What the door does to words: the palace's key for its marks, and whether it redacts at all."""

    key: bytes
    redacts: bool = True
    tombstone_finder: Finder = tombstones.NOTHING
    version: bytes = b""
    """Which tombstones `erased` knows."""

    @classmethod
    def of(cls, database: Database) -> Guard:
        """Return the guard of an open palace."""
        with database.snapshot() as connection:
            return cls.at(connection, database.redacts)

    @classmethod
    def at(cls, connection: Connection, redacts: bool) -> Guard:
        """Return the guard of a palace as it is in this transaction."""
        finder = tombstones.finder(connection)
        return cls(redaction_state.fingerprint_key(connection), redacts, finder, tombstones.version(connection))

    @property
    def rules(self) -> int:
        """The version of the rules that it holds words against."""
        return RULES_VERSION if self.redacts else redaction_state.NO_RULES

    def filings(self, filings: Sequence[NewItem]) -> list[NewItem]:
        """Return filings as they are to be kept. One in which nothing is found is returned as it is.

        What was erased goes first, and again after redaction: words may have been archived with marks in them.
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
        """Return a source without the secrets that its title, its name or its address hold."""
        return _source_redacted(source, self.key) if self.redacts else source

    def words(self, text: str) -> str:
        """Return a few words (a title, a tag) without secrets, private spans and what was erased."""
        clean_text = self.cover_erased_words(text)
        return self.cover_erased_words(redact(clean_text, self.key).text) if self.redacts else clean_text

    def cover_erased_words(self, text: str) -> str:
        """Return words with █ for what was erased."""
        return self.tombstone_finder.cover_text(text)

    def is_same(self, existing_raw: bytes, new_item: NewItem, original_raw: bytes | None) -> bool:
        """Whether `stored` is what `filing` brings, whatever of it was redacted then or is now.

        `before` are its bytes as they came. A palace may be fed with redaction off and on, and by old rules and
        new ones: a row that the source has not changed is the same row.
        """
        if existing_raw in (new_item.raw, original_raw) or new_item.raw is None:
            return True
        return existing_raw == redact_item(new_item, self.key).raw or (
            redact_row(existing_raw, self.key).raw == redact_row(new_item.raw, self.key).raw
        )


@lru_cache(maxsize=64)
def _source_redacted(source: Source, key: bytes) -> Source:
    """Kept for a while: every batch of a session's rows comes from one source."""

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
    """What shows all of a filing's text: a row's own bytes, else the words."""
    if new_item.raw is None or new_item.kind == "document":
        return new_item.text.encode("utf-8", "surrogatepass")
    return new_item.raw


def _words_beside(new_item: NewItem) -> Iterator[str]:
    """What is kept of a filing besides its text. Hosts' ids are no words."""
    yield new_item.author
    yield new_item.branch
    for name, value in new_item.meta.items():
        if name not in _IDS:
            yield value if isinstance(value, str) else str(value)


def redact_item(new_item: NewItem, key: bytes) -> NewItem:
    """Return a filing without its secrets and private spans; the same one if there are none."""
    if new_item.raw is None or new_item.kind == "document":
        return _words_redacted(new_item, key)
    if new_item.kind == "noise":
        row = redact_row(new_item.raw, key)
        return _rebuild_item(new_item, key, new_item.text, row.raw, new_item.parts, row.rules, row.secrets)
    return _row_redacted(new_item, key)


def _words_redacted(new_item: NewItem, key: bytes) -> NewItem:
    """Words that are their own source, or that a file holds in an encoding: the file is then kept as UTF-8."""
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
    """Ways to find in a row what its text showed, one after another until all that was private is found.

    To the letter; by its tags, where JSON within JSON spells it otherwise; line by line, where the text was put
    together from several of the row's strings.
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
    """The stretches of a filing's text in which `<private>` counts."""
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
    """The filing with what is left of it; its `meta` says how many stretches went by which rule."""
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
