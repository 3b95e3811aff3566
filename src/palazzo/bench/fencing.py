"""Whether recorded words come out of what they are shown in: a thousand texts through every place that reaches a model.

The texts are kept as notes, to-dos, reminders, facts, diary entries, messages, commands that failed, names and tags.
Then all is asked for that a model may be given: hooks of six hosts, a prompt without a service, each reading tool of
each profile, resources, prompts. Whatever is answered is read by `fence_reader`, which shares nothing with the fence.
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
from palazzo.bench.fence_texts import COUNT, Forged, forged
from palazzo.bench.injection import transcript
from palazzo.bench.poisoned import Said, Used
from palazzo.bench.poisoned_hosts import SESSIONS
from palazzo.bench.poisoned_tools import call_of
from palazzo.bench.served import Agent, Served, payload, served
from palazzo.errors import PalazzoError

_A_PROJECT = 40
"""Texts that share a project: about as many as a wake-up chooses from."""
_FINDING = ("search", "read")
"""Tools that every text is looked for with; with the others one of so many:"""
_EVERY = 11
_NAME = 120
"""Characters of a text that are made a name of."""
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
class Looked:
    """What was looked through at a kind of place: answers, which texts they showed, and what came out of them."""

    answers: int = 0
    words: set[str] = field(default_factory=set)
    out: Counter[str] = field(default_factory=Counter)
    bare: Counter[str] = field(default_factory=Counter)
    """Where recorded words were shown in no fence and in no JSON."""

    def look(self, answer: str, where: str) -> None:
        """Look through one answer."""
        self.answers += 1
        self.words |= words_in(answer)
        for _, how in escapes(answer):
            self.out[f"{where}: {how}"] += 1

    def look_read(self, text: str, where: str, asked: str = "") -> None:
        """Look through one answer that a model reads as it is; `asked` is a word that it was asked for."""
        self.look(text, where)
        if not is_fenced(text.replace(asked, "") if asked else text):
            self.bare[where] += 1


Found = Mapping[str, Looked]


def rows(report: Progress, count: int = COUNT) -> tuple[dict[str, Cell], ...]:
    """Return a row for each kind of place, and one of all."""
    found = run(report, count)
    told = [_row(place, looked) for place, looked in found.items()]
    whole = Looked(
        sum(one.answers for one in found.values()),
        set().union(*(one.words for one in found.values())),
        sum((one.out for one in found.values()), Counter()),
        sum((one.bare for one in found.values()), Counter()),
    )
    return (*told, _row("all", whole))


def _row(place: str, looked: Looked) -> dict[str, Cell]:
    return {
        "place": place,
        "answers": looked.answers,
        "texts shown": len(looked.words),
        "came out": looked.out.total(),
        "in no fence": looked.bare.total(),
    }


def run(report: Progress, count: int = COUNT, hosts: Sequence[str] = tuple(SESSIONS)) -> Found:
    """Keep so many texts, ask for them at every place, and return what was seen at each."""
    texts = list(forged(count))
    groups = [texts[at : at + _A_PROJECT] for at in range(0, count, _A_PROJECT)]
    found = {name: Looked() for name in ("hooks", "without a service", "tools", "resources", "prompts")}
    with served({"PALAZZO_CHECK_DUPLICATES": "off"}) as here:
        projects = []
        for n, group in enumerate(groups):
            report("keeping", n, len(groups))
            projects.append(_keep(here, group, here.home / "projects" / f"p{n:02}"))
        here.settle()
        for n, (group, project) in enumerate(zip(groups, projects, strict=True)):
            report("reading", n, len(groups))
            _hooks(here, hosts, group, project, found)
            for profile in PROFILES:
                with here.agent("an agent", project.path, profile=profile) as agent:
                    _tools(agent, profile, group, project, found)
        report("reading", len(groups), len(groups))
    return found


# --- keeping -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Project:
    """Where a group of texts is kept, and the ids of what was kept."""

    path: Path
    ids: dict[str, str] = field(default_factory=dict)


def _keep(here: Served, group: Sequence[Forged], path: Path) -> _Project:
    (path / "src").mkdir(parents=True)
    (path / "src" / "main.py").write_text("MAIN = 1\n")
    project = _Project(path)
    session = SESSIONS["claude-code"](here.home, path)
    for n, one in enumerate(group):
        kind = _KINDS[n % len(_KINDS)]
        if kind == "said":
            session.add(Said("user", one.text))
            session.add(Said("assistant", f"We decided: {one.text}"))
        elif kind == "failed":
            command = f"make {one.word}"
            session.add(Used("shell", command, f"error: {one.text}", True))
            session.add(Used("edit", one.text, "done"))
            session.add(Used("shell", command, "ok"))
        else:
            try:
                project.ids[one.word] = _kept(here, kind, one, path)
            except PalazzoError:  # no such name is allowed: then it reaches nobody as one
                project.ids[one.word] = _kept(here, "note", one, path)
    here.hook(
        "claude-code", "stop", payload("claude-code", session.session, path, transcript=transcript(session)), path
    )
    return project


def _kept(here: Served, kind: str, one: Forged, path: Path) -> str:
    """Keep a text as what it is to be, and return its id."""
    short = " ".join(one.text.split())[:_NAME]
    if kind == "to-do":
        result = here.call("todo-add", path, text=one.text)
    elif kind == "reminder":
        result = here.call("remind", path, text=one.text, file="src/main.py", at="2026-01-01")
    elif kind == "fact":
        result = here.call("kg-add", path, subject=one.word, predicate="is said of", object=short)
    elif kind == "diary":
        result = here.call("diary-write", path, agent="an agent", text=one.text, topic=one.word)
    else:
        kinds: dict[str, dict[str, Any]] = {
            "on a file": {"anchors": ["src/main.py"]},
            "named": {"room": short, "kind": "decision", "by": short[:60]},
            "tagged": {"tags": [short[:60]]},
        }
        more = kinds.get(kind, {"kind": "decision"})
        result = here.call("remember", path, text=one.text, **more)
    return str(result.get("id", ""))


# --- asking ------------------------------------------------------------------------------------------------


def _hooks(here: Served, hosts: Sequence[str], group: Sequence[Forged], project: _Project, found: Found) -> None:
    for host in hosts:
        for event, fields in _events(host):
            told = payload(host, f"{host}-{event}-{project.path.name}", project.path, **fields)
            _look_hook(here.hook(host, event, told, project.path), f"{host} {event}", found["hooks"])
    for n, one in enumerate(group):
        host = hosts[n % len(hosts)]
        asks = f"what did we decide about {one.word}?"
        told = payload(host, f"{host}-{one.word}", project.path, prompt=asks)
        _look_hook(here.hook(host, "prompt", told, project.path), f"{host} prompt", found["hooks"])
        told = payload(host, f"{host}-alone-{one.word}", project.path, prompt=asks)
        _look_hook(here.unaided(host, told), f"{host} alone", found["without a service"])
        if _KINDS[n % len(_KINDS)] == "failed":
            name, arguments = call_of(host, Used("shell", f"make {one.word}", ""))
            failed = (name, arguments, f"error: {one.text}", f"error: {one.text}")
            told = payload(host, f"{host}-failed-{one.word}", project.path, tool=failed)
            _look_hook(here.hook(host, "tool-failure", told, project.path), f"{host} tool-failure", found["hooks"])


def _look_hook(answer: str, where: str, looked: Looked) -> None:
    looked.look(answer, where)
    for text in _read_by_model(json.loads(answer)):
        if not is_fenced(text):
            looked.bare[where] += 1


def _read_by_model(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _read_by_model(one)


def _events(host: str) -> Iterator[tuple[str, dict[str, Any]]]:
    name, arguments = call_of(host, Used("read", "src/main.py", ""))
    yield "session-start", {"source": "startup"}
    yield "subagent-start", {"agent": "a1", "agent_kind": "general"}
    yield "prompt", {"prompt": "What did we do last time?"}
    yield "pre-tool", {"tool": (name, arguments, "", "")}
    yield "post-tool", {"tool": (name, arguments, "MAIN = 1", "")}
    yield "stop", {"last_message": "Done."}


def _tools(agent: Agent, profile: str, group: Sequence[Forged], project: _Project, found: Found) -> None:
    listed = agent.ask("tools/list")["tools"]
    found["tools"].look(json.dumps(listed), f"{profile} tools/list")
    found["tools"].look_read(str(agent.greeting.get("instructions", "")), f"{profile} instructions")
    reading = [tool for tool in listed if tool["annotations"]["readOnlyHint"]]
    for n, one in enumerate(group):
        values = _values(one, project)
        for tool in reading:
            finds = profile == "palazzo" and tool["name"] in _FINDING
            if finds or n % _EVERY == 0:
                _use(agent, tool, values, profile, found["tools"])
        if profile == "palazzo" and n % _EVERY == 0:
            _look_result(agent.use("remember", text=one.text), "remember, again", found["tools"])
    if profile != "palazzo":
        return
    for address in _addresses(agent, group, project, found["resources"]):
        answered = agent.ask("resources/read", uri=address)
        for content in answered.get("contents", ()):
            found["resources"].look_read(str(content.get("text", "")), address.partition("//")[2].partition("/")[0])
        found["resources"].look(json.dumps(answered.get("error", "")), "resources/read")
    for prompt in agent.ask("prompts/list")["prompts"]:
        found["prompts"].look(json.dumps(agent.ask("prompts/get", name=prompt["name"])), prompt["name"])


def _values(one: Forged, project: _Project) -> dict[str, Any]:
    """What a tool's arguments are given, by their names."""
    said, uid = f"{one.word} and the deploy", project.ids.get(one.word, "")
    asked = dict.fromkeys(("query", "context", "topic", "content", "text", "message", "query_text"), said)
    named = dict.fromkeys(("entity", "subject", "name", "start_entity", "entity_name"), one.word)
    known = dict.fromkeys(("id", "drawer_id", "memory_id", "ids", "memory_ids"), uid)
    return {**asked, **named, **known, "agent": "an agent", "agent_name": "an agent", "include_external": True}


