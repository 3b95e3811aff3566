"""Conversations in which the person's words are quoted: read where they are said to be some, and every byte kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.sources.formats.quoted_turns import QuotedTurns

from .collection_samples import few, head_of, read_all, read_or_refuse, said

FEEDER = QuotedTurns()


def read_turns(directory: Path, text: str, name: str = "chat.txt") -> list[tuple[str, str]]:
    path = directory / name
    path.write_bytes(text.encode())
    assert FEEDER.recognises(path, head_of(path))
    [(_, rows)] = read_all(FEEDER, path)
    assert b"".join(row.raw for row in rows) == path.read_bytes()
    return [(message.role, message.text) for message in said(rows)]


@pytest.mark.parametrize(
    "text",
    [
        "> Which port?\n8443.\n\n> Why?\nIt was free.\n",
        "> Which port?\n\n8443.\n\n> Why?\n\nIt was free.\n",
        ">Which port?\r\n8443.\r\n\r\n>Why?\r\nIt was free.\r\n",
        "\ufeff> Which port?\n8443.\n> Why?\nIt was free.",
    ],
)
def test_a_quotation_is_a_question_and_what_follows_the_answer(text: str, tmp_path: Path) -> None:
    assert [(role, words.strip()) for role, words in read_turns(tmp_path, text)] == [
        ("user", "Which port?"), ("assistant", "8443."), ("user", "Why?"), ("assistant", "It was free."),
    ]  # fmt: skip


def test_a_question_of_several_lines_stays_one_and_code_is_no_question(tmp_path: Path) -> None:
    text = "# Ports\n\n> Which port?\n> The gateway's.\n\n```\n> 8443\n```\n\n> Why?\n\nSee above.\n\n> Since when?\n"
    assert read_turns(tmp_path, text, "chat.md") == [
        ("author", "# Ports"),
        ("user", "Which port?\nThe gateway's."),
        ("assistant", "```\n> 8443\n```"),
        ("user", "Why?"),
        ("assistant", "See above."),
        ("user", "Since when?"),
    ]


def test_a_file_that_grew_keeps_its_identity(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text("> Which port?\n8443.\n> Why?\nIt was free.\n")
    [(first_session, _)] = read_all(FEEDER, path)
    path.write_text(path.read_text() + "> Since when?\nMarch.\n")
    [(later_session, _)] = read_all(FEEDER, path)
    assert (first_session.identity, first_session.stamp == later_session.stamp) == (later_session.identity, False)
    assert first_session.title == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Deploying\n\nRun the tag.\n\n> Note: not on Fridays.\n\nThen wait.\n\n> Tip: tell the others.\n\nDone.\n",
        "> A motto.\n\nThe chapter begins here and goes on for long.\n",
        "> one\n\n> two\n\n> three\n\n> four\n",
        "Some words.\n> quoted\nanswer\n> quoted\nanswer\n",
        ">> nested\nwords\n>> nested\nwords\n",
    ],
)
def test_a_document_with_quotations_is_no_conversation(text: str, tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(text)
    assert not FEEDER.recognises(path, head_of(path))


@few
@given(
    lines=st.lists(st.sampled_from(["> a", ">", ">> b", "c", "", "```", "# d", "    > e", "\x00", "~~~~"]), max_size=12)
)
def test_any_text_is_read_to_the_byte_or_refused(lines: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "chat.md"
    path.write_text("\n".join(lines))
    if FEEDER.recognises(path, head_of(path)):
        assert b"".join(row.raw for _, rows in read_or_refuse(FEEDER, path) for row in rows) == path.read_bytes()
