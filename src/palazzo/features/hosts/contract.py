"""Requests, results and operations of `hosts`: what faces know of the feature, without its engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.host_names import INSTALLABLE
from palazzo.operations.operation import PERSON_ONLY, About, Operation

FileState = Literal["new", "changed", "same", "removed"]

InstructionsName = Literal[
    "help", "init", "search", "mine", "status", "audit", "remember", "diary", "doctor",
    "handoff", "review", "recall", "save_session", "what_do_we_know_about",
]  # fmt: skip

ToolNames = Literal["palazzo", "mempalace", "shodh"]


@frozen
class InstructionsRequest:
    """Print a short text that tells an agent how to use the memory.

    Slash commands and skills of hosts print it. `recall`, `save_session` and `what_do_we_know_about` are the texts of
    the MCP server's prompts of the same names.
    """

    name: Annotated[InstructionsName, About("The text to print.", positional=True)]
    profile: Annotated[ToolNames, About("The profile whose tool names are used.")] = "palazzo"


@frozen
class InstructionsResult:
    """The text, in Markdown."""

    name: str
    text: str


INSTRUCTIONS = Operation(
    "instructions",
    InstructionsRequest,
    InstructionsResult,
    scope="read",
    group="Agents",
    summary="Print how an agent should use the memory",
    examples=("palazzo instructions search",),
)

TARGETS = (*INSTALLABLE, "skills", "mempalace-compat")
"""All targets."""
REMOVABLE = (*INSTALLABLE, "skills")
"""The targets that can be removed again."""


@frozen
class InstallRequest:
    """Wire Palazzo into a host, or write the files that other programs need to find it.

    'claude-code', 'codex', 'gemini-cli', 'copilot' and 'qwen-code': hooks, the MCP server, and a few lines of
    instructions in CLAUDE.md, AGENTS.md, GEMINI.md, copilot-instructions.md or QWEN.md. Hosts that are not named here:
    the MCP server, and instructions if the host reads a file of them; 'cursor', 'kiro', 'cline' and 'windsurf' also get
    hooks, and 'aider' has only instructions.

    Existing content stays, in its order; a copy of each changed file is kept beside it; 'palazzo uninstall' removes
    everything again. Installing again changes nothing, unless Palazzo has moved. --clean also removes entries of other
    memories.

    'pi': one file in its directory of extensions, which starts the extension that is part of this installation.

    'opencode': a plugin, which is part of this installation, and the MCP server in opencode.json.

    'skills': skills for agents (search, remember, hand off, review) in ~/.agents/skills, which most hosts read; with
    --skills a host gets them in its own directory of skills.

    'mempalace-compat DIR' writes the programs 'mempalace' and 'mempalace-mcp' and a Python module for clients that
    start MemPalace by these names. A file there that Palazzo did not write is never changed. In your config.toml,
    'trust.own' gets the entry 'mempalace', so that answers of a server of this name count as Palazzo's.
    """

    target: Annotated[str, About(f"What to install: {', '.join(TARGETS)}.", positional=True, values=TARGETS)]
    directory: Annotated[
        Path | None, About("The directory for the files of mempalace-compat.", positional=True, option="DIR")
    ] = None
    project: Annotated[bool, About("Write into this project's files, for everyone who works on it.")] = False
    user: Annotated[bool, About("Write into your own files, for all projects; this is the default.")] = False
    clean: Annotated[bool, About("Also remove entries of other memories; they are shown first.")] = False
    status_line: Annotated[bool, About("For claude-code: also set its status line, if it has none yet.")] = False
    skills: Annotated[bool, About("For a host: also write the skills into its own directory of skills.")] = False
    dry_run: Annotated[bool, About("Only show what would be written.")] = False


@frozen
class FileView:
    """A file that was written (or would be), or is unchanged.

    For another program's file, the fields also give our part of it as `what`, the change (in a dry run), and the path
    of the backup of the old version.
    """

    path: str
    state: FileState
    what: str = ""
    diff: str = ""
    backup: str = ""


@frozen
class OtherView:
    """An entry of another memory program in a host's settings: its name, the file, and what it is."""

    name: str
    path: str
    what: str


@frozen
class InstallResult:
    """What was written (or would be); `others` were found there, and were removed if `clean` is set."""

    target: str
    files: tuple[FileView, ...]
    dry_run: bool
    others: tuple[OtherView, ...] = ()
    clean: bool = False
    note: Annotated[str, PERSON_ONLY] = ""


INSTALL = Operation(
    "install",
    InstallRequest,
    InstallResult,
    scope="admin",
    group="Agents",
    summary="Connect a host: hooks and MCP server",
    asks=lambda request: request.clean,
    examples=("palazzo install claude-code", "palazzo install codex --project --dry-run"),
)


@frozen
class UninstallRequest:
    """Remove Palazzo's entries from a host's settings, and leave the rest of each file as it is.

    A file that was created for them is deleted. The palace, with all its content, stays.
    """

    target: Annotated[str, About(f"What to remove: {', '.join(REMOVABLE)}.", positional=True, values=REMOVABLE)]
    project: Annotated[bool, About("Remove the entries from this project's files.")] = False
    user: Annotated[bool, About("Remove the entries from your own files; this is the default.")] = False
    dry_run: Annotated[bool, About("Only show what would be removed.")] = False


@frozen
class UninstallResult:
    """Each file that was changed (or would be)."""

    target: str
    files: tuple[FileView, ...]
    dry_run: bool


UNINSTALL = Operation(
    "uninstall",
    UninstallRequest,
    UninstallResult,
    scope="admin",
    group="Agents",
    summary="Remove Palazzo from a host's settings",
    asks=lambda request: False,
    examples=("palazzo uninstall claude-code --dry-run",),
)
