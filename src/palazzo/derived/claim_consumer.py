"""Claim consumer: the claims of drawers, and which of them contradict earlier claims.

An asynchronous consumer of the log. It runs in the background and when suggestions or conflicts are requested; ingest
never waits for it. Claims are a function of a drawer's text. A conflict, once found, is a record
(`store/conflict_rows`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from palazzo.index.failure_isolation import OtherThingFailed, drawer_label, letter, process_text
from palazzo.knowledge import compared_text, contradictions
from palazzo.knowledge.clauses import bag
from palazzo.knowledge.compared_text import ComparedText
from palazzo.knowledge.documented_facts import is_change_log
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.knowledge.rules.claim import Claim, candidate
from palazzo.knowledge.statements import may_claim
from palazzo.model import USERS_WING, Micros, Part
from palazzo.store import claim_rows, conflict_rows, dead_letters, fact_rows, items, place_rows
from palazzo.store.change_log import Change, ChangeKind
from palazzo.store.claim_rows import ClaimRow, ToRead
from palazzo.store.database import Connection
from palazzo.store.fact_rows import Version
from palazzo.store.json_columns import decode_string, string_at

_LONGEST = 50_000
"""Maximum characters of a message. A longer one is treated as a dump."""
_CANDIDATES = 20
"""Maximum number of drawers with which a claim is compared, newest first."""
_WORDS_ASKED = 4
_COMMON = 6
"""Number of drawers from which a plain word is not the name of a thing: `drawer` in a palace about drawers."""
_PROSE = (".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", ".org", "")
_TEXTS_KEPT = 4_000
"""Parsed texts that a run of the consumer keeps: parsing is nine tenths of its work, and claims are compared with the
same drawers of their wing, and with the same facts, again and again.
"""
Parse = Callable[[str, str], ComparedText]
"""Parses a text; the second argument says who speaks."""
_MOST_FACTS = 2_000
"""Maximum number of open facts with which claims are compared; if there are more, the newest."""
FACTS = "claim/fact"
"""The consumer that sets aside facts that cannot be compared with claims."""


class ClaimConsumer:
    """The consumer that stores claims, and records the conflicts that it finds with the time `now`."""

    name = "claim"
    version = 1
    kinds: tuple[ChangeKind, ...] = ("drawer+", "drawer-", "drawer~", "reset")
    at_once = 100

    def __init__(self, now: Micros) -> None:
        self.now = now
        self._parse = lru_cache(_TEXTS_KEPT)(compared_text.tell)

    def find_affected_things(self, connection: Connection, log: Sequence[Change]) -> list[int]:
        """Return the drawers that these changes concern."""
        return sorted({change.ref for change in log})

    def everything(self, connection: Connection) -> list[int]:
        """Return the live drawers, and all drawers with stored claims."""
        rows = connection.execute(
            "SELECT id FROM drawer WHERE retired_at IS NULL UNION SELECT drawer FROM claim ORDER BY 1"
        )
        return [int(row) for (row,) in rows]

    def make(self, connection: Connection, things: Sequence[int]) -> ClaimBatch:
        """Process these drawers again, and compare them with the rest of their wing."""
        drawers = list(_read(connection, things, self._parse))
        comparison = _ClaimComparison(connection, self._parse)
        found_conflicts = list(comparison.conflicts(drawers))
        return ClaimBatch([row for drawer in drawers for row in drawer.rows], found_conflicts, comparison.retried_facts)

    def keep(self, connection: Connection, things: Sequence[int], output: ClaimBatch) -> None:
        """Store their claims, and record the contradictions."""
        self.drop(connection, things)
        claim_rows.insert(connection, output.rows)
        dead_letters.clear(connection, FACTS, output.retried_facts)
        for kind, earlier, later, _ in sorted(output.conflicts, key=lambda one: one.at):
            is_contradicted = conflict_rows.is_contradicted(connection, earlier) if earlier.item else False
            if not is_contradicted and conflict_rows.find(connection, kind, earlier, later) is None:
                conflict_rows.record(connection, kind, earlier, later, self.now)

    def drop(self, connection: Connection, things: Sequence[int]) -> None:
        """Remove the claims of these drawers."""
        claim_rows.drop(connection, things)

    def label(self, connection: Connection, thing: int) -> str:
        """Return a drawer's name for a person."""
        return drawer_label(connection, thing)


class ClaimBatch(NamedTuple):
    """The claims of drawers, and those that contradict something."""

    rows: list[ClaimRow]
    conflicts: list[ConflictCandidate]
    retried_facts: frozenset[int]
    """Facts that another release of Palazzo set aside and that this release can compare."""


