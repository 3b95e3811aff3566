"""Transcript formats: the feeders that read transcripts, in the order in which they are tried. Add new formats here."""

from __future__ import annotations

from palazzo.sources.formats import Collection, Feeder
from palazzo.sources.formats.aider import Aider
from palazzo.sources.formats.chat_messages import ChatMessages
from palazzo.sources.formats.chatgpt import ChatGPT
from palazzo.sources.formats.claude_ai import ClaudeAI
from palazzo.sources.formats.claude_code_transcripts import ClaudeCode
from palazzo.sources.formats.codex_cold import CodexCold
from palazzo.sources.formats.codex_rollouts import Codex
from palazzo.sources.formats.continue_dev import ContinueDev
from palazzo.sources.formats.copilot_events import Copilot
from palazzo.sources.formats.cursor_database import Cursor
from palazzo.sources.formats.diary_files import DiaryFiles
from palazzo.sources.formats.gemini_recordings import Gemini
from palazzo.sources.formats.opencode_database import Opencode
from palazzo.sources.formats.opencode_storage import OpencodeStorage
from palazzo.sources.formats.pi_sessions import Pi
from palazzo.sources.formats.plain_text import PlainText
from palazzo.sources.formats.quoted_turns import QuotedTurns
from palazzo.sources.formats.slack import Slack

TRANSCRIPTS: tuple[Feeder, ...] = (ClaudeCode(), Codex(), Pi(), Gemini(), Copilot())

COLLECTIONS: tuple[Collection, ...] = (
    *(CodexCold(), Cursor(), Opencode(), OpencodeStorage(), ClaudeAI(), ChatGPT(), Slack(), ContinueDev()),
    *(Aider(), PlainText(), DiaryFiles()),
)
"""Readers of files and directories that contain many conversations; the most specific readers are tried first."""

NAMED_FILE_COLLECTIONS: tuple[Collection, ...] = (ChatMessages(),)
"""Readers of files that may be data: used only for a file that the user names or declares to be a conversation."""
STATED_COLLECTIONS: tuple[Collection, ...] = (PlainText(is_stated=True), QuotedTurns())
"""Readers of text that may be a document: used only if the user declares that it is a conversation."""
