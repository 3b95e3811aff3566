"""Files and directories whose names are not UTF-8: all that is done to a palace is done to them, too."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, spawn

from palazzo.store import source_rows
from palazzo.store.database import Database

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")

CAFE = os.fsdecode(b"caf\xe9")
PAGE = "# Ostrich\n\nThe deploy service uses port 8080. We use PostgreSQL instead of MySQL.\n"


@pytest.fixture
def project(home: Path) -> Path:
    """A project whose name is not UTF-8, with two such files and one other."""
    project = home / CAFE
    project.mkdir()
    (project / f"{CAFE}.md").write_text(PAGE)
    (project / os.fsdecode(b"caf\xe8.txt")).write_text("plain walrus text without a heading\n")
    (project / "plain.md").write_text("# Plain\n\nThe zebra is here.\n")
    return project


def _sources(palazzo: Command, file: str, *options: str) -> list[str]:
    palazzo("export", file, *options)
    return [line for line in Path(file).read_text().splitlines() if '"kind":"source"' in line]


def test_what_is_mined_can_be_exported_and_imported_and_verified(palazzo: Command, project: Path) -> None:
    assert palazzo("mine", str(project)).code == 0
    first = _sources(palazzo, "first.jsonl")
    assert sum("\\udce9" in line or "\\udce8" in line for line in first) == 2
    imported = palazzo("import", "first.jsonl", "--palace", "copy.db", "--trust", "user", "--yes")
    assert imported.code == 0, imported.error
    for palace in ((), ("--palace", "copy.db")):
        conflicts = palazzo("kg", "conflicts", *palace)  # reads the claims
        assert "could not be extracted" not in conflicts.out + conflicts.error
        assert palazzo("verify", *palace).code == 0
        assert "ostrich" in palazzo("search", "ostrich", *palace).out.lower()
    assert _sources(palazzo, "second.jsonl", "--palace", "copy.db") == first


def test_a_second_device_pulls_them(palazzo: Command, project: Path, tmp_path: Path) -> None:
    remote = tmp_path / "remote"
    remote.mkdir()
    palazzo("mine", str(project))
    palazzo("sync", "init", str(remote), "--save-key", "key")
    palazzo("sync", "now")
    palazzo("sync", "init", str(remote), "--palace", "other.db", "--key", "key")
    synced = palazzo.json("sync", "now", "--palace", "other.db")
    pulled, pushed = synced["pulled"][0], synced["pushed"][0]
    assert (pulled["added"]["source"], pulled["added"]["item"], pulled["unreadable"]) == (3, 3, [])
    assert "source" not in pushed["records"]  # they are equal there and here
    assert "walrus" in palazzo("search", "walrus", "--palace", "other.db").out
    assert palazzo("verify", "--palace", "other.db").code == 0


def test_a_file_is_known_again(palazzo: Command, project: Path) -> None:
    palazzo("mine", str(project))
    assert "3 unchanged" in palazzo("mine", str(project)).out
    (project / f"{CAFE}.md").write_text(PAGE.replace("8080", "9090"))
    assert "1 grown, 2 unchanged" in palazzo("mine", str(project)).out
    assert len(_sources(palazzo, "all.jsonl")) == 3
    assert palazzo.json("status")["items"] == 4
    hits = palazzo.json("search", "deploy service port")["hits"]
    assert {hit["wing"] for hit in hits} == {"caf"}
    assert not any("8080" in hit["text"] for hit in hits)


def test_a_file_of_an_earlier_version_keeps_its_source(palazzo: Command, project: Path, home: Path) -> None:
    """Earlier versions had the name of a project in keys as the file system has it."""
    palazzo("mine", str(project))
    database = Database(home / ".local" / "share" / "palazzo" / "palace.db")
    with contextlib.closing(database), database.transaction() as rows:
        for row, kind, key in list(rows.execute("SELECT id, kind, key FROM source")):
            old_key = ("document", f"dir:{CAFE}", json.loads(key)[-1])
            uid = source_rows.source_uid(kind, old_key)
            rows.execute("UPDATE source SET key = ?, uid = ? WHERE id = ?", (json.dumps(old_key), uid, row))
    (project / f"{CAFE}.md").write_text(PAGE.replace("8080", "9090"))
    assert "1 grown, 2 unchanged" in palazzo("mine", str(project)).out
    assert len(_sources(palazzo, "all.jsonl")) == 3


def test_the_project_is_known_from_within(palazzo: Command, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    palazzo("mine", str(project))
    monkeypatch.chdir(project)
    assert palazzo("remember", "A note.").out.startswith("Remembered in caf/")
    assert "project caf" in palazzo("wake-up").out


def test_blame_accepts_the_name(palazzo: Command, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    palazzo("mine", str(project))
    monkeypatch.chdir(project)
    blamed = palazzo("blame", f"{CAFE}.md")
    assert (blamed.code, blamed.out.startswith("Nothing is recorded about")) == (0, True)


def test_blame_finds_what_a_host_recorded_of_the_name(
    palazzo: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hosts in JavaScript write U+FFFD for the byte; the directory of the session is as the file system has it."""
    palazzo("mine", str(project))
    session = _session(project, f"{project}/caf\ufffd.md")
    assert palazzo("mine", str(session)).code == 0
    monkeypatch.chdir(project)
    assert palazzo.json("blame", f"{CAFE}.md")["total"] == 1
    assert palazzo.json("blame", "plain.md")["total"] == 0


