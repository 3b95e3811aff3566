"""What Palazzo knows of Windsurf: of its files, from public readers; of its hooks and transcripts, from its
documentation.

The readers are stacklok/toolhive (`pkg/client/config.go`) and oh-my-pi (`windsurf.ts`).

Its own history, `~/.codeium/windsurf/cascade/*.pb`, is encrypted and is not read. It writes a conversation a second
time, readable, only while the hook `post_cascade_response_with_transcript` is set up; that is what `transcript.py`
reads.
"""

from __future__ import annotations

from palazzo.hosts.host_descriptor import Host, Location

HOST = Host(
    name="windsurf",
    title="Windsurf",
    program="windsurf",
    kinds=("windsurf",),
    directories=(Location("", ".codeium/windsurf"),),
    histories=(Location("", ".windsurf", ("transcripts",)),),
    session_files=r"[^/]+\.jsonl",
    history_note="transcripts of its hook; the rest is encrypted",
    evidence="public readers",
)
