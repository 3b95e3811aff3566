"""blame, files, fix, how and friction as they are typed, on sessions that real programs wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faces.cli.command import Command, spawn

FIXTURES = Path(__file__).parents[2] / "fixtures"
TURNS = FIXTURES / "claude-code" / "e8cc7d58-2992-4d51-82f0-f85e91170df2.jsonl"
TAINTED = FIXTURES / "claude-code" / "2.1.330" / "fe532e01-9804-438f-a6da-df3ae7e1b7a7.jsonl"
ERROR = "E   AssertionError: expected 200 got 503"


@pytest.fixture
def mined(palazzo: Command, home: Path) -> Command:
    palazzo.json("remember", "The shop has a timeout of two seconds.")  # the palace knows the project
    palazzo.json("mine", str(TURNS), str(FIXTURES / "codex"), "--wing", "shop")
    return palazzo


def test_a_file_says_which_sessions_edited_it(mined: Command) -> None:
    told = mined.json("blame", "README.ja.md")
    assert set(told) == {
        "path",
        "line",
        "wing",
        "sessions",
        "decisions",
        "notes",
        "commits",
        "total",
        "unlocated",
        "line_text",
        "unattributed",
    }
    assert {session["host"] for session in told["sessions"]} == {"claude-code", "codex"}
    assert told["total"] == len(told["sessions"])
    for session in told["sessions"]:
        assert "edited" in session["how"]
        assert "README.ja.md" in mined.json("show", session["drawer"])["entries"][0]["text"]
    out = mined("blame", "README.ja.md").out
    assert out.startswith("README.ja.md  shop\n\nSessions\n    2026-")
    assert f"{told['total']} sessions in shop\n" in out


def test_a_line_says_which_session_wrote_it(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", "The shop has a timeout of two seconds.")  # the palace knows the project
    transcript = home / TAINTED.name
    transcript.write_text(TAINTED.read_text().replace("/home/dev/acme", str(home / "shop")))
    palazzo.json("mine", str(transcript), "--wing", "shop")
    (home / "shop" / "deploy.yaml").write_text("service: unrecorded\nport: 8443\nretries: 5\n}\n")
    out = palazzo("blame", "deploy.yaml:3").out
    assert out.startswith("deploy.yaml:3  shop\n    retries: 5\n\nSessions\n")
    assert "  edited (line 3)\n        likely: wrote this line\n" in out
    reasons = {4: "it is too short to be recognised", 1: "no recorded edit wrote it", 9: "the file has only 4 lines"}
    for line, reason in reasons.items():
        assert f"    Not attributed by its text: {reason}.\n" in palazzo("blame", f"deploy.yaml:{line}").out


def test_decisions_say_how_they_are_connected_with_the_file(mined: Command) -> None:
    out = mined("blame", "gateway.yaml").out
    assert "\nDecisions\n    " in out
    facts = "        in the same exchange as an edit, names gateway\n        user  2026-"
    assert f"    Correction: the gateway port is 8443, not 9443.\n{facts}" in out


def test_a_topic_says_which_files_it_touched(mined: Command) -> None:
    told = mined.json("files", "retry", "backoff")
    assert told["files"][0]["path"] == "retry.py"
    assert told["files"][0]["how"] == ["edited"]
    assert mined("files", "retry", "backoff").out.startswith("retry.py  edited\n")


def test_an_error_that_is_piped_in_is_found_again(mined: Command) -> None:
    paste = f"  at api.py:12\n{ERROR.replace('503', '502')}\n"
    ran = spawn("fix", "-", "--json", stdin=paste.encode())
    assert ran.code == 0, ran.error
    assert ran.json["match"] == "same"
    assert ran.json["failures"][0]["error"] == [ERROR]
    out = mined("fix", ERROR).out
    assert f"    {' '.join(ERROR.split())}\n    not fixed in that session\n" in out
    assert mined.json("show", ran.json["failures"][0]["id"])


def test_a_program_says_how_it_was_run(mined: Command) -> None:
    told = mined.json("how", "cat")
    (command,) = told["commands"]
    assert (command["shape"], command["trust"]) == ("cat …", "agent")
    assert (command["worked"] > 5, command["exit_status"]) == (True, 0)
    out = mined("how", "cat").out
    assert out.startswith(f"$ {command['command']}\n    worked {command['worked']} times")


def test_friction_counts_what_several_sessions_saw(mined: Command) -> None:
    told = mined.json("friction")
    worst = told["groups"][0]
    assert worst["failures"] >= worst["sessions"] > 1
    assert worst["example"]["error"] == [ERROR]
    assert f"failed {worst['failures']} times in {worst['sessions']} sessions" in mined("friction").out


NOTHING = [
    (
        ["blame", "no/such.py"],
        "no/such.py does not exist here, and nothing is recorded about it: try with --everywhere.",
    ),
    (["files", "zebra giraffe quantum"], "Nothing is recorded about this; try with --everywhere."),
    (["fix", "E0432"], "No earlier failure reports this error: try with --everywhere, or search for it with "),
    (["how", "terraform"], "No session ran terraform; try with --everywhere."),
    (["friction", "--until", "2020-01-01"], "Nothing failed 2 times or more; try without --until or with "),
]
WRONG = [
    (["blame", "", "--json"], "The path is empty"),
    (["fix", " "], "The error is empty"),
    (["how", "git", "--limit", "0"], "The limit is 0"),
    (["friction", "--since", "2026-03-01", "--until", "2026-02-01"], "The time range is inverted"),
    (["files", "retry", "--wing", "nowhere"], "There is no wing 'nowhere'"),
    (["friction", "--wing", "shop", "--everywhere"], "--wing and --everywhere exclude each other"),
]


def test_nothing_found_is_one_sentence_and_no_error(mined: Command) -> None:
    for arguments, sentence in NOTHING:
        ran = mined(*arguments)
        assert (ran.code, ran.error) == (0, "")
        assert ran.out.startswith(sentence)
        assert ran.out.count("\n") == 1


def test_bad_input_is_one_sentence(mined: Command) -> None:
    for arguments, sentence in WRONG:
        ran = mined(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert sentence in ran.error


def test_recorded_control_characters_do_not_reach_the_terminal(palazzo: Command, home: Path) -> None:
    transcript = home / "e8cc7d58-2992-4d51-82f0-f85e91170df2.jsonl"
    transcript.write_text(TURNS.read_text().replace("cat tokens.env", "cat \\u001b[2J\\u202etokens.env"))
    palazzo.json("mine", str(transcript), "--wing", "shop")
    out = palazzo("how", "cat").out + palazzo("friction").out
    assert "cat" in out
    assert not {"\x1b", "\u202e"} & set(out)
