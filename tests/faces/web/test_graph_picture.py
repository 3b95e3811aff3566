"""The graph that the server draws: which names it has, and that its places show what belongs together."""

from __future__ import annotations

import math
import statistics
from itertools import combinations

from palazzo.faces.web.graph_picture import HEIGHT, MOST_NODES, WIDTH, GraphNode, draw_graph


def distance(one: GraphNode, other: GraphNode) -> float:
    return math.hypot(one.x - other.x, one.y - other.y)


def test_names_with_common_facts_are_near_each_other_and_no_two_names_are_at_one_place() -> None:
    groups = [[f"{letter}{n}" for n in range(6)] for letter in "abc"]
    edges = [(one, "knows", other) for group in groups for one, other in combinations(group, 2)]
    picture = draw_graph([*edges, ("a0", "uses", "b0"), ("b0", "uses", "c0"), ("a1", "is", "a1")])
    nodes = {node.name: node for node in picture.nodes}
    assert len(nodes) == picture.names == 18
    assert all(0 < node.x < WIDTH and 0 < node.y < HEIGHT for node in nodes.values())
    within = [distance(nodes[one], nodes[other]) for group in groups for one, other in combinations(group, 2)]
    between = [distance(nodes[one], nodes[other]) for one in groups[0][2:] for other in groups[2][2:]]
    assert min(within) > 0
    assert 2 * statistics.mean(within) < statistics.mean(between)
    assert draw_graph([*edges]) == draw_graph([*edges])


def test_a_large_graph_has_the_names_with_the_most_facts() -> None:
    edges = [("hub", "knows", f"n{number}") for number in range(MOST_NODES + 50)]
    picture = draw_graph([*edges, ("n1", "knows", "n2")])
    names = [node.name for node in picture.nodes]
    assert names[:3] == ["hub", "n1", "n2"]
    assert (len(names), picture.names) == (MOST_NODES, MOST_NODES + 51)
    assert len(picture.lines) == MOST_NODES
    assert picture.nodes[0].radius > picture.nodes[1].radius
    assert draw_graph([]).nodes == ()
