"""Cursor, an editor with agents."""
