"""A sentence that once stopped claims for good: every command that reads them goes on, and names what it left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import Command

from palazzo.graph import valued
from palazzo.graph.frames import Clause
from palazzo.graph.values import Value

SENTENCE = "The :doc:`sites </ref/contrib/sites>` framework no longer is."


@pytest.fixture
def mined(palazzo: Command, home: Path) -> Command:
    docs = home / "shop" / "docs"
    (docs / "sites.rst").write_text(f"Sites\n=====\n\n{SENTENCE}\n")
    (docs / "ports.rst").write_text("Ports\n=====\n\nThe gateway listens on port 8443.\n")
    assert palazzo("mine", "docs").code == 0
    return palazzo


def test_the_sentence_is_read_as_any_other(mined: Command) -> None:
    assert mined.json("kg", "conflicts")["note"] == ""
    (suggested,) = mined.json("kg", "suggest")["suggestions"]
    assert (suggested["subject"], suggested["object"]) == ("gateway", "8443")
    assert mined.json("verify")["ok"]
    assert mined.json("repair")["set_aside"] == mined.json("status")["set_aside"] == 0
    assert "set aside" not in mined("doctor", "--no-canaries").out


def test_by_rules_that_fail_on_it_it_is_named_and_the_rest_goes_on(
    mined: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def named_as_before(clause: Clause, rest: str) -> Value | None:
        found = valued._NAME.match(clause.rest)
        return Value("name", found[1].strip("`\"'.")) if found and clause.verb == "is" else None

    rule = valued._named
    monkeypatch.setattr(valued, "_named", named_as_before)
    told = "1 text could not be read for claims: 'palazzo verify' says which."
    for command in ("conflicts", "suggest"):
        ran = mined("kg", command)
        assert (ran.code, told in " ".join(ran.out.split())) == (0, True)
    assert mined.json("kg", "suggest")["suggestions"][0]["object"] == "8443"
    assert "reading claims failed (ValueError)" in " ".join(mined("verify").out.split())
    assert "reading claims failed (ValueError)" in " ".join(mined("doctor", "--no-canaries").out.split())
    assert "1 text could not be processed completely" in mined("status").out
    assert "Retried 1 text set aside before; 1 still set aside." in mined("repair").out
    monkeypatch.setattr(valued, "_named", rule)
    assert "Retried 1 text set aside before; 0 still set aside." in mined("repair").out
    assert mined.json("kg", "conflicts")["note"] == ""
    assert mined("verify").code == 0
