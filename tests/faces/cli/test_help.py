"""Help and version, and that starting is cheap: what a command does not need is not imported."""

from __future__ import annotations

import shlex
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, environment

from palazzo import __version__
from palazzo.faces.cli import app, argument_parser, command_table, help_pages
from palazzo.operations import registry
from palazzo.operations.command_groups import COMMAND_GROUPS
from palazzo.operations.operation import describe_fields


def test_the_version_is_printed(palazzo: Command) -> None:
    assert palazzo("--version").out == f"palazzo {__version__}\n"
    assert palazzo("-V").out == palazzo("--palace", "x", "--version").out


def test_the_help_names_every_command(palazzo: Command) -> None:
    ran = palazzo("--help")
    assert (ran.code, ran.out) == (0, palazzo("help").out)
    for name in command_table.command_names():
        assert name in ran.out


def test_every_command_is_in_one_group_with_a_short_summary() -> None:
    listed = [name for group in COMMAND_GROUPS for name in group.summaries]
    assert len(listed) == len(set(listed))
    assert set(command_table.command_names()) == set(listed), "name its group in its contract"
    summaries = [text for group in COMMAND_GROUPS for text in group.summaries.values()]
    assert [text for text in summaries if len(text) > 58 or text.endswith(".")] == []
    assert len(COMMAND_GROUPS[0].summaries) <= 8


