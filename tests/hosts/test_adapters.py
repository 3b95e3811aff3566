"""Every host's payloads, as the real programs sent them, and where its answers are known to land."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from palazzo.client import hook_client
from palazzo.errors import UsageError
from palazzo.hosts.host_registry import adapter_of, adapters
from palazzo.injection.hook_events import EVENTS, Beginning, Event, HookEvent, Reaction

CAPTURED = Path(__file__).parents[1] / "fixtures" / "hooks"
SAYS_EVERYTHING = Reaction(inject="words for the agent", ask="one more turn", tell="a line", hold_back=True)


def captured(host: str) -> list[tuple[str, dict[str, Any]]]:
    """The host's own name of the event, and the payload."""
    paths = sorted((CAPTURED / host).glob("*.json"))
    return [(path.name.split(".")[0], json.loads(path.read_text("utf-8"))) for path in paths]


def read(host: str, name: str, which: str) -> HookEvent:
    payload = json.loads((CAPTURED / host / f"{name}{which}.json").read_text("utf-8"))
    found = adapter_of(host).read(adapter_of(host).events[name], payload)
    assert found is not None
    return found


@pytest.mark.parametrize("host", ["claude-code", "codex", "copilot", "droid", "gemini-cli", "qwen-code"])
def test_what_was_captured_is_understood(host: str) -> None:
    adapter = adapter_of(host)
    seen = set[Event]()
    for name, payload in captured(host):
        if name not in adapter.events:
            assert name in ("InstructionsLoaded", "PostCompact", "PostToolBatch", "permissionRequest")
            continue
        found = adapter.read(adapter.events[name], payload)
        assert found is not None
        assert (found.host, found.cwd) == (host, "/home/dev/acme")
        assert len(found.session) == 36
        assert ("tool" in found.event) == (found.tool is not None)
        assert found.event != "tool-failure" or (found.tool is not None and found.tool.error)
        seen.add(found.event)
    assert {"session-start", "prompt", "post-tool", "stop", "session-end"} <= seen | {"prompt"}


@pytest.mark.parametrize("host", list(adapters()))
@pytest.mark.parametrize("payload", [{}, {"session_id": 3, "cwd": None, "tool_name": [], "tool": "x", "prompt": {}}])
def test_fields_that_are_missing_or_of_another_type_are_empty(host: str, payload: dict[str, Any]) -> None:
    adapter = adapter_of(host)
    for event in set(adapter.events.values()):
        found = adapter.read(event, payload)
        assert found is None or (found.session, found.cwd, found.prompt, found.tool) == ("", "", "", None)


@pytest.mark.parametrize("host", list(adapters()))
def test_our_own_names_of_events_are_known(host: str) -> None:
    adapter = adapter_of(host)
    assert set(adapter.events.values()) <= set(EVENTS)
    assert all(adapter.events[event] == event for event in adapter.events.values())


@pytest.mark.parametrize(
    ("host", "name", "which", "kind", "command", "file"),
    [
        ("claude-code", "PostToolUse", ".Bash", "command", "ls -1", ""),
        ("claude-code", "PostToolUse", ".Read", "read", "", "/home/dev/acme/deploy.yaml"),
        ("claude-code", "PostToolUse", ".Edit", "edit", "", "/home/dev/acme/deploy.yaml"),
        ("claude-code", "PostToolUse", ".Agent", "agent", "", ""),
        ("claude-code", "PostToolUse", ".mcp__mem__memory_search", "other", "", ""),
        ("codex", "PreToolUse", ".mcp__mem__memory_boom", "other", "", ""),
    ],
)
def test_a_tool_s_call_says_what_it_worked_on(
    host: str, name: str, which: str, kind: str, command: str, file: str
) -> None:
    tool = read(host, name, which).tool
    assert tool is not None
    assert (tool.kind, tool.command, tool.file) == (kind, command, file)


@pytest.mark.parametrize(
    ("host", "name", "which", "output"),
    [
        ("claude-code", "PostToolUse", ".Bash", "CLAUDE.md\ndeploy.yaml"),
        (
            "claude-code",
            "PostToolUse",
            ".mcp__mem__memory_search",
            "MCP-HIT 1: deploy port is 8443 (query=deploy port)",
        ),
        ("codex", "PostToolUse", ".Bash", "AGENTS.md\ndeploy.yaml\n"),
        ("codex", "PostToolUse", ".mcp__mem__memory_search", "MCP-HIT 1: deploy port is 8443 (query=deploy port)"),
    ],
)
def test_an_output_is_text_whatever_its_shape(host: str, name: str, which: str, output: str) -> None:
    tool = read(host, name, which).tool
    assert tool is not None
    assert tool.output == output


