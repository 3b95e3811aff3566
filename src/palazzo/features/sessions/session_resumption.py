"""The resumption of a session: its transcript is restored if its host has lost it, and its host's command is found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.archive import transcript_restore
from palazzo.errors import PalazzoError, UsageError
from palazzo.features.mining.contract import RestoreSessionRequest
from palazzo.features.mining.restore_session import restore_session
from palazzo.features.sessions.contract import Resumption
from palazzo.features.sessions.session_rows import host_of
from palazzo.hosts import resume_commands
from palazzo.hosts.host_histories import histories
from palazzo.paths import state_directory

if TYPE_CHECKING:
    from palazzo.archive.transcript_restore import SessionFile
    from palazzo.operations.context import Context


def resume_session(context: Context, session_name: str, is_printed: bool) -> Resumption:
    """Restore a session if its host no longer has it; return the command that resumes it."""
    with context.reading().database.snapshot() as connection:
        name = transcript_restore.parse_session_name(connection, session_name)
        session = transcript_restore.find_session(connection, name)
        files = transcript_restore.files_of_session(connection, session, name)
        files = [file for file in files if file.source.kind != "hook"] or files
        hosts = list(dict.fromkeys(host_of(file.source.kind, file.uri) for file in files))
        if len(hosts) > 1:
            kinds = dict.fromkeys(file.source.kind for file in files)
            names = " or ".join(f"{kind}:{session}" for kind in kinds)
            raise UsageError(f"{len(hosts)} hosts have a session '{session}'. Name one: {names}.")
        directory = transcript_restore.directory_of(connection, files[0])
    host_command = resume_commands.find_command(hosts[0])
    if "/" in session and host_command is not None:
        parent = session.partition("/")[0]
        raise UsageError(f"'{session}' is a sub-agent's session, which its host resumes only within '{parent}'.")
    command = resume_commands.resume_command(hosts[0], session)
    restored = () if _is_with_host(context, hosts[0], session) else _restore(context, hosts[0], session, files)
    if host_command is not None and not host_command.needs_directory and not Path(directory or "/").is_dir():
        directory = ""
    words = host_command.preparation if restored and host_command is not None else ()
    preparation = tuple(str(restored[0]) if word == "FILE" else word for word in words)
    return Resumption(session, hosts[0], command, directory, restored, preparation, is_printed)


def _directories(context: Context, host: str) -> list[Path]:
    return [history.path for history in histories(context.variables, [host])]


def _is_with_host(context: Context, host: str, session: str) -> bool:
    """Return whether the host still has the session."""
    return resume_commands.has_session(host, session, _directories(context, host))


def _restore(context: Context, host: str, session: str, files: list[SessionFile]) -> tuple[Path, ...]:
    """Write the session where its host looks for it; return the files."""
    if files[0].source.kind == "hook":
        raise PalazzoError(
            f"{host} no longer has the session '{session}', and the palace knows it only from hooks, so its transcript "
            f"cannot be restored; 'palazzo handoff {session} --to {host}' writes a prompt that goes on with it."
        )
    command = resume_commands.find_command(host)
    if command is not None and not command.is_restorable:
        raise PalazzoError(
            f"{host} no longer has the session '{session}', and cannot be given it back; 'palazzo handoff {session} "
            f"--to {host}' writes a prompt that goes on with it."
        )
    is_imported = command is not None and bool(command.preparation)
    directories = [path for path in _directories(context, host) if path.is_dir()]
    if is_imported:
        directories = [state_directory(context.variables) / "restored"]
    if not directories:
        raise PalazzoError(
            f"The session '{session}' is gone from {host}, which keeps no sessions on this machine; start {host} once, "
            "or write the transcript with 'palazzo restore-session'."
        )
    name = f"{files[0].source.kind}:{session}"
    result = restore_session(context, RestoreSessionRequest(name, directories[0]))
    return tuple(file.path for file in result.files if file.standing == "written" or is_imported)
