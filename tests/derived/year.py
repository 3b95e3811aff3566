"""A year of a palace's history, made at random and told twice: to the palace, and to a plain model that keeps lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tests.archive.conversations import DAY, EPOCH, Ticking, said
from tests.derived.state import drawers

from palazzo.archive import acts, archive_reader, identity, ingest
from palazzo.archive.ingest import NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.errors import NotFound
from palazzo.index import rule_tags
from palazzo.model import Drawer, Micros, Place, Source
from palazzo.palace import Palace
from palazzo.store import items, source_rows

PLACES = (Place("api", "auth"), Place("api", "cache"), Place("web", "login"))
SESSION = Source(("session", "year"), "test", "file:///year.jsonl", "year", "A year")
GUIDES = tuple(Source(("p", f"{name}.md"), "document", f"file:///{name}.md", "", name) for name in ("one", "two"))
MONTHS = [EPOCH + n * 365 * DAY // 12 for n in range(1, 14)]
"""Ends of months: twelve of them, and one after the end of the year."""


@dataclass
class Deed:
    """What was done to some words, from when on, and until when it counted."""

    kind: str
    value: object
    at: int
    until: int | None = None

    def counts(self, at: int) -> bool:
        return self.at <= at and (self.until is None or at < self.until)


@dataclass
class Words:
    """A note, a message or a version of a document: when it was there, and what was done to it."""

    text: str
    place: Place
    there: list[list[int | None]]
    deeds: list[Deed] = field(default_factory=list)
    is_message: bool = False

    def seen(self, at: int) -> bool:
        there = any(since is not None and since <= at and (end is None or at < end) for since, end in self.there)
        return there and not any(deed.kind in ("forget", "leave out") and deed.counts(at) for deed in self.deeds)

    def stands(self, at: int) -> tuple[str, Place | None, frozenset[str]]:
        """The text with its place and tags; of a message the text alone: it shares a drawer with others."""
        if self.is_message:
            return self.text, None, frozenset()
        counted = [deed for deed in self.deeds if deed.counts(at)]
        place = next((deed.value for deed in reversed(counted) if deed.kind == "move"), self.place)
        on: dict[object, bool] = {}
        for deed in counted:
            if deed.kind in ("tag", "untag"):
                on[deed.value] = deed.kind == "tag"
        assert isinstance(place, Place)
        return self.text, place, frozenset(str(tag) for tag, is_on in on.items() if is_on)


Told = set[tuple[str, Place | None, frozenset[str]]]


def shown(drawer: Drawer) -> Told:
    """What a drawer shows, in the model's terms."""
    texts = drawer.text.split("\n\n")
    if drawer.source.kind == "test":
        return {(text, None, frozenset()) for text in texts}
    tags = frozenset(tag for tag in drawer.tags if not rule_tags.by_rule(tag))
    return {(text, drawer.place, tags) for text in texts}


