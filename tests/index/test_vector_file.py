"""The file of vectors beside a palace: used only if it is of the palace's past, and gone after an erase."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.archive.conversations import PLACE, Ticking, file_rows, said
from tests.archive.test_erasing import erase
from tests.derived.state import drawers
from tests.index.hashed_words import HashedWords

from palazzo.index import passage_embedding, vector_index
from palazzo.index.query import Query
from palazzo.index.vector_file import VectorColumns, VectorFile
from palazzo.index.vector_index import VectorIndex
from palazzo.index.vector_keys import text_hash
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.store import vector_file_paths, vector_rows
from palazzo.store.database import Connection
from palazzo.store.vector_file_paths import vector_file

DIMENSION = 70
WORDS = "zebra-quartz-90417"
Open = Callable[[], Palace]


@pytest.fixture(autouse=True)
def _small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is written for each change, also of a small palace."""
    monkeypatch.setattr(vector_index, "_LEAST_SAVED", 0)
    monkeypatch.setattr(vector_index, "_CHANGED_SHARE", 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A palace of forty messages, with their vectors."""
    path = tmp_path / "palace.db"
    with palace_at(path) as palace:
        rows = [said(n, "user" if n % 2 else "assistant", f"word{n} text {n % 3}", thread=str(n)) for n in range(40)]
        file_rows(palace, rows, place=PLACE)
        palace.remember(f"the key is {WORDS}", PLACE)
        palace.embed_pending()
    return path


def palace_at(path: Path) -> Palace:
    """The palace at a path, as a new process opens it."""
    return Palace.open(path, clock=Ticking(), embedder=lambda: HashedWords(dimension=DIMENSION))


def found(palace: Palace, text: str = "word7 text") -> list[tuple[str, float]]:
    """What a search finds, with scores."""
    return [(hit.drawer.id, hit.score) for hit in palace.search(Query(text)).hits]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names what is read of all vectors from here on: `palace` or `file`."""
    sources: list[str] = []
    read_palace, read_file = VectorIndex._load, VectorFile.read

    def load(index: VectorIndex, connection: Connection) -> None:
        sources.append("palace")
        read_palace(index, connection)

    def read(file: VectorFile, connection: Connection) -> tuple[int, VectorColumns] | None:
        columns = read_file(file, connection)
        if columns is not None:
            sources.append("file")
        return columns

    monkeypatch.setattr(VectorIndex, "_load", load)
    monkeypatch.setattr(VectorFile, "read", read)
    return sources


def test_the_next_process_reads_the_file_and_finds_the_same(path: Path, reads: list[str]) -> None:
    with palace_at(path) as palace:
        first_hits = found(palace)
    with palace_at(path) as palace:
        assert found(palace) == first_hits != []
        palace.remember("word7 text, said later", PLACE)
        palace.embed_pending()
        later_hits = found(palace)
        assert later_hits != first_hits
    with palace_at(path) as palace:
        assert found(palace) == later_hits
    assert reads == ["palace", "file", "file"]
    assert vector_file(path).stat().st_mode & 0o777 == 0o600


def test_a_process_that_reads_only_writes_it_too(path: Path, reads: list[str]) -> None:
    for _ in range(2):
        with Palace.open(path, "read", embedder=lambda: HashedWords(dimension=DIMENSION)) as palace:
            assert found(palace)
    assert reads == ["palace", "file"]


def test_warming_up_reads_all_codes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with palace_at(path) as palace:
        expected_hits = found(palace)
    with palace_at(path) as palace:
        palace.warm_up()
        monkeypatch.setattr(VectorFile, "read_codes", lambda *_: pytest.fail("read codes after warming up"))
        assert found(palace) == expected_hits


def _flip(raw: bytes) -> bytes:
    return raw[:-9] + bytes([raw[-9] ^ 1]) + raw[-8:]


@pytest.mark.parametrize(
    "damage",
    [
        _flip,
        lambda raw: raw[:30] + b"9" + raw[31:],
        lambda raw: raw[:-100],
        lambda raw: raw[:20],
        lambda raw: b"",
        lambda raw: bytes(len(raw)),
        lambda raw: raw.replace(b"hashed", b"HASHED"),
    ],
    ids=["a bit", "the header", "its end", "all but the start", "all", "zeros", "another embedder"],
)
def test_a_damaged_file_is_not_used(path: Path, reads: list[str], damage: Callable[[bytes], bytes]) -> None:
    with palace_at(path) as palace:
        expected_hits = found(palace)
    file = vector_file(path)
    file.write_bytes(damage(file.read_bytes()))
    with palace_at(path) as palace:
        assert found(palace) == expected_hits
    with palace_at(path) as palace:
        assert found(palace) == expected_hits
    assert reads == ["palace", "palace", "file"]


def test_a_file_of_another_state_is_not_used(path: Path, reads: list[str], tmp_path: Path) -> None:
    shutil.copyfile(path, tmp_path / "copy.db")
    with palace_at(path) as palace:
        palace.remember("word7 text, said in the palace", PLACE)
        palace.embed_pending()
        found(palace)
    shutil.copyfile(tmp_path / "copy.db", path)  # somebody puts an earlier copy in its place, and goes on with it
    for left in (f"{path}-wal", f"{path}-shm"):
        Path(left).unlink(missing_ok=True)
    with palace_at(path) as palace:
        palace.remember("word7 text, said in the copy", PLACE)
        palace.remember("word8 text, said in the copy", PLACE)
        palace.embed_pending()
        hits = palace.search(Query("word7 text said in the copy")).hits
        assert hits[0].text.endswith("word7 text, said in the copy")
    assert reads == ["palace", "palace"]


def test_an_erase_overwrites_and_removes_it(path: Path, reads: list[str]) -> None:
    with palace_at(path) as palace:
        assert found(palace, WORDS)
        with vector_file(path).open("rb") as reader:
            erase(palace, WORDS)
            assert not any(reader.read())
        assert not vector_file(path).exists()
        assert found(palace)  # of the rest
    kept = vector_file(path).read_bytes()
    digest = text_hash(f"the key is {WORDS}")
    assert digest not in kept
    with palace_at(path) as palace:
        assert found(palace)
    assert reads == ["palace", "file"]


def names_beside(path: Path) -> list[str]:
    """The files of vectors beside a palace, without their lock."""
    return sorted(each.name for each in path.parent.iterdir() if "-vectors" in each.name and each.suffix != ".lock")


def test_a_state_from_before_an_erase_is_not_written_after_it(path: Path) -> None:
    with palace_at(path) as searching, palace_at(path) as erasing:
        index, _ = vectors_of(searching)
        erase(erasing, WORDS)
        index.save()  # of the state before
        assert names_beside(path) == []


KILLED_WHILE_WRITING = """
import os, signal, sys
from pathlib import Path
from palazzo.index import vector_file
from tests.index.test_vector_file import palace_at, vector_index, vectors_of

vector_index._LEAST_SAVED = vector_index._CHANGED_SHARE = 0
write = vector_file.VectorFile._write

def write_and_wait(*given):
    write(*given)
    given[1].flush()
    print("written", flush=True)
    signal.pause()

vector_file.VectorFile._write = write_and_wait
with palace_at(Path(sys.argv[1])) as palace:
    vectors_of(palace)[0].save()
"""


def test_an_erase_waits_for_a_process_that_writes_and_removes_what_a_killed_one_left(path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED_WHILE_WRITING, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "written\n"
        assert names_beside(path) == ["palace.db-vectors.new"]
        with palace_at(path) as palace:
            with pytest.raises(TimeoutError, match="is being written"):
                vector_file_paths.remove_vector_files(path)
            threading.Timer(0.3, writer.kill).start()
            erase(palace, WORDS)
    assert names_beside(path) == []


def test_a_file_without_its_lock_is_removed_too(path: Path) -> None:
    with palace_at(path) as palace:
        found(palace)
        path.with_name("palace.db-vectors.lock").unlink()  # as in a directory that was copied in part
        erase(palace, WORDS)
    assert names_beside(path) == []


def test_one_process_at_a_time_writes_it(path: Path) -> None:
    with palace_at(path) as palace, vector_file_paths.hold_write_lock(path) as is_held:
        assert is_held
        assert found(palace)
        assert names_beside(path) == []


def test_a_palace_behind_a_link_has_one_file(path: Path, tmp_path: Path, reads: list[str]) -> None:
    link = tmp_path / "elsewhere" / "linked.db"
    link.parent.mkdir()
    link.symlink_to(path)
    with palace_at(link) as palace:
        assert found(palace)
    with palace_at(path) as palace:
        assert found(palace)
        erase(palace, WORDS)
    assert names_beside(link) == names_beside(path) == []
    assert reads == ["palace", "file"]


def test_a_file_that_follows_other_acts_is_not_used(path: Path, reads: list[str], tmp_path: Path) -> None:
    """Two copies in which as many drawers moved, each elsewhere, have equal changes and links."""
    copy = tmp_path / "copy.db"
    shutil.copyfile(path, copy)
    for palace_path, room in ((path, "first"), (copy, "second")):
        with palace_at(palace_path) as palace:
            palace.move([drawer.id for drawer in drawers(palace)], Place("web", room))
            found(palace)
    shutil.copyfile(vector_file(path), vector_file(copy))
    with palace_at(copy) as palace:
        assert palace.search(Query("word7 text", wing="web", room="second")).hits
    assert reads == ["palace", "palace", "palace"]


def test_an_older_file_is_not_used_after_an_erase(path: Path, reads: list[str]) -> None:
    with palace_at(path) as palace:
        found(palace)
        kept = vector_file(path).read_bytes()
        erase(palace, WORDS)
    vector_file(path).write_bytes(kept)
    with palace_at(path) as palace:
        found(palace)
    assert reads == ["palace", "palace"]


def test_without_a_place_to_write_it_searches_go_on(path: Path, reads: list[str]) -> None:
    vector_file(path).mkdir()
    for _ in range(2):
        with palace_at(path) as palace:
            assert found(palace)
    assert reads == ["palace", "palace"]
    assert names_beside(path) == ["palace.db-vectors"]


def test_a_vector_that_is_gone_counts_as_far_away(path: Path) -> None:
    with palace_at(path) as palace:
        found(palace)
    with palace_at(path) as palace:
        index, query = vectors_of(palace)
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("DELETE FROM vector")
        assert {score for _, score in index.nearest(query, 5, vector_index.EVERYTHING)} == {0.0}


def vectors_of(palace: Palace) -> tuple[VectorIndex, np.ndarray]:
    """An index of the palace as a new process has it, and a query's vector."""
    with palace.database.snapshot() as connection:
        current = passage_embedding.current_embedder(connection)
        assert current is not None
        index = VectorIndex.with_file(palace.database, current)
        index.follow(connection)
        assert len(index) == len(list(vector_rows.vectors_of(connection, current[0])))
    return index, HashedWords(dimension=DIMENSION).embed_query("word7 text")
