"""Conversations written as services, programs and people keep them come back as they were."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from palazzo.hosts.aider.transcript import Aider
from palazzo.hosts.amp.transcript import Amp
from palazzo.hosts.cline.cline_sessions import ClineSessions
from palazzo.hosts.cline.transcript import COLLECTIONS as CLINE
from palazzo.hosts.continue_dev.transcript import ContinueDev
from palazzo.hosts.cursor.transcript import Cursor
from palazzo.hosts.kiro.conversation_database import KiroDatabase
from palazzo.hosts.opencode.opencode_storage import OpencodeStorage
from palazzo.hosts.vscode.transcript import VSCode
from palazzo.hosts.zed.transcript import Zed
from palazzo.model import Micros
from palazzo.sources.formats import Collection, Message, Row, Session, Unreadable
from palazzo.sources.formats.chat_messages import ChatMessages
from palazzo.sources.formats.chatgpt import ChatGPT
from palazzo.sources.formats.claude_ai import ClaudeAI
from palazzo.sources.formats.diary_files import DiaryFiles
from palazzo.sources.formats.plain_text import PlainText
from palazzo.sources.formats.quoted_turns import QuotedTurns
from palazzo.sources.formats.slack import Slack

from . import exports, kept
from .told import EVERY_DAY, SLOW, START, Check, Turn, heard, hold, spoken

LATER = Micros((START + 86_400_000_000) * 1000)


def sessions(collection: Collection, path: Path) -> list[tuple[Session, list[Row]]]:
    """Every conversation at a path that the format takes for its own, with nothing in it that is not understood."""
    head = b"" if path.is_dir() else path.read_bytes()[: 64 * 1024]
    assert collection.recognises(path, head)
    found = [(session, list(session.rows())) for session in collection.sessions(path)]
    assert not [row for _, rows in found for row in rows if isinstance(row.content, Unreadable)]
    return found


def rows_of(collection: Collection, path: Path) -> list[Row]:
    return [row for _, rows in sessions(collection, path) for row in rows]


def claude_ai(told: list[Turn], directory: Path, way: int) -> None:
    assert heard(rows_of(ClaudeAI(), exports.claude_ai(told, directory, way))) == spoken(told)


def chatgpt(told: list[Turn], directory: Path, way: int) -> None:
    rows = rows_of(ChatGPT(), exports.chatgpt(told, directory, way))
    assert heard(rows, branch="") == spoken(told)
    left = [one.text for one in heard(rows) if one.text.startswith("left behind")]
    assert len(left) == (len(told) // 2 if way % 3 == 0 else 0)


def slack(told: list[Turn], directory: Path, way: int) -> None:
    rows = rows_of(Slack(), exports.slack(told, directory, way))
    said = [row.content for row in rows if isinstance(row.content, Message)]
    expected = [(f"{one.role} Ångström", one.text, one.at * 1000 + n) for n, one in enumerate(told) if one.text]
    assert [(one.author, one.text, one.created_at) for one in said] == expected


def continue_dev(told: list[Turn], directory: Path, way: int) -> None:
    path = kept.continue_dev(told, directory, way)
    [(session, rows)] = sessions(ContinueDev(), path)
    assert (session.title, session.cwd) == ("Título", "/home/dev/acme")
    assert heard(rows, times=False) == spoken(told, times=False)
    assert {one.at for one in heard(rows)} <= {START * 1000 if path.is_dir() else None}


def amp_thread(told: list[Turn], directory: Path, way: int) -> None:
    [(session, rows)] = sessions(Amp(), kept.amp_thread(told, directory, way))
    assert (session.title, session.cwd) == ("Título", "/home/dev/my acme")
    assert heard(rows) == spoken(told)


def cline_session(told: list[Turn], directory: Path, way: int) -> None:
    told = [one for one in told if way % 3 or one.text.strip()]  # a blank block without a tag is no one's words
    [(session, rows)] = sessions(ClineSessions(), kept.cline_session(told, directory, way))
    assert (session.title, session.cwd) == ("Título", "/home/dev/acme")
    assert heard(rows) == spoken(told)


def task_files(told: list[Turn], directory: Path, way: int) -> None:
    path = kept.task_files(told, directory, way)
    if told:
        [(session, rows)] = sessions(CLINE[1], path)
        assert (session.title, session.cwd) == ("Título", "/home/dev/acme")
        assert heard(rows) == spoken(told)


def aider(told: list[Turn], directory: Path, way: int) -> None:
    path = kept.aider(kept.aider_keeps(told), directory, way)
    rows = rows_of(Aider(), path)
    assert b"".join(row.raw for row in rows) == path.read_bytes()
    said = [(one.role, one.text.replace("\r\n", "\n").strip()) for one in heard(rows) if one.role != "tool"]
    assert said == [(one.role, one.text.strip()) for one in kept.aider_keeps(told) if one.role != "tool"]


def plain_text(told: list[Turn], directory: Path, way: int) -> None:
    turns = kept.plain_text_keeps(told)
    path = kept.plain_text(turns, directory, way)
    if len(turns) < 3:
        return  # too little to tell a conversation by
    rows = rows_of(PlainText(), path)
    assert b"".join(row.raw for row in rows) == path.read_bytes()
    assert [(one.role, one.text) for one in heard(rows)] == [(one.role, one.text) for one in turns]


def quoted_turns(turns: list[Turn], directory: Path, way: int) -> None:
    kept_turns = kept.quoted_turns_keeps(turns)
    path = kept.quoted_turns(kept_turns, directory, way)
    rows = rows_of(QuotedTurns(), path)
    assert b"".join(row.raw for row in rows) == path.read_bytes()
    assert [(turn.role, turn.text.strip("\n")) for turn in heard(rows)] == [
        (turn.role, turn.text) for turn in kept_turns
    ]


def chat_messages(turns: list[Turn], directory: Path, way: int) -> None:
    turns = [Turn("user", "first", START), Turn("assistant", "second", START + 1), *turns]
    rows = rows_of(ChatMessages(), kept.chat_messages(turns, directory, way))
    assert heard(rows) == spoken(turns)


def diary(told: list[Turn], directory: Path, way: int) -> None:
    text = re.compile(r"(?m)^[ ]{0,3}(#|```|~~~)|[\ud800-\udfff\0\r]")
    entries = [one for one in told if not text.search(one.text)]
    path = kept.diary(entries, directory, way)
    if not entries:
        return
    rows = rows_of(DiaryFiles(), path)
    assert b"".join(row.raw for row in rows) == path.read_bytes()
    said = [(row.content.text, row.content.created_at) for row in rows if isinstance(row.content, Message)]
    assert said == kept.diary_entries(entries, way)


def opencode_storage(told: list[Turn], directory: Path, way: int) -> None:
    told = [one for one in told if not (one.role == "user" and '"' in one.text)]  # one pair of quotes is the host's
    rows = rows_of(OpencodeStorage(lambda: LATER), kept.opencode_storage(told, directory, way))
    assert heard(rows) == spoken(told)


def vscode(told: list[Turn], directory: Path, way: int) -> None:
    [(session, rows)] = sessions(VSCode(lambda: LATER), kept.vscode(told, directory, way))
    assert (session.title, session.cwd, session.settled) == ("Порт 港", "/home/dev/acme shop", True)
    assert heard(rows) == spoken(told)


def kiro(told: list[Turn], directory: Path, way: int) -> None:

    path = kept.kiro_database(told, directory, way)
    if told:
        [(session, rows)] = sessions(KiroDatabase("kiro"), path)
        assert session.cwd == "/home/dev/acme"
        assert heard(rows) == spoken(told)


def zed(told: list[Turn], directory: Path, way: int) -> None:
    [(session, rows)] = sessions(Zed(), kept.zed(told, directory, way))
    assert (session.title, session.cwd) == ("Порт 港", "/home/dev/acme")
    assert heard(rows, times=False) == spoken(told, times=False)


def cursor(told: list[Turn], directory: Path, way: int) -> None:
    store = kept.CursorStore(directory)
    store.conversation("c1", told, inline=way % 3 == 1)
    if way % 2:
        store.connection.close()
    if told:
        [(session, rows)] = sessions(Cursor(lambda: LATER), store.path)
        assert (session.title, session.cwd) == ("Порт 港", "/home/dev/acme shop")
        assert heard(rows) == spoken(told)
    store.connection.close()


CHECKS: list[Callable[[list[Turn], Path, int], None]] = [
    *(
        claude_ai,
        chatgpt,
        slack,
        continue_dev,
        amp_thread,
        cline_session,
        task_files,
        aider,
        plain_text,
        quoted_turns,
        chat_messages,
        diary,
        opencode_storage,
        vscode,
        kiro,
        zed,
        cursor,
    )
]
each = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)


@pytest.mark.slow
@each
def test_what_is_written_is_read_back(check: Check, tmp_path: Path) -> None:
    hold(check, tmp_path, EVERY_DAY)


@pytest.mark.slow
@each
def test_what_is_written_is_read_back_a_thousand_times(check: Check, tmp_path: Path) -> None:
    hold(check, tmp_path, SLOW)
