"""Fence trial: whether recorded text escapes from its fence: a thousand texts through every place that reaches a model.

The texts are kept as notes, to-dos, reminders, facts, diary entries, messages, commands that failed, names and tags.
Then everything that a model may receive is requested: hooks of six hosts, each reading tool of each profile, resources,
prompts. `fence_reader`, which shares no code with the fence, reads every answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from palazzo.bench import Cell, Progress
from palazzo.bench.fence_reader import escapes, is_fenced, words_in
from palazzo.bench.fence_texts import COUNT, AttackText, generate_attacks
from palazzo.bench.injection_trial import transcript
from palazzo.bench.poison_hosts import SESSIONS
from palazzo.bench.poison_session import Used, Utterance
from palazzo.bench.poison_tools import call_of
from palazzo.bench.service_home import Agent, ServiceSandbox, open_sandbox, payload
from palazzo.errors import PalazzoError

_A_PROJECT = 40
"""Number of texts that share a project: about the number from which a wake-up chooses."""
_SEARCH_TOOLS = ("search", "read")
"""Tools with which every text is searched for. Other tools are used for one text in this many:"""
_EVERY = 11
_NAME = 120
"""Characters of a text that are used as a name."""
PROFILES = ("palazzo", "mempalace", "shodh")
_KINDS = (
    "note",
    "note",
    "note",
    "on a file",
    "to-do",
    "reminder",
    "fact",
    "diary",
    "said",
    "failed",
    "named",
    "tagged",
)


@dataclass(slots=True)
class Inspection:
    """The output checked at one kind of place: number of answers, the texts they showed, and the tags that escaped."""

    answers: int = 0
    words: set[str] = field(default_factory=set)
    out: Counter[str] = field(default_factory=Counter)
    bare: Counter[str] = field(default_factory=Counter)
    """Places where recorded words were shown outside a fence and outside JSON."""

    def look(self, answer: str, location: str) -> None:
        """Check one answer."""
        self.answers += 1
        self.words |= words_in(answer)
        for _, reason in escapes(answer):
            self.out[f"{location}: {reason}"] += 1

    def look_read(self, text: str, location: str, query_word: str = "") -> None:
        """Check one answer that a model reads as text; `asked` is a word from the request."""
        self.look(text, location)
        if not is_fenced(text.replace(query_word, "") if query_word else text):
            self.bare[location] += 1


Inspections = Mapping[str, Inspection]


def rows(report: Progress, count: int = COUNT) -> tuple[dict[str, Cell], ...]:
    """Return a row for each kind of place, and one for all."""
    inspections = run(report, count)
    table_rows = [_row(place, inspection) for place, inspection in inspections.items()]
    whole = Inspection(
        sum(entry.answers for entry in inspections.values()),
        set().union(*(entry.words for entry in inspections.values())),
        sum((entry.out for entry in inspections.values()), Counter()),
        sum((entry.bare for entry in inspections.values()), Counter()),
    )
    return (*table_rows, _row("all", whole))


def _row(place: str, inspection: Inspection) -> dict[str, Cell]:
    return {
        "place": place,
        "answers": inspection.answers,
        "texts shown": len(inspection.words),
        "came out": inspection.out.total(),
        "in no fence": inspection.bare.total(),
    }


def run(report: Progress, count: int = COUNT, hosts: Sequence[str] = tuple(SESSIONS)) -> Inspections:
    """Store this many texts, request them at every place, and return the results for each."""
    texts = list(generate_attacks(count))
    groups = [texts[at : at + _A_PROJECT] for at in range(0, count, _A_PROJECT)]
    inspections = {name: Inspection() for name in ("hooks", "tools", "resources", "prompts")}
    with open_sandbox({"PALAZZO_CHECK_DUPLICATES": "off"}) as sandbox:
        projects = []
        for n, group in enumerate(groups):
            report("keeping", n, len(groups))
            projects.append(_keep(sandbox, group, sandbox.home / "projects" / f"p{n:02}"))
        sandbox.settle()
        for n, (group, project) in enumerate(zip(groups, projects, strict=True)):
            report("reading", n, len(groups))
            _hooks(sandbox, hosts, group, project, inspections)
            for profile in PROFILES:
                with sandbox.agent("an agent", project.path, profile=profile) as agent:
                    _tools(agent, profile, group, project, inspections)
        report("reading", len(groups), len(groups))
    return inspections


# --- keeping -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Project:
    """Location of a group of texts, and the ids of the stored texts."""

    path: Path
    ids: dict[str, str] = field(default_factory=dict)


def _keep(sandbox: ServiceSandbox, group: Sequence[AttackText], path: Path) -> _Project:
    (path / "src").mkdir(parents=True)
    (path / "src" / "main.py").write_text("MAIN = 1\n")
    project = _Project(path)
    session = SESSIONS["claude-code"](sandbox.home, path)
    for n, attack in enumerate(group):
        kind = _KINDS[n % len(_KINDS)]
        if kind == "said":
            session.add(Utterance("user", attack.text))
            session.add(Utterance("assistant", f"We decided: {attack.text}"))
        elif kind == "failed":
            command = f"make {attack.word}"
            session.add(Used("shell", command, f"error: {attack.text}", True))
            session.add(Used("edit", attack.text, "done"))
            session.add(Used("shell", command, "ok"))
        else:
            try:
                project.ids[attack.word] = _store_text(sandbox, kind, attack, path)
            except PalazzoError:  # no such name is allowed: then it reaches nobody as one
                project.ids[attack.word] = _store_text(sandbox, "note", attack, path)
    sandbox.hook(
        "claude-code", "stop", payload("claude-code", session.session, path, transcript=transcript(session)), path
    )
    return project


def _store_text(sandbox: ServiceSandbox, kind: str, attack: AttackText, path: Path) -> str:
    """Store a text as an entry of that kind, and return its id."""
    short = " ".join(attack.text.split())[:_NAME]
    if kind == "to-do":
        result = sandbox.call("todo-add", path, text=attack.text)
    elif kind == "reminder":
        result = sandbox.call("remind", path, text=attack.text, file="src/main.py", at="2026-01-01")
    elif kind == "fact":
        result = sandbox.call("kg-add", path, subject=attack.word, predicate="is said of", object=short)
    elif kind == "diary":
        result = sandbox.call("diary-write", path, agent="an agent", text=attack.text, topic=attack.word)
    else:
        kinds: dict[str, dict[str, Any]] = {
            "on a file": {"anchors": ["src/main.py"]},
            "named": {"room": short, "kind": "decision", "by": short[:60]},
            "tagged": {"tags": [short[:60]]},
        }
        more = kinds.get(kind, {"kind": "decision"})
        result = sandbox.call("remember", path, text=attack.text, **more)
    return str(result.get("id", ""))


# --- asking ------------------------------------------------------------------------------------------------


def _hooks(
    sandbox: ServiceSandbox,
    hosts: Sequence[str],
    group: Sequence[AttackText],
    project: _Project,
    inspections: Inspections,
) -> None:
    for host in hosts:
        for event, fields in _events(host):
            event_payload = payload(host, f"{host}-{event}-{project.path.name}", project.path, **fields)
            _look_hook(sandbox.hook(host, event, event_payload, project.path), f"{host} {event}", inspections["hooks"])
    for n, attack in enumerate(group):
        host = hosts[n % len(hosts)]
        asks = f"what did we decide about {attack.word}?"
        event_payload = payload(host, f"{host}-{attack.word}", project.path, prompt=asks)
        _look_hook(sandbox.hook(host, "prompt", event_payload, project.path), f"{host} prompt", inspections["hooks"])
        if _KINDS[n % len(_KINDS)] == "failed":
            name, arguments = call_of(host, Used("shell", f"make {attack.word}", ""))
            failed = (name, arguments, f"error: {attack.text}", f"error: {attack.text}")
            event_payload = payload(host, f"{host}-failed-{attack.word}", project.path, tool=failed)
            _look_hook(
                sandbox.hook(host, "tool-failure", event_payload, project.path),
                f"{host} tool-failure",
                inspections["hooks"],
            )


def _look_hook(answer: str, location: str, inspection: Inspection) -> None:
    inspection.look(answer, location)
    for text in _read_by_model(json.loads(answer)):
        if not is_fenced(text):
            inspection.bare[location] += 1


def _read_by_model(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _read_by_model(item)


def _events(host: str) -> Iterator[tuple[str, dict[str, Any]]]:
    name, arguments = call_of(host, Used("read", "src/main.py", ""))
    yield "session-start", {"source": "startup"}
    yield "subagent-start", {"agent": "a1", "agent_kind": "general"}
    yield "prompt", {"prompt": "What did we do last time?"}
    yield "pre-tool", {"tool": (name, arguments, "", "")}
    yield "post-tool", {"tool": (name, arguments, "MAIN = 1", "")}
    yield "stop", {"last_message": "Done."}


def _tools(
    agent: Agent, profile: str, group: Sequence[AttackText], project: _Project, inspections: Inspections
) -> None:
    tools = agent.ask("tools/list")["tools"]
    inspections["tools"].look(json.dumps(tools), f"{profile} tools/list")
    inspections["tools"].look_read(str(agent.greeting.get("instructions", "")), f"{profile} instructions")
    reading = [tool for tool in tools if tool["annotations"]["readOnlyHint"]]
    for n, attack in enumerate(group):
        values = _values(attack, project)
        for tool in reading:
            finds = profile == "palazzo" and tool["name"] in _SEARCH_TOOLS
            if finds or n % _EVERY == 0:
                _use(agent, tool, values, profile, inspections["tools"])
        if profile == "palazzo" and n % _EVERY == 0:
            _look_result(agent.use("remember", text=attack.text), "remember, again", inspections["tools"])
    if profile != "palazzo":
        return
    for address in _addresses(agent, group, project, inspections["resources"]):
        response = agent.ask("resources/read", uri=address)
        for content in response.get("contents", ()):
            inspections["resources"].look_read(
                str(content.get("text", "")), address.partition("//")[2].partition("/")[0]
            )
        inspections["resources"].look(json.dumps(response.get("error", "")), "resources/read")
    for prompt in agent.ask("prompts/list")["prompts"]:
        inspections["prompts"].look(json.dumps(agent.ask("prompts/get", name=prompt["name"])), prompt["name"])


def _values(attack: AttackText, project: _Project) -> dict[str, Any]:
    """Return a tool's arguments, by name."""
    sentence, uid = f"{attack.word} and the deploy", project.ids.get(attack.word, "")
    query_values = dict.fromkeys(
        ("query", "context", "topic", "error", "content", "text", "message", "query_text"), sentence
    )
    name_values = dict.fromkeys(("entity", "subject", "name", "start_entity", "entity_name", "tool"), attack.word)
    id_values = dict.fromkeys(("id", "drawer_id", "memory_id", "ids", "memory_ids"), uid)
    return {
        **query_values,
        **name_values,
        **id_values,
        "agent": "an agent",
        "agent_name": "an agent",
        "include_external": True,
    }


