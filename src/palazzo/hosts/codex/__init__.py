"""Codex, OpenAI's coding agent for the terminal."""
