"""opencode, a coding agent for the terminal with plugins."""
