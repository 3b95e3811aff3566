"""The commands of how-to pages, run as they stand there."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.faces.cli.command import Command, spawn
from tests.test_how_to import commands

FIXTURES = Path(__file__).parents[2] / "fixtures"
TRANSCRIPTS = (
    FIXTURES / "claude-code" / "2.1.330" / "fe532e01-9804-438f-a6da-df3ae7e1b7a7.jsonl",
    FIXTURES / "claude-code" / "e8cc7d58-2992-4d51-82f0-f85e91170df2.jsonl",
)


def test_questions_about_code_have_answers(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", "The shop has a timeout of two seconds.")  # the palace knows the project
    transcript = home / TRANSCRIPTS[0].name
    transcript.write_text(TRANSCRIPTS[0].read_text().replace("/home/dev/acme", str(home / "shop")))
    palazzo.json("mine", str(transcript), str(TRANSCRIPTS[1]), str(FIXTURES / "codex"), "--wing", "shop")
    (home / "shop" / "deploy.yaml").write_text("service: unrecorded\nport: 8443\nretries: 5\n}\n")
    typed = [shlex.split(line) for line in commands("questions-about-code")]
    assert {words[0] for words in typed} == {"blame", "files", "fix", "how", "friction"}
    for words in typed:
        ran = spawn(*words, "--json", stdin=b"E   AssertionError: expected 200 got 503\n", cwd=home / "shop")
        assert ran.code == 0, ran.error
        rows = [value for value in ran.json.values() if isinstance(value, list)]
        assert any(rows), f"{words} found nothing"


def test_completion_is_installed_where_the_page_says(palazzo: Command, home: Path) -> None:
    lines = commands("shell-completion")
    for line in lines:
        assert palazzo(*shlex.split(line)).code == 0, line
    assert {line.split()[1] for line in lines if "--install" in line} == {"bash", "zsh", "fish"}
    names = {path.name for path in home.rglob("*") if path.is_file()}
    assert {"palazzo", "completion.zsh", ".zshrc", "palazzo.fish"} <= names
