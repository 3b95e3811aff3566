"""Whether Crush still has a session. Nothing is restored into its databases."""

from __future__ import annotations

from palazzo.hosts.crush.transcript import has_session as has_session
