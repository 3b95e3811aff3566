"""No damage of a file makes a feeder fail, hang, or file a row as it stands: it is rows, or one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sources.opencode_samples import Writer

from palazzo.hosts.aider.transcript import Aider
from palazzo.hosts.amp.transcript import Amp
from palazzo.hosts.cline.cline_sessions import ClineSessions
from palazzo.hosts.cline.transcript import COLLECTIONS as CLINE
from palazzo.hosts.continue_dev.transcript import ContinueDev
from palazzo.hosts.cursor.transcript import Cursor
from palazzo.hosts.kiro.conversation_database import KiroDatabase
from palazzo.hosts.opencode.opencode_database import Opencode
from palazzo.hosts.opencode.opencode_storage import OpencodeStorage
from palazzo.hosts.vscode.transcript import VSCode
from palazzo.hosts.zed.transcript import Zed
from palazzo.sources.formats import Collection, Feeder
from palazzo.sources.formats.chatgpt import ChatGPT
from palazzo.sources.formats.claude_ai import ClaudeAI
from palazzo.sources.formats.diary_files import DiaryFiles
from palazzo.sources.formats.plain_text import PlainText
from palazzo.sources.formats.slack import Slack
from palazzo.sources.formats.transcript_formats import TRANSCRIPTS

from . import exports, hosts, kept
from .damage import Cut, Place, cuts, places, put, read, readable
from .told import EVERY_DAY, SLOW, START, Turn

FIXTURES = Path(__file__).parents[1] / "fixtures"
ROWS = 25
"""Rows of a fixture that are read for each example: the first, and as many from somewhere on."""
FEW = EVERY_DAY // 10
TOLD = [
    Turn(role, text, START + n * 1000)
    for n, (role, text) in enumerate(
        [
            ("user", "Which port? åäö"),
            ("assistant", "Let me look."),
            ("tool", "8443\n"),
            ("assistant", "It is 8443. 🙏"),
        ]
    )
]


def fixtures() -> dict[str, tuple[Feeder, list[bytes]]]:
    """The lines of every captured session, and of a session of the older Gemini, by name."""
    found: dict[str, tuple[Feeder, list[bytes]]] = {}
    for path in sorted(FIXTURES.rglob("*.jsonl")):
        data = path.read_bytes()
        feeder = next((one for one in TRANSCRIPTS if one.recognises(path, data[:65536])), None)
        if feeder is not None:
            found[f"{feeder.kind} {path.stem[-12:]}"] = (feeder, data.splitlines(keepends=True))
    gemini = next(one for one in TRANSCRIPTS if one.kind == "gemini")
    return found | {"gemini-text": (gemini, [hosts.gemini_text(TOLD, 0)])}


SESSIONS = fixtures()
each = pytest.mark.parametrize("name", SESSIONS)
each_format = pytest.mark.parametrize("name", {feeder.kind: name for name, (feeder, _) in SESSIONS.items()}.values())
"""One session for each reader: what takes long tests the reader and not the sessions."""


def hold(holds: Callable[..., None], examples: int, **given_by: st.SearchStrategy[object]) -> None:
    """Hold a property for so many examples."""
    quiet = settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    quiet(given(**given_by)(holds))()


def window(lines: list[bytes], share: float) -> list[bytes]:
    at = 1 + int(share * max(0, len(lines) - ROWS))
    return [lines[0], *lines[at : at + ROWS]]


def damaged_bytes(name: str, examples: int) -> None:
    feeder, lines = SESSIONS[name]

    def holds(share: float, damage: list[Cut]) -> None:
        data = b"".join(window(lines, share))
        for one in damage:
            data = one.apply(data)
        feeder.recognises(Path("session.jsonl"), data[:65536])
        feeder.identify(Path("session.jsonl"), data[:65536])
        read(feeder, data)

    hold(holds, examples, share=st.floats(0, 1), damage=cuts)


def damaged_values(name: str, examples: int) -> None:
    feeder, lines = SESSIONS[name]

    def holds(share: float, damage: list[tuple[float, Place]]) -> None:
        shown = window(lines, share)
        for row, place in damage:
            at = int(row * len(shown))
            shown[at] = put(shown[at], place) + b"\n"
        data = b"".join(shown)
        feeder.recognises(Path("session.jsonl"), data[:65536])
        feeder.identify(Path("session.jsonl"), data[:65536])
        read(feeder, data)

    where = st.floats(0, 1, exclude_max=True)
    hold(holds, examples, share=st.floats(0, 1), damage=st.lists(st.tuples(where, places), min_size=1, max_size=6))


@each
def test_damaged_bytes_of_a_session_are_rows_or_a_sentence(name: str) -> None:
    damaged_bytes(name, FEW)


@each
def test_other_values_in_a_session_are_rows_or_a_sentence(name: str) -> None:
    damaged_values(name, FEW)


@pytest.mark.slow
@each_format
def test_damaged_bytes_of_a_session_are_rows_or_a_sentence_a_thousand_times(name: str) -> None:
    damaged_bytes(name, SLOW)


@pytest.mark.slow
@each_format
def test_other_values_in_a_session_are_rows_or_a_sentence_a_thousand_times(name: str) -> None:
    damaged_values(name, SLOW)


# Collections

Maker = Callable[[list[Turn], Path, int], Path]


def opencode(told: list[Turn], directory: Path, way: int) -> Path:
    """opencode's database, closed."""
    writer = Writer(directory / "opencode.db")
    writer.session("ses_1")
    for n, one in enumerate(told):
        role = "user" if one.role == "user" else "assistant"
        writer.message("ses_1", role, one.at, [kept.opencode_part(one, n)])
    writer.close()
    return writer.path