def test_blame_finds_a_file_in_such_a_directory(
    palazzo: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    palazzo("mine", str(project))
    palazzo("mine", str(_session(project, f"{project}/plain.md")))
    monkeypatch.chdir(project)
    assert palazzo.json("blame", "plain.md")["total"] == 1


def test_a_session_in_such_a_directory_is_mined_and_found(palazzo: Command, project: Path) -> None:
    session = _session(project, f"{project}/plain.md")
    mined = palazzo("mine", str(session))
    assert mined.code == 0, mined.error
    assert "otter" in palazzo("search", "otter").out
    assert palazzo("verify").code == 0
    first = _sources(palazzo, "first.jsonl")
    assert palazzo("import", "first.jsonl", "--palace", "copy.db", "--trust", "user", "--yes").code == 0
    assert _sources(palazzo, "second.jsonl", "--palace", "copy.db") == first
    assert palazzo("verify", "--palace", "copy.db").code == 0


def _session(project: Path, edited_path: str) -> Path:
    edit = {"file_path": edited_path, "old_string": "Ostrich", "new_string": "Emu"}
    call = {"type": "tool_use", "id": "t1", "name": "Edit", "input": edit}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "The file has been updated."}
    messages: list[tuple[str, object]] = [
        ("user", "Please rename the otter in the heading."),
        ("assistant", [{"type": "text", "text": "I edit it."}, call]),
        ("user", [result]),
        ("assistant", [{"type": "text", "text": "It is renamed."}]),
    ]
    rows = [
        {
            "type": role,
            "uuid": f"u{n}",
            "parentUuid": f"u{n - 1}" if n else None,
            "sessionId": "0a0a0a0a-0000-4000-8000-000000000001",
            "cwd": str(project),
            "gitBranch": CAFE,
            "timestamp": f"2026-01-01T00:00:0{n}.000Z",
            "version": "2.0.0",
            "message": {"role": role, "content": content},
        }
        for n, (role, content) in enumerate(messages)
    ]
    path = project.parent / "sessions" / "0a0a0a0a-0000-4000-8000-000000000001.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_backup_under_such_a_name_is_refused(palazzo: Command, project: Path) -> None:
    palazzo("mine", str(project))
    for target in (f"{CAFE}.db", str(project)):
        refused = palazzo("backup", target)
        assert (refused.code, "unprintable" in refused.error) == (2, True)


def test_a_command_of_its_own_takes_the_bytes(home: Path, project: Path) -> None:
    mined = spawn("mine", f"{CAFE}/{CAFE}.md", cwd=home)
    assert mined.code == 0, mined.error
    assert spawn("blame", f"{CAFE}.md", cwd=project).code == 0
