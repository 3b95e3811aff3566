"""The one table of settings: name, type, default, what is allowed, and who may set it.

`palazzo settings`, the documentation and every check read this. It knows no files.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from palazzo.model import Trust

Kind = Literal["flag", "number", "choice", "text", "list"]
Layer = Literal["default", "user", "project", "person", "environment"]
"""Who speaks: the user's `config.toml`, a project's `palazzo.toml`, one person's `.claude/palazzo.local.md`
in a project, the environment. Later ones win."""
Value = bool | int | str | tuple[str, ...]

_OWN: frozenset[Layer] = frozenset({"user", "environment"})
"""What reaches beyond one project: no file inside a project sets it."""
_PERSONAL: frozenset[Layer] = _OWN | {"person"}
"""How memory behaves for one person in one project."""
_ANYWHERE: frozenset[Layer] = _PERSONAL | {"project"}
_PROJECT: frozenset[Layer] = frozenset({"project", "person"})

TRUSTS = get_args(Trust)


@dataclass(frozen=True, slots=True)
class Key:
    """One setting. `stricter(new, old)` says whether a file inside a project may replace `old` by `new`.

    Lists that `add` hold what every layer says: nobody takes back what another has excluded.
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
        """The environment variable that sets it."""
        return "PALAZZO_" + self.name.upper().replace(".", "_").replace("-", "_")

    @property
    def constraint(self) -> str:
        """What may be written, as it is said to a person."""
        match self.kind:
            case "flag":
                return "true or false"
            case "number":
                return f"a whole number from {self.least} to {self.most}"
            case "choice":
                return f"one of {', '.join(self.choices)}"
            case "list":
                return "a list of texts"
            case "text":
                return "a text on one line"


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
    Key("palace", "text", "", "The palace file; empty for the one in your data directory.", _OWN),
    Key("service", "flag", True, "Whether background processes may be started.", _OWN),
    Key("http.hosts", "list", (), "Names by which clients may call 'palazzo mcp --http', besides localhost.", _OWN),
    Key("http.origins", "list", (), "Origins whose pages may call 'palazzo mcp --http': https://name:port.", _OWN),
    Key(
        "service_idle_minutes",
        "number",
        30,
        "Minutes for which the background service stays when nobody asks it for anything; 0 ends it at once.",
        _OWN,
        most=10_080,
    ),
    Key(
        "service_memory_mb",
        "number",
        1_024,
        "Megabytes, at least 256, above which the background service starts afresh when it has nothing to do.",
        _OWN,
    ),
    Key("off", "flag", False, "Stop all capture and injection.", frozenset({"environment"})),
    Key("embedder.kind", "choice", "bundled", "Who makes vectors.", _OWN, ("bundled", "openai")),
    Key("embedder.base_url", "text", "", "Address of an OpenAI-compatible embedding server.", _OWN),
    Key("embedder.model", "text", "", "The model to ask that server for.", _OWN),
    Key("embedder.api_key", "text", "", "The key to send to that server.", _OWN, secret=True),
    Key("embedder.dimension", "number", 0, "Vector length to insist on; 0 takes what comes.", _OWN, most=65_536),
    Key("auto_context_on_start", "flag", True, "Orient the agent when a session starts."),
    Key("detect_recall_patterns", "flag", True, "Search when a prompt asks about the past."),
    Key("ask_floor", "number", 5, "Percent that a memory must score to answer a prompt that asks for it.", most=100),
    # On the dev half 2 % of ordinary prompts find something above it, and 62 % of what questions find above it is right
    # (24 hits), under scales that had not seen them (`recall/score.py`).
    Key("proactive_floor", "number", 70, "Percent that a memory must score to be told unasked.", most=100),
    Key(
        "context_depth",
        "choice",
        "medium",
        "How much the start of a session gets.",
        choices=("shallow", "medium", "deep"),
    ),
    Key("auto_commit", "flag", False, "Make a checkpoint after a session has ended."),
    Key("save_interval", "number", 15, "Human messages between two saves.", least=1, most=10_000),
    Key("save_mode", "choice", "silent", "Save silently, or ask the agent to.", choices=("silent", "ask")),
    Key(
        "profile",
        "choice",
        "palazzo",
        "Whose names hooks call the memory's tools by, as the server that agents have.",
        choices=("palazzo", "mempalace", "shodh"),
    ),
    Key("desktop_toast", "flag", False, "Show a desktop notice after a save."),
    *(Key(f"events.{name}", "flag", on, f"Whether the {name} hook does anything.") for name, on in EVENTS.items()),
    Key("min_messages", "number", 3, "Sessions with fewer messages are not taken in.", _OWN, most=10_000),
    Key("wing", "text", "", "The label of this project's wing.", _PROJECT),
    Key("mine.policy", "choice", "docs", "What is read of a project.", _ANYWHERE, ("docs", "all")),
    Key("mine.include", "list", (), "Patterns of files to read; only these, if any.", _PROJECT),
    Key("mine.exclude", "list", (), "Patterns of files never to read; of all places together.", _ANYWHERE, add=True),
    Key(
        "mine.exclude_projects",
        "list",
        (),
        "Directories of which nothing is read: no documents, and no sessions held there.",
        _OWN,
        add=True,
    ),
    Key(
        "backup.keep",
        "number",
        7,
        "Daily backups that the background service makes beside the palace and keeps; 0 makes none.",
        _OWN,
        most=1_000,
    ),
    Key(
        "backup.most_mb",
        "number",
        2_048,
        "Megabytes that these backups may take together: the oldest go first, the newest stays.",
        _OWN,
        least=1,
        most=100_000_000,
    ),
    Key("watch.background", "flag", True, "Whether the background service takes in what changes.", _OWN),
    Key("watch.polling", "flag", False, "Look for changes where the file system does not tell of them.", _OWN),
    Key(
        "sync.background",
        "flag",
        True,
        "Whether the background service syncs remotes that were begun with 'palazzo sync init --automatic'.",
        _OWN,
    ),
    Key("entities", "flag", True, "Whether names that drawers mention are kept.", _OWN),
    Key("redact", "flag", True, "Remove secrets before anything is stored.", _ANYWHERE, stricter=_stays_on),
    Key(
        "auto_inject_trust",
        "choice",
        "tool",
        "Least trusted origin that may be put before an agent unasked.",
        _ANYWHERE,
        TRUSTS,
        stricter=_at_least_as_trusted,
    ),
    Key(
        "trust.own",
        "list",
        (),
        "Tools, MCP servers, programs, hosts, git remotes and paths of your own, whose output counts as a tool's.",
        _OWN,
    ),
    Key(
        "branch_policy",
        "choice",
        "label",
        "What becomes of memories of branches that are not merged here: labelled, hidden, or told as all others.",
        choices=("label", "hide", "ignore"),
    ),
)
BY_NAME = {key.name: key for key in KEYS}

ALIASES: dict[str, tuple[str, dict[bool, str]]] = {
    "prompt_to_save": ("save_mode", {True: "ask", False: "silent"}),
    "silent_save": ("save_mode", {True: "silent", False: "ask"}),
}
"""Names that other programs use: what they set, and to what."""

_TRUE, _FALSE = ("true", "on", "yes", "1"), ("false", "off", "no", "0")


def read(key: Key, value: object) -> Value:
    """Return `value`, as a file or the environment gives it, in the key's own type; ValueError otherwise."""
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
