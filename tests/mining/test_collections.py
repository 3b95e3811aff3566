"""Databases, exports and directories that hold many conversations, mined into a real palace."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.sources.opencode_samples import START, Writer, text, unpack, unpack_live, unpack_storage

from palazzo.model import Micros
from palazzo.palace import Palace
from palazzo.sources.conversation_filter import SessionFilter
from palazzo.sources.mining_report import MineReport, MineRequest
from palazzo.sources.mining_run import mine

Mine = Callable[..., MineReport]


@pytest.fixture
def read(palace: Palace) -> Mine:
    def run(*paths: Path, dry_run: bool = False, wanted: SessionFilter | None = None, mode: str = "auto") -> MineReport:
        asked = MineRequest(paths, mode=mode, dry_run=dry_run, wanted=wanted or SessionFilter())  # type: ignore[arg-type]
        return mine(palace.database, palace.clock, asked)

    return run


def accounted(report: MineReport) -> bool:
    return report.rows == report.items + report.noise + report.repeated + report.unreadable


def conversation(identity: str, *words: str) -> dict[str, object]:
    said = [
        {"uuid": f"{identity}-{n}", "text": word, "sender": "human" if n % 2 == 0 else "assistant"}
        for n, word in enumerate(words)
    ]
    return {"uuid": identity, "name": f"About {identity}", "updated_at": "2026-03-04T10:00:00Z", "chat_messages": said}


def export(directory: Path, *conversations: object) -> Path:
    path = directory / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps(conversations))
        archive.writestr("users.json", "[]")
    return path


def test_opencode_s_sessions_are_sources_and_the_second_time_nothing_is_new(tmp_path: Path, read: Mine) -> None:
    path = unpack("1.18.33.db", tmp_path)
    first = read(path)
    assert first.new == first.sources > 1
    assert first.items
    assert first.drawers
    assert accounted(first)
    assert not first.failed
    again = read(path)
    assert (again.sources, again.unchanged, again.rows) == (first.sources, first.sources, 0)


def test_a_database_that_is_being_written_is_read_with_its_log_and_later_with_what_came(
    tmp_path: Path, read: Mine
) -> None:
    writer = Writer(tmp_path / "opencode.db")
    writer.session("ses_a", title="First", directory=str(tmp_path))
    writer.message("ses_a", "user", START, [text("where is the harbour")])
    assert (read(tmp_path / "opencode.db").new, read(tmp_path / "opencode.db").new) == (1, 0)
    writer.message("ses_a", "user", START + 1000, [text("and the lighthouse")])
    writer.session("ses_b", title="Second", directory=str(tmp_path))
    writer.message("ses_b", "user", START + 2000, [text("another matter")])
    grown = read(tmp_path / "opencode.db")
    assert (grown.new, grown.grown, grown.unchanged) == (1, 1, 0)
    assert accounted(grown)
    assert grown.repeated
    writer.close()


def test_a_live_copy_is_read(tmp_path: Path, read: Mine) -> None:
    assert read(unpack_live(tmp_path)).items


def test_a_storage_tree_is_found_on_the_walk_and_read_as_one(tmp_path: Path, read: Mine) -> None:
    unpack_storage(tmp_path)
    found = read(tmp_path)
    assert found.items
    assert accounted(found)
    assert not found.skipped
    again = read(tmp_path)
    assert (again.unchanged, again.rows) == (found.sources, 0)


def test_a_newer_export_adds_only_what_is_new(tmp_path: Path, read: Mine) -> None:
    old, new = conversation("one", "hello", "hi"), conversation("two", "bye", "see you")
    assert read(export(tmp_path, old)).new == 1
    (tmp_path / "later").mkdir()
    path = export(tmp_path / "later", {**old, "chat_messages": [*old["chat_messages"], *_more("one-2", "more")]}, new)  # type: ignore[misc]
    report = read(path)
    assert accounted(report)
    assert (report.new, report.grown, report.items, report.repeated > 0) == (1, 1, 3, True)
    assert read(path).rows == 0


def _more(uuid: str, words: str) -> list[object]:
    return [{"uuid": uuid, "text": words, "sender": "human"}]


def test_an_export_that_was_unpacked_is_read_as_one(tmp_path: Path, read: Mine) -> None:
    path = export(tmp_path, conversation("one", "hello", "hi"))
    (tmp_path / "unpacked").mkdir()
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "unpacked")
    path.unlink()
    (tmp_path / "unpacked/notes.md").write_text("# Notes\n\nkept beside\n")
    found = read(tmp_path)
    assert found.sources == 2
    assert not found.skipped


def test_an_export_that_is_cut_off_gives_what_is_whole_and_is_tried_again(tmp_path: Path, read: Mine) -> None:
    whole = json.dumps([conversation("one", "hello", "hi"), conversation("two", "bye", "see you")])
    path = tmp_path / "conversations.json"
    path.write_text(whole[:-30])
    first = read(path)
    assert (first.new, len(first.failed)) == (1, 1)
    assert "is truncated or damaged after" in first.failed[0].error
    assert len(read(path).failed) == 1
    path.write_text(whole)
    assert (read(path).new, read(path).failed) == (1, ())


def test_one_damaged_database_costs_no_other_source(tmp_path: Path, read: Mine) -> None:
    path = unpack("1.18.33.db", tmp_path)
    path.write_bytes(path.read_bytes()[:5000])
    (tmp_path / "a.md").write_text("# A\n\nwords\n")
    report = read(path, tmp_path / "a.md")
    assert len(report.failed) == 1
    assert report.items == 1


def test_sessions_may_be_chosen_by_time_by_id_and_by_length(tmp_path: Path, read: Mine) -> None:
    writer = Writer(tmp_path / "opencode.db")
    for number, words in enumerate((["one"], ["a", "b", "c"], ["d", "e", "f", "g"])):
        at = START + number * 86_400_000
        writer.session(f"ses_{number}", at, title=f"Session {number}", directory=str(tmp_path))
        for turn, word in enumerate(words):
            writer.message(f"ses_{number}", "user", at + turn * 1000, [text(word)])
    writer.close()
    path = tmp_path / "opencode.db"
    assert read(path, dry_run=True, wanted=SessionFilter(sessions=("ses_2",))).new == 1
    assert read(path, dry_run=True, wanted=SessionFilter(since=Micros((START + 86_000_000) * 1000))).new == 2
    dry = read(path, dry_run=True, wanted=SessionFilter(least_messages=3))
    short = read(path, wanted=SessionFilter(least_messages=3))
    assert (dry.sources, dry.new, dry.skipped) == (short.sources, short.new, short.skipped)
    assert (short.new, [one.reason for one in short.skipped]) == (2, ["fewer than 3 messages"])
    assert read(path).new == 1


def test_a_project_that_is_excluded_is_left_out_wherever_its_sessions_lie(tmp_path: Path, read: Mine) -> None:
    writer = Writer(tmp_path / "opencode.db")
    for name in ("open", "secret"):
        writer.session(f"ses_{name}", title=name, directory=str(tmp_path / name / "src"))
        writer.message(f"ses_{name}", "user", START, [text("hello")])
    writer.close()
    report = read(tmp_path / "opencode.db", wanted=SessionFilter(skip_directories=(tmp_path / "secret",)))
    assert (report.new, [one.reason for one in report.skipped]) == (1, ["its project is excluded"])


def test_an_excluded_directory_is_not_walked_but_is_read_when_it_is_named(tmp_path: Path, read: Mine) -> None:
    (tmp_path / "tree/secret").mkdir(parents=True)
    (tmp_path / "tree/a.md").write_text("# A\n\nopen words\n")
    (tmp_path / "tree/secret/b.md").write_text("# B\n\nsecret words\n")
    wanted = SessionFilter(skip_directories=((tmp_path / "tree/secret").resolve(),))
    assert read(tmp_path / "tree", wanted=wanted).items == 1
    assert read(tmp_path / "tree/secret", wanted=wanted).items == 1


def test_a_dry_run_counts_conversations_and_bytes_and_writes_nothing(tmp_path: Path, read: Mine) -> None:
    path = unpack("1.18.33.db", tmp_path)
    preview = read(path, dry_run=True)
    assert preview.bytes == path.stat().st_size
    assert preview.new == preview.sources == read(path).sources
    assert read(path, dry_run=True).bytes == 0


def test_each_path_follows_the_rules_of_its_own_project(tmp_path: Path, read: Mine) -> None:
    for name, rule in (("a", 'exclude = ["drafts/**"]'), ("b", 'exclude = ["docs/**"]')):
        project = tmp_path / name
        for folder in ("docs", "drafts"):
            (project / folder).mkdir(parents=True)
            (project / folder / "page.md").write_text(f"# {name} {folder}\n\nwords\n")
        (project / "palazzo.toml").write_text(f"[mine]\n{rule}\n")
    report = read(tmp_path / "a", tmp_path / "b", dry_run=True)
    assert report.new == 2  # of each project one page


def test_a_diary_and_a_chat_kept_as_text_lie_among_documents(tmp_path: Path, read: Mine) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/2026-03-04.md").write_text("# 2026-03-04\n\n## 09:10 Harbour\n\nThe pilot came.\n")
    (tmp_path / "notes/2026-03-05.md").write_text("# 2026-03-05\n\n## Fog\n\nNo pilot.\n")
    (tmp_path / "notes/README.md").write_text("# Notes\n\nOne file a day.\n")
    report = read(tmp_path)
    assert (report.new, report.skipped) == (3, ())


def test_a_file_that_was_read_is_not_opened_again(tmp_path: Path, read: Mine, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("# A\n\nwords\n")
    path = unpack("1.18.33.db", tmp_path / "docs")
    first = read(tmp_path / "docs")

    def refuse(*arguments: object) -> bytes:
        raise AssertionError("it was opened")

    monkeypatch.setattr("palazzo.sources.discovery.read_head", refuse)
    assert read(tmp_path / "docs").unchanged == first.sources
    shutil.copystat(path, tmp_path / "docs/a.md")
    os.utime(path)
    with pytest.raises(AssertionError):
        read(path)


# How long a conversation is


def test_messages_are_counted_and_a_dry_run_says_what_the_real_one_does(tmp_path: Path, read: Mine) -> None:
    def row(kind: str, message: str, *blocks: dict[str, object]) -> str:
        body = {"id": message, "role": kind, "content": list(blocks)}
        at = {"timestamp": "2026-03-04T10:00:00Z", "sessionId": "s1", "cwd": str(tmp_path), "isSidechain": False}
        return json.dumps({"type": kind, "uuid": f"u{len(rows)}", "parentUuid": None, "message": body, **at}) + "\n"

    def words(text: str) -> dict[str, object]:
        return {"type": "text", "text": text}

    rows: list[str] = []
    rows.append(row("user", "", words("Which port?")))
    for n in range(3):
        rows.append(
            row("assistant", "m1", {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": "ls"}})
        )
        rows.append(row("user", "", {"type": "tool_result", "tool_use_id": f"t{n}", "content": "a.py"}))
    rows.append(row("assistant", "m2", words("It listens on 8443.")))
    rows.append(row("assistant", "m2", words("Behind the balancer.")))
    path = tmp_path / "s1.jsonl"
    path.write_text("".join(rows))
    for least, new in ((3, 0), (2, 1)):
        selection = SessionFilter(least_messages=least)
        dry, real = (read(path, dry_run=is_dry, wanted=selection) for is_dry in (True, False))
        assert (dry.sources, dry.new, dry.skipped) == (real.sources, real.new, real.skipped)
        assert (real.new, [skip.reason for skip in real.skipped]) == (new, [] if new else ["fewer than 3 messages"])
    secret = SessionFilter(skip_directories=(tmp_path,))
    other_path = tmp_path / "s2.jsonl"
    other_path.write_text(path.read_text().replace('"s1"', '"s2"').replace('"u', '"v'))
    assert read(other_path, dry_run=True, wanted=secret).skipped == read(other_path, wanted=secret).skipped != ()
