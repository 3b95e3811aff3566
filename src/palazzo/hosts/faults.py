"""What a host is answered where the hook could not do its work: a line for the person, and a compaction that waits.

The line is given once in a session. A compaction is held back once where words could be lost by it; the next attempt
goes on, and the one after that is held back again. Both are remembered outside the palace (`session_flags`).
"""

from __future__ import annotations

from collections.abc import Mapping

from palazzo.attention import preserving
from palazzo.attention.happening import NOTHING, Event, Happening, Reaction
from palazzo.errors import PalazzoError
from palazzo.hosts.adapter import HostAdapter
from palazzo.hosts.session_flags import SessionFlags

_PROBLEM, _COMPACTION = "problem", "compaction"


class TooLate(PalazzoError):
    """The hook was not done in the time that its host waits. Outside of a compaction this is no fault."""


class Faults:
    """Turns the faults of hooks of one palace into reactions."""

    def __init__(self, palace: str, variables: Mapping[str, str]) -> None:
        self._flags = SessionFlags(palace, variables)
        self._variables = variables
        self._set: list[tuple[str, str, str]] = []
        self._is_abandoned = False

    def react(self, adapter: HostAdapter, event: Event, happening: Happening, error: Exception) -> Reaction:
        """Return what the host is answered instead of what the hook would have said."""
        problem = _sentence(error)
        if event == "pre-compact" and self._would_lose_words(happening):
            return self._before_compaction(adapter, happening, problem)
        if isinstance(error, TooLate) or event not in adapter.shows:
            return NOTHING
        if self._is_abandoned or self._is_set(_PROBLEM, adapter, happening) is False:
            return NOTHING
        return Reaction(tell=f"Palazzo's memory does not work: {problem} 'palazzo doctor' says more.")

    def abandon(self) -> None:
        """Note that no reaction reaches the host: who was not told, or not held back, is so the next time."""
        self._is_abandoned = True
        for name, host, session in self._set:
            self._flags.clear(name, host, session)

    def is_kept(self, adapter: HostAdapter, happening: Happening) -> None:
        """Note that a session was kept before a compaction: the next one that fails is held back again."""
        self._flags.clear(_COMPACTION, adapter.name, happening.session)

    def _before_compaction(self, adapter: HostAdapter, happening: Happening, problem: str) -> Reaction:
        told = f"Palazzo could not keep this session before it is compacted: {problem}"
        if self._is_abandoned:
            return NOTHING  # the host has its answer, and the flag of that stays as it is
        if adapter.holds_back and self._is_set(_COMPACTION, adapter, happening):
            self._is_set(_PROBLEM, adapter, happening)
            return Reaction(tell=f"{told} Compact again to go on without.", hold_back=True)
        self.is_kept(adapter, happening)
        if "pre-compact" not in adapter.shows:
            return NOTHING
        is_first = self._is_set(_PROBLEM, adapter, happening) is not False
        return Reaction(tell=told) if is_first or adapter.holds_back else NOTHING

    def _is_set(self, name: str, adapter: HostAdapter, happening: Happening) -> bool | None:
        """Set a flag as `SessionFlags.set` does, and remember that it was set by this."""
        is_new = self._flags.set(name, adapter.name, happening.session)
        if is_new:
            self._set.append((name, adapter.name, happening.session))
        return is_new

    def _would_lose_words(self, happening: Happening) -> bool:
        """Whether there is something to keep. A session that its host writes nowhere cannot be read anyway."""
        targets = preserving.targets(self._variables, happening.transcript, happening.cwd)
        return any(target.sufficient for target in targets)


def _sentence(error: Exception) -> str:
    if isinstance(error, PalazzoError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'} cannot be used ({error.strerror or type(error).__name__})."
    return f"this is a bug in Palazzo ({type(error).__name__})."
