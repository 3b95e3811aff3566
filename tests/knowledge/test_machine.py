"""R12: facts do what a plain Python model of them does, whatever is done to them in whatever order.

Everyday a few hundred steps; `PALAZZO_FACTS=10 pytest -m slow tests/knowledge/test_machine.py` runs ten times the slow
suite's 500, which is 5,000.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.knowledge.model import Fact, Model, Refused, State

from palazzo.errors import UsageError
from palazzo.model import Micros
from palazzo.operations import registry
from palazzo.operations.context import Context
from palazzo.operations.shared_views import FactView
from palazzo.text.times import to_iso

FACTOR = float(os.environ.get("PALAZZO_FACTS", "1"))
STEPS_OF_ONE = 50
EPOCH = 1_767_225_600_000_000  # 2026-01-01
DAY = 86_400_000_000

NAMES = ["api", "API", "Auth Service", "auth-service", "redis", "valkey", "--help", "8443", "漢字"]
OTHER_NAMES = ["db", "Api", "auth_service", "cache"]
names = st.sampled_from(NAMES)
any_names = st.sampled_from(NAMES + OTHER_NAMES)
predicates = st.sampled_from(["uses", "Uses", "listens on", "listens-on"])
triples = st.tuples(any_names, predicates, any_names)
wings = st.sampled_from([None, None, "shop"])
days = st.integers(-3, 6)
maybe_days = st.none() | days
speakers = st.sampled_from(["user", "bob"])
choices = st.none() | st.floats(0, 1) | st.floats(0, 1)
"""Chooses one of what there is; None: whatever was generated, which is mostly not there."""


Triple = tuple[str, str, str]


def at(day: int | None) -> int | None:
    return None if day is None else EPOCH + day * DAY


class Facts(RuleBasedStateMachine):
    """Every rule does the same to the palace and to the model; what they answer must be the same."""

    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        self.clock = EPOCH
        where = Path(self.directory.name)
        self.context = Context(
            palace=where / "palace.db", cwd=where, variables={"HOME": str(where)}, clock=lambda: Micros(self.clock)
        )
        with self.context.writing().database.outside_transaction() as raw:
            raw.execute("PRAGMA synchronous=OFF")  # no power is cut here
        self.model = Model()
        self.numbers: dict[str, int] = {}

    @initialize()
    def a_wing_to_ask_about(self) -> None:
        self.both(
            lambda: self.run("kg_add", subject="shop", predicate="has", object="wing", wing="shop"),
            lambda: self.model.add(self.clock, ("shop", "has", "wing"), "shop", None, None, None, "user"),
            self.same_addition,
        )

    def teardown(self) -> None:
        self.context.close()
        self.directory.cleanup()

    def run(self, operation_name: str, /, **request: Any) -> Any:
        operation = registry.operation(operation_name)
        return operation.run(self.context, operation.request(**request))

    def both(self, real: Callable[[], Any], model: Callable[[], Any], same: Callable[[Any, Any], None]) -> None:
        """Do it to both: both refuse, or both answer the same."""
        Facts.steps += 1
        try:
            expected = model()
        except Refused:
            with pytest.raises(UsageError):
                real()
            return
        same(real(), expected)

    def chosen(self, choice: float | None, triple: Triple, wing: str | None) -> tuple[Triple, str | None]:
        """What one of the facts that there are says, and where it holds."""
        facts = list(self.model.now.ordered())
        if choice is None or not facts:
            return triple, wing
        fact = facts[round(choice * (len(facts) - 1))]
        return (fact.subject, fact.predicate, fact.object), fact.wing

    def entity(self, choice: float | None, otherwise: str) -> str:
        """One of the names that something is known by."""
        known = sorted(self.model.now.known() | set(self.model.now.aliases))
        return otherwise if choice is None or not known else known[round(choice * (len(known) - 1))]

    # --- changes -------------------------------------------------------------------------------------------

    @rule(by=st.integers(-5_000, 5_000) | st.integers(0, 5_000_000))
    def time_goes_by(self, by: int) -> None:
        self.clock += by

    @rule(
        again=st.none() | st.none() | choices, triple=triples, wing=wings, start=maybe_days,
        end=st.none() | st.none() | maybe_days, whole_day=st.booleans(),
        confidence=st.none() | st.sampled_from([0.0, 0.4, 0.8, 1.0]), speaker=speakers,
    )  # fmt: skip
    def add(
        self, again: float | None, triple: Triple, wing: str | None, start: int | None, end: int | None,
        whole_day: bool, confidence: float | None, speaker: str,
    ) -> None:  # fmt: skip
        triple, wing = self.chosen(again, triple, wing)
        self.add_one(triple, wing, start, end, whole_day, confidence, speaker)

    def add_one(
        self, triple: Triple, wing: str | None, start: int | None, end: int | None, whole_day: bool,
        confidence: float | None, speaker: str,
    ) -> None:  # fmt: skip
        until = at(end) if not whole_day or end is None else at(end + 1)
        said_end = None if end is None else to_iso(Micros(at(end) or 0))[: 10 if whole_day else 20]
        self.both(
            lambda: self.run(
                "kg_add",
                **dict(zip(("subject", "predicate", "object"), triple, strict=True)),
                wing=wing,
                everywhere=wing is None,
                valid_from=None if start is None else to_iso(Micros(at(start) or 0)),
                valid_to=said_end,
                confidence=confidence,
                stated_by=speaker,
            ),
            lambda: self.model.add(self.clock, triple, wing, at(start), until, confidence, speaker),
            self.same_addition,
        )

    def same_addition(self, result: Any, expected: tuple[int, bool, set[str]]) -> None:
        number, new, changed = expected
        assert (self.numbers.setdefault(result.id, number), result.new, set(result.changed)) == (number, new, changed)

    @rule(names=st.lists(names, min_size=2, max_size=4), predicate=predicates, start=maybe_days)
    def add_some(self, names: list[str], predicate: str, start: int | None) -> None:
        """Facts about one entity, of which there is then something to ask."""
        for thing in names[1:]:
            self.add_one((names[0], predicate, thing), None, start, None, False, None, "user")

    @rule(choice=choices, triple=triples, wing=wings, day=maybe_days)
    def end(self, choice: float | None, triple: Triple, wing: str | None, day: int | None) -> None:
        triple, wing = self.chosen(choice, triple, wing)
        moment = at(day) if day is not None else self.clock - self.clock % 1000
        assert moment is not None
        self.both(
            lambda: self.run(
                "kg_end",
                **dict(zip(("subject", "predicate", "object"), triple, strict=True)),
                wing=wing,
                everywhere=wing is None,
                at=None if day is None else to_iso(Micros(moment)),
            ),
            lambda: self.model.end(self.clock, triple, wing, moment),
            lambda result, numbers: self.same_numbers(result.ended, numbers),
        )

    @rule(choice=choices, triple=triples, new=any_names, wing=wings, day=days, speaker=speakers)
    def supersede(
        self, choice: float | None, triple: Triple, new: str, wing: str | None, day: int, speaker: str
    ) -> None:
        triple, wing = self.chosen(choice, triple, wing)
        moment = EPOCH + day * DAY

        def same(result: Any, expected: tuple[set[int], int, bool]) -> None:
            closed, opened, is_new = expected
            assert self.numbers.setdefault(result.opened.id, opened) == opened
            assert result.new == is_new
            self.same_numbers(result.closed, closed)

        self.both(
            lambda: self.run(
                "kg_supersede",
                **dict(zip(("subject", "predicate", "old"), triple, strict=True)),
                new=new,
                wing=wing,
                everywhere=wing is None,
                at=to_iso(Micros(moment))[:10],
                stated_by=speaker,
            ),
            lambda: self.model.supersede(self.clock, triple, new, wing, moment, speaker),
            same,
        )

    def same_numbers(self, facts: tuple[FactView, ...], numbers: set[int]) -> None:
        assert {self.numbers[fact.id] for fact in facts} == numbers

    @rule(name=st.sampled_from(OTHER_NAMES) | any_names, choice=choices, entity=any_names)
    def alias(self, name: str, choice: float | None, entity: str) -> None:
        entity = self.entity(choice, entity)

        def same(result: Any, new: bool) -> None:
            assert (result.added is not None) == new

        self.both(
            lambda: self.run("kg_alias", name=name, entity=entity),
            lambda: self.model.alias(self.clock, name, entity),
            same,
        )

    @precondition(lambda self: self.model.now.aliases)
    @rule(choice=choices, name=any_names)
    def unalias(self, choice: float | None, name: str) -> None:
        name = self.entity(choice, name)
        self.both(
            lambda: self.run("kg_alias", name=name, remove=True),
            lambda: self.model.unalias(self.clock, name),
            lambda result, _: None,
        )

    @rule(first=choices, second=choices, name=any_names, into=any_names)
    def merge(self, first: float | None, second: float | None, name: str, into: str) -> None:
        name, into = self.entity(first, name), self.entity(second, into)
        self.both(
            lambda: self.run("kg_merge", name=name, into=into),
            lambda: self.model.merge(self.clock, name, into),
            lambda result, _: None,
        )

    @precondition(lambda self: self.model.now.merges)
    @rule(which=st.floats(0, 1), name=st.none() | st.none() | any_names)
    def unmerge(self, which: float, name: str | None) -> None:
        merged = sorted(self.model.now.merges)
        name = merged[round(which * (len(merged) - 1))] if name is None else name
        self.both(
            lambda: self.run("kg_unmerge", name=name),
            lambda: self.model.unmerge(self.clock, name),
            lambda result, _: None,
        )

    @rule(predicate=predicates, functional=st.booleans())
    def declare(self, predicate: str, functional: bool) -> None:
        self.both(
            lambda: self.run("kg_predicate", name=predicate, functional=functional, many=not functional),
            lambda: self.model.declare(self.clock, predicate, functional),
            lambda result, _: None,
        )

    @precondition(lambda self: self.model.undoable)
    @rule()
    def undo(self) -> None:
        self.both(lambda: self.run("undo"), lambda: self.model.undo(self.clock), lambda result, _: None)

    # --- questions -----------------------------------------------------------------------------------------

    @rule(
        choice=choices, name=any_names, known=st.none() | st.floats(0, 1), day=maybe_days, hours=st.integers(-1, 1),
        side=st.sampled_from(["subject", "object", "both"]), hops=st.sampled_from([1, 2]), wing=wings,
    )  # fmt: skip
    def query(
        self, choice: float | None, name: str, known: float | None, day: int | None, hours: int, side: str, hops: int,
        wing: str | None,
    ) -> None:  # fmt: skip
        """Every question at any two moments: `known` chooses one of the moments at which something changed."""
        moments = [moment for moment, _ in self.model.history]
        known_at = None if known is None else moments[round(known * (len(moments) - 1))] or EPOCH - DAY
        as_of = None if day is None else EPOCH + day * DAY + hours
        self.ask(self.entity(choice, name), known_at, as_of, side, hops, wing)

    def ask(self, name: str, known_at: int | None, as_of: int | None, side: str, hops: int, wing: str | None) -> None:
        def same(result: Any, expected: list[tuple[Fact, str, int]]) -> None:
            state = self.model.now if known_at is None else self.model.known_at(known_at)
            assert not result.truncated
            assert self.told(result.facts) == {one.number: self.expected(state, one) for one, _, _ in expected}
            by_number = {self.numbers[fact.id]: fact for fact in result.facts}
            for one, which, hop in expected:
                assert by_number[one.number].hop == hop
                assert which in ("", by_number[one.number].direction)
                assert by_number[one.number].current == one.holds_at(as_of if as_of is not None else self.millisecond)

        self.both(
            lambda: self.run(
                "kg_query",
                entity=name,
                known_at=None if known_at is None else to_iso(Micros(known_at)),
                as_of=None if as_of is None else self.exactly(as_of),
                all=as_of is None,
                direction=side,
                hops=hops,
                wing=wing,
                everywhere=wing is None,
                limit=1000,
            ),
            lambda: self.model.query(name, known_at, as_of, side, hops, wing),
            same,
        )

    @property
    def millisecond(self) -> int:
        return self.clock - self.clock % 1000

    def exactly(self, moment: int) -> str:
        """A time to the microsecond: one before a day is not that day."""
        whole = moment - moment % 1_000_000
        return f"{to_iso(Micros(whole))[:-1]}.{moment - whole:06d}Z"

    def told(self, facts: tuple[FactView, ...]) -> dict[int, tuple[Any, ...]]:
        return {
            self.numbers[fact.id]: (
                fact.subject, fact.predicate, fact.object, fact.scope, fact.valid_from, fact.valid_to,
                fact.confidence, tuple(one.stated_by for one in fact.provenance),
                self.numbers[fact.superseded_by] if fact.superseded_by else None,
            )
            for fact in facts
        }  # fmt: skip

    def expected(self, state: State, fact: Fact) -> tuple[Any, ...]:
        return (
            state.root(fact.subject), fact.predicate, state.root(fact.object), fact.wing,
            None if fact.start is None else to_iso(Micros(fact.start)),
            None if fact.end is None else to_iso(Micros(fact.end)),
            fact.confidence, fact.speakers, fact.superseded_by,
        )  # fmt: skip

    @rule(known=st.floats(0, 1))
    def everything_as_it_was_known(self, known: float) -> None:
        moments = [moment for moment, _ in self.model.history]
        self.compare_all(moments[round(known * (len(moments) - 1))] or EPOCH - DAY)

    @invariant()
    def everything_is_the_same_now(self) -> None:
        self.compare_all(None)
        state = self.model.now
        shown = self.run("kg_conflicts").conflicts
        pairs = {(self.numbers[one.earlier.fact.id], self.numbers[one.later.fact.id]) for one in shown}
        assert pairs == state.conflicts()
        stats = self.run("kg_stats")
        assert (stats.facts, stats.entities) == (len(state.facts), len(state.known()))
        assert (stats.aliases, stats.merges) == (len(state.aliases), len(state.merges))
        for name in sorted(state.known() | set(state.aliases)):
            self.ask(name, None, None, "both", 2, None)
        assert stats.current == sum(one.holds_at(self.millisecond) for one in state.facts.values())

    def compare_all(self, known_at: int | None) -> None:
        state = self.model.now if known_at is None else self.model.known_at(known_at)
        said = None if known_at is None else to_iso(Micros(known_at))
        result = self.run("kg_timeline", known_at=said, limit=1000, everywhere=True)
        assert self.told(result.timeline) == {
            number: self.expected(state, fact) for number, fact in state.facts.items()
        }
        starts = [fact.valid_from or "" for fact in result.timeline]
        assert starts == sorted(starts)


def run_machine(steps: int) -> int:
    """Run the machine; return how many changes and questions it made."""
    Facts.steps = 0
    run_state_machine_as_test(
        Facts,
        settings=settings(
            max_examples=-(-steps // STEPS_OF_ONE),
            stateful_step_count=STEPS_OF_ONE,
            deadline=None,
            derandomize=os.environ.get("PALAZZO_SEED") is None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        ),
    )
    return Facts.steps


def test_facts_do_what_the_model_does() -> None:
    run_machine(100)


@pytest.mark.slow
def test_facts_do_what_the_model_does_for_long() -> None:
    steps = round(500 * FACTOR)
    print(f"{run_machine(steps):,} changes and questions in at least {steps:,} steps, and no difference")
