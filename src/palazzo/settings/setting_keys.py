"""The one table of settings: name, type, default, allowed values, and who may set each.

`palazzo settings`, the documentation and every check read this table. It does not know any files.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, get_args

from palazzo.errors import UsageError
from palazzo.frozen_class import frozen
from palazzo.model import Trust

Kind = Literal["flag", "number", "choice", "text", "list"]
Layer = Literal["default", "user", "project", "person", "environment"]
"""The sources of settings: the user's `config.toml`, a project's `palazzo.toml`, one person's
`.claude/palazzo.local.md` in a project, and the environment. Later ones override earlier ones.
"""
Value = bool | int | str | tuple[str, ...]

_OWN: frozenset[Layer] = frozenset({"user", "environment"})
"""The layers that may set what affects more than one project: no file inside a project can."""
_PERSONAL: frozenset[Layer] = _OWN | {"person"}
"""The layers that may set one person's preferences in one project."""
_ANYWHERE: frozenset[Layer] = _PERSONAL | {"project"}
_PROJECT: frozenset[Layer] = frozenset({"project", "person"})

TRUSTS = get_args(Trust)


@frozen
class Key:
    """One setting. `stricter(new, old)` says whether a file inside a project may replace `old` by `new`.

    Lists with `add` combine the values of all layers: no layer can remove what another has excluded.
    """

    name: str
    kind: Kind
    default: Value
    help: str
    layers: frozenset[Layer] = _PERSONAL
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 1_000_000
    secret: bool = False
    add: bool = False
    stricter: Callable[[Value, Value], bool] | None = None

    @property
    def variable(self) -> str:
        """Return the environment variable that sets this key."""
        return "PALAZZO_" + self.name.upper().replace(".", "_").replace("-", "_")

    @property
    def constraint(self) -> str:
        """Return the allowed values, as text for a person."""
        match self.kind:
            case "flag":
                return "true or false"
            case "number":
                return f"an integer from {self.least} to {self.most}"
            case "choice":
                return f"one of {', '.join(self.choices)}"
            case "list":
                return "a list of strings"
            case "text":
                return "a string on one line"


def _stays_on(new: Value, old: Value) -> bool:
    return new is True or new == old


def _at_least_as_trusted(new: Value, old: Value) -> bool:
    return TRUSTS.index(str(new)) <= TRUSTS.index(str(old))


EVENTS = {
    "session-start": True,
    "prompt": True,
    "pre-tool": False,
    "post-tool": True,
    "tool-failure": True,
    "subagent-start": True,
    "subagent-stop": True,
    "stop": True,
    "pre-compact": True,
    "session-end": True,
}
"""The hook events, and whether each is on by default."""

