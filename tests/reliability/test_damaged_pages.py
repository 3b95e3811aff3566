"""One damaged page of each kind: repair brings back what can be read, names what cannot, and backup works again."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from benchmarks.damaged_pages import (
    FIXTURES,
    PLACES,
    ROOT,
    Case,
    choose,
    damage_page,
    make_palace,
    open_context,
    try_case,
)
from tests.faces.mcp.test_stdio import HELLO
from tests.faces.mcp.test_stdio import Client as McpClient

from palazzo.archive import device_chain, lost_bodies
from palazzo.client.jsonl import Stream
from palazzo.daemon.engine import Engine
from palazzo.daemon.hook_requests import Hooks
from palazzo.daemon.rpc_connection import Calls
from palazzo.errors import PalazzoError
from palazzo.faces.hooks import hook_process
from palazzo.features.backup import automatic_backup
from palazzo.features.selftest.archived_truth import Truth, readable_items
from palazzo.operations import damage, registry
from palazzo.operations.context import Context
from palazzo.store import items, page_kinds
from palazzo.store.database import Database

from .sizes import FACTOR, scaled

NOTES = 200


def run(context: Context, name: str, /, **given: Any) -> Any:
    operation = registry.operation(name)
    return operation.run(context, operation.request(**given))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A palace whose tables of notes are larger than a page."""
    path = tmp_path_factory.mktemp("sound") / "palace.db"
    with open_context(path) as context:
        for n in range(NOTES):
            run(context, "remember", text=f"Note {n}: the heron waits {n} minutes at pond {n * 7}.", wing="api")
        run(context, "kg_add", subject="the heron", predicate="waits at", object="the pond", wing="api")
        with context.writing().database.outside_transaction() as raw:
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return path


def zero_page(sound: Path, directory: Path, kind: str) -> Path:
    """A copy of which one page of that kind is zeros."""
    path = directory / "palace.db"
    shutil.copy(sound, path)
    page = next(page for own, page, damage_kind in choose(sound, 1) if own == kind and damage_kind == "zeros")
    damage_page(path, Case(kind, page, "zeros"), 1)
    return path


@pytest.mark.parametrize(
    "kind",
    [
        "keyword_data leaf",
        "drawer leaf",
        "sqlite_autoindex_item_1 leaf",
        "item internal",
        "link leaf",
        "migration leaf",
    ],
)
def test_a_page_of_what_can_be_made_again_costs_nothing(sound: Path, tmp_path: Path, kind: str) -> None:
    path, truth = zero_page(sound, tmp_path, kind), Truth.of(sound)
    with open_context(path) as context:
        result = run(context, "repair")
        assert result.ok, [check for check in result.checks if not check.ok]
        assert result.salvage.altered_items == ()
        assert Path(result.salvage.kept).stat().st_size == sound.stat().st_size
        assert run(context, "search", query="heron at pond 77").hits
        run(context, "backup", target=tmp_path / "again.db")
    assert readable_items(path, truth.items) == truth.items.keys()
    assert Truth.of(path).records == truth.records


def test_lost_items_are_named_by_repair_and_verify_and_backup_works_again(sound: Path, tmp_path: Path) -> None:
    path, truth = zero_page(sound, tmp_path, "item leaf"), Truth.of(sound)
    items_before = readable_items(path, truth.items)
    assert 0 < len(items_before) < len(truth.items)
    with open_context(path) as context:
        with pytest.raises(PalazzoError, match="export --salvage"):
            run(context, "export", out=tmp_path / "plain.jsonl")
        result = run(context, "repair")
        assert result.ok
        lost_items = truth.items.keys() - items_before
        assert set(result.salvage.altered_items) == lost_items
        (chain_detail,) = (check.detail for check in run(context, "verify").checks if check.name == "chain")
        assert f"{len(lost_items):,} items cannot be read" in chain_detail
        run(context, "backup", target=tmp_path / "again.db")
    assert readable_items(path, truth.items) == items_before


