"""Conversations kept as text: taken for one only when they are, and every byte kept."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats.plain_text import PlainText

from .collection_samples import few, head_of, read_all, said, words

FEEDER = PlainText()
ROOT = Path(__file__).parents[2]

SIMPLE = "User: Which port?\n\nAssistant: 8443.\n\nUser: Thanks\n"


def write(directory: Path, text: str | bytes, name: str = "chat.txt") -> Path:
    path = directory / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return path


def told(directory: Path, text: str, name: str = "chat.txt") -> list[tuple[str, str]]:
    path = write(directory, text, name)
    assert FEEDER.recognises(path, head_of(path))
    found = read_all(FEEDER, path)
    assert b"".join(row.raw for _, rows in found for row in rows) == path.read_bytes()
    return [(one.role, one.text) for _, rows in found for one in said(rows)]


# Taken for a conversation


@pytest.mark.parametrize(
    "text",
    [
        SIMPLE,
        SIMPLE.replace("\n", "\r\n"),
        "\ufeff" + SIMPLE,
        "**User:** Which port?\n\n**Assistant:** 8443.\n\n**User:** Thanks",
        "**User**: Which port?\n\n**Assistant**: 8443.\n\n**User**: Thanks",
        "# User\n\nWhich port?\n\n# Assistant\n\n8443.\n\n# User\n\nThanks",
        "## 👤 User\n\nWhich port?\n\n## 🤖 Assistant (gpt-5)\n\n8443.\n\n## 👤 User\nThanks",
        "[USER] Which port?\n[ASSISTANT] 8443.\n[USER] Thanks",
        "[2026-03-04 10:00] Human: Which port?\n[2026-03-04 10:01] Claude: 8443.\n[2026-03-04 10:02] Human: Thanks\n",
        "You said:\nWhich port?\n\nChatGPT said:\n8443.\n\nYou said:\nThanks\n",
        "用户：Which port?\n助手：8443.\n用户：Thanks\n".replace("：", "： "),
        "Användare: Which port?\nAssistent: 8443.\nAnvändare: Thanks\n",
    ],
)
def test_habits_of_marking_turns(text: str, tmp_path: Path) -> None:
    assert told(tmp_path, text) == [("user", "Which port?"), ("assistant", "8443."), ("user", "Thanks")]


def test_times_beside_the_names_are_kept(tmp_path: Path) -> None:
    text = "[2026-03-04 10:00] User: a\n[2026-03-04 10:01:30] Assistant: b\n[2026-03-04 10:02] User: c\n"
    [(_, rows)] = read_all(FEEDER, write(tmp_path, text))
    times = [one.created_at or 0 for one in said(rows)]
    assert [time - times[0] for time in times] == [0, 90_000_000, 120_000_000]


def test_a_quotation_is_no_turn_and_a_fence_hides_marks(tmp_path: Path) -> None:
    text = "User: a\n> User: quoted\n> more\n\nAssistant: b\n```\nUser: in code\n```\n---\nafter\nUser: c\n"
    assert told(tmp_path, text) == [
        ("user", "a\n> User: quoted\n> more"),
        ("assistant", "b\n```\nUser: in code\n```\n---\nafter"),
        ("user", "c"),
    ]


def test_another_spelling_of_a_name_is_no_mark(tmp_path: Path) -> None:
    text = "User: a\nAssistant: b\nuser: not a turn\nAI: neither\nUser: c\n"
    assert told(tmp_path, text)[1] == ("assistant", "b\nuser: not a turn\nAI: neither")


def test_what_stands_above_is_kept_as_a_note(tmp_path: Path) -> None:
    text = "# Ports\nDate: 2026-03-04\n\n" + SIMPLE
    [(session, rows)] = read_all(FEEDER, write(tmp_path, text))
    assert session.title == "Ports"
    assert (said(rows)[0].kind, said(rows)[0].text) == ("note", "# Ports\nDate: 2026-03-04")
    assert {one.created_at for one in said(rows)} == {1_772_582_400_000_000}


def test_a_file_with_several_sessions_is_split_at_their_marks(tmp_path: Path) -> None:
    text = (
        f"# Session 1\n\n{SIMPLE}\n=== Chat 2026-03-05 ===\n\nUser: alone\n\n## Conversation about nothing\n\n"
        "User: x\n\nAssistant: ## Session notes\n\n# Session talk is not a mark here\nstill b\n"
    )
    path = write(tmp_path, text)
    found = read_all(FEEDER, path)
    assert [[one.text for one in said(rows) if one.kind == "message"] for _, rows in found] == [
        ["Which port?", "8443.", "Thanks"],
        ["alone"],
        ["x", "## Session notes\n\n# Session talk is not a mark here\nstill b"],
    ]
    assert [session.title for session, _ in found] == ["Session 1", "Chat 2026-03-05", "Conversation about nothing"]
    assert b"".join(row.raw for _, rows in found for row in rows) == path.read_bytes()


def test_a_file_that_grew_keeps_its_sessions_and_their_turns(tmp_path: Path) -> None:
    [(before, first)] = read_all(FEEDER, write(tmp_path, SIMPLE))
    [(after, second), (new, _)] = read_all(FEEDER, write(tmp_path, SIMPLE + "Assistant: ok\n# Session 2\nUser: hi\n"))
    assert (before.identity, before.stamp == after.stamp) == (after.identity, False)
    assert [one.text for one in said(second)][:3] == [one.text for one in said(first)]
    assert new.identity != after.identity


# Not taken for one


@pytest.mark.parametrize(
    "text",
    [
        "",
        "User: only\nUser: one side\nUser: speaks\n",
        "User: a\nAssistant: b\n",
        "# API\n\nThe roles are:\n\nUser: asks\nAssistant: answers\nUser: asks\n",
        "Some prose first, as documents have.\n\n" + SIMPLE,
        "# Guide\n\n## User\n\nText.\n\n## Assistant\n\nText.\n\n## Install\n\nText.\n",
        "# User\n\nA\n\n# Setup\n\nB\n\n# Assistant\n\nC\n\n# Options\n\nD\n\n# User\n\nE\n# More\n# And\n# On\n",
        "```\n" + SIMPLE + "```\n",
        "> " + SIMPLE.replace("\n", "\n> "),
        "user:\n  name: x\nassistant:\n  name: y\nuser:\n  z: 1\nagent: b\nuser:\nuser:\nuser:\n",
        "User: root\nPassword: x\nHost: y\nUser: bo\n",
        "- User: a\n- Assistant: b\n- User: c\n",
        "Users: a\nAssistants: b\nUsers: c\n",
    ],
)
def test_documents_are_not_conversations(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, text, "doc.md")
    assert not FEEDER.recognises(path, head_of(path))
    with pytest.raises(SourceUnreadable):
        list(FEEDER.sessions(path))


@pytest.mark.slow
def test_the_documents_of_this_repository_and_of_installed_packages_are_not_conversations() -> None:
    """Some thousand real texts, by many hands."""
    places = [ROOT, Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("stdlib"))]
    suffixes = (".md", ".txt", ".markdown")
    files = [file for place in places for suffix in suffixes for file in place.rglob(f"*{suffix}")]
    assert len(files) > 100
    taken = [file for file in files if file.is_file() and FEEDER.recognises(file, head_of(file))]
    assert [file for file in taken if "fixtures" not in file.parts] == []


def test_other_kinds_of_files_are_not_asked(tmp_path: Path) -> None:
    for name in ("chat.py", "chat.json", "chat"):
        assert not FEEDER.recognises(tmp_path / name, SIMPLE.encode())
    assert not FEEDER.recognises(tmp_path / "a.txt", b"\x00" + SIMPLE.encode())


def test_a_file_whose_marks_stop_being_marks_beyond_its_head_is_a_document(tmp_path: Path) -> None:
    path = write(tmp_path, SIMPLE + "x\n" * 40_000 + "User: a\n" * 50)
    assert not FEEDER.recognises(path, head_of(path))


# Whatever is in them


def as_a_turn(text: str) -> str:
    """What a person would paste: no line that looks like a mark, no fence left open, words to read."""
    return text.replace("```", "'''").replace("~~~", "'''").strip("\r\n\ufeff")


@few
@given(texts=st.lists(words.map(as_a_turn).filter(str.strip), min_size=3, max_size=6))
def test_what_is_written_is_read_back(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    turns = [("user" if n % 2 == 0 else "assistant", text) for n, text in enumerate(texts)]
    path = write(
        tmp_path_factory.mktemp("t"),
        "".join(f"{'User' if who == 'user' else 'Assistant'}:\n{text}\n" for who, text in turns),
    )
    [(_, rows)] = read_all(FEEDER, path)
    expected = [text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape") for _, text in turns]
    assert [one.role for one in said(rows)] == [who for who, _ in turns]
    assert [one.text.strip("\r\n") for one in said(rows)] == [text.strip("\r\n") for text in expected]


@few
@given(
    data=st.lists(
        st.sampled_from([b"User: ", b"Assistant:", b"\n", b"\r", b"```\n", b"# Session 1\n", b"\xff", b"x\x00"])
    )
)
def test_no_bytes_make_reading_fail(data: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = write(tmp_path_factory.mktemp("t"), b"User: a\nAssistant: b\nUser: c\nAssistant: d\n" + b"".join(data))
    try:
        found = read_all(FEEDER, path)
    except SourceUnreadable:
        return
    assert b"".join(row.raw for _, rows in found for row in rows) == path.read_bytes()
