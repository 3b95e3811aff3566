"""R8: the embedder is changed and the process that embeds is killed half-way. No row is lost, no answer is empty."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

import pytest
from tests.archive.conversations import file_rows, said
from tests.derived.state import complaints, live_ids
from tests.index.hashed_words import HashedWords
from tests.reliability.programs import start
from tests.reliability.sizes import scaled

from palazzo.derived.integrity_checks import verify
from palazzo.index.query import Query
from palazzo.palace import Palace
from palazzo.store import vector_rows

pytestmark = pytest.mark.slow


def test_an_embedder_swapped_and_killed_half_way_loses_nothing_and_search_says_building(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    with Palace.open(path, embedder=lambda: HashedWords("first")) as palace:
        file_rows(palace, [said(n, "user", f"sentence {n} about zebra number {n % 50}") for n in range(400)])
        palace.embed_pending()
        before = live_ids(palace)
        assert palace.search(Query("zebra number 7")).index == "ready"
    for cycle in range(scaled(30, least=4)):
        name = f"swapped {cycle}"
        process = start("embedder", path, name, "swap")
        assert process.stdout is not None
        for _ in range(2 + cycle % 7):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        make = partial(HashedWords, name)
        with Palace.open(path, embedder=make) as palace:
            assert live_ids(palace) == before
            assert complaints(palace) == []
            answer = palace.search(Query("zebra number 7"))
            assert answer.index == "building"
            assert len(answer.hits) == 5
            assert [check for check in verify(palace.database, make) if not check.ok] == []
    process = start("embedder", path, name, "go on")
    assert process.communicate()[0].splitlines()[-1] == "done"
    with Palace.open(path, embedder=partial(HashedWords, name)) as palace:
        assert palace.search(Query("zebra number 7")).index == "ready"
        with palace.database.snapshot() as connection:
            assert vector_rows.count_pending(connection) == 0
            embedder, *_ = vector_rows.embedders(connection)[-1]
            assert len(list(vector_rows.vectors_of(connection, embedder))) == 400 + 1  # the title of the session
