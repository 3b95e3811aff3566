"""install and uninstall of pi: one file, which is Palazzo's alone."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from tests.faces.cli.command import Command

from palazzo.hosts import own_program


@pytest.fixture
def program(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = home / "mein Büro" / ("palazzo.exe" if sys.platform == "win32" else "palazzo")
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.setattr(own_program, "_list_program_paths", lambda: iter([path]))
    return path


@pytest.fixture
def extensions(home: Path) -> Path:
    """A person's own extensions."""
    found = home / ".pi" / "agent" / "extensions"
    found.mkdir(parents=True)
    (found / "mine.ts").write_bytes(b"export default () => {}\r\n")
    (found.parent / "settings.json").write_bytes(b'{"packages": [ ]}')
    return found


def there(home: Path) -> dict[str, bytes]:
    found = sorted((home / ".pi").rglob("*"))
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in found if path.is_file()}


def test_one_file_comes_and_goes_and_nothing_else_changes(
    palazzo: Command, home: Path, extensions: Path, program: Path
) -> None:
    before = there(home)
    (told,) = palazzo.json("install", "pi")["files"]
    assert (told["path"], told["state"]) == (str(extensions / "palazzo.ts"), "new")
    assert there(home).keys() - before.keys() == {".pi/agent/extensions/palazzo.ts"}
    assert [one["state"] for one in palazzo.json("install", "pi")["files"]] == ["same"]
    assert [one["state"] for one in palazzo.json("uninstall", "pi")["files"]] == ["removed"]
    assert there(home) == before
    assert [one["state"] for one in palazzo.json("uninstall", "pi")["files"]] == ["same"]


def test_it_leads_to_the_extension_of_this_installation_and_names_program_and_palace(
    palazzo: Command, home: Path, extensions: Path, program: Path
) -> None:
    palazzo.json("--palace", str(home / "a 'palace'.db"), "install", "pi")
    text = (extensions / "palazzo.ts").read_text("utf-8")
    extension = re.search(r"^const extension = (.*);$", text, re.MULTILINE)
    assert extension is not None
    assert Path(json.loads(extension[1])).is_file()
    assert f"program: {json.dumps(str(program), ensure_ascii=False)}, " in text
    assert json.dumps(["--palace", str(home / "a 'palace'.db")], ensure_ascii=False) in text
    palazzo.json("install", "pi")
    assert "options: []" in (extensions / "palazzo.ts").read_text("utf-8")


def test_a_file_of_that_name_that_somebody_else_wrote_is_left_alone(
    palazzo: Command, extensions: Path, program: Path
) -> None:
    own = extensions / "palazzo.ts"
    own.write_text("// mine\n")
    ran = palazzo("install", "pi")
    assert ran.code == 2
    assert "was not written by 'palazzo install pi'" in ran.error
    assert [one["state"] for one in palazzo.json("uninstall", "pi")["files"]] == ["same"]
    assert own.read_text() == "// mine\n"


def test_where_pi_keeps_its_things_elsewhere_it_is_written_there(
    palazzo: Command, home: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = home / "agent of pi"
    elsewhere.mkdir()
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(elsewhere))
    palazzo.json("install", "pi")
    assert (elsewhere / "extensions" / "palazzo.ts").is_file()


def test_what_cannot_be_done_is_said(
    palazzo: Command, home: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert "pi was not found" in palazzo("install", "pi").error
    (home / ".pi" / "agent").mkdir(parents=True)
    for verb in ("install", "uninstall"):
        ran = palazzo(verb, "pi", "--project")
        assert ran.code == 2
        assert "Run the command without --project" in " ".join(ran.error.split())
