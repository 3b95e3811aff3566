"""palazzo erase, as it is typed: counted, confirmed, certified, and gone for good."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import apsw
import pytest
from tests.archive.leftovers import in_files
from tests.faces.cli.command import Command

from palazzo.archive import pattern_matches
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.store import file_scrub, vector_file_paths

WORDS = "zebra-quartz-90417"


@pytest.fixture
def transcript_file(shop: Path, home: Path, palazzo: Command) -> Path:
    """The shop's palace, and a session and a document that hold the words; returns the transcript."""
    transcript = home / ".claude" / "projects" / "shop" / "s1.jsonl"
    transcript.parent.mkdir(parents=True)
    write(transcript, [f"Please deploy with {WORDS} today.", "Done, as you asked.", f"echo {WORDS} | sh"])
    (home / "shop" / "docs" / "ops.md").write_text(f"# Operations\n\nThe old word was {WORDS}.\n")
    palazzo.json("mine", str(transcript), "docs")
    return transcript


def write(transcript: Path, texts: list[str], session: str = "s1") -> None:
    rows = [
        {
            "parentUuid": None,
            "isSidechain": False,
            "type": "user" if n % 2 == 0 else "assistant",
            "uuid": f"{session}-{n}",
            "sessionId": session,
            "cwd": str(Path.cwd()),
            "timestamp": f"2026-11-21T10:00:{n:02}.000Z",
            "message": {"role": "user" if n % 2 == 0 else "assistant", "content": text},
        }
        for n, text in enumerate(texts)
    ]
    transcript.write_text("".join(json.dumps(row) + "\n" for row in rows))


def kept(home: Path) -> list[str]:
    """Files of Palazzo's own that hold the words."""
    own = (home / ".local", home / ".config", home / ".cache")
    return [found for directory in own if directory.exists() for found in in_files(directory, WORDS, "quartz")]


def test_a_match_is_shown_covered_and_erased_for_good(palazzo: Command, transcript_file: Path, home: Path) -> None:
    assert kept(home) != []
    ran = palazzo("erase", "--match", r"zebra-\w+-\d+", "--dry-run")
    assert (ran.code, "in 3 items" in ran.out, "would be erased" in ran.out) == (0, True, True)
    assert "quartz" not in ran.out
    assert f"deploy with {'█' * len(WORDS)} today" in ran.out
    proof = home / "proof.json"
    ran = palazzo("erase", "--match", r"zebra-\w+-\d+", "--yes", "--certificate", str(proof))
    assert ran.code == 0, ran.error
    assert "certificate" in ran.out
    certificate = json.loads(proof.read_text())
    assert len(certificate["items"]) == 3
    assert "quartz" not in proof.read_text()
    assert kept(home) == []
    assert palazzo("verify").code == 0
    assert "zebra" not in palazzo("search", "zebra quartz deploy").out
    assert "zebra" not in palazzo("show", "s1").out
    assert b"zebra" not in palazzo("show", "s1", "--raw").out.encode()


def test_feeding_the_sources_again_does_not_bring_it_back(palazzo: Command, transcript_file: Path, home: Path) -> None:
    """The same transcript, grown; a copy; a document; and the session in which the erase was typed."""
    palazzo.json("erase", "--match", WORDS, "--yes")
    palazzo.json("mine", str(transcript_file), "docs")
    with transcript_file.open("a") as file:
        row = {
            "parentUuid": None,
            "isSidechain": False,
            "type": "user",
            "uuid": "s1-9",
            "sessionId": "s1",
            "message": {"role": "user", "content": f"{WORDS}!"},
        }
        file.write(json.dumps({**row, "timestamp": "2026-11-21T11:00:00.000Z", "cwd": str(Path.cwd())}) + "\n")
    write(transcript_file.with_name("s2.jsonl"), [f"Please deploy with {WORDS} today.", "Done."], "s2")
    write(transcript_file.with_name("s3.jsonl"), [f"palazzo erase --match '{WORDS}' --yes", f"{WORDS} is gone"], "s3")
    (home / "shop" / "docs" / f"on {WORDS}.md").write_text(f"# On {WORDS}\n\nIt was {WORDS}.\n")
    for _ in range(2):
        palazzo.json("mine", str(transcript_file.parent), "docs")
    palazzo.json("remember", f"Do not say {WORDS}.")
    palazzo.json("repair", "--rebuild", "all")
    assert kept(home) == []
    assert palazzo("verify").code == 0


def test_a_session_a_source_and_an_id_are_erased(palazzo: Command, transcript_file: Path, home: Path) -> None:
    note = palazzo.json("remember", "A note about walruses and nothing else.")["id"]
    palazzo.json("erase", note, "--yes")
    assert "walrus" not in palazzo("show", note).out
    done = palazzo.json("erase", "--source", "docs/ops.md", "--yes")
    assert (done["items"], len(done["certificates"])) == (1, 1)
    assert palazzo.json("erase", "--session", "s1", "--yes")["items"] == 3
    assert kept(home) == []
    assert palazzo("erase", "--session", "s1", "--yes").code == 2
    palazzo.json("mine", str(transcript_file), "docs")
    assert kept(home) == []
    assert palazzo("verify").code == 0


