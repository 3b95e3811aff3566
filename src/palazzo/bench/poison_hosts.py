"""Sessions in the formats of six hosts, written step by step as they happen, where the host's hooks find them.

Only the parts of a transcript that Palazzo reads are written; their shapes are those of files that the hosts themselves
wrote. `SESSIONS` has a writer for each host. The beginning of a session, and each step, is on disk when the call
returns.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from palazzo.bench.poison_session import Delegation, NameStep, Step, Used, Utterance
from palazzo.bench.poison_tools import DELEGATES, Row, call_of


class Session:
    """A session of one host; its rows are written in order.

    `agent` is a sub-agent's id, `parent` is the id of its parent.
    """

    host = ""

    def __init__(
        self, home: Path, project: Path, parent: str = "", agent: str = "", began: datetime | None = None
    ) -> None:
        self.home, self.project, self.parent, self.agent = home, project, parent, agent
        self.agents: list[Session] = []
        """The sessions of its sub-agents, if the host stores them separately."""
        self.session = str(uuid.uuid4())
        self.began = self._now = began or datetime.now(UTC) - timedelta(minutes=5)
        self.path = self._place()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._begin()

    def add(self, step: Step) -> None:
        """Write a step."""
        if isinstance(step, Utterance):
            self._say(step)
        elif isinstance(step, Used):
            name, arguments = call_of(self.host, step)
            self._use(self._id(), name, arguments, step.output, step.failed)
        elif isinstance(step, Delegation):
            call = self._id()
            self._delegate(call, step)
        elif isinstance(step, NameStep):
            self._name(step)

    def use(self, name: str, arguments: Row, tool_output: str) -> None:
        """Write a tool's call, with the host's own name for it."""
        self._use(self._id(), name, arguments, tool_output, False)

    def _place(self) -> Path:
        raise NotImplementedError

    def _begin(self) -> None:
        """Write the rows that a session begins with, if any."""

    def _say(self, utterance: Utterance) -> None:
        raise NotImplementedError

    def _use(self, call: str, name: str, arguments: Row, tool_output: str, failed: bool) -> None:
        raise NotImplementedError

    def _name(self, step: NameStep) -> None:
        """Write a name, if the host's transcripts have a field for it."""

    def _delegate(self, call: str, step: Delegation) -> None:
        """Write a sub-agent's session, and then its report as the tool's answer."""
        self._inner(step)
        self._use(call, DELEGATES[self.host], {"prompt": step.task}, step.report, False)

    def _inner(self, step: Delegation) -> Session:
        """Run a sub-agent in a session of its own, which ends before its report."""
        inner = type(self)(self.home, self.project, self.session, uuid.uuid4().hex[:17], self._now)
        for inner_step in step.steps:
            inner.add(inner_step)
        self.agents.append(inner)
        self._now = inner._now
        return inner

    def _id(self) -> str:
        return f"call_{uuid.uuid4().hex[:20]}"

    def _at(self) -> str:
        """Return the next time, in JavaScript's format."""
        self._now += timedelta(milliseconds=700)
        return self._now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self._now.microsecond // 1000:03}Z"

    def _append(self, *rows: Row) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


