"""Palazzo's own profile: `core`, which every session pays for, and `full`, for those who look after a palace."""

from palazzo.mcp.profile import Profile
from palazzo.mcp.tools import Tool
from palazzo.mcp.toolsets.core import CORE
from palazzo.mcp.toolsets.full import FULL

INSTRUCTIONS = """\
Palazzo is the memory of this project and of earlier sessions: exact words, with date, origin and id.
- Search before you ask the person, or decide or redo something that may have been settled before: `search`. \
`read` shows one hit in full, with what stands around it.
"""


def _tools(toolset: str) -> tuple[Tool, ...]:
    return FULL if toolset == "full" else CORE


PROFILE = Profile("palazzo", "Palazzo memory", INSTRUCTIONS, _tools)
