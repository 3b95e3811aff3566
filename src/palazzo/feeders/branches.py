"""Conversations that are trees: which messages are the conversation, and which are other branches of it.

Editing a question or asking for another answer makes a second child; both stay in the export. The conversation is
what leads from the last shown message up to the root; every other line of descent is a branch, named by its first
message.

Messages are ordered by time, parents before their children. So a conversation that went on since the last export
has its new messages at the end, whatever became of the branch that is shown, and the order of the old ones stays.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from palazzo.model import Micros


@dataclass(frozen=True, slots=True)
class Node:
    """One message of a tree; `parent` is "" for a root."""

    id: str
    parent: str
    created_at: Micros | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """A node in its order, and the branch it lies on: "" is the conversation itself."""

    node: Node
    thread: str


def place(nodes: Sequence[Node], leaf: str) -> list[Placed]:
    """Order the nodes, and name the branch of each; `leaf` is the last message that is shown.

    Without a known leaf the latest message is taken. Parents that do not exist, and circles, end a line.
    """
    known = {node.id: node for node in nodes}
    ordered = _in_order(list(known.values()), known)
    if leaf not in known and ordered:
        leaf = ordered[-1].id
    shown = set(_line(leaf, known))
    threads: dict[str, str] = {}
    continued: set[str] = set()
    placed = []
    for node in ordered:
        if node.id in shown:
            threads[node.id] = ""
        elif threads.get(node.parent, "") and node.parent not in continued:
            threads[node.id] = threads[node.parent]
            continued.add(node.parent)
        else:
            threads[node.id] = node.id
        placed.append(Placed(node, threads[node.id]))
    return placed


def _line(leaf: str, known: Mapping[str, Node]) -> list[str]:
    line: list[str] = []
    seen: set[str] = set()
    while leaf in known and leaf not in seen:
        seen.add(leaf)
        line.append(leaf)
        leaf = known[leaf].parent
    return line


def _in_order(nodes: Sequence[Node], known: Mapping[str, Node]) -> list[Node]:
    """Order by time, parents first. A node without a time takes its parent's; equal times keep the export's order."""
    children: dict[str, list[int]] = {}
    roots: list[int] = []
    for n, node in enumerate(nodes):
        if node.parent in known and node.parent != node.id:
            children.setdefault(node.parent, []).append(n)
        else:
            roots.append(n)
    ordered: list[Node] = []
    done: set[int] = set()

    def follow(starts: Sequence[int]) -> None:
        heap = [(nodes[n].created_at or 0, n) for n in starts]
        heapq.heapify(heap)
        while heap:
            at, n = heapq.heappop(heap)
            if n in done:
                continue
            done.add(n)
            ordered.append(nodes[n])
            for child in children.get(nodes[n].id, ()):
                stated = nodes[child].created_at
                heapq.heappush(heap, (at if stated is None else max(at, stated), child))

    follow(roots)
    for n in range(len(nodes)):  # what no root leads to hangs on a circle, and is taken as it comes
        if n not in done:
            follow([n])
    return ordered
