"""Print the tools of this profile as JSON, for programs that inspect MemPalace's server module."""

from __future__ import annotations

import json

from palazzo.faces.mcp.profiles.mempalace import TOOLS

if __name__ == "__main__":
    print(json.dumps({tool.name: {"description": tool.description, "input_schema": tool.input} for tool in TOOLS}))
