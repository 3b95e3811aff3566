"""VS Code, an editor with agents."""
