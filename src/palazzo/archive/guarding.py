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

from palazzo.archive.erased_words import without_erased
from palazzo.guard.redact import PRIVATE_RULE, redact
from palazzo.guard.redact_rows import redact_json, redact_row
from palazzo.guard.suspicion import suspects
from palazzo.model import Part, Source
from palazzo.security.secrets import RULES_VERSION
from palazzo.store import redaction, tombstones
from palazzo.store.database import Connection, Database
from palazzo.text.hashed import Finder

if TYPE_CHECKING:
    from palazzo.archive.door import Filing

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
    erased: Finder = tombstones.NOTHING
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
        erased = tombstones.finder(connection)
        return cls(redaction.fingerprint_key(connection), redacts, erased, tombstones.version(connection))

    @property
    def rules(self) -> int:
        """The version of the rules that it holds words against."""
        return RULES_VERSION if self.redacts else redaction.WITHOUT

    def filings(self, filings: Sequence[Filing]) -> list[Filing]:
        """Return filings as they are to be kept. One in which nothing is found is returned as it is.

        What was erased goes first, and again after redaction: words may have been archived with marks in them.
        """
        kept = without_erased(filings, self.erased)
        if not self.redacts:
            return kept
        redacted_too = self._redacted(kept)
        if not self.erased:
            return redacted_too
        changed = [n for n, one in enumerate(redacted_too) if one is not kept[n]]
        for n, one in zip(changed, without_erased([redacted_too[n] for n in changed], self.erased), strict=True):
            redacted_too[n] = one
        return redacted_too

    def _redacted(self, filings: Sequence[Filing]) -> list[Filing]:
        beside = [set(_words_beside(filing)) for filing in filings]
        words = list(set().union(*beside))
        found = suspects([*map(_told, filings), *(word.encode("utf-8", "surrogatepass") for word in words)])
        told = {words[n - len(filings)] for n in found if n >= len(filings)}
        return [
            redacted(filing, self.key) if n in found or not told.isdisjoint(beside[n]) else filing
            for n, filing in enumerate(filings)
        ]

    def source(self, source: Source) -> Source:
        """Return a source without the secrets that its title, its name or its address hold."""
        return _source_redacted(source, self.key) if self.redacts else source

    def words(self, text: str) -> str:
        """Return a few words (a title, a tag) without secrets, private spans and what was erased."""
        left = self.without_erased(text)
        return self.without_erased(redact(left, self.key).text) if self.redacts else left

    def without_erased(self, text: str) -> str:
        """Return words with █ for what was erased."""
        return self.erased.covered(text)

    def is_same(self, stored: bytes, filing: Filing, before: bytes | None) -> bool:
        """Whether `stored` is what `filing` brings, whatever of it was redacted then or is now.

        `before` are its bytes as they came. A palace may be fed with redaction off and on, and by old rules and
        new ones: a row that the source has not changed is the same row.
        """
        if stored in (filing.raw, before) or filing.raw is None:
            return True
        return stored == redacted(filing, self.key).raw or (
            redact_row(stored, self.key).raw == redact_row(filing.raw, self.key).raw
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


def _told(filing: Filing) -> bytes:
    """What shows all of a filing's text: a row's own bytes, else the words."""
    if filing.raw is None or filing.kind == "document":
        return filing.text.encode("utf-8", "surrogatepass")
    return filing.raw


def _words_beside(filing: Filing) -> Iterator[str]:
    """What is kept of a filing besides its text. Hosts' ids are no words."""
    yield filing.author
    yield filing.branch
    for name, value in filing.meta.items():
        if name not in _IDS:
            yield value if isinstance(value, str) else str(value)


def redacted(filing: Filing, key: bytes) -> Filing:
    """Return a filing without its secrets and private spans; the same one if there are none."""
    if filing.raw is None or filing.kind == "document":
        return _words_redacted(filing, key)
    if filing.kind == "noise":
        row = redact_row(filing.raw, key)
        return _kept(filing, key, filing.text, row.raw, filing.parts, row.rules, row.secrets)
    return _row_redacted(filing, key)


def _words_redacted(filing: Filing, key: bytes) -> Filing:
    """Words that are their own source, or that a file holds in an encoding: the file is then kept as UTF-8."""
    text = redact(filing.text, key, _believed(filing))
    raw = text.text.encode("utf-8", "surrogatepass") if text.edits and filing.raw is not None else filing.raw
    return _kept(filing, key, text.text, raw, text.shift(filing.parts), text.rules, text.secrets(filing.text))


def _row_redacted(filing: Filing, key: bytes) -> Filing:
    raw = filing.raw or b""
    row = redact_row(raw, key, private=False)
    text = redact(filing.text, key, _believed(filing), row.secrets)
    known = row.secrets | text.secrets(filing.text)
    if text.edits:
        hidden = text.rules[PRIVATE_RULE]
        for wanted, private in _ways(known):
            row = redact_row(raw, key, wanted, private)
            if row.rules[PRIVATE_RULE] >= hidden:
                break
    return _kept(filing, key, text.text, row.raw, text.shift(filing.parts), text.rules or row.rules, known)


def _ways(known: Mapping[str, str]) -> Iterator[tuple[Mapping[str, str], bool]]:
    """Ways to find in a row what its text showed, one after another until all that was private is found.

    To the letter; by its tags, where JSON within JSON spells it otherwise; line by line, where the text was put
    together from several of the row's strings.
    """
    yield known, False
    yield known, True
    lines = {
        line.strip(): PRIVATE_RULE
        for words, rule in known.items()
        if rule == PRIVATE_RULE
        for line in words.split("\n")
    }
    yield {**{line: rule for line, rule in lines.items() if len(line) >= _SHORTEST_LINE}, **known}, True


def _believed(filing: Filing) -> list[tuple[int, int]]:
    """The stretches of a filing's text in which `<private>` counts."""
    if filing.role not in _OWN_ROLES:
        return []
    parts = filing.parts or (Part("text", 0, len(filing.text)),)
    return [(part.start, part.end) for part in parts if part.kind in _OWN_PARTS]


def _kept(
    filing: Filing,
    key: bytes,
    text: str,
    raw: bytes | None,
    parts: tuple[Part, ...],
    rules: Counter[str],
    known: Mapping[str, str],
) -> Filing:
    """The filing with what is left of it; its `meta` says how many stretches went by which rule."""
    meta = redact_json(dict(filing.meta), key, known)
    author, branch = (redact(words, key, known=known).text for words in (filing.author, filing.branch))
    if not rules and not meta.rules and (author, branch) == (filing.author, filing.branch):
        return filing
    assert isinstance(meta.value, dict)  # noqa: S101 - a mapping stays one
    counts = dict(sorted((rules or meta.rules).items()))
    kept = replace(
        filing, text=text, raw=raw, parts=parts, author=author, branch=branch, meta={**meta.value, "redacted": counts}
    )
    return replace(kept, id=filing.name(kept)) if filing.name else kept
