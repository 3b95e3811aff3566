"""Kiro, an editor and a program with agents."""
