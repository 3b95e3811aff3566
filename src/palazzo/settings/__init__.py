"""Settings: the effective value of every key, and its origin.

The user's `config.toml`, a project's `palazzo.toml`, one person's `.claude/palazzo.local.md` in a project, and
`PALAZZO_*` in the environment; later ones take precedence. Anybody may have written the files inside a project: they
set only what concerns the project (`setting_keys.Key.layers`), and may make the user's protections stricter but never
weaker. An invalid value affects only that value, and yields a sentence that says what is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from palazzo import paths
from palazzo.frozen_class import frozen
from palazzo.settings import setting_layers
from palazzo.settings.setting_keys import ALIASES, BY_NAME, KEYS, Key, Layer, Value, read
from palazzo.settings.setting_layers import SettingEntry, Source

__all__ = ["KEYS", "AliasUse", "Effective", "Key", "Settings", "Value", "alias_uses", "load"]

_LONGEST_LINE = 300
"""The most characters of a message about a settings file, which every command shows."""
_SECRET = "********"  # noqa: S105 - what is shown in place of one


@frozen
class Effective:
    """A key with its effective value, and the place where that is set."""

    key: Key
    value: Value
    origin: str

    @property
    def display_text(self) -> str:
        """Return the value for display, without secrets."""
        if self.key.secret and self.value:
            return _SECRET
        if isinstance(self.value, bool):
            return "true" if self.value else "false"
        return ", ".join(self.value) if isinstance(self.value, tuple) else str(self.value)


class Settings:
    """All effective values. Use the getter for the key's type."""

    def __init__(
        self, values: Mapping[str, Effective], problems: tuple[str, ...] = (), problems_by_file: tuple[str, ...] = ()
    ) -> None:
        self.values, self.problems, self.problems_by_file = dict(values), problems, problems_by_file

    def flag(self, name: str) -> bool:
        """Return a Boolean setting."""
        return self.values[name].value is True

    def number(self, name: str) -> int:
        """Return a whole number."""
        value = self.values[name].value
        assert isinstance(value, int)  # noqa: S101 - the table says so
        return value

    def text(self, name: str) -> str:
        """Return a text or a choice."""
        return str(self.values[name].value)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list."""
        value = self.values[name].value
        assert isinstance(value, tuple)  # noqa: S101 - the table says so
        return value


@frozen
class AliasUse:
    """An alias that a layer sets, where it does, and the key and the value that it stands for."""

    layer: Layer
    alias: str
    origin: str
    key: Key
    value: Value


def load(user_file: Path, project: Path | None, variables: Mapping[str, str]) -> Settings:
    """Read every layer. `project` is the root of the current project, if there is one. Never raises."""
    sources = _read_sources(user_file, project, variables)
    values = {key.name: Effective(key, key.default, "default") for key in KEYS}
    problems: list[str] = []
    by_file: list[str] = []
    for source in sources:
        source_problems = [
            *source.problems,
            *filter(None, (_apply_entry(values, source, entry) for entry in source.entries)),
        ]
        problems += source_problems
        by_file += _in_one_line(source_problems)
    return Settings(values, tuple(problems), tuple(by_file))


def alias_uses(user_file: Path, project: Path | None, variables: Mapping[str, str]) -> list[AliasUse]:
    """Return every alias that a layer sets to a valid value. Never raises."""
    sources = _read_sources(user_file, project, variables)
    uses = (_alias_use(source.layer, entry) for source in sources for entry in source.entries)
    return [use for use in uses if use is not None]


def _alias_use(layer: Layer, entry: SettingEntry) -> AliasUse | None:
    """Return the alias that an entry sets; None if the entry has no alias, or has no effect."""
    if entry.name not in ALIASES:
        return None
    name, meanings = ALIASES[entry.name]
    key = BY_NAME[name]
    try:
        value = _resolve_alias(meanings, entry.value)
    except ValueError:
        return None
    return AliasUse(layer, entry.name, entry.origin, key, value) if layer in key.layers else None


def _read_sources(user_file: Path, project: Path | None, variables: Mapping[str, str]) -> list[Source]:
    sources = [setting_layers.user_file(user_file)]
    if project is not None and not paths.can_be_entered(project):
        sources.append(Source("project", problems=[f"{project} cannot be entered: no settings in it are used."]))
    elif project is not None:
        sources += [setting_layers.project_file(project), setting_layers.person_file(project)]
    return [*sources, setting_layers.environment(variables)]


def _in_one_line(problems: list[str]) -> list[str]:
    """Return the problems, each as one short line: anyone may have written the file, and every command shows them."""
    if not problems:
        return []
    first = problems[0] if len(problems[0]) <= _LONGEST_LINE else f"{problems[0][:_LONGEST_LINE]}…"
    more = f" {len(problems) - 1:,} more in that file: 'palazzo settings' lists them." if len(problems) > 1 else ""
    return [f"{first}{more}"]


def _apply_entry(values: dict[str, Effective], source: Source, entry: SettingEntry) -> str:
    """Apply one value, or return what is wrong with it."""
    alias = ALIASES.get(entry.name)
    key = BY_NAME.get(alias[0] if alias else entry.name)
    if key is None:
        return f"{entry.origin}: `{entry.name}` is not a setting{_nearest(entry.name)}. It is ignored."
    if source.layer not in key.layers:
        return f"{entry.origin}: `{entry.name}` cannot be set here, only {_places(key)}. It is ignored."
    try:
        value = _resolve_alias(alias[1], entry.value) if alias else read(key, entry.value)
    except ValueError as error:
        if source.layer == "project" and entry.name.startswith(("mine.", "wing")):
            return ""  # `palazzo.git.project_file` says so, with more detail
        return f"{entry.origin}: `{entry.name}` must be {error}. {_stays(values[key.name])}"
    if source.layer in ("project", "person") and key.stricter and not key.stricter(value, values[key.name].value):
        return (
            f"{entry.origin}: `{entry.name}` may be made stricter inside a project, but not looser. "
            f"{_stays(values[key.name])}"
        )
    values[key.name] = _added(values[key.name], value, entry.origin) if key.add else Effective(key, value, entry.origin)
    return ""


def _added(current_setting: Effective, value: Value, origin: str) -> Effective:
    """Return a list value extended by the values of one more layer."""
    if (
        not isinstance(current_setting.value, tuple)
        or not isinstance(value, tuple)
        or current_setting.origin == "default"
    ):
        return Effective(current_setting.key, value, origin)
    return Effective(
        current_setting.key,
        tuple(dict.fromkeys((*current_setting.value, *value))),
        f"{current_setting.origin}; {origin}",
    )


def _resolve_alias(meanings: Mapping[bool, str], value: object) -> Value:
    flag = read(BY_NAME["redact"], value)  # any flag reads a flag
    return meanings[flag is True]


def _stays(effective: Effective) -> str:
    if effective.origin == "default":
        return "The default is used."
    return f"The value from {effective.origin} is used."


def _nearest(name: str) -> str:
    import difflib

    matches = difflib.get_close_matches(name, [*BY_NAME, *ALIASES], 1, 0.75)
    return f"; did you mean `{matches[0]}`?" if matches else ""


def _places(key: Key) -> str:
    names = {
        "user": "in your own config.toml",
        "project": "in a project's palazzo.toml",
        "person": "in .claude/palazzo.local.md",
        "environment": f"by {key.variable}",
    }
    return " or ".join(text for layer, text in names.items() if layer in key.layers)
