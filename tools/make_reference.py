"""Write docs/reference from the code: commands from the registry of operations, settings from the table of keys, the
tools of the MCP server from its profiles, the schema of an export from its records.

    python tools/make_reference.py [--check]

`--check` writes nothing and fails when a page is not what the code says.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from palazzo.faces.mcp.profile import MODULES, Profile, profile_called
from palazzo.faces.mcp.tool import Tool
from palazzo.operations.operation import PERSON_ONLY, Operation, RequestField, request_fields
from palazzo.operations.registry import operations, split_command_name
from palazzo.settings import KEYS
from palazzo.sync.export_schema import schema

_TOOLS = (
    "What `palazzo mcp` offers an agent ([how it is connected](../how-to/connect-agents.md), [how results "
    "read](../how-to/tools.md)). `--toolset full` has more tools than `core`, and more arguments of the same ones; all "
    "are listed here. An answer may have more fields than those named, which are always there."
)

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
_MADE = "<!-- Made by tools/make_reference.py; change the code, not this page. -->"
_SHARED = (
    "Every command also takes `--json` (one document on standard output and nothing else), `--palace PATH`, "
    "`--debug` and `--help`. Exit codes: 0 done (also when nothing was found), 1 failed, 2 wrong usage, 3 a bug (a "
    "report file is named), 130 interrupted (what was done is kept)."
)

_MCP = (
    "Serve this memory to an agent as MCP tools. It is no operation but a way to call them: "
    "[connect an agent](../how-to/connect-agents.md) has its options."
)

_STATUS_LINE = (
    "Print one short line for a host to show below its prompt. It never fails, and exits with 0: "
    "[the status line](../how-to/status-line.md)."
)


def main() -> int:
    """Write the pages, or say which are out of date."""
    pages = {
        "commands.md": commands(),
        "settings.md": settings(),
        "tools.md": tools(),
        "export-schema.json": json.dumps(schema(), indent=2) + "\n",
    }
    if "--check" in sys.argv:
        held = {name: PAGES / name for name in pages}
        stale = [
            name
            for name, text in pages.items()
            if not held[name].exists() or held[name].read_text(encoding="utf-8") != text
        ]
        if stale:
            print(f"docs/reference: {', '.join(stale)} is out of date. Run: python tools/make_reference.py")
        return 1 if stale else 0
    PAGES.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (PAGES / name).write_text(text, encoding="utf-8")
    return 0


def commands() -> str:
    """Return the page of commands."""
    parts = ["# Commands", "", _MADE, "", _SHARED, ""]
    for operation in operations():
        parts += _command(operation)
    parts += ["## palazzo mcp", "", _MCP, "", "## palazzo statusline", "", _STATUS_LINE, ""]
    return "\n".join(parts).rstrip() + "\n"


def settings() -> str:
    """Return the page of settings."""
    lines = [
        "# Settings",
        "",
        _MADE,
        "",
        "Read from the user's `config.toml`, a project's `palazzo.toml`, a person's `.claude/palazzo.local.md`",
        "there, and the environment; later wins, except that files inside a project may tighten what guards",
        "you and never loosen it. `palazzo settings` shows each effective value and where it came from.",
        "",
        "| key | default | in the environment | may be set in | what it does |",
        "|---|---|---|---|---|",
    ]
    for key in KEYS:
        allowed = f" ({' / '.join(key.choices)})" if key.choices else ""
        where = ", ".join(sorted(key.layers))
        lines.append(f"| `{key.name}` | `{_shown(key.default)}` | `{key.variable}` | {where} | {key.help}{allowed} |")
    return "\n".join(lines) + "\n"


def tools() -> str:
    """Return the page of the MCP server's tools, by profile."""
    lines = ["# Tools", "", _MADE, "", _TOOLS, ""]
    for name, module in MODULES.items():
        if all(importlib.util.find_spec(part) is not None for part in (module.rpartition(".")[0], module)):
            lines += _profile(profile_called(name))
    return "\n".join(lines).rstrip() + "\n"


