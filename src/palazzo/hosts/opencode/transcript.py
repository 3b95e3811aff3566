"""opencode's transcripts: its database, and the tree of JSON files of older versions."""

from __future__ import annotations

from palazzo.hosts.opencode.opencode_database import Opencode
from palazzo.hosts.opencode.opencode_storage import OpencodeStorage
from palazzo.sources.formats import Collection

COLLECTIONS: tuple[Collection, ...] = (Opencode(), OpencodeStorage())
