"""The HTTP face of the team server."""
