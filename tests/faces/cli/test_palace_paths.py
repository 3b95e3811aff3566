"""Where a palace is: what is no file is refused, odd names are never another palace's, and none is begun anew."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.faces.cli.command import Command, spawn

from palazzo.operations.context import Context
from palazzo.palace import Palace

READS, WRITES = ("status", "verify", "doctor", "backup"), (("remember", "A note."), ("restore", "BACKUP", "--yes"))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes with a path")
@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("pipe", "named pipe"),
        ("socket", "a socket"),
        ("device", "a device"),
        ("link", "is a link to"),
        ("loop", "cannot be accessed"),
    ],
)
def test_what_is_no_file_is_refused_before_it_is_opened(palazzo: Command, shop: Path, kind: str, sentence: str) -> None:
    backup = palazzo.json("backup", str(shop.with_name("backup.db")))["file"]
    place = shop.with_name("odd.db")
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "device":
        place = Path("/dev/null")
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(os.path.relpath(place))
    else:
        place.symlink_to(place if kind == "loop" else "nowhere.db")
    for command in (*((command_name,) for command_name in READS), *WRITES):
        ran = palazzo("--palace", str(place), *(backup if word == "BACKUP" else word for word in command))
        assert ran.code == 1, command
        assert sentence in (ran.error or ran.out), command
        if command[0] != "doctor":
            assert len(ran.error.splitlines()) == 1
    assert not shop.with_name("nowhere.db").exists()


@pytest.mark.parametrize(
    "name", ["a\nb.db", "a\x1b[2Jb.db", "a\u202eb.db", b"a\xffb.db".decode("utf-8", "surrogateescape")]
)
@pytest.mark.parametrize("way", ["variable", "option", "setting"])
def test_a_palace_of_an_odd_name_is_refused_and_no_other_is_used(home: Path, name: str, way: str) -> None:
    default, named_path = home / ".local" / "share" / "palazzo", home / name
    variables: dict[str, Any] = {"HOME": str(home), "PALAZZO_SERVICE": "off"}
    if way == "setting":
        if not name.isprintable() and "\udcff" in name:
            pytest.skip("no such text stands in TOML")
        (home / ".config" / "palazzo").mkdir(parents=True)
        (home / ".config" / "palazzo" / "config.toml").write_text(f"palace = {json.dumps(str(named_path))}\n", "utf-8")
    elif way == "variable":
        variables["PALAZZO_PALACE"] = str(named_path)
    option = ("--palace", str(named_path)) if way == "option" else ()
    ran = spawn("remember", "A note.", *option, **variables)
    assert (ran.code, "contains unprintable characters" in ran.error) == (1, True), ran.error
    assert len(ran.error.splitlines()) == 1
    answer = spawn("hook", "claude-code", "session-start", *option, stdin=b'{"session_id": "s"}', **variables)
    assert answer.code == 0
    assert "contains unprintable characters" in answer.json["systemMessage"]
    assert not default.exists()
    assert not named_path.exists()


@pytest.mark.parametrize(
    "name", ["100%.db", "a?mode=memory", "file:x.db", "a#b.db", " a .db ", "a%00b.db", "ä 宮.db", "'\".db"]
)
def test_a_palace_of_a_strange_name_is_that_file(home: Path, name: str) -> None:
    named_path = home / name
    variables: dict[str, Any] = {"HOME": str(home), "PALAZZO_SERVICE": "off", "PALAZZO_PALACE": str(named_path)}
    assert spawn("remember", "A note.", **variables).code == 0
    assert named_path.is_file()
    Palace.open(named_path, "read").close()
    assert not (home / ".local" / "share" / "palazzo").exists()
    with Context(variables=variables, cwd=home) as context:
        assert context.palace_path == named_path


def test_a_palace_that_is_gone_is_not_begun_anew(palazzo: Command, shop: Path, home: Path) -> None:
    backup = Path(palazzo.json("backup", str(home / "backup.db"))["file"])
    for path in shop.parent.iterdir():
        path.rename(home / path.name) if path.is_file() else shutil.rmtree(path)
    for command in (("remember", "Anew."), ("search", "deploy"), ("status",), ("mine", "docs"), ("undo",), ("init",)):
        ran = palazzo(*command)
        assert (ran.code, "existed before and is missing now" in ran.error, len(ran.error.splitlines())) == (
            1,
            True,
            1,
        ), command
    assert "existed before and is missing now" in " ".join(palazzo("doctor").out.split())
    assert not shop.exists()
    outputs = [
        spawn("hook", "claude-code", event, stdin=b'{"session_id": "s1"}', HOME=str(home), PALAZZO_SERVICE="off").out
        for event in ("session-start", "stop", "user-prompt-submit", "stop", "session-start")
    ]
    assert sum("existed before and is missing now" in output for output in outputs) == 1  # once in a session
    assert not shop.exists()
    assert palazzo("restore", str(backup), "--yes").code == 0
    assert palazzo("remember", "It is back.").code == 0
    shop.unlink()
    assert palazzo.json("init", "--new")["created"]
    assert palazzo("remember", "Anew.").code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(("answer", "is_made"), [("y", True), ("n", False)])
def test_a_person_at_a_terminal_is_asked_before_a_palace_is_begun_anew(
    palazzo: Command, shop: Path, home: Path, answer: str, is_made: bool
) -> None:
    from tests.faces.cli.terminal import at_terminal

    shop.unlink()
    code, output = at_terminal(home, "remember", "Anew.", answer=answer)
    assert "Create an empty palace there?" in output
    assert (code == 0, shop.exists()) == (is_made, is_made)
