"""What a session came to: what was asked, decided, changed, what failed and what mended it, what was left open.

Pure rules over what was said, in its order. Every line is a stretch of somebody's own words; nothing is put in others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from palazzo.derive import digest_cues as cues
from palazzo.derive import digest_work as work
from palazzo.derive.digest_turns import (
    Said,
    Turn,
    bag,
    clauses,
    enumerated,
    is_small_talk,
    option,
    options,
    request_in,
    turns_of,
)
from palazzo.derive.digest_work import Place
from palazzo.text.sentences import Sentence

LineKind = Literal["asked", "decided", "changed", "failed", "fixed", "open"]
__all__ = ["KINDS", "Line", "LineKind", "Said", "digest"]

KINDS: tuple[LineKind, ...] = ("asked", "decided", "changed", "failed", "fixed", "open")


class Line(NamedTuple):
    """A line of a digest: where its words stand, and, where they answer to something, where that stands."""

    kind: LineKind
    item: int
    start: int
    end: int
    about: tuple[int, int, int] | None = None


def digest(messages: Sequence[Said]) -> list[Line]:
    """Return the lines of a session in the order of its words. Small talk has none."""
    reading = _Reading()
    turns = list(turns_of(messages))
    if is_small_talk(turns):
        return []
    for n, turn in enumerate(turns):
        following = turns[n + 1] if n + 1 < len(turns) else None
        reading.take(turn, following)
    return reading.lines(messages)


class _Noted(NamedTuple):
    """A line with the turn that it comes from, and whether it holds no more."""

    line: Line
    turn: int
    text: str


class _Reading:
    """A session that is being read, turn after turn."""

    def __init__(self) -> None:
        self.noted: list[_Noted] = []
        self.agents: list[Turn] = []
        """What the agent has said since the person last spoke."""
        self.worked = False
        """Whether tools ran since the person last spoke."""
        self.any_asked = False
        self.choosing = False
        """Whether the person asked which of several it should be."""
        self.paths: set[str] = set()
        self.calls: dict[str, tuple[str, str]] = {}
        """By a call's id: its tool and command."""
        self.last_call = ("", "")
        self.failing: tuple[str, int] | None = None
        """The program that fails, and the turn."""
        self.edit: tuple[Turn, Place] | None = None
        """The last edit since the failure."""
        self.passed = False
        """Whether it, or anything since the edit, has run without failing."""
        self.tried = False
        """Whether anything was run since it failed that does more than look."""
        self.stale = False
        """Whether the person has spoken since something failed."""
        self.unanswered: tuple[Turn, Place] | None = None
        """A question of the person's to which nobody has said anything."""
        self.waiting: list[_Noted] = []
        """What the agent says is open, until the person answers."""
        self.tasks: list[tuple[Turn, work.Task]] = []

    def take(self, turn: Turn, following: Turn | None) -> None:
        match turn.voice:
            case "call":
                self._call(turn)
            case "result":
                self._result(turn)
            case "agent":
                self._agent(turn, ends=following is None or following.voice == "user")
            case "user":
                self._user(turn)

    def lines(self, messages: Sequence[Said]) -> list[Line]:
        """What was noted and still holds, in the order of the words."""
        self.noted.extend(self.waiting)
        if self.unanswered:
            self._note("open", *self.unanswered)
        for turn, task in self.tasks:
            if task.state in ("pending", "in_progress"):
                self._note("open", turn, task.place)
        order = {message.item: n for n, message in reversed(list(enumerate(messages)))}
        lines = dict.fromkeys(noted.line for noted in self.noted)
        return sorted(lines, key=lambda line: (order[line.item], line.start, KINDS.index(line.kind)))

    def _note(self, kind: LineKind, turn: Turn, place: Place, about: tuple[int, int, int] | None = None) -> _Noted:
        noted = _Noted(Line(kind, turn.item, *place, about), turn.n, turn.text[place[0] : place[1]])
        self.noted.append(noted)
        return noted

    # --- tools ---------------------------------------------------------------------------------------------

    def _call(self, turn: Turn) -> None:
        tool, command = turn.part.name, work.command_of(turn.text, turn.start, turn.end)
        self.last_call = self.calls[turn.part.call] = (tool, command)
        self.worked = True
        listed = work.tasks(tool, turn.text, turn.start, turn.end)
        if listed:
            self.tasks = [(turn, task) for task in listed]
        for place in work.changed(tool, turn.text, turn.start, turn.end):
            path = turn.text[place[0] : place[1]]
            self.edit = (turn, place)
            if path not in self.paths:
                self.paths.add(path)
                self._note("changed", turn, place)

    def _result(self, turn: Turn) -> None:
        tool, command = self.calls.get(turn.part.call, self.last_call)
        for place in work.answers(turn.text, turn.start, turn.end):
            self._note("decided", turn, place)
        found = work.failure(tool or turn.part.name, command, turn.text, turn.start, turn.end, turn.part.failed)
        program = work.program(command)
        if found is None:
            if self.failing and command and not work.only_looks(command):
                self.tried = True
                self.passed = self.passed or program == self.failing[0] or self.edit is not None
            return
        if self.failing is None or (self.stale and program != self.failing[0]):
            self._note("failed", turn, found)
            self.failing, self.edit, self.passed, self.stale = (program, turn.n), None, False, False
            self.tried = False

    def _mended(self, turn: Turn) -> None:
        """Look whether an agent says what mended the failure at hand."""
        if self.failing is None:
            return
        for sentence in turn.sentences:
            strong = re.search(r"^\W*(?:I|Fixed)\b|\bwent from \d", sentence.text) is not None
            if (
                cues.MENDS.search(sentence.text)
                and not cues.FAILS_STILL.search(sentence.text)
                and not cues.QUESTION.search(sentence.text)
                and (self.tried or self.edit or strong)
            ):
                self._note("fixed", turn, sentence[1:])
                self.failing = self.edit = None
                return
        if self.passed and any(cues.FAILS_STILL.search(one.text) for one in turn.sentences):
            self.passed, self.edit = False, None
        if self.passed and self.edit:
            self._note("fixed", *self.edit)
            self.failing = self.edit = None

    # --- the agent -----------------------------------------------------------------------------------------

    def _agent(self, turn: Turn, ends: bool) -> None:
        self.unanswered = None
        self._mended(turn)
        for sentence in turn.sentences:
            text = sentence.text
            if cues.AGENT_DECIDES.search(text) and not cues.NOT_MEANT.search(text) and not cues.QUESTION.search(text):
                self._note("decided", turn, sentence[1:])
                self.choosing = False
        if ends or any(cues.QUESTION.search(one.text) for one in turn.sentences):
            self.agents.append(turn)  # else it announces what it does next
        if ends:
            self.waiting = [
                _Noted(Line("open", turn.item, *place), turn.n, turn.text[place[0] : place[1]])
                for place in self._left(turn)
            ]

    def _left(self, turn: Turn) -> Iterator[Place]:
        """What an agent says is left to do when it has finished."""
        listing = False
        for sentence in turn.sentences:
            text = sentence.text
            if cues.TO_DO_HEADING.match(text):
                listing = True
            elif listing and turn.text[turn.text.rfind("\n", 0, sentence.start) + 1 :][:1] in "-*•0123456789":
                yield sentence[1:]
            else:
                listing = False
                if cues.NOT_MEANT.search(text):
                    continue
                if cues.LEFT.search(text):
                    yield from clauses(sentence)
                elif cues.QUESTION.search(text) and sentence is turn.sentences[-1]:
                    yield sentence[1:]

    # --- the person ----------------------------------------------------------------------------------------

    def _user(self, turn: Turn) -> None:
        failed = work.said_failure(turn.text, turn.start, turn.end)
        if failed and self.failing is None:
            self._note("failed", turn, failed)
            self.failing, self.edit, self.passed, self.tried = ("", turn.n), None, False, False
        self.stale = self.failing is not None
        if self.failing and self.passed and self.edit:
            self._note("fixed", *self.edit)
            self.failing = self.edit = None
        asks = [one for one in turn.sentences if cues.QUESTION.search(one.text)]
        self.unanswered = (turn, asks[-1][1:]) if asks and self.any_asked else None
        said = [one for one in turn.sentences if not cues.SMALL_TALK.match(one.text)]
        spoken = [one for one in said if not cues.KEEP_IT.match(one.text)]
        answered = self._answer(turn, spoken) if self.any_asked else False
        if not self.any_asked:
            self._first(turn, spoken)
        elif not answered:
            self._further(turn, spoken)
        for place in _kept(said):
            if not any(_is_decided(one.line, turn.item, place) for one in self.noted):
                self._note("decided", turn, place)
        if not answered:
            self.noted.extend(one for one in self.waiting if not cues.QUESTION.search(one.text) or not spoken)
        self.waiting = []
        if spoken:
            self.agents, self.worked = [], False

    def _first(self, turn: Turn, spoken: Sequence[Sentence]) -> None:
        if not spoken:
            return
        self.any_asked = True
        listed = list(enumerated(turn, spoken))
        for place in listed:
            self._note("asked", turn, place)
        request = None if listed else request_in(spoken)
        if request:
            self._note("asked", turn, request[1:])
        self.choosing = any(cues.CHOICE.search(one.text) for one in spoken)
        self._rules(turn, [one for one in spoken if one is not request])

    def _further(self, turn: Turn, spoken: Sequence[Sentence]) -> None:
        decided = self._rules(turn, spoken)
        if not decided and self.agents:
            decided = self._rules(turn, [one for one in spoken if not cues.WISHES.search(one.text)], cues.LAYS_DOWN)
        asks = [
            one
            for one in spoken
            if cues.ASKS_FOR.search(one.text) and not cues.PUT_OFF.search(one.text) and one not in decided
        ]
        if not asks and self.worked:
            asks = [one for one in spoken if cues.QUESTION.search(one.text) and not cues.ASKS_BACK.match(one.text)]
        if asks:
            self._note("asked", turn, asks[0][1:])
        self._put_off(turn, [one for one in spoken if one not in asks])

    def _rules(self, turn: Turn, spoken: Sequence[Sentence], rules: re.Pattern[str] = cues.RULES) -> list[Sentence]:
        """Note what a person lays down without being asked."""
        found = [
            one
            for one in spoken
            if rules.search(one.text) and not cues.QUESTION.search(one.text) and not cues.NOT_MEANT.search(one.text)
        ]
        if found:
            self._withdraw(turn, spoken)
        for one in found:
            self._note("decided", turn, one[1:])
        return found

    def _answer(self, turn: Turn, spoken: Sequence[Sentence]) -> bool:
        """Take a message as the answer to what the agent asked or proposed, if it is one."""
        if not spoken or not self._proposed(spoken):
            return False
        meant = [
            one
            for one in spoken
            if not cues.QUESTION.search(one.text)
            and not cues.NOT_MEANT.search(one.text)
            and not cues.UNSURE.search(one.text)
            and (not cues.PUT_OFF.search(one.text) or cues.APPROVES.match(one.text) or cues.RULES.search(one.text))
        ]
        self._put_off(turn, spoken)
        first = spoken[0].text
        if not meant or len(turn.text) - turn.start > _LONGEST_ANSWER:
            return bool(not meant and self._is_put_off(spoken))
        if re.match(r"^(?:start|begin) with\b", first, re.IGNORECASE):
            return True
        self.choosing = False
        self._withdraw(turn, spoken)
        if not any(cues.WITHDRAWS.search(one.text) for one in spoken) or any(
            cues.RULES.search(one.text) for one in meant
        ):
            place = meant[0].start, meant[-1].end
            if any(one.start > place[0] and one.end < place[1] and one not in meant for one in spoken):
                place = meant[0].start, meant[0].end
            self._note("decided", turn, place, self._about(meant))
        asked = [one for one in meant if re.match(r"(?:and |also )?please \w+ \w+", one.text, re.IGNORECASE)]
        if asked and len(meant) > 1:
            self._note("asked", turn, asked[0][1:])
        return True

    def _proposed(self, spoken: Sequence[Sentence]) -> bool:
        """Whether what the agent said can be answered to; a bare yes needs a proposal, not only a comparison."""
        said = [one for agent in self.agents for one in agent.sentences]
        asks = any(cues.QUESTION.search(one.text) for one in said) or any(options(agent) for agent in self.agents)
        if self.worked and not asks and cues.ASKS_FOR.match(spoken[0].text):
            return False  # a piece of work after another
        if any(cues.PROPOSES.search(one.text) for one in said) or any(options(agent) for agent in self.agents):
            return True
        bare = cues.APPROVES.match(spoken[0].text) is not None and len(spoken[0].text.split()) <= _BARE
        return bool(said) and not bare and (self.choosing or any(cues.COMPARES.search(one.text) for one in said))

    def _about(self, meant: Sequence[Sentence]) -> tuple[int, int, int] | None:
        """Find the words of the proposal that a short answer is about."""
        chosen = cues.CHOOSES.match(meant[0].text)
        for agent in reversed(self.agents):
            if chosen and (place := option(agent, chosen["option"].lower())):
                return agent.item, *place
            if chosen or cues.APPROVES.match(meant[0].text):
                for one in reversed(agent.sentences):
                    if cues.PROPOSES.search(one.text):
                        return agent.item, one.start, one.end
        return None

    def _put_off(self, turn: Turn, spoken: Sequence[Sentence]) -> None:
        for one in spoken:
            if (
                cues.PUT_OFF.search(one.text)
                and not cues.QUESTION.search(one.text)
                and not cues.NOT_MEANT.search(one.text)
            ):
                self._note("open", turn, one[1:])

    def _is_put_off(self, spoken: Sequence[Sentence]) -> bool:
        return any(cues.PUT_OFF.search(one.text) for one in spoken)

    def _withdraw(self, turn: Turn, spoken: Sequence[Sentence]) -> None:
        """Take out a decision that is taken back by these words: the last one, if it is about the same."""
        if not any(cues.WITHDRAWS.search(one.text) for one in spoken):
            return
        words = bag(" ".join(one.text for one in spoken))
        for noted in reversed([one for one in self.noted if one.line.kind == "decided" and one.turn < turn.n]):
            if len(words & bag(noted.text)) >= 2 or cues.WITHDRAWS.match(spoken[0].text):
                self.noted.remove(noted)
                return


def _is_decided(line: Line, item: int, place: Place) -> bool:
    return (line.kind, line.item) == ("decided", item) and line.start < place[1] and place[0] < line.end


def _kept(said: Sequence[Sentence]) -> Iterator[Place]:
    """Yield what a person asks to be kept and does not say again: what stands before it, as far as no question is."""
    before: list[Sentence] = []
    for one in said:
        if not cues.KEEP_IT.match(one.text):
            before = [] if cues.QUESTION.search(one.text) else [*before, one][-_KEPT:]
        elif before:
            yield before[0].start, before[-1].end
            before = []


_KEPT = 3
"""Sentences that are kept at most of those that stand before."""
_BARE = 3
"""Words of a yes that says no more than that."""
_LONGEST_ANSWER = 600
"""Characters: what is longer brings something new."""