def test_without_an_answer_nothing_is_erased(palazzo: Command, transcript_file: Path, home: Path) -> None:
    ran = palazzo("erase", "--match", WORDS)
    assert ran.code == 2
    assert "--yes" in ran.error
    assert kept(home) != []


BAD = [
    (["--match", "("], "is not a valid regular expression"),
    (["--match", "a*"], "also matches empty text"),
    (["--match", r"\b"], "also matches empty text"),
    (["--match", "(?=deploy)"], "also matches empty text"),
    (["--match", ""], "The pattern is empty"),
    (["--match", "nobody-ever-said-this"], "does not occur in the palace"),
    (["--match", "a", "--session", "s1"], "Choose one way to say what to erase"),
    ([], "Name what to erase"),
    (["ffffffff"], "Nothing has the id"),
    (["--session", "nope"], "no session 'nope'"),
    (["--source", "nowhere.md"], "came from 'nowhere.md'"),
    (["--match", WORDS, "--certificate", "no/such/directory/file"], "cannot be written"),
    (["--match", r"(?s)[a-z ]+"], "Nothing was erased; give --even-most"),
]


def test_bad_input_is_one_sentence_and_changes_nothing(palazzo: Command, transcript_file: Path, home: Path) -> None:
    before = palazzo.json("status")["drawers"], kept(home)
    for arguments, sentence in BAD:
        ran = palazzo("erase", *arguments, "--yes")
        assert (ran.code, ran.error.count("\n")) == (2, 1), arguments
        assert sentence in ran.error
    assert (palazzo.json("status")["drawers"], kept(home)) == before
    assert palazzo("verify").code == 0


def test_half_the_palace_is_counted_first_and_must_be_meant(palazzo: Command, transcript_file: Path) -> None:
    ran = palazzo("erase", "--match", r"[a-z ]+", "--dry-run")
    assert ran.code == 0
    assert "of everything in the palace" in ran.out
    assert palazzo("erase", "--match", r"[a-z ]+", "--yes", "--even-most").code == 0
    assert palazzo("verify").code == 0


def test_a_pattern_that_takes_for_ever_is_ended(
    palazzo: Command, transcript_file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pattern_matches, "LONGEST", 0.5)
    palazzo.json("remember", "a" * 60 + "!")
    ran = palazzo("erase", "--match", "(a+)+b", "--yes")
    assert ran.code == 2
    assert "longer than" in ran.error


def test_other_files_that_hold_the_words_are_cleared_or_named(
    palazzo: Command, transcript_file: Path, home: Path
) -> None:
    state, config = home / ".local" / "state" / "palazzo", home / ".config" / "palazzo"
    for directory in (state, config):
        directory.mkdir(parents=True, exist_ok=True)
    (state / "bug-20260101-000000-1.txt").write_text(f"something about {WORDS}")
    (state / "embedding-failed.txt").write_text("something else")
    (config / "config.toml").write_text(f'[mine]\nexclude = ["{WORDS}/**"]\n')
    done = palazzo.json("erase", "--match", WORDS, "--yes")
    assert [Path(path).name for path in done["removed"]] == ["bug-20260101-000000-1.txt"]
    assert [Path(path).name for path in done["mend"]] == ["config.toml"]
    assert (state / "embedding-failed.txt").exists()


def test_a_certificate_is_a_new_file_of_its_owner_alone(palazzo: Command, transcript_file: Path, home: Path) -> None:
    precious, link, dangling_link = home / "precious.txt", home / "link.json", home / "dangling.json"
    precious.write_text("not to be lost")
    link.symlink_to(precious)
    dangling_link.symlink_to(home / "elsewhere.json")
    os.mkfifo(home / "pipe.json")
    count_before = palazzo.json("status")["drawers"]
    for name in ("precious.txt", "link.json", "dangling.json", "pipe.json", "."):
        for way in ("--yes", "--dry-run"):
            ran = palazzo("erase", "--match", WORDS, "--certificate", str(home / name), way)
            assert (ran.code, ran.error.count("\n"), "nothing was erased" in ran.error) == (2, 1, True), name
    assert (palazzo.json("status")["drawers"], precious.read_text()) == (count_before, "not to be lost")
    assert not (home / "elsewhere.json").exists()
    old = os.umask(0)
    try:
        assert palazzo("erase", "--match", WORDS, "--certificate", str(home / "new.json"), "--yes").code == 0
    finally:
        os.umask(old)
    assert stat.S_IMODE((home / "new.json").stat().st_mode) == 0o600
    assert json.loads((home / "new.json").read_text())["erasure"]


