"""aider, a coding agent for the terminal: its history is read, and it reads a file of instructions."""
