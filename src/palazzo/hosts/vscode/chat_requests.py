"""What a request of VS Code's chat says: a person's question with its attachments, and the response with its calls.

Learned from VS Code's source (`chatModel.ts`, `chatService.ts` and `chatVariableEntries.ts` in
`src/vs/workbench/contrib/chat/common`), and from its Copilot extension (`toolCallingLoop.ts` and `conversation.ts`),
which writes `result.metadata`. Where a call's output is, two public readers agree (getspecstory, opentab).

    requestId, timestamp, message: text or {text, parts}, variableData: {variables: [{kind, name, value}]},
    confirmation, isSystemInitiated, modelId, modelState: {value, completedAt}, responseId,
    response: [{value} or {kind, …}], result: {errorDetails, metadata: {toolCallRounds, toolCallResults}}

`message.text` is what the person typed. A request with a `confirmation` is a button that was pressed, and one that
`isSystemInitiated` is VS Code's own. A part of a response without a `kind` is Markdown, in pieces; links to files stand
between the pieces. A `toolInvocationSerialized` has a call's id, tool and messages; its arguments and its result are in
`metadata` under the same id, or in `toolSpecificData` and `resultDetails`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from palazzo.hosts.editor_workspaces import path_of_components
from palazzo.model import ContentKind
from palazzo.sources.formats import Content, Message, Noise, Unreadable
from palazzo.sources.formats.block_text import JOINT, Composer, block_text, call_text
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.resume_context import trust_of_call
from palazzo.sources.formats.row_records import drop_keys, objects_in
from palazzo.sources.formats.source_times import moment

_OF_RESPONSE = (
    *("response", "responseId", "result", "modelState", "agent", "slashCommand", "usedContext", "contentReferences"),
    *("codeCitations", "timeSpentWaiting", "usage", "promptTokens", "completionTokens", "completionTimestamp"),
)
_VOLATILE_KEYS = (
    *("vote", "voteDownReason", "followups", "editedFileEvents", "shouldBeRemovedOnSend", "isHidden"),
    *("responseMarkdownInfo", "isCanceled", "elapsedMs"),
)
_OF_QUESTION = ("message", "variableData", "confirmation", "locationData", "workingSet")
_PENDING, _NEEDS_INPUT = 0, 4
"""States of a response that goes on (`ResponseModelState`)."""
_DENIED = 0
"""The kind of a confirmation that a person refused (`ToolConfirmKind`)."""
_OWN_TOOL = "copilot_"
_MARKDOWN = frozenset({"markdownContent", "markdownVuln"})
_EDITS = frozenset({"textEditGroup", "notebookEditGroup"})
_INVOCATIONS = frozenset({"toolInvocationSerialized", "toolInvocation"})
_STATUS_KINDS = frozenset(
    {
        *("undoStop", "codeblockUri", "progressMessage", "progressTask", "progressTaskSerialized", "command"),
        *("mcpServersStarting", "mcpServersStartingSlow", "mcpAuthenticationRequired", "autoModeResolution"),
        *("clearToPreviousToolInvocation", "disabledClaudeHooks", "usage", "codeCitation", "voiceProgress", "hook"),
        *(
            "reference",
            "extensions",
            "multiDiffData",
            "treeData",
            "externalEdit",
            "workspaceEdit",
            "prepareToolInvocation",
        ),
    }
)
"""Parts of a response that only the screen needs."""
_HOST_ATTACHMENTS = frozenset({"implicit", "promptFile", "promptText", "tool", "toolset", "workspace", "debugEvents"})
"""Context that VS Code adds by itself, or that names tools and instructions."""
_MOST_NODES = 100_000


def is_at_work(request: JsonObject) -> bool:
    """Return whether the response of a request is still being written, or waits for the person."""
    state = request.get("modelState")
    return isinstance(state, dict) and state.get("value") in (_PENDING, _NEEDS_INPUT) and "value" in state


def question_record(request: JsonObject) -> JsonObject:
    """Return the fields of a request that are its question's."""
    return drop_keys(request, *_OF_RESPONSE, *_VOLATILE_KEYS)


def response_record(request: JsonObject) -> JsonObject:
    """Return the fields of a request that are its response's."""
    return drop_keys(request, *_OF_QUESTION, *_VOLATILE_KEYS)


def question(request: JsonObject, branch: str) -> Content:
    """Return what was asked."""
    message = request.get("message")
    text = message if isinstance(message, str) else string(message, "text") if isinstance(message, dict) else ""
    composer = Composer()
    composer.add("text", text)
    try:
        _add_attachments(composer, request)
    except RecursionError:
        return Unreadable("nested too deeply")
    if not composer.text:
        return Noise("request, without words")
    is_own = bool(request.get("isSystemInitiated")) or bool(string(request, "confirmation")) or not text
    standing: ContentKind = "meta" if is_own or request.get("isHiddenFromTranscript") is True else "said"
    return Message(
        composer.text,
        "user",
        standing=standing,
        parts=composer.parts,
        uuid=string(request, "requestId"),
        created_at=moment(request.get("timestamp")),
        branch=branch,
    )


