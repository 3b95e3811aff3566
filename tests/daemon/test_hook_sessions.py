"""Whole sessions through `palazzo hook` and a service: what is kept of them, what they are told, and that both stay."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.daemon.hook_machine import ROOT, TRANSCRIPT, Machine, eventually, undisturbed

from palazzo.client.rpc import Caller
from palazzo.features.ledger.contract import WhyRequest
from palazzo.features.ledger.why import why

CAPTURED = ROOT / "tests" / "fixtures" / "hooks" / "claude-code"
SESSION = TRANSCRIPT.stem
WRITES, TURNS = 10, 50
_TIME = re.compile(r'"timestamp": ?"(20[^"]+)"')


class Moment(NamedTuple):
    """A hook of a session: its event, its payload, and how many rows of the transcript are there when it is called."""

    event: str
    fields: dict[str, Any]
    rows: int


def injected(answer: bytes) -> str:
    """Return the words for the agent in an answer."""
    told = json.loads(answer or b"{}").get("hookSpecificOutput", {})
    return str(told.get("additionalContext", ""))


@pytest.mark.slow
def test_no_byte_of_what_a_session_was_told_changes_in_fifty_turns_with_writes_between(machine: Machine) -> None:
    """What the hook printed, what `why` shows at once, and what it shows after every later turn are the same bytes."""
    machine.note("We decided that the limit of the queue is ten, since workers fell behind in March.")
    machine.start()
    with Caller(machine.where, machine.variables, str(machine.project), starts=False) as service:
        eventually(lambda: injected(machine.hook("SessionStart", asking("warm-up", 0, machine))[0]))
        told = [injected(machine.hook("SessionStart", {**asking(SESSION, 0, machine), "source": "startup"})[0])]
        for turn in range(TURNS):
            if turn % (TURNS // WRITES) == 0:
                text = f"We decided that the limit of lane {turn} is {turn * 10}, because lane {turn} is slow."
                service.call("remember", {"text": text, "kind": "decision"})
            told.append(injected(machine.hook("UserPromptSubmit", asking(SESSION, turn, machine))[0]))
            shown = service.call("why", {"session": SESSION})["result"]["injections"]
            assert [one["text"] for one in shown] == [words for words in told if words]
    assert sum(map(bool, told)) > WRITES


def asking(session: str, turn: int, machine: Machine) -> dict[str, Any]:
    return machine.payload(session_id=session, prompt=f"what did we decide about the limit of lane {turn}?")


@pytest.mark.slow
def test_of_a_day_s_session_every_message_is_kept_once_and_nothing_is_told_twice(
    machine: Machine, tmp_path: Path
) -> None:
    """Payloads as the host was seen to send them, each with the transcript as far as it was written by then."""
    written = as_of_now(TRANSCRIPT.read_text("utf-8")).replace("/home/dev/acme", str(machine.project)).encode()
    lines = written.splitlines(keepends=True)
    transcript = machine.transcripts / TRANSCRIPT.name
    machine.note("We chose PostgreSQL for the orders service, since its partial indexes keep the queue small.")
    machine.start()
    prompt = "why did we choose PostgreSQL for the orders service?"
    eventually(lambda: injected(machine.hook("UserPromptSubmit", machine.payload(session_id="w", prompt=prompt))[0]))
    told: list[str] = []
    for moment in moments([json.loads(line) for line in lines]):
        transcript.write_bytes(b"".join(lines[: moment.rows]))
        answer, code = machine.hook(moment.event.partition(".")[0], captured(moment, transcript, machine))
        assert code == 0
        told.append(injected(answer))
    transcript.write_bytes(written)
    expected = undisturbed(tmp_path / "undisturbed", Path(machine.variables["XDG_RUNTIME_DIR"]), written)
    eventually(lambda: machine.messages() == expected)
    with machine.alone() as context:
        injections = why(context, WhyRequest(SESSION)).injections
    assert [one.text for one in injections] == [words for words in told if words]
    assert {one.event for one in injections} >= {"session-start", "prompt"}
    given = Counter((one.epoch, part.id) for one in injections for part in one.parts if part.kind == "drawer")
    assert set(given.values()) == {1}
    own = [one for one in injections if one.epoch == 0 and "Decision: the orders service uses" in str(one.text)]
    assert own == [], "it said so itself, and still knows"


def as_of_now(written: str) -> str:
    """A transcript whose session began a moment ago: what was said before a hook was heard counts as forgotten."""
    began = min(datetime.fromisoformat(found[1]) for found in _TIME.finditer(written))
    shift = datetime.now(UTC) + timedelta(seconds=5) - began

    def moved(found: re.Match[str]) -> str:
        at = datetime.fromisoformat(found[1]) + shift
        return f'"timestamp":"{at.isoformat(timespec="milliseconds").replace("+00:00", "Z")}"'

    return _TIME.sub(moved, written)


def moments(rows: Sequence[dict[str, Any]]) -> Iterator[Moment]:
    """Yield the hooks of a session that was written so; a turn's end comes before its last words are written."""
    yield Moment("SessionStart.startup", {}, 0)
    calls: dict[str, dict[str, Any]] = {}
    last = 0
    for n, row in enumerate(rows):
        for block in blocks(row):
            match row["type"], block["type"]:
                case "user", "text":
                    if last:
                        yield Moment("Stop", {"last_assistant_message": said(rows[last])}, last)
                    yield Moment("UserPromptSubmit", {"prompt": block["text"]}, n)
                case "assistant", "tool_use":
                    calls[block["id"]] = {"tool_name": block["name"], "tool_input": block["input"]}
                case "user", "tool_result":
                    call = calls[block["tool_use_id"]]
                    if block.get("is_error"):
                        yield Moment("PostToolUseFailure.Bash", {**call, "error": block["content"]}, n)
                    else:
                        output = {"stdout": block["content"], "stderr": "", "interrupted": False}
                        yield Moment("PostToolUse.Bash", {**call, "tool_response": output}, n)
                case "assistant", "text":
                    last = n
    yield Moment("Stop", {"last_assistant_message": said(rows[last])}, last)
    yield Moment("PreCompact.manual", {}, len(rows) - 1)
    yield Moment("SessionStart.compact", {}, len(rows) - 1)
    yield Moment("SessionEnd", {}, len(rows) - 1)


def blocks(row: dict[str, Any]) -> list[dict[str, Any]]:
    """What a row of a person's or an agent's says."""
    content = row.get("message", {}).get("content", []) if row["type"] in ("user", "assistant") else []
    return [block for block in content if isinstance(block, dict)]


def said(row: dict[str, Any]) -> str:
    return " ".join(block["text"] for block in blocks(row) if block["type"] == "text")


def captured(moment: Moment, transcript: Path, machine: Machine) -> dict[str, Any]:
    """A payload that was captured of the host, with this session's words and paths."""
    payload: dict[str, Any] = json.loads((CAPTURED / f"{moment.event}.json").read_bytes())
    place = {"session_id": SESSION, "transcript_path": str(transcript), "cwd": str(machine.project)}
    return {**payload, **place, **moment.fields}