def cursor(told: list[Turn], directory: Path, way: int) -> Path:
    """Cursor's database, closed."""
    store = kept.CursorStore(directory)
    store.conversation("c1", told, inline=way % 2 == 1)
    store.connection.close()
    return store.path


COLLECTIONS: dict[str, tuple[Collection, Maker]] = {
    "claude-ai": (ClaudeAI(), exports.claude_ai),
    "chatgpt": (ChatGPT(), exports.chatgpt),
    "slack": (Slack(), exports.slack),
    "continue": (ContinueDev(), kept.continue_dev),
    "amp": (Amp(), kept.amp_thread),
    "cline": (ClineSessions(), kept.cline_session),
    "cline-tasks": (CLINE[1], kept.task_files),
    "aider": (Aider(), kept.aider),
    "plain-text": (PlainText(), kept.plain_text),
    "diary": (DiaryFiles(), kept.diary),
    "opencode-storage": (OpencodeStorage(), kept.opencode_storage),
    "opencode": (Opencode(), opencode),
    "cursor": (Cursor(), cursor),
    "vscode": (VSCode(), kept.vscode),
    "kiro": (KiroDatabase("kiro"), kept.kiro_database),
    "zed": (Zed(), kept.zed),
}
each_collection = pytest.mark.parametrize("name", COLLECTIONS)


def damaged_collection(name: str, directory: Path, examples: int) -> None:
    """Damage one file of a collection: its bytes, or where it is JSON a value."""
    collection, make = COLLECTIONS[name]
    made: dict[int, tuple[Path, dict[Path, bytes]]] = {}
    for way in range(4):
        (directory / str(way)).mkdir()
        path = make(TOLD, directory / str(way), way)
        files = [one for one in sorted((directory / str(way)).rglob("*")) if one.is_file()]
        made[way] = path, {one: one.read_bytes() for one in files}

    def holds(way: int, file: float, damage: list[Cut] | Place) -> None:
        path, files = made[way]
        target = list(files)[int(file * len(files))]
        data = files[target]
        if isinstance(damage, Place):
            data = put(data, damage)
        else:
            for one in damage:
                data = one.apply(data)
        target.write_bytes(data)
        try:
            head = b"" if path.is_dir() else path.read_bytes()[:65536]
            collection.recognises(path, head)
            readable(lambda: [row for session in collection.sessions(path) for row in session.rows()])
        finally:
            target.write_bytes(files[target])

    where = st.floats(0, 1, exclude_max=True)
    hold(holds, examples, way=st.integers(0, 3), file=where, damage=cuts | places)