class ClaudeCode(Session):
    """Claude Code: a sub-agent's rows are in a separate file beside the session's file."""

    host = "claude-code"
    _last: str | None = None
    _branch = ""

    def _place(self) -> Path:
        folder = self.home / ".claude" / "projects" / str(self.project).replace("/", "-")
        if self.agent:
            return folder / self.parent / "subagents" / f"agent-{self.agent}.jsonl"
        return folder / f"{self.session}.jsonl"

    def _row(self, kind: str, message: Row, **more: Any) -> None:
        own = str(uuid.uuid4())
        row = {
            "parentUuid": self._last,
            "isSidechain": bool(self.agent),
            "type": kind,
            "message": message,
            "uuid": own,
            "timestamp": self._at(),
            "cwd": str(self.project),
            "sessionId": self.parent or self.session,
            "version": "2.1.330",
            **({"gitBranch": self._branch} if self._branch else {}),
            **({"agentId": self.agent} if self.agent else {}),
            **more,
        }
        self._append(row)
        self._last = own

    def _say(self, utterance: Utterance) -> None:
        if utterance.speaker == "assistant":
            self._row("assistant", {"role": "assistant", "content": [{"type": "text", "text": utterance.text}]})
        elif utterance.speaker == "summary":
            self._row("user", {"role": "user", "content": utterance.text}, isCompactSummary=True)
        else:
            self._row("user", {"role": "user", "content": utterance.text})

    def _name(self, step: NameStep) -> None:
        if step.kind == "title":
            self._append({"type": "ai-title", "aiTitle": step.name, "sessionId": self.session})
        elif step.kind == "branch":
            self._branch = step.name

    def _use(self, call: str, name: str, arguments: Row, tool_output: str, failed: bool) -> None:
        use = {"type": "tool_use", "id": call, "name": name, "input": arguments}
        self._row("assistant", {"role": "assistant", "content": [use]})
        result = {"type": "tool_result", "tool_use_id": call, "content": tool_output, "is_error": failed}
        self._row("user", {"role": "user", "content": [result]})


class Codex(Session):
    """Codex: a sub-agent is a separate thread that names its parent."""

    host = "codex"

    def _place(self) -> Path:
        folder = self.home / ".codex" / "sessions" / self.began.strftime("%Y/%m/%d")
        return folder / f"rollout-{self.began.strftime('%Y-%m-%dT%H-%M-%S')}-{self.session}.jsonl"

    def _row(self, kind: str, payload: Row) -> None:
        self._append({"timestamp": self._at(), "type": kind, "payload": payload})

    def _begin(self) -> None:
        source = {"subagent": {"thread_spawn": {"parent_thread_id": self.parent, "depth": 1}}}
        header = {"id": self.session, "cwd": str(self.project), "source": source if self.parent else "exec"}
        self._row("session_meta", header)

    def _say(self, utterance: Utterance) -> None:
        if utterance.speaker == "summary":
            self._row("compacted", {"message": utterance.text})
            return
        block = {"type": "input_text" if utterance.speaker == "user" else "output_text", "text": utterance.text}
        self._row("response_item", {"type": "message", "role": utterance.speaker, "content": [block]})

    def _name(self, step: NameStep) -> None:
        if step.kind == "title":
            self._row("event_msg", {"type": "thread_name_updated", "thread_name": step.name})

    def _use(self, call: str, name: str, arguments: Row, tool_output: str, failed: bool) -> None:
        tool_call = {"type": "function_call", "name": name, "arguments": json.dumps(arguments), "call_id": call}
        output = f"Exit code: 1\nWall time: 0 seconds\nOutput:\n{tool_output}" if failed else tool_output
        self._row("response_item", tool_call)
        self._row("response_item", {"type": "function_call_output", "call_id": call, "output": output})

    def _delegate(self, call: str, step: Delegation) -> None:
        """Write an agent's thread, its start, and the answer of the call that waits for it."""
        inner = self._inner(step)
        self.use("spawn_agent", {"message": step.task}, json.dumps({"agent_id": inner.session}))
        report = {"status": {inner.session: {"completed": step.report}}, "timed_out": False}
        self._use(call, "wait", {"ids": [inner.session]}, json.dumps(report), False)


