"""A model on this machine that says what a test told it to, in the four protocols that hosts speak.

    POST …/messages     Anthropic's Messages (Claude Code)      POST …/responses     OpenAI's Responses (Codex)
    POST …/chat/completions     OpenAI's older one (opencode, pi, Copilot CLI, Qwen Code)
    POST …:streamGenerateContent, …:generateContent     Gemini's (Gemini CLI)

What it says next follows from the request alone: the last thing that the person sent and that the script knows, and how
often the model has spoken since. A request that a host repeats, or sends for a purpose of its own (a title), disturbs
nothing. What it is asked with is kept, so that a test can look at what reached the model.
"""

from __future__ import annotations

import gzip
import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Document = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A call of a tool, by the end of the name that the host offers it under."""

    tool: str
    given: Document = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """What the model says once it is its turn. `used` is how many tokens it claims the request had."""

    words: str = ""
    calls: tuple[Call, ...] = ()
    used: int = 1_000
    once: bool = False
    """Said a single time: whoever compacts sends the prompt again, and is not to compact for ever."""
    before: Callable[[], object] | None = None
    """Done before it is said, while the host waits: what holds then held when the host asked."""


@dataclass(frozen=True)
class Said:
    """One turn of a request, whatever its protocol: who, which texts, whether it calls a tool."""

    role: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """What a host asked the model."""

    path: str
    body: Document
    turns: tuple[Said, ...]
    tools: tuple[str, ...]

    def has(self, prompt: str) -> bool:
        """Whether somebody has sent what begins so."""
        texts = [text for said in self.turns if said.role == "user" for text in said.texts]
        return any(_typed(text).startswith(prompt) for text in texts)

    @property
    def words(self) -> str:
        """Everything that the model can read in it, from the first to the last."""
        return "\n".join(_strings({name: value for name, value in self.body.items() if name != "tools"}))


class Model:
    """The server, as a context manager; `address` is its root."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._script: dict[str, Sequence[Step]] = {}
        self._spoken: set[tuple[str, int]] = set()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Model:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answers(self, prompt: str, *steps: Step | str) -> str:
        """Say these, one after the other, to whoever sends what begins so; return the prompt."""
        self._script[prompt] = [Step(one) if isinstance(one, str) else one for one in steps]
        self._spoken -= {(prompt, at) for at in range(len(steps))}
        return prompt

    def next_step(self, request: Request) -> Step:
        """Keep a request, and return what is said to it."""
        with self._lock:
            self.requests.append(request)
            for at in reversed(range(len(request.turns))):
                for text in reversed(request.turns[at].texts if request.turns[at].role == "user" else ()):
                    said = _typed(text)
                    prompt = next((one for one in self._script if said.startswith(one)), None)
                    if prompt is not None:
                        return self._step(prompt, _rounds(request.turns[at + 1 :]))
        return Step("Good.")

    def _step(self, prompt: str, spoken: int) -> Step:
        steps = self._script[prompt]
        while spoken < len(steps) and steps[spoken].once and (prompt, spoken) in self._spoken:
            spoken += 1
        self._spoken.add((prompt, spoken))
        return steps[spoken] if spoken < len(steps) else Step("Good.")

    def since(self, count: int) -> list[Request]:
        """The requests after the first so many."""
        with self._lock:
            return self.requests[count:]


def _typed(text: str) -> str:
    """A person's text, without what Gemini CLI and Copilot CLI put before it, and the quotes of `opencode run`."""
    before = r"\A\s*<(hook_context|current_datetime)>.*?</\1>"
    return re.sub(before, "", text, flags=re.DOTALL).strip().lstrip('"')


def _rounds(turns: Sequence[Said]) -> int:
    """How often the model has spoken: what it says and calls at once is one time."""
    roles = [said.role for said in turns]
    return sum(role == "assistant" and before != "assistant" for before, role in zip(["", *roles], roles, strict=False))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


# --- the four protocols ------------------------------------------------------------------------------------


def _texts(content: object) -> tuple[str, ...]:
    if isinstance(content, str):
        return (content,)
    parts = content if isinstance(content, list) else []
    return tuple(str(one["text"]) for one in parts if isinstance(one, dict) and isinstance(one.get("text"), str))


def _messages(path: str, body: Document) -> Request:
    turns = tuple(Said(one["role"], _texts(one["content"])) for one in body.get("messages", []))
    return Request(path, body, turns, tuple(tool["name"] for tool in body.get("tools") or []))


def _responses(path: str, body: Document) -> Request:
    turns: list[Said] = []
    for item in body.get("input", []):
        kind = item.get("type", "message")
        if kind == "message":
            turns.append(Said(item["role"], _texts(item.get("content"))))
        elif kind.endswith("_call"):
            turns.append(Said("assistant", ()))
        elif kind.endswith("_output"):
            turns.append(Said("tool", ()))
    tools: list[str] = []
    for tool in body.get("tools") or []:
        if tool.get("type") == "namespace":
            tools += [f"{tool['name']}.{one['name']}" for one in tool.get("tools", [])]
        else:
            tools.append(str(tool.get("name", tool.get("type"))))
    return Request(path, body, tuple(turns), tuple(tools))


def _completions(path: str, body: Document) -> Request:
    turns = tuple(Said(one["role"], _texts(one.get("content"))) for one in body.get("messages", []))
    return Request(path, body, turns, tuple(tool["function"]["name"] for tool in body.get("tools") or []))