def _profile(profile: Profile) -> Iterator[str]:
    core = {tool.name for tool in profile.tools("core")}
    full = {tool.name: tool for tool in (*profile.tools("core"), *profile.tools("full"))}
    yield f"## Profile {profile.name}"
    yield ""
    if len(core) < len(full):
        names = ", ".join(f"`{name}`" for name in full if name in core)
        yield f"The core toolset has {len(core)} tools: {names}. The full toolset has {len(full)}."
    else:
        yield f"It has {len(full)} tools, the same in both toolsets."
    yield ""
    for tool in full.values():
        yield from _tool(tool)


def _tool(tool: Tool) -> Iterator[str]:
    kind = "reads" if tool.hints.reads else "changes what is there" if tool.hints.destroys else "adds"
    yield f"### {tool.name}"
    yield ""
    yield f"{tool.description} ({kind}; `palazzo {' '.join(split_command_name(tool.operation))}`)"
    yield ""
    needed, properties = tool.input.get("required", ()), tool.input["properties"]
    if properties:
        yield "| argument | type | what it is | default |"
        yield "|---|---|---|---|"
    for name, one in properties.items():
        told = one.get("description", "") + (f" One of {', '.join(map(str, one['enum']))}." if "enum" in one else "")
        default = "needed" if name in needed else f"`{_shown(one['default'])}`" if "default" in one else ""
        yield f"| `{name}` | {one.get('type', 'any')} | {told.strip()} | {default} |".replace("|  |", "| |")
    if properties:
        yield ""
    fields = ", ".join(f"`{name}`" for name in tool.output.get("properties", {}))
    if fields:
        yield f"Answers {fields}."
        yield ""


def _command(operation: Operation[Any, Any]) -> Iterator[str]:
    fields = [field for field in request_fields(operation.request) if not field.about.hidden]
    places = [_place(field) for field in fields if field.about.positional]
    yield f"## palazzo {' '.join(split_command_name(operation.name))}{''.join(' ' + place for place in places)}"
    yield ""
    yield "\n".join(line.strip() for line in operation.help.splitlines())
    yield ""
    if fields:
        yield "| | what it does | default |"
        yield "|---|---|---|"
        yield from (_row(field) for field in fields)
        yield ""
    yield from _json(operation.result)
    yield ""


def _json(result: type) -> Iterator[str]:
    """The fields of a result; those of each kind, with what it is `of`, where there are several kinds."""
    kinds: list[type] = result.__subclasses__()
    for n, kind in enumerate(kinds or [result]):
        if n:
            yield ""
        of = f" of {getattr(kind, 'of', '')}" if kinds else ""
        yield f"`--json`{of}: {', '.join(f'`{name}`' for name in _result_fields(kind))}."


def _row(field: RequestField) -> str:
    name = _place(field) if field.about.positional else _option(field)
    default = "" if field.is_required or field.default in (None, False, True, (), "") else f"`{field.default}`"
    return f"| `{name}` | {field.about.help}{_choices(field.type)} | {default} |"


def _place(field: RequestField) -> str:
    name = field.about.option or field.name.upper()
    return name if field.is_required else f"[{name}]"


def _option(field: RequestField) -> str:
    name = field.about.option or f"--{field.name.replace('_', '-')}"
    if field.type is bool:
        return f"--no-{name.removeprefix('--')}" if field.default is True else name
    one = field.name.removesuffix("s") if get_origin(field.type) is tuple else field.name
    return f"{name} {field.about.metavar or one.upper()}"


def _choices(kind: Any) -> str:
    if get_origin(kind) is not Literal:
        return ""
    return f" One of {', '.join(str(choice) for choice in get_args(kind))}."


def _result_fields(result: type) -> Iterator[str]:
    for field in dataclasses.fields(result):
        if "PERSON_ONLY" not in str(field.type) and PERSON_ONLY not in getattr(field.type, "__metadata__", ()):
            yield field.name


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value) if value not in ("", None, ()) else "–"


if __name__ == "__main__":
    sys.exit(main())
