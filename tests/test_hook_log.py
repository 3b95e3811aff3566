"""A hook that finds no service says of bad input what a service would: one line in the log, without a word of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from palazzo.client import hook_log, offline_hook, rpc


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    state = str(tmp_path / "state")
    return {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path), "XDG_STATE_HOME": state, "PALAZZO_SERVICE": "off"}


def logged(variables: dict[str, str]) -> str:
    file = Path(hook_log.log_file(rpc.chosen_palace(None, variables), variables))
    return file.read_text("utf-8") if file.exists() else ""


@pytest.mark.parametrize(
    ("host", "event", "payload", "said"),
    [
        ("claude-code", "Stop", b"", "hook claude-code Stop: the payload is not valid JSON"),
        ("claude-code", "Stop", b'{"prompt": "a secret', "hook claude-code Stop: the payload is not valid JSON"),
        (
            "codex",
            "UserPromptSubmit",
            b'["a secret"]',
            "hook codex UserPromptSubmit: the payload is not an object but a list",
        ),
        ("codex", "PostToolUse", b"null", "hook codex PostToolUse: the payload is not an object but a NoneType"),
        ("claude-code", "Nonsense", b"{}", "hook 'claude-code' 'Nonsense': not known"),
        ("../../etc", "Stop", b"{}", "hook '../../etc' 'Stop': not known"),
        ("", "", b"{}", "hook '' '': not known"),
        (
            "pi",
            "stop",
            b'{"transcript": "secret.jsonl"}',
            "hook pi stop: the transcript was not read: its path is not absolute, or is too long",
        ),
        (
            "pi",
            "stop",
            b" " * ((10 << 20) + 1),
            "hook pi stop: the payload of 10,485,761 bytes is too large and was not read",
        ),
    ],
)
def test_bad_input_leaves_one_line(variables: dict[str, str], host: str, event: str, payload: bytes, said: str) -> None:
    assert offline_hook.answer(host, event, payload, None, variables) == offline_hook.NOTHING
    assert said in logged(variables)
    assert logged(variables).count("\n") == 1
    assert "secret" not in logged(variables)


@pytest.mark.parametrize(("event", "payload"), [("Stop", b"{}"), ("UserPromptSubmit", b'{"prompt": "hello"}')])
def test_what_is_understood_leaves_none(variables: dict[str, str], event: str, payload: bytes) -> None:
    offline_hook.answer("claude-code", event, payload, None, variables)
    assert logged(variables) == ""


def test_where_nothing_can_be_written_the_host_is_answered_all_the_same(variables: dict[str, str]) -> None:
    there = {**variables, "XDG_STATE_HOME": "/dev/null"}
    assert offline_hook.answer("claude-code", "Stop", b"nonsense", None, there) == offline_hook.NOTHING


def test_a_log_that_is_full_grows_no_more(variables: dict[str, str]) -> None:
    file = Path(hook_log.log_file(rpc.chosen_palace(None, variables), variables))
    file.parent.mkdir(parents=True)
    file.write_bytes(b"x" * 1_000_000)
    offline_hook.answer("claude-code", "Stop", b"nonsense", None, variables)
    assert file.stat().st_size == 1_000_000
