"""A session that begins with a copy of another: the copied words are one message, archived once."""

from __future__ import annotations

import json
from pathlib import Path

from palazzo.hosts.claude_code.transcript import ClaudeCode
from palazzo.hosts.codex.codex_rollouts import Codex
from palazzo.hosts.pi.transcript import Pi
from palazzo.model import ItemId, Micros
from palazzo.sources.formats import Feeder, Message, Row
from palazzo.sources.new_items import Clockwork, filing_of

from .host_samples import pi_entry, sessions_of, written
from .samples import EIGHTEEN_TURNS, line, read, spoken

Json = dict[str, object]


def ids(feeder: Feeder, path: Path, data: bytes) -> list[ItemId]:
    """The ids under which the messages of a file are archived."""
    identity = feeder.identify(path, data[:65536])
    rows = [row for row in read(feeder, data) if isinstance(row.content, Message)]
    return [filing_of(feeder.kind, feeder.version, identity, row, Clockwork(Micros(0))).id for row in rows]


def words(rows: list[Row]) -> list[str]:
    return [row.content.text for row in rows if isinstance(row.content, Message)]


def pi_header(session: str, **fields: object) -> Json:
    return {"type": "session", "version": 3, "id": session, "timestamp": "2026-11-21T20:00:00Z", "cwd": "/w", **fields}


def said_in_pi(identity: str, parent: str | None, text: str, when: str) -> Json:
    return pi_entry(identity, parent, {"role": "user", "content": [{"type": "text", "text": text}]}, when)


def test_a_fork_of_a_fork_in_pi_repeats_what_all_three_have() -> None:
    one = said_in_pi("0000000a", None, "first", "2026-11-21T20:00:01.000Z")
    two = said_in_pi("0000000b", "0000000a", "second", "2026-11-21T20:00:02.000Z")
    three = said_in_pi("0000000c", "0000000b", "third", "2026-11-21T20:10:00.000Z")
    four = said_in_pi("0000000d", "0000000c", "fourth", "2026-11-21T20:20:00.000Z")
    first = ids(Pi(), Path("a.jsonl"), written(pi_header("s1"), one, two))
    fork = written(pi_header("s2", parentSession="/home/dev/.pi/s1.jsonl"), one, two, three)
    again = written(pi_header("s3", parentSession="/home/dev/.pi/s2.jsonl"), one, two, three, four)
    assert ids(Pi(), Path("b.jsonl"), fork)[:2] == first
    assert ids(Pi(), Path("c.jsonl"), again)[:3] == ids(Pi(), Path("b.jsonl"), fork)
    assert len({*first, *ids(Pi(), Path("b.jsonl"), fork), *ids(Pi(), Path("c.jsonl"), again)}) == 4


def test_one_id_in_two_sessions_of_pi_is_two_messages() -> None:
    """Ids are short; what tells them apart is when each was written."""
    mine = ids(
        Pi(), Path("a.jsonl"), written(pi_header("s1"), said_in_pi("0000000a", None, "yes", "2026-11-21T20:00:01Z"))
    )
    other = ids(
        Pi(), Path("b.jsonl"), written(pi_header("s2"), said_in_pi("0000000a", None, "yes", "2026-11-21T20:00:02Z"))
    )
    assert not set(mine) & set(other)


def codex_fork(original: bytes) -> bytes:
    """The rollout as a fork begins: its own first row, then all rows of the other, written at the fork's moment."""
    rows = [json.loads(raw) for raw in original.splitlines()]
    own = json.loads(json.dumps(rows[0]))
    own["payload"] |= {"id": "01a20000-0000-7000-8000-000000000000", "forked_from_id": rows[0]["payload"]["id"]}
    copies = [row | {"timestamp": "2026-11-22T01:00:00.000Z"} for row in rows]
    return b"".join(map(line, [own, *copies]))


def test_a_fork_in_codex_repeats_the_messages_that_have_ids() -> None:
    path = next(one for one in sessions_of("codex") if one.parent.name == "0.169.0")
    original = path.read_bytes()
    fork = ids(
        Codex(), Path("rollout-2026-11-22T01-00-00-01a20000-0000-7000-8000-000000000000.jsonl"), codex_fork(original)
    )
    assert fork == ids(Codex(), path, original)
    assert len(set(fork)) == len(fork)


def test_a_fork_in_an_older_codex_is_kept_whole() -> None:
    """Its items have no ids, and a copy's time is new: nothing says that it is one."""
    path = next(one for one in sessions_of("codex") if one.parent.name == "0.80.0")
    original = path.read_bytes()
    fork = codex_fork(original)
    assert words(read(Codex(), fork)) == words(read(Codex(), original))
    assert not set(ids(Codex(), Path("a.jsonl"), fork)) & set(ids(Codex(), path, original))


def test_one_id_for_other_words_in_codex_is_another_message() -> None:
    """A model's server may give one id twice."""
    meta: Json = {"timestamp": "x", "type": "session_meta", "payload": {"id": "s", "cwd": "/w"}}

    def item(text: str) -> Json:
        content = [{"type": "output_text", "text": text}]
        turn = {"turn_id": "01a20000-0000-7000-8000-00000000000a"}
        payload: Json = {"type": "message", "role": "assistant", "content": content, "id": "msg_1"}
        payload |= {"internal_chat_message_metadata_passthrough": turn}
        return {"timestamp": "2026-11-22T01:00:00.000Z", "type": "response_item", "payload": payload}

    assert len(set(ids(Codex(), Path("a.jsonl"), written(meta, item("one"), item("two"))))) == 2


def test_a_resumed_session_of_claude_code_repeats_its_rows_under_another_session_id() -> None:
    other = "0b1b2b3b-0000-4000-8000-000000000001"
    original = EIGHTEEN_TURNS.read_bytes()
    resumed = original.replace(EIGHTEEN_TURNS.stem.encode(), other.encode())
    path = EIGHTEEN_TURNS.with_stem(other)
    assert ids(ClaudeCode(), path, resumed) == ids(ClaudeCode(), EIGHTEEN_TURNS, original)
    assert ClaudeCode().identify(path, resumed) != ClaudeCode().identify(EIGHTEEN_TURNS, original)


def test_a_uuid_that_is_none_is_a_message_of_its_session() -> None:
    one, other = (line(spoken("user", "hello", sessionId=session)) for session in ("s1", "s2"))
    assert not set(ids(ClaudeCode(), Path("a.jsonl"), one)) & set(ids(ClaudeCode(), Path("b.jsonl"), other))
