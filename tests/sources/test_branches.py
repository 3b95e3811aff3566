"""Conversations that are trees."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from palazzo.model import Micros
from palazzo.sources.formats.conversation_trees import BranchNode, Node, place


def tree(*edges: str) -> list[Node]:
    """`a>b` says that b answers a; times count up."""
    return [Node(edge[-1], edge[0] if ">" in edge else "", Micros(n)) for n, edge in enumerate(edges)]


def threads(placed: list[BranchNode]) -> str:
    return " ".join(f"{one.node.id}{':' + one.thread if one.thread else ''}" for one in placed)


def test_what_leads_to_the_shown_message_is_the_conversation() -> None:
    assert threads(place(tree("a", "a>b", "b>c"), "c")) == "a b c"


def test_other_answers_are_branches_named_by_their_first_message() -> None:
    nodes = tree("a", "a>b", "b>c", "a>d", "d>e", "e>f", "d>g")
    assert threads(place(nodes, "f")) == "a b:b c:b d e f g:g"
    assert threads(place(nodes, "c")) == "a b c d:d e:d f:d g:g"


def test_messages_that_came_later_stand_at_the_end_whatever_is_shown() -> None:
    first = tree("a", "a>b", "b>c")
    grown = [*first, Node("x", "a", Micros(9)), Node("y", "x", Micros(10))]
    before = [one.node.id for one in place(first, "c")]
    assert [one.node.id for one in place(grown, "y")][: len(before)] == before
    assert threads(place(grown, "y")) == "a b:b c:b x y"


def test_a_parent_stands_before_its_child_whatever_the_clocks_say() -> None:
    nodes = [Node("a", "", Micros(50)), Node("b", "a", Micros(1)), Node("c", "b", None), Node("d", "c", Micros(2))]
    assert threads(place(nodes, "d")) == "a b c d"


def test_circles_and_missing_parents_end_a_line() -> None:
    nodes = [Node("a", "b"), Node("b", "a"), Node("c", "gone"), Node("d", "d")]
    assert sorted(one.node.id for one in place(nodes, "a")) == ["a", "b", "c", "d"]


def test_without_a_known_leaf_the_latest_is_shown() -> None:
    assert threads(place(tree("a", "a>b", "a>c"), "gone")) == "a b:b c"
    assert place([], "") == []


@given(
    edges=st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.none() | st.integers(0, 5).map(Micros)), max_size=12
    ),
    leaf=st.integers(0, 9),
)
def test_every_node_is_placed_once(edges: list[tuple[int, int, Micros | None]], leaf: int) -> None:
    nodes = [Node(str(own), str(parent), at) for own, parent, at in edges]
    placed = [one.node.id for one in place(nodes, str(leaf))]
    assert sorted(placed) == sorted({node.id for node in nodes})
