"""The resumption of a session: its transcript is restored if its host has lost it, and its host's command is found."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import PalazzoError, UsageError
from palazzo.operations.operation import PERSON_ONLY
from palazzo.paths import state_directory

if TYPE_CHECKING:
    from palazzo.archive.transcript_restore import SessionFile
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class Resumption:
    """What resumes a session: its host's command, the directory to start it in, and the files restored for it.

    `directory` is empty if any will do. `preparation` is a command to run first, if any: opencode imports a restored
    session by one. `is_printed` says that the command was requested, not its start.
    """

    session: str
    host: str
    command: tuple[str, ...]
    directory: str
    restored: tuple[Path, ...]
    preparation: tuple[str, ...] = ()
    is_printed: Annotated[bool, PERSON_ONLY] = False


def resume_session(context: Context, session_name: str, is_printed: bool) -> Resumption:
    """Restore a session if its host no longer has it; return the command that resumes it."""
    from palazzo.archive import transcript_restore
    from palazzo.features.sessions import host_commands
    from palazzo.features.sessions.session_rows import host_of

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
    if "/" in session and hosts[0] in host_commands.COMMANDS:
        parent = session.partition("/")[0]
        raise UsageError(f"'{session}' is a sub-agent's session, which its host resumes only within '{parent}'.")
    command = host_commands.resume_command(hosts[0], session)
    restored = () if _is_with_host(context, hosts[0], session) else _restore(context, hosts[0], session, files)
    if not host_commands.COMMANDS[hosts[0]].needs_directory and not Path(directory or "/").is_dir():
        directory = ""
    preparation = ("opencode", "import", str(restored[0])) if restored and hosts[0] == "opencode" else ()
    return Resumption(session, hosts[0], command, directory, restored, preparation, is_printed)


def _directories(context: Context, host: str) -> list[Path]:
    from palazzo.sources.host_histories import histories

    return [history.path for history in histories(context.variables, [host])]


def _is_with_host(context: Context, host: str, session: str) -> bool:
    """Return whether the host still has the session."""
    from palazzo.features.sessions import host_commands

    directories = _directories(context, host)
    if host != "opencode":
        return any(True for _ in host_commands.session_files(host, session, directories))
    from palazzo.sources.formats.opencode_database import has_session

    return any(
        has_session(path, session)
        if path.is_file()
        else any(True for _ in path.glob(f"session/*/{glob.escape(session)}.json"))
        for path in directories
    )


def _restore(context: Context, host: str, session: str, files: list[SessionFile]) -> tuple[Path, ...]:
    """Write the session where its host looks for it; return the files."""
    from palazzo.features.mining.restore_session import RestoreSessionRequest, restore_session

    if files[0].source.kind == "hook":
        raise PalazzoError(
            f"{host} no longer has the session '{session}', and the palace knows it only from hooks, so its transcript "
            f"cannot be restored; 'palazzo handoff {session} --to {host}' writes a prompt that goes on with it."
        )
    directories = [path for path in _directories(context, host) if path.is_dir()]
    if host == "opencode":
        directories = [state_directory(context.variables) / "restored"]
    if not directories:
        raise PalazzoError(
            f"The session '{session}' is gone from {host}, which keeps no sessions on this machine; start {host} once, "
            "or write the transcript with 'palazzo restore-session'."
        )
    name = f"{files[0].source.kind}:{session}"
    result = restore_session(context, RestoreSessionRequest(name, directories[0]))
    return tuple(file.path for file in result.files if file.standing == "written" or host == "opencode")
