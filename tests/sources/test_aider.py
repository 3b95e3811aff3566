"""Aider's chat history: one that it wrote, and others written here as aider's own `io.py` writes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.errors import SourceUnreadable
from palazzo.hosts.aider.transcript import Aider
from palazzo.sources.formats import Noise, Row

from .collection_samples import few, head_of, read_all, said, words

FEEDER = Aider()
CAPTURED = Path(__file__).parents[1] / "fixtures" / "aider" / "0.86.2" / ".aider.chat.history.md"
STARTED = "\n# aider chat started at 2026-03-04 10:20:30\n\n"


def person(text: str) -> str:
    return "\n#### " + "  \n#### ".join(text.splitlines() or ["<blank>"]).rstrip() + "  \n"


def model(text: str) -> str:
    return "\n" + text.strip() + "\n\n"


def printed(text: str) -> str:
    return f"> {text.strip()}".rstrip() + "  \n"


def write(directory: Path, *pieces: str) -> Path:
    path = directory / "acme" / ".aider.chat.history.md"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes("".join(pieces).encode("utf-8", "surrogatepass"))
    return path


def rows_of(directory: Path, *pieces: str) -> list[Row]:
    [(_, rows)] = read_all(FEEDER, write(directory, *pieces))
    return rows


def test_what_aider_wrote_is_a_session_of_a_prompt_and_its_answer() -> None:
    assert FEEDER.recognises(CAPTURED, head_of(CAPTURED))
    [(_, rows)] = read_all(FEEDER, CAPTURED)
    assert [(message.role, message.text) for message in said(rows) if message.role != "tool"] == [
        ("user", "Which port does the payment gateway listen on?"),
        ("assistant", "Decided: the payment gateway listens on port 8443, because the proxy only lets that through."),
    ]
    assert b"".join(row.raw for row in rows).strip() == CAPTURED.read_bytes().strip()


def test_speakers_are_told_apart(tmp_path: Path) -> None:
    rows = rows_of(
        tmp_path,
        *(STARTED, printed("Aider v0.86.2"), printed("Model: x"), person("Which port?\nSay it."), model("Port 8443.")),
        *(printed("Tokens: 4k sent"), person("Thanks"), model("Bye")),
    )
    assert [(one.role, one.text) for one in said(rows)] == [
        ("tool", "Aider v0.86.2\nModel: x"),
        ("user", "Which port?\nSay it."),
        ("assistant", "Port 8443."),
        ("tool", "Tokens: 4k sent"),
        ("user", "Thanks"),
        ("assistant", "Bye"),
    ]
    assert {one.created_at for one in said(rows)} == {1_772_619_630_000_000}


def test_quotations_and_headings_of_an_answer_are_its_own(tmp_path: Path) -> None:
    answer = "Look:\n\n> a quotation\n> goes on\n\n#### A heading\n\n```md\n> x\n#### y\n```\nEnd."
    found = said(rows_of(tmp_path, STARTED, person("hi"), model(answer), person("ok")))
    assert [one.text for one in found] == ["hi", answer, "ok"]


def test_two_questions_in_a_row_are_two(tmp_path: Path) -> None:
    assert [one.text for one in said(rows_of(tmp_path, STARTED, person("one"), person("two")))] == ["one", "two"]


def test_every_byte_is_in_a_row(tmp_path: Path) -> None:
    path = write(tmp_path, STARTED, person("one"), model("two"), STARTED, person("three"), "no end")
    rows = [row for _, rows in read_all(FEEDER, path) for row in rows]
    assert b"".join(row.raw for row in rows) == path.read_bytes()


def test_each_start_is_a_session_that_stays_as_it_is_while_the_file_grows(tmp_path: Path) -> None:
    first = [STARTED, person("one"), model("two")]
    [(before, rows)] = read_all(FEEDER, write(tmp_path, *first))
    path = write(tmp_path, *first, person("more"), STARTED.replace("10:20", "11:00"), STARTED.replace("10:20", "11:00"))
    found = read_all(FEEDER, path)
    assert [session.identity.key for session, _ in found] == [
        ("aider", "acme", "2026-03-04 10:20:30"),
        ("aider", "acme", "2026-03-04 11:00:30"),
        ("aider", "acme", "2026-03-04 11:00:30 #2"),
    ]
    assert found[0][0].identity == before.identity
    assert said(found[0][1])[: len(said(rows))] == said(rows)
    assert found[0][0].cwd == str(path.parent)
    assert isinstance(found[1][1][0].content, Noise)


def test_it_is_recognised_by_how_it_begins(tmp_path: Path) -> None:
    path = write(tmp_path, STARTED)
    assert FEEDER.recognises(path, head_of(path))
    assert not FEEDER.recognises(path, b"# Notes\n\n# aider chat started at 2026-03-04 10:20:30\n")
    assert not FEEDER.recognises(path, b"")
    with pytest.raises(SourceUnreadable):
        list(FEEDER.sessions(write(tmp_path, "# Notes")))


@few
@given(told=st.lists(st.tuples(st.sampled_from(["user", "assistant"]), words), max_size=6))
def test_what_is_written_is_read_back(told: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    """One word from each text: aider itself drops what stands around them."""
    pieces: list[str] = []
    expected: list[tuple[str, str]] = []
    for n, (role, text) in enumerate(told):
        kept = "".join(letter for letter in text[:2000] if letter.isalnum() and letter.isascii()) + f"w{n}"
        pieces.append(person(kept) if role == "user" else model(kept))
        if expected and expected[-1][0] == role == "assistant":
            expected[-1] = (role, f"{expected[-1][1]}\n\n\n{kept}")
        else:
            expected.append((role, kept))
    rows = rows_of(tmp_path_factory.mktemp("a"), STARTED, *pieces)
    assert [(one.role, one.text) for one in said(rows)] == expected


@few
@given(
    data=st.lists(st.sampled_from([b"#### ", b"> ", b"  \n", b"\r\n", b"\n", b"x", b"\xff", b"\x00", STARTED.encode()]))
)
def test_no_bytes_make_reading_fail(data: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = write(tmp_path_factory.mktemp("a"), STARTED)
    path.write_bytes(path.read_bytes() + b"".join(data))
    rows = [row for _, rows in read_all(FEEDER, path) for row in rows]
    assert b"".join(row.raw for row in rows) == path.read_bytes()
