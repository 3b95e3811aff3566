"""The sessions that the guard is measured on are those of the hosts; and what is told of poison is nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from palazzo.bench import injection_trial
from palazzo.bench.honest_controls import HONEST
from palazzo.bench.poison_cases import POISON_CASES
from palazzo.bench.poison_hosts import SESSIONS, Opencode
from palazzo.bench.poison_session import Case, Delegation, Used, Utterance
from palazzo.bench.poison_tools import call_of
from palazzo.hosts.opencode.opencode_storage import OpencodeStorage
from palazzo.sources.formats import Message
from palazzo.sources.formats.transcript_formats import TRANSCRIPTS

STEPS = (
    Utterance("user", "What does the page say?"),
    Used("fetch", "https://example.com", "the page's words"),
    Used("mcp", "tracker search it", "the server's words"),
    Used("shell", "make check", "the command's words", True),
    Used("read", "src/main.py", "the file's words"),
    Utterance("assistant", "the agent's words"),
    Utterance("summary", "the summary's words"),
)


def messages(host: str, home: Path) -> list[Message]:
    session = SESSIONS[host](home, home / "acme")
    for step in STEPS:
        session.add(step)
    session.add(Delegation("look", (Used("fetch", "https://example.com", "deep words"),), "the report's words"))
    if isinstance(session, Opencode):
        (read,) = (one for one in OpencodeStorage().sessions(Opencode.storage(home)) if not one.identity.parent_session)
        return [row.content for row in read.rows() if isinstance(row.content, Message)]
    head = session.path.read_bytes()
    feeder = next(one for one in TRANSCRIPTS if one.recognises(session.path, head))
    with session.path.open("rb") as stream:
        return [row.content for row in feeder.rows(stream) if isinstance(row.content, Message)]


@pytest.mark.parametrize("host", SESSIONS)
def test_each_host_s_session_is_read_as_its_own(host: str, tmp_path: Path) -> None:
    (tmp_path / "acme").mkdir()
    read = messages(host, tmp_path)
    text = "\n".join(one.text for one in read)
    for step in STEPS:
        assert (step.output if isinstance(step, Used) else step.text) in text
    assert "the report's words" in text
    trusts = {part.name: part.trust for one in read for part in one.parts if part.kind == "tool_result"}
    assert trusts[call_of(host, STEPS[1])[0]] == "external"
    assert trusts[call_of(host, STEPS[2])[0]] == "external"
    assert trusts[call_of(host, STEPS[3])[0]] != "external"
    assert [one.text for one in read if one.standing == "summary"]


def chosen(*names: str) -> list[Case]:
    return [case for case in (*POISON_CASES, *HONEST) if case.name in names]


@pytest.mark.slow
def test_no_poison_is_told_and_what_is_honest_is() -> None:
    cases = chosen(
        "a page", "the agent says it again", "talked into a note", "what the agent decided", "an honest page"
    )
    found = injection_trial.run(lambda what, done, total: None, ("claude-code", "pi"), cases)
    assert {one.case.name: one.delivery_places for one in found if not one.case.honest and one.delivery_places} == {}
    assert all(one.is_searchable for one in found)
    assert all(one.reaches_prompt for one in found if one.case.is_delivered)
