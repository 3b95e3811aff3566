"""Claude Code, Anthropic's coding agent for the terminal."""
