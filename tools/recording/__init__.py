"""Recordings of the real program for the documentation. `tools/record.py` is the command."""