def _use(agent: Agent, tool: Mapping[str, Any], values: Mapping[str, Any], profile: str, looked: Looked) -> None:
    schema = tool["inputSchema"]
    wanted = set(schema.get("required", ())) | ({"query", "id", "entity", "agent"} & set(schema["properties"]))
    given: dict[str, Any] = {}
    for name in wanted:
        kind = schema["properties"][name].get("type")
        value = values.get(name, _something(kind))
        given[name] = [value] if kind == "array" and not isinstance(value, list) else value
    _look_result(agent.use(tool["name"], **given), f"{profile} {tool['name']}", looked, str(values["entity"]))


def _something(kind: object) -> Any:
    """Return something for an argument of which nothing is known but its type."""
    return {"integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}.get(str(kind), "the deploy")


def _look_result(result: Mapping[str, Any], where: str, looked: Looked, asked: str = "") -> None:
    """Look through what a tool answered: some hosts show the JSON alone, others the text alone."""
    if "structuredContent" in result:
        looked.look(json.dumps(result["structuredContent"]), f"{where}, JSON")
    for block in result.get("content", ()):
        looked.look_read(str(block.get("text", "")), where, asked)
    looked.look(json.dumps(result.get("error", "")), f"{where}, refused")


def _addresses(agent: Agent, group: Sequence[Forged], project: _Project, looked: Looked) -> Iterator[str]:
    listed = agent.ask("resources/list")
    looked.look(json.dumps(listed), "resources/list")
    yield from (f"palazzo://drawer/{quote(uid)}" for uid in project.ids.values() if uid)
    yield from (f"palazzo://drawer/{one.word}" for one in group[:1])
    yield f"palazzo://wing/{quote(project.path.name)}"
    yield f"palazzo://diary/{quote('an agent')}"
