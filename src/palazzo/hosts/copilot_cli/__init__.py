"""Copilot CLI, GitHub's coding agent for the terminal."""
