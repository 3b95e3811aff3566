"""Regular expressions that are compiled when they are first used.

The package has a thousand patterns, and compiling them takes half a second of the start of every process, which uses a
few dozen of them. A service that a hook starts must answer within 0.7 seconds.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def make_regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return an object that behaves as `re.compile(pattern, flags)` does; a mistake in the pattern shows at its use.

    It is no instance of `re.Pattern`, so call its methods; functions such as `re.sub` do not accept it.
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


class _LazyPattern:
    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern, self._requested_flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # `copy` and others look for names that a pattern need not have
            raise AttributeError(name)
        attribute = getattr(re.compile(self.pattern, self._requested_flags), name)
        setattr(self, name, attribute)  # from now on as quick to find as a pattern's own
        return attribute