def sample(connection: Connection, size: int) -> list[int]:
    """Return a sample of processed drawers, spread over all."""
    newest = next(connection.execute("SELECT coalesce(max(drawer), 0) FROM claim"))[0]
    rows = []
    for n in range(size):
        rows += claim_rows.live_drawers(connection, n * newest // size, 1)
    return sorted({row for row in rows if row <= newest})


def expected(connection: Connection, drawers: Sequence[int]) -> list[ClaimRow]:
    """Return the claims that these drawers make, in order."""
    return [row for drawer in _read(connection, drawers, compared_text.tell) for row in drawer.rows]


# --- reading -----------------------------------------------------------------------------------------------


class _Stretch:
    """A range of an item with one speaker, read for claims."""

    def __init__(self, item: int, uid: str, start: int, parsed_text: ComparedText, document: str | None) -> None:
        self.item, self.uid, self.start, self.told = item, uid, start, parsed_text
        self.is_document = document is not None
        self.is_change_log = document is not None and is_change_log(document)

    def side(self, place: tuple[int, int]) -> conflict_rows.Claim:
        return conflict_rows.Claim(None, self.uid, self.start + place[0], self.start + place[1])


class _Read:
    """A drawer with its claims."""

    def __init__(self, drawer: ToRead, stretches: Sequence[_Stretch], unread: Sequence[str]) -> None:
        self.drawer, self.stretches, self.unread = drawer, stretches, unread
        self.rows = [_row(drawer, stretch, claim) for stretch in stretches for claim in stretch.told.claims]


def _row(drawer: ToRead, stretch: _Stretch, claim: Claim) -> ClaimRow:
    fact = candidate(claim)
    return ClaimRow(
        drawer.drawer,
        stretch.item,
        stretch.start + claim.start,
        stretch.start + claim.end,
        claim.kind,
        fact.subject if fact else claim.subject,
        fact.predicate if fact else "",
        fact.object if fact else claim.object,
        claim.old,
        "" if claim.kind == "ended" else claim.object,
        drawer.said_at,
    )


def _read(connection: Connection, rows: Sequence[int], parse: Parse, everything: bool = False) -> Iterator[_Read]:
    drawers = claim_rows.to_read(connection, rows)
    sources = {
        int(row): (str(uri), decode_string(path))
        for row, uri, path in connection.execute(
            f"SELECT id, uri, {string_at('key', '$[#-1]')} FROM source WHERE id IN ({','.join('?' * len(drawers))})",
            [entry.source for entry in drawers],
        )
    }
    rows_of_items = sorted({item for entry in drawers for item, _, _ in entry.spans})
    items_by_row = _items(connection, rows_of_items)
    for drawer in drawers:
        passages = [
            (item, uid, text[low:high], role, low)
            for item, start, end in drawer.spans
            for uid, text, role, low, high in _voices(items_by_row.get(item), start, end, sources[drawer.source][0])
            if high - low <= _LONGEST
        ]
        worth = [entry for entry in passages if everything or may_claim(entry[2], entry[3])]
        stretches = [
            _Stretch(
                item,
                uid,
                low,
                parse(text, role),
                sources[drawer.source][1] if items_by_row[item][1] == "document" else None,
            )
            for item, uid, text, role, low in worth
        ]
        yield _Read(drawer, stretches, tuple(entry[2] for entry in passages if entry not in worth))


def _items(connection: Connection, rows: Sequence[int]) -> dict[int, tuple[str, str, str, str, tuple[Part, ...]]]:
    """Return (id, kind, role, text, parts) of the items with a speaker, by row id."""
    items_by_row = {}
    texts = items.read_texts(connection, rows)
    for start in range(0, len(rows), 500):
        part = rows[start : start + 500]
        for row, uid, kind, role, parts in connection.execute(
            f"SELECT id, uid, kind, role, parts FROM item WHERE id IN ({','.join('?' * len(part))})"
            " AND standing = 'said' AND trust <> 'external'",
            part,
        ):
            items_by_row[int(row)] = (bytes(uid).hex(), str(kind), str(role), texts[int(row)], items.load_parts(parts))
    return items_by_row


def _voices(
    item: tuple[str, str, str, str, tuple[Part, ...]] | None, start: int, end: int, uri: str
) -> Iterator[tuple[str, str, str, int, int]]:
    """Yield (id, text, role, from, to) of the ranges of an item with a speaker."""
    if item is None:
        return
    uid, kind, role, text, parts = item
    if kind == "document" and not uri.lower().endswith(_PROSE[:-1]):
        return
    if not parts:
        yield uid, text, role, start, end
        return
    for part in parts:
        low, high = max(start, part.start), min(end, part.end)
        if low >= high or part.kind not in ("text", "tool_result") or part.failed or part.trust == "external":
            continue
        yield uid, text, "tool" if part.kind == "tool_result" else role, low, high


# --- comparing ---------------------------------------------------------------------------------------------


class ConflictCandidate(NamedTuple):
    """A conflict: its kind, both sides, and the time of the later statement.

    If something is contradicted repeatedly, only the first contradiction is recorded.
    """

    kind: str
    earlier: conflict_rows.Claim
    later: conflict_rows.Claim
    at: int


class _ClaimComparison:
    """Compares drawers with the rest of their wing, in one snapshot."""

    def __init__(self, connection: Connection, parse: Parse) -> None:
        self._connection, self._parse = connection, parse
        self._known: dict[int, _Read] = {}
        self._changes: dict[int, list[tuple[frozenset[str], int]]] = {}
        self._facts = _OpenFacts(connection, parse)
        self._set_aside = dead_letters.things(connection, ClaimConsumer.name)

    @property
    def retried_facts(self) -> frozenset[int]:
        """Return the facts that another release had set aside, and that were processed for this comparison."""
        return self._facts.retried

    def conflicts(self, drawers: Sequence[_Read]) -> Iterator[ConflictCandidate]:
        self._known.update((drawer.drawer.drawer, drawer) for drawer in drawers)
        for skimmed_drawer in drawers:
            other_drawers = self._comparable_drawers(skimmed_drawer)
            drawer = self._whole(skimmed_drawer) if other_drawers else skimmed_drawer
            for other_drawer in other_drawers:
                sides = (drawer, other_drawer)
                earlier, later = sorted(sides, key=lambda side: (side.drawer.said_at, side.drawer.drawer))
                yield from _between(earlier, later)
            for stretch in drawer.stretches:
                yield from self._facts.conflicts(stretch, drawer.drawer)

    def _comparable_drawers(self, drawer: _Read) -> list[_Read]:
        """Return the drawers that may contradict this one."""
        rows: set[int] = set()
        for stretch in drawer.stretches:
            for claim in stretch.told.claims:
                rows.update(self._find_candidates(claim, drawer.drawer.wing))
        words = None
        for old_words, row in self._changes_in(drawer.drawer.wing):
            if words is None:
                words = frozenset().union(
                    *(stretch.told.words for stretch in drawer.stretches), *map(bag, drawer.unread)
                )
            if old_words <= words:
                rows.add(row)
        rows.discard(drawer.drawer.drawer)
        unread_rows = sorted(rows - self._known.keys() - self._set_aside)
        self._known.update(
            (other_drawer.drawer.drawer, other_drawer) for other_drawer in self._read_others(unread_rows)
        )
        return [self._known[row] for row in sorted(rows) if row in self._known]

    def _read_others(self, rows: Sequence[int]) -> list[_Read]:
        """Read drawers for comparison. One that fails is set aside, not the drawer compared with it."""
        drawers = process_text(lambda: list(_read(self._connection, rows, self._parse, everything=True)))
        if isinstance(drawers, Exception):
            return [drawer for row in rows for drawer in self._read_other(row)]
        return drawers

    def _read_other(self, row: int) -> list[_Read]:
        drawers = process_text(lambda: list(_read(self._connection, [row], self._parse, everything=True)))
        if isinstance(drawers, Exception):
            label = drawer_label(self._connection, row)
            raise OtherThingFailed(
                letter(ClaimConsumer.name, row, label, ClaimConsumer.version, drawers), drawers
            ) from drawers
        return drawers

    def _whole(self, drawer: _Read) -> _Read:
        """Return the drawer with the text that makes no claim itself but may be contradicted."""
        if not drawer.unread:
            return drawer
        return next(_read(self._connection, [drawer.drawer.drawer], self._parse, everything=True))

    def _find_candidates(self, claim: Claim, wing: int) -> list[int]:
        if claim.value is None and not claim.old:
            return []
        terms = bag(claim.old) or claim.about or claim.words
        words = sorted((word for word in terms if word[:1].isalnum()), key=len, reverse=True)[:_WORDS_ASKED]
        rows = claim_rows.find_holders(self._connection, words, wing, _CANDIDATES) if words else []
        return [] if _is_plain(claim.old) and len(rows) >= _COMMON else rows

    def _changes_in(self, wing: int) -> list[tuple[frozenset[str], int]]:
        if wing not in self._changes:
            rows = claim_rows.changes_in(self._connection, wing)
            pairs = ((bag(row.old), row.drawer) for row in rows if not _is_plain(row.old))
            self._changes[wing] = [(old, drawer) for old, drawer in pairs if old]
        return self._changes[wing]


def _is_plain(thing: str) -> bool:
    """Return whether a thing's name is a single plain word, which may be any word."""
    return thing.isalpha() and thing.islower()


def _between(earlier: _Read, later: _Read) -> Iterator[ConflictCandidate]:
    for earlier_stretch in earlier.stretches:
        for later_stretch in later.stretches:
            if earlier_stretch.item != later_stretch.item:
                # Two pages of one tree have different values at the same time: of two, neither is the newer one.
                switches_only = earlier_stretch.is_document and later_stretch.is_document
                # And what release notes say was switched, the tree's other pages say by now.
                if switches_only and (earlier_stretch.is_change_log or later_stretch.is_change_log):
                    continue
                for contradiction in contradictions.contradictions(
                    earlier_stretch.told, later_stretch.told, switches_only
                ):
                    yield ConflictCandidate(
                        contradiction.kind,
                        earlier_stretch.side(contradiction.earlier),
                        later_stretch.side(contradiction.later),
                        later.drawer.said_at,
                    )


class _OpenFacts:
    """The current facts, each as the sentence that a claim can contradict."""

    def __init__(self, connection: Connection, parse: Parse) -> None:
        self._connection, self._parse = connection, parse
        self._by_word: dict[str, list[tuple[int, int | None, ComparedText]]] | None = None
        self.retried: frozenset[int] = frozenset()

    def conflicts(self, stretch: _Stretch, drawer: ToRead) -> Iterator[ConflictCandidate]:
        """Yield the conflicts of a range with the facts that hold in its drawer's wing."""
        checked_facts: set[int] = set()
        for claim in stretch.told.claims:
            for word in bag(claim.old) | claim.words:
                for fact, wing, fact_text in self._facts_by_word().get(word, ()):
                    if fact in checked_facts or wing not in (None, drawer.wing):
                        continue
                    checked_facts.add(fact)
                    for contradiction in contradictions.contradictions(fact_text, stretch.told):
                        later = stretch.side(contradiction.later)
                        yield ConflictCandidate(contradiction.kind, conflict_rows.Claim(fact), later, drawer.said_at)

    def _facts_by_word(self) -> dict[str, list[tuple[int, int | None, ComparedText]]]:
        """Return the facts by each of their words: (row id, the wing where it holds or None for all, its text)."""
        if self._by_word is None:
            self._by_word = defaultdict(list)
            beliefs = Beliefs(self._connection)
            self.retried = frozenset(dead_letters.of_other_releases(self._connection, FACTS))
            set_aside = dead_letters.things(self._connection, FACTS) - self.retried
            versions = fact_rows.versions(self._connection, beliefs.known_at)
            open_versions = [version for version in versions if version.valid_to is None]
            rows_of_wings = {name: row for row, name in place_rows.wings(self._connection).items()}
            for version in open_versions[-_MOST_FACTS:]:
                if version.fact in set_aside:
                    continue
                fact_text = _read_fact(beliefs, version, self._parse)
                wing = None if version.wing in (None, USERS_WING) else rows_of_wings.get(version.wing, 0)
                for word in fact_text.words:
                    self._by_word[word].append((version.fact, wing, fact_text))
        return self._by_word


def retry_facts(connection: Connection) -> None:
    """Retry the facts that are set aside. Those that fail again stay set aside."""
    beliefs, letters = Beliefs(connection), dead_letters.things(connection, FACTS)
    failed = set()
    for version in fact_rows.versions(connection, beliefs.known_at) if letters else ():
        if version.fact in letters and version.valid_to is None:
            try:
                _read_fact(beliefs, version, compared_text.tell)
            except OtherThingFailed:
                failed.add(version.fact)
    dead_letters.clear(connection, FACTS, letters - failed)


def _read_fact(beliefs: Beliefs, version: Version, parse: Parse) -> ComparedText:
    """Return a fact's text for comparison. Raises OtherThingFailed if the fact has words that cannot be processed."""
    words = sentence(beliefs.name(version.subject), version.predicate_name, beliefs.name(version.object))

    def read() -> ComparedText:
        text = parse(words, "author")
        _ = text.words  # computed here and cached, so that an error in it is this fact's
        return text

    fact_text = process_text(read)
    if isinstance(fact_text, Exception):
        dead = letter(FACTS, version.fact, f"fact {version.uid}", ClaimConsumer.version, fact_text)
        raise OtherThingFailed(dead, fact_text) from fact_text
    return fact_text


_SENTENCES = {
    "uses": "{s} uses {o}.",
    "version": "{s} is at {o}.",
    "runs_on_port": "{s} listens on port {o}.",
    "located_at": "{s} is at {o}.",
    "has_value": "{s} is {o}.",
    "owned_by": "{s} is owned by {o}.",
    "depends_on": "{s} needs {o}.",
}


def sentence(subject: str, predicate: str, thing: str) -> str:
    """Return a fact as a sentence that the rules can read."""
    if predicate == "enabled":
        return f"{subject} is {'enabled' if thing == 'true' else 'disabled'}."
    return _SENTENCES.get(predicate, "{s} {p} {o}.").format(s=subject, p=predicate.replace("_", " "), o=thing)
