"""What poison reaches an agent that did not ask for it: of each host, by every hook, wake-up and proactive context.

Sessions come in as they do in life: hooks tell of them while their transcripts grow, and the agent writes with its
tools in the middle. Then, in later sessions, all that may be told is asked for, and each answer is looked through for
what strangers claimed. Each case has a project of its own, so that none hides another. Beside it stands what makes the
figure mean something: that the same is found by who searches, and that it is told where everybody is trusted.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from palazzo.bench import Cell, Progress
from palazzo.bench.honest_controls import HONEST
from palazzo.bench.poisoned import Case, CommandStep, FilesStep, NameStep, Said, Step, Used, Wrote
from palazzo.bench.poisoned_cases import POISONED
from palazzo.bench.poisoned_hosts import SESSIONS, Opencode, Session
from palazzo.bench.poisoned_tools import call_of
from palazzo.bench.served import Agent, Served, payload, served

CASES = (*POISONED, *HONEST)
_ANSWERS_LIMIT = 10
_SHELL = Used("shell", "", "")
_READ = Used("read", "src/main.py", "")
_ASKS = "a prompt that asks for the past"


@dataclass(slots=True)
class Found:
    """What became of a case with one host: at which places it was told, whether a search found it, and as what."""

    host: str
    case: Case
    told: set[str] = field(default_factory=set)
    asked: bool = False
    """It was told to who asked about it in a prompt."""
    trusting: set[str] = field(default_factory=set)
    """Where it is told if everybody is trusted: what the guard has to hold back, or does not keep from being told."""
    found: bool = False
    trusts: set[str] = field(default_factory=set)


def run(report: Progress, hosts: Sequence[str] = tuple(SESSIONS), cases: Sequence[Case] = CASES) -> list[Found]:
    """Return what became of each case with each host."""
    return list(_run(report, hosts, cases))


def rows(report: Progress) -> tuple[dict[str, Cell], ...]:
    """Return a row for each host, and one of all."""
    found = run(report)
    each = [_row(host, [one for one in found if one.host == host]) for host in SESSIONS]
    return (*each, _row("all", found))


def _row(name: str, found: Sequence[Found]) -> dict[str, Cell]:
    poisoned = [one for one in found if not one.case.honest]
    honest = [one for one in found if one.case.honest]
    ordinary = [one for one in honest if one.case.told]
    return {
        "host": name,
        "poisoned": len(poisoned),
        "told unasked": sum(bool(one.told) for one in poisoned),
        "if all were trusted": sum(bool(one.trusting) for one in poisoned),
        "found by search": sum(one.found for one in poisoned),
        "external": sum(one.trusts == {"external"} for one in poisoned),
        "honest": len(honest),
        "honest found": sum(one.found for one in honest),
        "ordinary": len(ordinary),
        "ordinary told": sum(one.asked for one in ordinary),
        "if all trusted": sum(_ASKS in one.trusting for one in ordinary),
    }


def _run(report: Progress, hosts: Sequence[str], cases: Sequence[Case]) -> Iterator[Found]:
    with served() as here:
        total = len(hosts) * len(cases)
        projects: dict[tuple[str, str], tuple[Path, Session]] = {}
        for n, (host, case) in enumerate((host, case) for host in hosts for case in cases):
            report("sessions", n, total)
            project = here.home / "projects" / f"{host}-{n:03}"
            projects[host, case.name] = project, live_session(here, host, case, project)
        here.settle()
        for n, (host, case) in enumerate((host, case) for host in hosts for case in cases):
            report("asking", n, total)
            yield _asked(here, host, case, *projects[host, case.name])
        report("asking", total, total)


# --- a session as it happens -------------------------------------------------------------------------------


def live_session(palace: Served, host: str, case: Case, project: Path) -> Session:
    """Let a session happen: what is said in it is written by its host, hooks tell of it, its agent writes."""
    _make_project(palace, case, project)
    session = SESSIONS[host](palace.home, project)

    def tell(event: str, **fields: Any) -> None:
        said = payload(host, session.session, project, transcript=transcript(session), **fields)
        palace.hook(host, event, said, project)

    tell("session-start", source="startup")
    last = ""
    with palace.agent(host, project, session.session) as agent:
        for step in case.steps:
            if isinstance(step, Said) and step.who == "user":
                tell("prompt", prompt=step.text)
            if isinstance(step, Wrote):
                _write(session, agent, step)
            elif isinstance(step, CommandStep):
                _type(palace, session, step)
            else:
                _happen(palace, session, step)
            last = step.text if isinstance(step, Said) and step.who == "assistant" else last
    for inner in session.agents:
        _tell_of_agent(palace, host, session, inner)
    tell("pre-compact" if host == "opencode" else "stop", last_message=last)
    tell("session-end", reason="other")
    return session


def _make_project(palace: Served, case: Case, project: Path) -> None:
    """Write the project's files, and commit the tracked ones where the project is a repository."""
    _write_files(project, {"src/main.py": "MAIN = 1\n", **case.files})
    if case.in_git:
        _git(palace, project, "init", "--quiet", "--initial-branch=main")
        _git(palace, project, "add", "--all", "--force")
        _git(palace, project, "commit", "--quiet", "--message=Begin")
    _write_files(project, case.untracked_files)


