"""Comments on to-dos: notes with a tag that names the to-do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from palazzo.errors import UsageError
from palazzo.faces.mcp.profiles.client_formats import id_of, iso
from palazzo.faces.mcp.profiles.shodh.shodh_shapes import NO_DRAWERS, answer_records, enum_schema, unbound_argument
from palazzo.faces.mcp.profiles.shodh.todo_rows import id_argument
from palazzo.features.notes.contract import ForgetResult, RememberResult, UpdateDrawerResult
from palazzo.features.search.contract import ListDrawersResult, ShowResult
from palazzo.features.tasks.contract import TodoListResult
from palazzo.operations.agent_tools.tool import ADDS, CHANGES, Answer, CallArguments, Step, Tool
from palazzo.operations.agent_tools.tool_answers import LIST, NUMBER, TEXT, shape

_WHOLE_ID = re.compile(r"[0-9a-f]{32}")
_MOST_LISTED = 100
_MOST_CHECKED = 1000
"""Maximum number of comments on a to-do in which an id is searched for."""
_CONTENT = unbound_argument("content", TEXT, is_required=True)


def _tag(call: CallArguments) -> str:
    if not _WHOLE_ID.fullmatch(call["todo_id"]):
        raise UsageError(f"A comment needs the to-do's whole id, as list_todos shows it, not '{call['todo_id'][:60]}'.")
    return f"todo-{call['todo_id']}"


def _list_comments(call: CallArguments, limit: int) -> Step:
    return Step("list_drawers", {"tags": (_tag(call),), "limit": limit}, NO_DRAWERS)


# --- adding, listing ---------------------------------------------------------------------------------------


def _plan_add(call: CallArguments) -> Sequence[Step]:
    note = {"text": call["content"], "kind": call["comment_type"], "tags": (_tag(call),), "by": call.host}
    todos = Step("todo_list", {"everywhere": True, "all": True}, check=partial(_check_todo, call))
    return [todos, Step("remember", note)]


def _check_todo(call: CallArguments, result: TodoListResult) -> None:
    if call["todo_id"] not in {view.id for view in result.todos}:
        raise UsageError(f"No to-do has the id '{call['todo_id']}'; list_todos shows the ids.")


def _answer_add(results: Sequence[Any], call: CallArguments) -> Answer:
    result: RememberResult = results[1]
    uid = id_of(result.id, result.drawers)
    return Answer({"id": uid, "todo_id": call["todo_id"]}, f"Added comment {uid} to the to-do {call['todo_id']}.")


ADD_TODO_COMMENT = Tool(
    name="add_todo_comment",
    operation="remember",
    description="Add a comment to a to-do: a note with the to-do's id as its tag.",
    arguments=(
        id_argument(),
        _CONTENT,
        unbound_argument(
            "comment_type", enum_schema("comment", "progress", "resolution", "activity"), default="comment"
        ),
    ),
    hints=ADDS,
    steps=_plan_add,
    answer=_answer_add,
    output=shape(id=TEXT, todo_id=TEXT),
)


def _answer_list(results: Sequence[ListDrawersResult], call: CallArguments) -> Answer:
    (result,) = results
    rows = [
        {
            "id": drawer.id,
            "content": drawer.text,
            "author": drawer.author,
            "comment_type": drawer.filed_as,
            "created_at": iso(drawer.created_at),
        }
        for drawer in reversed(result.drawers)
    ]
    return answer_records(
        "comments",
        rows,
        _render_comment,
        lambda count: f"{count} of {result.total} comments, oldest first",
        todo_id=call["todo_id"],
    )


def _render_comment(row: Mapping[str, Any]) -> str:
    return f"[{row['id']}] {row['comment_type']} · {row['created_at']}: {row['content']}"


LIST_TODO_COMMENTS = Tool(
    name="list_todo_comments",
    operation="list_drawers",
    description="List the comments on a to-do, oldest first.",
    arguments=(id_argument(),),
    steps=lambda call: [_list_comments(call, _MOST_LISTED)],
    answer=_answer_list,
    output=shape(notice=TEXT, comments=LIST, count=NUMBER),
)


# --- changing ----------------------------------------------------------------------------------------------


def _verify_comment(call: CallArguments) -> Sequence[Step]:
    """Return the steps that check that `comment_id` is a comment on the to-do, so that no other drawer changes."""
    comments: set[str] = set()

    def check(result: ShowResult) -> None:
        ids = {uid for entry in result.entries for uid in (entry.id, *entry.drawers)}
        if result.kind not in ("drawer", "item") or not ids & comments:
            raise UsageError(
                f"'{call['comment_id'][:60]}' is not a comment on the to-do {call['todo_id']};"
                " list_todo_comments shows the ids of its comments."
            )

    listing = replace(
        _list_comments(call, _MOST_CHECKED),
        check=lambda result: comments.update(drawer.id for drawer in result.drawers),
    )
    return [listing, Step("show", {"id": call["comment_id"]}, check=check)]


def _plan_update(call: CallArguments) -> Sequence[Step]:
    change = {"id": call["comment_id"], "text": call["content"], "by": call.host}
    return [*_verify_comment(call), Step("update_drawer", change)]


def _answer_update(results: Sequence[Any], call: CallArguments) -> Answer:
    result: UpdateDrawerResult = results[-1]
    fields = {"id": result.id, "todo_id": call["todo_id"]}
    return Answer(fields, f"The comment has the new text; its new id is {result.id}.")


UPDATE_TODO_COMMENT = Tool(
    name="update_todo_comment",
    operation="update_drawer",
    description="Replace the text of a comment on a to-do. The new text has a new id.",
    arguments=(id_argument(), id_argument("comment_id"), _CONTENT),
    hints=CHANGES,
    steps=_plan_update,
    answer=_answer_update,
    output=shape(id=TEXT, todo_id=TEXT),
)


def _plan_delete(call: CallArguments) -> Sequence[Step]:
    return [*_verify_comment(call), Step("forget", {"ids": (call["comment_id"],)})]


def _answer_delete(results: Sequence[Any], call: CallArguments) -> Answer:
    result: ForgetResult = results[-1]
    fields = {"id": call["comment_id"], "todo_id": call["todo_id"], "forgotten": len(result.forgotten)}
    return Answer(fields, f"Search no longer finds {call['comment_id']}; the archive keeps its text.")


DELETE_TODO_COMMENT = Tool(
    name="delete_todo_comment",
    operation="forget",
    description="Hide a comment on a to-do from search. 'palazzo undo' brings it back.",
    arguments=(id_argument(), id_argument("comment_id")),
    hints=CHANGES,
    steps=_plan_delete,
    answer=_answer_delete,
    output=shape(id=TEXT, todo_id=TEXT, forgotten=NUMBER),
)

TOOLS = (ADD_TODO_COMMENT, LIST_TODO_COMMENTS, UPDATE_TODO_COMMENT, DELETE_TODO_COMMENT)
