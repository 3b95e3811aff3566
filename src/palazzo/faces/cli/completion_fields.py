"""Arguments and options of a command, for completion: read from a small file, since importing a command takes longer.

The file is written when a command is first completed, and again when the command's module or the program has changed.
It lies in the cache directory and holds nothing but what help shows.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from palazzo import __version__, paths
from palazzo.faces.cli.command_table import load_command, module_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from palazzo.faces.cli.local_command import LocalCommand
    from palazzo.operations.operation import FieldDescription, Operation

_FILE_WORDS = frozenset(["PATH", "FILE", "DIR"])
"""Words in the placeholder of a value that is a file."""


class CompletedField:
    """An argument or an option: how it is spelled, and which values it takes."""

    __slots__ = (
        "help",
        "is_file",
        "is_flag",
        "is_positional",
        "is_repeatable",
        "name",
        "option",
        "spellings",
        "values",
    )

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.name: str = row["name"]
        self.option: str = row["option"]
        self.help: str = row["help"]
        self.spellings: list[str] = row["spellings"]
        self.values: list[str] = row["values"]
        self.is_positional: bool = row["positional"]
        self.is_flag: bool = row["flag"]
        self.is_repeatable: bool = row["repeatable"]
        self.is_file: bool = row["file"]


def completed_fields(words: Sequence[str]) -> list[CompletedField] | None:
    """Return the fields of a command; None if the words name no command."""
    module = module_of(words)
    if module is None:
        return None
    file = paths.cache_directory() / "completion" / f"{'-'.join(words)}.json"
    identity = [__version__, *_identity(module)]
    rows = _read(file, identity)
    if rows is None:
        command = load_command(words)
        if command is None:
            return None
        rows = _rows(command)
        _write(file, {"identity": identity, "rows": rows})
    return [CompletedField(row) for row in rows]


def _identity(module: str) -> list[int | str]:
    """Return what changes when a module changes."""
    file = Path(paths.import_root(), *module.split(".")).with_suffix(".py")
    try:
        state = file.stat()
    except OSError:  # packed in an archive
        return [module]
    return [str(file), state.st_mtime_ns, state.st_size]


def _read(file: Path, identity: list[Any]) -> list[Mapping[str, Any]] | None:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        rows: list[Mapping[str, Any]] = document["rows"]
        return rows if document["identity"] == identity else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(file: Path, document: Mapping[str, Any]) -> None:
    """Write the file in one step; without it the next completion is only slower."""
    temporary = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.write_text(json.dumps(document), encoding="utf-8")
        temporary.replace(file)
    except OSError:
        return


def _rows(command: Operation[Any, Any] | LocalCommand) -> list[Mapping[str, Any]]:
    from palazzo.operations.operation import describe_fields

    rows = [_row(field) for field in describe_fields(command.request) if not field.about.hidden]
    asks = getattr(command, "destructive", False) or getattr(command, "asks", None) is not None
    if asks and all(row["option"] != "--yes" for row in rows):
        yes = {"name": "yes", "option": "--yes", "help": "", "spellings": ["--yes", "-y"], "values": []}
        rows.append({**yes, "positional": False, "flag": True, "repeatable": False, "file": False})
    return rows


def _row(field: FieldDescription) -> Mapping[str, Any]:
    words = "".join(letter if letter.isalpha() else " " for letter in field.placeholder).split()
    return {
        "name": field.name,
        "option": field.option,
        "help": field.help,
        "spellings": [*([] if field.about.positional else [field.option]), *field.about.aliases],
        "values": [*(field.choices or field.about.values)],
        "positional": field.about.positional,
        "flag": field.is_flag,
        "repeatable": field.is_repeatable,
        "file": "Path" in str(field.type) or field.about.file or bool(_FILE_WORDS & set(words)),
    }
