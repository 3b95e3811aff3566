"""The answer to a host if a hook fails: one line for the person, and a delayed compaction.

A session gets the line once. A compaction is held back once if it could lose words; the next attempt goes on, and the
one after that is held back again. Flags outside the palace record both (`session_flags`).
"""

from __future__ import annotations

from collections.abc import Mapping

from palazzo.errors import PalazzoError
from palazzo.faces.hooks.session_flags import SessionFlags
from palazzo.hosts.adapter import HostAdapter
from palazzo.injection import compaction_notes
from palazzo.injection.hook_events import NOTHING, Event, HookEvent, Reaction

_PROBLEM, _LATE, _COMPACTION = "problem", "late", "compaction"


_WAITED_FOR = ("session-start", "prompt")
"""Events whose answers a session needs, so that the user is informed if one is too late."""


class TooLate(PalazzoError):
    """The hook exceeded its time limit."""


class Faults:
    """Turns the faults of hooks of one palace into reactions."""

    def __init__(self, palace: str, variables: Mapping[str, str]) -> None:
        self._flags = SessionFlags(palace, variables)
        self._variables = variables
        self._set: list[tuple[str, str, str]] = []
        self._is_abandoned = False

    def react(self, adapter: HostAdapter, event: Event, session_event: HookEvent, error: Exception) -> Reaction:
        """Return the reaction that replaces that of the failed hook."""
        problem = _sentence(error)
        if event == "pre-compact" and self._would_lose_words(session_event):
            return self._before_compaction(adapter, session_event, problem)
        is_late = isinstance(error, TooLate)
        if event not in adapter.shows or (is_late and event not in _WAITED_FOR):
            return NOTHING
        flag = _LATE if is_late else _PROBLEM
        if self._is_abandoned or self._set_flag(flag, adapter, session_event) is False:
            return NOTHING
        if is_late:
            return Reaction(tell=f"Palazzo did not answer in time, so nothing from memory was added here: {problem}")
        return Reaction(tell=f"Palazzo's memory does not work: {problem} See 'palazzo doctor'.")

    def abandon(self) -> None:
        """Note that no reaction reaches the host, so that the next one shows the line or delays the compaction."""
        self._is_abandoned = True
        for name, host, session in self._set:
            self._flags.clear(name, host, session)

    def note_capture(self, adapter: HostAdapter, session_event: HookEvent) -> None:
        """Note that a session was captured before a compaction: the next failure delays the compaction again."""
        self._flags.clear(_COMPACTION, adapter.name, session_event.session)

    def _before_compaction(self, adapter: HostAdapter, session_event: HookEvent, problem: str) -> Reaction:
        line = f"Palazzo could not save this session before its compaction: {problem}"
        if self._is_abandoned:
            return NOTHING  # the host has another answer already, and that one's flag stays
        if adapter.holds_back and self._set_flag(_COMPACTION, adapter, session_event):
            self._set_flag(_PROBLEM, adapter, session_event)
            return Reaction(tell=f"{line} Compact again to continue without saving.", hold_back=True)
        self.note_capture(adapter, session_event)
        if "pre-compact" not in adapter.shows:
            return NOTHING
        is_first = self._set_flag(_PROBLEM, adapter, session_event) is not False
        return Reaction(tell=line) if is_first or adapter.holds_back else NOTHING

    def _set_flag(self, name: str, adapter: HostAdapter, session_event: HookEvent) -> bool | None:
        """Set a flag as `SessionFlags.set` does, and remember it for `abandon`."""
        is_new = self._flags.set(name, adapter.name, session_event.session)
        if is_new:
            self._set.append((name, adapter.name, session_event.session))
        return is_new

    def _would_lose_words(self, session_event: HookEvent) -> bool:
        """Return whether the session has a transcript or a directory to capture. Other sessions lose nothing."""
        targets = compaction_notes.targets(self._variables, session_event.transcript, session_event.cwd)
        return any(target.sufficient for target in targets)


def _sentence(error: Exception) -> str:
    if isinstance(error, PalazzoError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'} cannot be used ({error.strerror or type(error).__name__})."
    return f"this is a bug in Palazzo ({type(error).__name__})."
