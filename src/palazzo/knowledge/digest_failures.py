"""The failures of a session and what fixed them, followed turn by turn for its digest.

Pure: one failure at a time, from the line that states it to the edit, the command or the words that ended it.
"""

from __future__ import annotations

import re

from palazzo.index import digest_work as work
from palazzo.index.digest_work import Place
from palazzo.sessions import digest_cues as cues
from palazzo.sessions.digest_turns import Turn

TurnPlace = tuple[Turn, Place]
"""Words of a turn: the turn, and where they are in its text."""


class FailureTracker:
    """The current failure of a session that is read turn by turn.

    Turns under the influence of untrusted content (`may_quote` is False) only show whether the failing command passes
    by now: none of their words is returned.
    """

    def __init__(self) -> None:
        self._calls: dict[str, tuple[str, str]] = {}
        """The tool and command of each call, by its id."""
        self._last_call = ("", "")
        self._commands: dict[str, TurnPlace] = {}
        """Where the command of each call is, by the call's id."""
        self._failing: str | None = None
        """The failing program."""
        self._failing_run: TurnPlace | None = None
        """The command that failed."""
        self._edit: TurnPlace | None = None
        """The last edit since the failure."""
        self._passed = False
        """Whether it, or anything since the edit, has run without failure."""
        self._remedies: list[TurnPlace | None] = []
        """The commands since the failure that did more than read, and did not fail, until the failing program ran;
        None for one that may not be quoted.
        """
        self._rerun: TurnPlace | None = None
        """The command with which the failing program has run without failure since then."""
        self._tried = False
        """Whether anything ran since the failure that does more than read."""
        self._stale = False
        """Whether the user has spoken since something failed."""

    def take_call(self, turn: Turn, may_quote: bool) -> None:
        """Take a call of a tool."""
        place = work.command_place(turn.text, turn.start, turn.end)
        call = (turn.part.name, "" if place is None else turn.text[place[0] : place[1]])
        self._calls[turn.part.call] = call
        if may_quote:
            self._last_call = call
            if place is not None:
                self._commands[turn.part.call] = (turn, place)

    def take_edit(self, edit: TurnPlace) -> None:
        """Take the place where a call names a file that it changes."""
        self._edit = edit

    def take_result(self, turn: Turn, may_quote: bool) -> Place | None:
        """Take the result of a call; return the line that states a new failure, if there is one."""
        tool, command = self._calls.get(turn.part.call, self._last_call if may_quote else ("", ""))
        if self._failing is None and not may_quote:
            return None
        failure = work.failure(tool or turn.part.name, command, turn.text, turn.start, turn.end, turn.part.failed)
        program = work.program(command)
        if failure is None:
            if self._failing is not None and command and not work.only_looks(command):
                self._take_run(program, turn.part.call, may_quote)
            return None
        if program == self._failing:
            self._rerun = None
        if may_quote and (self._failing is None or (self._stale and program != self._failing)):
            self._begin(program, turn)
            self._stale = False
            return failure
        return None

    def take_person(self, turn: Turn) -> Place | None:
        """Take a message of the person; return the line that reports a new failure, if there is one."""
        failure = work.said_failure(turn.text, turn.start, turn.end) if self._failing is None else None
        if failure is not None:
            self._begin("", turn)
        self._stale = self._failing is not None
        return failure

    def find_stated_fix(self, turn: Turn) -> TurnPlace | None:
        """Return the words in which an agent states what fixed the current failure, or else what the work shows."""
        if self._failing is None:
            return None
        for sentence in turn.sentences:
            strong = re.search(r"^\W*(?:I|Fixed)\b|\bwent from \d", sentence.text) is not None
            if (
                cues.MENDS.search(sentence.text)
                and not cues.FAILS_STILL.search(sentence.text)
                and not cues.QUESTION.search(sentence.text)
                and (self._tried or self._edit or strong)
            ):
                self._failing = self._edit = None
                return turn, sentence[1:]
        if self._passed and any(cues.FAILS_STILL.search(candidate.text) for candidate in turn.sentences):
            self._passed, self._edit, self._rerun = False, None, None
        return self.find_fix()

    def find_fix(self) -> TurnPlace | None:
        """Return what was edited before the failing command passed, if it did; the failure is over then.

        Without an edit it is the only other command that was run, or that the failing command was run again.
        """
        fix = self._edit if self._passed and self._edit else self._rerun
        if fix is not None and fix is self._rerun and len(self._remedies) == 1:
            fix = self._remedies[0] or fix
        if self._failing is None or fix is None:
            return None
        self._failing = self._edit = None
        return fix

    def _take_run(self, program: str, call: str, may_quote: bool) -> None:
        """Take a command that has run without failure since the current failure began."""
        self._tried = self._tried or may_quote
        self._passed = self._passed or program == self._failing or (may_quote and self._edit is not None)
        if self._rerun is not None:
            return
        if program == self._failing:
            self._rerun = self._commands.get(call) or self._failing_run
        else:
            self._remedies.append(self._commands.get(call))

    def _begin(self, program: str, turn: Turn) -> None:
        self._failing, self._failing_run = program, self._commands.get(turn.part.call)
        self._edit, self._rerun, self._remedies = None, None, []
        self._passed = self._tried = False
