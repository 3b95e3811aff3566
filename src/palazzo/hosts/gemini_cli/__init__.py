"""Gemini CLI, Google's coding agent for the terminal."""
