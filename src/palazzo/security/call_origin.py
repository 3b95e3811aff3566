"""The origin of a call: the caller's host, and the sessions that its variables name. Pure.

A client's call may name its session itself, which is certain. Variables are weaker: a host's servers keep the variables
of a session that ended, and an agent can set any of them in its shell. So if there are several names, all count, and a
name counts only for a transcript of the host that the variable belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping

from palazzo.frozen_class import frozen
from palazzo.host_names import AGENT_VARIABLES, KEEP_TRANSCRIPTS, SESSION_VARIABLES

SESSION = "PALAZZO_SESSION"
"""The variable that names the caller's session. An interface sets it if the client names the session in a call."""
HOST = "PALAZZO_CLIENT"
"""The variable that names the caller's host. An interface sets it from the client's own name."""


@frozen
class NamedSession:
    """A session that a caller names; `host` is empty if the session may belong to any host."""

    id: str
    host: str = ""


@frozen
class Caller:
    """A calling agent. `host` is empty if it is unknown.

    `is_certain` says that the call names its session, `in_shell` that the agent types a command: its shell may be in
    any directory, while a host starts its servers in the session's directory.
    """

    sessions: tuple[NamedSession, ...]
    is_certain: bool
    host: str
    in_shell: bool

    @property
    def keeps_transcripts(self) -> bool:
        """Whether the caller's host writes transcripts that can be read."""
        return self.host in KEEP_TRANSCRIPTS


def caller_of(variables: Mapping[str, str], in_shell: bool) -> Caller:
    """Return the caller described by these variables."""
    stated_id = variables.get(SESSION, "")
    by_variable = [
        NamedSession(variables[name], host) for name, host in SESSION_VARIABLES.items() if variables.get(name)
    ]
    host = "" if in_shell else variables.get(HOST, "")
    hosts = [session.host for session in by_variable] or [
        session for name, session in AGENT_VARIABLES.items() if variables.get(name)
    ]
    host = host or next(iter(hosts), "")
    if stated_id and not in_shell:
        return Caller((NamedSession(stated_id),), True, host, in_shell)
    sessions = [*by_variable, *([NamedSession(stated_id)] if stated_id else [])]
    return Caller(tuple(sessions), False, host, in_shell)


def is_of_host(kind: str, host: str) -> bool:
    """Whether a source or a history of this kind belongs to a host; always true for an unknown host."""
    return not host or kind == host or f"{kind}-cli" == host or kind == f"{host}-cli"
