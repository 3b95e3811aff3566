"""What Palazzo knows of a host: its names, and what its programs and files are called. Data only."""

from __future__ import annotations

from typing import Literal

from palazzo.frozen_class import frozen

Evidence = Literal["program", "source code", "public readers", "documentation"]
"""Where the knowledge of a host comes from: its own program, which was run; its source code; readers of its files that
others published; or only its documentation.
"""


@frozen
class Location:
    """Names of `entries`, which may be patterns, below `$variable` or below `default` in the home directory.

    Without a variable, `default` always applies; without a default, the location exists only if the variable is set.
    """

    variable: str
    default: str
    entries: tuple[str, ...] = (".",)


@frozen
class ResumeCommand:
    """How a host resumes a session: its program with arguments, and patterns of the file below its histories.

    `ID` stands for the session's id. A host `needs_directory` if it finds sessions only from the directory in which
    they began. `preparation` is the command that imports a restored session, whose file is `FILE`; empty if the host
    finds it by itself. A session that the host has deleted can be written back unless it is not `is_restorable`.
    """

    arguments: tuple[str, ...]
    files: tuple[str, ...] = ()
    needs_directory: bool = False
    preparation: tuple[str, ...] = ()
    is_restorable: bool = True


@frozen
class Host:
    """A program that runs agents.

    `name` is what people type and what the palace stores, `title` what they read, `program` its command on PATH;
    `aliases` are other names that people type, `client` is the name of its MCP client if that does not begin with
    `name`.
    `kinds` are those of its transcripts' readers. Each of `directories` shows that the host is installed. `histories`
    are where it keeps sessions; `project_history` is a file in the project that is worked in; `history_indexes` are
    lists of histories elsewhere, which the host's module `paths` reads (`listed_histories`). `session_files` is a
    pattern of the files in a history that are sessions; empty if they cannot be counted from outside. `history_note`
    says which part of its history is read, if it is not all.
    `retention_setting` is the host's setting that says after how many days it deletes them. `prompt_command` starts a
    session with a first prompt, which follows as an argument. `agent_variables` are set in its agents' shells and
    nowhere else; `session_variable` is the one of them that names the session. `versions` of its program were run.
    `skills` is where it looks for a person's skills, `project_skills` where for a project's.
    """

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    client: str = ""
    program: str = ""
    kinds: tuple[str, ...] = ()
    directories: tuple[Location, ...] = ()
    histories: tuple[Location, ...] = ()
    project_history: Location | None = None
    history_indexes: tuple[Location, ...] = ()
    session_files: str = ""
    history_note: str = ""
    retention_setting: str = ""
    resume: ResumeCommand | None = None
    prompt_command: str = ""
    agent_variables: tuple[str, ...] = ()
    session_variable: str = ""
    skills: Location | None = None
    project_skills: str = ""
    evidence: Evidence = "documentation"
    versions: tuple[str, ...] = ()

    @property
    def is_found_by_directory(self) -> bool:
        """Whether a directory or a history shows that the host is installed."""
        return bool(self.directories or self.has_history)

    @property
    def has_history(self) -> bool:
        """Whether it is known where the host keeps its sessions."""
        return bool(self.histories or self.project_history or self.history_indexes)