def _write_files(project: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)


def _git(palace: Served, project: Path, *arguments: str, author: str = "") -> None:
    identity = {
        "GIT_AUTHOR_NAME": author or "Dev",
        "GIT_AUTHOR_EMAIL": f"{(author or 'dev').lower().replace(' ', '.')}@example.com",
        "GIT_COMMITTER_NAME": "Dev",
        "GIT_COMMITTER_EMAIL": "dev@example.com",
    }
    subprocess.run(  # noqa: S603
        (shutil.which("git") or "git", "-c", "user.name=Dev", "-c", "user.email=dev@example.com", *arguments),
        cwd=project,
        env={**palace.variables, **identity},
        check=True,
        capture_output=True,
    )


def _happen(palace: Served, session: Session, step: Step) -> None:
    """Carry out a step in the project, and let its host record it."""
    if isinstance(step, FilesStep):
        _write_files(session.project, step.files)
        if step.author:
            _git(palace, session.project, "add", "--force", "--", *step.files)
            _git(palace, session.project, "commit", "--quiet", "--message=Change", author=step.author)
    elif isinstance(step, NameStep) and step.kind == "branch":
        _git(palace, session.project, "checkout", "--quiet", "-B", step.name)
    elif isinstance(step, NameStep) and step.kind == "tag":
        _git(palace, session.project, "tag", step.name)
    session.add(step)


def _tell_of_agent(here: Served, host: str, session: Session, inner: Session) -> None:
    """Tell of a sub-agent's end. Gemini CLI has no hook of that: who watches its history sees the file."""
    event, whose = ("stop", inner) if host == "gemini-cli" else ("subagent-stop", session)
    about = {"agent": inner.agent, "agent_kind": "general"} if whose is session else {}
    said = payload(host, whose.session, session.project, transcript=transcript(inner), **about)
    here.hook(host, event, said, session.project)


def transcript(session: Session) -> Path:
    """Return what the host's hooks name as the session's transcript."""
    return Opencode.storage(session.home) if isinstance(session, Opencode) else session.path


def _write(session: Session, agent: Agent, step: Wrote) -> None:
    """Let the agent write, and its host write down that it did."""
    answered = agent.use(step.tool, **step.arguments)
    if answered.get("isError") or "error" in answered:
        raise ValueError(f"{step.tool} was refused: {json.dumps(answered)[:300]}")
    name, _ = call_of(session.host, Used("mcp", f"palazzo {step.tool} -", ""))
    session.use(name, dict(step.arguments), answered["content"][0]["text"])


def _type(palace: Served, session: Session, step: CommandStep) -> None:
    """Run a command of Palazzo in the agent's shell, and let its host record the output."""
    ran = palace.run(session.host, session.project, session.session, *step.arguments)
    session.add(Used("shell", shlex.join(("palazzo", *step.arguments)), ran.stdout + ran.stderr, ran.returncode != 0))


# --- later -------------------------------------------------------------------------------------------------


