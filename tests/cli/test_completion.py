"""Completion in a shell: the values of a word, the scripts, and their installation."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command import Command, environment

from palazzo.client import place_completion
from palazzo.sources import host_histories


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
    assert completed(palazzo, "feed", "") == list(host_histories.HOSTS)
    assert completed(palazzo, "settings", "set", "save_i") == ["save_interval"]
    assert completed(palazzo, "mine", "") == [":files"]
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


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_the_script_of_bash_completes(palazzo: Command, home: Path) -> None:
    script = home / "completion.bash"
    script.write_text(palazzo("completion", "bash").out)
    (home / "shop" / "two words.md").write_text("")
    program = f"{shlex.quote(sys.executable)} -m palazzo"
    lines = [
        f'palazzo() {{ {program} "$@"; }}; source {shlex.quote(str(script))}',
        'COMP_WORDS=(palazzo kg quer); COMP_CWORD=2; _palazzo; echo "${COMPREPLY[@]}"',
        'COMP_WORDS=(palazzo mine tw); COMP_CWORD=2; _palazzo; echo "${#COMPREPLY[@]} ${COMPREPLY[0]}"',
    ]
    done = subprocess.run(["bash", "-c", "\n".join(lines)], capture_output=True, env=environment({}), check=True)
    assert done.stdout.decode().split("\n")[:2] == ["query", "1 two words.md"]


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