KEYS: tuple[Key, ...] = (
    Key("palace", "text", "", "The palace file; empty for the default file in your data directory.", _OWN),
    Key("service", "flag", True, "Whether background processes may be started.", _OWN),
    Key(
        "http.hosts", "list", (), "Host names by which clients may call 'palazzo mcp --http', besides localhost.", _OWN
    ),
    Key("http.origins", "list", (), "Origins whose pages may call 'palazzo mcp --http': https://name:port.", _OWN),
    Key(
        "service_idle_minutes",
        "number",
        30,
        "Minutes for which the background service stays without requests; 0 ends it at once.",
        _OWN,
        most=10_080,
    ),
    Key(
        "service_memory_mb",
        "number",
        1_024,
        "Megabytes, at least 256, above which the background service restarts when it is idle.",
        _OWN,
    ),
    Key("off", "flag", False, "Stop all capture and injection.", frozenset({"environment"})),
    Key("embedder.kind", "choice", "bundled", "What computes vectors.", _OWN, ("bundled", "granite", "openai")),
    Key("embedder.base_url", "text", "", "Address of an OpenAI-compatible embedding server.", _OWN),
    Key("embedder.model", "text", "", "The model to request from that server.", _OWN),
    Key("embedder.api_key", "text", "", "The key to send to that server.", _OWN, secret=True),
    Key("embedder.dimension", "number", 0, "The required vector length; 0 accepts any.", _OWN, most=65_536),
    Key(
        "rerank",
        "choice",
        "tokens",
        "Whether a search also compares the tokens of its best candidates with those of the query.",
        _OWN,
        ("tokens", "off"),
    ),
    Key("auto_context_on_start", "flag", True, "Orient the agent when a session starts."),
    Key("detect_recall_patterns", "flag", True, "Search when a prompt asks about the past."),
    Key(
        "ask_floor",
        "number",
        5,
        "Minimum score, in percent, of a memory that answers a prompt that asks for it.",
        most=100,
    ),
    # On the dev half 2 % of ordinary prompts find something above it, and 62 % of what questions find above it is right
    # (24 hits), under scales that had not seen them (`index/score`).
    Key(
        "proactive_floor",
        "number",
        70,
        "Minimum score, in percent, of a memory that is injected automatically.",
        most=100,
    ),
    Key(
        "context_depth",
        "choice",
        "medium",
        "How much context the start of a session gets.",
        choices=("shallow", "medium", "deep"),
    ),
    Key("auto_commit", "flag", False, "Make a checkpoint after a session has ended."),
    Key("save_interval", "number", 15, "Number of human messages between two saves.", least=1, most=10_000),
    Key("save_mode", "choice", "silent", "Save silently, or ask the agent to save.", choices=("silent", "ask")),
    Key(
        "profile",
        "choice",
        "palazzo",
        "The profile whose tool names hooks use; choose that of the agents' server.",
        choices=("palazzo", "mempalace", "shodh"),
    ),
    Key("desktop_toast", "flag", False, "Show a desktop notification after a save."),
    *(Key(f"events.{name}", "flag", on, f"Whether the {name} hook does anything.") for name, on in EVENTS.items()),
    Key("min_messages", "number", 3, "Sessions with fewer messages are not ingested.", _OWN, most=10_000),
    Key("wing", "text", "", "The label of this project's wing.", _PROJECT),
    Key("mine.policy", "choice", "docs", "Which files of a project are read.", _ANYWHERE, ("docs", "all")),
    Key("mine.include", "list", (), "Patterns of files to read; if set, only these are read.", _PROJECT),
    Key(
        "mine.exclude",
        "list",
        (),
        "Patterns of files never to read; the patterns of all settings files are combined.",
        _ANYWHERE,
        add=True,
    ),
    Key(
        "mine.exclude_projects",
        "list",
        (),
        "Directories from which nothing is read: no documents, and no sessions held there.",
        _OWN,
        add=True,
    ),
    Key(
        "backup.keep",
        "number",
        7,
        "Number of daily backups that the background service makes beside the palace and keeps; 0 makes none.",
        _OWN,
        most=1_000,
    ),
    Key(
        "backup.most_mb",
        "number",
        2_048,
        "Megabytes that these backups may use together: the oldest are removed first, the newest stays.",
        _OWN,
        least=1,
        most=100_000_000,
    ),
    Key("watch.background", "flag", True, "Whether the background service ingests changes.", _OWN),
    Key("watch.polling", "flag", False, "Poll for changes where the file system does not report them.", _OWN),
    Key(
        "sync.background",
        "flag",
        True,
        "Whether the background service syncs remotes that were set up with 'palazzo sync init --automatic'.",
        _OWN,
    ),
    Key(
        "team.background",
        "flag",
        True,
        "Whether the background service sends what is new in the wings that you share with a team.",
        _OWN,
    ),
    Key("team.search", "flag", False, "Whether each search also asks the team that you have joined.", _OWN),
    Key("entities", "flag", True, "Whether to store the names that drawers mention.", _OWN),
    Key("redact", "flag", True, "Remove secrets before anything is stored.", _ANYWHERE, stricter=_stays_on),
    Key(
        "auto_inject_trust",
        "choice",
        "tool",
        "Least trusted origin of content that may be injected automatically.",
        _ANYWHERE,
        TRUSTS,
        stricter=_at_least_as_trusted,
    ),
    Key(
        "trust.own",
        "list",
        (),
        "Your own tools, MCP servers, programs, hosts, git remotes and paths, whose output gets a tool's trust.",
        _OWN,
    ),
    Key(
        "branch_policy",
        "choice",
        "label",
        "How memories of branches that are not merged here are shown: labelled, hidden, or like all others.",
        choices=("label", "hide", "ignore"),
    ),
)
BY_NAME = {key.name: key for key in KEYS}

ALIASES: dict[str, tuple[str, dict[bool, str]]] = {
    "prompt_to_save": ("save_mode", {True: "ask", False: "silent"}),
    "silent_save": ("save_mode", {True: "silent", False: "ask"}),
}
"""Names that other programs use, with the setting and the value they stand for."""

_TRUE, _FALSE = ("true", "on", "yes", "1"), ("false", "off", "no", "0")


def known_key(name: str) -> Key:
    """Return the key with that name or alias; raise UsageError if there is none."""
    key = BY_NAME.get(ALIASES[name][0] if name in ALIASES else name)
    if key is None:
        raise UsageError(f"There is no setting '{name}'. 'palazzo settings' lists them all.")
    return key


def read(key: Key, value: object) -> Value:
    """Return `value`, as read from a file or the environment, in the key's own type; raise ValueError otherwise."""
    parsed_value = _READERS[key.kind](key, value)
    if parsed_value is None:
        raise ValueError(key.constraint)
    return parsed_value


def _flag(_: Key, value: object) -> Value | None:
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else ""
    return True if word in _TRUE else False if word in _FALSE else None


def _number(key: Key, value: object) -> Value | None:
    if isinstance(value, str) and value.strip().lstrip("-").isdecimal():
        value = int(value)
    whole = isinstance(value, int) and not isinstance(value, bool) and math.isfinite(value)
    return value if whole and isinstance(value, int) and key.least <= value <= key.most else None


def _choice(key: Key, value: object) -> Value | None:
    return value if isinstance(value, str) and value in key.choices else None


def _text(key: Key, value: object) -> Value | None:
    if key.name == "palace" and isinstance(value, str):
        return value if value.strip() else ""  # whoever opens it says what is wrong: no other palace takes its place
    return value.strip() if isinstance(value, str) and value.strip().isprintable() else None


def _list(_: Key, value: object) -> Value | None:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list | tuple) and all(isinstance(entry, str) and entry.isprintable() for entry in value):
        return tuple(value)
    return None


_READERS: dict[Kind, Callable[[Key, object], Value | None]] = {
    "flag": _flag,
    "number": _number,
    "choice": _choice,
    "text": _text,
    "list": _list,
}
