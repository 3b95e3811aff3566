"""mine, remember, forget, show, wake-up and init, as they are typed."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, spawn

FIXTURES = Path(__file__).parents[2] / "fixtures" / "claude-code"
EXPORTED = {"text": "Which port?", "sender": "human", "created_at": "2026-03-04T10:00:00Z"}
"""A message of an export of claude.ai."""


def test_a_note_is_filed_in_the_projects_wing_and_found(palazzo: Command, shop: Path) -> None:
    (hit, *_) = palazzo.json("search", "why SQLite")["hits"]
    assert (hit["wing"], hit["room"], hit["kind"], hit["trust"]) == ("shop", "notes", "note", "user")
    shown = palazzo.json("show", hit["id"])
    assert shown["kind"] == "drawer"
    assert shown["entries"][0]["tags"] == ["storage"]


def test_an_anchor_is_kept_from_the_projects_root(
    palazzo: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "shop" / "docs" / "a.py").write_text("x = 1\n" * 7)
    monkeypatch.chdir(home / "shop" / "docs")
    note = palazzo.json("remember", "About a.py.", "--anchor", "a.py:L3-L7")
    assert note["wing"] == "shop"
    assert palazzo.json("show", note["id"])["kind"] == "item"


def test_what_is_piped_in_is_remembered_to_the_byte(shop: Path) -> None:
    note = spawn("remember", "--json", stdin=b"  piped\r\n\r\n").json
    assert spawn("show", note["id"], "--raw").out == "  piped\r\n\r\n"


def test_raw_is_the_transcript_to_the_byte(palazzo: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALAZZO_REDACT", "off")  # it holds a key
    transcript = next(FIXTURES.rglob("e8cc7d58*.jsonl"))
    copy = home / transcript.name
    shutil.copy(transcript, copy)
    palazzo.json("mine", str(copy))
    session = transcript.stem
    assert spawn("show", session[:13], "--raw").out.encode() == transcript.read_bytes()
    shown = palazzo.json("show", session)
    assert (shown["kind"], shown["id"]) == ("session", session)
    assert len(shown["entries"]) > 3
    assert palazzo("show", session).out.startswith(f"session {session}")


def test_raw_and_json_exclude_each_other(palazzo: Command, shop: Path) -> None:
    hit = palazzo.json("search", "port")["hits"][0]["id"]
    assert palazzo("show", hit, "--raw", "--json").code == 2


def test_neighbours_come_in_order(palazzo: Command, shop: Path) -> None:
    hit = palazzo.json("search", "rollback old tag")["hits"][0]["id"]
    shown = palazzo.json("show", hit, "--context", "5")
    assert [entry["title"] for entry in shown["before"]] == ["Deploying"]
    assert shown["after"] == []


def test_an_ambiguous_beginning_lists_the_candidates(palazzo: Command, home: Path) -> None:
    ids = [palazzo.json("remember", f"note number {n}")["id"] for n in range(3)]
    start = 12  # notes are named by time: those of one second begin alike
    while len({one[:start] for one in ids}) > 1:
        start -= 1
    ran = palazzo("show", ids[0][:start])
    assert ran.code == 2
    assert all(one in ran.error for one in ids)


def test_forgetting_asks_and_says_no_for_nobody(palazzo: Command, shop: Path) -> None:
    hit = palazzo.json("search", "grey cat")["hits"][0]["id"]
    ran = palazzo("forget", hit)
    assert ran.code == 2
    assert "--yes" in ran.error
    assert palazzo.json("search", "grey cat")["hits"]


def test_what_is_forgotten_is_not_found_but_its_id_resolves(palazzo: Command, shop: Path) -> None:
    hit = palazzo.json("search", "grey cat")["hits"][0]["id"]
    assert palazzo.json("forget", hit[:10], "--dry-run") == {"forgotten": [hit], "facts": [], "dry_run": True}
    assert palazzo.json("search", "grey cat")["hits"]
    assert palazzo.json("forget", hit[:10], "--yes") == {"forgotten": [hit], "facts": [], "dry_run": False}
    assert palazzo.json("search", "grey cat")["hits"] == []
    assert palazzo.json("show", hit)["entries"][0]["retired_at"]
    ran = palazzo("forget", hit, "--yes")
    assert ran.code == 2
    assert "already retired" in ran.error


def test_a_note_is_forgotten_by_the_id_that_remember_gave(palazzo: Command, home: Path) -> None:
    note = palazzo.json("remember", "Forget me.")
    assert palazzo.json("forget", note["id"], "--yes")["forgotten"] == note["drawers"]


def test_forgetting_a_wing_is_one_change_and_undo_takes_it_back(palazzo: Command, shop: Path) -> None:
    before = palazzo.json("search", "port")["hits"]
    palazzo.json("forget", "--wing", "shop", "--yes")
    listed = palazzo.json("undo", "--list")["changes"]
    assert [(change["verb"], change["undone"]) for change in listed[:1]] == [("forget", False)]
    assert palazzo.json("undo")["undone"]["id"] == listed[0]["id"]
    assert [hit["id"] for hit in palazzo.json("search", "port")["hits"]] == [hit["id"] for hit in before]
    ran = palazzo("undo", listed[0]["id"])
    assert ran.code == 2
    assert "already undone" in ran.error


def test_all_of_a_source_and_all_of_a_wing(palazzo: Command, shop: Path, home: Path) -> None:
    assert len(palazzo.json("forget", "--source", "docs/deploy.md", "--yes")["forgotten"]) == 2
    assert len(palazzo.json("forget", "--source", "docs", "--yes")["forgotten"]) == 1
    assert len(palazzo.json("forget", "--wing", "shop", "--yes")["forgotten"]) == 2
    assert palazzo.json("status")["drawers"] == 0
    assert palazzo("forget", "--wing", "shop", "--yes").code == 2
    assert palazzo.json("verify")["ok"]


def test_forgotten_documents_stay_forgotten_when_they_are_read_again(palazzo: Command, shop: Path) -> None:
    palazzo.json("forget", "--source", "docs", "--yes")
    palazzo.json("mine", "docs")
    palazzo.json("repair", "--rebuild", "all")
    assert palazzo.json("search", "port")["hits"] == []


def test_wake_up_orients_within_its_budget(palazzo: Command, shop: Path) -> None:
    woken = palazzo.json("wake-up")
    assert woken["wing"] == "shop"
    assert woken["depth"] == "medium"
    assert woken["text"].startswith("Memory on ")
    assert ": project shop" in woken["text"].split("\n")[0]
    assert [line["section"] for line in woken["lines"]] == ["decision", "note"]
    assert all(line["id"][:12] in woken["text"] for line in woken["lines"])
    assert palazzo("wake-up").out.strip() == woken["text"]
    small = palazzo.json("wake-up", "--budget", "60")
    assert small["tokens"] <= 60
    assert len(small["lines"]) < 2


def test_init_creates_the_palace_and_leaves_the_project_alone(palazzo: Command, home: Path) -> None:
    project = home / "api"
    (project / "guides").mkdir(parents=True)
    (project / "guides" / "a.md").write_text("# A\n")
    (home / ".claude").mkdir()
    found = palazzo.json("init", str(project), "--yes")
    assert (found["created"], found["wing"], found["rooms"], found["config"]) == (True, "api", ["guides"], None)
    assert [host["name"] for host in found["hosts"]] == ["claude-code"]
    assert [path.name for path in project.iterdir()] == ["guides"]
    assert palazzo.json("init", str(project))["created"] is False


def test_init_says_what_it_created(palazzo: Command, home: Path) -> None:
    (home / "api").mkdir()
    (home / "web").mkdir()

    def shown(project: str) -> str:
        return " ".join(palazzo("init", str(home / project)).out.split())

    told = "for this project. It is empty until you index files."
    assert f'Created the palace and the wing "api" {told}' in shown("api")
    assert f'Created the wing "web" {told}' in shown("web")
    assert "Created" not in palazzo("init", str(home / "web")).out
    assert palazzo.json("init", str(home / "web"))["wing_created"] is False


def test_mining_says_once_how_much_source_code_was_not_read(palazzo: Command, home: Path) -> None:
    api = home / "api"
    api.mkdir()
    for name in ("a.md", "b.py", "c.go"):
        (api / name).write_text(f"# {name}\n")
    told = "2 source files were not read; 'palazzo mine --mode all' reads them too."
    assert told not in palazzo("mine", str(api), "--dry-run").out  # which lists them
    assert palazzo("mine", str(api)).out.count(told) == 1
    assert "source file" not in palazzo("mine", str(api)).out  # nothing is new
    (api / "d.md").write_text("# d\n")
    assert palazzo.json("mine", str(api))["code_skipped"] == 2
    (api / "e.md").write_text("# e\n")
    assert palazzo.json("mine", str(api), "--mode", "docs")["code_skipped"] == 0
    (api / "palazzo.toml").write_text('[mine]\npolicy = "docs"\n')
    (api / "f.md").write_text("# f\n")
    assert "source file" not in palazzo("mine", str(api)).out  # the project has decided


def test_init_writes_the_project_file_only_when_asked_and_never_over_one(palazzo: Command, home: Path) -> None:
    project = home / "api"
    (project / "guides").mkdir(parents=True)
    (project / "guides" / "a.md").write_text("# A\n")
    written = palazzo.json("init", str(project), "--write-config")["config"]
    assert Path(written).read_text().endswith('wing = "api"\n\n[[rooms]]\nname = "guides"\n')
    assert palazzo("init", str(project), "--write-config").code == 2
    assert palazzo.json("init", str(project))["rooms"] == ["guides"]


def test_mining_obeys_the_users_settings_and_each_projects_file(palazzo: Command, home: Path) -> None:
    for name in ("a.md", "private.md", "draft.md", "code.py"):
        (home / "shop" / "docs" / name).write_text(f"# {name}\n\nwords = 1\n")
    assert palazzo.json("mine", "docs", "--dry-run")["sources"] == 3
    palazzo.json("settings", "set", "mine.exclude", "private.md")
    palazzo.json("settings", "set", "mine.policy", "all")
    assert palazzo.json("mine", "docs", "--dry-run")["sources"] == 3
    (home / "shop" / "palazzo.toml").write_text('mine.exclude = ["draft.md"]\nmine.policy = "docs"\n')
    assert palazzo.json("mine", "docs", "--dry-run")["sources"] == 1


def test_mining_says_what_it_did(palazzo: Command, home: Path) -> None:
    (home / "shop" / "docs" / "a.md").write_text("# A\n\nwords\n")
    (home / "shop" / "docs" / "b.jsonl").write_text('{"a": 1}\n')
    out = palazzo("mine", "docs").out
    assert "1 source: 1 new" in out
    assert "1 item archived in shop" in out
    assert f"({home}/shop/docs/b.jsonl)" in out  # skipped; a path that can be pasted, though a directory has a space
    assert "1 source: 1 unchanged" in palazzo("mine", "docs").out


# --- as scripts around other programs call it ----------------------------------------------------------------


def test_a_docs_first_script_needs_only_another_name(palazzo: Command, home: Path) -> None:
    (home / "shop" / "docs" / "deploy.md").write_text("# Deploying\n\nPort 8443.\n")
    (home / "shop" / "server.py").write_text("PORT = 8443\n")
    script = ["mine", "--mode", "docs", str(home / "shop"), "--wing", "wing_docs", "--no-repair"]
    assert palazzo.json(*script, "--dry-run")["new"] == palazzo.json(*script)["new"] == 1
    assert list(palazzo.json("status")["wings"]) == ["wing_docs"]
    (hit, *_) = palazzo.json("search", "port 8443", "--wing", "wing_docs")["hits"]
    assert hit["source"]["uri"].endswith("/docs/deploy.md")


def test_what_chooses_conversations_says_that_it_chooses_no_documents(palazzo: Command, home: Path) -> None:
    (home / "shop" / "docs" / "deploy.md").write_text("# Deploying\n\nPort 8443.\n")
    ran = palazzo("mine", "--mode", "docs", "docs", "--since", "2099-01-01", "--session", "x", "--min-messages", "9")
    assert ran.code == 0
    assert "1 new" in ran.out
    assert "select conversations" in ran.error
    assert palazzo("mine", "docs", "--since", "yesteryear").code == 2


def test_conversations_are_chosen_by_age_by_length_and_by_id(palazzo: Command, home: Path) -> None:
    transcript = next(FIXTURES.rglob("e8cc7d58*.jsonl"))
    copied = shutil.copy(transcript, home)
    convos = ["mine", str(copied), "--mode", "convos"]
    assert palazzo.json(*convos, "--since", "2099-01-01")["sources"] == 0
    assert palazzo.json(*convos, "--session", "ffff")["sources"] == 0
    assert palazzo.json(*convos, "--min-messages", "1000")["new"] == 0
    assert palazzo.json(*convos, "--session", "e8cc7d58", "--min-messages", "2", "--since", "2020-01-01")["new"] == 1


# --- what is named and not read ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "options", "reason"),
    [
        ("empty.md", b"", (), "empty"),
        ("poetry.lock", b"[[package]]\n", (), "a lock file"),
        (".env", b"TOKEN=1\n", (), "usually holds secrets"),
        ("mempalace.yaml", b"wing: till\n", (), "a memory tool's configuration, not a document"),
        ("picture.md", b"\x89PNG\x00\x01", (), "binary"),
        ("rows.jsonl", b'{"a": 1}\n', (), "not a transcript in a supported format"),
        ("rows.jsonl", b'{"a": 1}\n', ("--mode", "docs"), "JSON lines are data, not a document"),
        ("page.md", b"# Page\n\nwords\n", ("--mode", "convos"), "not a transcript"),
        ("some.db", b"SQLite format 3\x00" + bytes(4080), (), "a SQLite database in an unsupported format"),
        ("conversations.json", b"[]", ("--mode", "convos"), "not a transcript in a supported format"),
        (
            "chat.txt",
            b"User: hello\nAssistant: hi\nUser: bye\n",
            ("--session", "nope"),
            "no conversation that matches",
        ),
        ("empty/", b"", (), "it contains no files"),
        ("large.md", b"# A\n" + b"word " * 1_100_000, (), "5,500,004 bytes, over the limit"),
        ("code/a.py", b"print()\n", (), "1 × source code, which is read only with `--mode all`"),
        ("code/a.py", b"print()\n", ("--exclude", "*.py"), "1 × excluded"),
        ("kept/node_modules/a.md", b"# A\n", (), "1 × a directory that programs write"),
    ],
)
def test_a_path_that_is_named_and_not_read_is_reported_with_the_reason(
    palazzo: Command, home: Path, name: str, content: bytes, options: tuple[str, ...], reason: str
) -> None:
    path = home / "given" / name
    (path if name.endswith("/") else path.parent).mkdir(parents=True)
    if not name.endswith("/"):
        path.write_bytes(content)
    named_path = home / "given" / name.split("/")[0]
    for dry in ((), ("--dry-run",)):
        result = palazzo.json("mine", str(named_path), *options, *dry)
        assert [(skip["uri"], reason in skip["reason"]) for skip in result["skipped"]] == [
            (named_path.as_uri(), True)
        ], result
    answer = palazzo("mine", str(named_path), *options)
    assert answer.code == 0
    assert answer.out.startswith(f"Nothing was read from {named_path}: ")
    assert reason in answer.out.splitlines()[0]


def test_a_path_with_something_to_read_does_not_count_as_unread(palazzo: Command, home: Path) -> None:
    (home / "given").mkdir()
    (home / "given" / "a.md").write_text("# A\n\nWords.\n")
    (home / "given" / ".env").write_text("TOKEN=1\n")
    for _ in range(2):  # also when it is unchanged
        assert palazzo.json("mine", str(home / "given"))["unread"] == []
    secrets = home / "given" / ".env"
    unread = palazzo.json("mine", str(home / "given"), str(secrets))["unread"]
    assert [entry["uri"] for entry in unread] == [secrets.as_uri()]


# --- dry runs ----------------------------------------------------------------------------------------------


def test_a_dry_run_lists_every_file_by_class(palazzo: Command, home: Path) -> None:
    given = home / "given"
    (given / "node_modules").mkdir(parents=True)
    for name in ("a.md", "b.md", "c.md"):
        (given / name).write_text("# A\n\nWords.\n")
    (given / "b.py").write_text("print()\n")
    shutil.copy(next(FIXTURES.rglob("e8cc7d58*.jsonl")), given)
    export = {"uuid": "u1", "name": "Ports", "chat_messages": [EXPORTED | {"uuid": "m1"}, EXPORTED | {"uuid": "m2"}]}
    (given / "export").mkdir()
    (given / "export" / "conversations.json").write_text(json.dumps([export, export | {"uuid": "u2"}]))
    palazzo.json("mine", str(given / "a.md"))
    files = palazzo.json("mine", str(given), "--dry-run")["files"]
    by_name = {file["uri"].rsplit("/", 1)[-1]: file for file in files}
    assert by_name["a.md"] | {"uri": ""} == {
        "uri": "",
        "group": "document",
        "bytes": 12,
        "new": 0,
        "grown": 0,
        "unchanged": 1,
        "reason": "",
    }
    assert by_name["b.py"]["group"] == "skipped"
    assert "--mode all" in by_name["b.py"]["reason"]
    assert (by_name["node_modules"]["group"], by_name["node_modules"]["bytes"]) == ("skipped", None)
    transcript = next(file for name, file in by_name.items() if name.startswith("e8cc7d58"))
    assert (transcript["group"], transcript["new"]) == ("transcript", 1)
    assert (by_name["export"]["group"], by_name["export"]["new"]) == ("export", 2)
    assert by_name["export"]["bytes"] == (given / "export" / "conversations.json").stat().st_size
    assert "conversations.json" not in by_name  # its directory is read as a whole


def test_a_dry_run_of_many_files_shows_totals_and_directories(palazzo: Command, home: Path) -> None:
    for n in range(300):
        directory = home / "given" / f"part{n % 3}" / f"chapter{n % 30}"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{n}.md").write_text(f"# {n}\n")
    answer = palazzo("mine", str(home / "given"), "--dry-run").out
    assert len(answer.splitlines()) < 15
    assert re.search(r"documents +300 ", answer)
    assert re.search(r"part0/ +[\d.]+ bytes +100 files", answer)
    assert len(palazzo.json("mine", str(home / "given"), "--dry-run")["files"]) == 300


def test_what_is_named_beside_what_is_read_is_reported_too(palazzo: Command, home: Path) -> None:
    (home / "shop" / ".gitignore").write_text("notes.md\n")
    for name in ("notes.md", "docs/a.md", "empty.txt"):
        (home / "shop" / name).write_text("# A\n\nwords\n" if name.endswith(".md") else "")
    result = palazzo.json("mine", ".", "notes.md", "empty.txt")
    assert result["new"] == 2
    assert [(skip["uri"], skip["reason"]) for skip in result["skipped"]] == [
        ((home / "shop" / "empty.txt").as_uri(), "empty")
    ]


# --- conversations in files that may be anything ------------------------------------------------------------

QUOTED_QUESTIONS = "> Which port?\n8443.\n\n> Why?\nIt was free.\n"
PAIR = [{"role": "user", "content": "Which port?"}, {"role": "assistant", "content": "8443."}]


@pytest.mark.parametrize(
    ("name", "text", "in_auto"),
    [
        ("chat.txt", QUOTED_QUESTIONS, ["document"]),
        ("chat.md", "## USER\n\nWhich port?\n\n## ASSISTANT\n\n8443.\n", ["document"]),
        ("bold.md", "**User:** Which port?\n\n**Assistant:** 8443.\n", ["document"]),
        ("chat.json", json.dumps(PAIR), ["chat-messages"]),
        ("rows.jsonl", "".join(f"{json.dumps(message)}\n" for message in PAIR), ["chat-messages"]),
        ("wrapped.json", json.dumps({"messages": PAIR}), ["chat-messages"]),
    ],
)
def test_a_conversation_is_read_as_one_where_somebody_says_that_it_is(
    palazzo: Command, home: Path, name: str, text: str, in_auto: list[str]
) -> None:
    """A document with quotations, and data among documents, are not: nobody said so."""
    path = home / "chats" / name
    path.parent.mkdir()
    path.write_text(text)
    assert palazzo.json("mine", str(path.parent), "--dry-run")["new"] == (in_auto == ["document"])
    assert palazzo.json("mine", str(path))["new"] == 1
    assert {hit["source"]["kind"] for hit in palazzo.json("search", "port 8443")["hits"]} == set(in_auto)
    renamed_path = home / "chats" / f"other-{name}"
    path.rename(renamed_path)
    assert palazzo.json("mine", str(renamed_path.parent), "--mode", "convos")["new"] == 1
    hits = palazzo.json("search", "port 8443")["hits"]
    assert "document" not in {hit["source"]["kind"] for hit in hits if "other-" in hit["source"]["uri"]}
    assert any(hit["kind"] == "exchange" and "user" in hit["role"] for hit in hits)
    second_result = palazzo.json("mine", str(renamed_path.parent), "--mode", "convos")
    assert (second_result["new"], second_result["unchanged"]) == (0, 1)


def test_what_was_read_as_a_document_is_a_conversation_once_somebody_says_so(palazzo: Command, home: Path) -> None:
    path = home / "chats" / "chat.txt"
    path.parent.mkdir()
    path.write_text(QUOTED_QUESTIONS)
    palazzo("mine", str(path))
    assert palazzo.json("mine", str(path), "--mode", "convos")["new"] == 1
    assert "quoted-turns" in {hit["source"]["kind"] for hit in palazzo.json("search", "port 8443")["hits"]}


def test_a_document_that_was_read_is_no_conversation_in_a_run_that_reads_those(palazzo: Command, home: Path) -> None:
    path = home / "shop" / "plain.md"
    path.write_text("# Ports\n\nThe gateway has 8443.\n")
    palazzo("mine", str(path))
    result = palazzo.json("mine", str(path), "--mode", "convos")
    assert (result["sources"], [skip["reason"] for skip in result["skipped"]]) == (0, ["not a transcript"])


def test_a_conversation_that_somebody_stated_stays_one_as_it_grows_and_drops_no_document(
    palazzo: Command, home: Path
) -> None:
    chats = home / "chats"
    chats.mkdir()
    (chats / "a.md").write_text("# Notes\n\nThe zebra is shy.\n")
    for name in ("chat.txt", "other.txt"):
        (chats / name).write_text(QUOTED_QUESTIONS)
        palazzo("mine", str(chats / name), "--mode", "convos")
    with (chats / "chat.txt").open("a") as stream:
        stream.write("\n> Since when?\nMarch.\n")
    result = palazzo.json("mine", str(chats))
    assert (result["new"], result["grown"], result["unchanged"], result["skipped"]) == (1, 1, 1, [])
    assert {drawer["kind"] for drawer in palazzo.json("list-drawers")["drawers"]} == {"exchange", "section"}
    assert len([drawer for drawer in palazzo.json("list-drawers")["drawers"] if drawer["kind"] == "section"]) == 1


def test_files_of_quotations_in_an_agent_s_history_are_no_conversations(palazzo: Command, home: Path) -> None:
    path = home / ".claude" / "projects" / "-home-shop" / "s1" / "tool-results" / "out.txt"
    path.parent.mkdir(parents=True)
    path.write_text(QUOTED_QUESTIONS)
    assert palazzo.json("feed")["new"] == 0


def test_what_is_counted_agrees_with_its_number(palazzo: Command, home: Path) -> None:
    docs = home / "shop" / "docs"
    for name in ("a.md", "b.md", "c.md"):
        (docs / name).write_text(f"# {name}\n\nwords of {name}\n")
    palazzo("mine", "docs")
    (home / "shop" / ".palazzoignore").write_text("a.md\n")
    assert (
        "1 document would no longer be searchable: a rule now excludes it. It stays archived."
        in palazzo("mine", "docs", "--dry-run").out
    )
    assert (
        "1 document is no longer searchable: a rule now excludes it. It stays archived." in palazzo("mine", "docs").out
    )
    (home / "shop" / ".palazzoignore").write_text("b.md\nc.md\n")
    changed = palazzo("mine", "docs").out
    assert "2 documents are no longer searchable: a rule now excludes them. They stay archived." in changed
    assert "1 document is found again." in changed


def test_the_time_of_mining_includes_the_vectors_that_it_waits_for(palazzo: Command, home: Path) -> None:
    (home / "given").mkdir()
    (home / "given" / "a.md").write_text("# A\n\nThe service listens on port 8443.\n")
    result = palazzo.json("mine", str(home / "given"), "--wait")
    assert 0 < result["embedding_s"] < result["took_s"]
    assert palazzo.json("mine", str(home / "given"))["embedding_s"] == 0
