"""Qwen Code's sessions: what only this format has."""

from __future__ import annotations

from pathlib import Path

from palazzo.hosts.claude_code.transcript import ClaudeCode
from palazzo.hosts.qwen_code.transcript import QwenCode
from palazzo.sources.formats import Noise

from .host_samples import Json, messages, written
from .samples import read

FEEDER = QwenCode()
SESSION = "0a1b2c3d-0000-4000-8000-000000000001"
CONTEXT = "qwen:user-prompt-submit-context"


def record(kind: str, *parts: Json, **more: object) -> Json:
    row: Json = {"uuid": f"u-{len(parts)}-{kind}", "parentUuid": None, "sessionId": SESSION}
    row |= {"timestamp": "2026-11-21T20:00:00.000Z", "type": kind, "cwd": "/home/dev/acme", "gitBranch": "main"}
    return row | ({"message": {"role": "user", "parts": list(parts)}} if parts else {}) | more


def test_what_a_hook_added_and_files_are_told_from_what_was_typed() -> None:
    added = f"<{CONTEXT}>\n&lt;palazzo-memory&gt;x&lt;/palazzo-memory&gt;\n</{CONTEXT}>"
    payload = {"displayText": "explain @a.ts", "hookContext": "x"}
    typed: list[Json] = [{"text": "explain @a.ts"}, {"text": "export {}"}, {"text": added}]
    [one] = messages(read(FEEDER, written(record("user", *typed, systemPayload=payload))))
    assert [(part.kind, part.trust) for part in one.parts] == [
        ("text", None),
        ("attachment", "repo"),
        ("attachment", "tool"),
    ]
    assert (one.role, one.standing, one.cwd, one.branch) == ("user", "said", "/home/dev/acme", "main")
    note = record("user", {"text": "done"}, subtype="notification", provenance="system")
    assert [two.standing for two in messages(read(FEEDER, written(note)))] == ["meta"]


def test_a_call_that_failed_and_its_trust() -> None:
    call: Json = {"functionCall": {"id": "c1", "name": "web_fetch", "args": {"url": "https://x.y"}}}
    answer: Json = {"functionResponse": {"id": "c1", "name": "web_fetch", "response": {"error": "timed out"}}}
    rows = [record("assistant", call, model="m"), record("tool_result", answer, toolCallResult={"status": "error"})]
    _, result = messages(read(FEEDER, written(*rows)))
    [part] = result.parts
    assert (result.role, result.text) == ("tool", "timed out")
    assert (part.failed, part.trust, part.name) == (True, "external", "web_fetch")


def test_notes_of_the_host_are_noise_and_one_names_the_session() -> None:
    title = record("system", subtype="custom_title", systemPayload={"customTitle": "Ports"})
    [row] = read(FEEDER, written(title))
    assert (row.content, row.title) == (Noise("system/custom_title"), "Ports")


def test_its_files_are_not_taken_for_claude_code_s() -> None:
    model = record("system", subtype="session_model", systemPayload={})
    for data in (written(model), written(model, record("user", {"text": "hi"}))):
        file = Path(f"{SESSION}.jsonl")
        assert (FEEDER.recognises(file, data), ClaudeCode().recognises(file, data)) == (True, False)
