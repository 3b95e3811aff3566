"""Exports that were damaged on their way: a changed byte is noticed, and the sentence says where."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from random import Random

import pytest
from tests.reliability.sizes import FACTOR, SEED
from tests.sync.homes import Home, filled

from palazzo.errors import SourceUnreadable
from palazzo.features.notes.contract import RememberRequest
from palazzo.features.notes.remember import remember
from palazzo.sync import export_check
from palazzo.sync.line_checksums import LINES_PER_CHECKSUM, LineChecksums

NOTES = 50
"""Enough for several checksums."""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An export with many lines."""
    home = filled(tmp_path_factory.mktemp("home"))
    with home.at() as context:
        for n in range(NOTES):
            remember(context, RememberRequest(f"The valve {n} opens at {n} bar.", wing="shop"))
    return home.export().read_bytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "export.jsonl"


def refusal(path: Path, content: bytes) -> str:
    """Return the sentence with which the check of an export with this content refuses it."""
    path.write_bytes(content)
    with pytest.raises(SourceUnreadable) as caught:
        export_check.check(path)
    return str(caught.value)


def flip(content: bytes, place: int, bit: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def test_no_flipped_bit_of_a_plain_export_passes(exported: bytes, path: Path) -> None:
    chance = Random(f"{SEED} export")
    for _ in range(80):
        flipped = flip(exported, chance.randrange(len(exported)), chance.randrange(8))
        assert str(path) in refusal(path, flipped)


@pytest.mark.slow
def test_no_flipped_bit_of_the_last_lines_passes(exported: bytes, path: Path) -> None:
    chance = Random(f"{SEED} last lines")
    for place in range(len(exported) - 2000, len(exported) - 1, 1 if FACTOR >= 1 else 4):
        refusal(path, flip(exported, place, chance.randrange(8)))


def test_the_sentence_names_the_lines(exported: bytes, path: Path) -> None:
    lines = exported.splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if b"The valve 37 opens" in line)
    lines[place] = lines[place].replace(b"opens at 37 bar", b"opens at 38 bar")
    start = place // LINES_PER_CHECKSUM * LINES_PER_CHECKSUM
    sentence = refusal(path, b"".join(lines))
    assert f"was changed in one of the lines {start + 1:,} to {start + LINES_PER_CHECKSUM:,}." in sentence
    assert "Nothing was imported" in sentence
    lines[-2] = lines[-2].replace(b'"trust":"', b'"title":"x","trust":"', 1)
    assert "and in another place behind them" in refusal(path, b"".join(lines))


def test_a_damaged_export_leaves_no_palace(exported: bytes, path: Path, tmp_path: Path) -> None:
    place = exported.index(b"The valve 9 opens") + 4
    path.write_bytes(flip(exported, place, 0))
    other = Home(tmp_path / "other")
    with pytest.raises(SourceUnreadable, match="was changed in one of the lines"):
        other.take(path)
    assert not (other.place / "palace.db").exists()


def test_an_export_of_a_version_without_checksums_is_imported_and_recognised(tmp_path: Path) -> None:
    home = filled(tmp_path / "home")
    content, _, end = home.export().read_bytes().removesuffix(b"\n").rpartition(b"\n")
    earlier = json.loads(end)
    earlier["mac"] = earlier["mac"][:64]
    path = tmp_path / "earlier.jsonl"
    path.write_bytes(content + b"\n" + json.dumps(earlier, separators=(",", ":")).encode() + b"\n")
    assert home.take(path, trust=None).trust is None  # its own
    assert Home(tmp_path / "other").take(path).counts


def test_line_ends_of_windows_are_no_damage(exported: bytes, path: Path) -> None:
    path.write_bytes(exported.replace(b"\n", b"\r\n"))
    assert export_check.check(path).counts


def test_others_can_compute_the_checksums(exported: bytes, path: Path) -> None:
    """As the documentation of the format says it."""
    path.write_bytes(exported)
    mac = json.loads(exported.splitlines()[-1])["mac"]
    command = f"sed -n 1,{LINES_PER_CHECKSUM}p {path} | sha256sum"
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True, env={**os.environ})
    assert ran.stdout[:16] == mac[64:80]


@pytest.mark.parametrize("count", [0, 1, LINES_PER_CHECKSUM - 1, LINES_PER_CHECKSUM, LINES_PER_CHECKSUM + 1])
def test_every_line_counts(count: int) -> None:
    lines = [b'{"n":%d}' % n for n in range(count)]

    def checksums(lines: list[bytes]) -> LineChecksums:
        made = LineChecksums()
        for line in lines:
            made.add(line)
        return made

    mac = checksums(lines).seal(bytes(32))
    assert checksums(lines).find_damage(mac) == ""
    for n in range(count):
        assert checksums([*lines[:n], b"{}", *lines[n + 1 :]]).find_damage(mac)
    assert checksums([*lines, b"{}"]).find_damage(mac)
    for n in range(32, len(mac)):
        assert checksums(lines).find_damage(flip(mac, n, 3)) == "its last line"
