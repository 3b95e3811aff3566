"""Tools for what an agent should know at the start, for a prompt, and of a session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from palazzo.features.facts.tools import fact_line, told_fact
from palazzo.features.search import hit_entries
from palazzo.features.tasks.tools import task_line, told_reminder, told_todo
from palazzo.features.wakeup.contract import (
    DIGEST_KINDS,
    DigestLineView,
    DigestResult,
    ProactiveContextResult,
    ThreadView,
    WakeUpResult,
)
from palazzo.injection.wake_up_text import MORE
from palazzo.operations.agent_tools import tool_answers
from palazzo.operations.agent_tools.tool import Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import (
    LIST,
    NOTICE,
    TEXT,
    Entry,
    indent,
    rows,
    shape,
    shorten,
)
from palazzo.security.display_names import quoted_name, shown_place
from palazzo.security.fences import fence_text
from palazzo.text.count_phrases import count_noun


def _answer_wake_up(result: WakeUpResult, call: CallArguments) -> Answer:
    notice, text = f"{NOTICE}; a sample: search for more.", result.text.removesuffix(MORE).rstrip()
    return Answer({"notice": notice, "text": text}, fence_text(f"{text}\nMore: search, and read with an id."))


WAKE_UP = Tool(
    name="wake_up",
    description="Get oriented when you start: open and due tasks, decisions, last work.",
    arguments=(Argument("wing", "A project other than this one."),),
    fields=lambda given: {"agent": given.host or None},
    answer=_answer_wake_up,
    output=shape(notice=TEXT, text=TEXT),
)


WAKE_UP_IN_FULL = WAKE_UP.with_arguments(Argument("depth"), Argument("as_of", "The state of the memory at this time."))


def _title(title: str) -> str:
    return quoted_name(title) if title else ""


def _called_for(result: ProactiveContextResult, call: CallArguments) -> Answer:
    memories = [
        Entry(
            record.id,
            tool_answers.minute(record.created_at),
            " · ".join(
                filter(None, (shown_place(f"{record.wing}/{record.room}"), _title(record.title), record.filed_as))
            ),
            hit_entries.describe_speakers(record.role, record.author),
            record.trust,
            record.text,
            "; ".join(
                filter(None, (f'cut: read("{record.id}")' if record.truncated else "", result.labels.get(record.id)))
            ),
        )
        for record in result.memories
    ]

    def add_labels(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row | ({"note": label} if (label := result.labels.get(row["id"])) else {}) for row in rows]

    reminders, todos = add_labels(map(told_reminder, result.reminders)), add_labels(map(told_todo, result.todos))
    facts, threads = add_labels(map(told_fact, result.facts)), add_labels(map(_told_thread, result.threads))
    if not (memories or reminders or todos or facts or threads):
        notice = "Nothing recorded is relevant to this. Use search to look for something."
        return Answer({"notice": notice, "memories": []}, notice)
    notice = f"{NOTICE}; a sample: search for more."
    fields: dict[str, Any] = {"notice": notice, "memories": [record.json_fields for record in memories]}
    sections = {"reminders": reminders, "todos": todos, "facts": facts, "threads": threads}
    fields |= {name: rows for name, rows in sections.items() if rows}
    lines = [
        *(_append_note(record, f"reminder {task_line(record)}") for record in reminders),
        *(_append_note(record, f"to-do {task_line(record)}") for record in todos),
        *(_append_note(record, fact_line(record)) for record in facts),
        *(_append_note(record, _thread_line(record)) for record in threads),
    ]
    parts = [notice, *(record.lines for record in memories), "\n".join(lines)]
    return Answer(fields, fence_text("\n\n".join(filter(None, parts))))


def _append_note(row: Mapping[str, Any], line: str) -> str:
    return f"{line} ({row['note']})" if "note" in row else line


def _told_thread(thread: ThreadView) -> dict[str, Any]:
    return {"id": thread.id, "when": tool_answers.minute(thread.said_at), "by": thread.by, "text": thread.text}


def _thread_line(thread: Mapping[str, Any]) -> str:
    return f"left open [{thread['id']}] {thread['when']} · {thread['by']}: {thread['text']}"


PROACTIVE_CONTEXT = Tool(
    name="proactive_context",
    description="Get memories, due reminders, to-dos and facts relevant to the current words. Usually none.",
    arguments=(Argument("context", "The current words or action."), Argument("files", "Files in use.")),
    fields=lambda given: {"agent": given.host or None},
    answer=_called_for,
    output=shape(notice=TEXT, memories=LIST),
)


PROACTIVE_CONTEXT_IN_FULL = PROACTIVE_CONTEXT.with_arguments(
    Argument("wing", "A project other than this one."),
    Argument("filed_as", "Only notes of these kinds: decision, learning, …"),
    Argument("limit", "Limit for each kind.", schema={"minimum": 1, "maximum": 20}),
    Argument("budget", "Token limit for the whole result.", schema={"minimum": 1, "maximum": 4000}),
)


def _digest_line(view: DigestLineView) -> dict[str, str]:
    return {
        "id": view.words.drawer or view.words.item,
        "kind": view.kind,
        "by": view.by,
        "when": view.said_at,
        "trust": view.trust,
        "text": shorten(view.words.text),
    }


def _render_line(line: Mapping[str, Any]) -> str:
    return f"[{line['id']}] {line['kind']} · {line['when']} · {line['by']} · {line['trust']}:\n{indent(line['text'])}"


def _answer_digest(result: DigestResult, call: CallArguments) -> Answer:
    lines = [_digest_line(view) for view in result.lines]
    title = f", {quoted_name(result.title)}" if result.title else ""
    sub_agents = [
        {"session": sub_agent.session, "title": sub_agent.title, "lines": sub_agent.lines}
        for sub_agent in result.sub_agents
    ]
    notice = f"{NOTICE}: {count_noun(len(lines), 'line')} of the session {result.session}{title}, selected by rules."
    return rows(notice, "lines", lines, _render_line, sub_agents=sub_agents)


DIGEST = Tool(
    name="digest",
    description="Show the key lines of a session: asked, decided, changed, failed, fixed, left open.",
    arguments=(
        Argument("session", "Session id, or the beginning of one."),
        Argument(
            "kind", "Only lines of these kinds.", schema={"items": {"type": "string", "enum": list(DIGEST_KINDS)}}
        ),
    ),
    answer=_answer_digest,
    output=shape(notice=TEXT, lines=LIST),
)


CORE = (
    WAKE_UP,
    PROACTIVE_CONTEXT,
)


FULL = (
    WAKE_UP_IN_FULL,
    PROACTIVE_CONTEXT_IN_FULL,
    DIGEST,
)
