"""Skills: instruction texts as packages in the open Agent Skills form, a directory with a file `SKILL.md`.

    ---
    name: palazzo-search
    description: "…"
    metadata:
      author: palazzo
      checksum: "0123456789abcdef"
    ---
    …

The form is that of agentskills.io: `name` is also the name of the directory, `metadata` maps texts to texts. The
checksum covers the other lines. A file whose checksum is right is Palazzo's, of this version or another; a file that a
person has changed is that person's.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

from palazzo.features.hosts.contract import InstructionsName, InstructionsRequest
from palazzo.features.hosts.instructions import instructions
from palazzo.frozen_class import frozen

if TYPE_CHECKING:
    from palazzo.operations.context import Context

FILE = "SKILL.md"
_CHECKSUM = re.compile(r'^  checksum: "([0-9a-f]{16})"\n', re.MULTILINE)


@frozen
class Skill:
    """A skill: its name, the instruction text that it contains, and the description by which an agent chooses it."""

    name: str
    instructions: InstructionsName
    description: str


SKILLS = (
    Skill(
        "palazzo-search",
        "search",
        "Search the memory of past sessions, documents and notes for what was said, decided or tried before. Use it "
        "when the person refers to earlier work, when an error looks familiar, and before a decision is made again.",
    ),
    Skill(
        "palazzo-remember",
        "remember",
        "Save a decision with its reason, a finding or a preference for later sessions. Use it when the person asks to "
        "remember something, or when a decision is made that no file records.",
    ),
    Skill(
        "palazzo-handoff",
        "handoff",
        "Hand unfinished work to another agent or to a later session, or take it over. Use it when the person changes "
        "the agent, when a session ends before its task, and when a session begins with a handoff.",
    ),
    Skill(
        "palazzo-review",
        "review",
        "Prepare the review of quarantined notes that agents wrote after reading untrusted content. Use it when the "
        "person asks to review the memory or its quarantine.",
    ),
)


def render(name: str, description: str, text: str) -> str:
    """Return the text of a `SKILL.md`, without a checksum."""
    return f"---\nname: {name}\ndescription: {json.dumps(description)}\n---\n\n{text}"


def skill_text(context: Context, skill: Skill) -> str:
    """Return the text of a skill's `SKILL.md`, with its checksum."""
    body = instructions(context, InstructionsRequest(skill.instructions)).text.rstrip()
    newer = f"`palazzo instructions {skill.instructions}` prints the text of the installed version."
    text = render(skill.name, skill.description, f"{body}\n\n{newer}\n")
    head, fence, rest = text.partition("\n---\n")
    text = f"{head}\nmetadata:\n  author: palazzo\n{fence[1:]}{rest}"
    return text.replace("  author: palazzo\n", f'  author: palazzo\n  checksum: "{_checksum(text)}"\n', 1)


def is_ours(text: str) -> bool:
    """Return whether Palazzo wrote this `SKILL.md` and nobody has changed it since."""
    plain = text.replace("\r\n", "\n")
    match = _CHECKSUM.search(plain)
    return match is not None and _checksum(plain[: match.start()] + plain[match.end() :]) == match[1]


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
