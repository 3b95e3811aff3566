"""opencode's hooks: its plugin (`integrations/opencode`) is Palazzo's, and builds the payloads in Palazzo's format."""

from __future__ import annotations

from palazzo.hosts.extension import extension

ADAPTER = extension("opencode", holds_back=False)