class Pi(Session):
    """pi: entries name their parent entry. It has no sub-agents; an extension's tool returns what a sub-agent said."""

    host = "pi"
    _entries = 0

    def _place(self) -> Path:
        folder = self.home / ".pi" / "agent" / "sessions" / f"--{str(self.project).strip('/').replace('/', '-')}--"
        return folder / f"{self.began.strftime('%Y-%m-%dT%H-%M-%S-000Z')}_{self.session}.jsonl"

    def _begin(self) -> None:
        header = {"type": "session", "version": 3, "id": self.session, "timestamp": self._at()}
        self._append(header | {"cwd": str(self.project)})

    def _row(self, kind: str, **fields: Any) -> None:
        parent = f"{self._entries:08x}" if self._entries else None
        self._entries += 1
        self._append(
            {"type": kind, "id": f"{self._entries:08x}", "parentId": parent, "timestamp": self._at(), **fields}
        )

    def _say(self, utterance: Utterance) -> None:
        if utterance.speaker == "summary":
            self._row("compaction", summary=utterance.text)
            return
        content = [{"type": "text", "text": utterance.text}]
        self._row("message", message={"role": utterance.speaker, "content": content})

    def _name(self, step: NameStep) -> None:
        if step.kind == "title":
            self._row("session_info", name=step.name)

    def _use(self, call: str, name: str, arguments: Row, tool_output: str, failed: bool) -> None:
        tool_call = {"type": "toolCall", "id": call, "name": name, "arguments": arguments}
        self._row("message", message={"role": "assistant", "content": [tool_call]})
        tool_result = {"role": "toolResult", "toolCallId": call, "toolName": name, "isError": failed}
        self._row("message", message=tool_result | {"content": [{"type": "text", "text": tool_output}]})

    def _delegate(self, call: str, step: Delegation) -> None:
        self._use(call, DELEGATES[self.host], {"prompt": step.task}, step.report, False)


class Gemini(Session):
    """Gemini CLI: a sub-agent's file is in a folder named after its parent."""

    host = "gemini-cli"

    def _place(self) -> Path:
        folder = self.home / ".gemini" / "tmp" / self.project.name / "chats"
        folder = folder / self.parent if self.parent else folder
        return folder / f"session-{self.began.strftime('%Y-%m-%dT%H-%M')}-{self.session[:8]}.jsonl"

    def _begin(self) -> None:
        mark = self.home / ".gemini" / "tmp" / self.project.name / ".project_root"
        mark.write_text(str(self.project))
        at, project_hash = self._at(), hashlib.sha256(str(self.project).encode()).hexdigest()
        header = {"sessionId": self.session, "projectHash": project_hash, "startTime": at, "lastUpdated": at}
        self._append(header | {"kind": "subagent" if self.parent else "main"})

    def _row(self, kind: str, **fields: Any) -> None:
        self._append({"id": str(uuid.uuid4()), "timestamp": self._at(), "type": kind, **fields})

    def _say(self, utterance: Utterance) -> None:
        if utterance.speaker == "summary":
            words = f"<state_snapshot>\n{utterance.text}\n</state_snapshot>"
            message = {"id": str(uuid.uuid4()), "timestamp": self._at(), "type": "user", "content": [{"text": words}]}
            self._append({"$set": {"messages": [message]}})
        elif utterance.speaker == "user":
            self._row("user", content=[{"text": utterance.text}])
        else:
            self._row("gemini", content=utterance.text, model="fake")

    def _name(self, step: NameStep) -> None:
        if step.kind == "title":
            self._append({"$set": {"summary": step.name}})

    def _use(self, call: str, name: str, arguments: Row, tool_output: str, failed: bool) -> None:
        response = {"id": call, "name": name, "response": {"error" if failed else "output": tool_output}}
        tool_call = {"id": call, "name": name, "args": arguments, "status": "error" if failed else "success"}
        self._row(
            "gemini", content="", toolCalls=[tool_call | {"result": [{"functionResponse": response}]}], model="fake"
        )


