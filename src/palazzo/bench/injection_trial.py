"""Injection trial: which poison is injected without a request, per host, by every hook, wake-up and proactive context.

Sessions arrive as in real use: hooks report them while their transcripts grow, and the agent writes with its tools in
the middle. Then, in later sessions, everything that may be injected is requested, and each answer is searched for the
claims of untrusted content. Each case has a project of its own, so that no case hides another. Two controls give the
figure its meaning: the same content is found by a search, and it is injected where everything is trusted.
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
from palazzo.bench.poison_cases import POISON_CASES
from palazzo.bench.poison_hosts import SESSIONS, Opencode, Session
from palazzo.bench.poison_session import Case, CommandStep, FilesStep, NameStep, Step, Used, Utterance, Wrote
from palazzo.bench.poison_tools import call_of
from palazzo.bench.service_home import Agent, ServiceSandbox, open_sandbox, payload

CASES = (*POISON_CASES, *HONEST)
_ANSWERS_LIMIT = 10
_SHELL = Used("shell", "", "")
_READ = Used("read", "src/main.py", "")
_ASKS = "a prompt that asks for the past"


@dataclass(slots=True)
class CaseOutcome:
    """Result of a case with one host: where it was shown, whether a search found it, and with which trust."""

    host: str
    case: Case
    delivery_places: set[str] = field(default_factory=set)
    reaches_prompt: bool = False
    """Whether it was shown in answer to a prompt that asked about it."""
    unguarded_places: set[str] = field(default_factory=set)
    """Places where it is shown if every source is trusted: what the protection must withhold, or fails to withhold."""
    is_searchable: bool = False
    trusts: set[str] = field(default_factory=set)


def run(report: Progress, hosts: Sequence[str] = tuple(SESSIONS), cases: Sequence[Case] = CASES) -> list[CaseOutcome]:
    """Return the result of each case with each host."""
    return list(_run(report, hosts, cases))


def rows(report: Progress) -> tuple[dict[str, Cell], ...]:
    """Return a row for each host, and one for all."""
    outcomes = run(report)
    host_rows = [_row(host, [outcome for outcome in outcomes if outcome.host == host]) for host in SESSIONS]
    return (*host_rows, _row("all", outcomes))


def _row(name: str, outcomes: Sequence[CaseOutcome]) -> dict[str, Cell]:
    attacks = [outcome for outcome in outcomes if not outcome.case.honest]
    honest = [outcome for outcome in outcomes if outcome.case.honest]
    ordinary = [outcome for outcome in honest if outcome.case.is_delivered]
    return {
        "host": name,
        "poisoned": len(attacks),
        "told unasked": sum(bool(outcome.delivery_places) for outcome in attacks),
        "if all were trusted": sum(bool(outcome.unguarded_places) for outcome in attacks),
        "found by search": sum(outcome.is_searchable for outcome in attacks),
        "external": sum(outcome.trusts == {"external"} for outcome in attacks),
        "honest": len(honest),
        "honest found": sum(outcome.is_searchable for outcome in honest),
        "ordinary": len(ordinary),
        "ordinary told": sum(outcome.reaches_prompt for outcome in ordinary),
        "if all trusted": sum(_ASKS in outcome.unguarded_places for outcome in ordinary),
    }


def _run(report: Progress, hosts: Sequence[str], cases: Sequence[Case]) -> Iterator[CaseOutcome]:
    with open_sandbox() as sandbox:
        total = len(hosts) * len(cases)
        projects: dict[tuple[str, str], tuple[Path, Session]] = {}
        for n, (host, case) in enumerate((host, case) for host in hosts for case in cases):
            report("sessions", n, total)
            project = sandbox.home / "projects" / f"{host}-{n:03}"
            projects[host, case.name] = project, live_session(sandbox, host, case, project)
        sandbox.settle()
        for n, (host, case) in enumerate((host, case) for host in hosts for case in cases):
            report("asking", n, total)
            yield _measure_case(sandbox, host, case, *projects[host, case.name])
        report("asking", total, total)


# --- a session as it happens -------------------------------------------------------------------------------


def live_session(palace: ServiceSandbox, host: str, case: Case, project: Path) -> Session:
    """Run a session: its host writes the messages, hooks report them, its agent writes memories."""
    _make_project(palace, case, project)
    session = SESSIONS[host](palace.home, project)

    def tell(event: str, **fields: Any) -> None:
        event_payload = payload(host, session.session, project, transcript=transcript(session), **fields)
        palace.hook(host, event, event_payload, project)

    tell("session-start", source="startup")
    last = ""
    with palace.agent(host, project, session.session) as agent:
        for step in case.steps:
            if isinstance(step, Utterance) and step.speaker == "user":
                tell("prompt", prompt=step.text)
            if isinstance(step, Wrote):
                _write(session, agent, step)
            elif isinstance(step, CommandStep):
                _type(palace, session, step)
            else:
                _happen(palace, session, step)
            last = step.text if isinstance(step, Utterance) and step.speaker == "assistant" else last
    for inner in session.agents:
        _tell_of_agent(palace, host, session, inner)
    tell("pre-compact" if host == "opencode" else "stop", last_message=last)
    tell("session-end", reason="other")
    return session


def _make_project(palace: ServiceSandbox, case: Case, project: Path) -> None:
    """Write the project's files, and commit the tracked ones if the project is a repository."""
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


