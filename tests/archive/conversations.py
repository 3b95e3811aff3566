"""Things to file in tests of the engine: conversations, documents and notes, invented or generated."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import strategies as st

from palazzo.archive import identity, ingest
from palazzo.archive.ingest import NewItem, Receipt
from palazzo.archive.ingest_guard import Guard
from palazzo.index import cut_rules
from palazzo.index.embedder import Embedder
from palazzo.model import Micros, Part, Place, Role, Source
from palazzo.palace import Palace, without_embedder
from palazzo.store import source_rows

PLACE = Place("api", "auth")
SESSION = Source(("session", "s1"), "test", "file:///s1.jsonl", "s1", "A session")
GUIDE = Source(("project", "guide.md"), "document", "file:///guide.md", "", "Guide")
DAY = 86_400_000_000
EPOCH = Micros(1_767_225_600_000_000)
"""2026-01-01, where the time of tests begins."""


class Ticking:
    """A clock that is a second further at each look."""

    def __init__(self, start: int = EPOCH) -> None:
        self.now = start

    def __call__(self) -> Micros:
        self.now += 1_000_000
        return Micros(self.now)


def said(n: int, role: Role, text: str, parts: Sequence[Part] = (), **fields: object) -> NewItem:
    """The n-th row of a conversation, with the bytes that a host would have written."""
    raw = json.dumps({"n": n, "role": role, "text": text}).encode() + (b"\r\n" if n % 3 == 0 else b"\n")
    uid = identity.message_id("test", "s1", f"u{n}")
    given: dict[str, object] = {
        "id": uid, "text": text, "kind": "message", "role": role, "raw": raw, "parts": tuple(parts),
        "ordinal": n * 10, "created_at": Micros(EPOCH + n * 60_000_000), "branch": "main",
        "trust": {"user": "user", "assistant": "agent"}.get(role, "tool"), "author": role,
    }  # fmt: skip
    return NewItem(**{**given, **fields})  # type: ignore[arg-type]


def called(n: int, name: str, arguments: str, call: str) -> NewItem:
    """A row in which the agent calls a tool."""
    return said(n, "assistant", arguments, [Part("tool_call", 0, len(arguments), name, call)])


def answered(n: int, output: str, call: str) -> NewItem:
    """A row that holds a tool's output."""
    return said(n, "tool", output, [Part("tool_result", 0, len(output), "", call)])


def file_rows(
    palace: Palace, filings: Sequence[NewItem], batch: int = 10_000, source: Source = SESSION, place: Place = PLACE
) -> list[Receipt]:
    """File rows in batches of that size, a transaction each."""
    receipts = []
    for start in range(0, len(filings), batch):
        prepared = ingest.prepare(filings[start : start + batch], Guard.of(palace.database))
        with palace.database.transaction() as connection:
            receipts.append(ingest.file(connection, source, place, prepared, palace.clock()))
    return receipts


def file_version(palace: Palace, text: str, source: Source = GUIDE, place: Place = PLACE) -> str:
    """File a document as mining does: a version if its text is new, and which one is current; return its id."""
    raw = text.encode("utf-8", "surrogatepass")
    uid = identity.version_id(source.key, text)
    filing = NewItem(uid, text, "document", "author", raw, created_at=EPOCH, trust="repo")
    with palace.database.transaction() as connection:
        now = palace.clock()
        receipt = ingest.file(connection, source, place, ingest.prepare([filing], Guard.of(palace.database)), now)
        source_rows.file_revision(connection, receipt.source, receipt.rows[0], now)
    return uid


@contextmanager
def cutting_at(drawer: int, passage: int, section: int, tool: int, segment: int) -> Iterator[None]:
    """Cut at other sizes, so that short texts have many boundaries."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cut_rules, "DRAWER_CHARACTERS", drawer)
        patch.setattr(cut_rules, "PASSAGE_CHARACTERS", passage)
        patch.setattr(cut_rules, "SECTION_CHARACTERS", section)
        patch.setattr(cut_rules, "TOOL_CHARACTERS", tool)
        patch.setattr(cut_rules, "SEGMENT_ITEMS", segment)
        yield


@contextmanager
def small_cuts() -> Iterator[None]:
    """Drawers of some ten words."""
    with cutting_at(60, 30, 40, 50, 4):
        yield


@contextmanager
def other_cuts() -> Iterator[None]:
    """Drawers of another size than `small_cuts` makes, as a later version's cutter would."""
    with cutting_at(41, 23, 29, 37, 3):
        yield


# Generated

_words = st.text(alphabet=st.sampled_from("abcdefgé漢🙂 \n\r\t.") | st.sampled_from("\0\ud800"), max_size=12)
_prose = st.lists(_words | st.sampled_from(["lorem ipsum", "\n\n", "dolor. ", "x" * 70]), max_size=12).map("".join)


@st.composite
def _row(draw: st.DrawFn, n: int) -> NewItem:
    text = draw(_prose)
    shape = draw(st.sampled_from(["user", "assistant", "assistant", "call", "result", "mixed", "thought", "meta"]))
    call = draw(st.sampled_from(["c1", "c2", "c3", ""]))
    match shape:
        case "call":
            return called(n, "Bash", text, call)
        case "result":
            return answered(n, text, call)
        case "mixed":
            tool = draw(_prose)
            parts = [Part("text", 0, len(text)), Part("tool_call", len(text), len(text + tool), "Edit", call)]
            return said(n, "assistant", text + tool, parts)
        case "thought":
            answer = draw(_prose)
            parts = [Part("thinking", 0, len(text)), Part("text", len(text), len(text + answer))]
            return said(n, "assistant", text + answer, parts)
        case "meta":
            return said(n, "user", text, standing="meta")
    return said(n, "user" if shape == "user" else "assistant", text)


@st.composite
def conversations(draw: st.DrawFn, longest: int = 14) -> list[NewItem]:
    """Rows of one conversation: people, agents, tools, what the host inserted; words of every kind."""
    count = draw(st.integers(1, longest))
    return [draw(_row(n)) for n in range(count)]


documents = st.lists(_prose | st.sampled_from(["# One\n", "\n## Two\n", "```\ncode\n```\n"]), max_size=10).map("".join)


@contextmanager
def fresh_palace(embedder: Embedder | None = None) -> Iterator[Palace]:
    """A palace for one generated example, in memory where the system can: that is ten times as fast."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as directory:
        make = without_embedder if embedder is None else lambda: embedder
        with Palace.open(Path(directory) / "palace.db", embedder=make, clock=Ticking()) as palace:
            yield palace
