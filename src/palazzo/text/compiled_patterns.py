"""Regular expressions for a process that lives for milliseconds: compiled once and cached.

Importing `re` takes seven milliseconds and compiling a hundred patterns seventy more, which is longer than a hook
without a service may take. A compiled pattern is a list of numbers, from which the interpreter's own `_sre` rebuilds it
at once. `dump_cache` returns these lists for a file, and `remember` reads them from it; they belong to one version of
Python, which the file's name states. Without a cached list for a pattern, `compile_pattern` works like `re.compile`.
Code that imports `re` anyway does not need this, and nothing changes for it.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

IGNORE_CASE, MULTILINE, DOT_ALL = 2, 8, 16
"""The numeric values of `re.IGNORECASE` and others."""
FILE = f"patterns-{sys.implementation.cache_tag}-{sys.hexversion:x}.bin"
"""A separate file for each version, since the compiled lists may differ."""

_code_cache: dict[tuple[str, int], Any] = {}
_new_patterns: dict[tuple[str, int], None] = {}
"""The patterns that this process compiled after the file was loaded, and that are missing in the file."""


def compile_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a compiled pattern."""
    cache_entry = _code_cache.get((pattern, flags))
    if cache_entry is not None:
        import _sre  # type: ignore[import-not-found]

        all_flags, code, *groups = cache_entry
        try:
            regex: re.Pattern[str] = _sre.compile(pattern, all_flags, memoryview(code).cast("I").tolist(), *groups)
        except (RuntimeError, TypeError, ValueError):
            _code_cache.pop((pattern, flags))  # not what this Python makes of it
        else:
            return regex
    import re

    _new_patterns[pattern, flags] = None
    return re.compile(pattern, flags)


def remember(raw: bytes) -> None:
    """Load what `dump_cache` returned in an earlier process; ignore anything invalid or damaged."""
    import marshal

    if raw[:_DIGEST] != _digest(raw[_DIGEST:]):
        return
    try:
        _code_cache.update(marshal.loads(raw[_DIGEST:]))  # noqa: S302 - this user's own, as a .pyc is
    except (EOFError, ValueError, TypeError):
        return


def dump_cache() -> bytes:
    """Return all compiled and remembered patterns, serialised; nothing if none is new."""
    if not _new_patterns:
        return b""
    import marshal

    try:
        body = marshal.dumps(_code_cache | {key: _code(*key) for key in _new_patterns})
    except (ImportError, AttributeError):
        return b""  # another Python's `re`, built differently inside: it compiles each time
    return _digest(body) + body


_DIGEST = 8


def _digest(body: bytes) -> bytes:
    """Return a checksum that detects a truncated file or a flipped bit, and no more than that."""
    import zlib

    return len(body).to_bytes(4, "big") + zlib.crc32(body).to_bytes(4, "big")


def _code(pattern: str, flags: int) -> tuple[Any, ...]:
    """Return the arguments that `re.compile` passes to `_sre.compile` after the pattern itself."""
    from re import _compiler, _parser  # type: ignore[attr-defined]

    tree = _parser.parse(pattern, flags)
    state = tree.state
    names: list[str | None] = [None] * state.groups
    for name, number in state.groupdict.items():
        names[number] = name
    flags |= state.flags
    code = b"".join(opcode.to_bytes(4, sys.byteorder) for opcode in _compiler._code(tree, flags))
    return flags, code, state.groups - 1, dict(state.groupdict), tuple(names)