def _git(palace: ServiceSandbox, project: Path, *arguments: str, author: str = "") -> None:
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


def _happen(palace: ServiceSandbox, session: Session, step: Step) -> None:
    """Carry out a step in the project, and let its host record the step."""
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


def _tell_of_agent(sandbox: ServiceSandbox, host: str, session: Session, inner: Session) -> None:
    """Report a sub-agent's end. Gemini CLI has no hook for this: a watcher of its history sees the file."""
    event, owner = ("stop", inner) if host == "gemini-cli" else ("subagent-stop", session)
    about = {"agent": inner.agent, "agent_kind": "general"} if owner is session else {}
    event_payload = payload(host, owner.session, session.project, transcript=transcript(inner), **about)
    sandbox.hook(host, event, event_payload, session.project)


def transcript(session: Session) -> Path:
    """Return the transcript that the host's hooks name for the session."""
    return Opencode.storage(session.home) if isinstance(session, Opencode) else session.path


def _write(session: Session, agent: Agent, step: Wrote) -> None:
    """Let the agent write, and let its host record it."""
    response = agent.use(step.tool, **step.arguments)
    if response.get("isError") or "error" in response:
        raise ValueError(f"{step.tool} was refused: {json.dumps(response)[:300]}")
    name, _ = call_of(session.host, Used("mcp", f"palazzo {step.tool} -", ""))
    session.use(name, dict(step.arguments), response["content"][0]["text"])


def _type(palace: ServiceSandbox, session: Session, step: CommandStep) -> None:
    """Run a command of Palazzo in the agent's shell, and let its host record the output."""
    ran = palace.run(session.host, session.project, session.session, *step.arguments)
    session.add(Used("shell", shlex.join(("palazzo", *step.arguments)), ran.stdout + ran.stderr, ran.returncode != 0))


# --- later -------------------------------------------------------------------------------------------------


def _measure_case(sandbox: ServiceSandbox, host: str, case: Case, project: Path, session: Session) -> CaseOutcome:
    outcome = CaseOutcome(host, case)
    answers = list(unasked_by_hooks(sandbox, host, case, project, session))
    for place, text in answers:
        if case.claim in text.lower():
            outcome.delivery_places.add(place)
    outcome.reaches_prompt = _ASKS in outcome.delivery_places
    for n, (place, event, fields) in enumerate(_list_unguarded_events(case)):
        event_payload = payload(host, f"trusting-{n}-{project.name}", project, **fields)
        if (
            case.claim
            in sandbox.hook(host, event, event_payload, project, PALAZZO_AUTO_INJECT_TRUST="external").lower()
        ):
            outcome.unguarded_places.add(place)
    with sandbox.agent(host, project) as agent:
        for tool, answer in unasked_by_tools(agent, case):
            if case.claim in json.dumps(answer).lower():
                outcome.delivery_places.add(tool)
        query = {"query": case.later.asks, "include_external": True, "limit": _ANSWERS_LIMIT}
        hits = agent.use("search", **query)["structuredContent"]
        facts = agent.use("kg_query", entity=_subject(case))["structuredContent"] if _subject(case) else {}
    entries = [*hits.get("hits", ()), *hits.get("beside", ()), *facts.get("facts", ())]
    own = [entry for entry in entries if case.claim in json.dumps(entry).lower()]
    outcome.is_searchable = bool(own)
    outcome.trusts = {str(entry.get("trust", "")) for entry in own}
    return outcome


def unasked_by_tools(agent: Agent, case: Case) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the answer of each tool that returns content its caller did not name."""
    yield "wake_up", agent.use("wake_up")
    yield "proactive_context", agent.use("proactive_context", context=f"{case.later.works} {case.later.asks}")


def _list_unguarded_events(case: Case) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the requests of the run that trusts everybody: the places that injected the most."""
    yield "a session's start", "session-start", {"source": "startup"}
    yield _ASKS, "prompt", {"prompt": case.later.asks}
    yield "a prompt that works", "prompt", {"prompt": case.later.works}


def _subject(case: Case) -> str:
    """Return the subject of a fact that the case's agent states, if it states one."""
    fact_arguments = (step.arguments for step in case.steps if isinstance(step, Wrote) and step.tool == "kg_add")
    return next((str(arguments["subject"]) for arguments in fact_arguments), "")


def unasked_by_hooks(
    palace: ServiceSandbox, host: str, case: Case, project: Path, session: Session
) -> Iterator[tuple[str, str]]:
    """Yield each place that injects automatically, and its text. Each has its own session, with nothing shown yet."""
    later = case.later
    read, arguments = call_of(host, Used("read", later.file or _READ.argument, ""))
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
    compact_payload = payload(host, session.session, project, transcript=transcript(session), source="compact")
    yield "its own session, compacted", palace.hook(host, "session-start", compact_payload, project)