@pytest.mark.parametrize(
    ("host", "name", "which"),
    [
        ("claude-code", "PostToolUseFailure", ".Bash"),
        ("copilot", "postToolUse", ".bash"),
        ("gemini-cli", "AfterTool", ".run_shell_command"),
    ],
)
def test_a_command_that_failed_is_a_failure_however_the_host_tells_of_it(host: str, name: str, which: str) -> None:
    found = read(host, name, which)
    assert found.event == "tool-failure"
    assert found.tool is not None
    assert "AssertionError: expected 200 got 503" in found.tool.error
    assert found.tool.command.startswith("echo 'E")


@pytest.mark.parametrize(
    ("host", "name", "which", "beginning"),
    [
        ("claude-code", "SessionStart", ".startup", "startup"),
        ("claude-code", "SessionStart", ".resume", "resume"),
        ("claude-code", "SessionStart", ".compact", "compact"),
        ("codex", "SessionStart", ".resume", "resume"),
        ("copilot", "sessionStart", ".new", "startup"),
        ("gemini-cli", "SessionStart", ".resume", "resume"),
    ],
)
def test_how_a_session_begins_is_told(host: str, name: str, which: str, beginning: Beginning) -> None:
    assert beginning in get_args(Beginning)
    assert read(host, name, which).beginning == beginning


def test_a_sub_agent_s_words_are_in_its_own_transcript() -> None:
    found = read("claude-code", "SubagentStop", "")
    assert "/subagents/agent-" in found.transcript
    assert found.last_message == "Retries are configured in deploy.yaml as `retries: 5`."


def test_the_agent_that_summarises_is_none_of_ours() -> None:
    payload = json.loads((CAPTURED / "claude-code" / "SubagentStop.json").read_text("utf-8"))
    assert adapter_of("claude-code").read("subagent-stop", {**payload, "agent_type": ""}) is None


# --- answers -----------------------------------------------------------------------------------------------


def recorded(host: str) -> list[tuple[str, Any, bool]]:
    """What was written on which event, and whether it reached the model, as recorded of the real program."""
    cases = json.loads((CAPTURED / f"{host}-outputs.json").read_text("utf-8"))
    return [
        (event, said.get("stdout"), case["reaches_model"]) for case in cases for event, said in case["hooks"].items()
    ]


def shape(answer: Any) -> Any:
    """An answer without its words."""
    if isinstance(answer, dict):
        return {key: value if key in ("hookEventName", "decision") else shape(value) for key, value in answer.items()}
    return "…" if isinstance(answer, str) else answer


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_what_is_injected_has_a_shape_that_was_seen_to_reach_the_model(host: str) -> None:
    landing = [(event, shape(said)) for event, said, lands in recorded(host) if lands and isinstance(said, dict)]
    adapter = adapter_of(host)
    for own, event in adapter.events.items():
        answer = adapter.write(event, Reaction(inject="words"))
        if answer and own != event and own not in ("PostToolUseFailure",):  # its case was not recorded whole
            assert (own, shape(answer)) in landing, own


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_a_turn_that_is_asked_for_has_a_shape_that_was_seen_to_go_on(host: str) -> None:
    answer = adapter_of(host).write("stop", Reaction(ask="save what matters"))
    assert ("Stop", shape(answer)) in [(event, shape(said)) for event, said, lands in recorded(host) if lands]


@pytest.mark.parametrize("host", list(adapters()))
def test_nothing_to_say_is_an_empty_answer(host: str) -> None:
    assert [adapter_of(host).write(event, Reaction()) for event in EVENTS] == [{}] * len(EVENTS)


@pytest.mark.parametrize("host", list(adapters()))
def test_no_answer_of_a_stop_or_an_end_injects(host: str) -> None:
    """It would restart the agent, or stand where nobody reads it."""
    if host in ("opencode", "kilo-code", "pi"):
        return  # their extension decides
    for event in ("stop", "subagent-stop", "session-end", "pre-compact"):
        answer = json.dumps(adapter_of(host).write(event, SAYS_EVERYTHING))
        assert SAYS_EVERYTHING.inject not in answer


def test_a_compaction_is_held_back_where_the_host_lets_it_be() -> None:
    held = Reaction(hold_back=True, tell="The transcript could not be kept.")
    blocked = adapter_of("claude-code").write("pre-compact", held)
    assert blocked["decision"] == "block"
    assert blocked["reason"]
    assert "continue" not in adapter_of("codex").write("pre-compact", held)
    assert "decision" not in adapter_of("codex").write("pre-compact", held)


