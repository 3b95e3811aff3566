"""Regular expressions for a process that lives for milliseconds: compiled once, and kept as SQLite keeps a plan.

Importing `re` takes seven milliseconds and compiling a hundred patterns seventy more, which is longer than a hook that
runs by itself may take. What compiling made of a pattern is a list of numbers, from which the interpreter's own `_sre`
makes it again at once. `kept` returns these lists for a file, and `remember` takes them from it; they belong to one
version of Python, which the file's name says. Where nothing is remembered, or nothing of a pattern, `compiled` does as
`re.compile` does. Whoever imports `re` anyway has no use for this, and nothing changes for them.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

IGNORE_CASE, MULTILINE, DOT_ALL = 2, 8, 16
"""`re.IGNORECASE` and others, as the numbers that they are."""
FILE = f"patterns-{sys.implementation.cache_tag}-{sys.hexversion:x}.bin"
"""Another for each version, whose lists may differ."""

_code_cache: dict[tuple[str, int], Any] = {}
_new_patterns: dict[tuple[str, int], None] = {}
"""What was compiled in this process after something was remembered, and so is missing in the file."""


def compile_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern ready to be searched for."""
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
    """Take what `kept` returned in an earlier process; nothing of what is no such thing, or was damaged."""
    import marshal

    if raw[:_DIGEST] != _digest(raw[_DIGEST:]):
        return
    try:
        _code_cache.update(marshal.loads(raw[_DIGEST:]))  # noqa: S302 - this user's own, as a .pyc is
    except (EOFError, ValueError, TypeError):
        return


def dump_cache() -> bytes:
    """Return what was compiled here with what was remembered; nothing where none of it is new."""
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
    """Tells a whole file from one that was cut, or has a flipped bit: no more than that."""
    import zlib

    return len(body).to_bytes(4, "big") + zlib.crc32(body).to_bytes(4, "big")


def _code(pattern: str, flags: int) -> tuple[Any, ...]:
    """What `re.compile` hands to `_sre.compile` after the pattern itself."""
    from re import _compiler, _parser  # type: ignore[attr-defined]

    tree = _parser.parse(pattern, flags)
    state = tree.state
    names: list[str | None] = [None] * state.groups
    for name, number in state.groupdict.items():
        names[number] = name
    flags |= state.flags
    code = b"".join(opcode.to_bytes(4, sys.byteorder) for opcode in _compiler._code(tree, flags))
    return flags, code, state.groups - 1, dict(state.groupdict), tuple(names)
