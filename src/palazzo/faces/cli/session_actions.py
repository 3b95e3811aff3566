"""What a terminal adds to commands about sessions: choosing one with the keyboard, and starting its host."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palazzo.errors import PalazzoError
from palazzo.faces.cli.session_picker import Row, can_pick, pick
from palazzo.features.sessions.contract import MOST_SESSIONS, SessionsRequest, SessionsResult
from palazzo.features.sessions.view import session_title
from palazzo.features.wakeup.digest import read_digest
from palazzo.features.wakeup.digest_view import HEADINGS
from palazzo.operations import registry
from palazzo.security.display_names import plain_name
from palazzo.text.ages import describe_age
from palazzo.text.count_phrases import count_noun

if TYPE_CHECKING:
    from palazzo.faces.cli.common_options import Common
    from palazzo.features.sessions.contract import Resumption
    from palazzo.features.upkeep.contract import ResumeResult
    from palazzo.operations.context import Context
    from palazzo.operations.operation import Operation

_MOST_OF_KIND = 4
"""The most lines of one kind in a preview."""


def wants_picker(request: SessionsRequest, common: Common, context: Context) -> bool:
    """Return whether to let the user choose: requested, or a request without options, and a terminal that can."""
    if common.as_json or not (request.pick or request == SessionsRequest()):
        return False

    is_possible = can_pick(context.variables.get("TERM", ""))
    if request.pick and not is_possible:
        context.notice("Choosing with the keyboard needs a terminal that can be drawn on, so this is the list.")
    return is_possible


def choose_session(context: Context, request: SessionsRequest) -> tuple[Operation[Any, Any], Any] | None:
    """Let the user choose a session; return the operation to run with it. None if they left, or there is none."""
    operation = registry.operation("sessions")
    result: SessionsResult = operation.run(context, replace(request, limit=MOST_SESSIONS))
    if not result.sessions:
        return operation, replace(request, pick=False)
    choice = pick(
        list(_rows(result)), lambda session: _preview(context, result, session), not context.variables.get("NO_COLOR")
    )
    if choice.action == "leave":
        return None
    operation = registry.operation("show" if choice.action == "show" else "resume")
    return operation, operation.request(choice.id)


def _rows(result: SessionsResult) -> Sequence[Row]:
    return [
        Row(
            session.id,
            f"{describe_age(session.ended_at, result.now):<14}  {plain_name(session.host):<11}  "
            f"{plain_name(session.project, 16):<16}  {session_title(session)}",
            f"{describe_age(session.ended_at, result.now):<12}  {session_title(session)}",
            f"{session.title}\n{session.project}\n{session.host}\n{session.branch}\n{session.id}".casefold(),
        )
        for session in result.sessions
    ]


def _preview(context: Context, result: SessionsResult, session_id: str) -> Sequence[str]:
    """Return the lines that the picker shows of a session: its details, and the end of its digest."""
    session = next(session for session in result.sessions if session.id == session_id)
    facts = [
        plain_name(session.host),
        plain_name(session.project),
        *([f"branch {plain_name(session.branch)}"] if session.branch else []),
        count_noun(session.turns, "turn"),
        describe_age(session.ended_at, result.now),
        plain_name(session.short),
        *(["read untrusted content"] if session.trust == "external" else []),
    ]
    lines = [session_title(session), ", ".join(facts)]
    with context.reading().database.snapshot() as connection:
        digest = read_digest(connection, session.id)
    for kind in ("decided", "fixed", "open", "changed", "asked", "failed"):
        own_lines = [line for line in digest.lines if line.kind == kind]
        for line in own_lines[-_MOST_OF_KIND:]:
            by = "" if kind in ("changed", "failed") else f"  ({line.by})"
            label = "  external" if line.trust == "external" else ""
            lines.append(f"{HEADINGS[kind]}: {plain_name(line.words.text, 300)}{by}{label}")
    return lines


def start_host(result: ResumeResult, common: Common) -> int:
    """Start the host with the resumed session, on a terminal; return its exit code.

    On POSIX the host replaces this process.
    """
    resumption = result.resumption
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if resumption is None or resumption.is_printed or common.as_json or not is_terminal:
        return 0
    program = _program(resumption)
    if resumption.directory and not Path(resumption.directory).is_dir():
        raise PalazzoError(
            f"The session's directory {resumption.directory} does not exist here, and {resumption.host} resumes it "
            "only there; create it, or run 'palazzo resume ID --print' and change the command."
        )
    sys.stdout.flush()
    if resumption.preparation:
        _prepare(resumption)
    if resumption.directory:
        os.chdir(resumption.directory)
    if os.name == "nt":
        return subprocess.run([program, *resumption.command[1:]], check=False).returncode  # noqa: S603
    os.execv(program, [*resumption.command])  # noqa: S606
    return 0


def _program(resumption: Resumption) -> str:
    program = shutil.which(resumption.command[0])
    if program is None:
        raise PalazzoError(
            f"{resumption.command[0]} is not on PATH; install {resumption.host}, or run the command above where it is."
        )
    return program


def _prepare(resumption: Resumption) -> None:
    """Run the command that must come first; its file is not needed afterwards."""
    process = subprocess.run([_program(resumption), *resumption.preparation[1:]], check=False)  # noqa: S603
    if process.returncode:
        raise PalazzoError(f"{resumption.host} could not import {resumption.restored[0]}; its message is above.")
    for path in resumption.restored:
        path.unlink(missing_ok=True)
