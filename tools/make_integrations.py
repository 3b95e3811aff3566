"""Generate what the plugins in integrations/ take from the code: hooks, servers, commands, skills and versions.

    python tools/make_integrations.py [--check]

`--check` writes nothing and fails if a file differs from what the code generates. A plugin's name, options and agents
are written by hand.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palazzo import __version__
from palazzo.features.hosts.contract import InstructionsName, InstructionsRequest
from palazzo.features.hosts.instructions import instructions
from palazzo.features.hosts.skill_packages import FILE, SKILLS, render, skill_text
from palazzo.hosts import hook_wiring
from palazzo.hosts.claude_code.wiring import WIRING as CLAUDE_CODE
from palazzo.hosts.codex.wiring import WIRING as CODEX
from palazzo.hosts.hook_wiring import HostHooks
from palazzo.operations.context import Context

ROOT = Path(__file__).resolve().parent.parent
INTEGRATIONS = ROOT / "integrations"
_ABOUT = "Palazzo: a memory for Claude Code that gives it relevant memories and archives its sessions."


@dataclass(frozen=True)
class Command:
    """A command that a person types as `/palazzo:NAME`, and the instructions that the agent then reads."""

    name: str
    instructions: InstructionsName
    about: str
    asks_for: str = ""
    """The text that the person may add after the command."""
    when: str = ""
    """The occasion on which an agent uses it without a command."""


COMMANDS = (
    Command("help", "help", "Explain what the memory is for and how to use it"),
    Command("init", "init", "Set up the memory for this project"),
    Command("search", "search", "Search the memory for what was said, decided or tried before", "question"),
    Command("mine", "mine", "Index this project's documents, or other files, in the memory", "path"),
    Command("status", "status", "Show how much the memory holds, and whether it is in order"),
    Command(
        "recall",
        "recall",
        "Find what was said, decided or tried before about a topic, and which facts hold now",
        "topic",
        "when the person refers to earlier sessions, or before a decision is made again",
    ),
    Command(
        "remember",
        "remember",
        "Save a decision, a finding or a preference for later sessions",
        "what to save",
        "when the person asks to remember something, or a decision is made that no file records",
    ),
    Command("doctor", "doctor", "Find problems with the memory, and fix them"),
    Command(
        "diary",
        "diary",
        "Write or read this agent's diary: what was done, what is still open",
        "write or read",
        "at the end of a piece of work, and before continuing one",
    ),
    Command(
        "handoff",
        "handoff",
        "Hand unfinished work to another agent, or take it over",
        "agent",
        "when the person changes the agent, or a session ends before its task",
    ),
    Command("review", "review", "Prepare the review of quarantined notes"),
)
PI_INSTRUCTIONS: tuple[InstructionsName, ...] = (
    "help",
    "init",
    "search",
    "mine",
    "status",
    "doctor",
    "diary",
    "save_session",
)
"""The instructions that pi's extension includes, for use if `palazzo instructions` cannot be run."""
_MISSING = (
    "The program 'palazzo' is not on the PATH. Tell the person: pip install palazzo, then start the host again from a "
    "shell that finds it."
)


def main() -> int:
    """Write the files, or report which are out of date."""
    stale = [path for path, text in files() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
        if stale:
            print(f"{names}: out of date. Run: python tools/make_integrations.py")
        return 1 if stale else 0
    for path, text in files():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


def files() -> Iterator[tuple[Path, str]]:
    """Yield every generated file with its content."""
    for wired, manifest in ((CLAUDE_CODE, ".claude-plugin"), (CODEX, ".codex-plugin")):
        home = INTEGRATIONS / wired.host
        yield home / "hooks" / "hooks.json", _document(_hooks(wired))
        yield home / ".mcp.json", _document({"mcpServers": {hook_wiring.SERVER: hook_wiring.server(wired)}})
        yield home / manifest / "plugin.json", _versioned(home / manifest / "plugin.json")
    for command in COMMANDS:
        yield INTEGRATIONS / "claude-code" / "commands" / f"{command.name}.md", _command(command)
        yield INTEGRATIONS / "codex" / "skills" / command.name / "SKILL.md", _skill(command)
    for skill in SKILLS:
        with Context() as context:
            yield INTEGRATIONS / "skills" / skill.name / FILE, skill_text(context, skill)
    yield INTEGRATIONS / "pi" / "package.json", _versioned(INTEGRATIONS / "pi" / "package.json")
    for name in PI_INSTRUCTIONS:
        yield INTEGRATIONS / "pi" / "instructions" / f"{name}.md", _instructions(name)


def _hooks(wired: HostHooks) -> dict[str, Any]:
    groups = {name: [group] for name, group in hook_wiring.entries(wired).items()}
    about = {"description": _ABOUT} if wired is CLAUDE_CODE else {}
    return about | {"hooks": groups}


def _versioned(manifest: Path) -> str:
    """Return the manifest with the version of the package, or of its next release."""
    version = __version__.partition(".dev")[0]
    return re.sub(r'("version": )"[^"]*"', rf'\1"{version}"', manifest.read_text(encoding="utf-8"), count=1)


def _command(command: Command) -> str:
    """Return a command of Claude Code: it prints the installed version's instructions, or that none is installed."""
    heading = [f"description: {command.about}"]
    if command.asks_for:
        heading.append(f"argument-hint: '[{command.asks_for}]'")
    heading.append("allowed-tools: Bash(palazzo instructions:*), Bash(echo:*)")
    lines = ["---", *heading, "---", "", f'!`palazzo instructions {command.instructions} || echo "{_MISSING}"`', ""]
    if command.asks_for:
        lines += ["The person says: $ARGUMENTS", ""]
    return "\n".join(lines)


def _skill(command: Command) -> str:
    """Return a skill of Codex, which cannot run a program when it is read: it has the text of its own version."""
    about = f"{command.about}{f'; {command.when}' if command.when else ''}."
    text = _instructions(command.instructions).rstrip()
    newer = f"`palazzo instructions {command.instructions}` prints the text of the installed version."
    return render(command.name, about, f"{text}\n\n{newer}\n")


def _instructions(name: InstructionsName) -> str:
    with Context() as context:
        return instructions(context, InstructionsRequest(name)).text


def _document(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main())
