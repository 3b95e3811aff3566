"""Processes in the background. For now one: `embedding` makes the vectors that are pending, and exits."""
