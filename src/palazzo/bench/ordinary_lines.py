"""50,000 lines of ordinary code, in which redaction should mark nothing. Committed before the rules.

They come from what every developer's machine has: Python's standard library, the packages installed beside it, this
repository. Files are taken in the order of the hash of their name, at most 300 lines of each: two fifths of the lines
from the Python code of the standard library and the installed packages, two fifths from everything else they hold
(JSON, C headers, JavaScript, metadata, lists of hashes), one fifth from this repository. Files are held out from tuning
by the same hash.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LINES = 50_000
LINES_OF_A_FILE = 300
ROOT = Path(__file__).resolve().parents[3]
TEXT = frozenset(
    f".{suffix}"
    for suffix in (
        *("pyi", "c", "h", "js", "ts", "json", "jsonl", "toml", "md", "rst", "txt", "cfg", "ini", "yml", "yaml", "sh"),
        *("bat", "rs", "go", "lock", "html", "css", "xml", "svg", "pyx", "cmake", "in", "tcl", "csv"),
    )
)
METADATA = frozenset(["RECORD", "METADATA", "WHEEL", "Makefile", "Setup.local"])
NOT_ORDINARY = ("/idlelib/", "/tests/security/", "/palazzo/bench/", "/test/certdata/")
"""`idlelib` is not installed everywhere; the other two contain secrets intentionally."""


@dataclass(frozen=True)
class Excerpt:
    """The first lines of one file."""

    name: str
    text: str
    held_out: bool


def excerpts(lines: int = LINES) -> Iterator[Excerpt]:
    """Yield excerpts until `lines` lines are reached."""
    files = _files()
    own = [entry for entry in files if entry[0].startswith("palazzo/")]
    python = [entry for entry in files if not entry[0].startswith("palazzo/") and entry[1].suffix == ".py"]
    remainder = [entry for entry in files if not entry[0].startswith("palazzo/") and entry[1].suffix != ".py"]
    for share, kind in ((lines // 5, own), (lines * 2 // 5, python), (lines * 2 // 5, remainder)):
        yield from _until(kind, share)


def _files() -> list[tuple[str, Path]]:
    paths_by_name: dict[str, Path] = {}
    for scheme in ("stdlib", "platlib"):
        base = Path(sysconfig.get_path(scheme))
        paths_by_name |= {
            f"{scheme}/{path.relative_to(base).as_posix()}": path for path in base.rglob("*") if _is_eligible(path)
        }
    git = shutil.which("git")  # without a repository, or without git, its share is left out
    git_output = _list_tracked_files(git) if git else b""
    paths_by_name |= {
        f"palazzo/{name}": path for name in git_output.decode().split("\0") if _is_eligible(path := ROOT / name)
    }
    entries = sorted(paths_by_name.items(), key=lambda named: _hash(named[0]))
    return [(name, path) for name, path in entries if not any(part in f"/{name}" for part in NOT_ORDINARY)]


def _list_tracked_files(git: str) -> bytes:
    command = [git, "ls-files", "-z"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).stdout  # noqa: S603 - fixed words


def _is_eligible(path: Path) -> bool:
    return path.suffix in TEXT | {".py"} or path.name in METADATA


def _until(files: list[tuple[str, Path]], lines: int) -> Iterator[Excerpt]:
    for name, path in files:
        if lines <= 0:
            return
        try:
            excerpt_lines = path.read_text("utf-8").split("\n")[: min(lines, LINES_OF_A_FILE)]
        except (OSError, UnicodeDecodeError):
            continue
        lines -= len(excerpt_lines)
        yield Excerpt(name, "\n".join(excerpt_lines), _hash(name)[0] % 2 == 1)


def _hash(name: str) -> bytes:
    return hashlib.blake2b(name.encode(), digest_size=8).digest()