@each_collection
def test_a_damaged_collection_is_rows_or_a_sentence(name: str, tmp_path: Path) -> None:
    damaged_collection(name, tmp_path, EVERY_DAY // 4)


@pytest.mark.slow
@each_collection
def test_a_damaged_collection_is_rows_or_a_sentence_a_thousand_times(name: str, tmp_path: Path) -> None:
    damaged_collection(name, tmp_path, SLOW)


def damaged_data(directory: Path, examples: int) -> None:
    """Other values in the JSON that opencode keeps in its rows."""
    writer = Writer(directory / "opencode.db")

    def holds(damage: list[tuple[float, Place]]) -> None:
        writer.connection.execute("DELETE FROM part; DELETE FROM message; DELETE FROM session")
        writer.session("ses_1")
        for n, one in enumerate(TOLD):
            writer.message("ses_1", "user" if one.role == "user" else "assistant", one.at, [kept.opencode_part(one, n)])
        for table in ("message", "part"):
            rows = writer.connection.execute(f"SELECT id, data FROM {table} ORDER BY id").fetchall()
            for where, place in damage:
                own, data = rows[int(where * len(rows))]
                changed = put(str(data).encode(), place).decode()
                writer.connection.execute(f"UPDATE {table} SET data = ? WHERE id = ?", (changed, own))
        collection = Opencode()
        readable(lambda: [row for session in collection.sessions(writer.path) for row in session.rows()])

    where = st.floats(0, 1, exclude_max=True)
    hold(holds, examples, damage=st.lists(st.tuples(where, places), min_size=1, max_size=4))
    writer.close()


def test_other_values_in_opencodes_rows_are_rows_or_a_sentence(tmp_path: Path) -> None:
    damaged_data(tmp_path, FEW)


@pytest.mark.slow
def test_other_values_in_opencodes_rows_are_rows_or_a_sentence_a_thousand_times(tmp_path: Path) -> None:
    damaged_data(tmp_path, SLOW)


def test_other_values_in_cursors_rows_are_rows_or_a_sentence(tmp_path: Path) -> None:
    store = kept.CursorStore(tmp_path)

    def holds(damage: list[tuple[float, Place]], inline: bool) -> None:
        store.connection.execute("DELETE FROM cursorDiskKV")
        store.conversation("c1", TOLD, inline)
        rows = store.connection.execute("SELECT key, value FROM cursorDiskKV ORDER BY key").fetchall()
        for where, place in damage:
            key, value = rows[int(where * len(rows))]
            store.put(str(key), put(value if isinstance(value, bytes) else b"", place))
        readable(lambda: [row for session in Cursor().sessions(store.path) for row in session.rows()])

    where = st.floats(0, 1, exclude_max=True)
    damage = st.lists(st.tuples(where, places), min_size=1, max_size=4)
    hold(holds, FEW, damage=damage, inline=st.booleans())
    store.connection.close()


# Size


@pytest.mark.slow
@each_format
def test_a_line_of_ten_megabytes_and_a_hundred_thousand_rows_are_read(name: str) -> None:
    """A reader that looks back at every row would not come to an end."""
    feeder, lines = SESSIONS[name]
    long = json.dumps({"type": "user", "text": "x" * 10_000_000}).encode() + b"\n"
    brackets = b'{"type": "user", "content": "' + b"[{" * 5_000_000 + b'"}\n'
    many = [lines[n % len(lines)] for n in range(min(100_000, 100_000_000 // max(map(len, lines))))]
    read(feeder, b"".join([lines[0], long, brackets, b"{" * 10_000_000 + b"\n", *many]))
