"""`logstream`, `task` and `artifact` by the name of MemPalace: its options, its layout, its exit codes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from palazzo.faces.cli import mempalace_exchange
from palazzo.faces.cli.mempalace_command import WriteForbidden, exchange_words
from palazzo.security.note_taint import AGENTS_VARIABLES

Run = Callable[..., tuple[int, str, str]]
WRITE = ("--stream", "project/shop", "--room", "reviews", "--from-agent", "here:codex:shop")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run one action in this process, as a person; its exit code, output and errors."""
    for name in AGENTS_VARIABLES:
        monkeypatch.delenv(name, raising=False)

    def run_action(*words: str) -> tuple[int, str, str]:
        code = mempalace_exchange.main([*words])
        return (code, *capsys.readouterr())

    return run_action


def document(run: Run, *words: str) -> Any:
    code, printed, errors = run(*words, "--json")
    assert code == 0, errors
    return json.loads(printed)


def test_an_event_is_appended_listed_and_acknowledged(run: Run, home: Path) -> None:
    (home / "body.txt").write_bytes(b"one\r\ntwo")
    event = document(run, "logstream", "append", "--type", "review", *WRITE, "--body-file", str(home / "body.txt"))
    assert (event["body"], event["stream"], event["from_agent"]) == ("one\r\ntwo", "project/shop", "here:codex:shop")
    code, printed, _ = run("logstream", "ack", event["id"], "--from-agent", "here:pi:shop", "--status", "claimed")
    assert (code, printed.splitlines()[0]) == (0, "Acknowledged:")
    listed = document(run, "logstream", "list", "--stream", "project/shop", "--order", "asc")
    assert [row["type"] for row in listed["events"]] == ["review", "event.ack"]
    assert listed["count"] == 2
    _, printed, _ = run("logstream", "list", "--status", "claimed")
    line = r"1 event\(s\):\n  \S+  \S+Z  event\.ack  project/shop/reviews  here:pi:shop->here:codex:shop \[claimed\]"
    assert re.match(line, printed)


def test_a_wait_in_vain_ends_with_its_own_code(run: Run) -> None:
    document(run, "logstream", "append", "--type", "review", *WRITE)
    code, printed, _ = run("logstream", "wait", "--type", "nothing", "--timeout-ms", "1")
    assert (code, printed) == (mempalace_exchange.TIMED_OUT, "Timed out; no matching events.\n")
    assert document(run, "logstream", "wait", "--type", "review")["timed_out"] is False


def test_a_task_is_requested_with_a_line_to_paste(run: Run) -> None:
    words = ("--project", "shop", "--from-agent", "a:codex:shop", "--to-agent", "b:pi:shop", "--branch", "main")
    code, printed, errors = run(
        "task", "create", *words, "--base-commit", "a" * 40, "--goal", "Split it", "--done", "Tests pass"
    )
    assert (code, errors) == (0, "")
    assert re.match(r"Task created: \S+\nEvent: \S+\nTo: b:pi:shop\n\nReady to paste:\n.", printed)


def test_an_artifact_comes_back_to_the_byte(home: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (home / "x.log").write_bytes(b"a\r\nb\n")
    words = ["artifact", "put", "--kind", "log", "--created-by", "me", "--file", f"{home}/x.log", "--json"]
    assert mempalace_exchange.main(words) == 0
    stored = json.loads(capfdbinary.readouterr().out)
    assert mempalace_exchange.main(["artifact", "get", stored["id"]]) == 0
    assert capfdbinary.readouterr().out == b"a\r\nb\n"
    assert mempalace_exchange.main(["artifact", "get", stored["id"], "--out", f"{home}/copy"]) == 0
    assert (home / "copy").read_bytes() == b"a\r\nb\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("artifact", "get", "nowhere"), "nowhere"),
        (("logstream", "watch", "--agent", "me"), "logstream wait"),
        (("logstream", "append", "--type", "x", *WRITE, "--body", "a", "--body-file", "b"), "not both"),
        (("logstream", "append", "--type", "x", *WRITE, "--metadata", "{"), "JSON"),
    ],
)
def test_what_cannot_be_done_is_said_in_the_form_that_was_asked_for(
    run: Run, words: tuple[str, ...], says: str
) -> None:
    code, printed, errors = run(*words)
    assert (code, printed, errors[:7]) == (1, "", "Error: ")
    assert says in errors
    if "watch" not in words:
        code, printed, _ = run(*words, "--json")
        assert code == 1
        assert says in json.loads(printed)["error"]


def test_the_program_passes_on_the_palace_and_forbids_writes_to_a_reader(home: Path) -> None:
    assert exchange_words(["--palace", "/x", "logstream", "list", "--json"]) == [
        *("logstream", "--palace", "/x/palace.db", "list", "--json")
    ]
    assert exchange_words(["--read-only", "logstream", "list"]) == ["logstream", "list"]
    assert exchange_words(["search", "logstream"]) == []
    with pytest.raises(WriteForbidden):
        exchange_words(["--read-only", "artifact", "put"])
