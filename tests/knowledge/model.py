"""Facts as they should be, in plain Python: every state there was is kept whole, and every question is a loop.

It knows nothing of how Palazzo keeps facts. Times are microseconds; what was recorded at the same moment counts with
the last state of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace


class Refused(Exception):
    """What was asked for cannot be done, and changes nothing."""


@dataclass(frozen=True)
class Fact:
    """A fact; `number` orders facts by when each was first stated, and is kept for ever."""

    number: int
    subject: str
    predicate: str
    object: str
    wing: str | None
    start: int | None
    end: int | None
    confidence: float
    speakers: tuple[str, ...]
    superseded_by: int | None = None

    def holds_at(self, moment: int) -> bool:
        return (self.start is None or self.start <= moment) and (self.end is None or moment < self.end)

    def overlaps(self, other: Fact) -> bool:
        def before(a: int | None, b: int | None) -> bool:
            return a is None or b is None or a < b

        return before(self.start, other.end) and before(other.start, self.end)


def fold(name: str) -> str:
    """`Auth-Service` and `auth service` are one spelling."""
    return " ".join(name.lower().replace("-", " ").replace("_", " ").split())


@dataclass(frozen=True)
class State:
    """All that is believed at one moment."""

    facts: dict[int, Fact] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    merges: dict[str, str] = field(default_factory=dict)
    functional: dict[str, bool] = field(default_factory=dict)
    order: dict[str, int] = field(default_factory=dict, compare=False)
    """Every entity there ever was, in order: shared by all states."""

    def root(self, name: str) -> str:
        while name in self.merges:
            name = self.merges[name]
        return name

    def known(self) -> set[str]:
        """Entities that a fact, an alias or a merge is about."""
        ends = {end for fact in self.facts.values() for end in (fact.subject, fact.object)}
        return ends | set(self.aliases.values()) | set(self.merges) | set(self.merges.values())

    def find(self, name: str) -> str | None:
        """The entity that a name means; Refused where several fit."""
        if name in self.aliases:
            return self.aliases[name]
        if name in self.known():
            return name
        alike = {one for one in self.known() if fold(one) == fold(name)}
        alike |= {entity for alias, entity in self.aliases.items() if fold(alias) == fold(name)}
        if len({self.root(one) for one in alike}) > 1:
            raise Refused("ambiguous")
        return min(alike, key=self.order.__getitem__) if alike else None

    def ordered(self) -> Iterator[Fact]:
        return (self.facts[number] for number in sorted(self.facts))

    def triple(self, subject: str, predicate: str, thing: str) -> list[Fact]:
        return [
            one
            for one in self.ordered()
            if (self.root(one.subject), one.predicate, self.root(one.object))
            == (self.root(subject), predicate, self.root(thing))
        ]

    def conflicts(self) -> set[tuple[int, int]]:
        """Pairs of facts that cannot both hold."""
        found = list(self.ordered())
        return {
            (one.number, other.number)
            for n, one in enumerate(found)
            for other in found[n + 1 :]
            if self.functional.get(one.predicate, False)
            and (one.predicate, one.wing, self.root(one.subject))
            == (other.predicate, other.wing, self.root(other.subject))
            and self.root(one.object) != self.root(other.object)
            and one.overlaps(other)
        }


class Model:
    """The states there were, the newest last, and those that an undo goes back to."""

    def __init__(self) -> None:
        self.history: list[tuple[int, State]] = [(0, State())]
        self.undoable: list[State] = []
        self.spelling: dict[str, str] = {}
        self.number = 0

    @property
    def now(self) -> State:
        return self.history[-1][1]

    def known_at(self, moment: int) -> State:
        """What was believed at a moment."""
        return [state for at, state in self.history if at <= moment][-1]

    def recorded(self, clock: int) -> int:
        """When a change of now is recorded: in whole milliseconds, and never before the one before it."""
        return max(clock - clock % 1000, self.history[-1][0])

    # --- changes -------------------------------------------------------------------------------------------

    def add(
        self,
        clock: int,
        triple: tuple[str, str, str],
        wing: str | None,
        start: int | None,
        end: int | None,
        confidence: float | None,
        speaker: str,
    ) -> tuple[int, bool, set[str]]:
        """State a fact; return its number, whether it is new, and what changed of it."""
        if start is not None and end is not None and start >= end:
            raise Refused("inverted")
        state = self.now
        found = [state.find(name) or name for name in (triple[0], triple[2])]
        subject, thing = (self._entity(name) for name in found)
        predicate = self._spelled(triple[1])
        return self._stated(clock, state, (subject, predicate, thing), wing, start, end, confidence, speaker)

    def _stated(
        self,
        clock: int,
        state: State,
        triple: tuple[str, str, str],
        wing: str | None,
        start: int | None,
        end: int | None,
        confidence: float | None,
        speaker: str,
    ) -> tuple[int, bool, set[str]]:
        same = [one for one in state.triple(*triple) if (one.wing, one.end) == (wing, end)]
        if not same:
            self.number += 1
            sure = 1.0 if confidence is None else confidence
            self._become(clock, state, Fact(self.number, *triple, wing, start, end, sure, (speaker,)))
            return self.number, True, set()
        old = same[0]
        new = old
        if start is not None and (old.start is None or start < old.start):
            new = replace(new, start=start)
        if confidence is not None and confidence > old.confidence:
            new = replace(new, confidence=confidence)
        if speaker not in old.speakers:
            new = replace(new, speakers=(*old.speakers, speaker))
        changed = {
            told
            for name, told in (("start", "valid_from"), ("confidence", "confidence"), ("speakers", "provenance"))
            if getattr(new, name) != getattr(old, name)
        }
        if changed:
            self._become(clock, state, new)
        return old.number, False, changed

    def holding(self, triple: tuple[str, str, str], wing: str | None, at: int) -> list[Fact]:
        """The facts that may end at a moment; Refused where there are none."""
        state = self.now
        subject, thing, predicate = state.find(triple[0]), state.find(triple[2]), self.spelling.get(fold(triple[1]))
        if subject is None or thing is None or predicate is None:
            raise Refused("unknown")
        found = [
            one
            for one in state.triple(subject, predicate, thing)
            if one.wing == wing and one.holds_at(at) and (one.start is None or one.start < at)
        ]
        if not found:
            raise Refused("does not hold")
        return found

    def end(self, clock: int, triple: tuple[str, str, str], wing: str | None, at: int) -> set[int]:
        """End facts; return their numbers."""
        found = self.holding(triple, wing, at)
        self._become(clock, self.now, *(replace(one, end=at, superseded_by=None) for one in found))
        return {one.number for one in found}

    def supersede(
        self, clock: int, triple: tuple[str, str, str], new: str, wing: str | None, at: int, speaker: str
    ) -> tuple[set[int], int, bool]:
        """End facts and begin another; return the numbers of those that ended, the other's, and whether it is new."""
        found, state = self.holding(triple, wing, at), self.now
        successor = state.find(new) or new
        if state.root(successor) == state.root(found[0].object):
            raise Refused("itself")
        stated = found[0].subject, found[0].predicate, successor
        already = [one for one in state.triple(*stated) if (one.wing, one.end) == (wing, None) and one.holds_at(at)]
        is_new = False
        self._entity(successor)
        if already:
            number = already[0].number
        else:
            number, is_new, _ = self._stated(clock, state, stated, wing, at, None, None, speaker)
            self.undoable.pop()  # one change together with what follows
        closed = [replace(self.now.facts[one.number], end=at, superseded_by=number) for one in found]
        if (
            already
            and self.now.functional.get(stated[1], False)
            and (already[0].start is None or already[0].start < at)
        ):
            closed.append(replace(already[0], start=at))
        self._become(clock, self.now, *closed)
        if not already:
            self.undoable[-1] = state
        return {one.number for one in found}, number, is_new

    def alias(self, clock: int, name: str, entity: str) -> bool:
        """Let a name mean an entity; return whether that is new."""
        state = self.now
        target = state.find(entity)
        if target is None:
            raise Refused("unknown")
        found = state.find(name)
        if found is not None and state.root(found) != state.root(target):
            raise Refused("taken")
        if found is not None and (name in state.aliases or name in state.known()):
            return False
        self._change(clock, replace(state, aliases={**state.aliases, name: target}))
        return True

    def unalias(self, clock: int, name: str) -> None:
        """Let a name mean nothing else."""
        if name not in self.now.aliases:
            raise Refused("no alias")
        left = {alias: entity for alias, entity in self.now.aliases.items() if alias != name}
        self._change(clock, replace(self.now, aliases=left))

    def merge(self, clock: int, name: str, into: str) -> None:
        """Make two entities one."""
        state = self.now
        first, second = state.find(name), state.find(into)
        if first is None or second is None or first in state.merges or state.root(second) == state.root(first):
            raise Refused("cannot merge")
        self._change(clock, replace(state, merges={**state.merges, first: second}))

    def unmerge(self, clock: int, name: str) -> None:
        """Take a merge apart."""
        found = name if name in self.now.merges else self.now.find(name)
        if found not in self.now.merges:
            raise Refused("not merged")
        self._change(clock, replace(self.now, merges={a: b for a, b in self.now.merges.items() if a != found}))

    def declare(self, clock: int, predicate: str, functional: bool) -> None:
        """Say whether a predicate has one object at a time."""
        name = self._spelled(predicate)
        if self.now.functional.get(name, False) != functional:
            state = replace(self.now, functional={**self.now.functional, name: functional})
            self.undoable.append(self.now)
            self.history[-1] = (self.history[-1][0], state)  # no time of belief is kept of it

    def undo(self, clock: int) -> None:
        """Go back to the state before the last change."""
        if not self.undoable:
            raise Refused("nothing to undo")
        before = self.undoable.pop()
        now = self.now
        if (before.facts, before.aliases, before.merges) == (now.facts, now.aliases, now.merges):
            self.history[-1] = (self.history[-1][0], before)
        else:
            self.history.append((self.recorded(clock), before))

    def _entity(self, name: str) -> str:
        self.now.order.setdefault(name, len(self.now.order))
        return name

    def _spelled(self, predicate: str) -> str:
        return self.spelling.setdefault(fold(predicate), predicate)

    def _become(self, clock: int, state: State, *facts: Fact) -> None:
        self._change(clock, replace(state, facts={**state.facts, **{fact.number: fact for fact in facts}}))

    def _change(self, clock: int, state: State) -> None:
        self.undoable.append(self.now)
        self.history.append((self.recorded(clock), state))

    # --- questions -----------------------------------------------------------------------------------------

    def query(
        self, name: str, known_at: int | None, as_of: int | None, side: str, hops: int, wing: str | None
    ) -> list[tuple[Fact, str, int]]:
        """What is known about an entity: facts, the side it or its neighbour is on, and over how many facts."""
        state = self.now if known_at is None else self.known_at(known_at)
        entity = state.find(name)
        if entity is None:
            return []
        root = state.root(entity)

        def wanted(one: Fact) -> bool:
            return (as_of is None or one.holds_at(as_of)) and (wing is None or one.wing in (None, wing))

        first = []
        for one in state.ordered():
            sides = {"subject": state.root(one.subject) == root, "object": state.root(one.object) == root}
            if wanted(one) and any(here for which, here in sides.items() if side in (which, "both")):
                first.append((one, "subject" if sides["subject"] and side != "object" else "object", 1))
        if hops == 1:
            return first
        seen = {one.number for one, _, _ in first}
        found = list(first)
        neighbours = {state.root(end) for one, _, _ in first for end in (one.subject, one.object)} - {root}
        for one in state.ordered():
            ends = (state.root(one.subject), state.root(one.object))
            if one.number not in seen and wanted(one) and neighbours & set(ends):
                found.append((one, "", 2))
        return found
