"""Whatever a host sends, it is answered with something that it takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.errors import PalaceUnusable
from palazzo.faces.hooks.hook_exchange import LARGEST, NOTHING, answer
from palazzo.features.hooks.contract import HookRequest, HookResult
from palazzo.hosts.host_registry import adapters
from palazzo.injection.hook_events import EVENTS

CAPTURED = Path(__file__).parents[1] / "fixtures" / "hooks"


class Engine:
    """Answers every request alike, and keeps what it was asked."""

    def __init__(self, result: HookResult | Exception) -> None:
        self.result, self.asked, self.log = result, list[HookRequest](), list[str]()

    def ask(self, request: HookRequest, cwd: str) -> HookResult:
        self.asked.append(request)
        assert request.cwd == cwd
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    def answer(self, host: str, event: str, payload: bytes) -> bytes:
        return answer(host, event, payload, self.ask, self.log.append)


PAYLOADS = [
    b"",
    b" ",
    b"[]",
    b"3",
    b'"text"',
    b"null",
    b"{",
    b'{"session_id": ',
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b"NaN",
    b'{"a": ' * 50_000,
    b"{} {}",
]


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("host", list(adapters()))
def test_a_payload_that_is_none_is_answered_with_nothing_to_add_and_one_line_in_the_log(
    host: str, payload: bytes
) -> None:
    engine = Engine(HookResult(inject="words"))
    assert engine.answer(host, "prompt", payload) == NOTHING
    assert engine.asked == []
    assert len(engine.log) == 1
    assert "\n" not in engine.log[0]


@pytest.mark.parametrize(("host", "event"), [("emacs", "prompt"), ("claude-code", "Dance"), ("", ""), ("pi", "Stop")])
def test_a_host_or_an_event_that_is_not_known_is_answered_with_nothing_to_add(host: str, event: str) -> None:
    engine = Engine(HookResult(inject="words"))
    assert engine.answer(host, event, b"{}") == NOTHING
    assert len(engine.log) == 1


def test_a_payload_without_end_is_not_read() -> None:
    engine = Engine(HookResult(inject="words"))
    assert engine.answer("claude-code", "prompt", b'{"prompt": "' + b"x" * LARGEST + b'"}') == NOTHING
    assert engine.asked == []


@pytest.mark.parametrize("error", [PalaceUnusable("The disk is full."), ZeroDivisionError(), RecursionError()])
def test_an_engine_that_fails_is_in_nobody_s_way(error: Exception) -> None:
    engine = Engine(error)
    assert engine.answer("claude-code", "Stop", b"{}") == NOTHING
    assert len(engine.log) == 1


def test_a_byte_order_mark_and_missing_fields_are_no_trouble() -> None:
    engine = Engine(HookResult(inject="words"))
    told = json.loads(engine.answer("claude-code", "UserPromptSubmit", b"\xef\xbb\xbf{}"))
    assert told == {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "words"}}


def test_words_of_no_encoding_are_answered_as_escapes() -> None:
    engine = Engine(HookResult(inject="a \ud800 b"))
    answered = engine.answer("copilot", "userPromptSubmitted", b"{}")
    assert json.loads(answered) == {"additionalContext": "a \ud800 b"}


def test_a_failure_that_comes_as_something_else_is_asked_about_as_one_and_answered_as_it_came() -> None:
    engine = Engine(HookResult(inject="mended by making the fixture wait"))
    payload = (CAPTURED / "copilot" / "postToolUse.bash.json").read_bytes()
    answered = json.loads(engine.answer("copilot", "postToolUse", payload))
    assert engine.asked[0].event == "tool-failure"
    assert answered == {"additionalContext": "mended by making the fixture wait"}


@pytest.mark.parametrize("host", ["claude-code", "codex", "copilot", "droid", "gemini-cli", "qwen-code"])
def test_what_was_captured_is_answered(host: str) -> None:
    engine = Engine(HookResult())
    for path in sorted((CAPTURED / host).glob("*.json")):
        assert engine.answer(host, path.name.split(".")[0], path.read_bytes()) == NOTHING


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [
        "session_id",
        "sessionId",
        "session",
        "cwd",
        "prompt",
        "tool_name",
        "tool_input",
        "tool_response",
        "tool",
        "source",
    ]
)


@given(st.sampled_from(list(adapters())), st.sampled_from(EVENTS), st.dictionaries(FIELDS, JSON))
def test_an_object_of_any_shape_is_answered(host: str, event: str, payload: dict[str, object]) -> None:
    engine = Engine(HookResult(inject="words", ask="more", tell="line"))
    answered = engine.answer(host, event, json.dumps(payload).encode())
    assert isinstance(json.loads(answered), dict)


@pytest.mark.parametrize(
    ("host", "event", "takes"),
    [("windsurf", "prompt", False), ("kiro", "prompt", True), ("cline", "stop", False), ("claude-code", "stop", True)],
)
def test_the_engine_knows_whether_an_answer_is_shown(host: str, event: str, takes: bool) -> None:
    engine = Engine(HookResult())
    engine.answer(host, event, b"{}")
    assert [request.takes_answer for request in engine.asked] == [takes]
