"""pi's session trees: what it really wrote, and branches of every shape."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.hosts.pi.transcript import Pi
from palazzo.sources.formats import Message, Noise, Unreadable

from .host_samples import EXPECTED, Json, humans, messages, pi_entry, rows_of, sessions_of, written
from .samples import line, message, read

FEEDER = Pi()
SESSIONS = sessions_of("pi")
[BRANCHED] = [path for path in SESSIONS if "T21-08" in path.name]
[EIGHTEEN_TURNS] = [path for path in SESSIONS if "T21-05" in path.name]
HEADER: Json = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-11-21T20:00:00Z", "cwd": "/w"}


def entry(identity: str, parent: str | None, role: str = "user", **fields: object) -> Json:
    return pi_entry(identity, parent, {"role": role, "content": identity, **fields})


def threads(*links: tuple[str, str | None]) -> dict[str, str]:
    data = written(HEADER, *(entry(identity, parent) for identity, parent in links))
    return {one.uuid: one.thread for one in messages(read(FEEDER, data))}


# What the host really wrote


def test_the_eighteen_turns_are_all_there() -> None:
    rows = rows_of(FEEDER, EIGHTEEN_TURNS)
    said = [one for one in messages(rows) if one.standing == "said"]
    calls = [one.text[p.start : p.end] for one in said for p in one.parts if p.kind == "tool_call"]
    answers = [one.text for one in said if one.role == "assistant"]
    assert humans(rows) == [turn["user"] for turn in EXPECTED]
    for turn, command in zip(EXPECTED, calls, strict=True):
        assert command == f"bash\ncommand: {turn['tool_command']}"
        assert answers.count(turn["assistant_final"]) == 1
    assert Counter(one.role for one in said) == {"user": 18, "assistant": 36, "tool": 18}


def test_every_row_of_the_captured_files_is_counted() -> None:
    counted: Counter[str] = Counter()
    for path in SESSIONS:
        for one in rows_of(FEEDER, path):
            counted[one.content.reason if isinstance(one.content, Noise) else type(one.content).__name__] += 1
    assert counted == {
        "Message": 321,
        "session": 11,
        "model_change": 11,
        "thinking_level_change": 11,
        "session_info": 1,
        "label": 1,
        "custom": 1,
    }


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.parent.name)
def test_what_pi_and_its_extensions_insert_is_meta(path: Path) -> None:
    for one in messages(rows_of(FEEDER, path)):
        hosts = one.text.startswith(("INJECTED-MEMORY", "SETTLE-CHECK please", "You are an expert coding assistant"))
        assert (one.standing == "meta") == hosts
        assert one.cwd == "/home/dev/acme"
        assert one.author == ("fake-model" if one.role == "assistant" and one.standing == "said" else "")


def test_a_branch_is_a_thread_and_the_first_attempt_keeps_its_own() -> None:
    rows = rows_of(FEEDER, BRANCHED)
    said = messages(rows)
    assert Counter(one.thread for one in said) == {"": 23, "cda529b7": 14}
    begins = [one for one in said if one.meta.get("branch")]
    assert [(one.uuid, one.parent, one.standing) for one in begins] == [("cda529b7", "1db4a802", "summary")]
    assert begins[0].meta["branch_left"] == "e280b308"
    assert [row.title for row in rows if row.title] == ["deploy work"]


def test_the_active_history_is_the_last_thread_below_what_it_left() -> None:
    said = {one.uuid: one for one in messages(rows_of(FEEDER, BRANCHED))}
    last = list(said.values())[-1]
    active = []
    at = last.uuid
    while at in said:
        active.append(said[at])
        at = said[at].parent
    assert [one.text for one in reversed(active) if one.role == "user"] == [
        "What port does deploy use?",
        "Run the failing test",
        "What port does deploy use?",
    ]
    assert [one.thread for one in reversed(active)] == sorted(one.thread for one in active)


def test_a_command_that_the_person_ran_is_a_tools() -> None:
    [own] = [one for one in messages(rows_of(FEEDER, BRANCHED)) if "user-bash" in one.text]
    assert (own.role, own.text) == ("tool", "bash\ncommand: echo user-bash; pwd\n\nuser-bash\n/home/dev/acme\n")
    assert [part.kind for part in own.parts] == ["tool_call", "tool_result"]


def test_results_know_their_failure() -> None:
    results = [p for one in messages(rows_of(FEEDER, BRANCHED)) for p in one.parts if p.kind == "tool_result"]
    assert Counter((part.name, part.failed) for part in results) == {
        ("memory_search", False): 2,
        ("memory_search", True): 2,
        ("write", False): 1,
        ("bash", False): 2,
        ("bash", True): 2,
        ("edit", False): 1,
        ("read", False): 1,
    }


# Threads


def test_threads_of_a_tree() -> None:
    straight = threads(("a", None), ("b", "a"), ("c", "b"))
    assert straight == {"a": "", "b": "", "c": ""}
    assert threads(("a", None), ("b", "a"), ("c", "a")) == {"a": "", "b": "", "c": "c"}
    assert threads(("a", None), ("b", "a"), ("c", "a"), ("d", "b")) == {"a": "", "b": "", "c": "c", "d": ""}
    assert threads(("a", None), ("b", None)) == {"a": "", "b": "b"}
    assert threads(("a", None), ("b", "lost"), ("c", "b")) == {"a": "", "b": "", "c": ""}


def test_a_label_or_a_setting_lies_on_the_branch_too() -> None:
    label: Json = {"type": "label", "id": "l", "parentId": "b", "timestamp": "2026-11-21T20:00:00Z", "label": "x"}
    data = written(HEADER, entry("a", None), entry("b", "a"), label, entry("c", "l"), entry("d", "b"))
    assert [(one.uuid, one.thread) for one in messages(read(FEEDER, data))][2:] == [("c", ""), ("d", "d")]


links = st.lists(st.integers(-1, 30), max_size=12).map(
    lambda parents: [(f"e{n}", None if p < 0 or not n else f"e{p % n}") for n, p in enumerate(parents)]
)


@given(links)
def test_in_a_thread_each_entrys_parent_is_the_entry_before_it(tree: list[tuple[str, str | None]]) -> None:
    data = written(HEADER, *(entry(identity, parent) for identity, parent in tree))
    found: dict[str, list[Message]] = {}
    for one in messages(read(FEEDER, data)):
        found.setdefault(one.thread, []).append(one)
    assert sum(map(len, found.values())) == len(tree)
    for name, thread in found.items():
        assert all(later.parent == earlier.uuid for earlier, later in pairwise(thread))
        assert name in ("", thread[0].uuid)


@given(links, st.integers(0, 12))
def test_growth_never_moves_an_entry_to_another_thread(tree: list[tuple[str, str | None]], cut: int) -> None:
    data = [line(HEADER), *(line(entry(identity, parent)) for identity, parent in tree)]
    before, whole = b"".join(data[:cut]), b"".join(data)
    first, then = read(FEEDER, before), read(FEEDER, whole, len(before))
    assert first + then == read(FEEDER, whole)


def test_a_damaged_entry_keeps_the_tree_together() -> None:
    damaged = line(entry("b", "a"))[:-9] + b"\n"
    data = written(HEADER, entry("a", None)) + damaged + written(entry("c", "b"), entry("d", "a"))
    rows = read(FEEDER, data)
    assert rows[2].content == Unreadable("not valid JSON")
    assert [(one.uuid, one.thread) for one in messages(rows)] == [("a", ""), ("c", ""), ("d", "d")]


# Recognising and identifying


def test_a_session_is_known_by_its_header_and_a_fork_by_its_parent() -> None:
    parent = "C:\\Users\\dev\\.pi\\agent\\sessions\\--w--\\2026-11-21T21-08-05-864Z_01a1fff0.jsonl"
    identity = FEEDER.identify(Path("a.jsonl"), line(HEADER | {"parentSession": parent}))
    assert (identity.key, identity.parent_session) == (("pi", "s1"), "01a1fff0")
    assert FEEDER.identify(Path("2026-11-21T21-08-05-864Z_01a1.jsonl"), b"").session_id == "01a1"


def test_a_session_in_which_nothing_was_said_is_one() -> None:
    assert FEEDER.recognises(Path("a.jsonl"), line(HEADER))
    assert not FEEDER.recognises(Path("a.jsonl"), line(HEADER) + b'{"type":"agent_start"}\n')


def test_the_first_version_had_no_ids() -> None:
    header: Json = {"type": "session", "id": "s1", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w", "provider": "x"}
    rows: list[Json] = [
        {"type": "message", "timestamp": "2026-01-01T00:00:01Z", "message": {"role": "user", "content": "hi"}}
    ]
    data = written(header, *rows)
    assert FEEDER.recognises(Path("a.jsonl"), data)
    [said] = messages(read(FEEDER, data))
    assert (said.text, said.uuid, said.thread, said.cwd) == ("hi", "", "", "/w")


# Roles and blocks


@pytest.mark.parametrize(
    ("fields", "role", "standing"),
    [
        ({"role": "custom", "content": "x", "customType": "m"}, "system", "meta"),
        ({"role": "hookMessage", "content": "x"}, "system", "meta"),
        ({"role": "system", "content": "", "sections": {"preamble": "x"}}, "system", "meta"),
        ({"role": "branchSummary", "summary": "x"}, "assistant", "summary"),
        ({"role": "compactionSummary", "summary": "x"}, "assistant", "summary"),
        ({"role": "assistant", "content": [], "stopReason": "error", "errorMessage": "x"}, "assistant", "meta"),
        ({"role": "assistant", "content": "x"}, "assistant", "said"),
        ({"role": "toolResult", "toolName": "bash", "content": "x"}, "tool", "said"),
    ],
)
def test_roles(fields: Json, role: str, standing: str) -> None:
    said = message(FEEDER, HEADER, pi_entry("a", None, fields))
    assert (said.text, said.role, said.standing) == ("x", role, standing)


def test_blocks_are_joined_and_each_has_its_part() -> None:
    content = [
        {"type": "thinking", "thinking": "Hm"},
        {"type": "text", "text": "Done"},
        {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
        {"type": "toolCall", "id": "c", "name": "edit", "arguments": {"path": "a", "edits": [{"oldText": "{\n}"}]}},
    ]
    said = message(FEEDER, HEADER, pi_entry("a", None, {"role": "assistant", "content": content}))
    assert [part.kind for part in said.parts] == ["thinking", "text", "image", "tool_call"]
    assert said.text.endswith("[image/png, 5 bytes]\n\nedit\npath: a\nedits:\n  -\n    oldText:\n{\n}")


def test_trust_follows_the_call_wherever_reading_began() -> None:
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "curl https://example.com"}}
    behind = written(HEADER, pi_entry("a", None, {"role": "assistant", "content": [call]}))
    result: Json = {"role": "toolResult", "toolCallId": "c", "toolName": "bash", "content": "x", "isError": True}
    [late] = read(FEEDER, behind + written(pi_entry("b", "a", result)), len(behind))
    assert isinstance(late.content, Message)
    [part] = late.content.parts
    assert (part.name, part.failed, part.trust, late.content.cwd) == ("bash", True, "external", "/w")


@pytest.mark.parametrize(
    ("raw", "content"),
    [
        (b"{}\n", Unreadable("row without a type")),
        (b'{"type": "message", "id": "a"}\n', Unreadable("message row without a message")),
        (b'{"type": "hologram", "id": "a"}\n', Noise("hologram")),
        (b'{"type": "message", "message": {"role": "oracle"}}\n', Noise("message/oracle")),
        (b'{"type": "message", "message": {"role": "user", "content": []}}\n', Noise("message/empty")),
        (b'{"type": "custom_message", "content": ""}\n', Noise("custom_message/empty")),
    ],
)
def test_a_row_that_says_nothing_is_named(raw: bytes, content: object) -> None:
    good = written(entry("still here", None))
    assert read(FEEDER, good + raw)[1].content == content
