"""Requests, results and operations of `tasks`: what faces know of the feature, without its engine."""

from __future__ import annotations

from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.operations import point_in_time as past
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.operations.shared_views import ReminderView, TodoView


@frozen
class TodoAddRequest:
    """Add a to-do to a project.

    Search finds it like a note, and wake-up shows it until it is done. A named day is included: a to-do due on Friday
    is overdue on Saturday.
    """

    text: Annotated[str, About("The task; - reads it from standard input.", positional=True, stdin=True)]
    wing: Annotated[str | None, About("File it in this wing. Default: the project's.")] = None
    due: Annotated[
        str | None, About("The due time: friday, 2026-03-04, 'tomorrow 17:00', 'in 2 days'.", metavar="WHEN")
    ] = None
    by: Annotated[str, About("The author: an agent's or a person's name.", metavar="NAME")] = ""


@frozen
class TodoAddResult:
    """The saved to-do, and its drawer in the search index."""

    todo: TodoView
    drawers: tuple[str, ...]


TODO_ADD = Operation(
    "todo_add",
    TodoAddRequest,
    TodoAddResult,
    scope="write",
    writes=True,
    examples=('palazzo todo add "Renew the certificate" --due friday',),
)


@frozen
class TodoListRequest:
    """List the to-dos of a project, in the order in which they are due.

    In a directory whose project the palace does not know, list the to-dos of all wings.
    """

    wing: Annotated[str | None, About("List the to-dos of this wing instead of the project's.")] = None
    everywhere: Annotated[bool, About("List the to-dos of all wings.")] = False
    all: Annotated[bool, About("Also list to-dos that are done or dropped.")] = False
    as_of: Annotated[str | None, About(past.HELP)] = None


@frozen
class TodoListResult:
    """To-dos: open ones first, sorted by due time; `wing` is null for all wings."""

    wing: str | None
    todos: tuple[TodoView, ...]
    open: int
    as_of: str | None


TODO_LIST = Operation(
    "todo_list",
    TodoListRequest,
    TodoListResult,
    scope="read",
    examples=("palazzo todo list", "palazzo todo list --everywhere --all"),
)


@frozen
class TodoDoneRequest:
    """Mark to-dos as done.

    If an id matches nothing, none of them is marked. 'palazzo undo' opens them again.
    """

    ids: Annotated[
        tuple[str, ...],
        About("Ids of to-dos or of their drawers, or id prefixes.", positional=True, option="ID"),
    ]


@frozen
class TodoDoneResult:
    """The to-dos that are done now, and those that were already closed, which are unchanged."""

    done: tuple[TodoView, ...]
    before: tuple[TodoView, ...]


TODO_DONE = Operation(
    "todo_done",
    TodoDoneRequest,
    TodoDoneResult,
    scope="write",
    writes=True,
    examples=("palazzo todo done 3f2a91",),
)


@frozen
class TodoDropRequest:
    """Drop to-dos that will not be done.

    If an id matches nothing, none of them is dropped. 'palazzo undo' opens them again.
    """

    ids: Annotated[
        tuple[str, ...],
        About("Ids of to-dos or of their drawers, or id prefixes.", positional=True, option="ID"),
    ]


@frozen
class TodoDropResult:
    """The to-dos that are dropped now, and those that were already closed, which are unchanged."""

    dropped: tuple[TodoView, ...]
    before: tuple[TodoView, ...]


TODO_DROP = Operation(
    "todo_drop",
    TodoDropRequest,
    TodoDropResult,
    scope="write",
    writes=True,
    examples=("palazzo todo drop 3f2a91",),
)


@frozen
class RemindRequest:
    """Set a reminder: for a time, for when a file is opened, or for when a topic comes up.

    It stays due, in this session and in later ones, until it is done or dropped ('palazzo reminders done ID').
    """

    text: Annotated[
        str, About("The text of the reminder; - reads it from standard input.", positional=True, stdin=True)
    ]
    at: Annotated[
        str | None,
        About("Due from this time: 'tomorrow 9:00', 'in 2 hours', 'next friday', 2026-03-04.", metavar="WHEN"),
    ] = None
    file: Annotated[
        str | None,
        About("Due when this file, or one in this directory, is opened.", option="--on-file", metavar="PATH"),
    ] = None
    topic: Annotated[
        str | None, About("Due when all of these words come up.", option="--on-topic", metavar="WORDS")
    ] = None
    wing: Annotated[str | None, About("File it in this wing. Default: the project's.")] = None
    by: Annotated[str, About("The author: an agent's or a person's name.", metavar="NAME")] = ""


@frozen
class RemindResult:
    """The saved reminder. `note` is a warning, for example that a file does not exist yet."""

    reminder: ReminderView
    drawers: tuple[str, ...]
    note: str
    local: Annotated[str, PERSON_ONLY] = ""
    """The time in this machine's time zone."""


REMIND = Operation(
    "remind",
    RemindRequest,
    RemindResult,
    scope="write",
    group="Facts and tasks",
    summary="Set a reminder for a time, a file or a topic",
    writes=True,
    examples=(
        "palazzo remind \"Call the host\" --at 'tomorrow 9:00'",
        'palazzo remind "Keep the order of imports" --on-file src/main.py',
    ),
)


@frozen
class RemindersRequest:
    """List the reminders that are due, or all; mark some as done or dropped.

    A reminder is due if its time has come, or if it waits for the given file or topic.
    """

    action: Annotated[
        Literal["due", "open", "all", "done", "drop"],
        About("What to show, or what to do with the ids.", positional=True),
    ] = "due"
    ids: Annotated[
        tuple[str, ...],
        About("Ids of reminders or of their drawers, or id prefixes.", positional=True, option="ID"),
    ] = ()
    wing: Annotated[str | None, About("Only reminders of this wing. Default: all wings.")] = None
    file: Annotated[
        str | None, About("Also reminders for when this file is opened.", option="--on-file", metavar="PATH")
    ] = None
    topic: Annotated[
        str | None, About("Also reminders whose topic comes up in this text.", option="--on-topic", metavar="WORDS")
    ] = None
    as_of: Annotated[str | None, About(past.HELP)] = None


@frozen
class RemindersResult:
    """Reminders, due ones first. For `done` and `drop`: those that were closed now, and those closed `before`."""

    action: str
    reminders: tuple[ReminderView, ...]
    before: tuple[ReminderView, ...]
    waiting: int
    """How many of the requested reminders are open and not due."""


REMINDERS = Operation(
    "reminders",
    RemindersRequest,
    RemindersResult,
    scope="write",
    group="Facts and tasks",
    summary="List reminders, or mark them as done",
    writes=True,
    examples=("palazzo reminders", "palazzo reminders done 3f2a91"),
)
