"""A palace that another program's SQLite has written to, which keeps no checksums."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from palazzo.derived.integrity_checks import verify
from palazzo.derived.rebuild import pages_are_sound
from palazzo.index.query import Query
from palazzo.model import Place
from palazzo.palace import Palace, without_embedder

DROP_ALL_THAT_IS_DERIVED = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
for table in ("drawer", "drawer_span", "drawer_tag", "passage", "pending", "vector", "cursor"):
    connection.execute(f"DELETE FROM {table}")
connection.execute("INSERT INTO keyword(keyword) VALUES('delete-all')")
connection.close()
"""


def test_what_another_sqlite_deleted_is_rebuilt_and_the_palace_is_sound_again(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    with Palace.open(path) as palace:
        for n in range(40):
            palace.remember(f"Decision {n}: port {8400 + n}, because of the proxy.", Place("api", "decisions"))
        before = [hit.drawer.id for hit in palace.search(Query("port 8433")).hits]
    subprocess.run([sys.executable, "-c", DROP_ALL_THAT_IS_DERIVED, str(path)], check=True)
    with Palace.open(path) as palace:
        assert not pages_are_sound(palace.database)
        palace.rebuild("all")
        assert [hit.drawer.id for hit in palace.search(Query("port 8433")).hits] == before
        checks = {check.name: check.ok for check in verify(palace.database, without_embedder)}
    assert all(ok for name, ok in checks.items() if not name.startswith("vectors")), checks
