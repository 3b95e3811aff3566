"""Droid."""