class Year:
    """The palace and the model, told the same."""

    def __init__(self, palace: Palace, seed: int) -> None:
        self.palace, self.random = palace, Random(seed)
        assert isinstance(palace.machine_clock, Ticking)
        self.clock = palace.machine_clock
        self.words: list[Words] = []
        self._by_text: dict[str, Words] = {}
        self._groups: list[Callable[[int], None]] = []
        self._rows = 0
        self._last_said = 0
        self._begun: dict[Source, int] = {}
        self._left_out: dict[Source, list[Deed]] = {}
        self._versions: dict[Source, list[str]] = {}

    def live(self, steps: int) -> None:
        """Let so many things happen, spread over the year."""
        for n in range(steps):
            self.clock.now = EPOCH + n * 365 * DAY // steps + self.random.randrange(DAY // 100)
            self.random.choice(
                (
                    self.remember,
                    self.say,
                    self.say,
                    self.grow,
                    self.write,
                    self.leave_out,
                    self.forget,
                    self.move,
                    self.tag,
                    self.untag,
                    self.undo,
                    self.undo,
                )
            )()

    def expected(self, at: int) -> Told:
        return {words.stands(at) for words in self.words if words.seen(at)}

    # --- what happens --------------------------------------------------------------------------------------

    def remember(self) -> None:
        words = self._new(self.random.choice(PLACES), self.clock.now + 1_000_000)
        tags = self.random.sample(["urgent", "later"], self.random.randrange(2))
        self.palace.remember(words.text, words.place, tags=tags)
        words.deeds.extend(Deed("tag", tag, self.clock.now - 10_000_000) for tag in tags)

        def taken_back(at: int) -> None:
            was_seen = words.seen(at)
            for deed in words.deeds[: len(tags)]:
                deed.until = at
            if was_seen:
                words.deeds.append(Deed("forget", None, at))

        self._groups.append(taken_back)

    def say(self) -> None:
        self._say("user")
        self._say("assistant")

    def grow(self) -> None:
        if self._rows:
            self._say("assistant")

    def write(self) -> None:
        source = self.random.choice(GUIDES)
        written, filed = self.clock.now - self.random.randrange(2 * DAY), self.clock.now + 1_000_000
        before = self._begun.get(source)
        old = self._versions.setdefault(source, [])
        if before is not None and len(old) > 1 and self.random.random() < 0.3:
            words = self._by_text[self.random.choice(old[:-1])]
            begins = filed
        else:
            words = self._new(PLACES[0], written)
            words.there.clear()
            begins = written if before is None or before < written else filed
        if old:
            self._by_text[old[-1]].there[-1][1] = begins
        words.there.append([begins, None])
        old.append(words.text)
        self._begun[source] = begins
        uid = identity.version_id(source.key, words.text)
        raw = words.text.encode()
        filing = NewItem(uid, words.text, "document", "author", raw, created_at=Micros(written), trust="repo")
        with self.palace.database.transaction() as connection:
            now = self.palace.clock()
            prepared = ingest.prepare([filing], Guard.of(self.palace.database))
            receipt = ingest.file(connection, source, PLACES[0], prepared, now)
            source_rows.file_revision(connection, receipt.source, receipt.rows[0], now)

    def leave_out(self) -> None:
        """A rule leaves a document's current version out, or takes it in again."""
        source = self.random.choice(GUIDES)
        if not self._versions.get(source):
            return
        words = self._by_text[self._versions[source][-1]]
        standing = [deed for deed in words.deeds if deed.kind == "leave out" and deed.until is None]
        kind, now = "take-in" if standing else "leave-out", self.clock()
        uid = bytes.fromhex(identity.version_id(source.key, words.text))
        with self.palace.database.transaction() as connection:
            (row,) = items.known_items(connection, [uid]).values()
            acts.act_on_items(connection, kind, [row], "rules", now, {})  # type: ignore[arg-type]
        for deed in standing:
            deed.until = now
        if not standing:
            words.deeds.append(Deed("leave out", None, now))

    def forget(self) -> None:
        chosen = self._some()
        self._act("forget", None, chosen, lambda ids: self.palace.forget(ids))

    def move(self) -> None:
        place = self.random.choice(PLACES)
        self._act("move", place, self._some(), lambda ids: self.palace.move(ids, place))

    def tag(self) -> None:
        self._act("tag", "urgent", self._some(), lambda ids: self.palace.tag(ids, "urgent"))

    def untag(self) -> None:
        self._act("untag", "urgent", self._some(), lambda ids: self.palace.untag(ids, "urgent"))

    def undo(self) -> None:
        try:
            self.palace.undo()
        except NotFound:
            assert not self._groups
            return
        self._groups.pop()(self.clock.now)

    # --- parts ---------------------------------------------------------------------------------------------

    def _new(self, place: Place, since: int) -> Words:
        text = f"word{len(self.words):04d} stands on the pier"
        self.words.append(Words(text, place, [[since, None]]))
        self._by_text[text] = self.words[-1]
        return self.words[-1]

    def _say(self, role: str) -> None:
        """A message, of which the palace may hear only weeks later."""
        heard = self.clock()
        self._last_said = max(self._last_said + 1, heard - self.random.randrange(20 * DAY))
        words = self._new(PLACES[0], self._last_said)
        words.is_message = True
        self._rows += 1
        row = said(self._rows, role, words.text, created_at=Micros(self._last_said))  # type: ignore[arg-type]
        with self.palace.database.transaction() as connection:
            prepared = ingest.prepare([row], Guard.of(self.palace.database))
            ingest.file(connection, SESSION, PLACES[0], prepared, heard)

    def _some(self) -> list[Drawer]:
        found = drawers(self.palace)
        return self.random.sample(found, min(len(found), self.random.randrange(1, 3)))

    def _act(self, kind: str, value: object, chosen: list[Drawer], act: Callable[[list[str]], object]) -> None:
        if not chosen:
            return
        act([drawer.id for drawer in chosen])
        done = []
        for drawer in chosen:
            for text in drawer.text.split("\n\n"):
                done.append(Deed(kind, value, self.clock.now))
                self._by_text[text].deeds.append(done[-1])

        def taken_back(at: int) -> None:
            for deed in done:
                deed.until = at

        self._groups.append(taken_back)


def as_of(palace: Palace, at: int) -> Told:
    """What the palace shows as of a moment, drawer by drawer."""
    with palace.as_of(Micros(at)) as connection:
        rows = [int(row) for (row,) in connection.execute("SELECT id FROM drawer WHERE retired_at IS NULL")]
        return {told for row in rows for told in shown(archive_reader.read_drawer(connection, row))}
