"""Kiro."""
