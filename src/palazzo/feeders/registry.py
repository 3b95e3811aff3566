"""The feeders that read transcripts, in the order in which they are asked. A new format is added here."""

from __future__ import annotations

from palazzo.feeders import Collection, Feeder
from palazzo.feeders.aider import Aider
from palazzo.feeders.chat_messages import ChatMessages
from palazzo.feeders.chatgpt import ChatGPT
from palazzo.feeders.claude_ai import ClaudeAI
from palazzo.feeders.claude_code import ClaudeCode
from palazzo.feeders.codex import Codex
from palazzo.feeders.codex_cold import CodexCold
from palazzo.feeders.continue_dev import ContinueDev
from palazzo.feeders.copilot import Copilot
from palazzo.feeders.cursor import Cursor
from palazzo.feeders.diary_files import DiaryFiles
from palazzo.feeders.gemini import Gemini
from palazzo.feeders.opencode import Opencode
from palazzo.feeders.opencode_storage import OpencodeStorage
from palazzo.feeders.pi import Pi
from palazzo.feeders.plain_text import PlainText
from palazzo.feeders.quoted_turns import QuotedTurns
from palazzo.feeders.slack import Slack

TRANSCRIPTS: tuple[Feeder, ...] = (ClaudeCode(), Codex(), Pi(), Gemini(), Copilot())

COLLECTIONS: tuple[Collection, ...] = (
    *(CodexCold(), Cursor(), Opencode(), OpencodeStorage(), ClaudeAI(), ChatGPT(), Slack(), ContinueDev()),
    *(Aider(), PlainText(), DiaryFiles()),
)
"""Readers of files and directories that hold many conversations; what is most particular is asked first."""

NAMED_FILE_COLLECTIONS: tuple[Collection, ...] = (ChatMessages(),)
"""Readers of files that may be data: used only for a file that a person names or states to be a conversation."""
STATED_COLLECTIONS: tuple[Collection, ...] = (PlainText(is_stated=True), QuotedTurns())
"""Readers of text that may be a document: used only where a person states that it is a conversation."""
