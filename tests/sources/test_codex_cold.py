"""Compressed rollouts: the rows of the plain one, under its identity; damage is a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from tests.fidelity.damage import readable

from palazzo.errors import SourceUnreadable
from palazzo.hosts.codex import codex_cold
from palazzo.hosts.codex.codex_cold import CodexCold
from palazzo.hosts.codex.codex_rollouts import Codex
from palazzo.sources.formats import Row

from .collection_samples import few
from .host_samples import rows_of, sessions_of

ROLLOUTS = sessions_of("codex")
COLD = CodexCold()


def packed(plain: Path, directory: Path, level: int = 3) -> Path:
    """The rollout as Codex compresses it: a stream that does not state its size."""
    path = directory / f"{plain.name}.zst"
    compressor = zstandard.ZstdCompressor(level=level, write_content_size=False).compressobj()
    path.write_bytes(compressor.compress(plain.read_bytes()) + compressor.flush())
    return path


def read(path: Path) -> list[Row]:
    [session] = COLD.sessions(path)
    return list(session.rows())


@pytest.mark.parametrize("plain", ROLLOUTS, ids=lambda path: path.parent.name)
def test_the_rows_and_the_identity_are_those_of_the_plain_rollout(plain: Path, tmp_path: Path) -> None:
    path = packed(plain, tmp_path)
    assert COLD.recognises(path, path.read_bytes()[:65536])
    [session] = COLD.sessions(path)
    assert session.identity == Codex().identify(plain, plain.read_bytes()[:65536])
    assert list(session.rows()) == rows_of(Codex(), plain)


def test_the_plain_rollout_beside_it_is_the_threads(tmp_path: Path) -> None:
    path = packed(ROLLOUTS[0], tmp_path)
    (tmp_path / ROLLOUTS[0].name).write_bytes(ROLLOUTS[0].read_bytes())
    assert list(COLD.sessions(path)) == []


def test_frames_that_were_put_together_are_one_stream(tmp_path: Path) -> None:
    data = ROLLOUTS[0].read_bytes()
    path = tmp_path / f"{ROLLOUTS[0].name}.zst"
    path.write_bytes(zstandard.compress(data[:5000]) + zstandard.compress(data[5000:]))
    assert read(path) == rows_of(Codex(), ROLLOUTS[0])


def test_other_compressed_files_are_not_taken(tmp_path: Path) -> None:
    assert not COLD.recognises(tmp_path / "backup.jsonl.zst", codex_cold.MAGIC)
    assert not COLD.recognises(tmp_path / "rollout-1.jsonl.zst", b"{}")
    path = tmp_path / "rollout-1.jsonl.zst"
    path.write_bytes(zstandard.compress(b"{}\n" * 100))
    with pytest.raises(SourceUnreadable, match="contains no Codex rollout"):
        list(COLD.sessions(path))


def test_one_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(ROLLOUTS[0], tmp_path)
    [session] = COLD.sessions(path)
    monkeypatch.setattr(codex_cold, "LARGEST", 10_000)
    with pytest.raises(SourceUnreadable, match="unpacks to more than"):
        list(session.rows())


def test_one_that_asks_for_too_much_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / f"{ROLLOUTS[0].name}.zst"
    greedy = zstandard.ZstdCompressionParameters.from_level(3, window_log=29)
    compressor = zstandard.ZstdCompressor(compression_params=greedy).compressobj()
    path.write_bytes(compressor.compress(ROLLOUTS[0].read_bytes()) + compressor.flush())
    with pytest.raises(SourceUnreadable):
        read(path)


def test_what_is_cut_off_gives_what_stands_before(tmp_path: Path) -> None:
    longest = max(ROLLOUTS, key=lambda one: one.stat().st_size)
    path = packed(longest, tmp_path, level=1)
    path.write_bytes(path.read_bytes()[:-20])
    whole = rows_of(Codex(), longest)
    [session] = COLD.sessions(path)
    rows = session.rows()
    assert [next(rows) for _ in range(10)] == whole[:10]
    with pytest.raises(SourceUnreadable, match="is damaged or truncated"):
        list(rows)


@few
@given(places=st.lists(st.tuples(st.integers(0, 8000), st.integers(0, 255)), min_size=1, max_size=4))
def test_damage_is_rows_or_a_sentence(places: list[tuple[int, int]], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = packed(ROLLOUTS[0], tmp_path_factory.mktemp("z"))
    data = bytearray(path.read_bytes())
    for place, value in places:
        data[place % len(data)] = value
    path.write_bytes(data)
    readable(lambda: [row for session in COLD.sessions(path) for row in session.rows()])
