"""Completion in a shell: the values of a word, the scripts, and their installation."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, environment

from palazzo.host_names import WITH_HISTORY
from palazzo.operations import place_completion


def completed(palazzo: Command, *words: str) -> list[str]:
    """The values that a shell offers for the last word."""
    return [line.split("\t")[0] for line in palazzo("__complete", *words).out.splitlines()]


def test_commands_subcommands_and_aliases_are_completed(palazzo: Command) -> None:
    assert {"search", "service", "settings"} <= set(completed(palazzo, "se"))
    assert {"search", "kg", "ls", "rm", "help", "completion"} <= set(completed(palazzo, ""))
    assert set(completed(palazzo, "kg", "a")) == {"add", "add-many", "accept", "alias"}
    assert completed(palazzo, "help", "kg", "q") == ["query"]
    assert completed(palazzo, "--palace", "x.db", "kg", "q") == ["query"]
    assert completed(palazzo, "nonsense", "") == []


def test_options_are_completed_once_unless_they_may_be_repeated(palazzo: Command) -> None:
    assert completed(palazzo, "search", "x", "--un") == ["--until"]
    assert "--limit" not in completed(palazzo, "search", "--limit", "3", "--")
    assert "--tag" in completed(palazzo, "search", "--tag", "a", "--")
    assert completed(palazzo, "rm", "--y") == ["--yes"]
    assert completed(palazzo, "ls", "--b") == []
    assert {"--json", "--palace", "--help"} <= set(completed(palazzo, "status", "--"))


def test_values_of_fixed_choices_and_files_are_completed(palazzo: Command) -> None:
    assert completed(palazzo, "search", "--kind", "no") == ["note"]
    assert completed(palazzo, "search", "--kind", "=", "no") == ["note"]  # as bash splits it
    assert completed(palazzo, "search", "--kind=no") == ["--kind=note"]
    assert completed(palazzo, "tag", "") == ["add", "remove", "list"]
    assert "claude-code" in completed(palazzo, "install", "")
    assert completed(palazzo, "feed", "") == list(WITH_HISTORY)
    assert completed(palazzo, "settings", "set", "save_i") == ["save_interval"]
    assert completed(palazzo, "mine", "") == completed(palazzo, "mine", "--palace=x") == [":files"]
    assert completed(palazzo, "search", "wor") == []


def test_names_of_wings_and_rooms_are_completed(palazzo: Command, shop: Path) -> None:
    assert completed(palazzo, "search", "port", "--wing", "") == ["shop"]
    assert completed(palazzo, "search", "port", "--room", "") == ["animals", "docs", "notes"]
    assert completed(palazzo, "wing", "rename", "sh") == ["shop"]
    assert completed(palazzo, "search", "--palace", "none.db", "--wing", "") == []


def test_a_name_that_a_shell_would_run_is_not_offered(palazzo: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["shop", "$(touch trap)", "a b", "-x", "a;b", "büro"]
    monkeypatch.setattr(place_completion, "place_names", lambda *_: names)
    assert completed(palazzo, "search", "port", "--wing", "") == ["shop", "büro"]


def if_installed(shell: str) -> object:
    missing = sys.platform == "win32" or shutil.which(shell) is None
    return pytest.param(shell, marks=pytest.mark.skipif(missing, reason=f"{shell} is not installed"))


COMPLETED = [
    ("palazzo kg quer", "[kg] [query]"),
    ("~/bin/palazzo kg quer", "[kg] [query]"),
    ("palazzo search x --un", "[search] [x] [--until]"),
    ("palazzo search --kind no", "[search] [--kind] [note]"),
    ("palazzo search --kind=no", "[search] [--kind=note]"),
    ("palazzo search 'a b' --wing sh", "[search] [a b] [--wing] [shop]"),
    ("palazzo mine two", "[mine] [two words.md]"),
    ('palazzo mine "two', "[mine] [two words.md]"),
    ("palazzo mine --palace two", "[mine] [--palace] [two words.md]"),
    ("palazzo mine --palace=two", "[mine] [--palace=two words.md]"),
    ("palazzo mine ~/sh", "[mine] [HOME/shop]"),
    ("palazzo mine nothing", "[mine] [nothing]"),
]
"""What is typed before Tab, and the words with which the shell then runs the program."""
STAND_IN = """#!/bin/sh
case $1 in __complete | completion) exec {python} -m palazzo "$@" ;; esac
printf 'ran:'; printf ' [%s]' "$@"; echo .
"""


@pytest.mark.parametrize("shell", [if_installed("bash"), if_installed("zsh"), if_installed("fish")])
def test_tab_completes_in_the_shell_itself(palazzo: Command, shop: Path, home: Path, shell: str) -> None:
    from tests.faces.cli.terminal import program_at_terminal

    (home / "shop" / "two words.md").write_text("")
    program = home / "bin" / "palazzo"
    program.parent.mkdir()
    program.write_text(STAND_IN.format(python=shlex.quote(sys.executable)))
    program.chmod(0o755)
    palazzo.json("completion", shell, "--install")
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    variables = environment({"HOME": str(home), "PATH": path, "TERM": "xterm", "LC_ALL": "C.UTF-8"})
    options = ["--norc", "-i"] if shell == "bash" else ["-i"]
    with program_at_terminal([shell, *options], home / "shop", variables, columns=250) as screen:
        if shell == "bash":  # its package of completions, which reads the installed script, may be absent
            screen.press("source <(palazzo completion bash)\r")
        screen.press("echo 'shell is' ready\r")
        screen.wait_for("shell is ready")
        for typed, words in COMPLETED:
            screen.press(f"{typed}\t")
            screen.press("\r")
            shown = screen.wait_for("].").replace("/].", "].")  # zsh removes the stroke after a directory
            assert f"ran: {words.replace('HOME', str(home))}." in shown, (typed, shown)


@pytest.mark.parametrize(
    ("shell", "places"),
    [
        ("bash", [".local/share/bash-completion/completions/palazzo"]),
        ("fish", [".config/fish/completions/palazzo.fish"]),
        ("zsh", [".local/share/palazzo/completion.zsh", ".zshrc"]),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="the directories are Linux's")
def test_installing_writes_the_script_once(palazzo: Command, home: Path, shell: str, places: list[str]) -> None:
    (home / ".zshrc").write_text("alias ll='ls -l'")
    files = [home / place for place in places]
    first = palazzo.json("completion", shell, "--install")
    assert first["files"] == first["changed"] == [str(file) for file in files]
    assert files[0].read_text() == palazzo("completion", shell).out
    contents = [file.read_bytes() for file in files]
    again = palazzo.json("completion", shell, "--install")
    assert (again["files"], again["changed"]) == (first["files"], [])
    assert [file.read_bytes() for file in files] == contents
    assert (home / ".zshrc").read_text().startswith("alias ll='ls -l'\n" if shell == "zsh" else "alias ll='ls -l'")
    assert "Unchanged:" in palazzo("completion", shell, "--install").out
