"""The real Claude Code and the real Codex, driven offline through several turns with Palazzo in them."""
