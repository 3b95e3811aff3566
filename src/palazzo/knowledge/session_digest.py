"""Session digest: what was asked, decided and changed, what failed and what fixed it, and what was left open.

Pure rules over the messages of a session, in their order. Every line is a verbatim excerpt from its speaker's text;
nobody's words are rephrased.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from palazzo.index import digest_work as work
from palazzo.index.digest_work import Place
from palazzo.knowledge.digest_failures import FailureTracker, TurnPlace
from palazzo.model import Part
from palazzo.sessions import digest_cues as cues
from palazzo.sessions.digest_turns import (
    SessionMessage,
    Turn,
    bag,
    clauses,
    find_topics,
    is_small_talk,
    option,
    options,
    request_in,
    turns_of,
)
from palazzo.text.sentences import Sentence

LineKind = Literal["asked", "decided", "changed", "failed", "fixed", "open"]
__all__ = ["KINDS", "Line", "LineKind", "SessionMessage", "digest"]

KINDS: tuple[LineKind, ...] = ("asked", "decided", "changed", "failed", "fixed", "open")


class Line(NamedTuple):
    """A line of a digest: the location of its words and, if they answer something, the location of that."""

    kind: LineKind
    item: int
    start: int
    end: int
    about: tuple[int, int, int] | None = None


def digest(messages: Sequence[SessionMessage]) -> list[Line]:
    """Return the lines of a session in text order. Small talk has none.

    No line quotes untrusted content. Calls that agents made under its influence, and untrusted results, only show
    whether the command of an earlier failure passes by now.
    """
    reading = _Reading()
    turns = list(turns_of(list(_without_outside_words(messages))))
    own_turns = [turn for turn in turns if not _is_outside(turn.part)]
    if is_small_talk(own_turns):
        return []
    next_turns = {turn.n: next_turn for turn, next_turn in pairwise(own_turns)}
    for turn in turns:
        if _is_outside(turn.part):
            reading.observe(turn)
        else:
            reading.take(turn, next_turns.get(turn.n))
    return reading.lines(messages)


def _is_outside(part: Part) -> bool:
    return part.trust == "external"


def _without_outside_words(messages: Sequence[SessionMessage]) -> Iterator[SessionMessage]:
    for message in messages:
        parts = tuple(part for part in message.parts if part.kind != "text" or not _is_outside(part))
        if parts or not message.parts:
            yield message._replace(parts=parts)


class _LineEntry(NamedTuple):
    """A line with the turn from which it comes and its text."""

    line: Line
    turn: int
    text: str


class _Reading:
    """A session that is read turn by turn."""

    def __init__(self) -> None:
        self.noted: list[_LineEntry] = []
        self.agents: list[Turn] = []
        """The agent's messages since the user last spoke."""
        self.worked = False
        """Whether tools ran since the user last spoke."""
        self.any_asked = False
        self.choosing = False
        """Whether the user asked which of several options to choose."""
        self.paths: set[str] = set()
        self.failures = FailureTracker()
        self.unanswered: tuple[Turn, Place] | None = None
        """A question of the user that has no answer yet."""
        self.waiting: list[_LineEntry] = []
        """Items that the agent calls open, until the user answers."""
        self.tasks: list[tuple[Turn, work.Task]] = []

    def take(self, turn: Turn, next_turn: Turn | None) -> None:
        match turn.voice:
            case "call":
                self._call(turn)
            case "result":
                self._result(turn)
            case "agent":
                self._agent(turn, ends=next_turn is None or next_turn.voice == "user")
            case "user":
                self._user(turn)

    def observe(self, turn: Turn) -> None:
        """Take a call or a result that no line may quote."""
        if turn.voice == "call":
            self.failures.take_call(turn, may_quote=False)
        else:
            self.failures.take_result(turn, may_quote=False)

    def lines(self, messages: Sequence[SessionMessage]) -> list[Line]:
        """Return the notes that still hold, in text order."""
        self._note_fix(self.failures.find_fix())
        self.noted.extend(self.waiting)
        if self.unanswered:
            self._note("open", *self.unanswered)
        for turn, task in self.tasks:
            if task.state in ("pending", "in_progress"):
                self._note("open", turn, task.place)
        order = {message.item: n for n, message in reversed(list(enumerate(messages)))}
        lines = dict.fromkeys(entry.line for entry in self.noted)
        return sorted(lines, key=lambda line: (order[line.item], line.start, KINDS.index(line.kind)))

    def _note(self, kind: LineKind, turn: Turn, place: Place, about: tuple[int, int, int] | None = None) -> _LineEntry:
        entry = _LineEntry(Line(kind, turn.item, *place, about), turn.n, turn.text[place[0] : place[1]])
        self.noted.append(entry)
        return entry

    # --- tools ---------------------------------------------------------------------------------------------

    def _call(self, turn: Turn) -> None:
        self.worked = True
        self.failures.take_call(turn, may_quote=True)
        tasks = work.tasks(turn.part.name, turn.text, turn.start, turn.end)
        if tasks:
            self.tasks = [(turn, task) for task in tasks]
        for place in work.changed(turn.part.name, turn.text, turn.start, turn.end):
            path = turn.text[place[0] : place[1]]
            self.failures.take_edit((turn, place))
            if path not in self.paths:
                self.paths.add(path)
                self._note("changed", turn, place)

    def _result(self, turn: Turn) -> None:
        for place in work.answers(turn.text, turn.start, turn.end):
            self._note("decided", turn, place)
        failure = self.failures.take_result(turn, may_quote=True)
        if failure is not None:
            self._note("failed", turn, failure)

    def _note_fix(self, fix: TurnPlace | None) -> None:
        if fix is not None:
            self._note("fixed", *fix)

    # --- the agent -----------------------------------------------------------------------------------------

    def _agent(self, turn: Turn, ends: bool) -> None:
        self.unanswered = None
        self._note_fix(self.failures.find_stated_fix(turn))
        for sentence in turn.sentences:
            text = sentence.text
            if cues.AGENT_DECIDES.search(text) and not cues.NOT_MEANT.search(text) and not cues.QUESTION.search(text):
                self._note("decided", turn, sentence[1:])
                self.choosing = False
        if ends or any(cues.QUESTION.search(candidate.text) for candidate in turn.sentences):
            self.agents.append(turn)  # else it announces what it does next
        if ends:
            self.waiting = [
                _LineEntry(Line("open", turn.item, *place), turn.n, turn.text[place[0] : place[1]])
                for place in self._find_open_points(turn)
            ]

    def _find_open_points(self, turn: Turn) -> Iterator[Place]:
        """Yield the remaining work that an agent names when it has finished."""
        listing = False
        for sentence in turn.sentences:
            text = sentence.text
            if cues.TO_DO_HEADING.match(text):
                listing = True
            elif listing and _first_of_line(turn.text, sentence.start) in "-*•0123456789":
                yield sentence[1:]
            else:
                listing = False
                if cues.NOT_MEANT.search(text):
                    continue
                if cues.REMAINING_WORK.search(text):
                    yield from clauses(sentence)
                elif cues.QUESTION.search(text) and sentence is turn.sentences[-1]:
                    yield sentence[1:]

    # --- the person ----------------------------------------------------------------------------------------

    def _user(self, turn: Turn) -> None:
        failure = self.failures.take_person(turn)
        if failure is not None:
            self._note("failed", turn, failure)
        self._note_fix(self.failures.find_fix())
        asks = [entry for entry in turn.sentences if cues.QUESTION.search(entry.text)]
        self.unanswered = (turn, asks[-1][1:]) if asks and self.any_asked else None
        sentences = [entry for entry in turn.sentences if not cues.SMALL_TALK.match(entry.text)]
        user_sentences = [entry for entry in sentences if not cues.KEEP_IT.match(entry.text)]
        is_answer = self._answer(turn, user_sentences) if self.any_asked else False
        if not self.any_asked:
            self._first(turn, user_sentences)
        elif not is_answer:
            self._further(turn, user_sentences)
        for place in _find_requested_notes(sentences):
            if not any(_is_decided(entry.line, turn.item, place) for entry in self.noted):
                self._note("decided", turn, place)
        if not is_answer:
            self.noted.extend(
                entry for entry in self.waiting if not cues.QUESTION.search(entry.text) or not user_sentences
            )
        self.waiting = []
        if user_sentences:
            self.agents, self.worked = [], False

    def _first(self, turn: Turn, user_sentences: Sequence[Sentence]) -> None:
        if not user_sentences:
            return
        self.any_asked = True
        topics = list(find_topics(turn, user_sentences))
        for place in topics:
            self._note("asked", turn, place)
        request = None if topics else request_in(user_sentences)
        if request:
            self._note("asked", turn, request[1:])
        self.choosing = any(cues.CHOICE.search(sentence.text) for sentence in user_sentences)
        self._rules(turn, [sentence for sentence in user_sentences if sentence is not request])

    def _further(self, turn: Turn, user_sentences: Sequence[Sentence]) -> None:
        decisions = self._rules(turn, user_sentences)
        if not decisions and self.agents:
            decisions = self._rules(
                turn, [sentence for sentence in user_sentences if not cues.WISHES.search(sentence.text)], cues.LAYS_DOWN
            )
        asks = [
            sentence
            for sentence in user_sentences
            if cues.ASKS_FOR.search(sentence.text)
            and not cues.PUT_OFF.search(sentence.text)
            and sentence not in decisions
        ]
        if not asks and self.worked:
            asks = [
                sentence
                for sentence in user_sentences
                if cues.QUESTION.search(sentence.text) and not cues.ASKS_BACK.match(sentence.text)
            ]
        if asks:
            self._note("asked", turn, asks[0][1:])
        self._put_off(turn, [sentence for sentence in user_sentences if sentence not in asks])

    def _rules(
        self, turn: Turn, user_sentences: Sequence[Sentence], rules: re.Pattern[str] = cues.RULES
    ) -> list[Sentence]:
        """Record rules that a person states unprompted."""
        decisions = [
            sentence
            for sentence in user_sentences
            if rules.search(sentence.text)
            and not cues.QUESTION.search(sentence.text)
            and not cues.NOT_MEANT.search(sentence.text)
        ]
        if decisions:
            self._withdraw(turn, user_sentences)
        for sentence in decisions:
            self._note("decided", turn, sentence[1:])
        return decisions

    def _answer(self, turn: Turn, user_sentences: Sequence[Sentence]) -> bool:
        """Take a message as the answer to an agent's question or proposal, if it is one."""
        if not user_sentences or not self._has_proposal(user_sentences):
            return False
        answer_sentences = [
            sentence
            for sentence in user_sentences
            if not cues.QUESTION.search(sentence.text)
            and not cues.NOT_MEANT.search(sentence.text)
            and not cues.UNSURE.search(sentence.text)
            and (
                not cues.PUT_OFF.search(sentence.text)
                or cues.APPROVES.match(sentence.text)
                or cues.RULES.search(sentence.text)
            )
        ]
        self._put_off(turn, user_sentences)
        first = user_sentences[0].text
        if not answer_sentences or len(turn.text) - turn.start > _LONGEST_ANSWER:
            return bool(not answer_sentences and self._is_put_off(user_sentences))
        if re.match(r"^(?:start|begin) with\b", first, re.IGNORECASE):
            return True
        self.choosing = False
        self._withdraw(turn, user_sentences)
        if not any(cues.WITHDRAWS.search(sentence.text) for sentence in user_sentences) or any(
            cues.RULES.search(sentence.text) for sentence in answer_sentences
        ):
            place = answer_sentences[0].start, answer_sentences[-1].end
            if any(
                sentence.start > place[0] and sentence.end < place[1] and sentence not in answer_sentences
                for sentence in user_sentences
            ):
                place = answer_sentences[0].start, answer_sentences[0].end
            self._note("decided", turn, place, self._about(answer_sentences))
        requests = [
            sentence
            for sentence in answer_sentences
            if re.match(r"(?:and |also )?please \w+ \w+", sentence.text, re.IGNORECASE)
        ]
        if requests and len(answer_sentences) > 1:
            self._note("asked", turn, requests[0][1:])
        return True

    def _has_proposal(self, user_sentences: Sequence[Sentence]) -> bool:
        """Return whether the agent's text can be answered; a bare yes needs a proposal, not only a comparison."""
        agent_sentences = [sentence for agent in self.agents for sentence in agent.sentences]
        asks = any(cues.QUESTION.search(sentence.text) for sentence in agent_sentences) or any(
            options(agent) for agent in self.agents
        )
        if self.worked and not asks and cues.ASKS_FOR.match(user_sentences[0].text):
            return False  # a piece of work after another
        if any(cues.PROPOSES.search(sentence.text) for sentence in agent_sentences) or any(
            options(agent) for agent in self.agents
        ):
            return True
        bare = cues.APPROVES.match(user_sentences[0].text) is not None and len(user_sentences[0].text.split()) <= _BARE
        return (
            bool(agent_sentences)
            and not bare
            and (self.choosing or any(cues.COMPARES.search(sentence.text) for sentence in agent_sentences))
        )

    def _about(self, answer_sentences: Sequence[Sentence]) -> tuple[int, int, int] | None:
        """Find the words of the proposal that a short answer refers to."""
        choice = cues.CHOOSES.match(answer_sentences[0].text)
        for agent in reversed(self.agents):
            if choice and (place := option(agent, choice["option"].lower())):
                return agent.item, *place
            if choice or cues.APPROVES.match(answer_sentences[0].text):
                for sentence in reversed(agent.sentences):
                    if cues.PROPOSES.search(sentence.text):
                        return agent.item, sentence.start, sentence.end
        return None

    def _put_off(self, turn: Turn, user_sentences: Sequence[Sentence]) -> None:
        for sentence in user_sentences:
            if (
                cues.PUT_OFF.search(sentence.text)
                and not cues.QUESTION.search(sentence.text)
                and not cues.NOT_MEANT.search(sentence.text)
            ):
                self._note("open", turn, sentence[1:])

    def _is_put_off(self, user_sentences: Sequence[Sentence]) -> bool:
        return any(cues.PUT_OFF.search(sentence.text) for sentence in user_sentences)

    def _withdraw(self, turn: Turn, user_sentences: Sequence[Sentence]) -> None:
        """Remove a decision that these words withdraw: the last one, if it has the same subject."""
        if not any(cues.WITHDRAWS.search(candidate.text) for candidate in user_sentences):
            return
        words = bag(" ".join(candidate.text for candidate in user_sentences))
        for entry in reversed(
            [candidate for candidate in self.noted if candidate.line.kind == "decided" and candidate.turn < turn.n]
        ):
            if len(words & bag(entry.text)) >= 2 or cues.WITHDRAWS.match(user_sentences[0].text):
                self.noted.remove(entry)
                return


def _first_of_line(text: str, at: int) -> str:
    """Return the first character of the line in which a place lies."""
    start = text.rfind("\n", 0, at) + 1
    return text[start : start + 1]


def _is_decided(line: Line, item: int, place: Place) -> bool:
    return (line.kind, line.item) == ("decided", item) and line.start < place[1] and place[0] < line.end


def _find_requested_notes(sentences: Sequence[Sentence]) -> Iterator[Place]:
    """Yield the text that a person asks to keep and does not repeat: the sentences before, back to a question."""
    candidates: list[Sentence] = []
    for sentence in sentences:
        if not cues.KEEP_IT.match(sentence.text):
            candidates = [] if cues.QUESTION.search(sentence.text) else [*candidates, sentence][-_MAX_NOTE_SENTENCES:]
        elif candidates:
            yield candidates[0].start, candidates[-1].end
            candidates = []


_MAX_NOTE_SENTENCES = 3
"""Maximum number of preceding sentences that are kept."""
_BARE = 3
"""Maximum words of an agreement that says nothing else."""
_LONGEST_ANSWER = 600
"""In characters: a longer answer contains something new."""
