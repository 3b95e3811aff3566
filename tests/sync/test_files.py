"""Files as they are read from somebody else, and written for somebody else."""

from __future__ import annotations

import errno
import gzip
import io
import os
import random
import stat
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import zstandard

from palazzo.errors import PalazzoError, SourceUnreadable
from palazzo.sync import carried_files
from palazzo.sync.carried_files import lines, open_output

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".jsonl": bytes,
    ".jsonl.gz": gzip.compress,
    ".jsonl.zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


def texts(path: Path) -> list[bytes]:
    return [line.text for line in lines(path)]


@pytest.mark.parametrize("ending", PACKERS)
def test_what_is_written_is_read_again_line_by_line(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"export{ending}"
    told = [f"line {n} ".encode() * 1000 for n in range(500)]
    with open_output(path) as write:
        for line in told:
            write(line + b"\n")
    assert texts(path) == told


@pytest.mark.parametrize("ending", PACKERS)
def test_the_same_lines_make_the_same_bytes(tmp_path: Path, ending: str) -> None:
    made = []
    for name in ("a", "b"):
        with open_output(tmp_path / f"{name}{ending}") as write:
            write(b"one\ntwo\n")
        made.append((tmp_path / f"{name}{ending}").read_bytes())
    assert made[0] == made[1]


def test_a_packed_file_is_known_by_its_bytes_whatever_it_is_called(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    path.write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n"))
    assert texts(path) == [b"one", b"two"]
    packer = zstandard.ZstdCompressor()
    path.write_bytes(packer.compress(b"one\n") + packer.compress(b"two\n"))
    assert texts(path) == [b"one", b"two"]


def test_lines_are_numbered_and_a_windows_editor_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    path.write_bytes(b"\xef\xbb\xbf{}\r\n\r\n{}\n{}")
    assert [(line.number, line.text.strip()) for line in lines(path)] == [(1, b"{}"), (3, b"{}"), (4, b"{}")]


@pytest.mark.parametrize("ending", [".jsonl.gz", ".jsonl.zst"])
def test_a_packed_file_that_was_cut_off_anywhere_says_so(tmp_path: Path, ending: str) -> None:
    letters = random.Random(1).randbytes(20_000).hex().encode()
    whole = PACKERS[ending](letters)
    path = tmp_path / f"export{ending}"
    for size in [*range(4, 40), len(whole) // 2, len(whole) - 9, len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(SourceUnreadable, match=r"is truncated|cannot be unpacked"):
            texts(path)


@pytest.mark.parametrize("ending", [".jsonl.gz", ".jsonl.zst"])
def test_a_packed_file_with_a_flipped_byte_does_not_pass_as_another(tmp_path: Path, ending: str) -> None:
    told = random.Random(2).randbytes(3_000).hex().encode()
    whole = bytearray(PACKERS[ending](told))
    path = tmp_path / f"export{ending}"
    for at in range(12, len(whole) - 8, 97):
        broken = bytearray(whole)
        broken[at] ^= 1
        path.write_bytes(broken)
        with suppress(SourceUnreadable):
            assert texts(path) == [told]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_bomb_is_left_after_so_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    monkeypatch.setattr(carried_files, "FREE_GROWTH", 1 << 20)
    path = tmp_path / f"bomb{ending}"
    with open_output(path) as write:
        for _ in range(20):
            write(b"\n" * (1 << 20))
    with pytest.raises(SourceUnreadable, match="unpacks to more than 200 times its size"):
        texts(path)


def test_a_piece_of_nothing_but_ends_of_lines_takes_no_more_memory_than_another(tmp_path: Path) -> None:
    path = tmp_path / "ends.jsonl.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(b"\n" * (1 << 18) + b"{}"))
    tracemalloc.start()
    try:
        assert [line.number for line in lines(path)] == [(1 << 18) + 1]
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 5 << 19


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    os.mkfifo(path)
    with pytest.raises(SourceUnreadable, match="is a pipe"):
        texts(path)


def test_a_line_without_an_end_is_left_after_so_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carried_files, "LARGEST_LINE", 1 << 20)
    path = tmp_path / "export.jsonl"
    path.write_bytes(b"{}\n" + b"x" * (3 << 20))
    read = lines(path)
    assert next(read).text == b"{}"
    with pytest.raises(SourceUnreadable, match="line 2 has more than 1 MiB"):
        next(read)


def test_what_powershell_redirects_is_named_for_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    path.write_bytes("{}\n".encode("utf-16"))
    with pytest.raises(SourceUnreadable, match="UTF-16"):
        texts(path)


def test_a_file_that_is_not_there_and_a_directory_are_one_sentence(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(SourceUnreadable, match="cannot be read"):
            texts(path)


def test_a_file_that_fails_in_the_middle_leaves_the_earlier_one_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    path.write_bytes(b"the earlier\n")
    with pytest.raises(KeyboardInterrupt):
        _interrupted(path)
    assert path.read_bytes() == b"the earlier\n"
    assert [one.name for one in tmp_path.iterdir()] == ["export.jsonl"]


def _interrupted(path: Path) -> None:
    with open_output(path) as write:
        write(b"half of")
        raise KeyboardInterrupt


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_standard_output_that_takes_no_more_is_one_sentence(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    class Refusing(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, _: object) -> int:
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(Refusing()), write_through=False))
    with (
        pytest.raises(PalazzoError, match=rf"Standard output cannot be written \({os.strerror(number)}\)"),
        open_output(carried_files.STDIN) as write,
    ):
        write(b"a line\n")
    with suppress(OSError):
        sys.stdout.close()


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
def test_what_is_written_can_be_read_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    with open_output(path) as write:
        write(b"{}\n")
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name == "nt", reason="Windows brings names to the disk by itself")
def test_a_network_drive_that_cannot_bring_names_to_its_disk_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def of_files_alone(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", of_files_alone)
    with open_output(tmp_path / "export.jsonl") as write:
        write(b"one\n")
    assert texts(tmp_path / "export.jsonl") == [b"one"]


def test_a_directory_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(PalazzoError, match="cannot be written"), open_output(tmp_path / "no" / "export.jsonl"):
        pass
