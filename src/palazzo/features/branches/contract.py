"""Requests, results and operations of `branches`: what faces know of the feature, without its engine."""

from __future__ import annotations

from typing import Annotated

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.operations.operation import About, Operation


@frozen
class DiffRequest:
    """List what was learned on a branch that another branch does not have yet, as Markdown for a pull request.

    Lists decisions, learnings, fixes, facts, notes, to-dos, open threads and sessions, in their original words. They
    are found by the branch's own commits and by its name. Untrusted content is left out.
    """

    branches: Annotated[
        str, About("The branch to merge into and the branch to merge: main..feature.", positional=True, metavar="A..B")
    ]
    wing: Annotated[str | None, About("Wing to look in; by default the project's wing.")] = None
    limit: Annotated[int, About("Maximum number of each kind; the newest are kept.")] = 20


@frozen
class LearnedView:
    """A learning: its text, who said it and when, and the id to use with `palazzo show`."""

    id: str
    at: Micros
    by: str
    text: str


@frozen
class BranchReport:
    """Learnings by kind, oldest first. `more` counts all that were left out, over all kinds."""

    decisions: tuple[LearnedView, ...] = ()
    learnings: tuple[LearnedView, ...] = ()
    fixes: tuple[LearnedView, ...] = ()
    facts: tuple[LearnedView, ...] = ()
    notes: tuple[LearnedView, ...] = ()
    todos: tuple[LearnedView, ...] = ()
    threads: tuple[LearnedView, ...] = ()
    sessions: tuple[LearnedView, ...] = ()
    more: int = 0


@frozen
class DiffResult:
    """What was learned on `tip` and is missing on `base`, also as Markdown.

    `commits` is how many commits `tip` has beyond `base`; null if git did not answer: then only the branch's name
    decides what belongs to it, as `note` says. `wing` is null if the palace holds nothing of the project.
    """

    wing: str | None
    base: str
    tip: str
    commits: int | None
    learned: BranchReport
    note: str
    text: str


DIFF = Operation(
    "diff",
    DiffRequest,
    DiffResult,
    scope="read",
    group="Look back",
    summary="List what was learned on a branch",
    examples=("palazzo diff main..feature",),
)
