"""Facts as a drawn graph: what the script draws on a canvas, for files and for browsers without scripts. Pure.

The forces are those of d3-force, which the script uses (Verlet integration as in Dwyer, "Scalable, Versatile and Simple
Constrained Graph Layout", 2009): every two points repel each other, lines pull their ends together, and everything is
drawn to the middle. All pairs are computed, so that the layout is limited to the names with the most facts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from palazzo.frozen_class import frozen

WIDTH, HEIGHT = 1_000.0, 640.0
MOST_NODES = 800
_MOST_NAMES = 60
_MARGIN = 60.0
_REPULSION, _DISTANCE, _GRAVITY, _FRICTION = 30.0, 40.0, 0.04, 0.6
"""The values of the script's layout."""
_COOLING, _COOLED = 0.04, 0.02

Points = NDArray[np.float64]


@frozen
class GraphNode:
    """A name as a point; it is `named` if its name is written beside it."""

    name: str
    x: float
    y: float
    radius: float
    named: bool


@frozen
class GraphPicture:
    """The points and the lines between them (by their numbers), and how many names the facts have."""

    nodes: tuple[GraphNode, ...]
    lines: tuple[tuple[int, int], ...]
    names: int


def draw_graph(edges: Sequence[tuple[str, str, str]]) -> GraphPicture:
    """Return the graph of facts (subject, predicate, object): of the names with the most facts, if they are many."""
    degrees = Counter(name for subject, _, target in edges for name in (subject, target))
    names = [name for name, _ in sorted(degrees.items(), key=lambda entry: (-entry[1], entry[0]))]
    numbers = {name: number for number, name in enumerate(names[:MOST_NODES])}
    lines = tuple(
        (numbers[subject], numbers[target]) for subject, _, target in edges if {subject, target} <= numbers.keys()
    )
    places = _fit(lay_out(len(numbers), lines))
    nodes = tuple(
        GraphNode(name, round(x, 1), round(y, 1), _radius(degrees[name]), number < _MOST_NAMES)
        for (name, number), (x, y) in zip(numbers.items(), places.tolist(), strict=True)
    )
    return GraphPicture(nodes, lines, len(names))


def _radius(degree: int) -> float:
    return round(2 + min(math.sqrt(degree), 8), 1)


def lay_out(count: int, lines: Sequence[tuple[int, int]]) -> Points:
    """Return a place for each of `count` points, the same for the same lines. Its shape is (count, 2)."""
    numbers = np.arange(count)
    turns, radii = numbers * math.pi * (3 - math.sqrt(5)), 10 * np.sqrt(0.5 + numbers)
    places = np.stack([radii * np.cos(turns), radii * np.sin(turns)], axis=1)  # d3-force begins with this spiral
    speeds = np.zeros_like(places)
    ends = np.array([line for line in lines if line[0] != line[1]], dtype=np.intp).reshape(-1, 2)
    degrees = np.bincount(ends.ravel(), minlength=count).astype(float)
    alpha = 1.0
    while alpha > _COOLED:
        alpha *= 1 - _COOLING
        speeds += alpha * _repel(places)
        _pull(speeds, places + speeds, ends, degrees, alpha)
        speeds -= alpha * _GRAVITY * places
        speeds *= _FRICTION
        places += speeds
    return places


def _repel(places: Points) -> Points:
    """Return how strongly each point is pushed away from all others."""
    x, y = places[:, 0], places[:, 1]
    across, down = np.subtract.outer(x, x), np.subtract.outer(y, y)
    strengths = _REPULSION / np.maximum(across**2 + down**2, 1.0)
    return np.stack([(across * strengths).sum(axis=1), (down * strengths).sum(axis=1)], axis=1)


def _pull(speeds: Points, places: Points, ends: NDArray[np.intp], degrees: Points, alpha: float) -> None:
    """Add the pull of lines to speeds; of two ends the one with fewer lines moves more."""
    first, second = ends[:, 0], ends[:, 1]
    apart = places[second] - places[first]
    lengths = np.maximum(np.hypot(apart[:, 0], apart[:, 1]), 1e-6)
    strengths = alpha * (lengths - _DISTANCE) / lengths / np.minimum(degrees[first], degrees[second])
    pulls = apart * strengths[:, None]
    shares = (degrees[first] / (degrees[first] + degrees[second]))[:, None]
    np.add.at(speeds, second, -pulls * shares)
    np.add.at(speeds, first, pulls * (1 - shares))


def _fit(places: Points) -> Points:
    """Return the places on the picture, with a margin."""
    if not len(places):
        return places
    low, high = places.min(axis=0), places.max(axis=0)
    room = np.array([WIDTH - 2 * _MARGIN, HEIGHT - 2 * _MARGIN])
    scale = float(min(*(room / np.maximum(high - low, 1.0)), 4.0))
    fitted: Points = (places - (low + high) / 2) * scale + np.array([WIDTH, HEIGHT]) / 2
    return fitted