def test_copilot_reads_what_is_at_the_top() -> None:
    assert adapter_of("copilot").write("prompt", Reaction(inject="words")) == {"additionalContext": "words"}


def test_cursor_takes_context_at_a_session_s_start() -> None:
    found = read("cursor", "sessionStart", "")
    assert (found.session[:8], found.cwd, found.transcript) == ("0a1b2c3d", "/home/dev/acme", "")
    assert adapter_of("cursor").write("session-start", Reaction(inject="words")) == {"additional_context": "words"}


def test_cline_s_prompt_tool_and_last_answer_are_read_from_both_of_its_programs() -> None:
    prompt = read("cline", "UserPromptSubmit", "")
    assert (prompt.session[:8], prompt.cwd, prompt.prompt) == (
        "0a1b2c3d",
        "/home/dev/acme",
        "What port does deploy use?",
    )
    tool = read("cline", "PostToolUse", ".run_commands").tool
    assert tool is not None
    assert (tool.kind, tool.command, tool.output) == ("command", "ls -1\npwd", "deploy.yaml\n/home/dev/acme\n")
    failure = read("cline", "PostToolUse", ".failed")
    assert (failure.event, failure.tool and failure.tool.error) == (
        "tool-failure",
        "E   AssertionError: expected 200 got 503",
    )
    ends = [read("cline", "TaskComplete", which) for which in ("", ".program")]
    assert [(end.event, end.last_message, end.agent) for end in ends] == [
        ("stop", "The deploy service listens on port 8443.", "")
    ] * 2


def test_cline_s_program_names_files_in_a_list_and_failures_in_the_result_of_a_successful_tool() -> None:
    tool = read("cline", "PostToolUse", ".3.0.65").tool
    assert tool is not None
    assert (tool.command, tool.output, tool.error) == ("echo fine", "fine\n", "")
    reading = read("cline", "PostToolUse", ".3.0.65-read").tool
    assert reading is not None
    assert (reading.kind, reading.file, reading.output) == ("read", "/home/dev/orders/gateway.toml", "1 | retries = 3")
    failure = read("cline", "PostToolUse", ".3.0.65-failed")
    assert failure.event == "tool-failure"
    assert failure.tool is not None
    assert failure.tool.command == "./check"
    assert failure.tool.error.splitlines()[-1] == "ModuleNotFoundError: No module named 'frobnicate'"
    end = read("cline", "TaskComplete", ".3.0.65")
    assert (end.event, end.last_message, end.cwd) == ("stop", "Done.", "/home/dev/orders")


def test_cline_takes_words_after_a_tool_alone() -> None:
    adapter = adapter_of("cline")
    assert adapter.write("post-tool", Reaction(inject="words")) == {"contextModification": "words"}
    assert adapter.write("prompt", SAYS_EVERYTHING) == {}


def test_windsurf_is_told_nothing_and_its_turns_are_read() -> None:
    prompt, end = read("windsurf", "pre_user_prompt", ""), read("windsurf", "post_cascade_response", "")
    assert (prompt.event, prompt.prompt, prompt.session) == ("prompt", "What port does deploy use?", end.session)
    assert (end.event, end.last_message[-5:]) == ("stop", "8443.")
    assert [adapter_of("windsurf").write(event, SAYS_EVERYTHING) for event in EVENTS] == [{}] * len(EVENTS)


def test_kiro_s_events_are_read_also_without_a_prompt() -> None:
    names = ("SessionStart", ""), ("UserPromptSubmit", ""), ("UserPromptSubmit", ".empty"), ("Stop", "")
    start, prompt, empty, end = (read("kiro", name, which) for name, which in names)
    assert (start.beginning, start.cwd) == ("startup", "/home/dev/acme")
    assert (prompt.prompt, empty.prompt) == ("What port does deploy use?", "")
    assert (end.event, end.session) == ("stop", start.session)


def test_kiro_gets_words_alone_or_nothing() -> None:
    answer = json.dumps(adapter_of("kiro").write("prompt", Reaction(inject="words"))).encode() + b"\n"
    assert hook_client._format_output("kiro", "prompt", answer) == b"words\n"
    assert hook_client._format_output("kiro", "stop", hook_client.NOTHING) == b""
    assert hook_client._format_output("cline", "stop", hook_client.NOTHING) == b"{}\n"


def test_a_host_that_is_not_known_is_named_with_those_that_are() -> None:
    with pytest.raises(UsageError, match="claude-code"):
        adapter_of("emacs")
