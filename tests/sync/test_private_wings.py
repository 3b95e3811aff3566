"""Private wings: nothing of them leaves, whenever they were made private, and nothing tells when they were written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import zstandard
from tests.sync.machines import Machine, exchange
from tests.sync.test_syncing import WORDS, folder, told_there, two

from palazzo.features.erase.contract import EraseRequest
from palazzo.features.erase.erase import erase
from palazzo.features.facts.contract import KgAddRequest, KgDismissRequest, KgSuggestRequest
from palazzo.features.facts.kg_add import kg_add
from palazzo.features.facts.kg_dismiss import kg_dismiss
from palazzo.features.facts.kg_suggest import kg_suggest
from palazzo.features.notes.contract import ForgetRequest, RememberRequest, TagRequest, UndoRequest
from palazzo.features.notes.forget import forget
from palazzo.features.notes.remember import remember
from palazzo.features.notes.tag import tag
from palazzo.features.notes.undo import undo
from palazzo.features.places.contract import WingRenameRequest
from palazzo.features.places.wing_rename import wing_rename
from palazzo.features.sync.contract import SyncPrivateRequest
from palazzo.features.sync.sync_private import sync_private
from palazzo.features.tasks.contract import TodoAddRequest, TodoDoneRequest
from palazzo.features.tasks.todo_add import todo_add
from palazzo.features.tasks.todo_done import todo_done
from palazzo.model import Micros

__all__ = ["folder"]


def test_a_wing_is_private_before_its_first_word_and_by_any_name(tmp_path: Path, folder: Path) -> None:
    machine = Machine(tmp_path / "one")
    with machine.at() as context:  # there is no remote yet, and no palace
        assert sync_private(context, SyncPrivateRequest(("diaries",))).created == ("diaries",)
    machine.say(WORDS, wing="diaries")
    machine.say("said to all")
    machine.join(folder)
    machine.push()
    with machine.at() as context:
        wing_rename(context, WingRenameRequest("diaries", "journal"))
    machine.say("the blue token was lost", wing="journal")
    machine.say("the blue token was found", wing="diaries")  # the former name leads there
    machine.push()
    assert told_there(folder, b"said to all")
    assert not any(told_there(folder, word) for word in (b"blue token", b"diaries", b"journal"))
    with machine.at() as context:
        assert sync_private(context, SyncPrivateRequest()).private == ("journal",)
        assert sync_private(context, SyncPrivateRequest(("journal",), public=True)).private == ()
    machine.push()
    assert told_there(folder, b"blue token was found")


def test_nothing_on_a_remote_tells_when_private_words_were_written(tmp_path: Path, folder: Path) -> None:
    machine, second_machine = two(tmp_path, folder)
    with machine.at() as context:
        sync_private(context, SyncPrivateRequest(("own",)))
    machine.say("before it")
    machine.push()
    count = len(told_lines(folder))
    machine.clock.now = Micros(machine.clock.now + 3_600_000_000)
    start = machine.clock.now
    ids = [machine.say(f"{WORDS} {n}", wing="own") for n in range(3)]
    with machine.at() as context:
        todo_add(context, TodoAddRequest("Ask the walrus.", wing="own"))
        remember(context, RememberRequest("Of the walrus.", wing="own", tags=("walrus",)))
        forget(context, ForgetRequest((ids[0],)))
        erase(context, EraseRequest(ids=(ids[1],)))
        kg_add(context, KgAddRequest("walrus", "sleeps_at", "seven", wing="own", sources=(ids[2],)))
    end = machine.clock.now
    items = [bytes(uid).hex() for uid in private_items(machine, "own")]
    machine.clock.now = Micros(machine.clock.now + 3_600_000_000)
    machine.push()
    machine.say("after it")
    machine.push()
    lines = told_lines(folder)
    assert len(lines) > count
    content = b"\n".join(lines)
    assert b"after it" in content
    for word in (b"walrus", b"blue token", b"own", *(item.encode() for item in (*items, *ids))):
        assert word not in content
    erasures = [line for line in lines if b'"kind":"erasure"' in line]
    written_times = [time for line in lines if line not in erasures for time in times(json.loads(line))]
    assert [time for time in written_times if start <= time <= end] == []
    second_machine.pull()
    assert second_machine.wrong() == []
    with machine.at() as context:
        sync_private(context, SyncPrivateRequest(("own",), public=True))
    exchange(machine, second_machine)
    assert machine.status().withheld == ()
    assert machine.truth() == second_machine.truth()
    assert second_machine.wrong() == []


def test_what_is_taken_back_or_rejected_in_a_private_wing_is_not_told(tmp_path: Path, folder: Path) -> None:
    machine, _ = two(tmp_path, folder)
    with machine.at() as context:
        sync_private(context, SyncPrivateRequest(("own",)))
    machine.say("said to all")
    machine.push()
    machine.clock.now = Micros(machine.clock.now + 3_600_000_000)
    start = machine.clock.now
    machine.say("The walrus port is 8443.", wing="own")
    with machine.at() as context:
        suggestion_ids = [suggestion.id for suggestion in kg_suggest(context, KgSuggestRequest()).suggestions]
        assert kg_dismiss(context, KgDismissRequest(tuple(suggestion_ids))).rejected
        kg_add(context, KgAddRequest("walrus", "owns", "yak", wing="own"))
        undo(context, UndoRequest())
    end = machine.clock.now
    machine.clock.now = Micros(machine.clock.now + 3_600_000_000)
    machine.say("said to all later")
    machine.push()
    lines = told_lines(folder)
    assert not any(b"walrus" in line or suggestion_ids[0].encode() in line for line in lines)
    assert [time for line in lines for time in times(json.loads(line)) if start <= time <= end] == []


def test_what_is_done_in_a_wing_that_became_private_is_not_told(tmp_path: Path, folder: Path) -> None:
    machine, second_machine = two(tmp_path, folder)
    note_id = machine.say("said when it was public", wing="own")
    with machine.at() as context:
        task = todo_add(context, TodoAddRequest("Ask somebody.", wing="own")).todo.id
    machine.push()
    with machine.at() as context:
        sync_private(context, SyncPrivateRequest(("own",)))
        tag(context, TagRequest("add", "walrus", (note_id,)))
        todo_done(context, TodoDoneRequest((task,)))
    machine.say("said to all")
    machine.push()
    assert told_there(folder, b"said to all")
    assert not any(told_there(folder, word) for word in (b"walrus", b'"done"', b"todo done"))
    with machine.at() as context:
        sync_private(context, SyncPrivateRequest(("own",), public=True))
    exchange(machine, second_machine)
    assert machine.truth() == second_machine.truth()
    assert second_machine.wrong() == []


def told_lines(folder: Path) -> list[bytes]:
    """Every line of every segment there, headers and heads as well."""
    lines = []
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".seg":
            with zstandard.ZstdDecompressor().stream_reader(path.read_bytes()) as reader:
                lines += reader.read().splitlines()
        elif path.name == "head":
            lines.append(path.read_bytes())
    return lines


def times(value: object) -> Iterator[int]:
    """Every number that may be a time, and the time of every id that holds one."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        for part in value:
            yield from times(part)
    elif isinstance(value, int):
        yield value
    elif isinstance(value, str) and re.fullmatch(r"[0-9a-f]{12}7[0-9a-f]{19}", value):
        yield int(value[:12], 16) * 1_000


def private_items(machine: Machine, wing: str) -> list[bytes]:
    with machine.at() as context, context.reading().database.snapshot() as connection:
        rows = connection.execute(
            "SELECT item.uid FROM item JOIN room ON room.id = item.room JOIN wing ON wing.id = room.wing"
            " WHERE wing.name = ?",
            (wing,),
        )
        return [uid for (uid,) in rows]
