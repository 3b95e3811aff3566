"""A command line is read into the request of its command; what does not fit is named, with the help to look at."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.faces.cli.command import Command

from palazzo.errors import UsageError
from palazzo.faces.cli import argument_parser, command_table
from palazzo.faces.cli.argument_parser import UnreadableLine, parse
from palazzo.faces.cli.common_options import Common
from palazzo.features.branches.contract import DiffRequest
from palazzo.features.mining.contract import MineFilesRequest
from palazzo.features.search.contract import SearchRequest, ShowRequest
from palazzo.operations import registry
from palazzo.operations.operation import describe_fields

JSON = Common(as_json=True)


@pytest.mark.parametrize(
    ("line", "request_", "common"),
    [
        ("search retry", SearchRequest("retry"), Common()),
        ("search why double retries", SearchRequest("why double retries"), Common()),
        ("search x --limit 3 y --wing=api --json", SearchRequest("x y", limit=3, wing="api"), JSON),
        ("search --tag a x --tag=b --explain", SearchRequest("x", tags=("a", "b"), explain=True), Common()),
        ("search x --limit 3 --limit 4", SearchRequest("x", limit=4), Common()),
        ("search x --no-external", SearchRequest("x", external=False), Common()),
        ("search x --no-external --external", SearchRequest("x", external=True), Common()),
        ("search x --min-importance=0.5", SearchRequest("x", min_importance=0.5), Common()),
        ("search x --wing=-a --room -b", SearchRequest("x", wing="-a", room="-b"), Common()),
        ("search a=b -", SearchRequest("a=b -"), Common()),
        ("search -- --limit -x --", SearchRequest("--limit -x --"), Common()),
        ("--json search x", SearchRequest("x"), JSON),
        ("--palace a search x --palace=b --debug", SearchRequest("x"), Common(palace=Path("b"), debug=True)),
        ("--palace a search x", SearchRequest("x"), Common(palace=Path("a"))),
        ("show 3f2a --context 2 --raw --no-pager", ShowRequest("3f2a", context=2, raw=True), Common(no_pager=True)),
        ("diff main.. --limit 7", DiffRequest("main..", limit=7), Common()),
        ("mine a b --no-repair", MineFilesRequest((Path("a"), Path("b"))), Common()),
    ],
)
def test_a_line_is_read_into_its_request(line: str, request_: Any, common: Common) -> None:
    read = parse(line.split(" "))
    assert (read.request(), read.common) == (request_, common)


@pytest.mark.parametrize(
    ("line", "words", "common"),
    [
        ([], (), Common()),
        (["--json"], (), JSON),
        (["kg"], ("kg",), Common()),
        (["--json", "kg", "--debug"], ("kg",), Common(as_json=True, debug=True)),
    ],
)
def test_a_line_may_name_no_command(line: list[str], words: tuple[str, ...], common: Common) -> None:
    read = parse(line)
    assert (read.words, read.command, read.common) == (words, None, common)
    assert not read.asks_help


@pytest.mark.parametrize(
    ("line", "words"),
    [(["-h"], ()), (["kg", "--help"], ("kg",)), (["kg", "add", "-h"], ("kg", "add")), (["rm", "x", "-yh"], ("rm",))],
)
def test_help_may_be_asked_for_anywhere(line: list[str], words: tuple[str, ...]) -> None:
    read = parse(line)
    assert (read.words, read.asks_help) == (words, True)


@pytest.mark.parametrize(
    ("line", "message", "words"),
    [
        ("searc x", "No such command 'searc'. Did you mean 'search'?", ()),
        ("kg ad x", "No such command 'ad'. Did you mean 'add'?", ("kg",)),
        ("search x --limt 3", "No such option: --limt. Did you mean '--limit'?", ("search",)),
        ("search x --qqq", "No such option: --qqq.", ("search",)),
        ("search x -qh", "No such option: -q.", ("search",)),
        ("status --yes", "No such option: --yes.", ("status",)),
        ("search x --limit", "Option '--limit' requires an argument.", ("search",)),
        ("search x --json=1", "Option '--json' does not take a value.", ("search",)),
        ("search x --limit many", "Invalid value for '--limit': 'many' is not a valid integer.", ("search",)),
        ("check-duplicate x --threshold y", "Invalid value for '--threshold': 'y' is not a valid float.", None),
        ("wake-up --depth abyss", "Invalid value for '--depth': 'abyss' is not one of ", ("wake-up",)),
        ("search", "Missing argument 'QUERY'.", ("search",)),
        ("kg add a b", "Missing argument 'OBJECT'.", ("kg", "add")),
        ("show a b c", "Got unexpected extra arguments (b c).", ("show",)),
        ("wake-up now", "Got unexpected extra argument (now).", ("wake-up",)),
        ("--palace", "Option '--palace' requires an argument.", ()),
        ("--qqq search x", "No such option: --qqq.", ()),
    ],
)
def test_what_does_not_fit_is_named_with_the_command(line: str, message: str, words: tuple[str, ...] | None) -> None:
    with pytest.raises(UnreadableLine) as raised:
        parse(line.split())
    assert str(raised.value).startswith(message)
    assert words in (None, raised.value.words)


def test_an_empty_path_is_no_directory() -> None:
    with pytest.raises(UnreadableLine, match=r"'PATH': it is empty; '\.' is the current directory"):
        parse(["mine", ""])


def test_a_text_may_come_from_standard_input_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "facts.jsonl").write_text("{}")
    assert parse(["kg", "add-many", str(tmp_path / "facts.jsonl")]).request().facts == "{}"
    for line in (["remember"], ["remember", "-"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a note"), encoding="utf-8"))
        read = parse(line)
        assert (read.reads_input, read.request().text) == (True, "a note")
    assert not parse(["search", "x"]).reads_input


def test_a_field_and_its_alias_are_one_and_not_both_are_given() -> None:
    assert parse(["update-drawer", "a", "--text", "b"]).request() == parse(["update-drawer", "a", "b"]).request()
    with pytest.raises(UsageError, match="--text is another name of TEXT: give only one"):
        parse(["update-drawer", "a", "b", "--text", "c"]).request()


def test_every_field_of_every_command_has_a_type_that_the_parser_reads() -> None:
    for name in registry.FEATURES:
        command = command_table.load_command(registry.split_command_name(name))
        if command is None:
            continue
        for field in describe_fields(command.request):
            texts = [field.choices[0] if field.choices else "on" if field.is_flag else "3"]
            value = argument_parser._value(field, texts)
            kind = type(value[0]) if isinstance(value, tuple) else type(value)
            assert field.choices or field.about.hidden or kind in (str, int, float, bool) or issubclass(kind, Path)
            assert isinstance(value, tuple) == (field.is_repeatable and not field.about.words)


def test_what_does_not_fit_is_told_with_the_help_to_look_at(palazzo: Command) -> None:
    ran = palazzo("kg", "add", "a", "b")
    assert (ran.code, ran.error) == (2, "palazzo: Missing argument 'OBJECT'. See 'palazzo help kg add'.\n")
    ran = palazzo("--json", "serch")
    assert (ran.code, '"hint": "See \'palazzo help\'."' in ran.error) == (2, True)


def test_reading_a_line_imports_no_parser_library(tmp_path: Path) -> None:
    code = (
        "import sys; from palazzo.faces.cli import main; main(['search', 'x', '--palace', 'nowhere.db']);"
        "sys.exit(bool({'typer', 'click', 'argparse', 'pydantic'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
