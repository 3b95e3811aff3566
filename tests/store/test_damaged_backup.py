"""A backup in which a bit has flipped: no page of it passes for sound by being copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from palazzo.errors import SourceUnreadable
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.store import file_backup


def test_a_flipped_bit_in_any_used_page_is_refused_before_the_copy_gets_checksums_of_its_own(
    palace: Palace, palace_path: Path, tmp_path: Path
) -> None:
    for number in range(20):
        palace.remember(f"Note {number} about the crane of berth {number}.", Place("quay", "cranes"))
    whole, flipped, copied = (tmp_path / name for name in ("whole.db", "flipped.db", "copied.db"))
    file_backup.copy(palace_path, whole, lambda done, total: None)
    content = whole.read_bytes()
    page = int.from_bytes(content[16:18], "big")
    for start in range(page, len(content), page * 7):
        damaged = bytearray(content)
        damaged[start + page // 2] ^= 1
        flipped.write_bytes(damaged)
        with pytest.raises(SourceUnreadable, match="does not match its checksum"):
            file_backup.copy_closed(flipped, copied, lambda done, total: None)
        assert not copied.exists()
    file_backup.copy_closed(whole, copied, lambda done, total: None)
    assert copied.stat().st_size == whole.stat().st_size
