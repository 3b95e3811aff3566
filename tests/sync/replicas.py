"""Palaces of one person on several machines, which write apart from each other and tell each other what they hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.archive.conversations import EPOCH, answered, file_rows, file_version, said
from tests.index.hashed_words import HashedWords

from palazzo.derived.integrity_checks import verify
from palazzo.errors import PalazzoError
from palazzo.index.query import Query
from palazzo.model import Micros, Place, Source
from palazzo.operations import registry
from palazzo.operations.context import Context
from palazzo.palace import Palace
from palazzo.store import redaction_state
from palazzo.sync import record_lines, record_reader, remote_erasures
from palazzo.sync.merge import Report, merge
from palazzo.sync.records.record_kind import Record

BIRDS = ("heron", "curlew", "plover", "dunlin", "knot", "tern", "gull", "avocet")
WINGS, ROOMS = ("shop", "till", "api"), ("auth", "cart", "docs")
NAMES = ("Heron", "heron", "redis", "valkey", "db", "api")
PREDICATES = ("uses", "listens on")
SECRETS = ("waterloo sunset", "lacrimosa aeterna", "paraklausithyron")


class Replica:
    """A palace with its own clock, which is a little off, and every kind of write, chosen by chance."""

    def __init__(self, where: Path, number: int, key: bytes, chances: Random) -> None:
        self.number, self.chances = number, chances
        self.now = EPOCH + number * 7_000
        where.mkdir(parents=True, exist_ok=True)
        self.palace = Palace.open(where / "palace.db", embedder=HashedWords, clock=self.clock)
        with self.palace.database.outside_transaction() as raw:
            raw.execute("PRAGMA synchronous=OFF")  # no power is cut here
        with self.palace.database.transaction() as connection:
            redaction_state.adopt_fingerprint_key(connection, key)
        self.context = Context(
            palace=where / "palace.db",
            cwd=where,
            variables={"HOME": str(where), "PALAZZO_SERVICE": "off"},
            clock=self.clock,
            palace_opener=lambda context, mode: self.palace,
        )
        self.done: list[str] = []

    def clock(self) -> Micros:
        """Some milliseconds further at each look; no two machines ever have the same."""
        self.now += 1_000 * (11 + 3 * self.chances.randrange(400)) if self.chances.random() < 0.9 else 1_000 * 33
        return Micros(self.now - self.now % 21_000 + self.number * 7_000)

    def close(self) -> None:
        self.palace.close()

    def run(self, operation_name: str, /, **request: Any) -> Any:
        operation = registry.operation(operation_name)
        return operation.run(self.context, operation.request(**request))

    # --- telling -------------------------------------------------------------------------------------------

    def records(self) -> list[Record]:
        """All that is true here, as another machine is told it."""
        with self.palace.database.snapshot() as connection:
            return list(record_reader.records(connection, tombstones=True, addresses=False))

    def canonical(self) -> bytes:
        return b"".join(map(record_lines.to_line, self.records()))

    def hear(self, records: Iterable[Record]) -> Report:
        """Take in what another machine told."""
        lines = [record_lines.to_line(one) for one in records]
        report = merge(self.palace.database, map(record_lines.from_line, lines), self.clock)
        remote_erasures.seek(self.palace.database, self.clock)
        return report

    def complaints(self) -> list[str]:
        return [f"{one.name}: {one.detail}" for one in verify(self.palace.database, HashedWords) if not one.ok]

    def found(self, words: str) -> list[tuple[str, float]]:
        answer = self.palace.search(Query(words, limit=20))
        return [(hit.drawer.id, round(hit.score, 12)) for hit in answer.hits]

    # --- writing -------------------------------------------------------------------------------------------

    def write(self) -> None:
        """Do one thing. What cannot be done as things stand is refused, which is fine."""
        name = self.chances.choice(sorted(WRITES))
        try:
            WRITES[name](self, self.chances)
            self.done.append(name)
        except PalazzoError as error:
            self.done.append(f"{name} refused: {error}"[:100])

    def words(self) -> str:
        more = self.chances.sample(BIRDS, 3)
        secret = [self.chances.choice(SECRETS)] if self.chances.random() < 0.15 else []
        told = " ".join([*more[1:], *secret])
        return f"the {more[0]} of machine {self.number} saw {told} at {self.chances.randrange(9)}"

    def place(self) -> Place:
        return Place(self.chances.choice(WINGS), self.chances.choice(ROOMS))

    def drawers(self, most: int = 2) -> list[str]:
        with self.palace.database.snapshot() as connection:
            rows = connection.execute("SELECT uid FROM drawer WHERE retired_at IS NULL ORDER BY uid")
            there = [bytes(uid).hex() for (uid,) in rows]
        return self.chances.sample(there, min(len(there), self.chances.randint(1, most)))

    def ids(self, select: str) -> list[str]:
        with self.palace.database.snapshot() as connection:
            return [bytes(uid).hex() for (uid,) in connection.execute(select)]

    def rooms(self) -> list[str]:
        with self.palace.database.snapshot() as connection:
            return [
                f"{wing}/{room}"
                for wing, room in connection.execute(
                    "SELECT wing.name, room.name FROM room JOIN wing ON wing.id = room.wing"
                    " WHERE room.merged_into IS NULL ORDER BY 1, 2"
                )
            ]


def _any(chances: Random, there: Sequence[str]) -> str:
    return chances.choice(there) if there else "0" * 32


def _remember(it: Replica, chances: Random) -> None:
    it.palace.remember(it.words(), it.place(), tags=["seen"] if chances.random() < 0.3 else [])


def _converse(it: Replica, chances: Random) -> None:
    """A session that every machine has: rows of it, archived apart from each other."""
    session = chances.choice(["s1", "s2"])
    source = Source(("session", session), "test", f"file:///m{it.number}/{session}.jsonl", session, f"S {it.number}")
    start = chances.randrange(6)
    rows = []
    for n in range(start, start + 3):
        words = f"row {n} about the {BIRDS[n % 8]}"
        rows.append(answered(n, words, "c") if n % 3 == 2 else said(n, "assistant" if n % 3 else "user", words))
    file_rows(it.palace, rows, source=source, place=it.place())


def _version(it: Replica, chances: Random) -> None:
    file_version(it.palace, f"# Guide\n\nThe {chances.choice(BIRDS)} is version {chances.randrange(4)}.\n")


def _move(it: Replica, chances: Random) -> None:
    it.palace.move(it.drawers(), it.place())


def _kg_add(it: Replica, chances: Random) -> None:
    it.run(
        "kg_add",
        subject=chances.choice(NAMES),
        predicate=chances.choice(PREDICATES),
        object=chances.choice(NAMES),
        wing=chances.choice([None, None, *WINGS]),
        confidence=chances.choice([None, 0.5, 0.9]),
        sources=tuple(it.drawers(1)) if chances.random() < 0.3 else (),
        stated_by=chances.choice(["user", "bob"]),
    )


def _kg_end(it: Replica, chances: Random) -> None:
    subject, predicate, thing, wing = _fact(it, chances)
    it.run("kg_end", subject=subject, predicate=predicate, object=thing, wing=wing)


def _kg_supersede(it: Replica, chances: Random) -> None:
    subject, predicate, thing, wing = _fact(it, chances)
    it.run("kg_supersede", subject=subject, predicate=predicate, old=thing, new=chances.choice(NAMES), wing=wing)


def _fact(it: Replica, chances: Random) -> tuple[str, str, str, str | None]:
    with it.palace.database.snapshot() as connection:
        rows = list(
            connection.execute(
                "SELECT s.name, p.name, o.name, wing.name FROM fact f JOIN entity s ON s.id = f.subject JOIN entity o"
                " ON o.id = f.object JOIN predicate p ON p.id = f.predicate LEFT JOIN wing ON wing.id = f.wing"
                " ORDER BY f.uid"
            )
        )
    return chances.choice(rows) if rows else ("nobody", "uses", "nothing", None)


def _wing(it: Replica) -> str:
    return it.chances.choice([one.partition("/")[0] for one in it.rooms()] or ["none"])


def _tunnel_add(it: Replica, chances: Random) -> None:
    ends = tuple(it.drawers(1)) if chances.random() < 0.2 else ()
    rooms = it.rooms()
    it.run("tunnel_add", source=_any(chances, rooms), target=_any(chances, rooms), label="x", source_drawers=ends)


def _erase(it: Replica, chances: Random) -> None:
    if chances.random() < 0.5:
        it.run("erase", match=chances.choice(SECRETS), even_most=True)
    else:
        it.run("erase", ids=tuple(it.drawers(1)), even_most=True)


WRITES: dict[str, Callable[[Replica, Random], object]] = {
    "remember": _remember,
    "remember again": _remember,
    "converse": _converse,
    "version": _version,
    "move": _move,
    "forget": lambda it, chances: it.palace.forget(it.drawers()),
    "tag": lambda it, chances: it.palace.tag(it.drawers(), chances.choice(["red", "grey"])),
    "untag": lambda it, chances: it.run("tag", action="remove", tag="red", ids=tuple(it.drawers())),
    "undo": lambda it, chances: it.run("undo"),
    "undo one": lambda it, chances: it.run("undo", id=_any(chances, it.ids("SELECT uid FROM change_group"))),
    "kg_add": _kg_add,
    "kg_add again": _kg_add,
    "kg_end": _kg_end,
    "kg_supersede": _kg_supersede,
    "kg_alias": lambda it, chances: it.run("kg_alias", name=chances.choice(["H", "R"]), entity=chances.choice(NAMES)),
    "kg_merge": lambda it, chances: it.run("kg_merge", name=chances.choice(NAMES), into=chances.choice(NAMES)),
    "kg_unmerge": lambda it, chances: it.run("kg_unmerge", name=chances.choice(NAMES)),
    "kg_predicate": lambda it, chances: it.run(
        "kg_predicate", name="uses", **chances.choice([{"functional": True}, {"functional": True}, {"many": True}])
    ),
    "kg_dismiss": lambda it, chances: it.run(
        "kg_dismiss", ids=(_any(chances, it.ids("SELECT uid FROM conflict ORDER BY uid")),)
    ),
    "todo_add": lambda it, chances: it.run("todo_add", text=it.words(), wing="shop"),
    "remind": lambda it, chances: it.run("remind", text=it.words(), topic="herons", wing="shop"),
    "todo_done": lambda it, chances: it.run(
        "todo_done",
        ids=(_any(chances, it.ids("SELECT item.uid FROM task JOIN item ON item.id = task.item ORDER BY 1")),),
    ),
    "diary": lambda it, chances: it.run("diary_write", agent="codex", text=it.words()),
    "wing_rename": lambda it, chances: it.run(
        "wing_rename", wing=_wing(it), name=chances.choice([*WINGS, "inn", "barn"])
    ),
    "wing_merge": lambda it, chances: it.run("wing_merge", wing=_wing(it), into=_wing(it)),
    "room_rename": lambda it, chances: it.run(
        "room_rename", room=_any(chances, it.rooms()), name=chances.choice([*ROOMS, "hall"])
    ),
    "room_merge": lambda it, chances: it.run(
        "room_merge", room=_any(chances, it.rooms()), into=_any(chances, it.rooms())
    ),
    "room_move": lambda it, chances: it.run("room_move", room=_any(chances, it.rooms()), wing=_wing(it)),
    "tunnel_add": _tunnel_add,
    "tunnel_remove": lambda it, chances: it.run(
        "tunnel_remove", id=_any(chances, it.ids("SELECT uid FROM tunnel ORDER BY uid"))
    ),
    "erase": _erase,
}
"""Every kind of write, by name."""


def told_apart(one: bytes, other: bytes) -> str:
    """The lines that one export has and the other has not, for a failure's message."""
    ours, theirs = set(one.splitlines()), set(other.splitlines())
    return "\n".join(
        f"{mark} {json.loads(line)}"[:600]
        for mark, lines in (("<", sorted(ours - theirs)), (">", sorted(theirs - ours)))
        for line in lines[:12]
    )