def test_the_help_of_the_program_is_short(palazzo: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert palazzo("--help").out.count("\n") <= 80


PAGES = [
    (),
    *((group,) for group in registry.GROUPS),
    *map(registry.split_command_name, registry.FEATURES),
    *(tuple(name.split()) for name in command_table.LOCAL_COMMANDS),
]


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_no_help_is_wider_than_the_terminal(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    for width in (40, 80):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = help_pages.page(words)
        assert lines is not None
        assert [line for line in lines if len(line) > width] == []
        assert "<bool>" not in "\n".join(lines)


@pytest.mark.parametrize("words", PAGES[1 + len(registry.GROUPS) :], ids=" ".join)
def test_every_command_has_examples_that_the_parser_reads(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = command_table.load_command(words)
    assert command is not None
    assert command.examples, "give the Operation `examples`"
    read: list[object] = []

    def note(line: argument_parser.CommandLine) -> int:
        read.append(line.command)
        return 0

    monkeypatch.setattr(app, "run_line", note)
    for example in command.examples:
        parts = shlex.split(example.replace("<(", "").rstrip(")"))
        typed = parts[parts.index("palazzo") + 1 :]
        typed = list(takewhile(lambda word: word not in ("<", ">"), typed))
        assert app.run(typed) == 0, f"{example}: {capsys.readouterr().err}"
        assert len(f"  $ {example}") <= 80
    assert read == [command] * len(command.examples)


def test_help_is_the_same_in_all_spellings(palazzo: Command) -> None:
    page = palazzo("help", "kg", "add").out
    assert page == palazzo("kg", "add", "--help").out == palazzo("--palace", "x", "kg", "add", "-h").out
    assert palazzo("help", "rm").out == palazzo("forget", "--help").out
    assert palazzo("help", "kg").out == palazzo("kg").out
    ran = palazzo("help", "serch")
    assert (ran.code, ran.error) == (
        2,
        "palazzo: No such command 'serch'. Did you mean 'search'? 'palazzo help' lists the commands.\n",
    )


def test_help_as_json_has_groups_options_and_examples(palazzo: Command) -> None:
    everything = palazzo.json("help")
    assert [group["group"] for group in everything["groups"]][:2] == ["Everyday", "Look back"]
    page = palazzo.json("help", "ls")
    assert (page["command"], page["aliases"]) == ("palazzo list-drawers", ["ls"])
    assert "--until UNTIL" in page["options"]
    assert page["examples"]


@pytest.mark.parametrize("name", registry.FEATURES)
def test_a_flag_is_described_for_what_giving_it_does(name: str) -> None:
    for field in describe_fields(registry.operation(name).request):
        if field.is_flag and field.default is True:
            assert field.option.startswith("--no-")
            assert field.help.endswith("."), field.name
            assert field.help != field.about.help
        assert not field.option.startswith("--before")


def test_aliases_and_earlier_spellings_still_work(palazzo: Command, shop: Path) -> None:
    assert palazzo.json("ls")["total"] == palazzo.json("list-drawers")["total"] > 0
    assert palazzo.json("ls", "--until", "2001-01-01") == palazzo.json("ls", "--before", "2001-01-01")
    note = palazzo.json("remember", "The port is 8443.")["id"]
    note = palazzo.json("update-drawer", note, "The port is 9443.")["id"]
    note = palazzo.json("update-drawer", note, "--text", "The port is 10443.")["id"]
    assert palazzo.json("show", note)["entries"][0]["text"] == "The port is 10443."
    assert palazzo("update-drawer", note, "one", "--text", "two").code == 2
    assert palazzo.json("pause", "1h")["until"]
    assert palazzo.json("pause", "--for", "2h")["until"]
    assert palazzo.json("rm", note, "--yes")["forgotten"]


@pytest.mark.parametrize("name", registry.FEATURES)
def test_every_command_shows_its_help_and_every_option(
    palazzo: Command, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    ran = palazzo(*registry.split_command_name(name), "--help")
    assert ran.code == 0
    for field in describe_fields(registry.operation(name).request):
        shown = field.placeholder if field.about.positional else field.option
        assert (shown in ran.out) is not field.about.hidden
        assert not any(alias in ran.out for alias in field.about.aliases)
    for shared in ("--palace", "--json", "--debug"):
        assert shared in ran.out


@pytest.mark.parametrize(
    ("typed", "meant"), [(["serch"], "search"), (["kg", "ad"], "add"), (["diary", "raed"], "read")]
)
def test_a_command_that_is_mistyped_is_answered_with_what_is_near(
    palazzo: Command, typed: list[str], meant: str
) -> None:
    ran = palazzo(*typed)
    assert (ran.code, f"Did you mean '{meant}'" in ran.error) == (2, True)


def test_help_breaks_lines_by_the_screen_alone(palazzo: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = palazzo("install", "--help").out
    assert "palazzo install TARGET [DIR] [OPTIONS]" in shown
    assert "a copy of each changed file is kept beside\nit; 'palazzo uninstall' removes everything again." in shown


def imported(home: Path, *arguments: str) -> set[str]:
    """The modules that a command imports."""
    program = (
        "import sys; from palazzo.faces.cli import main; main(sys.argv[1:]);"
        "print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, env=environment({}), cwd=home, check=True
    )
    return set(done.stderr.decode().split())


def test_the_version_needs_neither_the_parser_nor_the_engine(home: Path) -> None:
    found = imported(home, "--version")
    assert not {"dataclasses", "rich", "apsw", "numpy", "palazzo.palace", "palazzo.operations"} & found


@pytest.mark.parametrize("arguments", [["--help"], ["help"], ["__complete", "se"]], ids=" ".join)
def test_help_and_completion_need_nothing(home: Path, arguments: list[str]) -> None:
    assert not {"rich", "apsw", "dataclasses", "re", "palazzo.model"} & imported(home, *arguments)


def test_completion_of_options_needs_the_command_only_once(home: Path) -> None:
    words = ["__complete", "search", "--"]
    assert "palazzo.features.search.contract" in imported(home, *words)
    assert not {"palazzo.features.search.contract", "dataclasses"} & imported(home, *words)


def test_settings_need_no_palace_and_no_model(home: Path) -> None:
    assert not {"apsw", "numpy", "onnxruntime"} & imported(home, "settings", "get", "redact", "--json")


def test_json_needs_no_rich(home: Path, shop: Path) -> None:
    assert not {"rich.table", "onnxruntime"} & imported(home, "status", "--json")


def test_a_search_without_vectors_loads_no_model(home: Path, shop: Path) -> None:
    assert "onnxruntime" not in imported(home, "search", "port", "--json")


def test_what_does_not_search_needs_no_numpy(home: Path, shop: Path) -> None:
    for arguments in (["status"], ["wake-up"], ["remember", "a note"], ["show", "abcdef"]):
        assert "numpy" not in imported(home, *arguments, "--json")
