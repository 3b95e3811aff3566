"""settings: show the effective settings and their origin, or set one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.upkeep.contract import SettingsRequest, SettingsResult, SettingView
from palazzo.settings import Effective, Value
from palazzo.settings.setting_keys import known_key

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def settings(context: Context, request: SettingsRequest) -> SettingsResult:
    """Show the effective settings and where each was written, or write one to your own config.toml."""
    action, key, value = _parse_action(request)
    if action == "set":
        if key is None or value is None:
            raise UsageError("Name the setting and its new value: palazzo settings set KEY VALUE.")
        from palazzo.features.upkeep.setting_writer import write  # and with it tomlkit, which nothing else here needs

        write(context.settings_file, key, value)
        context.__dict__.pop("settings", None)  # read them anew: what was just written may be overruled elsewhere
    elif value is not None:
        raise UsageError("To write a setting, use: palazzo settings set KEY VALUE.")
    effective_settings = context.settings
    names = [known_key(key).name] if key is not None else list(effective_settings.values)
    return SettingsResult(
        tuple(_view(context, effective_settings.values[name]) for name in names),
        problems(context),
        str(context.settings_file) if action == "set" else "",
        key is not None,
    )


def problems(context: Context) -> tuple[str, ...]:
    """Return a sentence for each wrong value in the effective settings files."""
    from palazzo.git.project_file import read_project_config

    return (*context.settings.problems, *read_project_config(context.project_root).problems)


def _parse_action(request: SettingsRequest) -> tuple[str, str | None, str | None]:
    if request.action in (None, "get", "set"):
        return request.action or "get", request.key, request.value
    return "get", request.action, request.key  # `palazzo settings save_interval`


def _view(context: Context, effective: Effective) -> SettingView:
    key, shown = effective.key, effective.display_text
    value: Value = shown if key.secret else effective.value
    origin = effective.origin
    if key.name == "palace":  # an empty value, a `~` and a relative path stand for this one
        value = shown = str(context.palace_path)
        origin = "--palace" if context.is_palace_named else origin
    return SettingView(key.name, value, origin, key.default, key.constraint, key.help, shown)
