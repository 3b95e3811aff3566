"""A palace whose disk cannot read a sector: whichever read fails, it is sound or damaged, or one sentence says why."""

from __future__ import annotations

from pathlib import Path

from tests.archive.conversations import PLACE

from palazzo.errors import PalaceUnusable
from palazzo.palace import Palace
from palazzo.store import salvage
from palazzo.store.faulty_disk import broken, faulty_disk


def test_each_read_that_fails_while_a_palace_is_examined_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    with Palace.open(path) as palace:
        palace.remember("The gateway listens on port 8443.", PLACE)
    verdicts = set()
    with faulty_disk() as disk:
        disk.fail(1_000_000, 1, broken, frozenset({"read"}))
        assert salvage.is_sound(path)
        total = disk.operations
        for k in range(1, total + 1):
            disk.fail(k, 1, broken, frozenset({"read"}))
            try:
                verdicts.add(salvage.is_sound(path))
            except PalaceUnusable as error:
                verdicts.add("could not be read" in str(error))
            disk.heal()
    assert total > 100
    assert verdicts == {True, False}
