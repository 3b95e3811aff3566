"""The viewer: opening it, and what only its pages read."""
