"""What protects a palace: whom to believe, secrets, fences, authenticity.

The rooms above ask it; it knows nothing of them.
"""
