"""Zed, an editor with agents."""
