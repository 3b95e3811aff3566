"""A session is written where its host can resume it."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard
from tests.sources.host_samples import FIXTURES, sessions_of
from tests.sources.opencode_samples import unpack, unpack_storage

from palazzo.errors import PalazzoError, UsageError
from palazzo.features.mining.contract import RestoreSessionResult
from palazzo.hosts.claude_code import restore as claude_code_restore
from palazzo.hosts.pi import restore as pi_restore
from palazzo.model import Micros
from palazzo.operations.context import Context
from palazzo.operations.registry import operation
from palazzo.text.times import parse_timestamp

CLAUDE = FIXTURES / "claude-code" / "2.1.330" / "fe532e01-9804-438f-a6da-df3ae7e1b7a7.jsonl"
SOON_AFTER = parse_timestamp("2026-11-22T00:00:00Z")
MONTHS_AFTER = parse_timestamp("2027-03-01T00:00:00Z")


def opened(tmp_path: Path, now: Micros | None) -> Context:
    variables = {"HOME": str(tmp_path / "home"), "PALAZZO_SERVICE": "off", "PALAZZO_REDACT": "false"}
    return Context(palace=tmp_path / "palace.db", cwd=tmp_path, variables=variables, clock=lambda: now or Micros(0))


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    with opened(tmp_path, SOON_AFTER) as context:
        yield context


def mine(context: Context, *paths: Path) -> None:
    verb = operation("mine")
    assert not verb.run(context, verb.request(tuple(paths))).failed


def restore(context: Context, session: str, directory: Path, dry_run: bool = False) -> RestoreSessionResult:
    verb = operation("restore_session")
    result = verb.run(context, verb.request(session, directory, dry_run))
    assert isinstance(result, RestoreSessionResult)
    return result


def written(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def test_claude_code_finds_a_session_and_its_subagents(context: Context, tmp_path: Path) -> None:
    mine(context, *CLAUDE.parent.rglob("*.jsonl"))
    result = restore(context, "fe532e01", tmp_path / "projects")
    agent = CLAUDE.with_suffix("") / "subagents" / "agent-ad54d616a2fa255a4.jsonl"
    assert written(tmp_path / "projects") == {
        f"-home-dev-acme/{CLAUDE.name}": CLAUDE.read_bytes(),
        f"-home-dev-acme/{CLAUDE.stem}/subagents/{agent.name}": agent.read_bytes(),
    }
    assert [file.standing for file in result.files] == ["written", "written"]


@pytest.mark.parametrize(
    ("host", "folder", "wanted"),
    [
        ("codex", "sessions", "2026/11/21/{name}"),
        ("codex", "archived_sessions", "{name}"),
        ("codex", "anywhere", "{name}"),
        ("pi", "sessions", "--home-dev-acme--/{name}"),
        ("gemini", "chats", "{name}"),
        ("copilot", "session-state", "82d0ee14-4119-4576-b6f0-a99a5a7d0eb6/{name}"),
        ("copilot", "anywhere", "{name}"),
    ],
)
def test_each_host_finds_its_sessions(context: Context, tmp_path: Path, host: str, folder: str, wanted: str) -> None:
    path = sessions_of(host)[0]
    mine(context, path)
    session = {"codex": path.stem[-36:], "pi": path.stem[-36:], "gemini": "12a4bcd7", "copilot": path.parent.name}[host]
    restore(context, session, tmp_path / folder)
    assert written(tmp_path / folder) == {wanted.format(name=path.name): path.read_bytes()}


def test_gemini_finds_a_session_in_the_folder_of_its_project(context: Context, tmp_path: Path) -> None:
    lain = tmp_path / "home" / ".gemini" / "tmp" / "acme" / "chats"
    lain.mkdir(parents=True)
    path = Path(shutil.copy(sessions_of("gemini")[0], lain))
    mine(context, path)
    restore(context, "12a4bcd7", tmp_path / "elsewhere" / "tmp")
    assert written(tmp_path / "elsewhere") == {f"tmp/acme/chats/{path.name}": path.read_bytes()}


def test_a_renamed_rollout_gets_a_name_that_codex_reads(context: Context, tmp_path: Path) -> None:
    original = sessions_of("codex")[0]
    copy = tmp_path / "mine.jsonl"
    copy.write_bytes(original.read_bytes())
    mine(context, copy)
    restore(context, original.stem[-36:], tmp_path / "sessions")
    (name,) = written(tmp_path / "sessions")
    assert name.startswith("2026/11/21/rollout-2026-11-21T")
    assert name.endswith(f"-{original.stem[-36:]}.jsonl")


def test_a_rollout_that_codex_has_packed_is_given_back_as_it_was(context: Context, tmp_path: Path) -> None:
    original = sessions_of("codex")[0]
    packed = tmp_path / f"{original.name}.zst"
    packed.write_bytes(zstandard.compress(original.read_bytes()))
    mine(context, packed)
    restore(context, original.stem[-36:], tmp_path / "sessions")
    assert written(tmp_path / "sessions") == {f"2026/11/21/{original.name}": original.read_bytes()}


def test_files_are_ones_own_and_as_old_as_what_was_said_last(context: Context, tmp_path: Path) -> None:
    mine(context, CLAUDE)
    (file,) = restore(context, CLAUDE.stem, tmp_path / "projects").files
    last = max(json.loads(line).get("timestamp") or "" for line in CLAUDE.read_bytes().splitlines())
    status = file.path.stat()
    said_at = parse_timestamp(last)
    assert said_at is not None
    assert abs(status.st_mtime_ns // 1000 - said_at) < 60_000_000
    if os.name == "posix":
        assert stat.S_IMODE(status.st_mode) == 0o600


def test_a_session_that_claude_code_would_delete_at_once_is_dated_today(tmp_path: Path) -> None:
    with opened(tmp_path, MONTHS_AFTER) as context:
        mine(context, CLAUDE)
        result = restore(context, CLAUDE.stem, tmp_path / "projects")
        assert result.files[0].modified_at == MONTHS_AFTER
        assert "30 days" in result.note
        (tmp_path / "settings.json").write_text('{"cleanupPeriodDays": 3650}')
        shutil.rmtree(tmp_path / "projects")
        (tmp_path / "projects").mkdir()
        result = restore(context, CLAUDE.stem, tmp_path / "projects")
        assert result.files[0].modified_at < MONTHS_AFTER
        assert not result.note


def test_what_differs_is_not_overwritten(context: Context, tmp_path: Path) -> None:
    mine(context, *CLAUDE.parent.rglob("*.jsonl"))
    first = restore(context, CLAUDE.stem, tmp_path / "projects")
    again = restore(context, CLAUDE.stem, tmp_path / "projects")
    assert [file.standing for file in again.files] == ["there", "there"]
    first.files[1].path.unlink()
    first.files[0].path.write_bytes(b"it went on\n")
    with pytest.raises(PalazzoError, match="already exists with other content"):
        restore(context, CLAUDE.stem, tmp_path / "projects")
    assert list(written(tmp_path / "projects").values()) == [b"it went on\n"]


def test_a_dry_run_writes_nothing(context: Context, tmp_path: Path) -> None:
    mine(context, CLAUDE)
    (file,) = restore(context, CLAUDE.stem, tmp_path / "projects", dry_run=True).files
    assert file.standing == "would"
    assert not (tmp_path / "projects").exists()


def test_a_file_is_no_directory_to_restore_into(context: Context, tmp_path: Path) -> None:
    mine(context, CLAUDE)
    (tmp_path / "projects").write_text("words")
    with pytest.raises(UsageError, match="is not a directory"):
        restore(context, CLAUDE.stem, tmp_path / "projects")


def test_opencode_gets_a_file_that_its_import_reads(context: Context, tmp_path: Path) -> None:
    session = "ses_e002e30fbffedf4MnFw0KGFNkE"
    mine(context, unpack("1.18.33.db", tmp_path))
    result = restore(context, session, tmp_path / "out")
    document = json.loads(result.files[0].path.read_bytes())
    assert result.files[0].path.name == f"{session}.json"
    assert "opencode import" in result.note
    info = document["info"]
    assert (info["id"], info["directory"], info["title"]) == (session, "/home/dev/acme", "Deploy port and config")
    assert info["model"]["providerID"] == "fake"
    assert "parentID" not in info
    assert info["time"]["updated"] >= info["time"]["created"] == 1795293302533
    message = document["messages"][0]
    assert message["info"]["sessionID"] == session
    assert message["parts"][0]["messageID"] == message["info"]["id"]
    assert message["parts"][0]["text"] == '"What port does deploy use?"'
    assert all(one["parts"] for one in document["messages"])


def test_opencodes_older_tree_becomes_such_a_file_too(context: Context, tmp_path: Path) -> None:
    mine(context, unpack_storage(tmp_path))
    result = restore(context, "ses_e002f6907ffeyGVbzsHhFL3Mbo", tmp_path / "out")
    document = json.loads(result.files[0].path.read_bytes())
    assert document["info"]["projectID"]
    assert sum(len(one["parts"]) for one in document["messages"]) > len(document["messages"]) > 5


def test_folders_are_named_as_the_hosts_name_them() -> None:
    assert claude_code_restore.project_folder("/home/dev/my_app.v2") == "-home-dev-my-app-v2"
    assert claude_code_restore.project_folder("C:\\work\\app") == "C--work-app"
    assert pi_restore.project_folder("/home/dev/acme") == "--home-dev-acme--"