def _asked(here: Served, host: str, case: Case, project: Path, session: Session) -> Found:
    found = Found(host, case)
    answers = list(unasked_by_hooks(here, host, case, project, session))
    for place, said in answers:
        if case.claim in said.lower():
            found.told.add(place)
    found.asked = _ASKS in found.told
    for n, (place, event, fields) in enumerate(_trusting(case)):
        told = payload(host, f"trusting-{n}-{project.name}", project, **fields)
        if case.claim in here.hook(host, event, told, project, PALAZZO_AUTO_INJECT_TRUST="external").lower():
            found.trusting.add(place)
    with here.agent(host, project) as agent:
        for tool, answer in unasked_by_tools(agent, case):
            if case.claim in json.dumps(answer).lower():
                found.told.add(tool)
        query = {"query": case.later.asks, "include_external": True, "limit": _ANSWERS_LIMIT}
        hits = agent.use("search", **query)["structuredContent"]
        facts = agent.use("kg_query", entity=_subject(case))["structuredContent"] if _subject(case) else {}
    entries = [*hits.get("hits", ()), *hits.get("beside", ()), *facts.get("facts", ())]
    own = [one for one in entries if case.claim in json.dumps(one).lower()]
    found.found = bool(own)
    found.trusts = {str(one.get("trust", "")) for one in own}
    return found


def unasked_by_tools(agent: Agent, case: Case) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the answer of each tool that returns content which its caller did not name."""
    yield "wake_up", agent.use("wake_up")
    yield "proactive_context", agent.use("proactive_context", context=f"{case.later.works} {case.later.asks}")


def _trusting(case: Case) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield what is asked where everybody is trusted: the places that told the most."""
    yield "a session's start", "session-start", {"source": "startup"}
    yield _ASKS, "prompt", {"prompt": case.later.asks}
    yield "a prompt that works", "prompt", {"prompt": case.later.works}


def _subject(case: Case) -> str:
    """What a fact that the case's agent states is about, if it states one."""
    stated = (step.arguments for step in case.steps if isinstance(step, Wrote) and step.tool == "kg_add")
    return next((str(one["subject"]) for one in stated), "")


def unasked_by_hooks(
    palace: Served, host: str, case: Case, project: Path, session: Session
) -> Iterator[tuple[str, str]]:
    """Yield each place that tells something unasked, and what it told. Each is a session of its own: none was told."""
    later = case.later
    read, arguments = call_of(host, Used("read", later.file or _READ.given, ""))
    shell, command = call_of(host, Used("shell", later.command or "make check", ""))
    error = later.error or "make: *** [check] Error 1"
    happens: list[tuple[str, str, dict[str, Any]]] = [
        ("a session's start", "session-start", {"source": "startup"}),
        (_ASKS, "prompt", {"prompt": later.asks}),
        ("a prompt that asks for the last sessions", "prompt", {"prompt": "What did we do last time?"}),
        ("a prompt that works", "prompt", {"prompt": later.works}),
        ("before a file is read", "pre-tool", {"tool": (read, arguments, "", "")}),
        ("after a file is read", "post-tool", {"tool": (read, arguments, "MAIN = 1", "")}),
        ("after a command", "post-tool", {"tool": (shell, command, "ok", "")}),
        ("after a command that failed", "tool-failure", {"tool": (shell, command, error, error)}),
        ("a sub-agent's start", "subagent-start", {"agent": "a1", "agent_kind": "general"}),
        ("a turn's end", "stop", {"last_message": "Done."}),
        ("a compaction", "pre-compact", {"trigger": "manual"}),
        ("a session's end", "session-end", {"reason": "other"}),
    ]
    for n, (place, event, fields) in enumerate(happens):
        yield place, palace.hook(host, event, payload(host, f"later-{n}-{project.name}", project, **fields), project)
    again = payload(host, session.session, project, transcript=transcript(session), source="compact")
    yield "its own session, compacted", palace.hook(host, "session-start", again, project)
    alone = payload(host, f"alone-{project.name}", project, prompt=later.asks)
    yield "a prompt without a service", palace.unaided(host, alone)
