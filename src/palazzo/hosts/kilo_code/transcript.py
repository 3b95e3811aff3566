"""Kilo Code's history: `kilo.db`, a database of opencode's format (`hosts/opencode/opencode_database`)."""

from __future__ import annotations

import re

from palazzo.hosts.opencode.opencode_database import Opencode
from palazzo.sources.formats import Collection

KIND = "kilo"
_NAME = re.compile(r"kilo(?:-[\w.-]+)?\.db")

COLLECTIONS: tuple[Collection, ...] = (Opencode(kind=KIND, name=_NAME),)
