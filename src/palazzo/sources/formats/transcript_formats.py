"""Transcript formats: the readers of conversations, in the order in which they are tried.

Those of hosts come from the hosts' own folders, by name: a host's reader imports the protocols and the parts of this
package, which therefore cannot import it. Readers of exports and of plain text are listed here.
"""

from __future__ import annotations

from importlib import import_module

from palazzo.sources.formats import Collection, Feeder
from palazzo.sources.formats.chat_messages import ChatMessages
from palazzo.sources.formats.chatgpt import ChatGPT
from palazzo.sources.formats.claude_ai import ClaudeAI
from palazzo.sources.formats.diary_files import DiaryFiles
from palazzo.sources.formats.plain_text import PlainText
from palazzo.sources.formats.quoted_turns import QuotedTurns
from palazzo.sources.formats.slack import Slack

_HOSTS = import_module("palazzo.hosts.host_registry")

TRANSCRIPTS: tuple[Feeder, ...] = _HOSTS.feeders()

COLLECTIONS: tuple[Collection, ...] = (
    *_HOSTS.collections(),
    *(ClaudeAI(), ChatGPT(), Slack(), PlainText(), DiaryFiles()),
)
"""Readers of files and directories that contain many conversations; the most specific readers are tried first."""

NAMED_FILE_COLLECTIONS: tuple[Collection, ...] = (ChatMessages(),)
"""Readers of files that may be data: used only for a file that the user names or declares to be a conversation."""
STATED_COLLECTIONS: tuple[Collection, ...] = (PlainText(is_stated=True), QuotedTurns())
"""Readers of text that may be a document: used only if the user declares that it is a conversation."""
