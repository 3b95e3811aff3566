"""What Palazzo knows of Factory's Droid, as version 0.215.0 was run (npm: `droid`), with a model of its settings.

Its sessions are `.factory/sessions/<folder of the directory>/<session id>.jsonl`. Hooks are in `.factory/settings.json`
and MCP servers in `.factory/mcp.json`, a person's own and a project's.
"""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="droid",
    title="Droid",
    program="droid",
    kinds=("droid",),
    directories=(Location("", ".factory"),),
    histories=(Location("", ".factory", ("sessions",)),),
    session_files=r"[^/]+/[^/]+\.jsonl",
    skills=Location("", ".factory", ("skills",)),
    project_skills=".factory/skills",
    evidence="program",
    versions=("0.215.0",),
)