def test_repair_gets_over_an_act_whose_details_are_damaged(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    with open_context(path) as context:
        drawers = [run(context, "remember", text=f"Heron {n}.", wing="api", tags=(f"t{n}",)).drawers[0] for n in "ab"]
        run(context, "forget", ids=tuple(drawers[:1]))
    page_kinds.fold_log(path)
    raw = path.read_bytes()
    assert raw.count(b'{"tag": "tb"}') == 1
    path.write_bytes(raw.replace(b'{"tag": "tb"}', b'k"tag": "tb"}'))
    with open_context(path) as context:
        assert run(context, "repair").ok
        assert [drawer.text for drawer in run(context, "list_drawers").drawers] == ["Heron b."]


def test_a_salvage_is_an_export_that_can_be_imported_and_leaves_the_palace_alone(sound: Path, tmp_path: Path) -> None:
    path, truth = zero_page(sound, tmp_path, "item leaf"), Truth.of(sound)
    items_before, raw = readable_items(path, truth.items), path.read_bytes()
    with open_context(path) as context:
        result = run(context, "export", out=tmp_path / "salvaged.jsonl", salvage=True)
        assert registry.operation("export").failed(result)  # type: ignore[misc]
    assert path.read_bytes() == raw
    assert "salvage" in json.loads((tmp_path / "salvaged.jsonl").read_text().splitlines()[0])["written_by"]
    fresh = tmp_path / "fresh" / "palace.db"
    fresh.parent.mkdir()
    with open_context(fresh) as context:
        run(context, "import", path=tmp_path / "salvaged.jsonl", trust="user")
    assert readable_items(fresh, truth.items) == items_before


def test_a_palace_whose_schema_cannot_be_read_is_refused_in_a_sentence(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    raw = bytearray(sound.read_bytes())
    raw[100 : page_kinds.PAGE] = bytes(page_kinds.PAGE - 100)
    path.write_bytes(raw)
    with open_context(path) as context, pytest.raises(PalazzoError, match="backup --list"):
        run(context, "repair")
    assert path.read_bytes() == raw


def test_an_error_of_a_sound_palace_is_not_explained_by_damage(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    shutil.copy(sound, path)
    with open_context(path) as context:
        assert damage.explain(context, TypeError("a bug")) is None
    damage_page(path, Case("", 5, "zeros"), 1)
    with open_context(path) as context:
        assert "palazzo repair" in str(damage.explain(context, TypeError("a bug")))


# --- what faces answer ---------------------------------------------------------------------------------------------


@pytest.fixture
def unreadable_wing(sound: Path, tmp_path: Path) -> Path:
    """A copy in which bits of a wing's name are flipped: SQLite reads the page, and Python cannot decode the name."""
    path = tmp_path / "palace" / "palace.db"
    path.parent.mkdir()
    raw = bytearray(sound.read_bytes())
    with contextlib.closing(apsw.Connection(str(sound), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        pages = connection.execute("SELECT pageno FROM dbstat WHERE name = 'wing_name'").fetchall()
    for (page,) in pages:
        start = (int(str(page)) - 1) * page_kinds.PAGE
        raw[start : start + page_kinds.PAGE] = raw[start : start + page_kinds.PAGE].replace(b"api", b"\xe1pi")
    path.write_bytes(raw)
    return path


def test_a_tool_call_that_meets_damage_is_answered_with_the_sentence(unreadable_wing: Path, tmp_path: Path) -> None:
    client = McpClient(unreadable_wing, tmp_path)
    client.ask("initialize", HELLO, "hello")
    client.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    result = client.ask("tools/call", {"name": "search", "arguments": {"query": "heron at pond 77"}})["result"]
    client.close()
    assert result["isError"]
    assert result["content"][0]["text"] == damage.sentence(unreadable_wing)


def test_a_service_that_meets_damage_answers_with_the_sentence(unreadable_wing: Path) -> None:
    service_end, client_end = socket.socketpair()
    engine = Engine(unreadable_wing)
    request = {"id": 1, "operation": "search", "request": {"query": "heron at pond 77"}}
    with contextlib.closing(client_end):
        client_end.sendall(json.dumps(request).encode() + b"\n")
        client_end.shutdown(socket.SHUT_WR)
        Calls(Stream(service_end), engine).serve()
        answers = [json.loads(line) for line in client_end.makefile("rb").read().splitlines()]
    engine.close()
    error = {"kind": "NotAPalace", "message": damage.sentence(unreadable_wing)}
    assert answers == [{"id": 1, "error": error}]


@pytest.mark.parametrize("service", ["on", "off"])
def test_a_hook_that_meets_damage_shows_the_sentence_once_in_a_session(
    unreadable_wing: Path, tmp_path: Path, service: str
) -> None:
    variables = {"HOME": str(tmp_path), "PALAZZO_PALACE": str(unreadable_wing.parent), "PALAZZO_SERVICE": service}
    payload = {"session_id": "s-1", "cwd": str(tmp_path), "prompt": "what did we say of the heron at pond 77?"}
    sent = json.dumps(payload).encode()
    engine = Engine(unreadable_wing)
    hooks = Hooks(engine, variables)
    around = {"cwd": str(tmp_path), "variables": variables}
    hello = {"host": "claude-code", "event": "UserPromptSubmit", "length": len(sent), "within_ms": 60_000}

    def ask_service() -> bytes:
        service_end, client_end = socket.socketpair()
        with contextlib.closing(client_end), contextlib.closing(service_end):
            client_end.sendall(sent)
            hooks.serve(Stream(service_end), {**hello, "surroundings": around})
            return client_end.recv(1 << 16)

    def ask_process() -> bytes:
        return hook_process.answer("claude-code", "UserPromptSubmit", sent, None, variables, seconds=60)

    ask = ask_service if service == "on" else ask_process
    first, second = (json.loads(ask()) for _ in range(2))
    hooks.finish()
    engine.close()
    assert damage.sentence(unreadable_wing) in first["systemMessage"]
    assert second == {}


def test_automatic_backups_are_made_daily_and_kept_within_their_number(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    shutil.copy(sound, path)
    clock_value = [1_800_000_000_000_000]
    variables = {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off", "PALAZZO_BACKUP_KEEP": "2"}
    backups: list[Path | None] = []
    for day in range(4):
        clock_value[0] += automatic_backup.DAY
        with Context(path, tmp_path, variables, clock=lambda: clock_value[0]) as context:  # type: ignore[arg-type,return-value]
            run(context, "remember", text=f"Day {day}.", wing="api")
            if automatic_backup.is_due(context) or not backups:
                backups.append(automatic_backup.make(context))
    directory = automatic_backup.directory_of(path)
    assert directory.stat().st_mode & 0o077 == 0
    assert [backup for backup in backups if backup is not None and backup.exists()] == backups[-2:]
    with Context(path, tmp_path, {**variables, "PALAZZO_BACKUP_KEEP": "0"}) as context:
        assert not automatic_backup.is_due(context)


def flip(path: Path, table: str, column: str, where: str, change: Callable[[bytes], bytes]) -> None:
    """Change a stored value as a flipped bit would, and leave every checksum of the file right."""
    with contextlib.closing(Database(path)) as database, database.transaction() as connection:
        ((stored,),) = list(connection.execute(f"SELECT CAST({column} AS BLOB) FROM {table} WHERE {where}"))
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (change(bytes(stored)),))


def test_of_an_item_that_cannot_be_decoded_what_can_be_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    words = " ".join(f"word-{n}" for n in range(2_000))
    with open_context(path) as context:
        run(context, "remember", text=words, wing="api")
    flip(path, "item", "text", "text_codec = 1", lambda stored: stored[:-9] + bytes([stored[-9] ^ 1]) + stored[-8:])
    flip(path, "item", "meta", "true", lambda stored: stored[:-1])
    flip(path, "item", "parts", "true", lambda stored: b"[[")
    with contextlib.closing(Database(path)) as database, database.transaction() as connection:
        assert len(lost_bodies.settle(connection).items) == 1
        (row,) = [int(row) for (row,) in connection.execute("SELECT id FROM item")]
        item = items.read_item(connection, row)
        assert words.startswith(item.text[:10_000])
        assert len(item.text) > 10_000
        assert (item.parts, item.meta, item.trust) == ((), {}, "external")
        assert list(device_chain.audit(connection)) == []


@pytest.mark.slow
def test_damage_of_each_kind(tmp_path: Path) -> None:
    """At CI size 2 pages beside those named here in a smaller palace, at PALAZZO_RELIABILITY=1 40."""
    sound = tmp_path / "sound" / "palace.db"
    make_palace(sound, (ROOT / "docs" / "how-to", FIXTURES / "claude-code") if FACTOR < 1 else PLACES)
    truth, case_starts = Truth.of(sound), choose(sound, 2)
    count = scaled(40)
    chosen = [start for start in case_starts if start[::2] in (("item overflow", "bit"), ("pack overflow", "zeros"))]
    chosen += [case_starts[n * len(case_starts) // count] for n in range(count)]
    cases = [
        try_case(sound, truth, tmp_path / str(n), Case(kind, page, damage_kind), 2)
        for n, (kind, page, damage_kind) in enumerate(chosen)
    ]
    readable = [case for case in cases if not case.kind.startswith("sqlite_schema")]
    assert [case for case in cases if case.bugs or case.lost_items or not case.detected] == []
    assert [case for case in readable if not case.backup or case.unnamed] == []


def test_the_pages_of_a_sound_palace_are_read_as_sqlite_reads_them(sound: Path) -> None:
    from palazzo.store.page_file import PageFile, Tree

    with contextlib.closing(apsw.Connection(str(sound), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        roots = connection.execute(
            "SELECT name, rootpage, sql FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
        )
        with PageFile(sound) as pages:
            for name, root, sql in roots.fetchall():
                tree = Tree()
                rows = list(pages.rows(int(str(root)), "WITHOUT ROWID" not in str(sql), tree))
                ((count,),) = connection.execute(f'SELECT count(*) FROM "{name}"').fetchall()
                assert (len(rows), tree.gaps) == (count, [])
