"""Kilo Code's hooks: it loads the plugin for opencode (`integrations/opencode`), which names Kilo Code as its host."""

from __future__ import annotations

from palazzo.hosts.extension import extension

ADAPTER = extension("kilo-code", holds_back=False)
