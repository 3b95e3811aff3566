"""The program `palazzo` that hosts are told to start: this installation's program, under its most stable path.

Hosts that a desktop starts do not have a person's PATH, so an absolute path is stored. pipx and uv create links to
their programs in `~/.local/bin`. Such a link stays the same when its target is replaced. So if one program has two
paths, the one on PATH is stored.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import palazzo
from palazzo.errors import UsageError
from palazzo.paths import cache_directory

_NAME = "palazzo.exe" if sys.platform == "win32" else "palazzo"


def own_program(variables: Mapping[str, str]) -> str:
    """Return the absolute path of this installation's program; UsageError if there is none."""
    on_path = found_on_path(variables)
    own = next((path for path in _list_program_paths() if path.is_file()), None)
    if own is None and on_path is None:
        raise UsageError(
            f"There is no program '{_NAME}' that a host could start: install Palazzo with pipx, uv or pip first."
        )
    program_path = on_path if own is None or (on_path is not None and _is_same(on_path, own)) else own
    cache = cache_directory(variables).parent
    if program_path is None or Path(os.path.realpath(program_path)).is_relative_to(os.path.realpath(cache)):
        raise UsageError(
            f"{program_path} is in a cache and may disappear: install Palazzo permanently, with 'uv tool install "
            "palazzo' or pipx, and run this from there."
        )
    return str(program_path)


def found_on_path(variables: Mapping[str, str]) -> Path | None:
    """Return the program that a shell finds, by the path at which it finds it."""
    executable = shutil.which("palazzo", path=variables.get("PATH", ""))
    return None if executable is None else Path(os.path.normpath(Path(executable).absolute()))


def is_same_program(first: str, second: str) -> bool:
    """Return whether two paths lead to the same file."""
    return _is_same(Path(first), Path(second))


def _list_program_paths() -> Iterator[Path]:
    """Yield possible paths of the program: beside this Python, and where `pip install --prefix` puts programs."""
    yield Path(sys.executable).absolute().parent / _NAME
    package = Path(palazzo.__file__).absolute().parent
    if len(package.parents) > 3:
        yield package.parents[3] / ("Scripts" if sys.platform == "win32" else "bin") / _NAME
        yield package.parents[2] / "Scripts" / _NAME


def _is_same(first: Path, second: Path) -> bool:
    return os.path.normcase(os.path.realpath(first)) == os.path.normcase(os.path.realpath(second))
