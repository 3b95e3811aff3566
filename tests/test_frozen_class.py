"""A frozen class is a frozen data class with slots in all that anybody can see of it."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import InitVar, dataclass, field
from typing import Any

import pytest

from palazzo.frozen_class import frozen


@dataclass(frozen=True, slots=True)
class Standard:
    """What the standard decorator makes."""

    name: str
    tags: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list, compare=False)
    secret: str = field(default="", repr=False)


@frozen
class Own:
    """The same, by the decorator under test."""

    name: str
    tags: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list, compare=False)
    secret: str = field(default="", repr=False)


@frozen
class Longer(Own):
    """A subclass, with a method of its own that takes part."""

    size: int = 0

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("a size is not negative")


@frozen
class Nothing:
    """A class without a field."""


@frozen
class Cased:
    """A class that defines what equality is."""

    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cased) and self.name.lower() == other.name.lower()

    def __hash__(self) -> int:
        return hash(self.name.lower())


ARGUMENTS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    (("a",), {}),
    (("a", ("x",), ["n"]), {"secret": "s"}),
    ((), {"name": "a", "notes": ["m"]}),
]


@pytest.mark.parametrize(("values", "named"), ARGUMENTS)
def test_it_shows_compares_and_hashes_as_the_standard_one(values: tuple[Any, ...], named: dict[str, Any]) -> None:
    own, standard = Own(*values, **named), Standard(*values, **named)
    assert repr(own) == repr(standard).replace("Standard", "Own")
    assert "secret" not in repr(own)
    assert dataclasses.asdict(own) == dataclasses.asdict(standard)
    for other_values, other_named in ARGUMENTS:
        other = Own(*other_values, **other_named)
        assert (own == other) is (standard == Standard(*other_values, **other_named))
        assert own != other or hash(own) == hash(other)
    assert own.__eq__(standard) is NotImplemented


def test_each_instance_has_a_default_of_its_own() -> None:
    Own("a").notes.append("kept apart")
    assert Own("b").notes == []


@pytest.mark.parametrize(
    ("values", "named"), [((), {}), (("a", (), [], "s", 1), {}), (("a",), {"name": "b"}), (("a",), {"colour": 1})]
)
def test_wrong_arguments_are_refused_in_the_words_of_the_standard_one(
    values: tuple[Any, ...], named: dict[str, Any]
) -> None:
    with pytest.raises(TypeError) as standard:
        Standard(*values, **named)
    with pytest.raises(TypeError) as own:
        Own(*values, **named)
    assert str(own.value) == str(standard.value).replace("Standard", "Own")


@pytest.mark.parametrize("change", [lambda own: setattr(own, "name", "b"), lambda own: delattr(own, "name")])
def test_nothing_of_it_can_be_changed(change: Any) -> None:
    own = Own("a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        change(own)
    assert own.name == "a"
    assert not hasattr(own, "__dict__")


def test_it_can_be_replaced_matched_copied_and_pickled() -> None:
    longer = Longer("a", ("x",), ["n"], size=3)
    assert dataclasses.replace(longer, size=4) == Longer("a", ("x",), ["n"], size=4)
    for twin in (copy.copy(longer), copy.deepcopy(longer), pickle.loads(pickle.dumps(longer))):
        assert twin == longer
        assert twin.notes == ["n"]
    match longer:
        case Longer(name, (tag,), size=size):
            assert (name, tag, size) == ("a", "x", 3)
        case _:
            pytest.fail("it has the fields of its class, in their order")
    assert [one.name for one in dataclasses.fields(longer)] == ["name", "tags", "notes", "secret", "size"]


def test_a_subclass_is_another_class_and_checks_itself() -> None:
    assert Longer("a") != Own("a")
    with pytest.raises(ValueError, match="not negative"):
        Longer("a", size=-1)


def test_a_class_without_a_field_and_one_with_methods_of_its_own() -> None:
    assert Nothing() == Nothing()
    assert len({Nothing(), Nothing()}) == 1
    assert Cased("A") == Cased("a")
    assert len({Cased("A"), Cased("a")}) == 1


def test_a_field_that_is_no_positional_argument_is_refused() -> None:
    with pytest.raises(TypeError, match="Seeded must be a positional argument"):

        @frozen
        class Seeded:
            """A class whose constructor takes more than its fields."""

            seed: InitVar[int] = 0
            number: int = 0
