"""What doctor says of a palace that another version derived."""

from __future__ import annotations

from pathlib import Path

from palazzo.derive.cut import Cutter
from palazzo.model import Place
from palazzo.operations.context import Context
from palazzo.operations.registry import operation
from palazzo.palace import Palace
from palazzo.store import changes


def findings(path: Path) -> dict[str, bool]:
    doctor = operation("doctor")
    with Context(palace=path, cwd=path.parent, variables={"HOME": str(path.parent)}) as context:
        return {finding.name: finding.ok for finding in doctor.run(context, doctor.request()).findings}


def test_drawers_that_another_version_cut_are_a_finding_until_they_are_rebuilt(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    with Palace.open(path) as palace:
        palace.remember("Port 8443, because of the proxy.", Place("api", "decisions"))
        with palace.database.transaction() as connection:
            _, seq = changes.cursor(connection, Cutter.name)
            changes.advance(connection, Cutter.name, Cutter.version - 1, seq)
        assert findings(path).get("drawers") is False
        palace.rebuild("drawers")
        assert "drawers" not in findings(path)
