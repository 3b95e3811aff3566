"""Comments of to-dos: notes with a tag that names the to-do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from palazzo.errors import UsageError
from palazzo.mcp.profiles.notes import id_of
from palazzo.mcp.profiles.shodh.shaping import NO_DRAWERS, fitted, iso, reading
from palazzo.mcp.profiles.shodh.todo_rows import choice_of, identifier
from palazzo.mcp.telling import LIST, NOTICE, NUMBER, TEXT, shape
from palazzo.mcp.tools import ADDS, CHANGES, Answer, Argument, Given, Step, Tool
from palazzo.operations.forget import ForgetResult
from palazzo.operations.list_drawers import ListDrawersResult
from palazzo.operations.remember import RememberResult
from palazzo.operations.show import ShowResult
from palazzo.operations.todo_list import TodoListResult
from palazzo.operations.update_drawer import UpdateDrawerResult

_WHOLE_ID = re.compile(r"[0-9a-f]{32}")
_MOST_COMMENTS = 100
_MOST_LOOKED_AT = 1000


def _tag(given: Given) -> str:
    if not _WHOLE_ID.fullmatch(given["todo_id"]):
        raise UsageError(
            f"A comment needs the to-do's whole id, as list_todos shows it, not '{given['todo_id'][:60]}'."
        )
    return f"todo-{given['todo_id']}"


def _comment(given: Given) -> Sequence[Step]:
    note = {"text": given["content"], "kind": given["comment_type"], "tags": (_tag(given),), "by": given.host}
    todos = Step("todo_list", {"everywhere": True, "all": True}, check=partial(_check_todo, given))
    return [todos, Step("remember", note)]


def _check_todo(given: Given, result: TodoListResult) -> None:
    if given["todo_id"] not in {one.id for one in result.todos}:
        raise UsageError(f"No to-do has the id '{given['todo_id']}'; list_todos shows them with their ids.")


def _comment_of(given: Given) -> Sequence[Step]:
    """Looks at the to-do's comments and at what is named: nothing else is changed or forgotten by its id."""
    comments: set[str] = set()

    def check(result: ShowResult) -> None:
        ids = {uid for one in result.entries for uid in (one.id, *one.drawers)}
        if result.kind not in ("drawer", "item") or not ids & comments:
            raise UsageError(
                f"'{given['comment_id'][:60]}' is no comment of the to-do {given['todo_id']};"
                " list_todo_comments shows them with their ids."
            )

    listed = Step(
        "list_drawers",
        {"tags": (_tag(given),), "limit": _MOST_LOOKED_AT},
        NO_DRAWERS,
        check=lambda result: comments.update(one.id for one in result.drawers),
    )
    return [listed, Step("show", {"id": given["comment_id"]}, check=check)]


def _commented(results: Sequence[Any], given: Given) -> Answer:
    result: RememberResult = results[1]
    uid = id_of(result.id, result.drawers)
    return Answer({"id": uid, "todo_id": given["todo_id"]}, f"Kept as {uid}, beside the to-do {given['todo_id']}.")


ADD_TODO_COMMENT = Tool(
    name="add_todo_comment",
    operation="remember",
    description="Keep a note about a to-do, with the to-do's id as its tag.",
    arguments=(
        identifier(),
        Argument("content", "", None, TEXT, required=True),
        Argument("comment_type", "", None, choice_of("comment", "progress", "resolution", "activity"), "comment"),
    ),
    hints=ADDS,
    steps=_comment,
    answer=_commented,
    output=shape(id=TEXT, todo_id=TEXT),
)


def _noted(given: Given) -> Sequence[Step]:
    return [Step("list_drawers", {"tags": (_tag(given),), "limit": _MOST_COMMENTS}, NO_DRAWERS)]


def _comments(results: Sequence[ListDrawersResult], given: Given) -> Answer:
    (result,) = results
    rows = [
        {
            "id": one.id,
            "content": one.text,
            "author": one.author,
            "comment_type": one.filed_as,
            "created_at": iso(one.created_at),
        }
        for one in reversed(result.drawers)
    ]
    shown = fitted(rows)
    fields = {"todo_id": given["todo_id"], "comments": shown, "count": len(shown)}
    if not shown:
        return Answer({"notice": "There are none.", **fields}, "There are none.")
    notice = f"{NOTICE}: {len(shown)} of {result.total} comments, oldest first."
    lines = [f"[{row['id']}] {row['comment_type']} · {row['created_at']}: {row['content']}" for row in shown]
    return Answer({"notice": notice, **fields}, reading(notice, lines))


LIST_TODO_COMMENTS = Tool(
    name="list_todo_comments",
    operation="list_drawers",
    description="Notes about a to-do, oldest first.",
    arguments=(identifier(),),
    steps=_noted,
    answer=_comments,
    output=shape(notice=TEXT, comments=LIST, count=NUMBER),
)


def _changing(given: Given) -> Sequence[Step]:
    change = {"id": given["comment_id"], "text": given["content"], "by": given.host}
    return [*_comment_of(given), Step("update_drawer", change)]


def _comment_changed(results: Sequence[Any], given: Given) -> Answer:
    result: UpdateDrawerResult = results[-1]
    return Answer(
        {"id": result.id, "todo_id": given["todo_id"]}, f"The comment says that now; its new id is {result.id}."
    )


UPDATE_TODO_COMMENT = Tool(
    name="update_todo_comment",
    operation="update_drawer",
    description="Replace the words of a note about a to-do. New words have a new id.",
    arguments=(identifier(), identifier("comment_id"), Argument("content", "", None, TEXT, required=True)),
    hints=CHANGES,
    steps=_changing,
    answer=_comment_changed,
    output=shape(id=TEXT, todo_id=TEXT),
)


def _forgetting(given: Given) -> Sequence[Step]:
    return [*_comment_of(given), Step("forget", {"ids": (given["comment_id"],)})]


def _comment_forgotten(results: Sequence[Any], given: Given) -> Answer:
    result: ForgetResult = results[-1]
    told = {"id": given["comment_id"], "todo_id": given["todo_id"], "forgotten": len(result.forgotten)}
    return Answer(told, f"{given['comment_id']} is found no longer; the archive keeps its words.")


DELETE_TODO_COMMENT = Tool(
    name="delete_todo_comment",
    operation="forget",
    description="Let a note about a to-do be found no longer. 'palazzo undo' brings it back.",
    arguments=(identifier(), identifier("comment_id")),
    hints=CHANGES,
    steps=_forgetting,
    answer=_comment_forgotten,
    output=shape(id=TEXT, todo_id=TEXT, forgotten=NUMBER),
)

TOOLS = (ADD_TODO_COMMENT, LIST_TODO_COMMENTS, UPDATE_TODO_COMMENT, DELETE_TODO_COMMENT)
