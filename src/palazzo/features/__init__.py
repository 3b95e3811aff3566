"""Features: one folder each. A folder has the operations of its feature, what they share, and their views."""