def _add_attachments(composer: Composer, request: JsonObject) -> None:
    data = request.get("variableData")
    for entry in objects_in(data.get("variables") if isinstance(data, dict) else None):
        kind, name = string(entry, "kind"), string(entry, "name")
        if kind in _HOST_ATTACHMENTS or entry.get("automaticallyAdded") is True:
            continue
        if kind == "image":
            composer.add("image", f"[image, {name}]" if name else "[image]")
            continue
        value = entry.get("value")
        pasted = string(entry, "code") or (value if kind in ("string", "terminalCommand") else "")
        path = path_of_components(value) or path_of_components(value.get("uri") if isinstance(value, dict) else None)
        words = pasted if isinstance(pasted, str) and pasted else path or name
        composer.add("attachment", words, name=name, trust="repo")


def response(request: JsonObject, branch: str) -> Content:
    """Return what was answered, with the calls of tools."""
    composer = Composer()
    try:
        _compose(composer, request)
    except RecursionError:
        return Unreadable("nested too deeply")
    if not composer.text:
        return Noise("response, without words")
    state = request.get("modelState")
    completed = moment(state.get("completedAt")) if isinstance(state, dict) else None
    own = string(request, "responseId") or f"{string(request, 'requestId')}/response"
    return Message(
        composer.text,
        "assistant",
        author=string(request, "modelId").removeprefix("copilot/"),
        parts=composer.parts,
        uuid=own,
        parent=string(request, "requestId"),
        created_at=completed if completed is not None else moment(request.get("timestamp")),
        branch=branch,
    )


def _compose(composer: Composer, request: JsonObject) -> None:
    result = request.get("result")
    result = result if isinstance(result, dict) else {}
    parts = request.get("response")
    response_parts = objects_in(parts if isinstance(parts, list) else [{"value": parts}])
    calls = _read_calls(result.get("metadata"), response_parts)
    pieces: list[str] = []
    for part in response_parts:
        piece = _piece(part)
        if piece is not None:
            pieces.append(piece)
            continue
        if string(part, "kind") in _STATUS_KINDS:
            continue
        composer.add("text", "".join(pieces))
        pieces.clear()
        _add_part(composer, part, calls)
    composer.add("text", "".join(pieces))
    for call in list(calls.open):
        _add_call(composer, calls, call, {})
    error = result.get("errorDetails")
    if isinstance(error, dict):
        composer.add("tool_result", string(error, "message"), name="error", failed=True, trust="tool")


def _piece(part: JsonObject) -> str | None:
    """Return a piece of Markdown or a link in it; None if the part is something else."""
    kind = string(part, "kind")
    if kind == "inlineReference":
        return f"`{_link_name(part)}`" if _link_name(part) else ""
    if not kind and "value" in part:
        return _words(part)
    return _words(part.get("content")) if kind in _MARKDOWN else None


def _link_name(part: JsonObject) -> str:
    target = part.get("inlineReference")
    record = target if isinstance(target, dict) else {}
    path = path_of_components(record.get("uri")) or path_of_components(record)
    return string(part, "name") or string(record, "name") or PurePosixPath(path.replace("\\", "/")).name


def _words(value: object) -> str:
    """Return a text, or the text of Markdown (`{value}`)."""
    if isinstance(value, dict):
        value = value.get("value")
    return value if isinstance(value, str) else ""


def _add_part(composer: Composer, part: JsonObject, calls: _Calls) -> None:
    kind = string(part, "kind")
    if kind == "thinking":
        thoughts = part.get("value")
        lines = [one for one in thoughts if isinstance(one, str)] if isinstance(thoughts, list) else [_words(part)]
        composer.add("thinking", "".join(lines))
    elif kind in _INVOCATIONS:
        call = string(part, "toolCallId")
        if call in calls.states:
            _add_call(composer, calls, call, part if not call else calls.states.pop(call))
    elif kind in _EDITS:
        path = path_of_components(part.get("uri"))
        arguments: JsonObject = {"filePath": path}
        if not calls.has_arguments:
            arguments["newText"] = "\n".join(_new_texts(part.get("edits")))
        composer.add("tool_call", call_text("edit_file", arguments) if path else "", name="edit_file")
    else:
        composer.add("attachment", block_text({"type": kind or "part", **drop_keys(part, "kind")}))


def _new_texts(edits: object) -> Iterator[str]:
    """Yield the texts of edits, which may be in groups."""
    for edit in edits if isinstance(edits, list) else []:
        for one in edit if isinstance(edit, list) else [edit]:
            if isinstance(one, dict) and string(one, "text"):
                yield string(one, "text")


# --- calls -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Calls:
    """The calls of a response.

    `named` has the name and the arguments that `metadata` records by id, `results` what it records of their results;
    `open` are those not yet told. `states` has the last state of each invocation in the response, which VS Code may
    write again as the call goes on.
    """

    named: dict[str, tuple[str, object]] = field(default_factory=dict)
    results: JsonObject = field(default_factory=dict)
    open: dict[str, None] = field(default_factory=dict)
    states: dict[str, JsonObject] = field(default_factory=dict)

    @property
    def has_arguments(self) -> bool:
        return bool(self.named)