class Copilot(Session):
    """Copilot CLI: a sub-agent's events are among the session's events and name it."""

    host = "copilot"

    def _place(self) -> Path:
        return self.home / ".copilot" / "session-state" / self.session / "events.jsonl"

    def _row(self, kind: str, **data: Any) -> None:
        row = {"type": kind, "data": data, "id": str(uuid.uuid4()), "timestamp": self._at(), "parentId": None}
        self._append(row | ({"agentId": self.agent} if self.agent else {}))

    def _begin(self) -> None:
        self._row("session.start", sessionId=self.session, context={"cwd": str(self.project)})

    def _say(self, utterance: Utterance) -> None:
        if utterance.speaker == "summary":
            self._row("session.compaction_complete", summaryContent=utterance.text)
        elif utterance.speaker == "user":
            self._row("user.message", content=utterance.text, **({"source": "agent-task"} if self.agent else {}))
        else:
            self._row("assistant.message", messageId=str(uuid.uuid4()), content=utterance.text, toolRequests=[])

    def _name(self, step: NameStep) -> None:
        if step.kind == "title":
            self._row("session.title_changed", title=step.name)
        elif step.kind == "branch":
            self._row("session.context_changed", cwd=str(self.project), branch=step.name)

    def _use(self, call: str, name: str, arguments: Row, tool_output: str, failed: bool) -> None:
        self._ask(call, name, arguments)
        self._answer(call, tool_output, failed)

    def _ask(self, call: str, name: str, arguments: Row) -> None:
        server, _, tool = name.partition("-")
        of_server = {"mcpServerName": server, "mcpToolName": tool} if tool else {}
        request = {"toolCallId": call, "name": name, "arguments": arguments, **of_server}
        self._row("assistant.message", messageId=str(uuid.uuid4()), content="", toolRequests=[request])

    def _answer(self, call: str, tool_output: str, failed: bool) -> None:
        self._row("tool.execution_complete", toolCallId=call, success=not failed, result={"content": tool_output})

    def _delegate(self, call: str, step: Delegation) -> None:
        self._ask(call, DELEGATES[self.host], {"prompt": step.task})
        self.agent = call
        for inner_step in step.steps:
            self.add(inner_step)
        self.agent = ""
        self._answer(call, step.report, False)


class Opencode(Session):
    """opencode, in its tree of JSON files. A sub-agent is a session that names its parent."""

    host = "opencode"
    _entries = 0
    _fields: Row

    def _place(self) -> Path:
        self.session = f"ses_{self.session.replace('-', '')[:24]}"
        return self.storage(self.home) / "session" / "p1" / f"{self.session}.json"

    @staticmethod
    def storage(home: Path) -> Path:
        """Return the root directory of the tree."""
        return home / ".local" / "share" / "opencode" / "storage"

    def _begin(self) -> None:
        (self.storage(self.home) / "message" / self.session).mkdir(parents=True)
        self._fields = {"id": self.session, "title": "", "directory": str(self.project)}
        self._fields |= {"time": {"created": self._ms()}, **({"parentID": self.parent} if self.parent else {})}
        self.path.write_text(json.dumps(self._fields))

    def _name(self, step: NameStep) -> None:
        if step.kind == "title":
            self._fields["title"] = step.name
            self.path.write_text(json.dumps(self._fields))

    def _row(self, role: str, *parts: Row, **more: Any) -> None:
        at = self._ms()
        message = self._make_id("msg", at)
        times = {"created": at} | ({"completed": at + 1} if role == "assistant" else {})
        self._put("message", self.session, message, {"role": role, "time": times, **more})
        for part in parts:
            own = self._make_id("prt", at)
            self._put("part", message, own, {"messageID": message, **part})

    def _put(self, kind: str, folder: str, own: str, fields: Row) -> None:
        place = self.storage(self.home) / kind / folder
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{own}.json").write_text(json.dumps({"id": own, "sessionID": self.session, **fields}))

    def _make_id(self, kind: str, at: int) -> str:
        self._entries += 1
        return f"{kind}_{(at * 4096 + self._entries) % (1 << 48):012x}{self._entries:014d}"

    def _ms(self) -> int:
        self._at()
        return int(self._now.timestamp() * 1000)

    def _say(self, utterance: Utterance) -> None:
        part = {"type": "text", "text": utterance.text}
        if utterance.speaker == "summary":
            self._row("assistant", part, summary=True)
        else:
            self._row(utterance.speaker, part)

    def _use(self, call: str, name: str, arguments: Row, tool_output: str, failed: bool) -> None:
        state = {
            "status": "error" if failed else "completed",
            "input": arguments,
            "error" if failed else "output": tool_output,
        }
        self._row("assistant", {"type": "tool", "tool": name, "callID": call, "state": state})


SESSIONS: Mapping[str, type[Session]] = {
    writer.host: writer for writer in (ClaudeCode, Codex, Opencode, Pi, Gemini, Copilot)
}
"""The session writer of each host."""