def test_an_erase_names_exports_and_settings_beside_backups(
    palazzo: Command, transcript_file: Path, home: Path
) -> None:
    (home / ".config" / "palazzo").mkdir(parents=True)
    (home / ".config" / "palazzo" / "config.toml").write_text(f'[mine]\nexclude = ["{WORDS}/**"]\n')
    backup = palazzo.json("backup", str(home / "backup [1].db"))
    (settings,) = backup["beside"]
    palazzo.json("export", str(home / "all.jsonl"))
    palazzo.json("export", str(home / "deleted.jsonl"))
    palazzo.json("export", str(home / "pages"), "--format", "markdown")
    (home / "deleted.jsonl").unlink()
    erase_result = palazzo.json("erase", "--match", WORDS, "--yes")
    assert erase_result["exports"] == [str(home / "all.jsonl"), str(home / "pages")]
    assert settings in erase_result["mend"]
    assert erase_result["backups"] == [backup["file"]]


def test_an_erase_removes_the_vectors_beside_a_backup_that_was_searched(
    palazzo: Command, transcript_file: Path, home: Path
) -> None:
    backup = Path(palazzo.json("backup", str(home / "backup.db"))["file"])
    for path in vector_file_paths.all_files(backup):
        path.write_bytes(b"hashes")
    palazzo.json("erase", "--match", WORDS, "--yes")
    assert [path for path in vector_file_paths.all_files(backup)[:2] if path.exists()] == []


def test_undo_takes_back_what_came_before_and_never_an_erase(
    palazzo: Command, transcript_file: Path, home: Path
) -> None:
    note = palazzo.json("remember", "a note to come back")["id"]
    palazzo.json("forget", note, "--yes")
    palazzo.json("erase", "--match", WORDS, "--yes")
    assert all("erase" not in str(change) for change in palazzo.json("undo", "--list")["changes"])
    palazzo.json("undo")
    assert kept(home) == []
    assert palazzo.json("show", note)["entries"][0]["text"] == "a note to come back"


def test_doctor_says_how_to_erase_what_it_finds(palazzo: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALAZZO_REDACT", "false")
    secret = "ghp_" + "".join("aB3xY7"[n % 6] for n in range(36))
    palazzo.json("remember", f"the token is {secret}")
    monkeypatch.delenv("PALAZZO_REDACT")
    ran = palazzo("doctor", "--secrets", "--json")
    (finding,) = [one for one in ran.json["findings"] if one["name"] == "secret"]
    command = finding["mend"].split("palazzo ")[1].split()
    assert command == ["erase", "--secrets"]
    assert palazzo(*command, "--yes", "--even-most").code == 0
    assert palazzo(*command, "--yes").code == 2
    assert in_files(home / ".local", secret) == []
    assert "secret" not in {one["name"] for one in palazzo("doctor", "--secrets", "--json").json["findings"]}


def test_names_of_places_are_looked_through_for_secrets_and_erased(
    palazzo: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As before names were redacted: a wing and a room, one renamed since."""
    token = "ghp_" + "".join("aB3xY7"[n % 6] for n in range(36))
    former = "ghp_" + "".join("Zq8wR2"[n % 6] for n in range(36))
    palace = home / ".local" / "share" / "palazzo" / "palace.db"
    with Palace.open(palace) as opened:
        opened.remember("The heron waits at the pond.", Place(f"shop {token}", f"deploy {former}"))
        with opened.database.transaction() as connection:
            connection.execute("UPDATE wing SET name = ?, first_name = ?", (f"shop {token}",) * 2)
            connection.execute("UPDATE room SET name = 'deploy', first_name = ?", (f"deploy {former}",))
    assert in_files(home / ".local", token) != []
    ran = palazzo("doctor", "--secrets", "--json")
    assert token not in ran.out + ran.error
    assert former not in ran.out + ran.error
    findings = sorted(one["detail"] for one in ran.json["findings"] if one["name"] == "secret")
    assert [detail.partition("'")[0] for detail in findings] == [
        "github-token in the name of the room ",
        "github-token in the name of the wing ",
    ]
    assert "'shop [redacted:" in findings[1]
    assert palazzo("erase", "--secrets", "--yes", "--even-most").code == 0
    assert in_files(home / ".local", token) + in_files(home / ".local", former) == []
    assert "secret" not in {one["name"] for one in palazzo("doctor", "--secrets", "--json").json["findings"]}


if sys.platform != "win32":

    def test_an_interrupted_erase_is_finished_by_the_next(palazzo: Command, transcript_file: Path, home: Path) -> None:
        """A reader keeps the log; the words are gone from every answer meanwhile."""
        palace = home / ".local" / "share" / "palazzo" / "palace.db"
        reader = apsw.Connection(str(palace), flags=apsw.SQLITE_OPEN_READONLY)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM item").fetchall()
        whole = file_scrub.scrub
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(file_scrub, "scrub", lambda database, patience: whole(database, 0.1))
                ran = palazzo("erase", "--match", WORDS, "--yes")
            assert ran.code == 1
            assert "still reads an older state" in ran.error
            assert "zebra" not in palazzo("search", "zebra quartz").out
            doctor = palazzo("doctor", "--json").json
            assert [one["mend"] for one in doctor["findings"] if one["name"] == "erase"] == ["palazzo erase"]
        finally:
            reader.close()
        assert len(palazzo.json("erase", "--yes")["certificates"]) == 1
        assert kept(home) == []
