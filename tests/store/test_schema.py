"""Opening a palace while another process makes it."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from palazzo.errors import PalaceMissing
from palazzo.store import schema
from palazzo.store.database import Database


def test_a_palace_that_is_just_being_made_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    made = Database(path)

    def make() -> None:
        time.sleep(0.2)
        schema.migrate(made)

    maker = threading.Thread(target=make)
    maker.start()
    reader = Database(path, "read")
    try:
        schema.check(reader)
    finally:
        maker.join()
        reader.close()
        made.close()


def test_a_file_in_which_nothing_is_made_is_no_palace_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "_MADE_WITHIN", 0.05)
    path = tmp_path / "palace.db"
    made, reader = Database(path), Database(path, "read")
    try:
        with pytest.raises(PalaceMissing, match="nothing in"):
            schema.check(reader)
    finally:
        reader.close()
        made.close()