def _use(
    agent: Agent, tool: Mapping[str, Any], values: Mapping[str, Any], profile: str, inspection: Inspection
) -> None:
    schema = tool["inputSchema"]
    argument_names = set(schema.get("required", ())) | (
        {"query", "id", "entity", "agent", "timeout_ms"} & set(schema["properties"])
    )
    arguments: dict[str, Any] = {}
    for name in argument_names:
        kind = schema["properties"][name].get("type")
        value = values.get(name, _something(kind))
        arguments[name] = [value] if kind == "array" and not isinstance(value, list) else value
    _look_result(agent.use(tool["name"], **arguments), f"{profile} {tool['name']}", inspection, str(values["entity"]))


def _something(kind: object) -> Any:
    """Return a value for an argument of which only the type is known."""
    return {"integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}.get(str(kind), "the deploy")


def _look_result(result: Mapping[str, Any], location: str, inspection: Inspection, query_word: str = "") -> None:
    """Check a tool's answer: some hosts show the JSON alone, others the text alone."""
    if "structuredContent" in result:
        inspection.look(json.dumps(result["structuredContent"]), f"{location}, JSON")
    for block in result.get("content", ()):
        inspection.look_read(str(block.get("text", "")), location, query_word)
    inspection.look(json.dumps(result.get("error", "")), f"{location}, refused")


def _addresses(agent: Agent, group: Sequence[AttackText], project: _Project, inspection: Inspection) -> Iterator[str]:
    resource_list = agent.ask("resources/list")
    inspection.look(json.dumps(resource_list), "resources/list")
    yield from (f"palazzo://drawer/{quote(uid)}" for uid in project.ids.values() if uid)
    yield from (f"palazzo://drawer/{attack.word}" for attack in group[:1])
    yield f"palazzo://wing/{quote(project.path.name)}"
    yield f"palazzo://diary/{quote('an agent')}"
