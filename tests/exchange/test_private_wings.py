"""Private wings: nothing of them leaves, whenever they were made private, and nothing tells when they were written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import zstandard
from tests.exchange.machines import Machine, exchange
from tests.exchange.test_syncing import WORDS, folder, told_there, two

from palazzo.model import Micros
from palazzo.operations.erase import EraseRequest, erase
from palazzo.operations.forget import ForgetRequest, forget
from palazzo.operations.kg_add import KgAddRequest, kg_add
from palazzo.operations.kg_dismiss import KgDismissRequest, kg_dismiss
from palazzo.operations.kg_suggest import KgSuggestRequest, kg_suggest
from palazzo.operations.remember import RememberRequest, remember
from palazzo.operations.sync_private import SyncPrivateRequest, sync_private
from palazzo.operations.tag import TagRequest, tag
from palazzo.operations.todo_add import TodoAddRequest, todo_add
from palazzo.operations.todo_done import TodoDoneRequest, todo_done
from palazzo.operations.undo import UndoRequest, undo
from palazzo.operations.wing_rename import WingRenameRequest, wing_rename

__all__ = ["folder"]


def test_a_wing_is_private_before_its_first_word_and_by_any_name(tmp_path: Path, folder: Path) -> None:
    one = Machine(tmp_path / "one")
    with one.at() as context:  # there is no remote yet, and no palace
        assert sync_private(context, SyncPrivateRequest(("diaries",))).created == ("diaries",)
    one.say(WORDS, wing="diaries")
    one.say("said to all")
    one.join(folder)
    one.push()
    with one.at() as context:
        wing_rename(context, WingRenameRequest("diaries", "journal"))
    one.say("the blue token was lost", wing="journal")
    one.say("the blue token was found", wing="diaries")  # the former name leads there
    one.push()
    assert told_there(folder, b"said to all")
    assert not any(told_there(folder, word) for word in (b"blue token", b"diaries", b"journal"))
    with one.at() as context:
        assert sync_private(context, SyncPrivateRequest()).private == ("journal",)
        assert sync_private(context, SyncPrivateRequest(("journal",), public=True)).private == ()
    one.push()
    assert told_there(folder, b"blue token was found")


def test_nothing_on_a_remote_tells_when_private_words_were_written(tmp_path: Path, folder: Path) -> None:
    one, other = two(tmp_path, folder)
    with one.at() as context:
        sync_private(context, SyncPrivateRequest(("own",)))
    one.say("before it")
    one.push()
    count = len(told_lines(folder))
    one.clock.now = Micros(one.clock.now + 3_600_000_000)
    began = one.clock.now
    said = [one.say(f"{WORDS} {n}", wing="own") for n in range(3)]
    with one.at() as context:
        todo_add(context, TodoAddRequest("Ask the walrus.", wing="own"))
        remember(context, RememberRequest("Of the walrus.", wing="own", tags=("walrus",)))
        forget(context, ForgetRequest((said[0],)))
        erase(context, EraseRequest(ids=(said[1],)))
        kg_add(context, KgAddRequest("walrus", "sleeps_at", "seven", wing="own", sources=(said[2],)))
    ended = one.clock.now
    items = [bytes(uid).hex() for uid in private_items(one, "own")]
    one.clock.now = Micros(one.clock.now + 3_600_000_000)
    one.push()
    one.say("after it")
    one.push()
    lines = told_lines(folder)
    assert len(lines) > count
    told = b"\n".join(lines)
    assert b"after it" in told
    for word in (b"walrus", b"blue token", b"own", *(item.encode() for item in (*items, *said))):
        assert word not in told
    erased = [line for line in lines if b'"kind":"erasure"' in line]
    written = [time for line in lines if line not in erased for time in times(json.loads(line))]
    assert [time for time in written if began <= time <= ended] == []
    other.pull()
    assert other.wrong() == []
    with one.at() as context:
        sync_private(context, SyncPrivateRequest(("own",), public=True))
    exchange(one, other)
    assert one.status().withheld == ()
    assert one.truth() == other.truth()
    assert other.wrong() == []


def test_what_is_taken_back_or_rejected_in_a_private_wing_is_not_told(tmp_path: Path, folder: Path) -> None:
    one, _ = two(tmp_path, folder)
    with one.at() as context:
        sync_private(context, SyncPrivateRequest(("own",)))
    one.say("said to all")
    one.push()
    one.clock.now = Micros(one.clock.now + 3_600_000_000)
    began = one.clock.now
    one.say("The walrus port is 8443.", wing="own")
    with one.at() as context:
        unwanted = [found.id for found in kg_suggest(context, KgSuggestRequest()).suggestions]
        assert kg_dismiss(context, KgDismissRequest(tuple(unwanted))).rejected
        kg_add(context, KgAddRequest("walrus", "owns", "yak", wing="own"))
        undo(context, UndoRequest())
    ended = one.clock.now
    one.clock.now = Micros(one.clock.now + 3_600_000_000)
    one.say("said to all later")
    one.push()
    lines = told_lines(folder)
    assert not any(b"walrus" in line or unwanted[0].encode() in line for line in lines)
    assert [time for line in lines for time in times(json.loads(line)) if began <= time <= ended] == []


def test_what_is_done_in_a_wing_that_became_private_is_not_told(tmp_path: Path, folder: Path) -> None:
    one, other = two(tmp_path, folder)
    said = one.say("said when it was public", wing="own")
    with one.at() as context:
        task = todo_add(context, TodoAddRequest("Ask somebody.", wing="own")).todo.id
    one.push()
    with one.at() as context:
        sync_private(context, SyncPrivateRequest(("own",)))
        tag(context, TagRequest("add", "walrus", (said,)))
        todo_done(context, TodoDoneRequest((task,)))
    one.say("said to all")
    one.push()
    assert told_there(folder, b"said to all")
    assert not any(told_there(folder, word) for word in (b"walrus", b'"done"', b"todo done"))
    with one.at() as context:
        sync_private(context, SyncPrivateRequest(("own",), public=True))
    exchange(one, other)
    assert one.truth() == other.truth()
    assert other.wrong() == []


def told_lines(folder: Path) -> list[bytes]:
    """Every line of every segment there, headers and heads as well."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".seg":
            with zstandard.ZstdDecompressor().stream_reader(path.read_bytes()) as reader:
                found += reader.read().splitlines()
        elif path.name == "head":
            found.append(path.read_bytes())
    return found


def times(told: object) -> Iterator[int]:
    """Every number that may be a time, and the time of every id that holds one."""
    if isinstance(told, dict):
        told = [*told.values()]
    if isinstance(told, list):
        for one in told:
            yield from times(one)
    elif isinstance(told, int):
        yield told
    elif isinstance(told, str) and re.fullmatch(r"[0-9a-f]{12}7[0-9a-f]{19}", told):
        yield int(told[:12], 16) * 1_000


def private_items(one: Machine, wing: str) -> list[bytes]:
    with one.at() as context, context.reading().database.snapshot() as connection:
        rows = connection.execute(
            "SELECT item.uid FROM item JOIN room ON room.id = item.room JOIN wing ON wing.id = room.wing"
            " WHERE wing.name = ?",
            (wing,),
        )
        return [uid for (uid,) in rows]