def _contents(path: str, body: Document) -> Request:
    turns = []
    for one in body.get("contents", []):
        texts = _texts(one.get("parts"))
        role = "assistant" if one.get("role") == "model" else "user" if texts else "tool"
        turns.append(Said(role, texts))
    declared = [tool for group in body.get("tools") or [] for tool in group.get("functionDeclarations", [])]
    return Request(path, body, tuple(turns), tuple(tool["name"] for tool in declared))


_NUMBERS = itertools.count(1)


def _name(request: Request, call: Call) -> str:
    """The tool as the host offers it; as it was asked for where it is not among them, and the host says so."""
    offered = sorted((one for one in request.tools if one.endswith(call.tool)), key=len)
    return offered[0] if offered else call.tool


def _as_messages(request: Request, step: Step) -> Iterator[Document]:
    blocks: list[tuple[Document, Document]] = []
    if step.words:
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": step.words}))
    for call in step.calls:
        block = {"type": "tool_use", "id": f"toolu_{next(_NUMBERS)}", "name": _name(request, call), "input": {}}
        blocks.append((block, {"type": "input_json_delta", "partial_json": json.dumps(call.given)}))
    usage = {"input_tokens": step.used, "output_tokens": 20}
    message: Document = {
        "id": f"msg_{next(_NUMBERS)}", "type": "message", "role": "assistant", "model": request.body.get("model"),
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    yield {"type": "message_start", "message": message}
    for index, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = "tool_use" if step.calls else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


def _as_responses(request: Request, step: Step) -> Iterator[Document]:
    items: list[Document] = []
    if step.words:
        text = {"type": "output_text", "text": step.words, "annotations": []}
        items.append({"type": "message", "id": f"msg_{next(_NUMBERS)}", "role": "assistant", "content": [text]})
    for call in step.calls:
        space, _, name = _name(request, call).rpartition(".")
        item = {
            "type": "function_call", "id": f"fc_{next(_NUMBERS)}", "call_id": f"call_{next(_NUMBERS)}", "name": name,
            "arguments": json.dumps(call.given),
        }  # fmt: skip
        items.append({**item, "namespace": space} if space else item)
    usage = {
        "input_tokens": step.used, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": step.used + 20,
    }  # fmt: skip
    answer = {"id": f"resp_{next(_NUMBERS)}", "object": "response", "model": request.body.get("model")}
    yield {"type": "response.created", "response": {**answer, "status": "in_progress", "output": []}}
    for index, item in enumerate(items):
        yield {"type": "response.output_item.done", "output_index": index, "item": {**item, "status": "completed"}}
    yield {"type": "response.completed", "response": {**answer, "status": "completed", "output": items, "usage": usage}}


def _as_completions(request: Request, step: Step) -> Iterator[Document]:
    answer = {"id": f"chatcmpl-{next(_NUMBERS)}", "object": "chat.completion.chunk", "created": 0}
    answer["model"] = request.body.get("model") or ""
    deltas: list[Document] = [{"role": "assistant", "content": step.words}]
    for index, call in enumerate(step.calls):
        function = {"name": _name(request, call), "arguments": json.dumps(call.given)}
        one = {"index": index, "id": f"call_{next(_NUMBERS)}", "type": "function", "function": function}
        deltas.append({"tool_calls": [one]})
    for delta in deltas:
        yield {**answer, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    usage = {"prompt_tokens": step.used, "completion_tokens": 20, "total_tokens": step.used + 20}
    reason = "tool_calls" if step.calls else "stop"
    yield {**answer, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}


def _as_contents(request: Request, step: Step) -> Iterator[Document]:
    parts: list[Document] = [{"text": step.words}] if step.words else []
    parts += [{"functionCall": {"name": _name(request, call), "args": call.given}} for call in step.calls]
    usage = {"promptTokenCount": step.used, "candidatesTokenCount": 20, "totalTokenCount": step.used + 20}
    content = {"role": "model", "parts": parts or [{"text": ""}]}
    candidate = {"index": 0, "content": content, "finishReason": "STOP"}
    yield {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}


_PROTOCOLS = {
    ":streamGenerateContent": (_contents, _as_contents),
    ":generateContent": (_contents, _as_contents),
    "/messages": (_messages, _as_messages),
    "/responses": (_responses, _as_responses),
    "/chat/completions": (_completions, _as_completions),
}


def _told(event: Document) -> str:
    """One event of a stream; those of the older protocol have no names."""
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n"


def _handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(gzip.decompress(raw) if self.headers.get("Content-Encoding") == "gzip" else raw)
            path = self.path.partition("?")[0]
            if path.endswith(("/count_tokens", ":countTokens")):
                counted = dict.fromkeys(("input_tokens", "totalTokens"), len(raw) // 4)
                self._answer("application/json", json.dumps(counted))
                return
            found = next((both for end, both in _PROTOCOLS.items() if path.endswith(end)), None)
            if found is None:
                self.send_error(404)
                return
            read, write = found
            request = read(path, body)
            step = model.next_step(request)
            if step.before is not None:
                step.before()
            events = write(request, step)
            if path.endswith(":generateContent"):
                self._answer("application/json", json.dumps(next(events)))
            else:
                self._answer("text/event-stream", "".join(map(_told, events)))

        def do_GET(self) -> None:
            self._answer("application/json", json.dumps({"object": "list", "data": []}))

        def do_HEAD(self) -> None:
            self.do_GET()

        def _answer(self, kind: str, text: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(text.encode())

        def log_message(self, *told: object) -> None:
            """Nobody reads it."""

    return Handler
