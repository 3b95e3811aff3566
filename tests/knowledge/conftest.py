"""For tests of facts: a palace and a clock that stands until it is moved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from palazzo.model import Micros
from palazzo.operations import registry
from palazzo.operations.context import Context
from palazzo.text.times import parse_when

NOON = "2026-06-15T12:00:00Z"
"""Monday, 15 June 2026: where the clock of these tests stands."""


class Kg:
    """Operations on one palace, at a time of one's own."""

    def __init__(self, directory: Path) -> None:
        self.now = parse_when(NOON, Micros(0))
        self.directory = directory
        self.context = Context(
            palace=directory / "palace.db",
            cwd=directory,
            variables={"HOME": str(directory), "PALAZZO_SERVICE": "off"},
            clock=lambda: self.now,
        )

    def __call__(self, operation_name: str, /, *given: Any, **named: Any) -> Any:
        """Run an operation; `kg("add", …)` is `kg_add`."""
        name = f"kg_{operation_name}" if f"kg_{operation_name}" in registry.FEATURES else operation_name
        operation = registry.operation(name)
        return operation.run(self.context, operation.request(*given, **named))

    def at(self, when: str) -> Kg:
        """Let it be that time."""
        self.now = parse_when(when, self.now)
        return self

    def says(self, entity: str, **named: Any) -> list[str]:
        """What is known about an entity, in words."""
        return [told(fact) for fact in self("query", entity, **named).facts]


def told(fact: Any) -> str:
    """A fact in words."""
    return f"{fact.subject} {fact.predicate} {fact.object}"


@pytest.fixture
def kg(tmp_path: Path) -> Iterator[Kg]:
    made = Kg(tmp_path)
    yield made
    made.context.close()
