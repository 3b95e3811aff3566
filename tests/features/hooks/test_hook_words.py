"""Words that come in a hook's payload alone: kept once, through ingest, and not beside the transcript's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from palazzo.daemon.pending_prompts import Prompts
from palazzo.features.hooks.contract import HookRequest, HookResult
from palazzo.features.hooks.hook import hook
from palazzo.features.search.contract import SearchRequest
from palazzo.features.search.search import search
from palazzo.operations.context import Context
from palazzo.store import items

ASKED = "Which retry budget did we settle on for the gateway?"
SAID = "The gateway has a retry budget of ten percent since the outage in March."
SESSION = "01a1ffe9-7e49-7971-83b4-a2cdeadd0a30"
KEY = "sk-ant-api03-" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lm" * 3


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".codex" / "sessions").mkdir(parents=True)
    (tmp_path / "api").mkdir()
    return tmp_path


@pytest.fixture
def context(home: Path) -> Iterator[Context]:
    with opened(home) as context:
        yield context


def opened(home: Path, **variables: str) -> Context:
    return Context(home / "palace.db", home / "api", {"HOME": str(home), "PALAZZO_SERVICE": "off", **variables})


def turn(context: Context, asked: str = ASKED, said: str = SAID, **fields: Any) -> HookResult:
    told = {"host": "codex", "event": "stop", "session": SESSION, "cwd": str(context.cwd), **fields}
    return hook(context, HookRequest(prompt=asked, last_message=said, **told))


def kept(context: Context) -> list[tuple[str, str, str, str]]:
    """What is live of it: role, trust, author, text."""
    with context.reading().database.snapshot() as connection:
        rows = connection.execute(
            "SELECT DISTINCT item.id, item.role, item.trust, item.author, item.text, text_codec FROM item"
            " JOIN drawer_span ON drawer_span.item = item.id JOIN drawer ON drawer.id = drawer_span.drawer"
            " WHERE item.kind = 'message' AND retired_at IS NULL ORDER BY item.id"
        )
        return [(role, trust, author, items.decode_text(text, codec)) for _, role, trust, author, text, codec in rows]


def rollout(home: Path, *turns: tuple[str, str]) -> Path:
    """What Codex writes of these turns."""
    rows: list[tuple[str, dict[str, Any]]] = [("session_meta", {"id": SESSION, "cwd": str(home / "api")})]
    for asked, said in turns:
        rows.append(("response_item", message("user", "input_text", asked)))
        rows.append(("response_item", message("assistant", "output_text", said)))
    path = home / ".codex" / "sessions" / f"rollout-2026-11-21T21-00-54-{SESSION}.jsonl"
    lines = [
        {"timestamp": f"2026-11-21T21:00:{n:02d}.000Z", "type": kind, "payload": payload}
        for n, (kind, payload) in enumerate(rows)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def message(role: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


# --- without a transcript ----------------------------------------------------------------------------------


def test_a_turn_without_a_transcript_is_kept_as_said_by_both(context: Context) -> None:
    turn(context)
    assert kept(context) == [("user", "user", "", ASKED), ("assistant", "agent", "codex", SAID)]
    (hit, *_) = search(context, SearchRequest("retry budget of the gateway")).hits
    assert SAID in hit.text
    assert (hit.source.session_id, hit.source.kind, hit.wing) == (SESSION, "hook", "api")


def test_a_hook_that_runs_twice_keeps_nothing_twice(context: Context) -> None:
    turn(context, ASKED, "")
    turn(context)
    turn(context)
    turn(context, "", SAID)
    assert [text for *_, text in kept(context)] == [ASKED, SAID]


def test_what_is_said_again_later_is_kept_again(context: Context) -> None:
    for said in ("The first half is done.", "The second half is done."):
        turn(context, "go on with the migration of the orders", said)
    assert [role for role, *_ in kept(context)] == ["user", "assistant"] * 2


def test_it_passes_the_door(context: Context) -> None:
    block = "<palazzo-memory>\nmarmalade\n</palazzo-memory>"
    turn(context, f"Use {KEY} for the smoke test.\n{block}", SAID)
    assert all(KEY not in text for *_, text in kept(context))
    assert not any("marmalade" in hit.text for hit in search(context, SearchRequest("marmalade")).hits)


@pytest.mark.parametrize("fields", [{"session": ""}, {"agent": "a1"}, {"cwd": "EXCLUDED"}])
def test_what_cannot_be_told_apart_or_is_excluded_is_not_kept(home: Path, fields: dict[str, str]) -> None:
    excluded = home / "private"
    with opened(home, PALAZZO_MINE_EXCLUDE_PROJECTS=str(excluded)) as context:
        turn(context, **{name: value.replace("EXCLUDED", str(excluded / "deep")) for name, value in fields.items()})
        assert kept(context) == []


def test_a_session_without_a_transcript_is_asked_to_save_as_often(home: Path) -> None:
    with opened(home, PALAZZO_SAVE_MODE="ask", PALAZZO_SAVE_INTERVAL="3") as context:
        asked = [bool(turn(context, f"Question {n} of many", f"Answer {n} of many").ask) for n in range(1, 7)]
    assert asked == [False, False, True, False, False, True]


def test_what_is_shown_to_nobody_is_not_made(context: Context) -> None:
    turn(context, session="an-earlier-session")
    question = HookRequest("windsurf", "prompt", SESSION, cwd=str(context.cwd), prompt=ASKED)
    assert hook(context, replace(question, takes_answer=False)).inject == ""
    with context.reading().database.snapshot() as connection:
        assert next(connection.execute("SELECT count(*) FROM injection")) == (0,)
    assert SAID in hook(context, question).inject


# --- with one ----------------------------------------------------------------------------------------------


def test_a_transcript_that_is_read_later_has_its_words_alone(home: Path, context: Context) -> None:
    turn(context)
    turn(context, "And of the worker?", "The worker has none, and shall have none.")
    path = rollout(home, (ASKED, SAID))
    turn(context, "", "", transcript=str(path))
    found = kept(context)
    assert [text for *_, text in found].count(SAID) == 1
    assert [text for *_, text in found].count("And of the worker?") == 1  # the transcript has not got it
    hits = search(context, SearchRequest("retry budget of the gateway")).hits
    assert [hit.source.kind for hit in hits if SAID in hit.text] == ["codex"]


def test_what_the_transcript_has_is_not_kept_beside_it(home: Path, context: Context) -> None:
    path = rollout(home, (ASKED, SAID), ("And of the worker?", "None."))
    turn(context, transcript=str(path))
    turn(context)
    assert [text for *_, text in kept(context)].count(SAID) == 1


# --- the prompt, until its turn ends -----------------------------------------------------------------------


def request(event: Any, prompt: str = "", transcript: str = "", session: str = "s-1") -> HookRequest:
    return HookRequest("pi", event, session, prompt=prompt, transcript=transcript)


def test_a_turn_s_end_has_the_prompt_that_it_began_with() -> None:
    prompts = Prompts()
    prompts.turns(request("prompt", "first"))
    prompts.turns(request("prompt", "another's", session="s-2"))
    assert prompts.turns(request("post-tool")) == [request("post-tool")]
    assert prompts.turns(request("stop")) == [request("stop", "first")]
    assert prompts.turns(request("stop")) == [request("stop")]


def test_a_turn_that_the_person_broke_off_is_ended_before_the_next() -> None:
    prompts = Prompts()
    for words in ("first", "second"):
        prompts.turns(request("prompt", words))
    assert prompts.turns(request("stop", "second")) == [request("session-end", "first"), request("stop", "second")]


@pytest.mark.parametrize("at", ["prompt", "stop"])
def test_where_there_is_a_transcript_no_prompt_is_handed_on(at: str) -> None:
    prompts = Prompts()
    prompts.turns(request("prompt", "first", "/t.jsonl" if at == "prompt" else ""))
    end = request("stop", "", "/t.jsonl" if at == "stop" else "")
    assert prompts.turns(end) == [end]


def test_only_so_many_prompts_are_held() -> None:
    prompts = Prompts()
    for n in range(1_000):
        prompts.turns(request("prompt", "words", session=f"s-{n}"))
    assert prompts.turns(request("stop", session="s-0")) == [request("stop", session="s-0")]
    assert prompts.turns(request("stop", session="s-999")) == [request("stop", "words", session="s-999")]
