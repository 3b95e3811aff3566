"""The registry: every operation says what it is, so that every face can."""

from __future__ import annotations

import dataclasses
import typing
from pathlib import Path

import pytest

from palazzo.faces.cli import renderers
from palazzo.model import Micros
from palazzo.operations import registry
from palazzo.operations.operation import PERSON_ONLY, Operation, describe_fields
from palazzo.operations.serialisation import to_json

NAMES = list(registry.FEATURES)


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_has_a_name_help_and_frozen_types(name: str) -> None:
    found = registry.operation(name)
    assert isinstance(found, Operation)
    assert found.name == name
    assert len(found.help.split("\n")[0]) > 15
    assert found.help.split("\n")[0].endswith(".")
    for kind in (found.request, found.result):
        assert dataclasses.is_dataclass(kind)
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(object.__new__(kind), "anything", 1)  # noqa: B010 - its class is not known here
        assert (kind.__doc__ or "").rstrip().endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_every_field_of_a_request_has_help(name: str) -> None:
    for field in describe_fields(registry.operation(name).request):
        assert field.about.help.endswith("."), field.name


@pytest.mark.parametrize("name", NAMES)
def test_what_destroys_can_be_looked_at_first(name: str) -> None:
    found = registry.operation(name)
    if found.destructive:
        assert "dry_run" in {field.name for field in describe_fields(found.request)}


def test_every_operation_has_a_renderer_and_a_row_in_the_interface() -> None:
    for name in NAMES:
        assert callable(renderers.renderer(registry.operation(name)))


def test_the_users_guide_names_every_operation() -> None:
    root = Path(__file__).parents[2]
    told = "\n".join(path.read_text() for path in [root / "README.md", *(root / "docs").rglob("*.md")])
    for name in NAMES:
        assert f"palazzo {' '.join(registry.split_command_name(name))}" in told


@dataclasses.dataclass(frozen=True)
class Inner:
    """A part."""

    at: Micros
    ended: Micros | None
    path: Path


@dataclasses.dataclass(frozen=True)
class Outer:
    """A result."""

    parts: tuple[Inner, ...]
    counts: dict[str, int]
    aside: typing.Annotated[str, PERSON_ONLY] = "not for programs"


def test_results_become_json_with_times_in_utc() -> None:
    result = Outer(
        (Inner(Micros(1_772_619_751_000_000), None, Path("/a")), Inner(Micros(0), Micros(1), Path("b"))), {"n": 1}
    )
    assert to_json(result) == {
        "parts": [
            {"at": "2026-03-04T10:22:31Z", "ended": None, "path": "/a"},
            {"at": None, "ended": "1970-01-01T00:00:00Z", "path": "b"},
        ],
        "counts": {"n": 1},
    }
