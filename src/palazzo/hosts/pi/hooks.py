"""pi's hooks: its extension (`integrations/pi`) is Palazzo's, and builds the payloads in Palazzo's format."""

from __future__ import annotations

from palazzo.hosts.extension import extension

ADAPTER = extension("pi", holds_back=True)
