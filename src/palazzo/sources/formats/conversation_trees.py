"""Conversation trees: which messages are the conversation, and which are other branches of it.

Editing a question or asking for another answer makes a second child; both stay in the export. The conversation is the
path from the last shown message up to the root; every other line of descent is a branch, named by its first message.

Messages are ordered by time, parents before their children. So a conversation that continued since the last export has
its new messages at the end, whichever branch is shown now, and the order of the old ones stays.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from palazzo.frozen_class import frozen
from palazzo.model import Micros


@frozen
class Node:
    """One message of a tree; `parent` is "" for a root."""

    id: str
    parent: str
    created_at: Micros | None = None


@frozen
class BranchNode:
    """A node in its order, and its branch: "" is the conversation itself."""

    node: Node
    thread: str


def place(nodes: Sequence[Node], leaf: str) -> list[BranchNode]:
    """Order the nodes, and name the branch of each; `leaf` is the last message that is shown.

    Without a known leaf the latest message is taken. Missing parents and cycles end a branch.
    """
    nodes_by_id = {node.id: node for node in nodes}
    sequence = _in_order(list(nodes_by_id.values()), nodes_by_id)
    if leaf not in nodes_by_id and sequence:
        leaf = sequence[-1].id
    visible_ids = set(_line(leaf, nodes_by_id))
    threads: dict[str, str] = {}
    parent_ids: set[str] = set()
    branch_nodes = []
    for node in sequence:
        if node.id in visible_ids:
            threads[node.id] = ""
        elif threads.get(node.parent, "") and node.parent not in parent_ids:
            threads[node.id] = threads[node.parent]
            parent_ids.add(node.parent)
        else:
            threads[node.id] = node.id
        branch_nodes.append(BranchNode(node, threads[node.id]))
    return branch_nodes


def _line(leaf: str, nodes_by_id: Mapping[str, Node]) -> list[str]:
    line: list[str] = []
    visited_ids: set[str] = set()
    while leaf in nodes_by_id and leaf not in visited_ids:
        visited_ids.add(leaf)
        line.append(leaf)
        leaf = nodes_by_id[leaf].parent
    return line


def _in_order(nodes: Sequence[Node], nodes_by_id: Mapping[str, Node]) -> list[Node]:
    """Order by time, parents first. A node without a time takes its parent's; equal times keep the export's order."""
    children: dict[str, list[int]] = {}
    roots: list[int] = []
    for n, node in enumerate(nodes):
        if node.parent in nodes_by_id and node.parent != node.id:
            children.setdefault(node.parent, []).append(n)
        else:
            roots.append(n)
    sequence: list[Node] = []
    visited_indexes: set[int] = set()

    def follow(starts: Sequence[int]) -> None:
        heap = [(nodes[n].created_at or 0, n) for n in starts]
        heapq.heapify(heap)
        while heap:
            at, n = heapq.heappop(heap)
            if n in visited_indexes:
                continue
            visited_indexes.add(n)
            sequence.append(nodes[n])
            for child in children.get(nodes[n].id, ()):
                created_at = nodes[child].created_at
                heapq.heappush(heap, (at if created_at is None else max(at, created_at), child))

    follow(roots)
    for n in range(len(nodes)):  # what no root leads to hangs on a circle, and is taken as it comes
        if n not in visited_indexes:
            follow([n])
    return sequence
