"""pi, a coding agent for the terminal with extensions."""