def _read_calls(metadata: object, parts: list[JsonObject]) -> _Calls:
    calls = _Calls()
    if isinstance(metadata, dict):
        for turn in objects_in(metadata.get("toolCallRounds")):
            for call in objects_in(turn.get("toolCalls")):
                own = string(call, "id")
                calls.named[own] = (string(call, "name"), _read(call.get("arguments")))
                calls.open[own] = None
        results = metadata.get("toolCallResults")
        calls.results = results if isinstance(results, dict) else {}
    invocations = {string(part, "toolCallId"): part for part in parts if string(part, "kind") in _INVOCATIONS}
    if not calls.named or calls.named.keys() & invocations.keys():
        calls.states = invocations
    return calls  # where no id is in both, the ids are of an older kind, and `metadata` alone tells each call once


def _read(value: object) -> object:
    """Return the value of a JSON text; anything else unchanged."""
    if not isinstance(value, str):
        return value
    try:
        read: object = json.loads(value, strict=False)
    except ValueError:
        return value
    return read


def _add_call(composer: Composer, calls: _Calls, call: str, part: JsonObject) -> None:
    name, arguments = calls.named.get(call) or _call_of_part(part)
    calls.open.pop(call, None)
    composer.add("tool_call", call_text(name, arguments), name=name, call=call)
    text, failed = _result(calls.results.get(call), part)
    composer.add("tool_result", text, name=name, call=call, failed=failed, trust=trust_of_call(name, arguments))


def _call_of_part(part: JsonObject) -> tuple[str, object]:
    """Return the tool and the arguments of a call that only the response records."""
    name = string(part, "toolId").removeprefix(_OWN_TOOL) or "tool"
    details, shown = _objects(part, "resultDetails", "toolSpecificData")
    kind = string(shown, "kind")
    if kind == "terminal":
        line = shown.get("commandLine")
        command = string(line, "original") if isinstance(line, dict) else string(shown, "command")
        return name, {"command": command}
    if kind == "input":
        return name, shown.get("rawInput")
    if kind == "subagent":
        return name, {key: value for key in ("description", "agentName", "prompt") if (value := string(shown, key))}
    if string(details, "input"):
        return name, _read(details["input"])
    if kind == "simpleToolInvocation":
        return name, {"input": shown.get("input")}
    if kind == "todoList":
        return name, {"todoList": shown.get("todoList")}
    request = _words(part.get("invocationMessage"))
    return name, {"request": request} if request else None


def _result(recorded: object, part: JsonObject) -> tuple[str, bool]:
    """Return the output of a call, and whether it failed."""
    details, shown = _objects(part, "resultDetails", "toolSpecificData")
    (state,) = _objects(shown, "terminalCommandState")
    (output,) = _objects(shown, "terminalCommandOutput")
    exit_code = state.get("exitCode")
    failed = details.get("isError") is True or (isinstance(exit_code, int) and exit_code != 0) or _is_denied(part)
    texts = (
        _text_of_content(recorded),
        string(output, "text") or string(shown, "terminalCommandOutput"),
        JOINT.join(string(one, "value") for one in objects_in(details.get("output")) if one.get("isText") is not False),
        string(details, "output"),
        string(shown, "result") or _words(shown.get("output")),
        _words(part.get("pastTenseMessage")),
    )
    return next((text for text in texts if text), "denied" if _is_denied(part) else ""), failed


def _is_denied(part: JsonObject) -> bool:
    confirmed = part.get("isConfirmed")
    return confirmed is False or (isinstance(confirmed, dict) and confirmed.get("type") == _DENIED)


def _objects(record: JsonObject, *keys: str) -> tuple[JsonObject, ...]:
    values = (record.get(key) for key in keys)
    return tuple(value if isinstance(value, dict) else {} for value in values)


def _text_of_content(recorded: object) -> str:
    """Return the text of a recorded result: parts with a text, or with a tree of nodes that prompts are made of."""
    parts = objects_in(recorded.get("content") if isinstance(recorded, dict) else recorded)
    texts = (value if isinstance(value := part.get("value"), str) else _text_of_tree(value) for part in parts)
    return JOINT.join(text for text in texts if text)


def _text_of_tree(tree: object) -> str:
    """Return the texts of a tree in order. It is walked without recursion: it may be deep."""
    texts: list[str] = []
    stack: list[object] = [tree.get("node") if isinstance(tree, dict) else None]
    for _ in range(_MOST_NODES):
        if not stack:
            break
        node = stack.pop()
        if isinstance(node, dict):
            text, children = node.get("text"), node.get("children")
            if isinstance(text, str):
                texts.append(f"\n{text}" if node.get("lineBreakBefore") is True and texts else text)
            stack.extend(reversed(children if isinstance(children, list) else []))
    return "".join(texts)
